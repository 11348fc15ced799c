"""scikit-learn's own tests pass with clmst's classes in their place, and do reach them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import scikit_learn_suite
from clmst.cluster import HDBSCAN, SingleLinkage

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


pytest.importorskip("sklearn", "1.9")

OWN_WORDS = "the message is clmst's own"
EXPECTED_FAILURES = {
    "check_complex_data": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_dtype_object": "the error is a ValueError; scikit-learn wants a TypeError",
}


@pytest.mark.parametrize("model", [HDBSCAN(), SingleLinkage(), SingleLinkage(3)], ids=repr)
def test_scikit_learns_checks_pass(model: Any) -> None:
    """Each other failure is an error, and so is a failure that no longer happens."""
    from sklearn.utils.estimator_checks import check_estimator

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped, and of scikit-learn's own
        done = check_estimator(model, expected_failed_checks=EXPECTED_FAILURES, on_fail="raise")
    outcomes = {check["check_name"]: check["status"] for check in done}
    assert {name for name, status in outcomes.items() if status == "xfail"} == set(
        EXPECTED_FAILURES
    )
    assert sum(status == "passed" for status in outcomes.values()) > 30


def test_tags_tell_what_is_taken() -> None:
    from sklearn.utils import get_tags

    tags = {
        (type(model).__name__, model.metric): get_tags(model).input_tags
        for metric in ("euclidean", "precomputed")
        for model in (HDBSCAN(metric=metric), SingleLinkage(metric=metric))
    }
    assert [name for name, tag in tags.items() if tag.allow_nan] == [("HDBSCAN", "euclidean")]
    assert {name[0] for name, tag in tags.items() if tag.sparse} == {"HDBSCAN"}
    assert {name[1] for name, tag in tags.items() if tag.pairwise} == {"precomputed"}
