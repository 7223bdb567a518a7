"""Principal axes inside a subspace, or of the whole space, with the scatter along them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from trueaxis._linalg import axes_from_scaled_gram, complete
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers import Evaluate

# The eigenvalues of A err by eps·λ₁: beyond this ratio the small ones are computed again from
# scaled scores, whose singular values are exact to eps each.
_GRADED = 1e-6


@dataclass(frozen=True)
class Spectrum:
    """Orthonormal axes (m, q) with Σ ω_i d_i z_ij² along each, largest first."""

    axes: Float64Array
    values: Float64Array

    def first(self, k: int) -> Spectrum:
        """The k leading axes; where there are fewer, with others that the rows do not know of."""
        missing = k - len(self.values)
        if missing > 0:
            values = np.concatenate([self.values, np.zeros(missing)])
            return Spectrum(complete(self.axes, k), values)
        return Spectrum(self.axes[:, :k], self.values[:k])


def spectrum_within(evaluate: Evaluate, point: Subspace, gram: Float64Array) -> Spectrum:
    """The principal axes of a subspace, from its basis' gram WᵀAW."""
    values, Y = np.linalg.eigh(gram)
    axes = point.basis @ Y[:, ::-1]
    return _with_small_digits(evaluate, point, Spectrum(axes, np.maximum(values[::-1], 0.0)))


def full_spectrum(
    evaluate: Evaluate, point: Subspace, span: Float64Array | None = None
) -> Spectrum:
    """All eigenvectors of A, the scatter with the weights that belong to `point`.

    Where the rows are few, `span` is an orthonormal basis Q of a space that holds them, and the
    eigenvectors are Q times those of QᵀAQ.
    """
    moments = evaluate(point, span)
    A = moments.product if span is None else moments.gram
    values, axes = scipy.linalg.eigh(A, driver="evd", check_finite=False)
    axes = axes if span is None else span @ axes
    spectrum = Spectrum(axes[:, ::-1], np.maximum(values[::-1], 0.0))
    return _with_small_digits(evaluate, point, spectrum)


def is_graded(values: Float64Array) -> bool:
    """Whether the smallest value is so small beside the largest that its digits are in doubt."""
    return bool(values.size and values[-1] < _GRADED * values[0])


def _with_small_digits(evaluate: Evaluate, point: Subspace, spectrum: Spectrum) -> Spectrum:
    values = spectrum.values
    if not is_graded(values):
        return spectrum
    floor = np.sqrt(values[0] * np.finfo(np.float64).eps)
    scale = np.maximum(np.sqrt(values), floor)
    if scale[0] == 0.0:
        return spectrum
    gram = evaluate(point, spectrum.axes / scale).gram
    singular, Y = axes_from_scaled_gram(gram, scale)
    return Spectrum(spectrum.axes @ Y, singular**2)
