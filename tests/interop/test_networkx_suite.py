"""NetworkX's own tests pass with clmst as their backend, and do reach it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from importlib.metadata import entry_points
from pathlib import Path

import networkx as nx
import pytest

from benchmarks import networkx_suite
from clmst.interop.networkx_info import get_info

ROOT = Path(__file__).parents[2]
FUNCTIONS = list(get_info()["functions"])


def test_tests_of_networkx_pass_and_reach_the_backend() -> None:
    """The modules of trees and cores, and those that call them; 15 s of processor time."""
    if not entry_points(group="networkx.backends", name="clmst"):
        message = "clmst's entry points are not installed; install it again"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    if not hasattr(nx, "config") or "fallback_to_nx" not in nx.config:
        pytest.skip("the tests of this NetworkX take backends in another way")
    command = [sys.executable, "-m", "tests.unoptimised", "benchmarks.networkx_suite", "--reaching"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout[done.stdout.index("\n{\n") :])
    assert record["outcomes"]["passed"] > 150
    assert set(record["calls"]) == set(FUNCTIONS)
    assert min(record["calls"].values()) >= 5
    assert len(networkx_suite.EXPECTED_FAILURES) <= 5


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_that_is_never_called_is_named(name: str) -> None:
    """Else a backend that NetworkX no longer finds would pass all of its tests."""
    calls = Counter(FUNCTIONS)
    assert networkx_suite.never_called(calls) == []
    del calls[name]
    assert networkx_suite.never_called(calls) == [name]
