"""NetworkX with backend="clmst": the same graphs as its own functions give, ties included."""

from __future__ import annotations

import collections
import copy
import logging
import math
import pickle
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

from clmst import ClmstError, Graph, InvalidGraphError
from clmst.interop import networkx_backend as backend
from clmst.interop.networkx_graph import ConvertedGraph, convert_from_nx, convert_to_nx
from clmst.interop.networkx_info import get_info
from clmst.runtime.device import Device
from tests.helpers.processes import needs_entry_points, run_python

pytestmark = pytest.mark.filterwarnings("ignore:Note. conversions to backend graphs")

TREES = ("minimum_spanning_tree", "maximum_spanning_tree")
EDGES = ("minimum_spanning_edges", "maximum_spanning_edges")
HAS_DEVICE = hasattr(nx, "config")  # from NetworkX 3.3 on
HAS_PRIORITIES = HAS_DEVICE and "fallback_to_nx" in nx.config  # from 3.4 on, with a cache

WEIGHTS: dict[str, list[Any]] = {
    "few integers": [0, 1, 2],
    "floats and zeros of both signs": [0.0, -0.0, 1.5, -2.5, math.inf, -math.inf],
    "integers and floats": [1, 1.0, 2, 0.5, True],
    "beyond 64 bits": [2**70, 2**70 + 1, -(2**70), 3],
    "between doubles": [2**53, 2**53 + 1, float(2**53), 0.5],
    "NumPy": [np.float32(0.1), np.float32(2)],
    "NumPy and Python": [np.int8(3), 3, 2.5, np.float64(2.5)],
    "exact fractions": [Fraction(1, 3), Fraction(1, 7), Decimal(2), 1],
    "bool": [True, False],
    "missing": [None],
}

NAMES: dict[str, Any] = {
    "in order": range(30),
    "reversed": range(29, -1, -1),
    "small": range(100, 3100, 100),
    "large": range(10**18, 10**18 + 30),
    "negative": range(-5, 25),
    "floats": [float(k) for k in range(30)],
    "mixed": [("a", k) if k % 2 else f"b{k}" for k in range(30)],
}


@pytest.fixture(autouse=True)
def _on_any_device(any_device: Device) -> None:
    """Solve without self-tests: answers are compared with NetworkX's."""


@pytest.fixture
def registered() -> None:
    """Skip where clmst was installed before it had entry points."""
    needs_entry_points()


@pytest.fixture
def priority(registered: None) -> Iterator[Any]:
    """Let a test change NetworkX's settings."""
    if not HAS_PRIORITIES:
        pytest.skip("this NetworkX has no settings")
    before = copy.deepcopy(dict(nx.config.backend_priority))
    yield nx.config.backend_priority
    for key in list(nx.config.backend_priority):
        if key not in before:
            del nx.config.backend_priority[key]
    for key, value in before.items():
        nx.config.backend_priority[key] = value


def graph_of(seed: int, values: list[Any], kind: Any = nx.Graph, n: int = 25) -> Any:
    """Return a graph with names, attributes, loops, many ties, and rows in no order."""
    rng = random.Random(seed)
    G = kind(name="made", seed=seed)
    nodes = [f"node {k}" if k % 3 else (k, "pair") for k in range(n)]
    rng.shuffle(nodes)
    for k, node in enumerate(nodes):
        G.add_node(node, size=k)
    for k in range(4 * n):
        u, v = rng.choice(nodes), rng.choice(nodes)
        weight = rng.choice(values)
        G.add_edge(u, v, id=k, **({} if weight is None else {"weight": weight}))
    return G


def layout(G: Any) -> Any:
    """Return all that a graph holds, the order of nodes and of neighbours too."""
    rows = [(u, list(row.items())) for u, row in G.adjacency()]
    return type(G), G.graph, list(G.nodes.items()), rows


def original(name: str) -> Any:
    """Return NetworkX's own function, which calls no backend."""
    return getattr(nx, name).orig_func


def agree(G: Any, *names: str, **options: Any) -> None:
    """Assert that functions give what NetworkX's own give, the order of all of it too."""
    for name in names or TREES:
        ours, theirs = getattr(backend, name)(G, **options), original(name)(G, **options)
        assert layout(ours) == layout(theirs) if name in TREES else list(ours) == list(theirs)


# --------------------------------------------------------------- same as NetworkX


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("values", WEIGHTS.values(), ids=WEIGHTS)
def test_trees_and_edges_are_those_of_networkx(values: list[Any], kind: type) -> None:
    """Edges, attributes, keys, and the order of all of them; of many edges, in several blocks."""
    for seed, n in ((0, 25), (1, 25), (2, 700)):
        G = graph_of(seed, values, kind, n)
        agree(G)
        for keys, data in product((False, True), repeat=2):
            agree(G, *EDGES, keys=keys, data=data)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 3)), max_size=40))
def test_ties_are_broken_as_by_networkx(edges: list[tuple[int, int, int]]) -> None:
    """Neighbours come in any order, which decides between equal weights."""
    G = nx.Graph()
    G.add_weighted_edges_from(edges)
    agree(G)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
@pytest.mark.parametrize("names", NAMES.values(), ids=NAMES)
def test_any_names_of_nodes(names: Any, kind: Any) -> None:
    """Small integers are looked up in a table, others in a dictionary."""
    G = kind(nx.gnm_random_graph(30, 80, seed=3))
    G.add_edge(3, 3, weight=0)
    G.add_edges_from([(4, 5), (5, 4)])
    G = nx.relabel_nodes(G, dict(enumerate(names)))
    agree(G, *TREES, *EDGES)


@pytest.mark.parametrize(
    ("last", "dtype"),
    [
        (7, "i8"), (-(2**63), "i8"), (True, "i8"), (7.5, "f8"), (np.int8(7), "i8"),
        (2**70, None), (math.nan, None), ("7", None),
    ],
)  # fmt: skip
def test_attributes_of_more_than_one_block(last: Any, dtype: str | None) -> None:
    """Blocks of one dtype are put together; else one dtype must hold all numbers exactly."""
    G = nx.path_graph(3001)
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = k if k < 2990 else last
    if dtype is None:
        with pytest.raises(InvalidGraphError):
            Graph.from_networkx(G)
        return
    weights = Graph.from_networkx(G).weights
    assert weights.dtype == dtype
    assert weights.tolist() == [data["weight"] for *_, data in G.edges(data=True)]
    nx.set_edge_attributes(G, {(0, 1): 0.5, (2999, 3000): 2**53 + 1}, "weight")
    with pytest.raises(InvalidGraphError, match="would round"):
        Graph.from_networkx(G)


def test_attributes_in_other_mappings() -> None:
    """They are left to NetworkX's own methods."""
    G = nx.Graph()
    G.edge_attr_dict_factory = collections.UserDict
    G.add_weighted_edges_from([(0, 1, 3), (1, 2, 2), (0, 2, 1)])
    agree(G)


def test_weight_is_any_key() -> None:
    G = nx.Graph()
    for k, (u, v) in enumerate([(0, 1), (1, 2), (2, 0), (2, 3), (3, 0)]):
        G.add_edge(u, v, cost=k % 3, weight=-k, **{"7": k})
    for weight in ("cost", "weight", "absent", None, 7, ("a", "tuple")):
        agree(G, weight=weight)


@pytest.mark.parametrize("algorithm", ["prim", "boruvka", "borůvka"])
def test_prim_and_boruvka_where_all_weights_differ(algorithm: str) -> None:
    G = nx.gnm_random_graph(40, 150, seed=5)
    for k, (_, _, data) in enumerate(G.edges(data=True)):
        data["weight"] = (k * 37) % 151
    for name in TREES:
        tree = getattr(backend, name)(G, algorithm=algorithm)
        assert nx.utils.graphs_equal(tree, original(name)(G, algorithm=algorithm))


@pytest.mark.parametrize("weight", [1, math.inf, math.nan])
def test_prim_and_boruvka_elsewhere_are_left_to_networkx(weight: float) -> None:
    """If weights are equal, infinite or not numbers, each algorithm has its own answer."""
    G = nx.Graph([(0, 1, {"weight": weight}), (1, 2, {"weight": 1}), (0, 2, {"weight": 3})])
    for algorithm in ("prim", "boruvka"):
        with pytest.raises(NotImplementedError, match="ties in its own way"):
            backend.minimum_spanning_tree(G, algorithm=algorithm)
        reason = backend.can_run("minimum_spanning_edges", (G, algorithm), {})
        assert "in the order of Kruskal's algorithm" in str(reason)


def test_views_and_subclasses() -> None:
    """A subgraph is a view, whose rows are not dictionaries; a class may have its own."""

    class Roads(nx.Graph):  # type: ignore[misc]
        """A graph of another class."""

    for kind in (nx.Graph, nx.MultiGraph, Roads):
        G = graph_of(2, [1, 2], kind)
        agree(G)
        agree(G.subgraph(list(G)[::2]))


def test_attributes_are_copies() -> None:
    """A change of the tree does not change the graph."""
    G = graph_of(3, [1, 2])
    tree = backend.minimum_spanning_tree(G)
    u, v = next(iter(tree.edges))
    tree.edges[u, v]["weight"] = "changed"
    tree.nodes[u]["size"] = "changed"
    tree.graph["name"] = "changed"
    assert G.edges[u, v]["weight"] in (1, 2)
    assert G.nodes[u]["size"] != "changed"
    assert G.graph["name"] == "made"
    assert tree.edges[v, u]["weight"] == "changed"


@pytest.mark.parametrize("G", [nx.Graph(), nx.empty_graph(3), nx.MultiGraph()])
def test_graphs_without_edges(G: Any) -> None:
    agree(G, *TREES, *EDGES)
    if not G.is_multigraph():
        assert backend.core_number(G) == original("core_number")(G)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph])
def test_core_numbers_are_those_of_networkx(kind: type) -> None:
    """An arc counts at both ends, and two opposite ones are two."""
    for seed in range(4):
        G = nx.gnm_random_graph(60, 200, seed=seed, directed=kind is nx.DiGraph)
        found = backend.core_number(G)
        assert list(found.items()) == list(original("core_number")(G).items())
        assert {type(number) for number in found.values()} == {int}
    assert backend.core_number(convert_from_nx(G)) == found


def test_graphs_that_networkx_refuses() -> None:
    with pytest.raises(nx.NetworkXNotImplemented, match="self loops") as caught:
        backend.core_number(nx.Graph([(0, 1), (1, 1)]))
    assert isinstance(caught.value, ClmstError)
    for name in TREES:
        with pytest.raises(nx.NetworkXNotImplemented, match=r"directed type; .*to_undir") as e:
            getattr(nx, name)(nx.DiGraph([(0, 1)]), backend="clmst")
        assert isinstance(e.value, ClmstError)


# ------------------------------------------------------- the wants, by their threads


def test_networkx_2164_nan_is_refused_or_ignored() -> None:
    """A NaN was compared as if it were a number; now it is an error, or its edge is left out."""
    for values in ([1, 2, math.nan], [1.5, math.nan], [Fraction(1, 2), math.nan]):
        for kind in (nx.Graph, nx.MultiGraph):
            G = graph_of(4, values, kind)
            for name in TREES:
                with pytest.raises(InvalidGraphError, match="is NaN; weights must be numbers"):
                    getattr(backend, name)(G)
                agree(G, name, ignore_nan=True)
            edges = backend.minimum_spanning_edges(G)  # NetworkX raises when they are asked for
            with pytest.raises(ValueError, match="NaN"):
                next(edges)


@pytest.mark.parametrize("value", ["heavy", None, 1j])
def test_a_weight_that_is_no_number_is_named(value: Any) -> None:
    G = nx.Graph()
    G.add_edge("a", "b", weight=1)
    G.add_edge("b", "c", weight=value)
    for error in (TypeError, InvalidGraphError):
        with pytest.raises(error, match=r"weight of edge \('b', 'c', .*must be numbers"):
            backend.minimum_spanning_tree(G)


def test_integers_beyond_all_floats_are_weights() -> None:
    """NetworkX itself raises an OverflowError."""
    G = nx.cycle_graph(4)
    for (_, _, data), weight in zip(G.edges(data=True), (10**400, 2, 1.5, 3), strict=True):
        data["weight"] = weight
    tree = backend.minimum_spanning_tree(G)
    assert sorted(tree.edges) == [(0, 3), (1, 2), (2, 3)]


@pytest.mark.usefixtures("registered")
def test_nx_cugraph_64_a_spanning_tree_by_one_word() -> None:
    """NetworkX's own call with backend="clmst" gives NetworkX's own tree."""
    G = graph_of(5, [1, 2, 3], n=200)
    for name in TREES:
        tree = getattr(nx, name)(G, backend="clmst")
        assert layout(tree) == layout(original(name)(G))
    for name in EDGES:
        assert list(getattr(nx, name)(G, backend="clmst")) == list(original(name)(G))


# ------------------------------------------------------------- the door of NetworkX


@pytest.mark.usefixtures("registered")
def test_what_the_backend_says_of_itself() -> None:
    functions = get_info()["functions"]
    assert set(functions) == set(TREES) | set(EDGES) | {"core_number"}
    for name in functions:
        assert callable(getattr(backend, name))
        assert "clmst" in getattr(nx, name).backends


def test_info_imports_nothing() -> None:
    """NetworkX asks for it at every import."""
    code = (
        "import sys; from clmst.interop.networkx_info import get_info; get_info()\n"
        "heavy = {'numpy', 'scipy', 'pyopencl', 'networkx'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    run_python("-c", code)


def test_a_device_can_be_named(any_device: Device) -> None:
    G = graph_of(6, [1, 2])
    tree = backend.minimum_spanning_tree(G, device=any_device)
    assert layout(tree) == layout(original(TREES[0])(G))
    with pytest.raises(ClmstError, match="no such thing"):
        backend.minimum_spanning_tree(G, device="no such thing")


def test_the_device_of_the_settings(registered: None) -> None:
    if not HAS_DEVICE:
        pytest.skip("this NetworkX has no settings")
    G = graph_of(6, [1, 2])
    nx.config.backends.clmst.device = "no such thing"
    try:
        with pytest.raises(ClmstError, match="no such thing"):
            nx.minimum_spanning_tree(G, backend="clmst")
        assert "no such thing" in str(backend.should_run("core_number", (LARGE,), {}))
    finally:
        nx.config.backends.clmst.device = None


LARGE = nx.gnm_random_graph(500, 3000, seed=1)


def _weighing(weight: Any) -> Any:
    G = LARGE.copy()
    nx.set_edge_attributes(G, weight, "weight")
    return G


@pytest.mark.parametrize(
    ("asked", "name", "args", "answer"),
    [
        ("can", "minimum_spanning_tree", (LARGE,), True),
        ("can", "core_number", (nx.DiGraph(),), True),
        ("can", "maximum_spanning_tree", (nx.DiGraph(),), True),
        ("can", "minimum_spanning_tree", (nx.MultiGraph(), "weight", "boruvka"),
         "'boruvka' does not take multigraphs"),
        ("can", "minimum_spanning_edges", (nx.Graph(), "prim"),
         "edges come in the order of Kruskal's algorithm, not of 'prim'"),
        ("should", "minimum_spanning_tree", (LARGE,), True),
        ("should", "minimum_spanning_tree", (_weighing("x"), "absent"), True),
        ("should", "minimum_spanning_tree", (_weighing(Fraction(1, 3)),),
         "weights of class Fraction are compared one by one in Python"),
        ("should", "core_number", (nx.path_graph(5),),
         "the graph has 4 edges; from 2000 on it pays"),
        ("should", "core_number", (nx.gnm_random_graph(500, 1999, seed=1),),
         "the graph has 1999 edges; from 2000 on it pays"),
        ("should", "core_number", (nx.gnm_random_graph(500, 2000, seed=1),), True),
    ],
)  # fmt: skip
def test_what_may_run_and_pays(asked: str, name: str, args: tuple[Any, ...], answer: Any) -> None:
    function = backend.can_run if asked == "can" else backend.should_run
    assert function(name, args, {}) == answer
    if name.endswith("tree"):
        named = dict(zip(("G", "weight", "algorithm"), args, strict=False))
        assert function(name, (), named) == answer


def test_a_class_with_rows_of_its_own_is_left_to_networkx() -> None:
    """What a graph stores may not be what it says; a plain subclass is as its base."""

    class Absent(nx.Graph):  # type: ignore[misc]
        """A graph of the edges that are not stored."""

        def neighbors(self, n: Any) -> Any:
            return iter(set(self) - set(self._adj[n]) - {n})

    class Roads(nx.Graph):  # type: ignore[misc]
        """A graph of another class."""

    for name in ("core_number", "minimum_spanning_tree"):
        reason = backend.can_run(name, (Absent([(0, 1)]),), {})
        assert reason == "the class Absent has its own way to list neighbours"
        assert backend.can_run(name, (Roads([(0, 1)]),), {}) is True
        assert backend.can_run(name, (convert_from_nx(Roads([(0, 1)])),), {}) is True


def test_priority_without_a_word_in_the_call(
    priority: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """Settings alone send large graphs to clmst, and leave small ones to NetworkX."""
    priority.generators = ["clmst"]
    G = _weighing(1)
    with caplog.at_level(logging.DEBUG, "networkx"):
        assert layout(nx.minimum_spanning_tree(G)) == layout(original(TREES[0])(G))
        nx.minimum_spanning_tree(nx.path_graph(5))
    words = "Using backend 'clmst' for call to 'minimum_spanning_tree'"
    assert sum(words in line for line in caplog.messages) == 1


def test_an_unknown_algorithm_is_a_value_error() -> None:
    for name in TREES + EDGES:
        with pytest.raises(ValueError, match="random is not a valid choice"):
            getattr(backend, name)(nx.path_graph(3), algorithm="random")


# ---------------------------------------------------------------------- conversion


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph])
def test_conversion_and_back(kind: Any) -> None:
    G = graph_of(7, [1, 2, math.nan], kind)
    converted = convert_from_nx(G)
    assert isinstance(converted, ConvertedGraph)
    assert converted.is_multigraph() == G.is_multigraph()
    assert len(converted) == len(G)
    back = convert_to_nx(converted)
    assert type(back) is kind
    assert set(map(str, back.edges(data=True))) == set(map(str, G.edges(data=True)))
    assert dict(back.nodes.items()) == dict(G.nodes.items())
    assert back.graph == G.graph
    assert convert_to_nx(5) == 5


@pytest.mark.usefixtures("registered")
def test_conversions_are_cached_and_dropped(caplog: pytest.LogCaptureFixture) -> None:
    """NetworkX keeps what was converted until a method of the graph changes it."""
    if not HAS_PRIORITIES:
        pytest.skip("this NetworkX caches no conversion")
    G = graph_of(8, [1, 2])
    u, v = list(G)[:2]
    with caplog.at_level(logging.DEBUG, "networkx"):
        for _ in range(2):
            nx.minimum_spanning_tree(G, backend="clmst")
    said = [line.split(" converted graph")[0] for line in caplog.messages if "converted" in line]
    assert said == ["Caching", "Using cached"]
    G.add_edge(u, v, weight=-5)
    tree = nx.minimum_spanning_tree(G, backend="clmst")
    assert layout(tree) == layout(original(TREES[0])(G))
    assert tree.edges[u, v]["weight"] == -5
    for again in (pickle.loads(pickle.dumps(G)), copy.deepcopy(G)):
        again[u][v]["weight"] = 7
        tree = nx.minimum_spanning_tree(again, backend="clmst")
        assert layout(tree) == layout(original(TREES[0])(again))


# ------------------------------------------------- changes that NetworkX's cache misses


def _reweigh(G: Any, rng: random.Random) -> None:
    for *_, data in G.edges(data=True):
        data["weight"] = rng.randrange(30)


def _reweigh_one(G: Any, rng: random.Random) -> None:
    """Replace an edge's attributes, or give a multigraph one more edge, by ``get_edge_data``."""
    u, v = rng.choice(list(G.edges()))[:2]
    weight = {"weight": rng.randrange(-9, 30)}
    G.get_edge_data(u, v).update({G.number_of_edges(): weight} if G.is_multigraph() else weight)


def _without_weight(G: Any, rng: random.Random) -> None:
    for *_, data in list(G.edges(data=True))[::2]:
        data.pop("weight", None)


def _fraction(G: Any, rng: random.Random) -> None:
    for *_, data in G.edges(data=True):
        data["weight"] = Fraction(rng.randrange(30), 7)


def _minus_zero(G: Any, rng: random.Random) -> None:
    for *_, data in G.edges(data=True):
        data["weight"] = -0.0


def _replace_edge(G: Any, rng: random.Random) -> None:
    """Remove an edge and add it again: the same neighbours, another dictionary."""
    u, v = rng.choice(list(G.edges()))[:2]
    G.remove_edge(u, v)
    G.add_edge(u, v, weight=rng.randrange(-9, 30))


def _add_edge(G: Any, rng: random.Random) -> None:
    G.add_edge(*rng.sample(list(G), 2), weight=rng.randrange(-9, 30))


def _add_node(G: Any, rng: random.Random) -> None:
    G.add_edge(rng.choice(list(G)), ("new", len(G)), weight=rng.randrange(30))


def _remove_node(G: Any, rng: random.Random) -> None:
    G.remove_node(rng.choice(list(G)))


def _private(G: Any, rng: random.Random) -> None:
    """Move an edge in the private dictionaries, of which no method knows."""
    u, v = rng.choice(list(G.edges()))[:2]
    w = rng.choice([node for node in G if node not in {u, v} and node not in G[u]])
    G._adj[u][w] = G._adj[w][u] = G._adj[u].pop(v)
    if u != v:
        del G._adj[v][u]


def _attributes(G: Any, rng: random.Random) -> None:
    G.graph["name"] = G.nodes[rng.choice(list(G))]["size"] = rng.random()


def _other_attributes(G: Any, rng: random.Random) -> None:
    G.graph = {"name": rng.random()}


CHANGES = (
    _reweigh, _reweigh_one, _without_weight, _fraction, _minus_zero, _replace_edge, _add_edge,
    _add_node, _remove_node, _private, _attributes, _other_attributes,
)  # fmt: skip

SEEN_AS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda G: G,
    "a subgraph": lambda G: G.subgraph(list(G)[: len(G) - 3]),
    "a filter": lambda G: nx.subgraph_view(G, filter_node=lambda node: node != 3),
    "a view of all": lambda G: G.copy(as_view=True),
    "an undirected view": lambda G: G.to_undirected(as_view=True),
    "a copy that shares it": copy.copy,
}


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("seen_as", SEEN_AS.values(), ids=SEEN_AS)
@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiGraph, nx.DiGraph])
def test_no_answer_is_of_an_earlier_state(kind: Any, seen_as: Any) -> None:
    """Whatever changes between calls: NetworkX's cache sees changes by a graph's methods alone."""
    rng = random.Random(17)
    G = kind(nx.gnm_random_graph(14, 40, seed=3))
    _reweigh(G, rng)
    H = seen_as(G)
    for k in range(4 * len(CHANGES)):
        change = CHANGES[k % len(CHANGES)]
        if not (kind is nx.DiGraph and change is _private):  # an arc has two places there
            change(G, rng)
        if not H.is_directed():
            for name in TREES:
                tree = getattr(nx, name)(H, backend="clmst")
                assert layout(tree) == layout(original(name)(H)), change
            for name in EDGES:
                assert list(getattr(nx, name)(H, backend="clmst")) == list(original(name)(H)), (
                    change
                )
        if not H.is_multigraph():
            assert nx.core_number(H, backend="clmst") == original("core_number")(H), change


def test_trees_in_a_loop_by_settings_alone(priority: Any) -> None:
    """The loop of a program that sets weights in place and never names clmst."""
    priority.generators, priority.algos = ["clmst"], ["clmst"]
    G, rng = LARGE.copy(), random.Random(5)
    for _ in range(4):
        for *_, data in G.edges(data=True):
            data["weight"] = rng.random()
        tree, edges = nx.minimum_spanning_tree(G), list(nx.minimum_spanning_edges(G))
        expected = float(minimum_spanning_tree(nx.to_scipy_sparse_array(G)).sum())  # SciPy's
        assert tree.size("weight") == pytest.approx(expected)
        assert math.fsum(data["weight"] for *_, data in edges) == pytest.approx(expected)


@pytest.mark.usefixtures("registered")
def test_a_weight_that_changes_itself_is_read_again() -> None:
    """The same object may have another value: an array of one number, or a number of a user."""
    G = nx.cycle_graph(5)
    for k, (*_, data) in enumerate(G.edges(data=True)):
        data["weight"] = np.array(float(k))
    assert sorted(nx.minimum_spanning_tree(G, backend="clmst").edges) != [(0, 1), (0, 4), (1, 2)]
    G.edges[2, 3]["weight"][...] = 99
    tree = nx.minimum_spanning_tree(G, backend="clmst")
    assert sorted(tree.edges) == sorted(original(TREES[0])(G).edges)
    assert (2, 3) not in tree.edges


@pytest.mark.usefixtures("registered")
def test_an_error_is_not_kept() -> None:
    """A weight that is put right solves, and one that becomes wrong raises."""
    G = nx.cycle_graph(5)
    for value, error in (("x", TypeError), (math.nan, ValueError), (1, None), ("x", TypeError)):
        G.edges[0, 1]["weight"] = value
        if error is None:
            assert nx.minimum_spanning_tree(G, backend="clmst").number_of_edges() == 4
            continue
        with pytest.raises(error):
            nx.minimum_spanning_tree(G, backend="clmst")


def test_edges_are_those_of_the_call() -> None:
    """What becomes of the graph before the edges are asked for does not matter."""
    G = graph_of(9, [1, 2])
    expected = list(original(EDGES[0])(G))
    edges = backend.minimum_spanning_edges(G)
    G.clear()
    assert list(edges) == expected
