"""Proof on a device: it must pass the one right forest, and no other claim, whatever is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from scipy import sparse

import clmst
from clmst import Device, Graph
from clmst.algorithms import families
from clmst.algorithms.proof import prove as proof
from clmst.algorithms.proof import self_test as proof_self_test
from clmst.algorithms.shared.device_forest import DeviceForest, ForestWeights
from clmst.core.known_graphs import known_graph
from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Answer, KernelFamily
from clmst.runtime.launcher import Launcher
from tests.helpers.kernel_sources import changed
from tests.helpers.strategies import WEIGHT_DTYPES, graphs
from tests.helpers.variants import Variant, variants_elsewhere

# What a variant changes depends on the width of weights; how keys are made of them does not.
WEIGHTS = tuple(
    (np.dtype(dtype), k % 2 == 1) for k, dtype in enumerate((np.uint8, np.float32, np.float64))
)


def claim_of(
    graph: DeviceGraph, slots: npt.ArrayLike, *, maximum: bool = False, ends: Array | None = None
) -> DeviceForest:
    """Return the claim that the edges in some slots are the forest."""
    claimed = np.asarray(slots, np.uint32)
    if ends is None:
        known = np.minimum(claimed, max(graph.n_slots - 1, 0))
        ends = np.column_stack((graph.graph.rows[known], graph.graph.indices[known]))
    return proof_self_test.claim_of(graph, ends, claimed, maximum=maximum)


def is_proved(claim: DeviceForest) -> bool:
    device = claim.graph.device
    with device.lock:
        return proof.prove(claim, Launcher(device, device.queue)).ok


def right_slots(graph: Graph, *, maximum: bool = False) -> Array:
    """Return the slots of the forest by the oracle."""
    u, v, weights, _ = graph.edges()
    plain = Graph.from_edges(u, v, weights, n_vertices=graph.n_vertices)
    return graph.edge_slots[clmst.kruskal(plain, maximum=maximum).edge_ids]


# --------------------------------------------------------------------- right ones pass


@pytest.mark.parametrize(("dtype", "maximum"), list(product(WEIGHT_DTYPES, (False, True))), ids=str)
def test_every_dtype(dtype: np.dtype, maximum: bool, any_device: Device) -> None:
    """Special values and ties of every dtype: the right claim passes, no other one does."""
    rng = np.random.default_rng(8)
    pool = np.array([False, True])
    if dtype.kind != "b":
        pool = np.frombuffer(rng.bytes(60 * dtype.itemsize), dtype)
        pool = pool[pool == pool] if dtype.kind == "f" else pool  # noqa: PLR0124 - NaN is not itself
    u, v = rng.integers(0, 200, (2, 800))
    graph = Graph.from_edges(u, v, rng.choice(pool, 800))
    resident = clmst.to_device(graph, any_device)
    right = right_slots(graph, maximum=maximum)
    assert_right(proof_self_test.of_graph(resident, right, maximum=maximum))


@pytest.mark.parametrize("weights", ["rising", "falling", "equal", "random"])
@pytest.mark.parametrize("shape", ["path", "star", "comb"])
def test_long_ways(device: Device, shape: str, weights: str) -> None:
    """Chains of parents as long as the graph, and one edge from end to end of it."""
    n = 1 << 15
    u = {
        "path": np.arange(n - 1),
        "star": np.zeros(n - 1, int),
        "comb": np.where(np.arange(n - 1) % 2, np.arange(n - 1) - 1, np.arange(n - 1)),
    }[shape]
    rank = {
        "rising": np.arange(n - 1),
        "falling": np.arange(n - 1)[::-1],
        "equal": np.full(n - 1, 9),
        "random": np.random.default_rng(2).permutation(n - 1),
    }[weights]
    for closing, is_right in ((rank.max() + 1, True), (rank.min() - 1, False)):
        graph = Graph.from_edges(
            np.append(u, 2), np.append(np.arange(1, n), n - 1), np.append(rank, closing) + 1
        )
        assert graph.edge_ids is not None
        tree = graph.edge_slots[graph.edge_ids[graph.edge_slots] < n - 1]
        assert is_proved(claim_of(clmst.to_device(graph, device), tree)) == is_right


@pytest.mark.parametrize(
    ("n", "u", "v"), [(1, [], []), (7, [], []), (1, [0], [0]), (3, [0, 2], [0, 2])]
)
def test_graphs_without_edges(device: Device, n: int, u: list[int], v: list[int]) -> None:
    graph = clmst.to_device(Graph.from_edges(u, v, np.ones(len(u)), n_vertices=n), device)
    assert is_proved(claim_of(graph, np.zeros(0)))
    if n > 1:  # otherwise a claim does not fit
        assert not is_proved(claim_of(graph, np.zeros(1), ends=np.array([[0, 1]])))


# ------------------------------------------------------------------- wrong ones do not


@given(data=st.data())
def test_any_edge_set(device: Device, data: st.DataObject) -> None:
    """Edges exchanged, left out, or added: right exactly where the set is the oracle's."""
    dtype, maximum = data.draw(st.sampled_from(WEIGHTS))
    most: Any = data.draw(
        st.sampled_from([{"max_vertices": 9, "max_edges": 24}, {"max_vertices": 60}])
    )
    graph = data.draw(graphs(dtypes=[dtype], **most))
    right = right_slots(graph, maximum=maximum)
    claimed = set(right.tolist())
    for slot in data.draw(st.lists(st.sampled_from(graph.edge_slots.tolist() or [0]), max_size=3)):
        claimed ^= {slot}
    assume(all(slot in graph.edge_slots for slot in claimed) and len(claimed) < graph.n_vertices)
    claim = claim_of(clmst.to_device(graph, device), sorted(claimed), maximum=maximum)
    assert is_proved(claim) == (claimed == set(right.tolist()))


@pytest.mark.parametrize(("dtype", "maximum"), WEIGHTS, ids=str)
def test_exchanges_along_cycles(device: Device, dtype: np.dtype, maximum: bool) -> None:
    """Spanning forests of the right size, one edge of which is not the right one."""
    rng = np.random.default_rng(12)
    u, v = rng.integers(0, 500, (2, 2500))
    graph = Graph.from_edges(u, v, (rng.random(2500) * 99).astype(dtype), n_vertices=510)
    right = right_slots(graph, maximum=maximum)
    resident = clmst.to_device(graph, device)
    assert_right(proof_self_test.of_graph(resident, right, maximum=maximum, exchanges=25))


def assert_right(claims: Iterable[Answer]) -> None:
    """Each claim is proved if it is right, and only then."""
    assert [name for name, found, expected in claims if found != expected] == []


# A square 0-1-2-3 with a diagonal 0-2, a second edge 0-1, and a pair 4-5 apart; both directions.
SQUARE = Graph.from_edges(
    [0, 0, 1, 2, 0, 0, 4], [1, 1, 2, 3, 3, 2, 5], [5, 5, 1, 2, 4, 9, 0], n_vertices=7
).symmetrised()
RIGHT = right_slots(SQUARE)


def test_each_kind_of_fault(device: Device) -> None:
    graph = clmst.to_device(SQUARE, device)
    ends = np.column_stack((SQUARE.rows[RIGHT], SQUARE.indices[RIGHT]))
    (first, second, diagonal, side) = (int(slot) for slot in SQUARE.edge_slots[:4])
    assert side in RIGHT
    rest = RIGHT[side != RIGHT]
    assert is_proved(claim_of(graph, RIGHT))
    turned, elsewhere, far = ends.copy(), ends.copy(), ends.copy()
    turned[0] = turned[0, ::-1]
    elsewhere[0, 1] += 1
    far[0] = 2**31, 2**32 - 1
    mirrored = int(np.flatnonzero((SQUARE.rows == 1) & (SQUARE.indices == 0))[0])
    claims = {
        "turned round": claim_of(graph, RIGHT, ends=turned),
        "other ends": claim_of(graph, RIGHT, ends=elsewhere),
        "no vertices": claim_of(graph, RIGHT, ends=far),
        "a slot twice": claim_of(graph, np.insert(RIGHT, 1, RIGHT[0])),
        "out of order": claim_of(graph, RIGHT[::-1].copy()),
        "no slot": claim_of(graph, np.append(RIGHT[:-1], SQUARE.n_slots), ends=ends),
        "no slot at all": claim_of(graph, np.append(RIGHT[:-1], 2**32 - 1), ends=ends),
        "second direction": claim_of(graph, np.sort(np.append(RIGHT[1:], mirrored))),
        "an edge left out": claim_of(graph, RIGHT[:-1]),
        "nothing": claim_of(graph, RIGHT[:0]),
        "a cycle": claim_of(graph, np.sort(np.append(RIGHT, diagonal))),
        "two parallel edges": claim_of(graph, np.sort(np.append(rest, [first, second]))),
        "a heavier edge": claim_of(graph, np.sort(np.append(rest, diagonal))),
        "the maximum": claim_of(graph, RIGHT, maximum=True),
    }  # fmt: skip
    assert [name for name, claim in claims.items() if is_proved(claim)] == []


def test_no_edges_of_wide_weights(device: Device) -> None:
    """The keys of 64-bit weights come from the claim, which is empty here."""
    graph = Graph.from_edges([1, 2], [2, 1], np.array([3 << 60, 1 << 60], np.uint64))
    for layout in (graph, graph.symmetrised()):
        assert not is_proved(claim_of(clmst.to_device(layout, device), RIGHT[:0]))


@pytest.mark.parametrize("dtype", [np.int32, np.float64], ids=["32 bits", "64 bits"])
def test_ties_are_broken_by_edge(device: Device, dtype: type) -> None:
    """Of parallel edges and of a cycle, all alike, every choice but the first ones is wrong."""
    weight = 1 + np.spacing(1.0) if dtype is np.float64 else 7
    weights: Array = np.array([weight] * 5 + [1 / 3 if dtype is np.float64 else 1], dtype)
    graph = Graph.from_edges([0, 0, 0, 1, 0, 3], [1, 1, 2, 2, 3, 4], weights)
    resident = clmst.to_device(graph, device)
    u, v, _, _ = graph.edges()
    assert list(zip(u.tolist(), v.tolist(), strict=True)) == [
        (0, 1), (0, 1), (0, 2), (0, 3), (1, 2), (3, 4)
    ]  # fmt: skip
    claims = combinations(graph.edge_slots.tolist(), 4)
    assert [claim for claim in claims if is_proved(claim_of(resident, claim))] == [(0, 2, 3, 5)]


def test_weights_of_its_own_are_compared(device: Device) -> None:
    """A forest that carries weights must carry its edges' weights."""
    graph = clmst.to_device(SQUARE, device)
    claim, encoding = claim_of(graph, RIGHT), graph.encoded.encoding
    words = graph.encoded.words(RIGHT).copy()
    for change, is_right in ((0, True), (1, False)):
        words[-1] += change
        own = ForestWeights(words=DeviceArray.from_host(words, device), encoding=encoding)
        assert is_proved(replace(claim, weights=own)) == is_right


def test_matrix_with_columns_in_place(any_device: Device) -> None:
    """A matrix that a device takes as it is, loops on its diagonal, several components."""
    rng = np.random.default_rng(6)
    dense = np.triu(rng.integers(0, 9, (600, 600)) * (rng.random((600, 600)) < 0.9))
    dense[300:, :300] = dense[:300, 300:] = 0
    graph = Graph.from_scipy(sparse.csr_array(np.maximum(dense, dense.T)))
    resident = clmst.to_device(graph, any_device)
    assert_right(proof_self_test.of_graph(resident, right_slots(graph), maximum=False))


def test_encoded_weights_are_those_compared(any_device: Device) -> None:
    """64-bit weights that the device has as 32: the keys are of what it has."""
    graph = Graph.from_edges([0, 1, 0], [1, 2, 2], np.array([2**40, 2**40 + 1, 2**40 + 2]))
    resident = clmst.to_device(graph, any_device)
    assert resident.encoded.encoding.word == np.uint32
    assert is_proved(claim_of(resident, [0, 2]))
    assert not is_proved(claim_of(resident, [0, 1]))


# ----------------------------------------------------------------------- complete graphs


def complete_graphs(n: int, seed: int) -> dict[str, clmst.DenseGraph | clmst.Points]:
    """Return complete graphs of every source of weights, ties and clusters among them."""
    rng = np.random.default_rng(seed)
    square = rng.random((n, n))
    square += square.T
    plane, sphere = rng.random((n, 2)), (rng.random((n, 2)) - 0.5) * 100
    apart = plane + np.where(np.arange(n) < n // 2, 0, 60)[:, np.newaxis]
    return {
        "doubles": clmst.DenseGraph(square),
        "bytes": clmst.DenseGraph((square * 4).astype(np.int8)),
        "equal": clmst.DenseGraph(np.ones((n, n), np.float32)),
        "plane": clmst.Points(plane),
        "space": clmst.Points(rng.integers(0, 4, (n, 3))),
        "two clusters": clmst.Points(apart),
        "rounded": clmst.Points(plane * 30, "rounded-euclidean"),
        "sphere": clmst.Points(sphere, "great-circle"),
    }


NATIVE = [one for one in variants_elsewhere() if one.name in ("intel", "intel-gpu-shape", "pocl")]


@pytest.mark.parametrize("variant", NATIVE, ids=lambda variant: variant.name)
@pytest.mark.parametrize("name", sorted(complete_graphs(2, 0)))
def test_complete_graphs(name: str, variant: Variant) -> None:
    """The oracle's forest passes; with one edge exchanged for any other it does not."""
    for n, maximum in ((2, False), (90, False), (90, True)):
        graph = complete_graphs(n, seed=n)[name]
        resident = clmst.to_device(graph, variant.device)
        ends = clmst.kruskal(graph.to_graph(), maximum=maximum).edges
        assert_right(proof_self_test.of_matrix(resident, ends, maximum=maximum))
        if n == 2:  # where each of these is the forest itself
            continue
        for wrong in (ends[::-1], ends[:, ::-1], np.vstack([ends[:1], ends[:-1]]), ends + n):
            assert not is_proved(proof_self_test.claim_of(resident, wrong, maximum=maximum))


def test_pairs_found_by_climbing_and_in_one_pass(any_device: Device) -> None:
    """Of one cluster few pairs are compared by their path, of two far apart most."""
    n = 300
    for clusters in (1, 2):
        rng = np.random.default_rng(clusters)
        points = rng.random((n, 2)) + 1e4 * (np.arange(n) * clusters // n)[:, np.newaxis]
        graph = clmst.Points(points)
        resident, ends = clmst.to_device(graph, any_device), clmst.kruskal(graph.to_graph()).edges
        assert_right(proof_self_test.of_matrix(resident, ends, maximum=False, exchanges=60))


@pytest.mark.parametrize("n", [0, 1])
def test_complete_graphs_of_no_pair(n: int, any_device: Device) -> None:
    resident = clmst.to_device(clmst.DenseGraph(np.zeros((n, n))), any_device)
    assert is_proved(proof_self_test.claim_of(resident, np.zeros((0, 2)), maximum=False))


# ------------------------------------------------------------------------- the self-tests

FAMILIES = (families.PROOF, families.COMPLETE_PROOF)
# Changes of both kinds of proofs' kernels, which then let everything pass, or nothing.
PASSES = ("atomic_min_u32(state + STATE_SLOT, fault)", "(void)0")
REFUSES = ("uint fault = NO_FAULT;", "uint fault = 0;")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("answer", [True, False])
def test_what_always_says_the_same_fails(
    family: KernelFamily, answer: bool, any_device: Device, tmp_path: Path
) -> None:
    device = Device(any_device.cl_device, _trusted=True)
    with changed(tmp_path, PASSES if answer else REFUSES):
        reason = family.failure(device, family.cases[0])
    assert reason is not None
    # Edges of a complete graph's forest are counted before.
    let_pass = "without its first edge" if family is families.PROOF else "with another edge"
    first = f"a forest {let_pass}" if answer else "the forest"
    assert reason.startswith(f"the proof of {first} of ")


def test_each_wrong_claim_is_made(any_device: Device) -> None:
    """A proof that lets one kind of wrong claim pass is found by that claim."""
    known = known_graph("small").weighted(np.dtype(np.uint32), symmetric=False)
    graph, right = clmst.to_device(known, any_device), right_slots(known)
    claims = list(proof_self_test.of_graph(graph, right, maximum=False))
    wrong = ["without its first edge", "without its last edge", "with an edge twice"]
    wrong += ["with a cycle", *["with another edge"] * 3]
    assert claims == [("the forest", True, True)] + [
        (f"a forest {how}", False, False) for how in wrong
    ]
