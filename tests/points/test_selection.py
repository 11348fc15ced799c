"""hdbscan's parameters that scikit-learn does not have: how they choose, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from clmst import InvalidArgumentError
from clmst.cluster import HDBSCAN
from tests.points.hdbscan_peer import SEEDS, sets
from tests.points.test_hdbscan import assert_same_partition, blobs


def peers_choice(X: np.ndarray, model: HDBSCAN, **given: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels and probabilities that hdbscan chooses from the tree of a model."""
    hdbscan = pytest.importorskip("hdbscan")
    found = hdbscan.hdbscan_._tree_to_labels(
        X, model.forest_.linkage(), model.min_cluster_size, model.cluster_selection_method, **given
    )
    return found[0], found[1]


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_greatest_epsilon_is_hdbscans(seed: int, single: bool) -> None:
    X, given = sets(seed)
    given |= {"min_samples": 2, "allow_single_cluster": single, "cluster_selection_method": "eom"}
    heights = HDBSCAN(**given).fit(X).single_linkage_tree_[:, 2]
    for share in (0.7, 0.95, 0.99, 1):
        epsilon = float(np.quantile(heights, share))
        model = HDBSCAN(**given, cluster_selection_epsilon_max=epsilon).fit(X)
        how: dict[str, Any] = {"allow_single_cluster": single}
        labels, strengths = peers_choice(X, model, **how, cluster_selection_epsilon_max=epsilon)
        assert_same_partition(model.labels_, labels)
        np.testing.assert_allclose(model.probabilities_, strengths, rtol=1e-12)


@pytest.mark.parametrize("method", ["eom", "leaf"])
@pytest.mark.parametrize("seed", [*SEEDS, 22])
def test_persistence_is_hdbscans(seed: int, method: str) -> None:
    """Labels are equal, and probabilities but for points of removed clusters in removed clusters.

    In hdbscan these keep their densities, although their cluster ends at the split.
    """
    X, given = sets(seed)
    given |= {"min_samples": 2, "cluster_selection_method": method}
    for threshold in (0.05, 0.3, 1.0, 3.0):
        model = HDBSCAN(**given, cluster_selection_persistence=threshold).fit(X)
        labels, strengths = peers_choice(X, model, cluster_selection_persistence=threshold)
        assert_same_partition(model.labels_, labels)
        differs = ~np.isclose(model.probabilities_, strengths, rtol=1e-6)
        assert (model.probabilities_[differs] < strengths[differs]).all()
        assert differs.mean() < 0.5


@pytest.mark.parametrize("ties", ["sequential", "simultaneous"])
@pytest.mark.parametrize("seed", range(9))
def test_every_leaf_persists(seed: int, ties: Any) -> None:
    """The leaves of the tree persist, each cluster has its points, and no child begins earlier."""
    X = blobs(seed, 160)
    for threshold in (0.1, 0.7):
        given: dict[str, Any] = {"min_samples": 2, "ties": ties}
        model = HDBSCAN(3, cluster_selection_persistence=threshold, **given).fit(X)
        plain = HDBSCAN(3, **given).fit(X)
        rows, root = model.condensed_tree_, len(X)
        clusters = rows[rows["child"] >= root]
        assert len(clusters) <= (plain.condensed_tree_["child"] >= root).sum()
        assert sorted(rows["child"][: len(X)].tolist()) == list(range(len(X)))
        for cluster in clusters:
            own = rows[rows["parent"] == cluster["child"]]
            assert own["cluster_size"].sum() == cluster["cluster_size"]
            assert own["value"].min() >= cluster["value"]
            if (own["child"] < root).all():
                assert own["value"].max() - cluster["value"] >= threshold


def test_a_split_with_one_lasting_part_is_none() -> None:
    """Of two dense groups and a hardly denser one, in a line."""
    dense, sparse = np.arange(10) / 100, np.arange(6) * 0.9
    X = np.concatenate([dense, dense + 1, sparse + 3])[:, None]
    given: dict[str, Any] = {"min_samples": 1, "cluster_selection_method": "leaf"}
    assert HDBSCAN(5, **given).fit(X).labels_.tolist() == np.repeat([0, 1, 2], [10, 10, 6]).tolist()
    model = HDBSCAN(5, **given, cluster_selection_persistence=1.0).fit(X)
    assert model.labels_.tolist() == np.repeat([0, 1, -1], [10, 10, 6]).tolist()
    # The points of the removed cluster leave at the split, 1 / 2 below the two others.
    assert np.unique(model.condensed_tree_["value"][20:26]).tolist() == [1 / (3 - 1.09)]


def test_names_of_hdbscan_change_nothing() -> None:
    X = blobs(8, 90)
    expected = HDBSCAN(5, min_samples=3).fit(X)
    given: dict[str, Any] = {
        "approx_min_span_tree": True, "gen_min_span_tree": True, "prediction_data": True,
        "core_dist_n_jobs": 4, "memory": "folder", "branch_detection_data": False,
        "match_reference_implementation": False, "leaf_size": 30, "max_cluster_size": 0,
        "cluster_selection_epsilon_max": float("inf"), "p": None,
    }  # fmt: skip
    for algorithm in ("best", "generic", "prims_kdtree", "boruvka_kdtree", "boruvka_balltree"):
        model = HDBSCAN(5, min_samples=3, algorithm=algorithm, **given).fit(X)
        np.testing.assert_array_equal(model.labels_, expected.labels_)
        np.testing.assert_array_equal(model.condensed_tree_, expected.condensed_tree_)


@pytest.mark.parametrize("power", [1, 2, 3, 1.5, np.inf])
def test_the_power_of_minkowskis_distance(power: float) -> None:
    X, new = blobs(8, 90, axes=3), blobs(9, 20, axes=3)
    model = HDBSCAN(4, metric="minkowski", p=power, store_centers="medoid").fit(X)
    named = HDBSCAN(4, metric="minkowski", metric_params={"p": power}, store_centers="medoid")
    named.fit(X)
    np.testing.assert_array_equal(model.labels_, named.labels_)
    np.testing.assert_array_equal(model.medoids_, named.medoids_)
    np.testing.assert_array_equal(model.predict(new), named.predict(new))
    heights = HDBSCAN(4, min_samples=1, metric="minkowski", p=power).fit(X).single_linkage_tree_
    assert np.isin(np.round(heights[:, 2], 9), np.round(pdist(X, "minkowski", p=power), 9)).all()
    np.testing.assert_array_equal(
        HDBSCAN(4, metric="cosine", p=power).fit(X).labels_,
        HDBSCAN(4, metric="cosine").fit(X).labels_,
    )


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"branch_detection_data": True}, "branch_detection_data is True; clmst finds no branches"),
    ({"match_reference_implementation": True}, "match_reference_implementation is True; leave it"),
    ({"prediction_data": 1}, "prediction_data is 1; it must be"),
    ({"gen_min_span_tree": None}, "gen_min_span_tree is None; it must be"),
    ({"approx_min_span_tree": "yes"}, "approx_min_span_tree is 'yes'; it must be"),
    ({"core_dist_n_jobs": 1.5}, "core_dist_n_jobs is 1.5; it must be"),
    ({"p": 0}, "p of Minkowski's distance is 0; it must be a number above 0"),
    ({"p": "2"}, "p of Minkowski's distance is '2'; it must be a number above 0"),
    ({"p": 2, "metric_params": {"p": 3}}, "p is 2, and metric_params has p 3; leave out one"),
    ({"cluster_selection_epsilon_max": -1}, "cluster_selection_epsilon_max is -1; it must be a n"),
    ({"cluster_selection_epsilon_max": np.nan}, "cluster_selection_epsilon_max is nan; it must be"),
    ({"cluster_selection_epsilon_max": 1, "cluster_selection_epsilon": 2}, "must not be less"),
    (
        {"cluster_selection_persistence": -0.5},
        "cluster_selection_persistence is -0.5; it must be a",
    ),
    ({"cluster_selection_persistence": np.inf}, "cluster_selection_persistence is inf; it must be"),
    ({"max_cluster_size": -1}, "max_cluster_size is -1; it must not be neg"),
    ({"algorithm": "boruvka"}, "algorithm is 'boruvka'; it must be one of 'auto'"),
]


@pytest.mark.parametrize(("given", "message"), REFUSED)
def test_one_clear_error(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        HDBSCAN(**given).fit(blobs(4, 30))
