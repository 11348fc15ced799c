"""The records of algorithms: whole, read by everything that names one, and none of them needed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import clmst
from clmst import Device, InvalidArgumentError
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord
from clmst.algorithms.solving import check_name
from clmst.cli.root import main
from clmst.runtime import policy
from tests.helpers.forests import assert_same_forest, random_graph, solve
from tests.helpers.programs import files
from tests.runtime.test_policy import CAPABILITIES

DOCS = Path(__file__).parents[2] / "docs"
every_record = pytest.mark.parametrize("record", ALGORITHMS.values(), ids=ALGORITHMS)

# Each record is taken out before anything has read the table, then all of clmst is imported.
WITHOUT_ONE = """
import pkgutil, sys
from importlib import import_module

import clmst
from clmst.algorithms.registry import ALGORITHMS

BELOW = {"core", "io", "generators", "drawing", "runtime", "primitives"}  # know no algorithm
for name in sorted(ALGORITHMS):
    for module in [one for one in sys.modules if one.startswith("clmst.")]:
        if module.split(".")[1] not in BELOW:
            del sys.modules[module]
    del import_module("clmst.algorithms.registry").ALGORITHMS[name]
    for module in pkgutil.walk_packages(clmst.__path__, "clmst."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    families = import_module("clmst.families").BY_NAME
    assert name not in families
    print(name)
"""


@every_record
def test_record_is_whole(record: AlgorithmRecord) -> None:
    """What is loaded late must be there all the same."""
    assert record.options() == record.options()
    assert record.solve.__doc__
    folder = record.folder.removeprefix("clmst.").replace(".", "/")
    assert any(one.startswith(f"{folder}/") for one in files())
    assert getattr(clmst, record.options.__name__) is record.options


@pytest.mark.skipif(not DOCS.exists(), reason="installed without the pages")
def test_pages_list_all_algorithms() -> None:
    """One row a record, and no row more."""
    page = (DOCS / "algorithms.md").read_text(encoding="utf-8")
    rows = {line for line in page.splitlines() if re.match(r"\| `[\w-]+` \|.*Options` \|$", line)}
    assert rows == {
        f"| `{one.name}` | {one.purpose} | {one.good_for} | `{one.options.__name__}` |"
        for one in ALGORITHMS.values()
    }
    reference = (DOCS / "reference/options.md").read_text(encoding="utf-8")
    for one in ALGORITHMS.values():
        assert f"::: clmst.{one.options.__name__}\n" in reference


@pytest.mark.parametrize("command", ["solve", "bench"])
def test_help_lists_all_algorithms(command: str) -> None:
    # By the main command: a sub-command that is invoked alone keeps another help option.
    told = CliRunner().invoke(main, [command, "--help"]).output
    assert f"auto,{','.join(ALGORITHMS)}" in "".join(told.split())  # lines end at hyphens, too


def test_ranks_differ() -> None:
    """Else the order of "auto" would go by names."""
    for capabilities in CAPABILITIES.values():
        tuning = policy.choose(capabilities)
        ranks = [one.rank for one in ALGORITHMS.values()]
        given = [
            rank(tuning, None) if callable(rank) else rank for rank in ranks if rank is not None
        ]
        assert len(given) == len(set(given)) > 1


@pytest.mark.usefixtures("in_steps")
@every_record
def test_each_can_be_taken_out(
    record: AlgorithmRecord, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing else needs it: "auto" and all others solve, complete graphs included."""
    monkeypatch.delitem(ALGORITHMS, record.name)
    graph = random_graph(80, 300, np.arange(9, dtype=np.float32))
    with pytest.raises(InvalidArgumentError, match=f"{record.name!r}; there are 'auto'"):
        check_name(record.name)
    for maximum in (False, True):
        expected = clmst.kruskal(graph, maximum=maximum)
        for name in ("auto", *ALGORITHMS):
            forest = solve(graph, any_device, maximum=maximum, algorithm=name)
            assert forest.stats["algorithm"] != record.name
            assert_same_forest(forest, expected)
    cells = np.ones((9, 9))
    assert clmst.minimum_spanning_forest(cells, device=any_device).n_edges == 8


def test_everything_imports_without_any() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_ONE],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == sorted(ALGORITHMS)
