"""``-`` is stdin or stdout in every command that reads or writes graphs; how much has been read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clmst.cli import terminal
from clmst.core.long_work import LongWork
from tests.cli.results import Run, assert_fails, assert_fine, assert_not_understood, fed

TRIANGLE = "0 1 4\n1 2 1\n0 2 2\n"


def test_solve_reads_stdin() -> None:
    result = fed(TRIANGLE, "solve", "-", "--format", "edge-list", "--json")
    assert_fine(result)
    summary = json.loads(result.stdout)
    assert (summary["file"], summary["total_weight"]) == ("stdin", 3)


def test_stdin_needs_a_format() -> None:
    assert_not_understood(fed(TRIANGLE, "solve", "-"), "has no suffix", "must name it: dimacs")


def test_errors_of_stdin_have_their_line() -> None:
    result = fed("0 1 4\n1 x 1\n", "solve", "-", "--format", "edge-list")
    assert_fails(result, ": line 2: 'x' is not a vertex number")
    assert_fails(fed("", "solve", "-", "--format", "dimacs"), "the file is empty")


@pytest.mark.parametrize(
    ("format_name", "begin"),
    [(None, "# clmst minimum"), ("csv", "source,target,weight\n"), ("json", "{\n")],
)
def test_solve_writes_stdout(format_name: str | None, begin: str) -> None:
    named = () if format_name is None else ("--output-format", format_name)
    result = fed(TRIANGLE, "solve", "-", "--format", "edge-list", "-o", "-", "-q", *named)
    assert_fine(result)
    assert result.stdout.startswith(begin)


def test_verify_reads_either_from_stdin(run: Run, sample: Path) -> None:
    assert_fine(run("solve", sample, "-o", forest := sample.with_name("forest.txt"), "-q"))
    named = ("--format", "edge-list", "--forest-format", "edge-list")
    for arguments in (("-", forest), (sample, "-")):
        text = (sample if arguments[0] == "-" else forest).read_text()
        assert_fine(fed(text, "verify", *arguments, *named))
    wrong = fed(TRIANGLE, "verify", sample, "-", *named)
    assert wrong.exit_code == 1
    assert wrong.stderr.startswith("clmst: error: stdin is not the minimum spanning forest of")
    assert_not_understood(fed(TRIANGLE, "verify", "-", "-"), "only one of them can come from stdin")


def test_convert_and_generate_are_ends_of_a_pipe(tmp_path: Path) -> None:
    made = fed(
        "", "generate", "grid", "--rows", 3, "--columns", 4, "-o", "-", "--output-format", "dimacs"
    )
    assert made.exit_code == 0
    assert made.stderr.startswith("stdout: 12 vertices, 17 edges")
    named = ("--format", "dimacs", "--output-format", "edge-list")
    result = fed(made.stdout, "convert", "-", "-", *named, "-q")
    assert_fine(result)
    assert result.stdout.startswith("# clmst graph: 12 vertices and 17 edges")
    nameless = fed(made.stdout, "convert", "-", "-", "--format", "dimacs")
    assert_not_understood(nameless, "--output-format", "must name it: dimacs")


def test_a_true_pipe_and_a_redirected_file(sample: Path) -> None:
    command = [sys.executable, "-m", "clmst", "convert", "-", "-", "--format", "edge-list"]
    command += ["--output-format", "npz", "-q"]
    piped = subprocess.run(command, input=sample.read_bytes(), capture_output=True, check=True)
    with sample.open("rb") as file:
        redirected = subprocess.run(command, stdin=file, capture_output=True, check=True)
    assert piped.stdout[:2] == redirected.stdout[:2] == b"PK"


def test_how_much_has_been_read(tmp_path: Path) -> None:
    class Shares(terminal.Stages):
        def stage(self, name: str, text: str, *, done: Any = None) -> Any:
            self.share = done
            return super().stage(name, text)

    (path := tmp_path / "some.gr").write_bytes(b"x" * 4000)
    stages = Shares(quiet=True)
    with terminal.reading(stages, "read", path, None) as file:
        assert stages.share() == "0%"
        file.read()
        assert stages.share() == "100%"
    assert stages.share() == ""


def test_the_percentage_is_shown() -> None:
    known = LongWork("reading a", done=lambda: terminal.percentage(0.424))
    unknown = LongWork("reading b", done=lambda: terminal.percentage(None))
    assert [known.words(), unknown.words()] == ["reading a ... 42%", "reading b ..."]


def test_points_in_decimal_degrees(run: Run, tmp_path: Path) -> None:
    (path := tmp_path / "cities.tsp").write_text(
        "DIMENSION : 2\nEDGE_WEIGHT_TYPE : GEO\nNODE_COORD_SECTION\n1 46.948 7.447\n2 47.56 7.589\n"
    )
    for algorithm in ("auto", "boruvka"):  # the latter takes no points
        options = ("--metric", "haversine", "--algorithm", algorithm, "--json")
        total = json.loads(run("solve", path, *options).stdout)["total_weight"]
        assert 68.8 < total < 68.9
    assert_not_understood(run("solve", path, "--metric", "taxi"), "metric is 'taxi'")
    (edges := tmp_path / "edges.txt").write_text(TRIANGLE)
    assert_not_understood(run("solve", edges, "--metric", "haversine"), "format of points")
