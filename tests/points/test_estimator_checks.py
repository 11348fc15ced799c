"""The estimators pass scikit-learn's own checks of estimators."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

from clmst.cluster import HDBSCAN, PersistentLeaves, SingleLinkage

pytest.importorskip("sklearn", "1.9")

OWN_WORDS = "the message is clmst's own"
EXPECTED_FAILURES = {
    "check_complex_data": OWN_WORDS,
    "check_estimators_empty_data_messages": OWN_WORDS,
    "check_dtype_object": "the error is a ValueError; scikit-learn wants a TypeError",
}
# Of weights, the checks shuffle the rows and compare the numbers of clusters. Clusters are numbered
# in the order of the rows; tests/points/test_weights.py compares the clusters themselves.
OF_HDBSCAN = {
    "check_fit2d_predict1d": OWN_WORDS,
    **{
        f"check_sample_weight_equivalence_on_{kind}_data": "numbers follow the order of the rows"
        for kind in ("dense", "sparse")
    },
}


@pytest.mark.parametrize(
    "model",
    [
        HDBSCAN(),
        HDBSCAN(ties="simultaneous"),
        PersistentLeaves(),
        SingleLinkage(),
        SingleLinkage(3),
    ],
    ids=repr,
)
def test_scikit_learns_checks_pass(model: Any) -> None:
    """Each other failure is an error, and so is a failure that no longer happens."""
    from sklearn.utils.estimator_checks import check_estimator

    expected = EXPECTED_FAILURES | (OF_HDBSCAN if isinstance(model, HDBSCAN) else {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of checks that are skipped, and of scikit-learn's own
        done = check_estimator(model, expected_failed_checks=expected, on_fail="raise")
    outcomes = {check["check_name"]: check["status"] for check in done}
    assert {name for name, status in outcomes.items() if status == "xfail"} == set(expected)
    assert sum(status == "passed" for status in outcomes.values()) > 30


def test_tags_tell_what_is_taken() -> None:
    from sklearn.utils import get_tags

    tags = {
        (type(model).__name__, model.metric): get_tags(model).input_tags
        for metric in ("euclidean", "precomputed")
        for model in (
            HDBSCAN(metric=metric),
            PersistentLeaves(metric=metric),
            SingleLinkage(metric=metric),
        )
    }
    by_density = {"HDBSCAN", "PersistentLeaves"}
    assert {name for name, tag in tags.items() if tag.allow_nan} == {
        (name, "euclidean") for name in by_density
    }
    assert {name[0] for name, tag in tags.items() if tag.sparse} == by_density
    assert {name[1] for name, tag in tags.items() if tag.pairwise} == {"precomputed"}
