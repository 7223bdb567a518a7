"""The paper's reweighted eigenproblem: algorithms 3 (ℓ1) and 6 (ℓ2,p), "A very fast …"."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._linalg import top_eigenvectors
from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply
from trueaxis.solvers.eigenspace import leading_eigenspace


@dataclass(frozen=True, slots=True)
class Reweighted:
    """W ← the eigenvectors of the k largest eigenvalues of A.

    For a concave row loss Σ d_i t_i majorizes J up to a constant and the eigenvectors minimize
    it exactly, so J never rises (the paper claims no guarantee for it). With the ℓ1 weights
    there is none.

    Parameters
    ----------
    form_scatter : bool
        Whether A itself is formed, m×m, as suits n >= m; otherwise its eigenvectors come from
        products with a few vectors at a time.
    span : ndarray of shape (m, r), optional
        An orthonormal basis Q of a space that is known to hold every row: the eigenvectors of A
        are then Q times those of the r×r matrix QᵀAQ.
    """

    form_scatter: bool = True
    span: Float64Array | None = None
    name: str = "reweighted"

    def start(self, point: Subspace) -> None:
        """Nothing is carried from step to step."""

    def probe(self, point: Subspace, state: None) -> Float64Array | None:
        """The whole of A, or A times the known span, or times the W at hand."""
        if self.span is not None:
            return self.span
        return None if self.form_scatter else point.basis

    def step(
        self,
        point: Subspace,
        probe: Float64Array | None,
        moments: Moments,
        state: None,
        apply: Apply,
    ) -> tuple[Float64Array, None]:
        """One iteration of the paper's algorithm 3 or 6."""
        k = point.n_components
        if self.span is not None:
            return self.span @ top_eigenvectors(moments.gram, k)[1], None
        if self.form_scatter:
            return top_eigenvectors(moments.product, k)[1], None
        return leading_eigenspace(apply, point.basis, moments.product), None
