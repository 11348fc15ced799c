"""What people do in their first minutes: each error is one line, the fact and then the rule."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst.core.errors import ClmstError

TALL = np.ones((100, 3))
POINTS = "the matrix is 100 x 3; an adjacency matrix must be square (clmst.Points takes rows that"
IS_NONE = "the graph is None; it must be a clmst.Graph, DenseGraph or Points, a scipy.sparse array"
NAMED = "[0] is 'a', a name; ends must be vertex numbers, and relabel=True takes names"
solve, edges = clmst.minimum_spanning_forest, clmst.Graph.from_edges


def on_device() -> Any:
    return clmst.DeviceArray.from_host(np.arange(3))


FIRST_ERRORS: list[tuple[Callable[[], Any], str]] = [
    (lambda: solve(None), IS_NONE),
    (lambda: clmst.maximum_spanning_forest(None), IS_NONE),
    (lambda: clmst.cluster.single_linkage(None), "X is None; give points as rows, which are an"),
    (lambda: clmst.cluster.HDBSCAN().fit("a.csv"), "tensor or a list of rows; clmst.read_points"),
    (lambda: clmst.RepeatedSolver(None), IS_NONE),
    (lambda: solve("a.gr"), "the graph is of type str; it must be a clmst.Graph, DenseGraph"),
    (lambda: solve(Path("a.gr")), "a list of rows; clmst.read_graph reads a file"),
    (lambda: solve(TALL), POINTS),
    (lambda: clmst.DenseGraph(TALL), POINTS),
    (lambda: clmst.csgraph.minimum_spanning_tree(TALL), POINTS),
    (lambda: solve(TALL.tolist()), "takes lists of ends and weights, clmst.Points rows that are"),
    (lambda: solve(sparse.csr_array(TALL)), "the matrix is 100 x 3; an adjacency matrix must be"),
    (lambda: edges(["a", "b"], ["b", "c"]), f"u{NAMED}"),
    (lambda: edges(np.array(["a"]), np.array(["b"])), f"u{NAMED}"),
    (lambda: edges([0], ["a"]), f"v{NAMED}"),
    (lambda: edges(["a", 1], [0, 1], relabel=True), "u[1] is 1 beside names; all ends must be st"),
    (lambda: edges(["a", "b"], ["b", None], relabel=True), "v[1] is None beside names; all ends"),
    (lambda: edges(["a"], [1], relabel=True), "one of u and v has names, the other numbers; both"),
    (lambda: edges(["a"], ["b", "c"], relabel=True), "u has 1 entries but v has 2; they must be"),
    (lambda: edges([0.5], [1]), "u has dtype float64; it must have an integer dtype"),
    (lambda: edges([[0]], [[1]]), "u has 2 dimensions; it must have one"),
    (lambda: on_device()[0], "the index is 0; a DeviceArray takes"),
    (lambda: list(on_device()), "a DeviceArray takes slices"),
    (lambda: solve(edges([0, 1], [1, 2])).cut(k=9), "k is 9; it must be from 1 to 3, the numbers"),
    (lambda: solve(edges([0], [1], n_vertices=5)).cut(k=2), "k is 2; it must be from 4 to 5, the"),
    (lambda: clmst.read_graph("a.gr", format="gml"), "there is no format 'gml'; there are dimacs"),
    (lambda: clmst.read_points("a.gr"), "which no format of points has; known are csv (.csv)"),
]


@pytest.mark.parametrize(("call", "words"), FIRST_ERRORS)
def test_the_fact_then_the_rule(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ClmstError) as caught:
        call()
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    fact, semicolon, rule = message.partition("; ")
    assert (bool(fact), semicolon, bool(rule)) == (True, "; ", True)


def test_names_are_numbered_where_edges_first_have_them() -> None:
    """Ids are treated as in a data frame, in every kind of array or list."""
    u, v, w = ["b", "a", "c", "b"], ["a", "c", "b", "é"], [3, 1, 2, 5]
    for make in (list, tuple, np.array, lambda names: np.array(names, object)):
        graph = edges(make(u), make(v), w, relabel=True)
        assert graph.vertex_labels == ("b", "a", "c", "é")
        forest = solve(graph)
        assert forest.total_weight == 8
        assert forest.edge_ids.tolist() == [2, 3, 1]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"source": u, "target": v, "weight": w})
    assert solve(frame) == forest
    labels = solve(frame).vertex_labels
    assert labels is not None
    assert tuple(labels) == graph.vertex_labels
    assert edges(frame.source, frame.target, w, relabel=True).vertex_labels == graph.vertex_labels
    assert edges([], [], relabel=True).n_vertices == 0


def test_a_stream_of_other_columns_names_the_file(tmp_path: Path) -> None:
    """And not the function that reads graphs as a whole."""
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"from": [0], "to": [1], "km": [2], "road": ["A1"]})
    frame.to_parquet(path := tmp_path / "roads.parquet")
    for chunks, name in ((path, str(path)), ([path], str(path)), ([frame], "chunk 0")):
        with pytest.raises(clmst.InvalidGraphError) as caught:
            clmst.stream_minimum_spanning_forest(chunks, 2)
        fact = f"{name}: the columns are 'from', 'to', 'km', 'road'; source, target and weight must"
        assert str(caught.value).startswith(fact)
        assert 'columns=("source", "target", "weight")' in str(caught.value)
        assert "read_graph" not in str(caught.value)
