"""The demonstration, the command line that shows it, and the code in the README."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from matplotlib.image import imread

from trueaxis import RobustPCA, __version__, demo
from trueaxis.datasets import make_contaminated
from trueaxis.tables import read

PICTURES = ("outlier_map.png", "projection_axes.png", "convergence.png")
README = Path(__file__).parent.parent / "README.md"


@pytest.fixture(scope="module")
def shown() -> demo.Demo:
    return demo.run()


def command_line(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `trueaxis` as its script does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", "from trueaxis.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment},
    )


def rows_of(shown: demo.Demo, outliers: str) -> list[demo.Row]:
    return [row for row in shown.table if row.outliers == outliers]


def test_the_table_has_clean_data_and_every_kind_of_outliers(shown: demo.Demo) -> None:
    lines = [(row.outliers, row.share) for row in shown.table]
    kinds = ("scattered", "clustered", "leverage")
    assert lines == [("none", 0.0), *((kind, share) for kind in kinds for share in (0.1, 0.2))]
    for row in shown.table:
        assert tuple(row.degrees) == demo.METHODS


def test_threes_among_zeros_tilt_pca_and_are_found(shown: demo.Demo) -> None:
    digits = shown.digits
    assert 0.03 < digits.is_outlier.mean() < 0.06
    assert digits.degrees[demo.PLAIN] > 45
    assert digits.degrees[demo.ROBUST] < 15
    assert digits.degrees[demo.BOUNDED] < 1
    assert digits.flagged[digits.is_outlier].all()
    assert digits.flagged[~digits.is_outlier].mean() < 0.02


def test_the_oracle_is_within_a_degree(shown: demo.Demo) -> None:
    assert max(row.degrees[demo.ORACLE] for row in shown.table) < 1


def test_every_method_finds_the_axes_of_clean_data(shown: demo.Demo) -> None:
    (clean,) = rows_of(shown, "none")
    assert max(clean.degrees.values()) < 1


@pytest.mark.parametrize("method", [demo.ROBUST, demo.BOUNDED])
def test_scattered_outliers_tilt_pca_and_not_robust_pca(shown: demo.Demo, method: str) -> None:
    for row in rows_of(shown, "scattered"):
        assert row.degrees[demo.PLAIN] > demo.TILTED
        assert row.degrees[method] < 2


@pytest.mark.parametrize("kind", ["clustered", "leverage"])
def test_where_p_1_fails_the_objective_prefers_the_wrong_subspace(
    shown: demo.Demo, kind: str
) -> None:
    few, many = rows_of(shown, kind)
    assert few.degrees[demo.ROBUST] < 1
    assert not few.misled
    assert many.degrees[demo.ROBUST] > 80
    assert many.misled
    assert many.objective < many.objective_at_truth / 2


@pytest.mark.parametrize("kind", ["clustered", "leverage"])
def test_at_ten_percent_the_truth_is_found_though_a_wrong_subspace_has_the_lower_objective(
    kind: Literal["clustered", "leverage"],
) -> None:
    data = make_contaminated(kind, outlier_share=0.1, random_state=0)
    default = RobustPCA(3, random_state=0).fit(data.X)
    elsewhere = RobustPCA(3, start="pca", check_breakdown=False).fit(data.X)
    assert np.degrees(default.subspace_.angles(data.truth)[0]) < 1
    assert np.degrees(elsewhere.subspace_.angles(data.truth)[0]) > 80
    assert elsewhere.objective_ < default.objective_


def test_the_axis_in_the_plane_stays_where_it_was_without_outliers(shown: demo.Demo) -> None:
    clean, tilted, robust = shown.plane.axes.values()
    assert np.degrees(tilted.angles(clean)[0]) > 30
    assert np.degrees(robust.angles(clean)[0]) < 3


def test_the_six_descents_have_one_start_and_thirty_updates(shown: demo.Demo) -> None:
    assert set(shown.descents) == {"l2p", "l1"}
    for descent in shown.descents.values():
        assert tuple(descent.objectives) == demo.SOLVERS
        curves = np.array(list(descent.objectives.values()))
        assert curves.shape == (3, 31)
        np.testing.assert_allclose(curves[:, 0], curves[0, 0], rtol=1e-12)
        assert descent.best <= curves.min()
    for solver in ("proximal", "reweighted"):
        J = shown.descents["l2p"].objectives[solver]
        assert (np.diff(J) <= 1e-13 * J[:-1]).all()


def test_the_demonstration_repeats_itself_to_the_bit(shown: demo.Demo) -> None:
    again = demo.angles()
    assert [row.degrees for row in again] == [row.degrees for row in shown.table]


def test_the_command_prints_the_table_and_writes_both_pictures(tmp_path: Path) -> None:
    folder = tmp_path / "made" / "for it"
    done = command_line("demo", "--output", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for word in ("none", "scattered", "clustered", "leverage", "lower objective", *demo.METHODS):
        assert word in done.stdout
    assert len(re.findall(r"^ *(?:scattered|clustered|leverage) +[12]0%", done.stdout, re.M)) == 6
    assert max(len(line) for line in done.stdout.splitlines() if "/" not in line) <= 80
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "three 1" in page
    assert (folder / "report.html").as_uri() in done.stdout
    assert len(read(folder / "digits.csv")) == 187
    assert not list(folder.glob(".*"))
    assert "\x1b[" not in done.stdout  # no colors, as this is no terminal
    for name in PICTURES:
        assert f"Wrote {folder / name}" in done.stdout
        pixels = imread(folder / name)
        assert min(pixels.shape[:2]) > 400
        assert pixels[..., :3].std() > 0.05  # not blank
        assert len(np.unique((pixels[..., :3] * 255).astype(int).reshape(-1, 3), axis=0)) > 50


def test_colors_only_where_they_are_wanted_and_ascii_where_there_is_no_more(
    tmp_path: Path,
) -> None:
    output = ("demo", "--output", str(tmp_path))
    loud = command_line(*output, FORCE_COLOR="1", NO_COLOR="")
    quiet = command_line(*output, FORCE_COLOR="1", NO_COLOR="1", PYTHONIOENCODING="ascii")
    assert "\x1b[31m" in loud.stdout
    assert quiet.returncode == 0, quiet.stderr
    assert "\x1b[31m" not in quiet.stdout
    assert quiet.stdout.isascii()


def test_version() -> None:
    done = command_line("--version")
    assert (done.returncode, done.stdout) == (0, f"trueaxis {__version__}\n")


def test_a_folder_that_cannot_be_made_is_one_line_and_status_1(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("in the way", encoding="utf-8")
    done = command_line("demo", "--output", str(file / "below"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == f"Error: {file / 'below'}: Not a directory\n"


@pytest.mark.parametrize("arguments", [["nonsense"], ["demo", "--nonsense"], ["demo", "x"]])
def test_wrong_usage_is_status_2(arguments: list[str]) -> None:
    assert command_line(*arguments).returncode == 2


@pytest.mark.parametrize("missing", ["typer", "rich", "matplotlib"])
def test_without_the_extra_the_entry_point_says_what_to_install(
    tmp_path: Path, missing: str
) -> None:
    hide = f"import sys; sys.modules[{missing!r}] = None; "
    done = subprocess.run(
        [sys.executable, "-c", hide + "from trueaxis.cli import main; main()", "demo"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert f"need {missing}." in done.stderr or f"needs {missing}." in done.stderr
    assert done.stderr.endswith('Install it with: pip install "trueaxis[cli]"\n')
    assert done.stderr.count("\n") == 1
