"""The README as a newcomer reads it: every block, in order, in one empty folder."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from trueaxis.cli import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)
ELSEWHERE = ("make", ".", "export")  # tried by other tests, or about the user's own shell
MOST_BYTES = 200_000


def test_every_block_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")
    _run("trueaxis demo")  # what `make demo` runs
    names: dict[str, Any] = {}
    for language, block in BLOCKS:
        capsys.readouterr()
        if language == "python":
            exec(compile(block, "README.md", "exec"), names)
            _check_promised(block, capsys.readouterr().out)
        else:
            for line in block.splitlines():
                _run(line)
    for name in ("flags.csv", "report.html", "scores.parquet", "clip-separated/contact_sheet.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "flags.csv").read_text().count('"three ') == 9
    assert set(names["flags"][:100]) == {-1}  # the outliers of make_contaminated come first
    assert names["filled"].shape == names["X"].shape


def _run(line: str) -> None:
    """Run a line of a shell block: `trueaxis` in this process, and `cp`."""
    words = shlex.split(line, comments=True)
    if words[:1] == ["trueaxis"]:
        with pytest.raises(SystemExit) as left:
            main(words[1:])
        assert left.value.code == 0, line
    elif words[:1] == ["cp"]:
        shutil.copy(*words[1:])
    else:
        assert not words or words[0] in ELSEWHERE, f"nobody tries: {line}"


def _check_promised(block: str, printed: str) -> None:
    """Find the numbers that a comment promises of a `print` in what was printed."""
    promised = re.findall(r"^print\(.*#(.*)$", block, flags=re.MULTILINE)
    found = [float(number) for number in re.findall(r"\d+(?:\.\d*)?", printed)]
    for number in re.findall(r"\d+(?:\.\d+)?", " ".join(promised)):
        assert min(abs(float(number) - other) for other in found) < 1e-3, printed


def test_every_file_that_the_readme_links_to_is_there() -> None:
    links = re.findall(r"\]\((?!\w+:)([^)]+)\)", README)
    assert links
    for link in links:
        assert (ROOT / link).is_file(), link
        assert (ROOT / link).stat().st_size < MOST_BYTES


def test_the_commands_of_make_are_those_of_the_makefile() -> None:
    named = set(re.findall(r"\bmake ([a-z-]+)", README))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE))
    assert named
    assert named <= targets


def test_the_extras_of_pip_are_those_of_the_package() -> None:
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for extra in re.findall(r"install '(?:\.|trueaxis)\[([a-z-]+)\]'", README):
        assert re.search(rf"^{extra} = \[", declared, flags=re.MULTILINE), extra


def test_the_page_stays_a_page() -> None:
    assert len(README.splitlines()) < 250
    assert "<!-- speed table -->" in README
    assert "<!-- /speed table -->" in README
