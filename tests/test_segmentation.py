"""Segmentation by seeds, beside Kruskal's algorithm that never joins two labels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst.core.weight_keys import Array
from clmst.runtime.device import Device
from tests.helpers.forests import root


def by_kruskal(graph: clmst.Graph, seeds: Array, *, maximum: bool = False) -> Array:
    """Join the lightest edges first, unless both sides have a seed already."""
    u, v, weights, _ = graph.edges()
    keys = -weights.astype(np.float64) if maximum else weights.astype(np.float64)
    parent = list(range(graph.n_vertices))
    label = seeds.ravel().tolist()

    for e in np.argsort(keys, kind="stable"):  # edges are in canonical order
        a, b = (root(parent, int(end)) for end in (u[e], v[e]))
        if a != b and not (label[a] and label[b]):
            parent[a] = b
            label[b] = label[a] or label[b]
    return np.array([label[root(parent, k)] for k in range(graph.n_vertices)]).reshape(seeds.shape)


@pytest.mark.parametrize("levels", [3, 250], ids=["ties", "hardly-any"])
@pytest.mark.parametrize("connectivity", [1, 2])
def test_cucim_49_89_watershed_of_an_image(
    any_device: Device, levels: int, connectivity: int
) -> None:
    random = np.random.default_rng(levels)
    image = random.integers(0, levels, (40, 50)).astype(np.uint8)
    seeds = np.where(random.random(image.shape) < 0.01, random.integers(1, 9, image.shape), 0)
    graph = clmst.Graph.from_image(image, connectivity=connectivity)
    labels = clmst.seeded_segmentation(graph, seeds, device=any_device)
    np.testing.assert_array_equal(labels, by_kruskal(graph, seeds))
    assert (labels.shape, labels.dtype) == (seeds.shape, seeds.dtype)
    assert labels.all()


def test_other_seeds_with_the_same_forest(any_device: Device) -> None:
    graph = clmst.generate("random", n=300, average_degree=3.0, seed=2)  # of several components
    random = np.random.default_rng(1)
    for solve in (clmst.minimum_spanning_forest, clmst.maximum_spanning_forest):
        forest = solve(graph, device=any_device)
        for _ in range(3):
            seeds = np.where(random.random(300) < 0.03, random.integers(1, 5, 300), 0)
            labels = clmst.seeded_segmentation(forest, seeds, device=any_device)
            np.testing.assert_array_equal(labels, by_kruskal(graph, seeds, maximum=forest.maximum))
            assert not labels.all()  # some component lacks a seed


def test_gradient_graphs_of_other_libraries(any_device: Device) -> None:
    """scikit-learn makes such matrices: both directions, and the pixels on the diagonal."""
    image = np.random.default_rng(4).normal(size=(9, 11))
    graph = clmst.Graph.from_image(image)
    u, v, weights, _ = graph.edges()
    from scipy import sparse

    matrix = sparse.coo_array((weights, (u, v)), shape=(99, 99))
    matrix = (matrix + matrix.T + sparse.diags_array(image.ravel())).tocoo()
    seeds = np.zeros(99, np.int32)
    seeds[[3, 50, 98]] = 1, 2, 3
    labels = clmst.seeded_segmentation(matrix, seeds, device=any_device)
    np.testing.assert_array_equal(labels, by_kruskal(graph, seeds))


def test_no_seed_no_label(any_device: Device) -> None:
    graph = clmst.Graph.from_image(np.zeros((2, 3)))
    seeds = np.zeros((2, 3), np.uint8)
    labels = clmst.seeded_segmentation(graph, seeds, device=any_device)
    assert labels is not seeds
    assert not labels.any()


@pytest.mark.parametrize(
    ("seeds", "words"),
    [
        (np.zeros(5, int), r"of shape \(5,\); they must be an array of 6 integers"),
        (np.zeros(6), "they must be an array of 6 integers"),
        ([0, 0, -4, 0, 0, 1], "the seed of vertex 2 is -4"),
        (None, "they must be an array of 6 integers"),
    ],
    ids=str,
)
def test_bad_seeds(any_device: Device, seeds: Any, words: str) -> None:
    graph = clmst.Graph.from_image(np.zeros((2, 3)))
    with pytest.raises(clmst.InvalidArgumentError, match=words):
        clmst.seeded_segmentation(graph, seeds, device=any_device)


def test_an_image_in_the_place_of_its_graph_is_named() -> None:
    image = np.arange(12, dtype=np.uint8).reshape(3, 4)
    for given in (image, image.tolist(), np.stack([image] * 3, axis=-1)):
        with pytest.raises(clmst.InvalidArgumentError, match=r"Graph\.from_image"):
            clmst.seeded_segmentation(given, np.ones((3, 4), np.int32))
