"""ECL-MST beyond the contract: switches, filter, hubs, and what it tells of its work."""

from __future__ import annotations

from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from clmst import Device, EclOptions, Forest, Graph
from clmst.algorithms.ecl.solve import FILTER_DEGREE
from clmst.core.weight_keys import Array, encode
from tests.forests import assert_same_forest
from tests.strategies import graphs
from tests.variants import Variant, extreme_variants, variants

SWITCHES = (
    "atomic_guards",
    "hybrid_parallelism",
    "filter",
    "implicit_path_compression",
    "single_direction",
    "tuples",
    "data_driven",
    "edge_centric",
)

# Every specialisation is a build, so what needs many of them runs in few variants; `device` stands
# for all there are. NATIVE: devices as they are. SHAPES: and in the shape of a GPU's kernels.
# EXTREMES: the best device as it is, and one that has nothing.
NATIVE = [v for v in variants() if "-" not in v.name]
SHAPES = NATIVE + [v for v in variants() if v.name.endswith("gpu-shape")]
EXTREMES = extreme_variants()


def switched_off(*names: str) -> EclOptions:
    """Return options without the named optimisations; worklists go where vertices take turns."""
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
PIECES = {v.device.policy.hub_row for v in variants()}
ROWS = sorted(
    {3, 4, 5, 1025, *(k * piece + d for piece in PIECES for k in (1, 2) for d in (-1, 0, 1))}
)


def weights_of(kind: str, rng: np.random.Generator, m: int) -> npt.NDArray[Any]:
    """Return `m` weights with ties: 32 bits, 64 that cannot be narrowed, or 8."""
    if kind == "narrow":
        return rng.integers(-300, 300, m, dtype=np.int32)
    if kind == "byte":
        return rng.integers(0, 256, m, dtype=np.uint8)
    # Few leading words, so that trailing ones decide, and few of those, so that ids do.
    leading = rng.choice([-3.5, 0.0, 1.0, 1e300], m)
    weights: Array = leading + np.spacing(leading) * rng.integers(0, 40, m)
    return weights


@cache
def crowd(kind: str, degree: int) -> Graph:
    """Return rows of the lengths of `ROWS` and a crowd; loops, parallel edges, lone vertices.

    The first vertices have those rows however the graph is stored: nobody else links to them.
    """
    rng = np.random.default_rng([degree, 17])
    n, hubs = {8: 900, 3: 3000}[degree], len(ROWS)
    m = degree * n // 2
    u = np.concatenate([np.repeat(np.arange(hubs), ROWS), rng.integers(hubs, n, m - sum(ROWS))])
    v = rng.integers(hubs, n, m)
    v[-10:] = u[-10:]  # self-loops
    order = rng.permutation(m)
    return Graph.from_edges(u[order], v[order], weights_of(kind, rng, m), n_vertices=n + 5)


@cache
def oracle(kind: str, degree: int, maximum: bool) -> Forest:
    return clmst.kruskal(crowd(kind, degree), maximum=maximum)


def solve(
    graph: Any, device: Device, options: EclOptions, *, maximum: bool = False, profile: bool = False
) -> Forest:
    function = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    return function(graph, algorithm="ecl", device=device, options=options, profile=profile)


def check(device: Device, options: EclOptions, kind: str, degree: int, maximum: bool) -> None:
    """Assert that a crowd gets its forest, stored one way and both ways."""
    graph = crowd(kind, degree)
    for stored in (graph, graph.symmetrised()):
        forest = solve(stored, device, options, maximum=maximum)
        assert_same_forest(forest, oracle(kind, degree, maximum))


def test_crowds_are_what_the_tests_need() -> None:
    """Rows of every class, degrees on both sides of the filter, wide weights that stay wide."""
    for degree in (3, 8):
        graph = crowd("wide", degree)
        assert encode(graph.weights).is_wide
        assert np.diff(graph.indptr)[: len(ROWS)].tolist() == ROWS
        assert np.diff(graph.symmetrised().indptr)[: len(ROWS)].tolist() == ROWS
        assert (2 * graph.n_edges / graph.n_vertices >= FILTER_DEGREE) == (degree == 8)
        u, v, *_ = graph.edges()
        assert len(set(zip(u.tolist(), v.tolist(), strict=True))) < graph.n_edges < graph.n_input
    assert not encode(crowd("narrow", 8).weights).is_wide
    assert encode(crowd("byte", 8).weights).bits.dtype == np.uint8


# -------------------------------------------------------------------------- switches


@pytest.mark.parametrize("degree", [3, 8])
@pytest.mark.parametrize("off", SWITCHES)
def test_one_switch_off(device: Device, off: str, degree: int) -> None:
    check(device, switched_off(off), "narrow", degree, maximum=False)


@pytest.mark.parametrize(
    ("kind", "maximum", "variant"),
    [
        pytest.param(kind, maximum, variant, id=f"{kind}-{variant.name}")
        for kind, maximum, variants in (
            ("narrow", False, SHAPES),
            ("wide", True, SHAPES),
            ("byte", True, NATIVE),
        )
        for variant in variants
    ],
)
@pytest.mark.parametrize("step", range(9), ids=[title for title, _ in EclOptions.ablation()])
def test_ablation(kind: str, maximum: bool, variant: Variant, step: int) -> None:
    """The nine rows of the paper's table, each with all the switches of those before it off."""
    _, options = EclOptions.ablation()[step]
    check(variant.device, options, kind, 8, maximum)


@pytest.mark.parametrize("variant", EXTREMES, ids=lambda v: v.name)
@pytest.mark.parametrize("options", combinations(), ids=missing)
def test_every_combination(variant: Variant, options: EclOptions) -> None:
    """Two replacements must not count on what each other has taken away."""
    check(variant.device, options, "narrow", 8, maximum=False)


@pytest.mark.parametrize("variant", EXTREMES, ids=lambda v: v.name)
@given(graph=graphs(dtypes=[np.dtype(np.int32)]), options=st.sampled_from(combinations()))
def test_any_graph_in_any_combination(variant: Variant, graph: Graph, options: EclOptions) -> None:
    assert_same_forest(solve(graph, variant.device, options), clmst.kruskal(graph))


@pytest.mark.parametrize(("kind", "maximum"), [("narrow", True), ("wide", False), ("byte", True)])
def test_hubs_of_every_weight(device: Device, kind: str, maximum: bool) -> None:
    """Pieces of hubs, with every number of words a reservation takes."""
    check(device, EclOptions(), kind, 8, maximum)


@pytest.mark.parametrize("variant", NATIVE, ids=lambda v: v.name)
@pytest.mark.parametrize(("kind", "maximum"), [("wide", True), ("byte", False)])
def test_weights_in_the_other_order(variant: Variant, kind: str, maximum: bool) -> None:
    check(variant.device, EclOptions(), kind, 8, maximum)


def test_both_directions_of_a_resident_graph(device: Device) -> None:
    """A graph stored one way must get its mirror images, and edge ids be the caller's still."""
    resident = clmst.to_device(crowd("narrow", 8), device)
    kept = clmst.minimum_spanning_forest(
        resident, options=switched_off("single_direction"), keep_on_device=True
    )
    assert isinstance(kept.graph.graph, Graph)
    assert kept.graph.graph.is_symmetric
    assert not resident.graph.is_symmetric
    assert_same_forest(kept.to_host(), oracle("narrow", 8, False))


# ---------------------------------------------------------------------------- filter


@pytest.mark.parametrize("samples", [1, 2, 20, 5000])
def test_sample_never_changes_the_forest(device: Device, samples: int) -> None:
    """A poor sample makes a poor threshold, down to one that leaves a phase without edges."""
    for seed in range(4):
        options = EclOptions(seed=seed, samples=samples)
        assert_same_forest(solve(crowd("byte", 8), device, options), oracle("byte", 8, False))


def test_filter_takes_about_the_edges_it_aims_at(any_device: Device) -> None:
    """One and a half a vertex: three with both directions counted, as the paper counts."""
    graph = crowd("narrow", 8)
    light, heavy = solve(graph, any_device, EclOptions()).stats["worklist_sizes"]
    assert light[0] == pytest.approx(1.5 * graph.n_vertices, rel=0.15)
    # Where a large set holds nearly all vertices, heavy edges lie inside it.
    assert heavy[0] < (graph.n_edges - light[0]) / 4


def test_filter_leaves_sparse_graphs_alone(any_device: Device) -> None:
    """Below degree 4 there is one phase, from there on there are two."""
    rng = np.random.default_rng(2)
    for degree, phases in ((3, 1), (5, 2)):
        u, v = rng.integers(0, 500, (2, degree * 250))
        graph = Graph.from_edges(u, v, rng.integers(0, 99, degree * 250), n_vertices=500)
        assert (graph.n_slots * 2 >= FILTER_DEGREE * graph.n_vertices) == (phases == 2)
        sizes = solve(graph, any_device, EclOptions()).stats["worklist_sizes"]
        assert len(sizes) == phases


@pytest.mark.parametrize("options", [EclOptions(), switched_off("data_driven")], ids=missing)
def test_equal_weights_leave_nothing_for_the_second_phase(
    any_device: Device, options: EclOptions
) -> None:
    graph = crowd("narrow", 8)
    for weight in (np.uint8(7), np.uint32(0), np.uint32(2**32 - 1)):
        equal = graph.replace(weights=np.full(graph.n_slots, weight))
        for maximum in (False, True):
            forest = solve(equal, any_device, options, maximum=maximum)
            assert_same_forest(forest, clmst.kruskal(equal, maximum=maximum))


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
    graph = crowd("narrow", degree)
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


@pytest.mark.parametrize("off", [name for name in SWITCHES if "driven" not in name][:-1])
def test_worklists_shrink(device: Device, off: str) -> None:
    """An edge that has joined two sets, or lies in one, must not come back."""
    graph = crowd("narrow", 8)
    options = switched_off(off)
    stats = solve(graph, device, options).stats
    sizes = stats["worklist_sizes"]
    assert all(larger > smaller for phase in sizes for larger, smaller in pairwise(phase))
    assert stats["rounds"] == sum(map(len, sizes))
    assert len(sizes) == (2 if options.filter else 1)
    if not options.filter:
        assert sizes[0][0] == graph.n_edges
    if not options.single_direction:
        assert sizes[0][0] % 2 == 0


@pytest.mark.parametrize("off", ["data_driven", "edge_centric"])
def test_topology_driven_rounds_take_all_slots(device: Device, off: str) -> None:
    graph = crowd("narrow", 8)
    stats = solve(graph, device, switched_off(off)).stats
    assert len(stats["worklist_sizes"]) == 2
    assert {size for phase in stats["worklist_sizes"] for size in phase} == {graph.n_slots}
    assert stats["rounds"] == sum(map(len, stats["worklist_sizes"]))


@pytest.mark.parametrize("off", ["filter", "tuples", "data_driven"])
@pytest.mark.parametrize("degree", [3, 8])
def test_one_read_back_a_round(device: Device, off: str, degree: int) -> None:
    """Each costs as much as several launches: beside rounds only the sample and the forest do."""
    stats = solve(crowd("narrow", degree), device, switched_off(off), profile=True).stats
    phases = stats["worklist_sizes"]
    sample = 1 if len(phases) == 2 else 0
    assert all(phases)
    assert stats["profile"]["(read back)"].launches == stats["rounds"] + sample + 1


def test_profile_and_launches_count_the_same(device: Device) -> None:
    stats = solve(crowd("narrow", 8), device, EclOptions(), profile=True).stats
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
