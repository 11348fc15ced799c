"""Hostile and mistaken graphs: each rule is broken, and none is found out by a device."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError
from clmst.core.from_scipy import SparseFormat
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal


def test_numbers_far_beyond_the_edges_are_refused_with_the_memory_they_mean() -> None:
    """Else 10**9 vertices take 51 s and gigabytes in silence; whoever states a number means it."""
    with pytest.raises(InvalidGraphError, match=r"at least 12000000048 bytes.*relabel=True"):
        Graph.from_edges([0, 5], [10**9 - 1, 7], [1, 2])
    last = 2**24 - 1
    assert Graph.from_edges([0], [last], [1]).n_vertices == last + 1
    with pytest.raises(InvalidGraphError, match=f"n_vertices={last + 2}, or relabel=True"):
        Graph.from_edges([0], [last + 1], [1])
    assert Graph.from_edges([0], [last + 1], [1], n_vertices=last + 2).n_vertices == last + 2


@pytest.mark.parametrize(
    ("u", "v", "labels"),
    [
        ([10**9, 10**9, 7], [7, 10**12, 10**12], (7, 10**9, 10**12)),
        ([3, 3, 1], [1, 2, 2], (1, 2, 3)),
        ([-5, -5, 0], [0, 9, 9], (-5, 0, 9)),
        (np.array([2**64 - 1] * 2 + [4], np.uint64), [4, 5, 5], (4, 5, 2**64 - 1)),
        ([], [], ()),
    ],
)
def test_relabelling_keeps_the_callers_numbers(u: Any, v: Any, labels: tuple[int, ...]) -> None:
    graph = Graph.from_edges(u, v, [4, 2, 3][: len(labels)], relabel=True)
    assert graph.vertex_labels == labels
    assert graph.n_vertices == len(labels)
    forest = kruskal(graph)
    ends = {frozenset((labels[a], labels[b])) for a, b in forest.edges.tolist()}
    given = [frozenset((int(a), int(b))) for a, b in zip(u, v, strict=True)]
    assert ends == {given[k] for k in forest.edge_ids.tolist()}
    assert forest.total_weight == (5 if labels else 0)
    assert set(forest.to_networkx().nodes) == set(labels)


def test_relabelling_counts_the_vertices() -> None:
    with pytest.raises(InvalidArgumentError, match="so leave n_vertices out"):
        Graph.from_edges([0], [1], [1], 2, relabel=True)
    with pytest.raises(InvalidGraphError, match="must fit into int64, or all into uint64"):
        Graph.from_edges(np.array([2**63], np.uint64), [-1], [1], relabel=True)


def hostile(kind: SparseFormat, **arrays: Any) -> Any:
    """Return a matrix, some arrays of which were exchanged behind SciPy's back."""
    matrix: Any = sparse.random_array((20, 20), density=0.3, random_state=1).asformat(kind)
    for name, array in arrays.items():
        setattr(matrix, name, array)
    return matrix


FAR = np.full(120, 10**7, np.int32)
FALLS = np.array([0, 10**7, *[0] * 18, 120], np.int32)


@pytest.mark.parametrize(
    ("kind", "arrays", "message"),
    [
        ("csr", {"indptr": FALLS}, "indptr falls from 10000000 to 0 at row 1"),
        ("csr", {"indices": FAR}, "indices[0] is 10000000 in a graph of 20"),
        ("csr", {"indices": None}, "indices has 0 dimensions"),
        ("csc", {"indptr": FALLS}, "indptr falls from 10000000 to 0 at row 1"),
        ("csc", {"indices": FAR}, "indices[0] is 10000000 in a graph of 20"),
        ("csc", {"data": np.ones(3)}, "data has shape (3,)"),
        ("bsr", {"indptr": FALLS}, "indptr falls from 10000000 to 0 at row 1"),
        ("bsr", {"indices": FAR}, "indices[0] is 10000000"),
        ("bsr", {"data": np.ones((120, 3, 3))}, "where rows and columns divide the shape"),
        ("coo", {"coords": (FAR, FAR)}, "row[0] is 10000000 in a graph of 20"),
        ("coo", {"coords": (FAR[:3], FAR[:2])}, "row, col and data have shapes (3,), (2,)"),
        ("dia", {"offsets": np.array(["a"])}, "offsets has dtype <U1"),
        ("dia", {"data": np.ones(3)}, "there must be one row for each offset"),
        ("lil", {"rows": None}, "the lil matrix cannot be read"),
        (
            "lil",
            {"rows": np.array([[0]] * 20 + [0], object)[:20]},
            "different numbers of columns and of values",
        ),
        ("dok", {"_dict": {(10**7, 10**7): 1.0}}, "10000000"),
        ("dok", {"_dict": None}, "the dok matrix cannot be read"),
    ],
)
def test_matrices_are_checked_before_scipy_converts_them(
    kind: SparseFormat, arrays: dict[str, Any], message: str
) -> None:
    """SciPy's conversions trust the arrays: a far index ended the process."""
    with pytest.raises(InvalidGraphError, match=re.escape(message)):
        Graph.from_scipy(hostile(kind, **arrays))


def test_diagonals_outside_of_the_matrix_hold_nothing() -> None:
    matrix = sparse.dia_array((np.ones((3, 4)), np.array([1, 9, -9])), shape=(4, 4))
    assert Graph.from_scipy(matrix).n_edges == 3


CANONICAL = Graph.from_edges([0, 0, 1], [1, 2, 2], [5, 6, 7])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indptr": np.zeros(4)}, "indptr has dtype float64"),
        ({"indices": [1, 2, 2]}, "indices is [1, 2, 2]; it must be an array of uint32"),
        ({"weights": np.ones(2)}, "weights have shape (2,)"),
        ({"weights": np.ones(3, ">f8")}, "in native byte order"),
        ({"weights": np.ones(3, complex)}, "weights have dtype complex128"),
        ({"indptr": np.array([0, 2, 3, 9], np.uint32)}, "it must go from 0 to the number of slots"),
        ({"indptr": np.array([0, 3, 2, 3], np.uint32)}, "indptr falls from 3 to 2 at row 1"),
        ({"indices": np.array([1, 2, 9], np.uint32)}, "indices[2] is 9 in a graph of 3 vertices"),
        ({"indices": np.array([2, 1, 2], np.uint32)}, "the columns of a row fall"),
        ({"indices": np.array([1, 2, 0], np.uint32)}, "a slot is below the diagonal"),
        ({"is_symmetric": True}, "the arrays do not equal their transpose"),
        ({"is_symmetric": 1}, "is_symmetric is 1; it must be True or False"),
        (
            {"edge_ids": np.array([0, 1, 3])},
            "edge_ids go from 0 to 3; they must be from 0 to below n_input, 3",
        ),
        ({"edge_ids": np.arange(2)}, "edge_ids have shape (2,)"),
        ({"edge_ids": None, "n_input": 2}, "n_input is 2 for 3 slots"),
        ({"n_input": -1}, "n_input is -1; it must not be negative"),
        ({"vertex_labels": "ab"}, "there are 2 vertex_labels for 3 vertices"),
        ({"vertex_labels": 3}, "vertex_labels are a int"),
        ({"vertex_labels": {1, 2, 3}}, "vertex_labels are a set"),
        ({"coordinates": np.zeros((2, 2))}, "coordinates have shape (2, 2)"),
        ({"coordinates": np.zeros((3, 2), "U1")}, "coordinates have dtype <U1"),
    ],
)
def test_attributes_are_checked(changes: dict[str, Any], message: str) -> None:
    """A device reads what they say, wherever that is."""
    with pytest.raises(ClmstError, match=re.escape(message)):
        CANONICAL.replace(**changes)
    fields = {name: getattr(CANONICAL, name) for name in CANONICAL.__dataclass_fields__}
    with pytest.raises(ClmstError, match=re.escape(message)):
        Graph(**(fields | changes))


def test_attributes_that_there_are_not() -> None:
    with pytest.raises(TypeError, match="a Graph has no attribute 'colour'"):
        CANONICAL.replace(colour=3)
