"""The hdbscan package on clmst's spanning tree, so that equal distances are broken in one way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst.cluster import HDBSCAN

SEEDS = range(20)


def sets(seed: int) -> tuple[np.ndarray, dict[str, Any]]:
    """Return two to seven groups with a tenth of noise, and parameters of a fit."""
    random = np.random.default_rng(seed)
    n, axes = int(random.integers(100, 500)), int(random.integers(2, 6))
    middles = random.random((int(random.integers(2, 8)), axes)) * 20
    group = random.integers(0, len(middles), n)
    X = middles[group] + random.normal(size=(n, axes)) * random.uniform(0.3, 1.5, n)[:, None]
    X[: n // 10] = random.uniform(0, 20, (n // 10, axes))
    return X, {
        "min_cluster_size": int(random.integers(4, 15)),
        "cluster_selection_method": ("eom", "leaf")[seed % 2],
    }


def new_points(X: np.ndarray, seed: int, n: int = 200) -> np.ndarray:
    """Return points in clusters, around and far from them."""
    random = np.random.default_rng(seed)
    near = X[random.integers(0, len(X), n)] + random.normal(size=(n, X.shape[1]))
    low, high = X.min(axis=0), X.max(axis=0)
    spread = random.uniform(low - (high - low), high + (high - low), (n // 2, X.shape[1]))
    return np.concatenate([near, spread])


def peer_of(X: np.ndarray, given: dict[str, Any], model: HDBSCAN | None = None) -> Any:
    """Return hdbscan's estimator of the same points, on the tree of a model if one is given.

    It does not count a point as its own neighbour: clmst's `min_samples` is one more.
    """
    hdbscan = pytest.importorskip("hdbscan")
    min_samples = given["min_samples"] - 1
    peer = hdbscan.HDBSCAN(
        **given | {"min_samples": min_samples}, algorithm="prims_kdtree", prediction_data=True
    ).fit(X)
    if model is None:
        return peer
    linkage = model.forest_.linkage()
    found = hdbscan.hdbscan_._tree_to_labels(
        X, linkage, given["min_cluster_size"], given["cluster_selection_method"]
    )
    peer.labels_, peer.probabilities_, peer.cluster_persistence_, peer._condensed_tree, _ = found
    peer.generate_prediction_data()
    # hdbscan's prediction takes one neighbour less for the points of a fit than the fit does.
    tree = peer.prediction_data_.tree
    peer.prediction_data_.core_distances = tree.query(X, k=min_samples + 1)[0][:, -1]
    return peer


def their_labels(ours: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """Return hdbscan's number for each of our labels, with noise last.

    Raises unless the clusters are equal.
    """
    pairs = np.unique(np.stack([ours, theirs]), axis=1).T
    assert len(pairs) == np.unique(ours).size == np.unique(theirs).size
    number = np.full(ours.max() + 2, -1)
    number[pairs[:, 0]] = pairs[:, 1]
    assert number[-1] == -1
    return number
