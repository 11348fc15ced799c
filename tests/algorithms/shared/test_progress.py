"""A device that never says that it is done, or counts wrongly, ends a solve with its state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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
from clmst.algorithms.dense import solve as dense
from clmst.algorithms.edge_parallel import solve as edge_parallel
from clmst.algorithms.filter_boruvka import cpu as filter_boruvka_cpu
from clmst.algorithms.filter_boruvka import gpu as filter_boruvka_run
from clmst.algorithms.filter_boruvka.plan import Plan
from clmst.algorithms.k_core import core_numbers as k_core
from clmst.algorithms.prim import trees as prim_trees
from clmst.algorithms.shared import progress
from clmst.algorithms.shared.contraction import Contraction
from clmst.generators import generate
from clmst.runtime.launcher import Launcher

Patch = pytest.MonkeyPatch
Lie = Callable[[Patch], None]


def graph() -> Graph:
    return generate("random", n=300, average_degree=12.0).symmetrised()


def solve(device: Device, algorithm: str, options: Any = None) -> Any:
    return clmst.minimum_spanning_forest(
        clmst.to_device(graph(), device), algorithm=algorithm, options=options
    )


# ------------------------------------------------------------------------------- the lies


def vertices_stay(patch: Patch) -> None:
    def number(run: Contraction, chosen: Any, representatives: Any) -> tuple[Any, int]:
        return representatives, chosen.size

    patch.setattr(Contraction, "number_supervertices", number)


def cpu_counts_stay(patch: Patch) -> None:
    patch.setattr(filter_boruvka_cpu.CpuRun, "_counts", lambda run, phase, depth: (run.n, 9))


def cpu_components_grow(patch: Patch) -> None:
    real = filter_boruvka_cpu.CpuRun._read_state

    def read(run: Any, done: int) -> None:
        real(run, done)
        run.state[filter_boruvka_cpu._COMPONENTS] = 2**31

    patch.setattr(filter_boruvka_cpu.CpuRun, "_read_state", read)


def cpu_links_lead_round(patch: Patch) -> None:
    """Let two vertices follow each other, neither being a root."""
    real = filter_boruvka_cpu.CpuRun._step

    def step(run: Any, name: str, groups: int, *arguments: Any) -> None:
        if name == "follow":
            run.launch.write(run.links, np.array([1, 0], np.uint32))
        real(run, name, groups, *arguments)

    patch.setattr(filter_boruvka_cpu.CpuRun, "_step", step)


def filter_vertices_stay(patch: Patch) -> None:
    real = Plan.counts

    def counts(plan: Plan, phase: int) -> Any:
        table = real(plan, phase).copy()
        table[:, 1] = plan.n_vertices
        return table

    patch.setattr(Plan, "counts", counts)


def filter_ways_stay(patch: Patch) -> None:
    real, calls = Plan.counts, [0]

    def counts(plan: Plan, phase: int) -> Any:
        table = real(plan, phase).copy()
        calls[0] += 1
        table[:, 2] = calls[0]
        return table

    patch.setattr(Plan, "counts", counts)


def ecl_edges_stay(patch: Patch) -> None:
    real = Launcher.read

    def read(launch: Launcher, buffer: Any, array: Any, **more: Any) -> None:
        real(launch, buffer, array, **more)
        if array.size <= 2:
            array[:] = 100

    patch.setattr(Launcher, "read", read)


def ecl_edges_grow(patch: Patch) -> None:
    real, calls = Launcher.read, [0]

    def read(launch: Launcher, buffer: Any, array: Any, **more: Any) -> None:
        real(launch, buffer, array, **more)
        if array.size == 2:
            calls[0] += 1
            array[:] = 10 + calls[0], 11 + calls[0]

    patch.setattr(Launcher, "read", read)


def dense_counts_stay(patch: Patch) -> None:
    real = dense._DenseRun._read

    def read(run: Any) -> None:
        real(run)  # waits: memory of commands that are under way must stay
        run.counts.fill(1)

    patch.setattr(dense._DenseRun, "_read", read)


def dense_links_too_many(patch: Patch) -> None:
    def jump(run: Any, parents: Any, pending: int) -> None:
        run.counts.fill(400)

    patch.setattr(dense._DenseRun, "_jump_on", jump)


def merged_again(patch: Patch) -> None:
    real = edge_parallel.EdgeParallelRun.read_merged
    patch.setattr(
        edge_parallel.EdgeParallelRun, "read_merged", lambda run, number: real(run, number) * 0 + 1
    )


def unfinished(patch: Patch) -> None:
    patch.setattr(prim_trees, "STEPS_A_LAUNCH", 64)
    real = Launcher.read_word
    patch.setattr(Launcher, "read_word", lambda launch, memory: real(launch, memory) | 2**31)


SEPARATE = FilterBoruvkaOptions(launches="separate")
CPU_SHAPE = FilterBoruvkaOptions(shape="cpu")
TOPOLOGY = EclOptions(data_driven=False)
SMALL_TREES = PmaOptions(gamma=2)
ONE_TREE = PrimOptions(queue="heap", components="together")

LIES: dict[str, tuple[str, Any, Lie, str]] = {
    "boruvka": ("boruvka", None, vertices_stay, r"round 1, .*vertices before 300, .*half of the"),
    "pma": ("pma", SMALL_TREES, vertices_stay, r"round 1, .*vertices before 300"),
    "prim-boruvka": ("prim-boruvka", None, vertices_stay, r"round 1, .*vertices before 300"),
    "filter, CPU": ("filter-boruvka", CPU_SHAPE, cpu_counts_stay, r"round 1, .*vertices 300"),
    "filter, CPU, components": (
        "filter-boruvka",
        CPU_SHAPE,
        cpu_components_grow,
        r"components 2147483648; a ph",
    ),
    "filter, CPU, links": (
        "filter-boruvka",
        CPU_SHAPE,
        cpu_links_lead_round,
        r"round 1, .*close no cycle",
    ),
    "filter": ("filter-boruvka", SEPARATE, filter_vertices_stay, r"round 2, .*vertices 300"),
    "filter ways": ("filter-boruvka", SEPARATE, filter_ways_stay, r"pending 3\d; each time ways"),
    "ecl": ("ecl", None, ecl_edges_stay, r"edges 100, vertices 300; a filter pass has \d+ rounds"),
    "ecl topology": (
        "ecl",
        TOPOLOGY,
        ecl_edges_stay,
        r"vertices 300; a filter pass has \d+ rounds",
    ),
    "ecl growing": ("ecl", None, ecl_edges_grow, r"edges 11, edges left 12; a worklist holds"),
    "dense": ("dense", None, dense_counts_stay, r"round 1, pending 1; jumps at least double"),
    "dense links": ("dense", None, dense_links_too_many, r"hooked 400, vertices 300; a forest has"),
    "edge-parallel": (
        "edge-parallel",
        None,
        merged_again,
        r"round 33, vertices 300, merged 33; ev",
    ),
    "prim": ("prim", ONE_TREE, unfinished, r"launches \d+, patches 1, vertices 300, .*64 a launch"),
}


@pytest.mark.parametrize("name", LIES)
def test_device_that_lies(any_device: Device, name: str, monkeypatch: Patch) -> None:
    """The error names algorithm, device, round and counts; the next solve is right."""
    algorithm, options, lie, state = LIES[name]
    solve(any_device, algorithm, options)
    with monkeypatch.context() as patch:
        lie(patch)
        with pytest.raises(DeviceError, match=state) as caught:
            solve(any_device, algorithm, options)
    text = str(caught.value)
    assert text.startswith(f"{algorithm} came to no end on {any_device.description}: it stood at")
    forest = solve(any_device, algorithm, options)
    np.testing.assert_array_equal(forest.edge_ids, clmst.kruskal(graph()).edge_ids)


@pytest.mark.parametrize("left", [[40], [9, 8, 8, 20]], ids=["stays", "grows"])
def test_core_numbers(any_device: Device, monkeypatch: Patch, left: list[int]) -> None:
    """Vertices that are never peeled, and some that come back."""
    clmst.core_numbers(clmst.to_device(graph(), any_device))
    answers = iter(left + left[-1:] * 1000)
    real = k_core._Peeling.read_remaining
    monkeypatch.setattr(
        k_core._Peeling, "read_remaining", lambda peeling, k: real(peeling, k) * 0 + next(answers)
    )
    rule = rf"core numbers came .*remaining {left[-1]}; every second"
    with pytest.raises(DeviceError, match=rule):
        clmst.core_numbers(clmst.to_device(graph(), any_device))


def test_bounds() -> None:
    """Of 2**32 vertices halved 32 times one is left; the round after that finds none."""
    assert progress.MOST_ROUNDS == 33
    device = clmst.get_device()
    for done in range(33):
        progress.check_rounds("x", device, done)
    with pytest.raises(DeviceError, match="round 33; every round"):
        progress.check_rounds("x", device, 33)
    progress.check_halved("x", device, 1, vertices=(7, 3), edges=(5, 5))
    for vertices, edges in (((7, 4), (5, 5)), ((7, 3), (5, 6))):
        with pytest.raises(DeviceError, match="no more edges than there were"):
            progress.check_halved("x", device, 1, vertices=vertices, edges=edges)


def test_ways_of_filter_boruvka_are_bounded() -> None:
    """The bound is for ways of 2**30 vertices followed two at a time."""
    assert filter_boruvka_run.MOST_FOLLOWINGS >= 32
