"""What the command line adds to reading: `trueaxis fit` on 1e6 x 20 against its own reader.

Whole processes, interleaved, so that starting Python and importing count on both sides. The
reading process does what the command does up to the matrix, and ends. Seconds of all cores are
given too: they hold on a machine that has other work.

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "data.csv", Path(folder) / "model.skops"
        table_of(path, asked.rows)
        size = path.stat().st_size / 1e6
        print(f"{machine()}; {asked.rows} x 20, {size:.0f} MB of CSV")
        arms = {
            "trueaxis --help": lambda: run(COMMAND, "--help"),
            OWN: lambda: run(READ, path),
            "read, pandas": lambda: run(PANDAS, path),
            "fit -k 5": lambda: run(COMMAND, "fit", path, "-k", 5, "-q"),
            "fit -k 5 --model": lambda: run(
                COMMAND, "fit", path, "-k", 5, "-q", "--model", model, "--force"
            ),
            "fit": lambda: run(COMMAND, "fit", path, "-q"),
        }
        cores = {name: [] for name in arms}
        timed = {n: lambda n=n, arm=arm: cores[n].append(arm()) for n, arm in arms.items()}
        seconds = interleaved(timed, asked.repeats, warm=False)
        own, own_cores = seconds[OWN], statistics.median(cores[OWN])
        print(f"{'median of processes':22s}{'wall':>8s}{'/ own':>8s}{'cores':>9s}{'/ own':>8s}")
        for name, wall in seconds.items():
            busy = statistics.median(cores[name])
            print(f"{name:22s}{wall:7.2f}s{wall / own:8.2f}{busy:8.2f}s{busy / own_cores:8.2f}")


if __name__ == "__main__":
    main()
