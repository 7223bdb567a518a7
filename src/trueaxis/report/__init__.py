"""The report of a fit: one HTML file that needs no network, for people who read no code."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from trueaxis.report._facts import gather
from trueaxis.report._page import page

__all__ = ["render", "write"]


def render(
    model: Any,
    X: Any,
    *,
    ids: Any = None,
    columns: Any = None,
    title: str | None = None,
    source: str | None = None,
    command: str | Sequence[str] | None = None,
    warnings: Iterable[Any] = (),
) -> str:
    """The report of a fitted model and its rows, as one HTML document.

    It has the outlier map, the most outlying rows with the columns responsible, scores, variances,
    loadings, the convergence of the fit, its warnings and settings. Style and script are inside,
    and whatever comes from the data is shown as text. Of many regular rows only some are drawn;
    the report says how many.

    Parameters
    ----------
    model : RobustPCA or PCAOutlierDetector
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        The rows to report on, mostly those of the fit.
    ids : sequence of length n_samples, optional
        What to call each row. The default is the index of a DataFrame, or the number of the row,
        counted from 0.
    columns : sequence of length n_features, optional
        What to call each column. The default is the names that the model or X knows.
    title : str, optional
        The heading.
    source : str, optional
        Where the rows come from, such as the name of a file.
    command : str or sequence of str, optional
        The command that repeats the fit.
    warnings : iterable of str, Warning or warnings.WarningMessage
        What the fit warned of.

    Returns
    -------
    str

    Examples
    --------
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> data = make_contaminated("scattered", random_state=0)
    >>> page = render(RobustPCA(3).fit(data.X), data.X, source="an example")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    return str(page(gather(model, X, ids, columns), title, source, command, warnings))


def write(path: str | os.PathLike[str], model: Any, X: Any, **options: Any) -> None:
    """Write the report to a file, which is complete or not there at all.

    Parameters
    ----------
    path : path-like
        The file; one that is there is replaced.
    model, X, **options
        As in `render`.

    Examples
    --------
    >>> import tempfile
    >>> from trueaxis import RobustPCA
    >>> from trueaxis.datasets import make_contaminated
    >>> X = make_contaminated(random_state=0).X
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(f"{folder}/report.html", RobustPCA(3).fit(X), X)
    """
    target = Path(path)
    text = render(model, X, **options)
    # Beside the target: a rename within one folder is all or nothing.
    handle, beside = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, target)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
