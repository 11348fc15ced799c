"""Tests of NetworkX and of scikit-learn pass with clmst in place, and do reach it."""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from tests.helpers.other_suites import SUITES
from tests.helpers.processes import needs_entry_points, run_python

ROOT = Path(__file__).parents[2]
PARTS = [(suite, part) for suite in SUITES for part in sorted(SUITES[suite].parts())]


def record_of(name: str, *options: str) -> dict[str, Any]:
    """Run a suite in a process of its own, and return its counts."""
    done = run_python(
        "-m", "tests.helpers.unoptimised", "tests.helpers.other_suites", name, *options,
        environment={"PYTHONPATH": str(ROOT)}, timeout=600,
    )  # fmt: skip
    assert len(SUITES[name].expected_failures) <= 5
    found: dict[str, Any] = json.loads(done.stdout[done.stdout.index("\n{\n") :])
    return found


@pytest.mark.slow
def test_tests_of_networkx_pass_and_reach_the_backend() -> None:
    """The modules of trees and cores, and those that call them; 15 s of processor time."""
    needs_entry_points()
    if not hasattr(nx, "config") or "fallback_to_nx" not in nx.config:
        pytest.skip("the tests of this NetworkX take backends in another way")
    record = record_of("networkx", "--reaching")
    assert record["outcomes"]["passed"] > 150
    assert set(record["calls"]) == SUITES["networkx"].parts()
    assert min(record["calls"].values()) >= 5


@pytest.mark.slow
def test_tests_of_scikit_learn_pass_and_reach_clmst() -> None:
    """The tests of HDBSCAN and of agglomerative clustering take 18 s of processor time."""
    if find_spec("sklearn") is None:  # not imported here: that sets variables of the environment
        pytest.skip("scikit-learn is not installed")
    record = record_of("scikit-learn")
    assert record["outcomes"]["passed"] > 200
    assert record["calls"]["HDBSCAN"] > 400
    assert record["calls"]["SingleLinkage"] >= 15


@pytest.mark.parametrize(("suite", "part"), PARTS)
def test_a_part_that_is_never_called_is_named(suite: str, part: str) -> None:
    """Otherwise a missing backend or class would pass all of the tests."""
    never_called, parts = SUITES[suite].never_called, SUITES[suite].parts()
    assert never_called(Counter(parts)) == []
    assert never_called(Counter(parts - {part})) == [part]
