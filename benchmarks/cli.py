"""What the command line adds to reading: `trueaxis fit` on 1e6 x 20 against its own reader.

Whole processes, interleaved, so that starting Python and importing count on both sides. The
reading process does what the command does up to the matrix, and ends. Seconds of all cores are
given too: they hold on a machine that has other work. A second table has the stages of one
process, each alone: what is imported while the file is read takes a core from the reader.

    python benchmarks/cli.py [--rows 1000000] [--repeats 5]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from timing import interleaved, machine
from trueaxis.tables import write

READ = """
import sys
from trueaxis.tables import read
table = read(sys.argv[1])
table.columns.numbers(table.names)
"""
PANDAS = "import sys, pandas; pandas.read_csv(sys.argv[1]).to_numpy()"
OWN = "read, own reader"
COMMAND = "import sys; from trueaxis.cli import main; main()"
STAGES = """
import sys, time
began = time.perf_counter()
def stage(name):
    global began
    now = time.perf_counter()
    print(f"{name}\\t{now - began}")
    began = now
import trueaxis.cli.app
stage("import the command line")
from trueaxis.cli.imports import _import_all
from trueaxis.tables import read
import trueaxis.tables.text
stage("import the reader")
from trueaxis.cli.memory import keep_what_is_freed
keep_what_is_freed()
_import_all(("trueaxis.table_model", "rich.console", "rich.table", "importlib.metadata"))
stage("import what fits, and shows")
table = read(sys.argv[1])
stage("read")
from trueaxis.table_model import Settings, fit, prepare
rows = prepare(table, Settings(k=5))[1]
stage("columns to a matrix; units")
fitted = fit(table, Settings(k=5))
stage("the same again, and fit")
fitted.model.counts(fitted.rows)
stage("count the kinds of rows")
from trueaxis.persistence import write
from pathlib import Path
write(fitted.model, Path(sys.argv[2]))
stage("--model")
from trueaxis.tables import write
for suffix in ("csv", "parquet"):
    write(fitted.model.scores(fitted.rows), f"{sys.argv[2]}.{suffix}")
    stage(f"--scores s.{suffix}")
from trueaxis.report import render
page = render(fitted.model.detector, fitted.rows.X, ids=fitted.rows.at + 1)
stage(f"--report, {len(page) / 1e6:.1f} MB")
"""


def table_of(path, rows, columns=20):
    """Rows near five dimensions, one in twenty of them anything."""
    rng = np.random.default_rng(0)
    X = 3 * rng.standard_normal((rows, 5)) @ rng.standard_normal((5, columns))
    X += 0.3 * rng.standard_normal((rows, columns))
    X[: rows // 20] = 20 * rng.standard_normal((rows // 20, columns))
    write({f"x{j}": X[:, j] for j in range(columns)}, path)


def run(*arguments):
    """A process that must succeed; the seconds of all cores that it took."""
    before = os.times()
    subprocess.run([sys.executable, "-c", *map(str, arguments)], check=True, capture_output=True)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def stages(path, beside, repeats):
    """Median seconds of each stage of a fit, in one process after another."""
    seconds = {}
    for _ in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", STAGES, str(path), str(beside)],
            check=True,
            capture_output=True,
            text=True,
        )
        for line in done.stdout.splitlines():
            name, taken = line.split("\t")
            seconds.setdefault(name, []).append(float(taken))
    return {name: statistics.median(times) for name, times in seconds.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # Modules are compiled once, as where pip installed them.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
        path = folder / "data.csv"
        table_of(path, asked.rows)
        size = path.stat().st_size / 1e6
        print(f"{machine()}; {asked.rows} x 20, {size:.0f} MB of CSV")
        commands = {
            "fit": (),
            "fit -k 5": ("-k", 5),
            "fit -k 5 --model m.skops": ("-k", 5, "--model", folder / "m.skops"),
            "fit -k 5 --scores s.parquet": ("-k", 5, "--scores", folder / "s.parquet"),
            "fit -k 5 --scores s.csv": ("-k", 5, "--scores", folder / "s.csv"),
            "fit -k 5 --report r.html": ("-k", 5, "--report", folder / "r.html"),
        }
        arms = {
            "trueaxis --help": lambda: run(COMMAND, "--help"),
            "read, pandas": lambda: run(PANDAS, path),
            OWN: lambda: run(READ, path),
        } | {
            name: lambda given=given: run(COMMAND, "fit", path, "--force", *given)
            for name, given in commands.items()
        }
        cores = {name: [] for name in arms}
        timed = {n: lambda n=n, arm=arm: cores[n].append(arm()) for n, arm in arms.items()}
        seconds = interleaved(timed, asked.repeats, warm=False)
        own, own_cores = seconds[OWN], statistics.median(cores[OWN])
        print(f"{'median of processes':28s}{'wall':>8s}{'/ own':>8s}{'cores':>9s}{'/ own':>8s}")
        for name, wall in seconds.items():
            busy = statistics.median(cores[name])
            print(f"{name:28s}{wall:7.2f}s{wall / own:8.2f}{busy:8.2f}s{busy / own_cores:8.2f}")
        print()
        print("stages, each alone")
        for name, taken in stages(path, folder / "model", asked.repeats).items():
            print(f"{name:28s}{taken:7.3f}s")


if __name__ == "__main__":
    main()
