"""Rounds whose weights hardly move: settled edges, what strays, and when it is not worth while."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clmst import Device, DeviceArray, InvalidGraphError, RepeatedSolver
from clmst.algorithms.reweighting.sensitivity import ReferenceWeights
from clmst.core.graph import Graph
from clmst.repeated.families import WARM_START
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Case
from clmst.runtime.launcher import Launcher
from tests.helpers.bounds import bounds
from tests.helpers.launched import launches
from tests.repeated.rounds import check, every_device, random_graph, sorted_graph

Array = Any

on_every_device = pytest.mark.parametrize("variant", every_device())
DTYPES = ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]


@pytest.fixture
def eager() -> Iterator[None]:
    """Let small graphs be settled as large ones are, however much is left."""
    with bounds(warm_from=1, warm_most_left=100):
        yield


def near(weights: Array, rng: np.random.Generator, share: float = 0.05) -> Array:
    """Return weights that differ from others by a share of them at most, in their dtype."""
    moved = weights.astype(np.float64) * (1 + rng.uniform(-share, share, weights.size))
    return moved.astype(weights.dtype)


def spread(dtype: str, size: int, rng: np.random.Generator) -> Array:
    """Return weights of both signs, where there are two, of many magnitudes."""
    kind = np.dtype(dtype)
    if kind.kind == "f":
        values = np.exp2(rng.uniform(-8, 8, size)) * rng.choice([-1, 1], size)
    else:
        values = np.exp2(rng.uniform(4, 8 * kind.itemsize - 2, size))
        values *= rng.choice([-1, 1], size) if kind.kind == "i" else 1
    return values.astype(kind)


def is_warm(forest: Any) -> bool:
    return "warm_start" in forest.stats


# ------------------------------------------------------------------------- the same forests


def check_near_rounds(solver: RepeatedSolver, dtype: str) -> None:
    """Solve some rounds near one another; the first two cannot be warm."""
    rng = np.random.default_rng(1)
    weights = spread(dtype, solver.n_edges, rng)
    served = [is_warm(check(solver, near(weights, rng, 0.02))) for _ in range(5)]
    assert not any(served[:2])
    assert dtype[1] == "1" or any(served[2:])  # bytes move by steps of octaves


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("maximum", [False, True])
def test_every_dtype(any_device: Device, dtype: str, maximum: bool) -> None:
    check_near_rounds(RepeatedSolver(random_graph(), devices=any_device, maximum=maximum), dtype)


@pytest.mark.usefixtures("eager")
@on_every_device
@pytest.mark.parametrize(("dtype", "maximum"), [("f4", False), ("i8", True)])
def test_every_device(variant: Device, dtype: str, maximum: bool) -> None:
    check_near_rounds(RepeatedSolver(random_graph(), devices=variant, maximum=maximum), dtype)


@pytest.mark.usefixtures("eager")
@on_every_device
def test_on_the_device_by_update_and_many(variant: Device) -> None:
    rng = np.random.default_rng(2)
    solver = RepeatedSolver(sorted_graph(), devices=variant)
    weights = rng.random(solver.n_edges, np.float32) + 1
    for _ in range(3):
        given = near(weights, rng)
        check(solver, given, solver.solve(DeviceArray.from_host(given, variant)))
    few = rng.choice(solver.n_edges, 40, replace=False)
    given[few] = near(weights[few], rng)
    changed = check(solver, given, solver.update(few, given[few]))
    assert is_warm(changed) or changed.stats["changes"] <= 40
    rounds = [near(weights, rng) for _ in range(4)]
    for given, forest in zip(rounds, solver.solve_many(rounds), strict=True):
        assert is_warm(check(solver, given, forest))


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.tuples(st.integers(1, 60), st.integers(0, 400)),
    dtype=st.sampled_from(["i4", "f4", "f8"]),
    share=st.sampled_from([0.0, 0.01, 0.2]),
)
def test_any_graph_any_moves(seed: int, size: tuple[int, int], dtype: str, share: float) -> None:
    """A round's forest is right for its weights, whatever a warm start has settled."""
    with bounds(warm_from=1, warm_most_left=100):
        rng = np.random.default_rng(seed)
        n, m = size
        u, v = rng.integers(0, n, (2, m))
        graph = Graph.from_edges(u, v, n_vertices=n)
        solver = RepeatedSolver(graph)
        weights = spread(dtype, m, rng)
        for _ in range(5):
            check(solver, near(weights, rng, share))
            if rng.random() < 0.3 and m:  # some edges go anywhere
                far = rng.integers(0, m, 3)
                weights[far] = spread(dtype, 3, rng)


# ------------------------------------------------------------------------------- strays


def settled(device: Device, **options: Any) -> tuple[RepeatedSolver, Array, Any]:
    """Return a solver that has settled edges, weights that it solves by them, and their forest."""
    rng = np.random.default_rng(3)
    solver = RepeatedSolver(random_graph(), devices=device, **options)
    weights = np.exp2(rng.uniform(0, 8, solver.n_edges)).astype(np.float32)
    for _ in range(3):
        forest = check(solver, near(weights, rng))
    assert is_warm(forest)
    return solver, weights, check(solver, weights)


@pytest.mark.usefixtures("eager")
@on_every_device
def test_moves_that_cannot_matter(variant: Device) -> None:
    """What is far too heavy may become heavier, and what is far too light may become lighter."""
    solver, weights, forest = settled(variant)
    given = weights.copy()
    given[np.argsort(-weights)[:50]] = np.inf
    given[forest.edge_ids[np.argsort(forest.weights)[:20]]] = 0
    served = check(solver, given)
    assert is_warm(served) or served.stats["changes"] == 0


@pytest.mark.usefixtures("eager")
@on_every_device
@pytest.mark.parametrize("weight", [0.0, np.inf])
def test_strays(variant: Device, weight: float) -> None:
    """One weight that goes where it matters: solved anew, and later rounds by the old ones."""
    solver, weights, forest = settled(variant)
    chosen = np.isin(np.arange(solver.n_edges), forest.edge_ids) == (weight > 0)
    alone = np.flatnonzero(chosen & (solver.edges[:, 0] >= 0))
    given = weights.copy()
    given[alone[len(alone) // 2]] = weight
    assert not is_warm(check(solver, given))
    check(solver, weights)


@pytest.mark.usefixtures("eager")
@on_every_device
def test_nan_among_settled(variant: Device) -> None:
    solver, weights, _ = settled(variant)
    given = weights.copy()
    given[77] = np.nan
    with pytest.raises(InvalidGraphError, match="edge 77 is NaN"):
        solver.solve(DeviceArray.from_host(given, variant))
    for _ in range(4):
        check(solver, weights)


@pytest.mark.usefixtures("eager")
def test_another_dtype_forgets(any_device: Device) -> None:
    solver, weights, _ = settled(any_device)
    assert not is_warm(check(solver, weights.astype(np.int32)))
    assert not is_warm(check(solver, weights))


LOWERED: dict[str, dict[str, float]] = {
    "small": {},
    "switched off": {"warm_from": 1, "warm_most_left": 100},
    "all weights nearly alike": {"warm_from": 1},
}


@pytest.mark.parametrize("reason", LOWERED)
def test_not_warm(any_device: Device, reason: str) -> None:
    """Where weights are nearly alike, any edge may come to be in the forest."""
    rng, is_on = np.random.default_rng(6), reason != "switched off"
    solver = RepeatedSolver(random_graph(), devices=any_device, warm_start=is_on)
    weights, share = rng.random(solver.n_edges), 0.1 if reason.startswith("all") else 0.0
    for _ in range(6):
        moved = 1 + share * rng.random(solver.n_edges) if share else weights
        with bounds(**LOWERED[reason]):
            assert not is_warm(check(solver, moved))


# ----------------------------------------------------------------------- when it is worth while


@pytest.mark.usefixtures("eager")
def test_looks_seldom_where_weights_are_new(any_device: Device) -> None:
    rng = np.random.default_rng(5)
    solver = RepeatedSolver(random_graph(), devices=any_device)
    with launches() as launched:
        for _ in range(70):
            assert not is_warm(solver.solve(rng.random(solver.n_edges, np.float32)))
    looks = [kernel for kernel in launched if kernel.endswith(": sensitivity_find_farthest")]
    assert 4 <= len(looks) <= 7  # after pauses of 1, 2, 4, 8, 16, ... rounds
    weights = rng.random(solver.n_edges, np.float32) + 1
    near = (weights, weights * np.float32(1.0001))  # so that all weights change in each round
    assert any(is_warm(check(solver, near[k % 2])) for k in range(140))  # and finds out again


@pytest.mark.usefixtures("eager")
def test_wider_if_it_did_not_last(any_device: Device) -> None:
    """Weights that go on moving: settled for wider and wider moves, as long as they are small."""
    rng = np.random.default_rng(7)
    solver = RepeatedSolver(sorted_graph(400, 4000), devices=any_device)
    weights = np.exp2(rng.uniform(0, 12, solver.n_edges)).astype(np.float32)
    served = [is_warm(check(solver, weights * np.float32(1 + 0.01 * k))) for k in range(24)]
    assert 8 <= sum(served) < 22


# ------------------------------------------------------------------------------- the scale


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("maximum", [False, True])
def test_positions_rise_with_keys(any_device: Device, dtype: str, maximum: bool) -> None:
    """An order of weights is never turned round, and a double is an octave away."""
    kind = np.dtype(dtype)
    rng = np.random.default_rng(8)
    bits = rng.integers(0, 256, (4000, kind.itemsize), np.uint8)
    weights = bits.reshape(-1).view(kind)
    weights = np.concatenate([weights, spread(dtype, 500, rng), np.zeros(1, kind)])
    weights = np.sort(weights[~np.isnan(weights)] if kind.kind == "f" else weights)
    m = weights.size
    ends = np.arange(m, dtype=np.uint32)
    graph = DeviceGraph.upload(Graph.from_edges(ends, ends + 1, weights), any_device)
    forest = DeviceArray.from_host(np.zeros(m, np.uint8), any_device)
    launch = Launcher(any_device, any_device.queue)
    memory = DeviceArray.empty(m, np.uint32, any_device)
    noted = ReferenceWeights(graph, forest, launch, maximum=maximum, records=memory)
    places = (memory.to_host() >> 2).astype(np.int64)
    if graph.encoded.encoding.word.itemsize == kind.itemsize:
        steps = np.diff(places if not maximum else places[::-1])
        assert (steps >= 0).all()
        assert places.max() < 1 << 30
    if kind.kind == "f":
        exact = (np.abs(weights) >= 1) & (np.abs(weights) < 100)
        doubles = np.searchsorted(weights, 2 * weights[exact])
        found = (doubles < m) & (weights[np.minimum(doubles, m - 1)] == 2 * weights[exact])
        octaves = places[doubles[found]] - places[exact][found]
        assert (np.abs(octaves) == noted.octave).all()


# ------------------------------------------------------------------------ the self-tests


# Kernels that end a solve, and the one that looks whether weights stray.
_STEPS = {"sensitivity_verify", "forest_gather_weights", "forest_pack"}


@pytest.mark.parametrize("case", [Case(), Case(64, "float", maximum=True)], ids=str)
@bounds(warm_from=1 << 30)
def test_warm_starts_are_reached(any_device: Device, case: Case) -> None:
    """A round begins with what is settled, and in the last of all weights stray.

    Also where only larger graphs have warm starts, as where a solve is one launch.
    """
    trusted = Device(any_device.cl_device, _trusted=True)
    with launches() as launched:
        assert WARM_START.failure(trusted, case) is None
    names = (kernel.rpartition(": ")[2] for kernel in launched)
    steps = [name.partition("_")[0] for name in names if name in _STEPS]
    assert steps == ["forest"] * 2 + ["sensitivity", "forest"] * 2 + ["forest"]
