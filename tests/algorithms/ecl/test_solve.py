"""ECL-MST beyond the contract: switches, filter, hubs, and what it tells of its work."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from clmst import Device, EclOptions, Forest, Graph
from clmst.algorithms.ecl import HUB_ROW
from clmst.algorithms.ecl.solve import FILTER_DEGREE
from clmst.core.weight_keys import encode
from tests.helpers import forests
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import (
    assert_forests,
    assert_same_forest,
    assert_solved,
    random_graph,
    tied_weights,
)
from tests.helpers.strategies import graphs
from tests.helpers.variants import (
    Variant,
    each_of,
    extreme_variants,
    native_variants,
    shaped_variants,
    variants,
)

SWITCHES = tuple(one.name for one in fields(EclOptions) if isinstance(one.default, bool))

extremes = each_of(extreme_variants())


def switched_off(*names: str) -> EclOptions:
    """Return options without the named optimisations.

    Without edge-centric work there are no worklists either.
    """
    off = dict.fromkeys(names, False)
    return EclOptions(**off, **({"data_driven": False} if "edge_centric" in off else {}))


def combinations() -> list[EclOptions]:
    """Return every combination of switches that means something."""
    worklists = [name for name in SWITCHES if name not in ("data_driven", "edge_centric")]
    topology = ("atomic_guards", "filter", "single_direction", "edge_centric")
    driven = [
        EclOptions(**dict(zip(worklists, values, strict=True)))
        for values in product((True, False), repeat=len(worklists))
    ]
    return driven + [
        EclOptions(data_driven=False, **dict(zip(topology, values, strict=True)))
        for values in product((True, False), repeat=len(topology))
    ]


def missing(options: EclOptions) -> str:
    """Name options by what is off."""
    return ",".join(f"-{name}" for name in SWITCHES if not getattr(options, name)) or "all on"


# ---------------------------------------------------------------------------- graphs

# Lengths of rows around what decides who takes them: 4, the length of a piece of a hub in any
# policy, and several of those.
PIECES = {HUB_ROW.under(v.device.policy) for v in variants()}
ROWS = sorted(
    {3, 4, 5, 1025, *(k * piece + d for piece in PIECES for k in (1, 2) for d in (-1, 0, 1))}
)


@cache
def crowd(kind: str, degree: int) -> Graph:
    """Return a graph with rows of all lengths in `ROWS`, and with loops and parallel edges.

    The first vertices have those rows however the graph is stored: nobody else links to them.
    """
    rng = np.random.default_rng([degree, 17])
    n, hubs = {8: 900, 3: 3000}[degree], len(ROWS)
    m = degree * n // 2
    u = np.concatenate([np.repeat(np.arange(hubs), ROWS), rng.integers(hubs, n, m - sum(ROWS))])
    v = rng.integers(hubs, n, m)
    v[-10:] = u[-10:]  # self-loops
    order = rng.permutation(m)
    return Graph.from_edges(u[order], v[order], tied_weights(kind, m, 17), n_vertices=n + 5)


def solve(graph: Any, device: Device, options: EclOptions, **more: bool) -> Forest:
    return forests.solve(graph, device, algorithm="ecl", options=options, **more)


def test_crowds_are_what_the_tests_need() -> None:
    """Rows of every class, degrees on both sides of the filter, wide weights that stay wide."""
    for degree in (3, 8):
        graph = crowd("f8", degree)
        assert encode(graph.weights).is_wide
        assert np.diff(graph.indptr)[: len(ROWS)].tolist() == ROWS
        assert np.diff(graph.symmetrised().indptr)[: len(ROWS)].tolist() == ROWS
        assert (2 * graph.n_edges / graph.n_vertices >= FILTER_DEGREE) == (degree == 8)
        u, v, *_ = graph.edges()
        assert len(set(zip(u.tolist(), v.tolist(), strict=True))) < graph.n_edges < graph.n_input
    assert not encode(crowd("i4", 8).weights).is_wide
    assert encode(crowd("u1", 8).weights).bits.dtype == np.uint8


# -------------------------------------------------------------------------- switches


@pytest.mark.parametrize(
    ("kind", "maximum", "variant"),
    [
        pytest.param(kind, maximum, variant, id=f"{kind}-{variant.name}")
        for kind, maximum, variants in (
            ("i4", False, shaped_variants()),
            ("f8", True, shaped_variants()),
            ("u1", True, native_variants()),
        )
        for variant in variants
    ],
)
@pytest.mark.parametrize("step", range(9), ids=[title for title, _ in EclOptions.ablation()])
def test_ablation(kind: str, maximum: bool, variant: Variant, step: int) -> None:
    """The nine rows of the paper's table, each with all the switches of those before it off."""
    _, options = EclOptions.ablation()[step]
    assert_solved(crowd(kind, 8), variant.device, maximum=maximum, options=options)


@extremes
@pytest.mark.parametrize("options", combinations(), ids=missing)
@pytest.mark.covering
def test_every_combination(variant: Variant, options: EclOptions) -> None:
    """Two replacements must not count on what each other has taken away."""
    assert_solved(crowd("i4", 8), variant.device, options=options)


@extremes
@given(graph=graphs(dtypes=[np.dtype(np.int32)]), options=st.sampled_from(combinations()))
def test_any_graph_in_any_combination(variant: Variant, graph: Graph, options: EclOptions) -> None:
    assert_same_forest(solve(graph, variant.device, options), clmst.kruskal(graph))


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("kind", ["i4", "f8", "u1"])
def test_hubs_of_every_weight(device: Device, kind: str, maximum: bool) -> None:
    """Pieces of hubs, with every number of words a reservation takes."""
    assert_solved(crowd(kind, 8), device, maximum=maximum, options=EclOptions())


def test_both_directions_of_a_resident_graph(device: Device) -> None:
    """A graph stored one way must get its mirror images, and edge ids be the caller's still."""
    resident = clmst.to_device(crowd("i4", 8), device)
    kept = clmst.minimum_spanning_forest(
        resident, options=switched_off("single_direction"), keep_on_device=True
    )
    assert isinstance(kept.graph.graph, Graph)
    assert kept.graph.graph.is_symmetric
    assert not resident.graph.is_symmetric
    assert_same_forest(kept.to_host(), clmst.kruskal(crowd("i4", 8)))


# ---------------------------------------------------------------------------- filter


def test_both_directions_are_read_as_what_was_solved(any_device: Device) -> None:
    """On a device with memory of its own a small forest comes by one read, weights and all.

    The graph that is solved has the other direction of each edge, too. It has no loops, and weights
    of 32 bits where these hold all of 64, which the matrix has on the device.
    """
    device = with_capabilities(any_device, host_arrays="copied")
    device.trust.given = True
    how: Any = {"algorithm": "ecl", "options": EclOptions(single_direction=False)}
    loops = Graph.from_edges([0, 1], [0, 1], np.array([3, 4], np.int32), n_vertices=2)
    assert_same_forest(forests.solve(loops, device, **how), clmst.kruskal(loops))
    for n, dtype in product((13, 200), (np.int32, np.int64, np.float64)):
        upper = sparse.csr_array(np.triu(np.random.default_rng(n).random((n, n)) < 0.3, 1))
        upper.data = np.arange(upper.nnz)[::-1].astype(dtype)
        with bounds(checked_from=1):
            forest = forests.solve(upper, device, **how)
        assert_same_forest(forest, clmst.kruskal(upper))


@pytest.mark.parametrize("samples", [1, 2, 20, 5000])
def test_sample_never_changes_the_forest(device: Device, samples: int) -> None:
    """A poor sample makes a poor threshold, down to one that leaves a phase without edges."""
    expected = clmst.kruskal(crowd("u1", 8))
    for seed in range(4):
        options = EclOptions(seed=seed, samples=samples)
        assert_same_forest(solve(crowd("u1", 8), device, options), expected)


def test_filter_aims_at_its_factor(any_device: Device) -> None:
    """Of many samples, the light edges are as many as the factor says, half of it a vertex."""
    graph = clmst.generate("random", n=4000, average_degree=32.0, weights="float")
    expected = clmst.kruskal(graph)
    for factor in (2, 3.0, 4):
        forest = solve(graph, any_device, EclOptions(filter_factor=factor, samples=50_000))
        assert forest.stats["worklist_sizes"][0][0] == pytest.approx(factor / 2 * 4000, rel=0.05)
        assert_same_forest(forest, expected)
    for wrong in (1.9, 4.1, float("nan"), "3", True):
        with pytest.raises(clmst.InvalidArgumentError, match="filter_factor is"):
            EclOptions(filter_factor=wrong)  # type: ignore[arg-type]


def test_filter_leaves_sparse_graphs_alone(any_device: Device) -> None:
    """Below degree 4 there is one phase, from there on there are two."""
    for degree, phases in ((3, 1), (5, 2)):
        graph = random_graph(500, degree * 250)
        assert (graph.n_slots * 2 >= FILTER_DEGREE * graph.n_vertices) == (phases == 2)
        sizes = solve(graph, any_device, EclOptions()).stats["worklist_sizes"]
        assert len(sizes) == phases


@pytest.mark.parametrize("options", [EclOptions(), switched_off("data_driven")], ids=missing)
def test_equal_weights_leave_nothing_for_the_second_phase(
    any_device: Device, options: EclOptions
) -> None:
    graph = crowd("i4", 8)
    for weight in (np.uint8(7), np.uint32(0), np.uint32(2**32 - 1)):
        equal = graph.replace(weights=np.full(graph.n_slots, weight))
        assert_forests(equal, any_device, algorithm="ecl", options=options)


# ----------------------------------------------------------------------------- stats


def boruvka_sizes(n: int, u: Any, v: Any, labels: Any) -> tuple[list[int], Any]:
    """Return between how many edges each of Borůvka's rounds chooses, and the sets it ends with.

    The edges stand in their total order.
    """
    sizes: list[int] = []
    while True:
        crossing = np.flatnonzero(labels[u] != labels[v])
        if crossing.size == 0:
            return sizes, labels
        sizes.append(int(crossing.size))
        least = np.full(n, u.size)
        np.minimum.at(least, labels[u[crossing]], crossing)
        np.minimum.at(least, labels[v[crossing]], crossing)
        chosen = np.unique(least[least < u.size])
        pairs = (np.ones(chosen.size), (labels[u[chosen]], labels[v[chosen]]))
        sets = connected_components(sparse.coo_array(pairs, shape=(n, n)), directed=False)[1]
        labels = sets[labels]


@pytest.mark.parametrize("degree", [3, 8])
def test_worklists_are_boruvkas(device: Device, degree: int) -> None:
    """Every round joins each set along its least edge, neither more nor fewer, in both phases."""
    graph = crowd("i4", degree)
    u, v, w, _ = graph.edges()
    order = np.argsort(w, kind="stable")
    u, v, w = u[order], v[order], w[order]
    stats = solve(graph, device, EclOptions()).stats
    sizes = stats["worklist_sizes"]
    split = sizes[0][0] if len(sizes) == 2 else u.size
    assert split == u.size or w[split - 1] < w[split]  # ties fall to one phase
    light, labels = boruvka_sizes(
        graph.n_vertices, u[:split], v[:split], np.arange(graph.n_vertices)
    )
    heavy, _ = boruvka_sizes(graph.n_vertices, u[split:], v[split:], labels)
    assert sizes == [light, heavy][: len(sizes)]
    assert len(sizes) == (2 if degree == 8 else 1)
    assert stats["rounds"] == sum(map(len, sizes))


@pytest.mark.parametrize("degree", [3, 8])
@pytest.mark.parametrize("off", SWITCHES)
def test_one_switch_off(device: Device, off: str, degree: int) -> None:
    """An edge that lies in a set does not come back; a read-back a round is all that is waited for.

    Each read-back costs as much as several launches: else only the sample and the forest have one.
    Rounds without worklists take all slots.
    """
    graph, options = crowd("i4", degree), switched_off(off)
    for stored in (graph.symmetrised(), graph):
        forest = solve(stored, device, options, profile=True)
        assert_same_forest(forest, clmst.kruskal(graph))
    stats, sizes = forest.stats, forest.stats["worklist_sizes"]
    assert all(sizes)
    assert len(sizes) == (2 if options.filter and degree == 8 else 1)
    assert stats["rounds"] == sum(map(len, sizes))
    if not options.data_driven:
        assert {size for phase in sizes for size in phase} == {graph.n_slots}
    elif options.single_direction:
        assert all(larger > smaller for phase in sizes for larger, smaller in pairwise(phase))
        assert options.filter or sizes[0][0] == graph.n_edges
    else:
        assert sizes[0][0] % 2 == 0
    assert stats["profile"]["(read back)"].launches == stats["rounds"] + len(sizes)


def test_profile_and_launches_count_the_same(device: Device) -> None:
    stats = solve(crowd("i4", 8), device, EclOptions(), profile=True).stats
    launches = {name: time.launches for name, time in stats["profile"].items()}
    assert sum(k for name, k in launches.items() if not name.startswith("(")) == stats["launches"]
    assert launches["ecl_hook_components"] == stats["rounds"]
    assert launches["ecl_contract_worklist"] == stats["rounds"]
    assert launches["ecl_populate_from_rows"] == 2
    refines = 0 if device.capabilities.int64_atomics else stats["rounds"]
    assert launches.get("ecl_refine_reservations", 0) == refines


def test_ablation_takes_one_more_away_each_time() -> None:
    """Nine steps, in the paper's order; what is common to all of them stays."""
    steps = [options for _, options in EclOptions.ablation(seed=5, samples=20)]
    assert len(steps) == 1 + len(SWITCHES)
    for k, options in enumerate(steps):
        off = dict.fromkeys(SWITCHES[:k], False)
        assert options == EclOptions(**off, seed=5, samples=20)
