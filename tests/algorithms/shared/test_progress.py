"""A device that never says that it is done, or counts wrongly, ends a solve with its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst import (
    Device,
    DeviceError,
    EclOptions,
    FilterBoruvkaOptions,
    Graph,
    PmaOptions,
    PrimOptions,
)
from clmst.algorithms.filter_boruvka import gpu, workspace
from clmst.algorithms.shared import progress
from clmst.core.weight_keys import Array
from clmst.generators import generate
from tests.faults.injection import inject, lying
from tests.helpers.bounds import bounds
from tests.repeated.device_sets import every_device_set

# Changes what the host reads back; gets the number of the read, from 1 on.
Lie = Callable[[Array, int], None]

# Where the counts of filter-boruvka's first phase are among what the host reads.
CPU_COUNTS = 2  # state[]: overflow, components of the one window
GPU_COUNTS = workspace._COUNTS


def graph() -> Graph:
    return generate("random", n=300, average_degree=12.0).symmetrised()


def solve(device: Device, algorithm: str, options: Any = None) -> Any:
    resident = clmst.to_device(graph(), device)
    if algorithm == "core numbers":
        return clmst.core_numbers(resident)
    return clmst.minimum_spanning_forest(resident, algorithm=algorithm, options=options)


# ------------------------------------------------------------------------------- the lies


def set_words(value: int, words: slice = slice(None), *, largest: int = 1 << 30) -> Lie:
    """Return the lie that words of arrays up to a size have a value."""

    def lie(out: Array, _: int) -> None:
        if out.size <= largest:
            out[words] = value

    return lie


def vertices_stay(out: Array, number: int) -> None:
    """Report as many supervertices as there were vertices, but leave numbers of edges unchanged."""
    if out.size == 1 and 0 < out[0] < 300:
        out[0] = 300


def edges_grow(out: Array, number: int) -> None:
    if out.size == 2:
        out[:] = 10 + number, 11 + number


def paths_stay(out: Array, number: int) -> None:
    if out.size > 2:
        out[GPU_COUNTS + 2 :: 3] = number


def too_many_hooked(out: Array, number: int) -> None:
    """Tell of 400 components that were hooked to others, and of no pointers left to follow."""
    if out.size > 2:
        out[1::2], out[2::2] = 400, 0


def too_many_edges(out: Array, number: int) -> None:
    """Tell of 400 edges of the forest, which is counted last, in a read of its own or a head."""
    if out.size == 1 or out[0] == 299:
        out[0] = 400


def remaining(*left: int) -> Lie:
    """Return a false number of vertices that remain to be peeled. The last number stays true."""
    return lambda out, number: out.fill(left[min(number, len(left)) - 1])


def links_lead_round(patch: pytest.MonkeyPatch) -> None:
    """Let two vertices follow each other, neither being a root."""

    def change_links(kernel: Any, queue: Any, *given: Any) -> bool:
        if getattr(kernel, "function_name", "") == "filter_boruvka_cpu_follow":
            cl.enqueue_copy(queue, given[2], np.array([1, 0], np.uint32))
        return False

    inject(patch, "kernel").let_fail(change_links)


SEPARATE = FilterBoruvkaOptions(launches="separate")
CPU = FilterBoruvkaOptions(shape="cpu", targets=())
TWO_WINDOWS = FilterBoruvkaOptions(shape="cpu", targets=(1.0,))
TOPOLOGY = EclOptions(data_driven=False)
SMALL_TREES = PmaOptions(gamma=2)
ONE_TREE = PrimOptions(queue="heap", components="together")
HALF = r"round 1, .*vertices before 300, .*half of the"
EDGES_STAY = set_words(100, largest=2)

LIES: list[tuple[str, Any, Lie | None, str]] = [
    ("boruvka", None, vertices_stay, HALF),
    ("pma", SMALL_TREES, vertices_stay, HALF),
    ("prim-boruvka", None, vertices_stay, HALF),
    ("filter-boruvka", CPU, set_words(300, slice(CPU_COUNTS, None, 2)), HALF),
    ("filter-boruvka", TWO_WINDOWS, set_words(2**31, slice(1, 2)), r"components 2147483648; a ph"),
    ("filter-boruvka", CPU, None, r"round 1, .*close no cycle"),
    ("filter-boruvka", SEPARATE, set_words(300, slice(GPU_COUNTS + 1, None, 3)), r"vertices 300"),
    ("filter-boruvka", SEPARATE, paths_stay, r"pending \d+; each time paths"),
    ("ecl", None, EDGES_STAY, r"edges 100, vertices 300; a filter pass has \d+ rounds"),
    ("ecl", TOPOLOGY, EDGES_STAY, r"vertices 300; a filter pass has \d+ rounds"),
    ("ecl", None, edges_grow, r"edges \d+, edges left \d+; a worklist holds"),
    ("dense", None, set_words(1), r"round 1, pending 1; jumps at least double"),
    ("dense", None, too_many_hooked, r"hooked 400, vertices 300; a forest has"),
    ("edge-parallel", None, set_words(1, slice(1, None)), r"round 33, vertices 300, merged 33; ev"),
    ("prim", ONE_TREE, set_words(2**31, largest=1), r"launches \d+, patches 1, .*64 a launch"),
    ("core numbers", None, remaining(40), r"remaining 40; every second"),
    ("core numbers", None, remaining(9, 8, 8, 20), r"remaining 20; every second"),
]  # fmt: skip


@pytest.mark.parametrize("case", LIES, ids=lambda case: f"{case[0]}: {case[3]}")
def test_device_that_lies(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, case: tuple[str, Any, Lie | None, str]
) -> None:
    """The error names algorithm, device, round and counts; the next solve is right."""
    algorithm, options, lie, state = case
    solve(any_device, algorithm, options)
    with monkeypatch.context() as patch, bounds(prim_steps=64):
        if lie is None:
            links_lead_round(patch)
        else:
            lying(patch, lie)
        with pytest.raises(DeviceError, match=state) as caught:
            solve(any_device, algorithm, options)
    text = str(caught.value)
    assert text.startswith(f"{algorithm} came to no end on {any_device.description}: it stood at")
    found = solve(any_device, algorithm, options)
    if algorithm != "core numbers":
        np.testing.assert_array_equal(found.edge_ids, clmst.kruskal(graph()).edge_ids)


@every_device_set("two", "copying")
def test_number_of_edges_is_checked_wherever_it_is_read(
    devices: list[Device], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is read with the edges if arrays are copied, and alone for a part of several devices."""
    for where in ({"device": devices[0]}, {"devices": devices}):
        right = clmst.minimum_spanning_forest(graph(), algorithm="edge-parallel", **where)
        assert right == clmst.kruskal(graph())
        with monkeypatch.context() as patch:
            lying(patch, too_many_edges)
            with pytest.raises(DeviceError, match=r"has counted 400 of at most 299; the device"):
                clmst.minimum_spanning_forest(graph(), algorithm="edge-parallel", **where)


def weighed_again(device: Device) -> Any:
    """Return the forest of weights that begin where the last ones lay, and move a little."""
    # By steps: a round in one launch reads no count that sizes another launch.
    solver = clmst.RepeatedSolver(graph(), device=device, algorithm="filter-boruvka")
    weights = np.arange(1.0, len(solver.edges) + 1)
    solver.solve(weights)
    for _ in range(3):
        found = solver.solve(weights := weights * 1.0001)
    return found


COUNTING: dict[str, Callable[[Device], Any]] = {
    "boruvka": lambda device: solve(device, "boruvka"),
    "prim": lambda device: solve(device, "prim", PrimOptions(components="apart")),
    "weights that move": weighed_again,
}


@pytest.mark.parametrize("call", COUNTING)
def test_counts_that_size_a_launch_have_bounds(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """A count beyond its array ends the call before a kernel goes through so many things."""

    def far_more(out: Array, _: int) -> None:
        if out.size == 1 and out.dtype == np.uint32 and out[0] > 2:
            out[0] = 1 << 30

    COUNTING[call](any_device)
    with monkeypatch.context() as patch:
        lying(patch, far_more)
        with pytest.raises(DeviceError, match="has counted 1073741824 of at most"):
            COUNTING[call](any_device)


def test_bounds() -> None:
    """Of 2**32 vertices halved 32 times one is left; the round after that finds none."""
    assert progress.MOST_ROUNDS == 33
    assert gpu.MOST_FOLLOWINGS >= 32  # paths of 2**30 vertices, followed two at a time
    device = clmst.get_device()
    for done in range(33):
        progress.check_rounds("x", device, done)
    with pytest.raises(DeviceError, match="round 33; every round"):
        progress.check_rounds("x", device, 33)
    progress.check_halved("x", device, 1, vertices=(7, 3), edges=(5, 5))
    for vertices, edges in (((7, 4), (5, 5)), ((7, 3), (5, 6))):
        with pytest.raises(DeviceError, match="no more edges than there were"):
            progress.check_halved("x", device, 1, vertices=vertices, edges=edges)
