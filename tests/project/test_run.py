"""``run.py``, the file that sets everything up, and what it runs for newcomers and releases."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest

import run
from tests.helpers import extras, first_time, pages
from tests.helpers.processes import run_python


def test_what_is_left_out_exists() -> None:
    """Pytest takes no notice of a path that is not there."""
    left_out = (*run.NOT_IN_CHECK, *run.NOT_AGAIN)
    assert [path for path in left_out if not (run.ROOT / path).exists()] == []


FIRST_PAGES = (run.ROOT / "README.md", run.ROOT / "docs" / "tutorial.md")


def imported(page: Path) -> set[str]:
    """Return the names of the top-level modules that the Python blocks of a page import."""
    nodes = [node for block in pages.blocks(page, "python") for node in ast.walk(ast.parse(block))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def test_the_first_environment_has_what_its_pages_import() -> None:
    """Who types ``python3 run.py`` can then paste the README and the tutorial."""
    missing = extras.missing_modules(run.EXTRAS)
    assert {"pytest", "hypothesis"} <= missing, "packages of other extras are left out"
    assert "networkx" in extras.missing_modules(run.EXTRAS.replace("networkx,", ""))
    names = set().union(*map(imported, FIRST_PAGES))
    assert {"clmst", "networkx", "scipy"} <= names
    assert names & missing == set()
    needed_to_draw = {"matplotlib"}  # by clmst.drawing and the option --plot
    assert needed_to_draw & missing == set()


@pytest.mark.exhaustive
def test_the_first_pages_run_in_the_first_environment(tmp_path: Path) -> None:
    extras.hide(extras.missing_modules(run.EXTRAS), tmp_path)
    path = os.pathsep.join([str(tmp_path), str(run.ROOT)])
    shown = map(str, FIRST_PAGES)
    said = run_python(pages.__file__, *shown, environment={"PYTHONPATH": path}).stdout
    assert said.count(", 0 wrong") == len(FIRST_PAGES), said


def test_a_page_that_needs_another_extra_is_found(tmp_path: Path) -> None:
    """A package that is hidden is missing for the code of a page and for its commands."""
    extras.hide(extras.missing_modules("cpu"), tmp_path)
    page = tmp_path / "page.md"
    page.write_text(
        "```python\nimport networkx\n```\n```sh\nclmst solve roads.gr --plot roads.png\n```\n",
        encoding="utf-8",
    )
    path = os.pathsep.join([str(tmp_path), str(run.ROOT)])
    with pytest.raises(AssertionError, match="2 wrong") as told:
        run_python(pages.__file__, str(page), environment={"PYTHONPATH": path})
    assert "No module named 'networkx'" in str(told.value)
    assert "pip install" in str(told.value)


def test_a_first_time_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    """The page has at most eight commands, an index takes the clone's place, and all are timed."""
    seen = list[str]()

    def noted(lines: list[str], home: Path, *_: object) -> float:
        seen[:] = lines
        assert (home / "points.csv").read_text().count("\n") == 1201
        return 1.0

    first_time.main([], noted, Path.exists)
    assert seen == first_time.commands()
    assert len(seen) <= first_time.MOST_COMMANDS
    assert sum(line.startswith(first_time.FROM_CLONE) for line in seen) == 1
    first_time.main(["https://index"], noted, Path.exists)
    assert sum(line.startswith(first_time.FROM_INDEX) for line in seen) == 1
    assert not any("~/clmst" in line for line in seen)
    assert f"{len(seen)} commands, 1 s" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="more than 8 commands or 120 s"):
        first_time.main([], lambda *_: 121.0, Path.exists)


def test_a_first_time_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed command stops it; a table without three clusters is not taken for one with them."""
    said = ["echo first", "cd nowhere", "echo never"]
    with pytest.raises(SystemExit, match="the last command failed"):
        first_time.run(said, tmp_path, tmp_path, None)
    out = capsys.readouterr().out
    assert "$ echo first\nfirst\n    [0." in out
    assert "$ cd nowhere" in out
    assert "never" not in out
    (tmp_path / "clusters.png").write_bytes(b"\x89PNG")
    rows = "".join(f"{k},0,{k % 2}\n" for k in range(1200))
    (tmp_path / "clustered.csv").write_text("x,y,cluster\n" + rows)
    with pytest.raises(SystemExit, match=r"1200 rows of x,y,cluster, in the clusters \{'[01]'"):
        first_time.check(tmp_path)
