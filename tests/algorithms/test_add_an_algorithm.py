"""The page that says how an algorithm is added, followed to the letter in a copy of the tree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/add_an_algorithm.md"
FILE = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TRIED = re.compile(r"^## Try it\n\n```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the rest of clmst makes of an algorithm that it has never heard of.
FOUND = """
import clmst, numpy as np
from click.testing import CliRunner
from clmst.cli.solve import solve
from clmst.families import BY_NAME, tested
from tests.helpers.programs import programs

device = clmst.get_device()
assert all(verdict.passed for verdict in tested(device, BY_NAME["toy"]))
sources = {one.source for one in programs(device.capabilities, device.policy)}
assert "algorithms/toy/toy.cl" in sources
assert "toy" in CliRunner().invoke(solve, ["--help"]).output
options = clmst.algorithms.registry.ALGORITHMS["toy"].options()
for maximum in (False, True):
    rng = np.random.default_rng(maximum)
    graph = clmst.Graph.from_edges(*rng.integers(0, 90, (2, 500)), rng.integers(-9, 9, 500))
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    forest = solve(graph, options=options)
    assert forest.stats["algorithm"] == "toy"
    expected = clmst.kruskal(graph, maximum=maximum)
    assert np.array_equal(forest.edge_ids, expected.edge_ids)
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the tree with the files of the page."""
    if not PAGE.exists():
        pytest.skip("installed without the pages")
    for folder in ("clmst", "cl", "tests", "benchmarks"):
        if (ROOT / folder).is_dir():
            ignored = shutil.ignore_patterns("__pycache__", "results")
            shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    files = FILE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(files) == 5
    for name, text in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def ran(copy: Path, *words: str) -> str:
    """Run Python in the copy and return its output. Fails if Python fails."""
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    path = os.pathsep.join([str(copy), *filter(None, before)])
    done = subprocess.run(
        [sys.executable, *words],
        cwd=copy,
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.exhaustive
def test_the_page_adds_an_algorithm(copy: Path) -> None:
    (block,) = TRIED.findall(PAGE.read_text(encoding="utf-8"))
    (said,) = re.findall(r"# (.*)$", block)
    assert ran(copy, "-c", block) == f"{said}\n"
    ran(copy, "-c", FOUND)
    files = ("tests/algorithms/toy", "tests/project/test_architecture.py")
    text = ran(copy, "-m", "pytest", "-q", *files, "-k", "toy or folders or know_no or every_macro")
    assert " passed" in text
