"""Many rounds: neither host nor device has less memory afterwards, and nothing is built."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceArray, RepeatedSolver
from tests.faults.injection import inject
from tests.helpers.settings import SETTINGS
from tests.repeated.rounds import copying, random_graph, sorted_graph

# How many levels there are of pma depends on who is first to claim a vertex, so now and then a
# round takes buffers of sizes that none before it took, and the pool keeps them: 1.3 times as much
# after 3000 rounds, and twice once, on a busy machine. None of them stays in use.
_LEVELS_DIFFER = "pma"
_MORE_SIZES = 4.0


def resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * 4096


@contextmanager
def nothing_is_built(device: Device) -> Iterator[None]:
    """Check that no program is built inside."""
    with pytest.MonkeyPatch.context() as patch:
        builds = inject(patch, "build", device, anew=False)
        yield
    assert builds.count == 0


@contextmanager
def nothing_grows(device: Device, *, managed_times: float = 1.0) -> Iterator[None]:
    """Check that what happens inside leaves no memory taken, and builds no program."""
    pool = device._pool
    managed, active, before = pool.managed_bytes, pool.active_bytes, resident_bytes()
    with nothing_is_built(device):
        yield
    assert pool.active_bytes == active
    assert managed <= pool.managed_bytes <= managed_times * managed
    assert resident_bytes() - before < 4 << 20


def turns(solver: RepeatedSolver) -> tuple[Callable[[int], object], list[Any]]:
    """Return rounds by number: two solves, and an update of every seventh weight."""
    rng = np.random.default_rng(8)
    rounds = [rng.random(solver.n_edges, dtype=np.float32) for _ in range(3)]
    ids = np.arange(0, solver.n_edges, 7)

    def turn(k: int) -> object:
        if k % 3 == 2:
            return solver.update(ids, rounds[k % 2][ids])
        return solver.solve(rounds[k % 3])

    return turn, rounds


def solves(
    device: Device, make: Any = random_graph, setting: str = ""
) -> tuple[Callable[[int], object], int, int]:
    """Return rounds by number, how many let buffers be made, and how many more there are."""
    options = SETTINGS[setting] if setting else {}
    turn, _ = turns(RepeatedSolver(make(400, 3000), devices=device, **options))
    return turn, 40, 200


def changes(device: Device) -> tuple[Callable[[int], object], int, int]:
    """Return changes of few and of many weights, from the host and from the device.

    Some of them are refused.

    The weights that are changed are now and then a buffer of the caller's.
    """
    solver = RepeatedSolver(sorted_graph(1000, 5000), devices=device)
    rng = np.random.default_rng(9)
    stored = DeviceArray.from_host(rng.random(solver.n_edges, dtype=np.float32), device)
    ids = rng.integers(solver.n_edges, size=300).astype(np.uint32)
    new = rng.random(ids.size, dtype=np.float32)
    on_device = DeviceArray.from_host(ids, device), DeviceArray.from_host(new, device)
    unknown = DeviceArray.from_host(np.array([3, solver.n_edges], np.uint32), device)

    def turn(k: int) -> None:
        if k % 50 == 0:
            solver.solve(stored, keep_on_device=True)
        solver.update(ids, new)
        kept = solver.update(*on_device, keep_on_device=True)
        some = slice(k % 4, None, 100 * (k % 4) + 1)
        solver.update(ids[some], new[some])
        with pytest.raises(ValueError, match=r"edge ids are rows of solver\.edges"):
            solver.update(unknown, [1, 2])
        assert 900 < kept.n_edges < 1000

    return turn, 25, 80


def many(device: Device) -> tuple[Callable[[int], object], int, int]:
    """Return rounds of 40 solves in a row: stages go round, and uploads leave none behind."""
    solver = RepeatedSolver(random_graph(1000, 5000), devices=device)
    rounds = np.random.default_rng(10).random((3, solver.n_edges), dtype=np.float32)
    return lambda _: sum(one.n_edges for one in solver.solve_many([*rounds] * 13)), 2, 8


WHAT: dict[str, Callable[[Device], tuple[Callable[[int], object], int, int]]] = {
    "sorted": partial(solves, make=sorted_graph),
    "changes": changes,
    "many": many,
    **{setting: partial(solves, setting=setting) for setting in SETTINGS},
}


# What the standard run takes: each way to use a solver, with copies and once without, and one of
# the algorithms that a caller can ask for.
IN_STANDARD_RUN = (
    ("sorted", True), ("changes", True), ("many", True), ("sorted", False), ("ecl", True)
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("what", "copies"),
    [
        pytest.param(
            what,
            copies,
            marks=[] if (what, copies) in IN_STANDARD_RUN else pytest.mark.exhaustive,
        )
        for what, copies in (
            *product(WHAT, [True]),
            *product(("sorted", "changes", "many", "filter-boruvka-cpu"), [False]),
        )
    ],
)
def test_hundreds_of_rounds_take_no_more_memory(
    any_device: Device, what: str, copies: bool
) -> None:
    """What is made of a round's weights goes with the round, and no object is left of it."""
    device = copying(any_device)
    if not copies:
        device.capabilities = any_device.capabilities
    turn, to_warm_up, count = WHAT[what](device)
    for k in range(to_warm_up):
        turn(k)
    tracemalloc.start()
    try:
        for k in range(count // 8):
            turn(k)
        gc.collect()
        traced = tracemalloc.get_traced_memory()[0]
        grows = _MORE_SIZES if what == _LEVELS_DIFFER else 1.0
        with nothing_grows(device, managed_times=grows):
            for k in range(count):
                turn(k)
        gc.collect()
        # Every array of the graph has more bytes than that are to a round.
        assert tracemalloc.get_traced_memory()[0] - traced < 48_000
    finally:
        tracemalloc.stop()
