"""One way in: every call takes what a solve takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist, squareform

import clmst
from clmst.core.coercion import as_graph, as_listed
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.io import read_forest
from clmst.runtime.device import Device

MATRIX = np.array([[0, 2, 3, 9], [2, 0, 4, 8], [3, 4, 0, 1], [9, 8, 1, 0]])
FORMATS = ["bsr", "coo", "csc", "csr", "dia", "dok", "lil"]


def of_networkx() -> Any:
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", 2), ("a", "c", 3), ("b", "c", 4), ("c", "d", 1)])
    return G


# Each is made anew where it is used, so that no call can spoil it for the next.
KINDS: dict[str, Callable[[], Any]] = {
    **{f"scipy-{name}": partial(sparse.csr_array(MATRIX).asformat, name) for name in FORMATS},
    "scipy-matrix": lambda: sparse.csr_matrix(np.triu(MATRIX)),
    "array": MATRIX.copy,
    "float-array": lambda: MATRIX.astype(np.float32),
    "masked-array": lambda: np.ma.masked_equal(MATRIX, 9),
    "list": MATRIX.tolist,
    "tuple-of-arrays": lambda: tuple(MATRIX),
    "networkx": of_networkx,
    "dense": lambda: clmst.DenseGraph(MATRIX),
    "points": lambda: clmst.Points([[0.0, 0.0], [0.0, 3.0], [4.0, 3.0], [4.0, 1.0]]),
    "graph": lambda: Graph.from_scipy(sparse.csr_array(MATRIX)),
}
every_kind = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@every_kind
def test_what_is_solved_is_taken_everywhere(
    make: Callable[[], Any], any_device: Device, tmp_path: Path
) -> None:
    """A forest can be verified, kept and read back with the very object that was solved."""
    graph = make()
    forest = clmst.minimum_spanning_forest(graph, device=any_device)
    assert forest.verify(graph)
    assert clmst.verify(graph, forest)
    oracle = clmst.kruskal(graph)
    assert np.array_equal(oracle.edge_ids, forest.edge_ids)
    assert oracle.total_weight == forest.total_weight
    clmst.write_graph(graph, tmp_path / "graph.txt")
    assert clmst.read_graph(tmp_path / "graph.txt").n_edges == as_listed(graph).n_edges
    clmst.write_forest(forest, tmp_path / "forest.mtx")
    assert np.array_equal(read_forest(tmp_path / "forest.mtx", graph).edge_ids, forest.edge_ids)
    cores = clmst.core_numbers(graph, device=any_device)
    assert cores.tolist() == clmst.core_numbers(as_listed(graph), device=any_device).tolist()


@every_kind
def test_a_solver_takes_it(make: Callable[[], Any], any_device: Device) -> None:
    graph = make()
    listed = as_listed(graph)
    if isinstance(graph, clmst.Points):  # a solver of points takes coordinates
        graph = listed
    with clmst.RepeatedSolver(graph, devices=any_device) as solver:
        ends = solver.edges
        weights = np.arange(len(ends))[::-1]
        forest = solver.solve(weights)
    kept = ends[:, 0] >= 0
    u, v = ends[kept].T
    expected = Graph.from_edges(u, v, weights[kept], n_vertices=listed.n_vertices)
    assert forest.total_weight == clmst.kruskal(expected).total_weight
    assert kept.sum() == listed.n_edges


def test_it_is_drawn(tmp_path: Path) -> None:
    """Pictures take the matrix that was solved, too."""
    from clmst.drawing import draw_change, draw_forest, layout

    A = sparse.csr_array(MATRIX)
    minimum, maximum = clmst.kruskal(A), clmst.kruskal(A, maximum=True)
    draw_forest(A, minimum, tmp_path / "forest.png")
    draw_change(A, minimum, maximum, tmp_path / "change.png")
    assert all((tmp_path / f"{name}.png").stat().st_size > 1000 for name in ("forest", "change"))
    assert layout(MATRIX).shape == (4, 2)


def test_what_is_on_a_device_is_taken(any_device: Device) -> None:
    """The host has the graph as well."""
    for graph in (sparse.csr_array(MATRIX), MATRIX):
        stored = clmst.to_device(graph, any_device)
        forest = clmst.minimum_spanning_forest(stored)
        assert forest.verify(stored)
        assert np.array_equal(clmst.kruskal(stored).edge_ids, forest.edge_ids)
        with clmst.RepeatedSolver(stored) as solver:
            assert solver.solve(as_listed(graph).edges()[2]).total_weight == forest.total_weight


def test_weights_of_a_complete_graph_are_in_condensed_order(any_device: Device) -> None:
    """What pdist gives is one round of a solver of a matrix, or of all pairs of points."""
    places = np.random.default_rng(1).random((12, 2))
    pairs = clmst.Points(places).to_graph()
    with clmst.RepeatedSolver(pairs, devices=any_device) as solver:
        assert solver.n_edges == 66
        found = solver.solve(pdist(places, "cityblock"))
        whole = squareform(pdist(places, "cityblock"))
        assert np.array_equal(solver.weights_of(whole), pdist(places, "cityblock"))
    assert np.array_equal(found.edge_ids, clmst.kruskal(whole).edge_ids)


# -------------------------------------------------------------------------- asymmetry


def nearly_symmetric() -> Any:
    """Return distances of which (0, 2) and (2, 0) differ in the last digit."""
    matrix = squareform(pdist(np.random.default_rng(3).random((6, 5))))
    matrix[2, 0] = np.nextafter(matrix[2, 0], 0)
    return matrix


def test_an_asymmetry_is_named_and_the_option_told() -> None:
    matrix = nearly_symmetric()
    one, other = matrix[0, 2], matrix[2, 0]
    with pytest.raises(InvalidGraphError) as caught:
        as_graph(matrix)
    assert str(caught.value) == (
        f"cell (0, 2) of the matrix is {one} but (2, 0) is {other}; it must be symmetric "
        "(symmetrize=True takes the lesser of the two)"
    )


@pytest.mark.parametrize("name", ["hdbscan 317", "hdbscan 188", "hdbscan 510"])
def test_hdbscan_317_188_510_the_tree_of_precomputed_distances(
    name: str, any_device: Device, tmp_path: Path
) -> None:
    """Distances of which some differ in the last digits are one argument away from their tree."""
    matrix = nearly_symmetric().astype({"3": np.float64, "1": np.float32, "5": np.float64}[name[8]])
    matrix[4, 1] = matrix[1, 4] * 2  # not only in the last digits
    before = matrix.copy()
    forest = clmst.minimum_spanning_forest(matrix, device=any_device, symmetrize=True)
    lesser = np.minimum(matrix, matrix.T)
    assert np.array_equal(forest.edge_ids, clmst.kruskal(lesser).edge_ids)
    assert forest.weights.dtype == matrix.dtype
    assert forest.verify(matrix, symmetrize=True)
    assert clmst.kruskal(matrix.tolist(), symmetrize=True).total_weight == pytest.approx(
        forest.total_weight
    )
    clmst.write_graph(matrix, tmp_path / "graph.txt", symmetrize=True)
    assert clmst.core_numbers(matrix, symmetrize=True).tolist() == [5] * 6
    greatest = clmst.maximum_spanning_forest(matrix, device=any_device, symmetrize=True)
    assert greatest.verify(lesser)
    with clmst.RepeatedSolver(matrix, devices=any_device, symmetrize=True) as solver:
        weights = solver.weights_of(matrix, symmetrize=True)
        assert np.array_equal(solver.solve(weights).edge_ids, forest.edge_ids)
    stored = clmst.to_device(matrix, any_device, symmetrize=True)
    assert np.array_equal(clmst.minimum_spanning_forest(stored).edge_ids, forest.edge_ids)
    assert np.array_equal(matrix, before)


def test_masked_cells_do_not_count_as_asymmetry() -> None:
    matrix = np.ma.masked_array(MATRIX.astype(float), np.zeros((4, 4), bool))
    matrix[0, 1] = np.ma.masked
    matrix[2, 3] = 0.5
    with pytest.raises(InvalidGraphError, match=r"cell \(2, 3\).*symmetrize=True"):
        as_graph(matrix)
    _, _, weights, _ = as_listed(matrix, symmetrize=True).edges()
    assert weights.tolist() == [2.0, 3.0, 9.0, 4.0, 8.0, 0.5]
    matrix[1, 3] = np.nan
    with pytest.raises(InvalidGraphError, match="is NaN"):
        as_graph(matrix, symmetrize=True)


# --------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([(0, 1, 2.0), (1, 2, 3.0)], "not each has 2 entries.*from_edges"),
        ([1, 2], "not each has 2 entries"),
        ([[1], "x"], "not each has 2 entries"),
        (["ab", "cd"], "."),
        ([[0, "x"], ["x", 0]], "."),
        ("roads.gr", "read_graph reads a file"),
    ],
)
def test_what_is_no_graph(given: Any, message: str) -> None:
    with pytest.raises(InvalidGraphError, match=message):
        clmst.minimum_spanning_forest(given)


def test_an_empty_list_is_the_empty_graph() -> None:
    assert as_listed([]).n_vertices == 0


def test_symmetrize_is_true_or_false(any_device: Device) -> None:
    for graph in (sparse.csr_array(MATRIX), MATRIX, of_networkx()):
        with pytest.raises(InvalidArgumentError, match="symmetrize is 1"):
            clmst.minimum_spanning_forest(graph, device=any_device, symmetrize=1)  # type: ignore[call-overload]


def test_the_maximum_forest_takes_what_the_minimum_forest_takes() -> None:
    """Both functions show and check the same arguments."""
    assert signature(clmst.maximum_spanning_forest) == signature(clmst.minimum_spanning_forest)
    with pytest.raises(TypeError, match=r"^maximum_\w+\(\) got an unexpected .* argument 'wieght'"):
        clmst.maximum_spanning_forest(MATRIX, wieght="cost")  # type: ignore[call-overload]


# ------------------------------------------------------------------------ weight=


def costs() -> Any:
    """Return a graph whose costs are the reverse of its weights."""
    G = of_networkx()
    for _, _, data in G.edges(data=True):
        data["cost"] = -data["weight"]
    return G


def frame_of_costs() -> Any:
    return pytest.importorskip("pandas").DataFrame(nx.to_pandas_edgelist(costs()))


def table_of_costs() -> Any:
    return pytest.importorskip("pyarrow").Table.from_pandas(frame_of_costs())


@pytest.mark.parametrize("make", [costs, frame_of_costs, table_of_costs])
def test_weights_of_another_name(make: Callable[[], Any], any_device: Device) -> None:
    given = make()
    solve = partial(clmst.minimum_spanning_forest, device=any_device)
    by_weight, by_cost = solve(given), solve(given, weight="cost")
    assert (by_weight.total_weight, by_cost.total_weight) == (6, -8)
    assert clmst.maximum_spanning_forest(given, weight="cost", device=any_device).total_weight == -6
    assert solve(given, weight=None).weights.tolist() == [1] * 3
    assert clmst.kruskal(given, weight="cost") == by_cost
    assert solve(clmst.to_device(given, any_device, weight="cost")) == by_cost
    assert by_cost.verify(given, weight="cost")
    assert clmst.verify(given, by_cost, weight="cost")
    assert not by_cost.verify(given)
    with pytest.raises(InvalidArgumentError, match=r"weight is \[\]; it must be the name of"):
        solve(given, weight=[])


def test_attributes_come_back_from_a_device(any_device: Device) -> None:
    tree = clmst.minimum_spanning_forest(costs(), weight="cost", device=any_device).to_networkx()
    assert nx.utils.graphs_equal(tree, nx.minimum_spanning_tree(costs(), weight="cost"))


def test_a_column_of_weights_that_is_not_there() -> None:
    with pytest.raises(InvalidGraphError, match="0 columns are called 'km' among 'source'"):
        clmst.kruskal(frame_of_costs(), weight="km")


@pytest.mark.parametrize("kind", [one for one in KINDS if one != "networkx"])
def test_weights_that_have_no_name(kind: str) -> None:
    given = KINDS[kind]()
    message = "weight is 'cost', and the weights of a .* have no name; leave it out"
    for solve in (clmst.minimum_spanning_forest, clmst.kruskal, clmst.to_device):
        with pytest.raises(InvalidArgumentError, match=message):
            solve(given, weight="cost")
