"""One solve by several GPUs.

    python -m benchmarks several_gpus --device nvidia:0 --device nvidia:1 [--degree 64]
        [--edges 1e9] [--host-edges 2.5e8] [--one-context]

Graphs are random, made by the devices (``several_graphs.cl``): every vertex has about DEGREE
neighbours, each edge is stored once. *Resident*: the first device has the whole graph, and every
device has its part of it; the time is that from graphs on devices to endpoints and weights on the
first device. It also solves the same graph with both directions of edges stored, where that fits
its memory: ratios are to the better time of one device. *From the host*: a smaller graph in the
host's memory, pinned or not; the time is that to a `Forest`. Contestants take turns. Before that
their forests are compared edge by edge, and of a small graph of the same kind with Kruskal's
algorithm on the host. Steps are taken from the last solve; the rest of the time is for uploads, for
waiting, and for the way to the host.

`--one-context` opens all devices in one OpenCL context.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.several_graphs import Recipe, mirrored
from clmst.algorithms.parts.union import PartForest
from clmst.bench.harness import WrongResultError
from clmst.bench.tables import digits
from clmst.core.weight_keys import Array
from clmst.runtime.launcher import Launcher
from clmst.scale.parts import Division
from clmst.scale.several import SolveOfParts

_SMALL = 1 << 18  # edges of the graph that the host solves, too
ONE, BOTH, SEVERAL = "one", "one, both ways", "several"


def row_of(run: Run, scope: str, recipe: Recipe, times: Row, stats: Any) -> Row:
    """Return the row of a graph: times, and the steps of the last solve by several devices."""
    solves, moves = [*stats["solves"]], [*stats["moves"]]
    n_parts = len(solves) - len(moves)  # a union for each move
    ordered = sorted(solves, key=lambda one: (one["began_ms"], one["number"]))
    parts = sorted(ordered[:n_parts], key=lambda one: one["number"])
    moved = sum(one["ms"] for one in moves)
    rate = sum(one["n_bytes"] for one in moves) / max(moved, 1e-9) / 1e6
    one = min(run.of(times[name]) for name in (ONE, BOTH) if times.get(name))
    return {
        "scope": scope, "degree": recipe.degree, "vertices": recipe.n_vertices,
        "edges": recipe.n_edges, **times, "ratio": one / run.of(times[SEVERAL]),
        "parts, began+ms": " / ".join(f"{digits(s['began_ms'])}+{digits(s['ms'])}" for s in parts),
        "move ms": f"{digits(moved)} ({rate:.1f} GB/s)",
        "merge ms": " / ".join(digits(one["ms"]) for one in ordered[n_parts:]),
        "end": digits(max(one["began_ms"] + one["ms"] for one in ordered)),
        "_solves": solves, "_moves": moves,
    }  # fmt: skip


def check_small(devices: Sequence[clmst.Device], degree: int) -> None:
    """Raise unless several devices find the forest that the host finds."""
    recipe = Recipe.of(min(degree, 256), _SMALL)
    whole = recipe.made_on(devices[0], 0, recipe.n_vertices).graph
    right = clmst.kruskal(clmst.Graph.from_csr(whole.indptr, whole.indices, whole.weights)).edge_ids
    found = clmst.minimum_spanning_forest(recipe.parts_on(devices)).edge_ids
    if not np.array_equal(found, right):
        raise WrongResultError("several devices have other edges of a small graph than the host")


def solve_of(division: Division) -> SolveOfParts:
    """Return a solve as the public call makes it."""
    return SolveOfParts(division, algorithm="auto", options=None, maximum=False)


class OneDevice:
    """Solves of a graph by the device that it is on; the last forest is kept."""

    def __init__(self, graph: clmst.DeviceGraph) -> None:
        self.graph = graph
        self.forests: list[Any] = []

    def __call__(self) -> None:
        """Solve."""
        self.forests.clear()  # so that the next forest takes the memory of this one
        self.forests.append(clmst.minimum_spanning_forest(self.graph, keep_on_device=True))
        self.graph.device.queue.finish()


class SeveralDevices:
    """Solves of the parts of a graph, each on its device; the last solve is kept."""

    def __init__(self, parts: clmst.DeviceParts, first: clmst.Device) -> None:
        self.parts, self.first = parts, first
        self._root: list[PartForest] = []
        self.last: SolveOfParts = solve_of(Division.of(parts))

    def __call__(self) -> None:
        """Solve."""
        self._root.clear()
        self.last = solve_of(Division.of(self.parts))
        self._root.append(self.last.run())
        self.last.on_device(self._root[0], Launcher(self.first, self.first.queue))
        self.first.queue.finish()

    def edge_ids(self) -> Any:
        """Return the edges of the last forest."""
        return self.last.to_host(self._root[0]).edge_ids


def resident(run: Run, recipe: Recipe) -> Row:
    """Return the row of a graph that is on the devices."""
    whole = recipe.made_on(run.device, 0, recipe.n_vertices)
    one, several = OneDevice(whole), SeveralDevices(recipe.parts_on(run.devices), run.device)
    both = both_directions(run, one)
    one()
    several()
    if not np.array_equal(one.forests[0].slots_array().to_host(), several.edge_ids()):
        raise WrongResultError("several devices have other edges than one")
    times = run.turns({ONE: one, SEVERAL: several})
    alone = [
        run.of(run.turns({"part": partial(_run, part)})["part"]) for part in several.parts.parts
    ]
    row = row_of(run, "resident", recipe, {ONE: times[ONE], **both, SEVERAL: times[SEVERAL]},
                 several.last.stats())  # fmt: skip
    return row | {"parts alone": " / ".join(map(digits, alone))}


def _run(part: Any) -> None:
    solve_of(Division.of(clmst.DeviceParts(parts=(part,), first_rows=(0,)))).run()


def both_directions(run: Run, one: OneDevice) -> dict[str, list[float]]:
    """Return the times of one device that stores both directions.

    The list is empty if the graph does not fit.
    """
    try:
        both = OneDevice(mirrored(one.graph))
        times = run.turns({BOTH: both})
    except (clmst.OutOfDeviceMemoryError, clmst.InvalidGraphError) as error:
        click.echo(f"both directions are left out: {error}")
        return {}
    one()
    ends = [solve.forests.pop().edges_array().to_host() for solve in (one, both)]
    if not np.array_equal(*ends):
        raise WrongResultError("both directions stored give other edges")
    run.device.release_memory()
    return times


def graph_on_host(recipe: Recipe, device: clmst.Device) -> clmst.Graph:
    """Return a graph of the host that the device has made."""
    made = recipe.made_on(device, 0, recipe.n_vertices).graph
    return clmst.Graph.unchecked(
        indptr=made.indptr, indices=made.indices, weights=made.weights, is_symmetric=False,
        edge_ids=None, n_input=made.n_slots,
    )  # fmt: skip


def pinned_bytes(device: clmst.Device, n_bytes: int) -> Array:
    """Return an array of bytes in memory that the device's driver has pinned."""
    import pyopencl as cl

    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
    buffer = cl.Buffer(device.context, flags, n_bytes)
    access = cl.map_flags.READ | cl.map_flags.WRITE
    enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
    array: Array = enqueue_map(device.queue, buffer, access, 0, (n_bytes,), np.uint8)[0]
    return array


def pinned(graph: clmst.Graph, device: clmst.Device) -> clmst.Graph:
    """Return a graph whose columns and weights are in pinned memory."""

    def copied(array: Array) -> Array:
        mapped = pinned_bytes(device, array.nbytes).view(array.dtype)
        mapped[:] = array
        return mapped

    return graph.replace_unchecked(indices=copied(graph.indices), weights=copied(graph.weights))


def from_host(run: Run, graph: clmst.Graph, recipe: Recipe, scope: str) -> Row:
    """Return the row of a graph in the host's memory."""
    right = clmst.minimum_spanning_forest(graph, device=run.device)

    def difference(forest: clmst.Forest) -> str:
        return "" if forest == right else "several devices have other edges than one"

    solve = partial(clmst.minimum_spanning_forest, graph)
    ways = {ONE: partial(solve, device=run.device), SEVERAL: partial(solve, devices=[*run.devices])}
    times = run.turns(ways, difference)
    return row_of(run, scope, recipe, times, solve(devices=[*run.devices]).stats)


def together(devices: Sequence[clmst.Device]) -> list[clmst.Device]:
    """Return devices opened in one context."""
    import pyopencl as cl

    context = cl.Context([device.cl_device for device in devices])
    return [clmst.get_device(cl.CommandQueue(context, device.cl_device)) for device in devices]


@case(
    click.option("--degree", "degrees", type=int, multiple=True, default=(64, 256, 1024)),
    click.option("--edges", "n_edges", type=float, default=1e9, show_default=True),
    click.option("--host-edges", type=float, default=2.5e8, show_default=True, help="0: none."),
    click.option("--one-context", is_flag=True, help="Open one context for all."),
    repetitions=5,
    devices=(2, 64),
)
def main(
    run: Run, *, degrees: tuple[int, ...], n_edges: float, host_edges: float,
    one_context: bool,
) -> Rows:  # fmt: skip
    """Compare one device with several, resident and from the host."""
    if one_context:
        run = replace(run, devices=together(run.devices))
    for degree in degrees:
        recipe = Recipe.of(degree, int(n_edges))
        check_small(run.devices, degree)
        yield resident(run, recipe)
        for device in run.devices:
            device.release_memory()
        if host_edges:
            recipe = Recipe.of(degree, int(host_edges))
            graph = graph_on_host(recipe, run.device)
            yield from_host(run, graph, recipe, "from the host")
            yield from_host(run, pinned(graph, run.device), recipe, "pinned")
