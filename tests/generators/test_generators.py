"""Graph families: pinned for ever, and of the structure that their names promise."""

from __future__ import annotations

import hashlib
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clmst import generators
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array
from clmst.generators import FAMILIES, Family, generate
from clmst.generators.hashing import Stream, mix

# Parameters of a small graph of each family, and its fingerprint at seed 1. A change here is a
# change of every recorded benchmark input.
PINNED: dict[str, tuple[dict[str, Any], str]] = {
    "grid": ({"rows": 7, "columns": 9}, "ad05fd2332ed035a"),
    "road": ({"n": 500}, "0516d528b9a7ef3b"),
    "random": ({"n": 200, "average_degree": 5.0}, "cb93e8fd374457ca"),
    "rmat": ({"scale": 8}, "a33a218b0f1c5398"),
    "kronecker": ({"scale": 7}, "5f967c81e988f78a"),
    "clustered": ({"n": 200, "clusters": 3, "cluster_size": 20}, "712e32cfcb707a05"),
    "delaunay": ({"n": 150}, "c1eca9fd9ff618d1"),
    "preferential": ({"n": 300, "edges_per_vertex": 3}, "2d9d3ce459b0afe6"),
    "cliques": ({"count": 5, "size": 6, "chained": True}, "20770fd73e607223"),
    "path": ({"n": 50}, "52ff6d897b8c8cb9"),
    "star": ({"n": 50}, "754bbc5f5e2d2be8"),
    "complete": ({"n": 20}, "5b0ae661cab03c73"),
    "circulant": ({"n": 31, "offsets": (1, 5, 8)}, "2dcd1695a2dc6533"),
    "caveman": ({"caves": 6, "size": 5}, "8eac9849a542df62"),
    "watts_strogatz": ({"n": 120, "neighbours": 6, "rewired": 0.2}, "ea96df54a6a44d6a"),
    "ssca2": ({"n": 300, "largest_clique": 9}, "c48e64810f4d1208"),
}
SMALL = {kind: parameters for kind, (parameters, _) in PINNED.items()}
# Others, for what small ones do not reach: several blocks of words, every level of a chance, each
# way of numbering pairs. How often pairs occur, how dense clusters and towns are, and how many
# edges lead far was measured on such graphs before these were recorded.
LARGER: list[tuple[str, dict[str, Any], str]] = [
    ("road", {"n": 3000, "average_degree": 2.0}, "b765137d205889d9"),
    ("random", {"n": 7, "average_degree": 2.0}, "35d1eb4aeee34513"),
    ("random", {"n": 20_000, "average_degree": 3.0}, "a8108a0714ee09f1"),
    ("rmat", {"scale": 12}, "39e851cc520242eb"),
    ("kronecker", {"scale": 12}, "97758dbb5fead65b"),
    ("clustered", {"n": 3000, "clusters": 3, "cluster_size": 60}, "4664a7b5a58fb6a3"),
    ("clustered", {"n": 1024, "clusters": 0}, "a2fadfd7c85b401d"),
    ("preferential", {"n": 20_000, "edges_per_vertex": 1}, "3eb3fa5894683813"),
    ("watts_strogatz", {"n": 20_000, "rewired": 0.3}, "4e6351ae8a1c9620"),
    ("ssca2", {"n": 30_000, "largest_clique": 12}, "3eaa0f9e8a2c534b"),
    ("ssca2", {"n": 3000, "largest_clique": 1, "between": 1.0}, "f5e51aba2dc5658f"),
]


def fingerprint(graph: Graph) -> str:
    """Hash all that a caller can see of a graph, independent of the byte order of the machine."""
    u, v, w, ids = graph.edges()
    digest = hashlib.sha256(f"{graph.n_vertices} {w.dtype.name}".encode())
    for array in (u.astype("<u4"), v.astype("<u4"), ids.astype("<i8"), w):
        digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    if graph.coordinates is not None:
        digest.update(graph.coordinates.astype("<f8").tobytes())
    return digest.hexdigest()[:16]


def degrees(graph: Graph) -> Array:
    u, v, _, _ = graph.edges()
    return np.bincount(np.concatenate([u, v]).astype(np.int64), minlength=graph.n_vertices)


def components(graph: Graph) -> tuple[int, Array]:
    """Return the number of components of a graph, and the component of each vertex."""
    u, v, _, _ = graph.edges()
    ends = u.astype(np.int64), v.astype(np.int64)
    matrix = sparse.coo_array((np.ones(u.size), ends), shape=(graph.n_vertices,) * 2)
    return connected_components(matrix.tocsr(), directed=False)


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    u, v, _, _ = graph.edges()
    return set(zip(u.tolist(), v.tolist(), strict=True))


# ------------------------------------------------------------------ the same graph


@pytest.mark.parametrize(
    ("kind", "parameters", "digest"), [*((kind, *PINNED[kind]) for kind in FAMILIES), *LARGER]
)
def test_graph_is_the_one_of_record(kind: str, parameters: dict[str, Any], digest: str) -> None:
    """A changed stream would make published measurements impossible to repeat."""
    assert fingerprint(generate(kind, seed=1, **parameters)) == digest


@pytest.mark.parametrize("kind", FAMILIES)
def test_graph_is_the_one_of_the_checked_construction(kind: str) -> None:
    """Families build their CSR themselves: simple, ids as canonical positions, by the seed."""
    graph, other = (generate(kind, seed=seed, **SMALL[kind]) for seed in (0, 2))
    assert fingerprint(graph) != fingerprint(other)
    u, v, w, ids = graph.edges()
    pairs = list(zip(u.tolist(), v.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert (u < v).all()
    np.testing.assert_array_equal(ids, np.arange(graph.n_edges))
    assert graph.n_input == graph.n_edges == graph.n_slots
    again = Graph.from_edges(u, v, w, n_vertices=graph.n_vertices)
    for name in ("indptr", "indices", "weights"):
        np.testing.assert_array_equal(getattr(graph, name), getattr(again, name))
        assert getattr(graph, name).dtype == getattr(again, name).dtype


# ------------------------------------------------------------------------- weights


def test_integer_weights_depend_on_the_pair_alone() -> None:
    """An edge must weigh the same in every graph with as many vertices."""
    _, _, whole, _ = generators.complete(n=20, seed=4).edges()
    u, v, part, _ = generators.circulant(n=20, offsets=(3, 7), seed=4).edges()
    of_pair = dict(zip(sorted(edge_set(generators.complete(n=20))), whole.tolist(), strict=True))
    expected = [of_pair[pair] for pair in zip(u.tolist(), v.tolist(), strict=True)]
    assert expected == part.tolist()
    assert part.dtype == np.int32
    assert whole.min() >= 1
    assert whole.max() <= 20
    assert np.unique(whole).size == 20


def test_float_weights_fill_the_unit_interval() -> None:
    _, _, w, _ = generators.complete(n=200, weights="float").edges()
    assert w.dtype == np.float64
    assert 0 <= w.min() < 0.001
    assert 0.999 < w.max() < 1
    assert abs(w.mean() - 0.5) < 0.01


def test_ordered_weights() -> None:
    assert generators.star(n=6, weights="rising").edges()[2].tolist() == [1, 2, 3, 4, 5]
    assert generators.star(n=6, weights="equal").edges()[2].tolist() == [1] * 5
    assert generators.path(n=9, weights="ruler").edges()[2].tolist() == [1, 2, 1, 3, 1, 2, 1, 4]


# ------------------------------------------------------------------------- hashing


def test_mix_is_splitmix64() -> None:
    """First outputs for seed 0, as published with the generator."""
    golden = 0x9E3779B97F4A7C15
    assert mix(golden) == 0xE220A8397B1DCDAF
    assert mix(2 * golden % 2**64) == 0x6E789E6AA1B965F4
    assert Stream(key=0).words(3).tolist()[1:] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]


def test_stream_can_be_read_anywhere() -> None:
    stream = Stream.named(3, "test")
    every = stream.words(40_000)
    some = np.array([39_999, 0, 16_384, 16_383])
    np.testing.assert_array_equal(stream.words(some), every[some])
    assert not np.array_equal(every, Stream.named(3, "tess").words(40_000))


@given(size=st.integers(1, 3000), seed=st.integers(0, 2**64 - 1))
def test_permutation_is_one(size: int, seed: int) -> None:
    """A collision would lose a vertex of a Kronecker graph or an edge of a random one."""
    image = Stream.named(seed, "test").permuted(np.arange(size), size)
    assert sorted(image.tolist()) == list(range(size))


# ------------------------------------------------------------------------ lattices


CHAINED = nx.compose(nx.caveman_graph(3, 4), nx.Graph([(3, 4), (7, 8)]))
LATTICE = nx.convert_node_labels_to_integers(nx.grid_2d_graph(3, 4))  # row by row


@pytest.mark.parametrize(
    ("kind", "parameters", "expected"),
    [
        ("path", {"n": 9}, nx.path_graph(9)),
        ("star", {"n": 9}, nx.star_graph(8)),
        ("complete", {"n": 9}, nx.complete_graph(9)),
        ("circulant", {"n": 10, "offsets": (2, 5)}, nx.circulant_graph(10, [2, 5])),
        ("caveman", {"caves": 4, "size": 5}, nx.connected_caveman_graph(4, 5)),
        ("caveman", {"caves": 1, "size": 5}, nx.complete_graph(5)),
        ("cliques", {"count": 3, "size": 4}, nx.caveman_graph(3, 4)),
        ("cliques", {"count": 3, "size": 4, "chained": True}, CHAINED),
        ("grid", {"rows": 3, "columns": 4}, LATTICE),
        (
            "watts_strogatz",
            {"n": 30, "neighbours": 4, "rewired": 0},
            nx.watts_strogatz_graph(30, 4, 0),
        ),
    ],
)
def test_classic_graphs(kind: str, parameters: dict[str, Any], expected: nx.Graph) -> None:
    graph = generate(kind, **parameters)
    assert graph.n_vertices == len(expected)
    assert edge_set(graph) == {(min(edge), max(edge)) for edge in expected.edges}


# ------------------------------------------------------------------- random graphs


def test_random_graph_has_exactly_the_edges_asked_for() -> None:
    assert generators.random(n=1000, average_degree=7).n_edges == 3500
    assert generators.random(n=30, average_degree=29).n_edges == 30 * 29 // 2


def test_recursive_matrix_follows_its_quarters() -> None:
    assert generators.rmat(scale=5, a=1, b=0, c=0).n_edges == 0  # all loops
    assert edge_set(generators.rmat(scale=5, a=0, b=1, c=0)) == {(0, 31)}
    assert edge_set(generators.rmat(scale=5, a=0, b=0, c=1)) == {(0, 31)}
    even = generators.rmat(scale=10, a=0.25, b=0.25, c=0.25)
    u, v, _, _ = even.edges()
    assert abs(np.mean((u < 512) & (v < 512)) - 0.25) < 0.02
    assert abs(np.mean((u >= 512) & (v >= 512)) - 0.25) < 0.02


def test_rmat_degrees_fall_with_the_number_and_kronecker_hides_it() -> None:
    skewed, hidden = (degrees(generate(k, scale=10)) for k in ("rmat", "kronecker"))
    assert skewed[:512].sum() > 1.5 * skewed[512:].sum()
    assert abs(hidden[:512].sum() / hidden.sum() - 0.5) < 0.1
    assert hidden.max() > 10 * hidden.mean()


def test_preferential_attachment_is_connected_and_heavy_tailed() -> None:
    graph = generators.preferential(n=20_000, edges_per_vertex=3)
    degree = degrees(graph)
    assert components(graph)[0] == 1
    assert 3 * 19_900 < graph.n_edges <= 3 * 19_999
    assert degree.max() > 50 * degree.mean()
    # Barabasi and Albert: the share of degree k is 2 m (m + 1) / (k (k + 1) (k + 2)), m = 3.
    tree = generators.preferential(n=500, edges_per_vertex=1)
    assert (tree.n_edges, components(tree)[0]) == (499, 1)
    for k in (3, 4, 6):
        assert np.mean(degree == k) == pytest.approx(24 / (k * (k + 1) * (k + 2)), rel=0.1)


# ---------------------------------------------------------------- graphs of places


def test_delaunay_is_the_triangulation() -> None:
    graph = generators.delaunay(n=300)
    points = graph.coordinates
    assert points is not None
    assert nx.check_planarity(nx.Graph(list(edge_set(graph))))[0]
    apart = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    np.fill_diagonal(apart, np.inf)
    nearest = {(min(i, j), max(i, j)) for i, j in enumerate(apart.argmin(axis=1).tolist())}
    assert nearest <= edge_set(graph)
    u, v, w, _ = graph.edges()
    np.testing.assert_allclose(w, apart[u, v])
    assert [generators.delaunay(n=n).n_edges for n in range(4)] == [0, 0, 1, 3]


@pytest.mark.parametrize(
    ("n", "average_degree"),
    [(2_000, 2.7), (3_000, 2.0), (1_500, 2.4), *((n, 2.7) for n in (*range(1, 40), 99, 100, 101))],
)
def test_road_network_is_connected_and_of_the_degree_asked_for(
    n: int, average_degree: float
) -> None:
    """Few cells leave rows and columns without a vertex, and may lack further edges."""
    graph = generators.road(n=n, average_degree=average_degree, seed=n)
    assert (graph.n_vertices, components(graph)[0]) == (n, 1)
    wanted = max(round(n * average_degree / 2), n - 1)
    assert graph.n_edges == wanted or (n < 1000 and graph.n_edges < wanted)
    assert degrees(graph).max() <= 6


# ------------------------------------------------------------------------ registry


@pytest.mark.parametrize("family", FAMILIES.values(), ids=list(FAMILIES))
def test_families_explain_themselves(family: Family) -> None:
    """The command line has nothing else to show."""
    assert family.description.endswith(".")
    assert len(family.description) < 100
    assert family.function.__doc__ is not None
    assert "Source:" in family.function.__doc__
    assert " O(" in family.function.__doc__
    for parameter in family.parameters:
        assert parameter.help.endswith("."), parameter.name
        assert parameter.type in (int, float, bool, str, tuple)
        if not parameter.required:
            assert parameter.parse(_as_text(parameter.default)) == parameter.default


def _as_text(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value)


def test_parameters_are_read_off_the_signature() -> None:
    n, offsets, weights, seed = FAMILIES["circulant"].parameters
    assert (n.name, n.type, n.required, n.help) == ("n", int, True, "Number of vertices.")
    assert (offsets.type, offsets.default) == (tuple, (1, 2))
    assert weights.choices == ("int", "float", "equal", "rising", "ruler")
    assert (seed.type, seed.default, seed.required) == (int, 0, False)


@pytest.mark.parametrize(
    ("kind", "name", "text", "value"),
    [
        ("circulant", "offsets", "3,7", (3, 7)),
        ("cliques", "chained", "yes", True),
        ("rmat", "a", "0.5", 0.5),
        ("grid", "rows", "12", 12),
        ("grid", "weights", "float", "float"),
    ],
)
def test_parameters_read_text(kind: str, name: str, text: str, value: object) -> None:
    parameter = next(p for p in FAMILIES[kind].parameters if p.name == name)
    parsed = parameter.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)
    if type(value) is int:
        with pytest.raises(InvalidArgumentError, match=r"rows is 'x'; it must be int"):
            parameter.parse("x")


# -------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("mesh", {}, "there is no graph family 'mesh'; it must be one of grid, road, random"),
        ("grid", {"rows": 3}, "grid needs columns"),
        ("grid", {"rows": 3, "columns": 3, "depth": 1}, "no parameter 'depth'; it takes rows, col"),
        ("grid", {"rows": -1, "columns": 3}, "rows is -1; it must be 0 to"),
        ("grid", {"rows": 70_000, "columns": 70_000}, "ask for 4900000000 vertices"),
        ("path", {"n": 2.5}, "n is 2.5; it must be an integer"),
        (
            "path",
            {"n": 5, "weights": "heavy"},
            "weights is 'heavy'; it must be one of 'int'",
        ),
        ("path", {"n": 5, "seed": -1}, "seed is -1; it must be 0 to"),
        ("complete", {"n": 100_000}, "ask for 4999950000 edges"),
        ("cliques", {"count": 2, "size": 0}, "size is 0; it must be 1 to"),
        ("caveman", {"caves": 2, "size": 2}, "size is 2; it must be 3 to"),
        ("watts_strogatz", {"n": 9, "neighbours": 3}, "neighbours is 3; it must be even"),
        ("watts_strogatz", {"n": 4, "neighbours": 4}, "neighbours is 4; it must be 0 to 3"),
        ("ssca2", {"n": 9, "between": 2}, "between is 2; it must be 0 to 1"),
        ("ssca2", {"n": 9, "largest_clique": 0}, "largest_clique is 0; it must be 1 to"),
        ("circulant", {"n": 9, "offsets": (5,)}, "an offset is 5; it must be 1 to 4"),
        ("circulant", {"n": 9, "offsets": ()}, "offsets is empty"),
        ("random", {"n": 5, "average_degree": 4.5}, "average_degree is 4.5; it must be 0 to 4"),
        ("random", {"n": 5, "average_degree": "few"}, "average_degree is 'few'; it must be a num"),
        ("rmat", {"scale": 32}, "scale is 32; it must be 0 to 31"),
        ("rmat", {"scale": 3, "a": 0.9}, "a [+] b [+] c is 1.34; it must be at most 1"),
        ("kronecker", {"scale": 3, "b": -0.1}, "b is -0.1; it must be 0 to 1"),
        (
            "clustered",
            {"n": 9, "clusters": 2, "cluster_size": 5},
            "is 10; it must be at most n",
        ),
        ("clustered", {"n": 9, "density": 1.5}, "density is 1.5; it must be 0 to 1"),
        ("preferential", {"n": 3, "edges_per_vertex": 0}, "edges_per_vertex is 0; it must be 1 to"),
        ("road", {"n": 9, "average_degree": 1}, "average_degree is 1; it must be 2 to 3"),
        ("road", {"n": 9, "average_degree": float("nan")}, "average_degree is nan; it must be 2"),
    ],
)
def test_impossible_graphs(kind: str, parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        generate(kind, **parameters)


EMPTY: dict[str, dict[str, Any]] = {
    "grid": {"rows": 0, "columns": 5},
    "cliques": {"count": 0, "size": 3, "chained": True},
    "random": {"n": 0, "average_degree": 0},
    "clustered": {"n": 0, "clusters": 0},
}


@pytest.mark.parametrize("kind", [*EMPTY, "path", "star", "complete", "preferential", "road"])
def test_nothing_is_a_graph_too(kind: str) -> None:
    graph = generate(kind, **EMPTY.get(kind, {"n": 0}))
    assert (graph.n_vertices, graph.n_edges) == (0, 0)
