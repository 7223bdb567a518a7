"""`partial_fit`: an estimator that learns from one block of rows after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from trueaxis._threads import Workers
from trueaxis.estimators import _inputs, _missing
from trueaxis.estimators._namespace import settle
from trueaxis.estimators._settings import Settings
from trueaxis.estimators._stream import Stream
from trueaxis.estimators._transform import AxesTransformer, unchanged_on_error
from trueaxis.losses import L2p
from trueaxis.sources import GappySource, Source

_OF_THE_DATA = {"n_features_in_", "feature_names_in_"}


class NotForStreamsError(AttributeError, ValueError):
    """The parameters ask for what a stream cannot give: there is no `partial_fit` then."""


class StreamFitter(AxesTransformer):
    """An estimator of axes that can follow a stream."""

    n_samples_seen_: int
    _stream: Stream

    @property
    def partial_fit(self) -> Callable[..., Self]:
        """Learn from one more block of rows: ``partial_fit(X, y=None, sample_weight=None)``.

        Stochastic majorize-minimize for ``loss="l2p"`` and a whole number `n_components`. Every
        row is looked at once; of all before, as many numbers are kept as some 500 rows have, or 20
        an axis. Blocks may have any number of rows, and the estimator can be used after each,
        once k + 1 rows have come. At p=2 nothing is approximated as long as 4k + 20 directions
        hold the scatter, so up to that many columns: it is then PCA of all rows so far.

        `fit` forgets the stream, and the first `partial_fit` after it begins a new one. Fitted
        attributes are the axes, their variances, `mean_`, `noise_variance_`, `n_samples_` (by
        weight) and `n_samples_seen_` (rows).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, complete.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            A weight of 2 counts as the row twice, of 0 as the row left out.

        Returns
        -------
        RobustPCA
            The same estimator.
        """
        self._check_for_streams()
        return self._partial_fit

    def _check_for_streams(self) -> None:
        known: Any = self
        loss = _inputs.check_loss(known.loss, known.p, known.breakdown, known.support_fraction)
        k = known.n_components
        wrong = None
        if not isinstance(loss, L2p):
            wrong = f"loss='l2p', and loss={known.loss!r}"
        elif isinstance(k, bool) or not isinstance(k, Integral):
            wrong = f"a whole number n_components, and n_components={k!r}"
        elif isinstance(known.center, str) and known.center == "median":
            wrong = "center='optimal', 'mean', False or a point, and center='median'"
        if wrong is not None:
            raise NotForStreamsError(
                f"partial_fit needs {wrong} cannot follow a stream; set that parameter, or call "
                "fit with all rows."
            )

    def _partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        with unchanged_on_error(self), Workers.start(self.n_jobs) as workers:
            first = not hasattr(self, "_stream")
            source = _inputs.open_rows(self, X, reset=first)
            if first:
                forget(self)
            self._follow(source.posed(workers), sample_weight)
            settle(self, X)
        return self

    def _follow(self, source: Source, sample_weight: Any) -> None:
        known: Any = self
        n, m = source.shape
        k, names = int(known.n_components), getattr(self, "feature_names_in_", None)
        omega = _inputs.check_sample_weight(sample_weight, n)
        source = self._complete(source, names)
        _inputs.check_finite(source, names)
        settings = replace(Settings.of(self, k, m), callback=None, verbose=0, check_breakdown=False)
        most = m if settings.is_plain else m - 1
        if not 1 <= k <= most:
            raise ValueError(
                f"n_components={k} is out of range for a stream of rows with n_features={m}; it "
                f"must be a whole number in [1, {most}]."
            )
        if not hasattr(self, "_stream"):
            rng = check_random_state(0 if known.random_state is None else known.random_state)
            stream = Stream.begin(settings, k, m, int(rng.randint(2**31 - 1)))
        elif self._stream.k != k:
            raise ValueError(
                f"n_components={k}, but the stream so far was followed with n_components="
                f"{self._stream.k}. Set it back, or begin anew with sklearn.base.clone."
            )
        else:
            stream = replace(self._stream, settings=settings)
        place = 0
        while place < n:
            rows = np.arange(place, min(place + stream.chunk, n))
            part, _ = source.take(rows)
            counts = np.ones(len(rows)) if omega is None else omega[rows]
            stream = stream.follow(part[counts > 0], counts[counts > 0])
            place += len(rows)
        self._stream = stream
        self.n_samples_seen_ = getattr(self, "n_samples_seen_", 0) + n
        if stream.point is not None:
            subspace, variances, left = stream.described()
            rows_in_all = min(stream.kept.seen, m)
            self._set_axes(
                subspace, variances, left, 1.0, stream.mass, 1.0, source.answers, rows_in_all
            )

    def _complete(self, source: Source, names: Any) -> Source:
        if not isinstance(source, GappySource):
            return source
        complete, _ = _missing.settle(source, None, 1, names)
        if isinstance(complete, GappySource):
            raise ValueError(
                "partial_fit takes complete rows, and X contains NaN. Leave such rows out, or call "
                "fit, which with missing='nan' takes them."
            )
        return complete


def forget(estimator: Any) -> None:
    """Remove what an estimator has learned, but for the columns of the data at hand."""
    for name in list(vars(estimator)):
        learned = name.endswith("_") and not name.startswith("_") and name not in _OF_THE_DATA
        if learned or name == "_stream":
            delattr(estimator, name)
