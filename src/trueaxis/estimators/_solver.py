"""Which solver a name stands for, where the shape of the data has a say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from trueaxis._typing import Float64Array
from trueaxis.solvers import Accelerated, Orthogonal, Proximal, Reweighted, Solver

_SCATTER_COLUMNS = 2000  # beyond this, A (32 MB) is not formed even where n >= m
_AUTO_COLUMNS = 400  # up to here the eigenproblem of A is cheap beside the sweep


def choose_solver(
    name: str, m: int, span: Callable[[], Float64Array | None], *, plain: bool
) -> Solver[Any, Any]:
    """The solver asked for, for rows of m columns; "auto" chooses by their number.

    `span` makes a basis of the rows where they are few, and `plain` tells of plain PCA.
    """
    if name == "proximal":
        return Proximal()
    if name == "accelerated":
        return Accelerated()
    if name == "orthogonal":
        return Orthogonal()
    # One eigenproblem is all of plain PCA; other losses have as many as they have steps.
    if name == "auto" and m > _AUTO_COLUMNS and not plain:
        return Orthogonal()
    if m > _SCATTER_COLUMNS:
        return Reweighted(form_scatter=False)
    return Reweighted(span=span())
