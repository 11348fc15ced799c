"""The reduction: one forest, whatever the parts and their order."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst.core.errors import InvalidGraphError
from clmst.runtime.device import Device
from clmst.scale.edge_part import EdgePart
from clmst.scale.host_reducer import reduce
from tests.scale.edges import forest_of_edges, part_of, random_edges


@pytest.mark.parametrize("maximum", [False, True], ids=["minimum", "maximum"])
@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_forest_is_the_same_whatever_the_parts(
    any_device: Device, n_parts: int, maximum: bool
) -> None:
    """Ties go by the ends and then by the id, not by the position in a part."""
    edges = random_edges(60, 900, n_weights=3)
    right = forest_of_edges(edges, 60, maximum=maximum)
    random = np.random.default_rng(n_parts)
    owner = random.integers(0, n_parts, 900)
    forests = [
        reduce([part_of(edges, owner == k, 60)], n_vertices=60, device=any_device, maximum=maximum)
        for k in range(n_parts)
    ]
    for order in (forests, forests[::-1]):
        whole = reduce(order, n_vertices=60, device=any_device, maximum=maximum)
        np.testing.assert_array_equal(whole.edge_ids, right.edge_ids)
        np.testing.assert_array_equal(whole.weights, right.weights)


def test_parallel_edges_of_equal_weight_go_by_their_ids(any_device: Device) -> None:
    """Later parts may have lesser ids."""
    edges = np.zeros(8, int), np.ones(8, int), np.zeros(8, np.float32)
    parts = [part_of(edges, [5, 6], 2), part_of(edges, [2, 7], 2), part_of(edges, [3, 4], 2)]
    assert reduce(parts, n_vertices=2, device=any_device).edge_ids.tolist() == [2]
    assert reduce(parts, n_vertices=2, device=any_device, maximum=True).edge_ids.tolist() == [2]


def test_few_vertices_of_many_are_renumbered(any_device: Device) -> None:
    """Vertex numbers up to the greatest that there may be, without arrays of their number."""
    n = 2**32 - 2
    u, v = np.array([n - 1, 5, 2**31, n - 1]), np.array([5, 2**31, n - 1, 2**31])
    part = EdgePart.checked(u, v, [1, 2, 2, 2], 0, n_vertices=n, row=str)
    assert reduce([part], n_vertices=n, device=any_device).edge_ids.tolist() == [1, 0]


def test_wide_weights_that_differ_in_the_last_bit(any_device: Device) -> None:
    weights = np.array([2**63, 2**63 - 1, 0, 2**64 - 1], np.uint64)
    part = EdgePart.checked([0, 0, 1, 1], [1, 1, 2, 2], weights, 0, n_vertices=3, row=str)
    assert reduce([part], n_vertices=3, device=any_device).edge_ids.tolist() == [1, 2]


@pytest.mark.parametrize("n", [0, 5])
def test_no_edges(any_device: Device, n: int) -> None:
    empty = EdgePart.empty(np.dtype(np.int16))
    found = reduce([empty, empty], n_vertices=n, device=any_device)
    assert found.size == 0
    assert found.weights.dtype == np.int16


def test_loops_only(any_device: Device) -> None:
    part = EdgePart.checked([0, 1], [0, 1], [1, 2], 0, n_vertices=2, row=str)
    assert reduce([part], n_vertices=2, device=any_device).size == 0


def test_parts_of_two_dtypes() -> None:
    ones = [EdgePart.empty(np.dtype(t)) for t in (np.int8, np.float32)]
    with pytest.raises(InvalidGraphError, match="float32 after int8; all parts"):
        reduce(ones, n_vertices=3, device=None)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([0, 0], "comes before 0; ids must rise"),
        ([-1, 3], "go from -1 to 3"),
        ([0.5, 1], "dtype float64"),
        ([0], r"shape \(1,\)"),
        (2**63 - 1, "must be below 2\\*\\*63"),
    ],
)
def test_bad_ids(ids: object, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        EdgePart.checked([0, 1], [1, 2], [1, 1], ids, n_vertices=3, row=str)


def test_reduce_of_a_real_graph(any_device: Device) -> None:
    """Parts of a road map, of which many touch few vertices."""
    graph = clmst.generate("road", n=3000, seed=1)
    u, v, w, ids = graph.edges()
    n = graph.n_vertices
    parts = [
        reduce(
            [EdgePart.checked(u[k::40], v[k::40], w[k::40], ids[k::40], n_vertices=n, row=str)],
            n_vertices=n, device=any_device,
        )
        for k in range(40)
    ]  # fmt: skip
    right = clmst.kruskal(graph)
    found = reduce(parts, n_vertices=n, device=any_device)
    np.testing.assert_array_equal(found.edge_ids, right.edge_ids)
