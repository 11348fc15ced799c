"""What single changes do, what they take, what they refuse, and how much memory they need."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import (
    ClmstError,
    DeviceArray,
    DynamicForest,
    Graph,
    InvalidArgumentError,
    InvalidGraphError,
)

Refused = Callable[[DynamicForest], Any]


def triangle(**given: Any) -> DynamicForest:
    """Return a forest of three vertices; edges 1 and 2 are in it, and edge 3 is a loop."""
    forest = DynamicForest(3, **given)
    forest.insert([0, 1, 0, 2], [1, 2, 2, 2], [3, 1, 2, 0])
    return forest


def edges_that_leave(n: int, u: Any, v: Any, w: Any) -> list[int]:
    """Insert edges one by one, and return which edge leaves for each: by a search for its path.

    -1 means that no edge leaves, and the edge's own number that it does not enter.
    """
    near: list[dict[int, int]] = [{} for _ in range(n)]  # the edge to each neighbour in the forest
    leave = []
    for edge, (start, end) in enumerate(zip(u.tolist(), v.tolist(), strict=True)):
        came_by, waiting = {start: (start, -1)}, [start]
        while waiting:
            here = waiting.pop()
            for there, other in near[here].items():
                if there not in came_by:
                    came_by[there] = here, other
                    waiting.append(there)
        circle, at = [edge] if end in came_by else [], end
        while circle and at != start:
            at, other = came_by[at]
            circle.append(other)
        leave.append(max(circle, key=lambda one: w[one], default=-1))
        if circle and leave[-1] != edge:
            one, other = int(u[leave[-1]]), int(v[leave[-1]])
            del near[one][other], near[other][one]
        if leave[-1] != edge:
            near[start][end] = near[end][start] = edge
    return leave


@pytest.mark.parametrize("weights_fall", [False, True])
def test_incremental_forest(weights_fall: bool) -> None:
    """Which edge leaves for each one that comes, as Library Checker asks.

    The problem is "Incremental Minimum Spanning Forest": weights differ, and there are self-loops
    and parallel edges. If weights fall and the edges go round a cycle, an edge leaves each time.
    """
    rng, n, m = np.random.default_rng(7), 60, 400
    u, v, w = rng.integers(0, n, m), rng.integers(0, n, m), rng.permutation(m) + 1
    if weights_fall:
        u, v, w = np.arange(m) % n, np.arange(1, m + 1) % n, np.arange(m, 0, -1)
    expected = edges_that_leave(n, u, v, w)
    assert len({*expected}) > 100
    one, batch, single = (DynamicForest(n, weight_dtype=int) for _ in range(3))
    for edge in range(m):
        last = one.path_maximum(u[edge], v[edge])
        change = one.insert(u[[edge]], v[[edge]], w[[edge]])
        left, is_kept = change.left.tolist(), change.entered.size == 1
        assert (left or [-1 if is_kept else edge]) == [expected[edge]]
        assert last < 0 or expected[edge] == max(last, edge, key=lambda e: w[e])
        replaced = single.insert(u[[edge]], v[[edge]], w[[edge]], one_by_one=True).replaced
        assert replaced is not None
        assert replaced.tolist() == [expected[edge]]
    found = batch.insert(u, v, w, one_by_one=True)
    assert found.replaced is not None
    assert found.replaced.tolist() == expected
    assert batch.snapshot() == one.snapshot() == single.snapshot()
    batch.insert_vertices(1)
    batch.update([found.entered[0]], [-1])
    assert batch.insert([n], [0], [5], one_by_one=True).replaced == [-1]


def test_inputs_of_all_kinds(tmp_path: Path, any_device: clmst.Device) -> None:
    """Arrays of the host and of the device, tuples, tables, files and graphs are the same edges."""
    u, v, w = np.array([2, 1, 0]), np.array([1, 0, 2]), np.array([3, 1, 2])
    graph = Graph.from_edges(u, v, w)
    clmst.write_graph(graph, tmp_path / "three.mtx")
    on_device = [DeviceArray.from_host(one.astype("i4"), any_device) for one in (u, v, w)]
    table = {"source": u, "target": v, "weight": w}
    for given in ((u, v, w), (u.tolist(), v.tolist(), w.tolist()), on_device, ((u, v, w),),
                  (table,), (graph,), (graph.to_networkx(),) if hasattr(graph, "to_networkx") else
                  (graph,)):  # fmt: skip
        forest = DynamicForest(3, weight_dtype=np.int64, device=any_device)
        forest.insert(*given)
        assert forest.edges()[2].tolist() == [3, 1, 2]
        assert forest.snapshot().edge_ids.tolist() == [1, 2]
    forest = DynamicForest(3, weight_dtype=np.int64)
    forest.insert(tmp_path / "three.mtx")
    assert sorted(forest.edges()[2].tolist()) == [1, 2, 3]
    assert forest.total_weight == 3
    ids = DeviceArray.from_host(np.array([1], "i4"), any_device)
    assert forest.update(ids, DeviceArray.from_host(np.array([9], "i4"), any_device)).ids == [1]
    without = DynamicForest(2)
    without.insert([0], [1])
    assert without.total_weight == 1


def test_names_of_vertices(tmp_path: Path) -> None:
    """A graph whose vertices have integer names means these vertices, as a table does."""
    path = tmp_path / "two.csv"
    path.write_text("source,target,weight\n2,7,1\n9,7,2\n")
    table = {"source": [2, 9], "target": [7, 7], "weight": [1, 2]}
    for given in (path, Graph.read(path), table):
        forest = DynamicForest(10, weight_dtype=np.int64)
        forest.insert(given)
        assert [one.tolist() for one in forest.edges()] == [[2, 7], [7, 9], [1, 2]]
        with pytest.raises(InvalidGraphError, match=r"is 9 in a graph of 9 vertices"):
            DynamicForest(9).insert(given)
    path.write_text("source,target,weight\nBern,Thun,1\n")
    for given in (path, Graph.from_edges([0], [1], [1]).replace(vertex_labels=(0, -1))):
        with pytest.raises(InvalidGraphError, match=r"with a vertex named ('Bern'|-1); the vert"):
            forest.insert(given)
    assert forest.next_id == 2


def test_ids_of_a_graph() -> None:
    """A graph's edges have the ids that they have there, whether its arrays were read or not."""
    for is_read in (False, True):
        graph = Graph.from_edges([0, 1, 2, 0], [0, 2, 0, 1], [0, 1, 2, 3])
        if is_read:
            assert graph.n_edges == 3
        forest = DynamicForest(graph)
        assert forest.ids.tolist() == [1, 2, 3]
        assert forest.insert([0], [1], [0]).ids.tolist() == [4]
    merged = Graph.from_edges([0, 0], [1, 1], [5, 4], merge_parallel=True)
    assert DynamicForest(merged).ids.tolist() == [1]
    assert DynamicForest(Graph.from_edges([], [], [], 2)).n_components == 2


def test_unchanged_forest() -> None:
    """Changes that leave the forest alone say so; what was read before stays as it was."""
    forest = triangle()
    before, total = forest.snapshot(), forest.total_weight
    for change in (forest.update([0], [4]), forest.update([1], [0]), forest.delete([0])):
        assert (change.entered.size, change.left.size) == (0, 0)
    assert (before.total_weight, total, forest.total_weight) == (3, 3, 2)
    assert forest.snapshot().edge_ids.tolist() == before.edge_ids.tolist()


def test_dendrogram_and_cuts() -> None:
    """Clusters are those of the snapshot."""
    forest = triangle()
    assert forest.cut(height=1).tolist() == [0, 1, 1]
    assert forest.cut(k=3).tolist() == [0, 1, 2]
    np.testing.assert_array_equal(forest.linkage(), [[1, 2, 1, 2], [0, 3, 2, 3]])
    forest.delete([1, 2, 0])
    assert np.isinf(forest.linkage(join_components=True)[:, 2]).all()


def test_window() -> None:
    """A window over a stream: the storage stays in proportion to the window."""
    rng, n, window = np.random.default_rng(1), 50, 200
    forest, most = DynamicForest(n), 0
    for _ in range(60):
        u, v = rng.integers(0, n, (2, 40))
        forest.insert(u, v, rng.random(40))
        forest.expire(before=max(0, forest.next_id - window))
        assert forest.n_edges == min(window, forest.next_id)
        assert forest.snapshot().verify(forest.to_graph()).ok or forest.ids[0] > 0
        most = max(most, forest.nbytes)
    assert forest.ids.tolist() == list(range(forest.next_id - window, forest.next_id))
    assert most <= 4 * (window + 40) * 26


def test_memory() -> None:
    """Storage takes 18 bytes and the weight an edge, at most four times over."""
    forest = DynamicForest(100, weight_dtype="i2")
    rng = np.random.default_rng(2)
    u, v = rng.integers(0, 100, (2, 3000))
    forest.insert(u, v, rng.integers(0, 9, 3000))
    assert forest.nbytes <= 20 * 3000
    forest.insert([0], [1])
    assert forest.nbytes <= 2 * 20 * 3000
    forest.delete(forest.ids[:1600])
    assert forest.nbytes <= 20 * 1401


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda f: f.delete([0, 7]), r"ids\[1\] is 7, and this edge has never been inserted"),
        (lambda f: f.delete([-1]), r"ids\[0\] is -1, and this edge has never been inserted"),
        (lambda f: f.delete([1, 4]), r"ids\[1\] is 4, and this edge is gone"),
        (lambda f: f.delete([1, 0, 1, 0]), r"ids\[2\] is 1, which occurs before"),
        (lambda f: f.delete([0.5]), "must have an integer dtype"),
        (lambda f: f.delete([[0]]), "must have one"),
        (lambda f: f.update([4], [1]), "this edge is gone"),
        (lambda f: f.update([0, 1], [1]), r"w has shape \(1,\) for 2 ids"),
        (lambda f: f.update([1, 0], [1, np.nan]), r"w\[1\], the weight of edge 0, is NaN"),
        (lambda f: f.update([0], [1 << 62 | 1]), "does not hold exactly"),
        (lambda f: f.insert([0, 1], [1], [1]), "u has 2 entries but v has 1"),
        (lambda f: f.insert([0, 1], [1, 2], [1]), r"w has shape \(1,\)"),
        (lambda f: f.insert([0], [3], [1]), r"v\[0\] is 3 in a graph of 3 vertices"),
        (lambda f: f.insert([-1], [0], [1]), "must not be negative"),
        (lambda f: f.insert([0, 0], [1, 2], [1, np.nan]), r"edge 1 \(0, 2\) is NaN"),
        (lambda f: f.insert([0], [1], [0.1]), r"w\[0\] is 0.1, which float32"),
        (lambda f: f.insert([0], [1], ["heavy"]), "one of bool"),
        (lambda f: f.insert([0], w=[1]), "w is given without v"),
        (lambda f: f.insert(([0], [1], [1], [9])), "an insert chooses the ids"),
        (lambda f: f.insert(Graph.from_edges([0], [5])), "a graph of 6 vertices"),
        (lambda f: f.insert([0], [1], [1], one_by_one=1), "must be True or False"),
        (lambda f: f.apply(delete=[0], update=([0], [1])), "edge 0 is to be deleted and updated"),
        (lambda f: f.apply(update=[1]), "must be a pair"),
        (lambda f: f.apply(insert=([0], [1], [1]), delete=[8]), r"delete\[0\] is 8"),
        (lambda f: f.insert_vertices(-1), "k is -1"),
        (lambda f: f.insert_vertices(1 << 32), "k is"),
        (lambda f: f.expire(before=6), "it must be 0 to 5"),
        (lambda f: f.expire(before=-1), "it must be 0 to 5"),
        (lambda f: f.connected(0, 3), "must be below 3"),
        (lambda f: f.path_maximum([0], [1, 2]), "must be equal"),
        (lambda f: f.edges([4]), "this edge is gone"),
        (lambda f: f.linkage(join_components=2), "must be True or False"),
        (lambda f: f.cut(), "height"),
        (pickle.dumps, "cannot be pickled"),
    ],
)
def test_bad_input(call: Refused, words: str) -> None:
    """One clear error, and nothing has changed."""
    forest = triangle(weight_dtype=np.float32)
    forest.insert([0], [0], [1])
    forest.delete([4])
    before = forest.snapshot(), forest.ids.tolist(), forest.edges()[2].tolist()
    with pytest.raises(ClmstError, match=words):
        call(forest)
    assert (forest.snapshot(), forest.ids.tolist(), forest.edges()[2].tolist()) == before
    assert forest.next_id == 5
    assert forest.insert([0], [1], [0]).entered.tolist() == [5]


@pytest.mark.parametrize("given", [-1, 1 << 32, "road", None, True, [[0, 1], [1, 0], [0, 0]]])
def test_bad_graphs(given: Any) -> None:
    """Whatever is not a number of vertices or a graph is refused."""
    with pytest.raises(ClmstError):
        DynamicForest(given)


def test_bad_dtypes() -> None:
    """A dtype must be one of weights, and hold the graph's."""
    with pytest.raises(InvalidGraphError, match="complex128"):
        DynamicForest(3, weight_dtype=complex)
    with pytest.raises(InvalidArgumentError, match=r"weights\[0\] is 300, which uint8"):
        DynamicForest(Graph.from_edges([0], [1], [300]), weight_dtype=np.uint8)
    with pytest.raises(InvalidArgumentError):
        DynamicForest(3, device="no such device")


def test_closed() -> None:
    """A closed forest refuses every call, and closes again."""
    with triangle() as forest:
        assert "n_edges=4" in repr(forest)
    assert repr(forest) == "DynamicForest(closed)"
    forest.close()
    calls: list[Refused] = [
        lambda f: f.insert([0], [1]), lambda f: f.delete([]), lambda f: f.update([], []),
        lambda f: f.apply(), lambda f: f.expire(before=0), lambda f: f.insert_vertices(1),
        lambda f: f.total_weight, lambda f: f.snapshot(), lambda f: f.n_vertices,
        lambda f: f.save("nowhere"), lambda f: f.connected(0, 1), lambda f: f.__enter__(),
        lambda f: f.path_maximum(0, 1), lambda f: f.edges(), lambda f: f.to_graph(),
        lambda f: f.linkage(), lambda f: f.cut(k=1), lambda f: f.labels, lambda f: f.ids,
        lambda f: f.n_edges, lambda f: f.n_components, lambda f: f.next_id, lambda f: f.nbytes,
        lambda f: f.weight_dtype,
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(InvalidArgumentError, match="the forest is closed"):
            call(forest)
