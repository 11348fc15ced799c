"""scikit-learn's own tests pass with clmst's classes in their place, and do reach them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import scikit_learn_suite

ROOT = Path(__file__).parents[2]


def test_tests_of_scikit_learn_pass_and_reach_clmst() -> None:
    """HDBSCAN's tests and those of agglomerative clustering; 18 s of processor time."""
    pytest.importorskip("sklearn", "1.9")
    command = [sys.executable, "-m", "tests.unoptimised", "benchmarks.scikit_learn_suite"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    record = json.loads(done.stdout[done.stdout.index("\n{\n") :])
    assert record["outcomes"]["passed"] > 200
    assert record["fits"]["HDBSCAN"] > 400
    assert record["fits"]["SingleLinkage"] >= 15
    assert len(scikit_learn_suite.EXPECTED_FAILURES) <= 5


@pytest.mark.parametrize("name", ["HDBSCAN", "SingleLinkage", "tree"])
def test_what_is_never_reached_is_named(name: str) -> None:
    """Else classes that were not put in place would pass all of the tests."""
    fits = Counter(["HDBSCAN", "SingleLinkage", "tree"])
    assert scikit_learn_suite.never_reached(fits) == []
    del fits[name]
    assert scikit_learn_suite.never_reached(fits) == [name]
