"""The command line as people and cron jobs use it."""

from __future__ import annotations

import csv
import gc
import gzip
import importlib
import io
import json
import os
import platform
import pty
import re
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from trueaxis.cli import main
from trueaxis.cli.imports import deferred, without_collecting
from trueaxis.datasets import make_contaminated
from trueaxis.persistence import load_table_model

CLASSICS = Path(__file__).parent.parent.parent / "shared" / "data" / "robust_classics"
CLASSICS = CLASSICS if CLASSICS.exists() else Path("../shared/data/robust_classics").resolve()
OCTANE = CLASSICS / "rrcov_octane.csv"
KNOWN = [25, 26, 36, 37, 38, 39]

MADE = make_contaminated("scattered", n_samples=120, n_features=6, random_state=0)
NAMES = [f"v{j}" for j in range(6)]


class Done:
    """How a command ended."""

    def __init__(self, status: int, out: str, err: str) -> None:
        self.status, self.out, self.err = status, out, err

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def rows(self) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.out)))


@pytest.fixture
def trueaxis(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run the command line in this process."""
    monkeypatch.setenv("COLUMNS", "100")
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments: Any) -> Done:
        with pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
        code = left.value.code
        found = capfd.readouterr()
        err = found.err if not isinstance(code, str) else found.err + code + "\n"
        return Done(code if isinstance(code, int) else 1, found.out, err)

    yield run
    signal.signal(signal.SIGTERM, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder with one table in it, to work in."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(MADE.X, columns=NAMES)
    frame.insert(0, "who", [f"row {i}" for i in range(len(frame))])
    frame.to_csv("data.csv", index=False)
    return tmp_path


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_fit_writes_model_report_and_scores(trueaxis: Any, folder: Path) -> None:
    done = trueaxis(
        *("fit", "data.csv", "-k", 3, "--id", "who", "--model", "m.skops"),
        *("--report", "report.html", "--scores", "scores.parquet"),
    )
    assert done.status == 0, done.err
    assert files(folder) == {"data.csv", "m.skops", "report.html", "scores.parquet"}
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "row 0" in page
    assert "v0" in page
    scores = pd.read_parquet("scores.parquet")
    assert list(scores.columns) == ["row", "who", "pc1", "pc2", "pc3"]
    model = load_table_model("m.skops")
    np.testing.assert_array_equal(scores[["pc1", "pc2", "pc3"]], model.pca.transform(MADE.X))
    assert (folder / "m.skops").stat().st_mode & 0o777 == 0o666 & ~_umask()
    assert "6 columns" in done.out


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_transform_by_names_in_any_order(trueaxis: Any, folder: Path) -> None:
    assert trueaxis("fit", "data.csv", "-k", 2, "--model", "m.skops", "-q").status == 0
    frame = pd.read_csv("data.csv")
    frame[["v3", "other", "v0", "v5", "v1", "v2", "v4"]] = np.column_stack(
        [
            frame[n] if n != "other" else frame["v0"]
            for n in ["v3", "other", "v0", "v5", "v1", "v2", "v4"]
        ]
    )
    frame[["v5", "other", "v3", "v1", "v0", "v4", "v2"]].to_csv("new order.csv", index=False)
    one = trueaxis("transform", "m.skops", "data.csv")
    other = trueaxis("transform", "m.skops", "new order.csv")
    assert one.status == other.status == 0, other.err
    assert one.out == other.out
    assert list(one.rows[0]) == ["row", "pc1", "pc2"]
    frame.drop(columns="v3").to_csv("less.csv", index=False)
    less = trueaxis("transform", "m.skops", "less.csv")
    assert less.status == 1
    assert "lacks 1 column of the model: 'v3'" in less.err


@pytest.mark.skipif(not OCTANE.exists(), reason="needs ../shared/data, which is not shipped")
@pytest.mark.parametrize("k", [["-k", "2"], []])
def test_the_octane_flags_are_the_six_known_rows(
    trueaxis: Any, tmp_path: Path, k: list[str]
) -> None:
    flags = tmp_path / "flags.csv"
    done = trueaxis("outliers", OCTANE, "--drop", "y", *k, "-o", flags)
    assert done.status == 0, done.err
    assert pd.read_csv(flags).row.tolist() == KNOWN


def test_flags_have_distances_cutoffs_and_columns(trueaxis: Any, folder: Path) -> None:
    done = trueaxis("outliers", "data.csv", "-k", 3, "--id", "who", "--loss", "bisquare", "-o", "-")
    assert done.status == 0, done.err
    flagged = {int(row["row"]) - 1 for row in done.rows}
    assert set(np.flatnonzero(MADE.is_outlier)) <= flagged
    for row in done.rows:
        assert row["who"] == f"row {int(row['row']) - 1}"
        score = float(row["score_distance"]) > float(row["score_cutoff"])
        orthogonal = float(row["orthogonal_distance"]) > float(row["orthogonal_cutoff"])
        assert score or orthogonal
        assert (row["kind"] == "bad leverage") == (score and orthogonal)
        shares = [float(row[f"share_{j}"]) for j in (1, 2, 3)]
        assert shares == sorted(shares, reverse=True)
        assert 0 < sum(shares) <= 1 + 1e-12
        assert {row[f"column_{j}"] for j in (1, 2, 3)} <= set(NAMES)
    every = trueaxis("outliers", "data.csv", "-k", 3, "--loss", "bisquare", "--all", "-o", "-")
    assert len(every.rows) == 120


def test_a_model_flags_as_its_fit_did(trueaxis: Any, folder: Path) -> None:
    options = ("-k", 2, "--scale", "robust", "--id", "who")
    fitted = trueaxis("outliers", "data.csv", *options, "-o", "-")
    assert trueaxis("fit", "data.csv", *options, "--model", "m.skops", "-q").out == ""
    loaded = trueaxis("outliers", "m.skops", "data.csv", "-o", "-")
    assert loaded.out == fitted.out
    assert len(loaded.rows) > 10


def test_the_column_that_was_spoiled_is_the_one_blamed(trueaxis: Any, folder: Path) -> None:
    clean = make_contaminated(n_samples=200, outlier_share=0.0, random_state=1).X
    clean[7, 4] += 50.0
    pd.DataFrame(clean).add_prefix("v").to_csv("one.csv", index=False)
    done = trueaxis("outliers", "one.csv", "-k", 3, "-o", "-")
    (row,) = [row for row in done.rows if row["row"] == "8"]
    assert row["column_1"] == "v4"


def test_compare_names_the_rows_that_moved_the_axes(trueaxis: Any, folder: Path) -> None:
    done = trueaxis("compare", "data.csv", "-k", 3, "--loss", "bisquare", "--json")
    told = done.json
    assert max(told["angles"]) > 10
    assert len(told["plain"]["variance"]) == 3
    assert all(MADE.is_outlier[row["row"] - 1] for row in told["rows"])
    spoken = trueaxis("compare", "data.csv", "-k", 3, "--loss", "bisquare")
    assert "degrees apart" in spoken.out
    assert "Rows that moved" in spoken.out
    assert trueaxis("compare", "data.csv", "-k", 2, "--p", 2, "--json").json["angles"][0] < 1e-3


def test_json_is_one_object_and_nothing_else(trueaxis: Any, folder: Path) -> None:
    fitted = trueaxis("fit", "data.csv", "-k", 2, "--model", "m.skops", "--json").json
    assert fitted["k"] == 2
    assert fitted["columns"] == NAMES
    assert fitted["written"] == ["m.skops"]
    assert sum(fitted["rows_by_kind"].values()) == 120
    flags = trueaxis("outliers", "m.skops", "data.csv", "--json").json
    assert len(flags["rows"]) == 120 - flags["rows_by_kind"]["regular"]
    info = trueaxis("info", "m.skops", "--json").json
    assert info["columns"] == NAMES
    assert info["format"] == 1
    scores = trueaxis("transform", "m.skops", "data.csv", "-o", "s.csv", "--json").json
    assert scores["written"] == ["s.csv"]


def test_info_in_words(trueaxis: Any, folder: Path) -> None:
    trueaxis("fit", "data.csv", "-k", 2, "--scale", "std", "--id", "who", "--model", "m.skops")
    done = trueaxis("info", "m.skops")
    for told in ("120 rows", "'who'", "standard deviation", "pc2", "format 1", "l2p, p = 1"):
        assert told in done.out


def test_choices_are_said_aloud(trueaxis: Any, folder: Path) -> None:
    frame = pd.read_csv("data.csv")
    frame["v2"] *= 1000
    frame.to_csv("units.csv", index=False)
    done = trueaxis("fit", "units.csv")
    assert re.search(r"k = \d+, from a robust scree", done.out)
    assert "who (text)" in done.out
    assert "'v2' alone would make" in done.out
    assert "keep their own units" in trueaxis("fit", "data.csv").out
    assert trueaxis("fit", "units.csv", "-q").out == ""


def test_columns_of_one_unit_keep_their_axis(trueaxis: Any, folder: Path) -> None:
    X = np.random.default_rng(0).standard_normal((500, 3)) * [3.0, 1.0, 1.0]
    np.save("one unit.npy", X)
    told = trueaxis("fit", "one unit.npy", "-k", 1, "--json").json
    assert told["scale"] == "none"
    assert told["variance_share"][0] > 0.7
    np.save("two units.npy", X * [1.0, 1.0, 1000.0])
    assert trueaxis("fit", "two units.npy", "-k", 1, "--json").json["scale"] == "robust"


def test_scaling_makes_units_meaningless(trueaxis: Any, folder: Path) -> None:
    frame = pd.read_csv("data.csv")
    frame[NAMES] = frame[NAMES] * [1, 1e3, 1e-3, 1, 1e6, 1]
    frame.to_csv("units.csv", index=False)
    for scale in ("robust", "std"):
        one, other = (
            trueaxis("transform", f"{name}.skops", f"{name}.csv").rows
            for name in ("data", "units")
            if trueaxis(
                "fit",
                f"{name}.csv",
                "-k",
                2,
                "--scale",
                scale,
                "--model",
                f"{name}.skops",
                "--force",
            ).status
            == 0
        )
        np.testing.assert_allclose(
            [float(r["pc1"]) for r in one], [float(r["pc1"]) for r in other], rtol=1e-5, atol=1e-6
        )


def test_a_column_of_one_value_and_one_mostly_zero_survive_scaling(
    trueaxis: Any, folder: Path
) -> None:
    frame = pd.read_csv("data.csv")
    frame["constant"] = 5.0
    frame["mostly zero"] = np.where(np.arange(120) % 5 == 0, frame["v0"], 0.0)
    frame.to_csv("odd.csv", index=False)
    done = trueaxis("fit", "odd.csv", "-k", 2, "--scale", "robust", "--json")
    assert done.status == 0
    assert np.isfinite(done.json["variance"]).all()


def test_missing_entries(trueaxis: Any, folder: Path) -> None:
    frame = pd.read_csv("data.csv")
    frame.loc[4, "v1"] = np.nan
    frame.to_csv("holes.csv", index=False)
    refused = trueaxis("fit", "holes.csv", "-k", 2)
    assert (refused.status, refused.out) == (1, "")
    assert refused.err.startswith("Error: holes.csv: column 'v1', row 5 has no value")
    assert "--missing drop" in refused.err
    assert trueaxis("fit", "holes.csv", "--missing", "drop", "--model", "m.skops").status == 0
    rows = trueaxis("transform", "m.skops", "holes.csv", "--missing", "drop").rows
    assert [int(r["row"]) for r in rows] == [i for i in range(1, 121) if i != 5]


def test_warnings_go_to_stderr_and_name_options(trueaxis: Any, folder: Path) -> None:
    X = make_contaminated("leverage", outlier_share=0.3, random_state=0).X
    np.save("bad.npy", X)
    done = trueaxis("fit", "bad.npy", "-k", 3)
    assert done.status == 0
    assert done.err.startswith("Warning: ")
    assert "--loss bisquare" in done.err
    assert "check_breakdown" not in done.err
    assert trueaxis("fit", "bad.npy", "-k", 3, "--json").json["warnings"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["fit", "none.csv"], "none.csv: No such file or directory"),
        (["fit", "."], ". is a folder"),
        (["fit", "one.csv"], "has one row only"),
        (["fit", "alike.csv"], "has 3 rows that are all alike"),
        (["fit", "empty.csv"], "is empty"),
        (
            ["fit", "data.csv", "-k", "7"],
            "-k 7 is too many for data.csv: 120 rows in 6 columns have at most 6",
        ),
        (["fit", "data.csv", "--columns", "V0"], "did you mean 'v0'?"),
        (["fit", "data.csv", "--columns", "who"], "'row 0' in row 1 is no number"),
        (["fit", "data.csv", "--model", "no/m.skops"], "there is no folder 'no'"),
        (["transform", "data.csv", "data.csv"], "not a model of trueaxis"),
        (["info", "none.skops"], "none.skops: No such file or directory"),
        (["fit", ""], "The name of the table is empty"),
        (["fit", "header.csv"], "header.csv has no rows below its header"),
        (["fit", "nothing.npy"], "nothing.npy has no column of numbers to fit. It has no columns"),
        (
            ["fit", "data.csv", "--drop", "v*"],
            "to fit: --drop and --id leave none",
        ),
        (["fit", "cut.csv.gz"], "cut.csv.gz cannot be read"),
        (["fit", "large.csv"], "Column 'b' has entries so large"),
        (["fit", "large.csv", "--scale", "std"], "Column 'b' has entries so large"),
        (["fit", "cut.parquet"], "cut.parquet is not a whole Parquet file"),
        (["fit", "two.npz"], "two.npz holds several matrices: 'A' 3 x 2, 'B' 4 x 2"),
        (["fit", "data.csv", "--table", "B"], "data.csv holds one table only"),
        (["fit", "text.csv"], "text.csv has no column of numbers to fit"),
        (["fit", "data.csv", "--loss", "l2p", "--solver", "true_l1"], "true_l1"),
    ],
)
def test_a_fault_is_one_line_and_status_1(
    trueaxis: Any, folder: Path, arguments: list[str], told: str
) -> None:
    (folder / "empty.csv").touch()
    (folder / "one.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    (folder / "header.csv").write_text("a,b\n", encoding="utf-8")
    (folder / "text.csv").write_text("a,b\nx,y\nu,v\n", encoding="utf-8")
    (folder / "large.csv").write_text("a,b\n1,1e200\n2,3\n5,-1e300\n", encoding="utf-8")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(b"a,b\n" + b"1,2\n3,4\n" * 9000)[:60])
    (folder / "cut.parquet").write_bytes(b"PAR1" + bytes(100))
    np.save(folder / "nothing.npy", np.zeros((3, 0)))
    np.savez(folder / "two.npz", A=np.ones((3, 2)), B=np.ones((4, 2)))
    (folder / "alike.csv").write_text("a,b\n" + "1,2\n" * 3, encoding="utf-8")
    before = files(folder)
    done = trueaxis(*arguments)
    assert done.status == 1
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert done.err.startswith("Error: ")
    assert told in done.err
    assert files(folder) == before


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit"],
        ["fit", "data.csv", "-k", "0"],
        ["fit", "data.csv", "--loss", "l3"],
        ["fit", "data.csv", "--p", "0.5", "--loss", "huber"],
        ["fit", "data.csv", "--p", "3"],
        ["fit", "data.csv", "--quantile", "1"],
        ["fit", "data.csv", "--contamination", "0.6"],
        ["outliers", "data.csv", "--quantile", "nan"],
        ["fit", "data.csv", "--scores", "scores.doc"],
        ["fit", "data.csv", "--scores", "-", "--json"],
        ["fit", "data.csv", "--model", "same", "--report", "same"],
        ["outliers", "m.skops"],
        ["outliers", "m.skops", "data.csv", "-k", "2"],
        ["fit", "data.csv", "--model", "there"],
    ],
)
def test_wrong_usage_is_status_2_and_reads_nothing(
    trueaxis: Any, folder: Path, arguments: list[str]
) -> None:
    (folder / "there").write_text("mine", encoding="utf-8")
    done = trueaxis(*arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err
    assert files(folder) == {"data.csv", "there"}
    assert (folder / "there").read_text(encoding="utf-8") == "mine"


def test_force_replaces_and_nothing_else_does(trueaxis: Any, folder: Path) -> None:
    (folder / "s.csv").write_text("old", encoding="utf-8")
    refused = trueaxis("fit", "data.csv", "--scores", "s.csv")
    assert refused.status == 2
    assert "--force" in refused.err
    assert (folder / "s.csv").read_text(encoding="utf-8") == "old"
    assert trueaxis("fit", "data.csv", "--scores", "s.csv", "--force").status == 0
    assert (folder / "s.csv").read_text(encoding="utf-8").startswith("row,pc1")
    over = trueaxis("fit", "data.csv", "--scores", "data.csv", "--force")
    assert over.status == 1
    assert "is what is read" in over.err


def test_the_kinds_of_rows_are_counted_in_words(trueaxis: Any, folder: Path) -> None:
    done = trueaxis("outliers", "data.csv", "--id", "who", "-k", 3, "-o", "flags.csv")
    kinds = Counter(pd.read_csv("flags.csv")["kind"])
    told = next(line for line in done.out.splitlines() if "beyond a cut-off" in line)
    assert told.startswith(f"{sum(kinds.values())} rows ")
    found = re.findall(r"(\d+) ((?:good leverage|bad leverage|orthogonal)) (\w+)", told)
    named = {"orthogonal": "orthogonal outlier"}
    assert {named.get(kind, kind): int(number) for number, kind, _ in found} == kinds
    assert all(noun.endswith("s") == (number != "1") for number, _, noun in found)


def test_what_was_imported_is_not_searched_for_garbage() -> None:
    with without_collecting():
        assert not gc.isenabled()
        made: list[Any] = []
    assert gc.isenabled()
    assert all(thing is not made for thing in gc.get_objects())
    gc.unfreeze()
    assert any(thing is made for thing in gc.get_objects())


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
def test_memory_is_used_again() -> None:
    code = (
        "import resource, sys\n"
        "import numpy as np\n"
        "from trueaxis.cli.memory import keep_what_is_freed\n"
        "keep_what_is_freed()\n"
        "def faults():\n"
        "    for _ in range(100):\n"
        "        np.ones(1 << 17), np.ones(1 << 17)\n"
        "    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "before = faults()\n"
        "pages = 200 * (1 << 20) // resource.getpagesize()\n"
        "sys.exit(faults() - before > pages / 20)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_debug_shows_where_it_was(folder: Path) -> None:
    done = process("fit", "none.csv", "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert "Traceback" not in process("fit", "none.csv").stderr


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from trueaxis.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,
    )


def test_a_disk_that_fills_leaves_nothing(folder: Path) -> None:
    def small_disk() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))

    before = files(folder)
    done = process(
        *("fit", "data.csv", "--model", "m.skops", "--scores", "s.csv", "-k", "2"),
        preexec_fn=small_disk,
    )
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "File too large" in done.stderr
    assert files(folder) == before
    full = process("transform", "none.skops", "data.csv", "-o", "/dev/full")
    assert full.returncode == 1


def test_devices_are_written_not_replaced(trueaxis: Any, folder: Path) -> None:
    done = trueaxis("fit", "data.csv", "--scores", "/dev/null", "-k", 2)
    assert done.status == 0, done.err
    assert not Path("/dev/null").is_file()
    full = trueaxis("fit", "data.csv", "--scores", "/dev/full", "-k", 2)
    assert full.status == 1
    assert "No space left on device" in full.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(trueaxis: Any, folder: Path) -> None:
    (folder / "shut").mkdir(mode=0o500)
    done = trueaxis("fit", "data.csv", "--model", "shut/m.skops")
    assert done.status == 1
    assert "No permission to write" in done.err


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_command_leaves_nothing(folder: Path, number: int, status: int) -> None:
    # It is stopped as soon as it writes: the report is held up until then.
    code = (
        "import sys, time, pathlib\n"
        "import trueaxis.persistence as p\n"
        "def slow(model, to):\n"
        "    to.write_bytes(b'half')\n"
        "    pathlib.Path('writing').touch()\n"
        "    time.sleep(60)\n"
        "p.write = slow\n"
        "from trueaxis.cli import main; main()\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, "fit", "data.csv", "-k", "2", "--scores", "s.csv"]
        + ["--model", "m.skops"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + 60
    while not (folder / "writing").exists() and time.monotonic() < until:
        time.sleep(0.02)
    running.send_signal(number)
    _, err = running.communicate(timeout=60)
    assert running.returncode == status
    assert "Traceback" not in err
    assert files(folder) == {"data.csv", "writing"}


def test_standard_input_to_standard_output(folder: Path) -> None:
    text = (folder / "data.csv").read_text(encoding="utf-8")
    done = process("outliers", "-", "-k", "2", "-o", "-", input=text)
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) > 10
    assert "Reading" not in done.stderr  # no bars where stderr is no terminal
    assert "\x1b" not in done.stderr + done.stdout


def test_a_terminal_sees_a_bar_without_colors_where_it_wants_none(folder: Path) -> None:
    ours, theirs = pty.openpty()
    running = subprocess.Popen(
        [sys.executable, "-c", "from trueaxis.cli import main; main()", "fit", "data.csv"]
        + ["-k", "2", "--loss", "l1"],
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        seen += part
    os.close(ours)
    assert running.wait(60) == 0
    assert b"Fitting" in seen
    assert b"sweep" in seen
    assert not re.search(rb"\x1b\[[0-9;]*3[0-9]m", seen)


def test_a_name_that_the_terminal_cannot_show_does_not_stop_it(folder: Path) -> None:
    frame = pd.read_csv("data.csv").rename(columns={"v0": "größe"})
    frame.to_csv("größe.csv", index=False)
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = process("fit", "größe.csv", "-k", "2", "--scores", "-", env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("row,pc1,pc2")


def test_help_is_quick_and_needs_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from trueaxis.cli.app import run\n"
        "assert run(['--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow', 'skops', 'matplotlib', 'pandas'}\n"
        "sys.exit(', '.join(heavy & set(sys.modules)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for command in ("fit", "transform", "outliers", "compare", "info", "demo"):
        assert command in done.stdout


def test_a_fit_imports_nothing_that_it_does_not_use(folder: Path) -> None:
    code = (
        "import sys\n"
        "from trueaxis.cli.app import run\n"
        "assert run(['fit', 'data.csv', '--scores', 's.csv', '--report', 'r.html']) == 0\n"
        "idle = {'pandas', 'scipy.stats', 'scipy.optimize', 'skops', 'torch', 'matplotlib'}\n"
        "used = idle & set(sys.modules)\n"
        "import pandas, scipy.stats, sklearn.utils.fixes as fixes\n"
        "assert pandas.DataFrame is fixes.pd.DataFrame\n"
        "assert scipy.stats.mode([1, 1, 2]).mode == fixes._mode([1, 1, 2])[0]\n"
        "sys.exit(', '.join(used) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_module_that_was_put_off_is_itself_when_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "put_off").mkdir()
    (tmp_path / "put_off" / "__init__.py").touch()
    (tmp_path / "put_off" / "part.py").write_text("value = [7]\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with deferred("put_off.part", "put_off.none", "json"):
        held = importlib.import_module("put_off.part")
        assert "value" not in vars(held)
        assert sys.modules["json"] is json  # what is there stays
        with pytest.raises(ImportError):
            importlib.import_module("put_off.none")
    assert "put_off.part" not in sys.modules
    part = importlib.import_module("put_off.part")
    assert held.value is part.value
    assert sys.modules["put_off"].part is part  # type: ignore[attr-defined]
    with deferred("put_off.part"):
        assert importlib.import_module("put_off.part") is part


def test_an_interrupted_import_is_one_line(folder: Path) -> None:
    code = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from trueaxis.cli import main; main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "Interrupted: nothing was written.\n")


def test_a_table_is_read_without_scikit_learn(folder: Path) -> None:
    code = (
        "import sys\n"
        "from trueaxis.tables import read\n"
        "assert len(read('data.csv')) == 120\n"
        "sys.exit('sklearn' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert done.returncode == 0
