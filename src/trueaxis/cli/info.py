"""`trueaxis info`: what a model is, and what wrote it."""

from __future__ import annotations

from trueaxis.cli import options as o
from trueaxis.cli import steps
from trueaxis.cli.console import counted

_MOST_NAMED = 12


def info(model: o.Model, as_json: o.Json = False, debug: o.Debug = False) -> None:
    """Say what a model was fitted to, how, and what it found."""
    from trueaxis.cli import summary
    from trueaxis.persistence import load_table_model, stamp

    say = steps.speaker(as_json=as_json, quiet=False)
    found, wrote = load_table_model(model), stamp(model)
    held, pca = found.preparation, found.pca
    more = len(held.columns) - _MOST_NAMED
    names = ", ".join(held.columns[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    power = f", p = {pca.p:g}" if pca.loss == "l2p" else ""
    state = "converged" if pca.converged_ else "not converged"
    units = {
        "robust": "divided by their robust scale",
        "std": "divided by their standard deviation",
    }
    unit = units.get(held.scale_name, "in their own units")
    say.show(
        f"{model}: written {wrote.created} by trueaxis {wrote.versions.get('trueaxis', '?')}, "
        f"format {wrote.format}.",
        f"Fitted to {found.source}: {counted(pca.n_samples_, 'row')}.",
        f"{counted(len(held.columns), 'column')}, {unit}: {names}.",
        *([f"Rows are named by {held.id_column!r}."] if held.id_column is not None else []),
        f"Loss {pca.loss}{power}, solver {pca.solver_}, {state} after "
        f"{counted(pca.n_iter_, 'update')} and {counted(pca.n_sweeps_, 'sweep')}.",
        f"Cut-offs: score distance {found.detector.score_cutoff_:.4g}, orthogonal distance "
        f"{found.detector.orthogonal_cutoff_:.4g}.",
        summary.axes(found),
    )
    say.warn(found.warned)
    say.tell(
        summary.as_plain(found)
        | {"format": wrote.format, "created": wrote.created, "versions": wrote.versions}
    )
