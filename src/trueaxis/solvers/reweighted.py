"""The paper's reweighted eigenproblem: algorithms 3 (ℓ1) and 6 (ℓ2,p), "A very fast …"."""

from __future__ import annotations

from dataclasses import dataclass

from trueaxis._moments import Moments
from trueaxis._subspace import Subspace
from trueaxis._typing import Float64Array
from trueaxis.solvers.base import Apply
from trueaxis.solvers.eigenspace import leading_eigenspace, leading_eigenspace_by_products


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
    """

    form_scatter: bool = True
    name: str = "reweighted"

    def start(self, point: Subspace) -> None:
        """Nothing is carried from step to step."""

    def probe(self, point: Subspace, state: None) -> Float64Array | None:
        """The whole of A, or A times the W at hand."""
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
        if self.form_scatter:
            return leading_eigenspace(moments.product, k), None
        return leading_eigenspace_by_products(apply, point.basis, moments.product), None
