"""The sentences of a report."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueaxis.outliers import NOUNS
from trueaxis.report._facts import FARTHEST, MOST_FLAGGED, Blame, Facts
from trueaxis.report._numbers import count, number, percent
from trueaxis.report._points import n_beyond_the_edge

_LOSSES = {
    "l1": "the sum of the absolute entries of the residuals",
    "huber": "Huber's loss of the residual lengths: squares near the axes, lengths far from them",
    "cauchy": "Cauchy's loss of the residual lengths, which grows only like a logarithm",
    "bisquare": "an M-scale of the residual lengths (Tukey's bisquare), to which rows far from "
    "the axes count alike, however far",
    "trimmed": "the squared residual lengths of the rows that fit best, the others left out",
}


def what_was_fitted(facts: Facts) -> list[str]:
    """What the model is, and how it was found."""
    axes = facts.axes
    shares = np.asarray(axes.explained_variance_ratio_, dtype=np.float64)
    kind = type(facts.model).__name__
    first = (
        f"A {kind} was fitted to {count(axes.n_samples_, 'row')} and {count(facts.m, 'column')}. "
        f"It holds {count(facts.k, 'axis', 'axes')} with {percent(min(float(shares.sum()), 1.0))} "
        f"of the variance of the rows that agree with the fit."
    )
    if facts.n != axes.n_samples_:
        first += f" This report shows {count(facts.n, 'row')}."
    return [first, f"The axes and their center minimize {_loss(axes)}.", convergence(axes)]


def _loss(axes: Any) -> str:
    loss, p = axes.loss, axes.p
    if loss == "l2p":
        if p == 2:
            return "the sum of the squared residual lengths: this is plain PCA, which outliers tilt"
        power = "" if p == 1 else f", each to the power {number(p)}"
        return f"the sum of the residual lengths{power}, so that far rows count less than in PCA"
    return _LOSSES.get(loss, f"the loss {loss!r}") if isinstance(loss, str) else f"{loss!r}"


def convergence(axes: Any) -> str:
    """How the fit ended."""
    if not hasattr(axes, "history_"):
        return "The axes followed a stream of rows, each of which was looked at once."
    last = axes.history_[-1]
    work = (
        f"{count(axes.n_iter_, 'update')} ({count(axes.n_sweeps_, 'pass', 'passes')} over the "
        f"rows, {number(float(last['seconds']), 2)} s) by the solver “{axes.solver_}”"
    )
    gap = float(last["gap"])
    left = (
        f" It estimates to be within {number(gap, 2)} of the minimum, relative to it."
        if np.isfinite(gap)
        else ""
    )
    if axes.converged_:
        return f"The fit converged after {work}.{left}"
    return f"The fit stopped after {work} and did not converge.{left}"


def in_short(facts: Facts) -> list[str]:
    """What an analyst wants to know first."""
    counts, n = facts.map.counts, facts.n
    if not facts.n_flagged:
        return [f"None of the {count(n, 'row')} lies beyond a cut-off."]
    flagged = facts.n_flagged
    verb = "lies" if flagged == 1 else "lie"
    kinds = _listed([count(found, NOUNS[kind]) for kind, found in counts.items() if kind in NOUNS])
    lines = [
        f"{flagged:,} of {count(n, 'row')} ({percent(flagged / n)}) {verb} beyond a cut-off: "
        f"{kinds}. Of regular Gaussian rows about {_expected(facts)} would."
    ]
    worst = facts.top[0]
    because = (
        f", mainly in {_listed([brief(b.column) for b in worst.blames])}" if worst.blames else ""
    )
    times = f"{number(worst.excess, 3)} times its cut-off"
    lines.append(f"The most outlying is row {brief(worst.label)}, at {times}{because}.")
    return lines


def _expected(facts: Facts) -> str:
    if getattr(facts.model, "contamination", None) is not None:
        return "fewer"
    return percent(1.0 - getattr(facts.model, "quantile", 0.975))


def map_caption(facts: Facts) -> str:
    """How to read the outlier map."""
    return (
        "Each point is a row. To the right lie rows far out within the subspace of the axes, in "
        "standard deviations there (score distance); further up, rows far from the subspace "
        "(orthogonal distance). The dashed lines are the cut-offs, "
        f"{number(facts.map.score_cutoff)} and {number(facts.map.orthogonal_cutoff)}. A good "
        "leverage row agrees with the axes and is far out; a bad leverage row is far on both "
        "counts, and is what tilts plain PCA."
    )


def shown(facts: Facts) -> str:
    """Which rows are in the pictures."""
    n_regular = facts.n - facts.n_flagged
    shown_regular = len(facts.shown) - facts.n_shown_flagged
    if len(facts.shown) == facts.n:
        return f"All {count(facts.n, 'row')} are shown."
    flagged = (
        f"all {facts.n_flagged:,} rows beyond a cut-off"
        if facts.n_flagged <= MOST_FLAGGED
        else f"{MOST_FLAGGED:,} of the {facts.n_flagged:,} rows beyond a cut-off (the "
        f"{FARTHEST:,} farthest, and of the others fewer where they are dense)"
    )
    regular = (
        f"all {n_regular:,} regular rows"
        if shown_regular == n_regular
        else f"{shown_regular:,} of the {n_regular:,} regular rows, fewer where these are dense"
    )
    return f"Shown are {flagged} and {regular}: {len(facts.shown):,} of {count(facts.n, 'row')}."


def scores_caption(facts: Facts) -> str:
    """How to read the scores."""
    text = "Each point is a row, seen along the axes; the marks are those of the outlier map."
    if facts.k == 1:
        return text + " With a single axis, the orthogonal distance takes the place of a second."
    text += (
        " An arrow points where its column grows, and is the longer the more of the column the two "
        "axes hold."
    )
    outside = n_beyond_the_edge(facts)
    if outside:
        text += (
            f" {count(outside, 'row')} beyond the frame {'is' if outside == 1 else 'are'} drawn "
        )
        text += "at its edge."
    return text


def scree_caption(facts: Facts) -> str:
    """What the bars are."""
    axes = facts.axes
    shares = np.asarray(axes.explained_variance_ratio_, dtype=np.float64)
    rest = max(1.0 - float(shares.sum()), 0.0)
    text = (
        "The variance along each axis of the rows that agree with the fit, as a share of their "
        "variance in all directions. Outliers do not count in it."
    )
    left_out = min(int(axes.n_samples_), facts.m) - facts.k
    if left_out > 0 and rest > 0:
        text += (
            f" The {count(left_out, 'direction')} left out hold{'s' if left_out == 1 else ''} "
            f"{percent(rest)} together."
        )
    return text


def blamed(blame: Blame) -> str:
    """What is said of a column of an outlying row."""
    return f"{number(blame.value)}, expected {number(blame.expected)}"


def brief(name: str, most: int = 40) -> str:
    """A name short enough for a sentence."""
    return name if len(name) <= most else name[: most - 1] + "…"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
