"""Data, formulas and comparisons that several test files need."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from trueaxis._threads import Workers
from trueaxis.sources import DenseSource


def heavy_tailed(n, m, seed=0, df=2.0, shift=0.0):
    """Rows of a t distribution, mixed by a random matrix: outliers and correlations."""
    rng = np.random.default_rng(seed)
    return rng.standard_t(df, size=(n, m)) @ rng.standard_normal((m, m)) + shift


def random_basis(m, k, seed=0):
    """An orthonormal m×k matrix."""
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((m, k)))[0]


def projector(W):
    """WWᵀ, which is all that a subspace determines of its basis."""
    return W @ W.T


def objective(X, W, c, p=1.0):
    """Σ‖(I − WWᵀ)(x_i − c)‖₂^p, straight from the formula."""
    D = X - c
    return float((np.linalg.norm(D - D @ W @ W.T, axis=1) ** p).sum())


def source_of(X, **options):
    """A dense source on this thread."""
    return DenseSource(X, workers=Workers(1), **options)


@st.composite
def data_sets(draw, max_rows=60, max_columns=12):
    """(X, k, seed): heavy-tailed rows of a drawn shape, scale and shift, and k below both."""
    m = draw(st.integers(2, max_columns))
    n = draw(st.integers(4, max_rows))
    k = draw(st.integers(1, max(1, min(n - 2, m - 1))))
    seed = draw(st.integers(0, 2**32 - 1))
    scale = 10.0 ** draw(st.integers(-6, 6))
    shift = draw(st.sampled_from([0.0, 1.0, 100.0]))
    return scale * heavy_tailed(n, m, seed, shift=shift), k, seed
