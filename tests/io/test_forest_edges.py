"""Forests in files, and finding their edges in the graph again."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst.core.errors import FileFormatError, InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.io import read_forest, write_forest, write_graph
from tests.helpers.strategies import graphs

FOREST_SUFFIXES = [".txt", ".npz", ".mtx.gz"]
GRAPH = Graph.from_edges([0, 1, 2, 0, 3], [1, 2, 0, 3, 4], [5, 7, 9, -2, 4], n_vertices=6)
FOREST = kruskal(GRAPH)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("forests")


@pytest.mark.parametrize("suffix", FOREST_SUFFIXES)
@given(graph=graphs(), maximum=st.booleans())
def test_a_file_gives_back_the_forest(
    folder: Path, suffix: str, graph: Graph, maximum: bool
) -> None:
    """Parallel edges of equal weight have only their ids to tell them apart: npz keeps those."""
    forest = kruskal(graph, maximum=maximum)
    write_forest(forest, folder / f"forest{suffix}")
    back = read_forest(folder / f"forest{suffix}", graph)
    assert back.n_vertices == forest.n_vertices
    assert back.maximum == maximum
    np.testing.assert_array_equal(back.edges, forest.edges)
    np.testing.assert_array_equal(back.weights, forest.weights)
    assert back.weights.dtype == forest.weights.dtype
    np.testing.assert_equal(back.total_weight, forest.total_weight)  # may be NaN, as of inf - inf
    if suffix.startswith(".npz"):
        np.testing.assert_array_equal(back.edge_ids, forest.edge_ids)
        assert back.verify(graph)


@pytest.mark.parametrize("suffix", [".gr", ".stp", ".egr", ".npz", ".mtx", ".txt"])
def test_any_graph_file_can_hold_a_forest(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"forest{suffix}"
    u, v = FOREST.edges.T
    write_graph(Graph.from_edges(u, v, FOREST.weights, n_vertices=6), path)
    back = read_forest(path, GRAPH)
    np.testing.assert_array_equal(back.edge_ids, FOREST.edge_ids)
    assert back.verify(GRAPH)


def test_vertices_go_by_the_numbers_of_the_caller(tmp_path: Path) -> None:
    labels = (8, 6, 4, 2, 0, 10)
    graph = GRAPH.replace(vertex_labels=labels)
    path = tmp_path / "forest.txt"
    write_forest(kruskal(graph), path)
    assert path.read_text() == (
        "# clmst minimum spanning forest: 6 vertices and 4 edges of total weight 14\n"
        "8 6 5\n8 2 -2\n6 4 7\n2 0 4\n"
    )
    back = read_forest(path, graph)
    np.testing.assert_array_equal(back.edges, FOREST.edges)
    assert back.vertex_labels == labels


LABELLED = Graph.from_edges([0], [1], [1]).replace(vertex_labels=(10, 30))
FLOAT32 = Graph.from_edges([0], [1], np.array([0.1], np.float32))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 4 5\n", "edge (0, 4) of the forest is not in the graph"),
        ("0 1 5\n1 1 5\n", "edge (1, 1) of the forest is not in the graph"),
        ("0 1 6\n", "edge (0, 1) of the forest weighs 6; in the graph it weighs 5"),
        ("0 1 5.5\n", "edge (0, 1) of the forest weighs 5.5; in the graph it weighs 5"),
        ("0 1 5\n9 2 7\n", "edge (9, 2) of the forest ends at 9; the graph has no such vertex"),
        (
            "# clmst minimum spanning forest: 7 vertices and 1 edges of total weight 5\n0 1 5\n",
            "the forest has 7 vertices but the graph has 6",
        ),
        ("10 20\n", "edge (10, 20) of the forest ends at 20"),
        ("0 1 0.11\n", "edge (0, 1) of the forest weighs 0.11"),
    ],
)
def test_an_edge_that_the_graph_has_not_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "forest.txt"
    path.write_text(text)
    graph = {"10 20\n": LABELLED, "0 1 0.11\n": FLOAT32}.get(text, GRAPH)
    with pytest.raises(InvalidForestError, match=re.escape(message)) as failure:
        read_forest(path, graph)
    assert str(failure.value).startswith(f"{path}: ")


@pytest.mark.parametrize("text", ["2 1\n0 1\n", "0 1 5\n1 2 7\n", "2 1 7.0\n1 0 5.0\n"])
def test_order_direction_and_missing_weights_do_not_matter(tmp_path: Path, text: str) -> None:
    (tmp_path / "forest.txt").write_text(text)
    back = read_forest(tmp_path / "forest.txt", GRAPH)
    assert back.edges.tolist() == [[0, 1], [1, 2]]
    assert back.weights.tolist() == [5, 7]
    assert back.edge_ids.tolist() == [0, 1]


@pytest.mark.parametrize(("text", "found"), [("0 1 3\n", 1), ("1 0 5\n", 0), ("0 1\n", 1)])
def test_parallel_edges_are_chosen_by_weight(tmp_path: Path, text: str, found: int) -> None:
    """Without a weight the lightest is meant."""
    graph = Graph.from_edges([0, 1, 0], [1, 0, 1], [5, 3, 3])
    (tmp_path / "forest.txt").write_text(text)
    assert read_forest(tmp_path / "forest.txt", graph).edge_ids.tolist() == [found]


def test_an_edge_listed_twice_is_kept_for_verification_to_find(tmp_path: Path) -> None:
    (tmp_path / "forest.txt").write_text("0 1 5\n1 0 5\n")
    back = read_forest(tmp_path / "forest.txt", GRAPH)
    assert back.n_edges == 2
    assert not back.verify(GRAPH)


def test_weights_are_compared_in_the_precision_of_the_graph(tmp_path: Path) -> None:
    """Other programs write the shortest decimals of float32."""
    (tmp_path / "forest.txt").write_text("0 1 0.1\n")
    assert read_forest(tmp_path / "forest.txt", FLOAT32).n_edges == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"edge_ids": np.array([0, 3, 1, 99])}, "has id 99; the graph has no edge with this id"),
        ({"edge_ids": np.array([0, 3, 1, -1])}, "has id -1; the graph has no edge with this id"),
        ({"edge_ids": np.array([0, 3, 2, 4])}, "has id 2, which is (0, 2) in the graph"),
        ({"weights": np.array([5, -2, 7, 3])}, "weighs 3; in the graph it weighs 4"),
    ],
)
def test_ids_must_agree_with_the_graph(
    tmp_path: Path, changes: dict[str, np.ndarray], message: str
) -> None:
    fields = {name: getattr(FOREST, name) for name in ("edges", "weights", "edge_ids")}
    write_forest(Forest(n_vertices=6, **(fields | changes)), tmp_path / "forest.npz")
    with pytest.raises(InvalidForestError, match=re.escape(message)):
        read_forest(tmp_path / "forest.npz", GRAPH)


def test_ids_must_be_as_many_as_edges(tmp_path: Path) -> None:
    short = Forest(n_vertices=6, edges=FOREST.edges, weights=FOREST.weights, edge_ids=np.arange(2))
    write_forest(short, tmp_path / "forest.npz")
    with pytest.raises(FileFormatError, match="there must be one integer for each of the 4"):
        read_forest(tmp_path / "forest.npz", GRAPH)


@pytest.mark.parametrize("suffix", FOREST_SUFFIXES)
def test_a_truncated_forest_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"forest{suffix}"
    write_forest(FOREST, path)
    data = path.read_bytes()
    path.write_bytes(data[: len(data) - 8])
    with pytest.raises(FileFormatError):
        read_forest(path, GRAPH)


# ----------------------------------------------------------------- the summary, in JSON


def summary(folder: Path, forest: Forest) -> Any:
    def refuse(word: str) -> None:
        pytest.fail(f"{word} is no JSON")

    write_forest(forest, folder / "forest.json")
    return json.loads((folder / "forest.json").read_text(), parse_constant=refuse)


def forest_of(weights: np.ndarray, **attributes: Any) -> Forest:
    edges = np.stack([np.arange(weights.size), np.arange(weights.size) + 1], axis=1)
    ids = np.arange(weights.size)
    return Forest(n_vertices=9, edges=edges, weights=weights, edge_ids=ids, **attributes)


def test_integers_are_exact(tmp_path: Path) -> None:
    weights = np.array([2**64 - 1, 2**64 - 1, 7], np.uint64)
    assert summary(tmp_path, forest_of(weights, maximum=True)) == {
        "n_vertices": 9,
        "n_edges": 3,
        "n_components": 6,
        "total_weight": 2 * (2**64 - 1) + 7,
        "weight_dtype": "uint64",
        "maximum": True,
        "stats": {},
    }


def test_statistics_are_made_plain(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Phase:
        name: str
        seconds: np.float64

    stats = {
        "algorithm": "Borůvka",
        "rounds": np.int32(3),
        "sizes": np.array([4, 2, 1]),
        "profile": MappingProxyType({"phases": (Phase("hook", np.float64(0.25)),), 7: None}),
        "path": Path("a"),
    }
    assert summary(tmp_path, forest_of(np.array([1]), stats=stats))["stats"] == {
        "algorithm": "Borůvka",
        "rounds": 3,
        "sizes": [4, 2, 1],
        "profile": {"phases": [{"name": "hook", "seconds": 0.25}], "7": None},
        "path": "a",
    }
