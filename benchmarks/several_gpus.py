"""One solve by several GPUs: ``python -m benchmarks.several_gpus``.

    python -m benchmarks.several_gpus --device nvidia:0 --device nvidia:1 [--degree 64]
        [--edges 1e9] [--host-edges 2.5e8] [--one-context] [--repetitions 5] [--json FILE]

Graphs are random, made by the devices (``several_graphs.cl``): every vertex has about DEGREE
neighbours, each edge is stored once. *Resident*: the first device has the whole graph, and every
device has its part of it; the time is that from graphs on devices to endpoints and weights on the
first device. It also solves the same graph with both directions of edges stored, where that fits
its memory: ratios are to the better time of one device. *From the host*: a smaller graph in the
host's memory; the time is that to a `Forest`, with uploads in turns, and at once with blocks of two
sizes. Contestants take turns. Before that their forests are compared edge by edge, and of a
small graph of the same kind with Kruskal's algorithm on the host. Steps are those of the last
solve; the rest of the time is for uploads, for waiting, and for the way to the host.

`--one-context` opens all devices in one OpenCL context.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment, json_option
from benchmarks.several_graphs import Recipe, mirrored
from clmst.bench.harness import Contestant, Harness, WrongResultError, seconds_of
from clmst.bench.record import recorded
from clmst.bench.tables import Table, digits
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Staging, StagingShape
from clmst.scale.parts import Division, divided
from clmst.scale.several import Branch, SolveOfParts

_SMALL = 1 << 18  # edges of the graph that the host solves, too
_BLOCKS = (16,)  # of pinned memory, in MiB, for uploads at once; the usual size comes first


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The times of one graph in one scope.

    Attributes
    ----------
    scope : {"resident", "from the host", "pinned"}
    degree, n_vertices, n_edges : int
    one, several : list of float
        Milliseconds.
    both : list of float
        Milliseconds of one device with both directions stored; none where that does not fit.
    alone : list of float
        The medians of each part alone, the other devices at rest.
    others : mapping of str to list of float
        Milliseconds of other ways to upload, by several devices.
    solves, moves : list
        The steps of the last solve by several devices.
    """

    scope: str
    degree: int
    n_vertices: int
    n_edges: int
    one: list[float]
    several: list[float]
    solves: list[Any]
    moves: list[Any]
    both: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)
    others: dict[str, list[float]] = field(default_factory=dict)

    @property
    def ratio(self) -> float:
        """How many times as quick several devices are as one."""
        return min(median(one) for one in (self.one, self.both) if one) / median(self.several)

    def cells(self) -> tuple[str, ...]:
        """Return the row of a table."""
        n_parts = len(self.solves) - len(self.moves)  # a union for each move
        ordered = sorted(self.solves, key=lambda one: (one["began_ms"], one["number"]))
        parts = sorted(ordered[:n_parts], key=lambda one: one["number"])
        merges, moved = ordered[n_parts:], sum(one["ms"] for one in self.moves)
        steps = [f"{digits(one['began_ms'])}+{digits(one['ms'])}" for one in parts]
        rate = sum(one["n_bytes"] for one in self.moves) / max(moved, 1e-9) / 1e6
        end = max(one["began_ms"] + one["ms"] for one in ordered)
        return (
            self.scope, f"{self.degree}", f"{self.n_vertices:,}", f"{self.n_edges:,}",
            digits(median(self.one)), digits(median(self.both)) if self.both else "",
            digits(median(self.several)), f"{self.ratio:.2f}",
            " / ".join(map(digits, self.alone)), " / ".join(steps),
            f"{digits(moved)} ({rate:.1f} GB/s)",
            " / ".join(digits(one["ms"]) for one in merges), digits(end),
            "; ".join(f"{way} {digits(median(ms))}" for way, ms in self.others.items()),
        )  # fmt: skip


def check_small(devices: Sequence[clmst.Device], degree: int) -> None:
    """Raise unless several devices find the forest that the host finds."""
    recipe = Recipe.of(min(degree, 256), _SMALL)
    whole = recipe.made_on(devices[0], 0, recipe.n_vertices).graph
    right = clmst.kruskal(clmst.Graph.from_csr(whole.indptr, whole.indices, whole.weights)).edge_ids
    found = clmst.minimum_spanning_forest(recipe.parts_on(devices)).edge_ids
    if not np.array_equal(found, right):
        raise WrongResultError("several devices have other edges of a small graph than the host")


class Resident:
    """A graph on the first device, and in parts on all of them."""

    def __init__(self, recipe: Recipe, devices: Sequence[clmst.Device]) -> None:
        self.recipe, self.devices = recipe, devices
        self.parts = recipe.parts_on(devices)
        self.whole = recipe.made_on(devices[0], 0, recipe.n_vertices)
        self._one: list[Any] = []
        self._root: list[Branch] = []
        self._solve: SolveOfParts = solve_of(Division.of(self.parts))

    def solve_by_one(self) -> None:
        """Solve on the first device."""
        self._one.clear()  # whose memory the next one takes
        self._one.append(clmst.minimum_spanning_forest(self.whole, keep_on_device=True))
        self.devices[0].queue.finish()

    def solve_by_several(self) -> None:
        """Solve on all devices."""
        self._root.clear()
        self._solve, first = solve_of(Division.of(self.parts)), self.devices[0]
        self._root.append(self._solve.run())
        self._solve.on_device(self._root[0], Launcher(first, first.queue))
        first.queue.finish()

    def check(self) -> None:
        """Raise unless both have the same edges."""
        self.solve_by_one()
        self.solve_by_several()
        slots = self._one[0].slots_array().to_host()
        if not np.array_equal(slots, self._solve.to_host(self._root[0]).edge_ids):
            raise WrongResultError("several devices have other edges than one")

    def both_directions(self, repetitions: int) -> list[float]:
        """Return the times of one device with both directions stored; none if it does not fit."""
        try:
            milliseconds, edges = solved_by_one(mirrored(self.whole), repetitions)
        except (clmst.OutOfDeviceMemoryError, clmst.InvalidGraphError) as error:
            click.echo(f"both directions are left out: {error}")
            return []
        self.solve_by_one()
        if not np.array_equal(edges, self._one[0].edges_array().to_host()):
            raise WrongResultError("both directions stored give other edges")
        self._one.clear()
        self.devices[0].release_memory()
        return milliseconds

    def alone(self, repetitions: int) -> list[float]:
        """Return the median time of each part, one after the other."""
        medians = []
        for part in self.parts.parts:
            division = Division.of(clmst.DeviceParts(parts=(part,), first_rows=(0,)))
            contestant: Contestant[Any] = Contestant(name="part", call=partial(_run, division))
            (times,) = Harness(repetitions=repetitions, warm_ups=1).run([contestant])
            medians.append(float(median(times.milliseconds)))
        return medians

    def point(self, repetitions: int) -> Point:
        """Return the times."""
        both = self.both_directions(repetitions)
        self.check()
        calls = (("one", self.solve_by_one), ("several", self.solve_by_several))
        contestants = [Contestant(name=name, call=call) for name, call in calls]
        one, several = Harness(repetitions=repetitions, warm_ups=1).run(contestants)
        point = point_of("resident", self.recipe, one, several, self._solve.stats())
        return replace(point, both=both, alone=self.alone(repetitions))


def _run(division: Division) -> None:
    solve_of(division).run()


def solve_of(division: Division) -> SolveOfParts:
    """Return a solve as the public call makes it."""
    return SolveOfParts(division, algorithm="auto", options=None, maximum=False)


def solved_by_one(
    graph: clmst.DeviceGraph, repetitions: int
) -> tuple[list[float], np.ndarray[Any, Any]]:
    """Return the times of a graph's solves, and the endpoints of its forest's edges."""
    forests = list[clmst.DeviceForest]()

    def solve() -> None:
        forests.clear()  # whose memory the next one takes
        forests.append(clmst.minimum_spanning_forest(graph, keep_on_device=True))
        graph.device.queue.finish()

    contestant: Contestant[Any] = Contestant(name="both", call=solve)
    (times,) = Harness(repetitions=repetitions, warm_ups=1).run([contestant])
    return list(times.milliseconds), forests[0].edges_array().to_host()


def profile_of(recipe: Recipe, device: clmst.Device) -> str:
    """Return the kernels of one solve that take longest, with launches and milliseconds."""
    graph = recipe.made_on(device, 0, recipe.n_vertices)
    for _ in range(2):
        forest = clmst.minimum_spanning_forest(graph, keep_on_device=True, profile=True)
    kernels: Any = forest.stats["profile"]
    longest = list(kernels.items())[:12]
    cells = [f"{name} {of.launches} x, {digits(of.milliseconds)} ms" for name, of in longest]
    return f"degree {recipe.degree}, {forest.stats['worklist_sizes']}: " + "; ".join(cells)


def graph_on_host(recipe: Recipe, device: clmst.Device) -> clmst.Graph:
    """Return a graph of the host that the device has made."""
    made = recipe.made_on(device, 0, recipe.n_vertices).graph
    return clmst.Graph.unchecked(
        indptr=made.indptr, indices=made.indices, weights=made.weights, is_symmetric=False,
        edge_ids=None, n_input=made.n_slots,
    )  # fmt: skip


def pinned(graph: clmst.Graph, device: clmst.Device) -> clmst.Graph:
    """Return a graph whose columns and weights are in pinned memory."""
    import pyopencl as cl

    def copied(array: Any) -> Any:
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.ALLOC_HOST_PTR
        buffer = cl.Buffer(device.context, flags, array.nbytes)
        access = cl.map_flags.READ | cl.map_flags.WRITE
        enqueue_map: Any = cl.enqueue_map_buffer  # whose stubs know no flags put together
        mapped, _ = enqueue_map(device.queue, buffer, access, 0, array.shape, array.dtype)
        mapped[:] = array
        return mapped

    return graph.replace_unchecked(indices=copied(graph.indices), weights=copied(graph.weights))


def from_host(
    graph: clmst.Graph, recipe: Recipe, devices: Sequence[clmst.Device], repetitions: int
) -> Point:
    """Return the times of a graph in the host's memory."""
    found: list[clmst.Forest] = []

    def solve(**on: Any) -> clmst.Forest:
        found[:] = [clmst.minimum_spanning_forest(graph, **on)]
        return found[0]

    right = solve(device=devices[0])

    def difference(forest: clmst.Forest) -> str:
        return "" if forest == right else "several devices have other edges than one"

    usual = [device.staging for device in devices]
    shapes = {"at once": usual}
    shapes |= {
        f"at once, {size} MiB": [
            Staging(
                one.queue, pinned=one.staging.pinned, shape=StagingShape(block_bytes=size << 20)
            )
            for one in devices
        ]
        for size in _BLOCKS
    }

    def solve_at_once(way: str) -> clmst.Forest:
        """Upload with threads and pinned memory of a shape."""
        _use(devices, shapes[way])
        try:
            at_once = solve_of(divided(graph, devices, at_once=True))
            return at_once.to_host(at_once.run())
        finally:
            _use(devices, usual)

    contestants = [
        Contestant(name="one", call=lambda: solve(device=devices[0]), difference=difference),
        *(
            Contestant(name=way, call=partial(solve_at_once, way), difference=difference)
            for way in shapes
        ),
        Contestant(name="several", call=lambda: solve(devices=devices), difference=difference),
    ]
    one, *others, several = Harness(repetitions=repetitions, warm_ups=1).run(contestants)
    stats = solve(devices=devices).stats
    for way in tuple(shapes)[1:]:
        for staging in shapes[way]:
            staging.free()
    point = point_of("from the host", recipe, one, several, stats)
    return replace(point, others={way.name: way.milliseconds for way in others})


def from_pinned(
    graph: clmst.Graph, recipe: Recipe, devices: Sequence[clmst.Device], repetitions: int
) -> Point:
    """Return the times of a graph in pinned memory of the host."""
    in_pinned = pinned(graph, devices[0])
    right = clmst.minimum_spanning_forest(graph, device=devices[0])

    def difference(forest: clmst.Forest) -> str:
        return "" if forest == right else "several devices have other edges than one"

    ways: dict[str, dict[str, Any]] = {
        "one": {"device": devices[0]},
        "several": {"devices": devices},
    }
    contestants = [
        Contestant(
            name=name,
            call=partial(clmst.minimum_spanning_forest, in_pinned, **on),
            difference=difference,
        )
        for name, on in ways.items()
    ]
    one, several = Harness(repetitions=repetitions, warm_ups=1).run(contestants)
    stats = clmst.minimum_spanning_forest(in_pinned, devices=devices).stats
    return point_of("pinned", recipe, one, several, stats)


def _use(devices: Sequence[clmst.Device], stagings: Sequence[Staging]) -> None:
    for device, staging in zip(devices, stagings, strict=True):
        device.staging = staging


def point_of(scope: str, recipe: Recipe, one: Any, several: Any, stats: Any) -> Point:
    """Return the times of two contestants."""
    return Point(
        scope=scope,
        degree=recipe.degree,
        n_vertices=recipe.n_vertices,
        n_edges=recipe.n_edges,
        one=one.milliseconds,
        several=several.milliseconds,
        solves=list(stats["solves"]),
        moves=list(stats["moves"]),
    )


def measure(
    devices: Sequence[clmst.Device], degrees: Sequence[int], n_edges: int, host_edges: int,
    repetitions: int,
) -> Iterator[Point]:  # fmt: skip
    """Yield the times of all graphs, resident and from the host."""
    for degree in degrees:
        check_small(devices, degree)
        yield Resident(Recipe.of(degree, n_edges), devices).point(repetitions)
        for device in devices:
            device.release_memory()
        if host_edges:
            recipe = Recipe.of(degree, host_edges)
            graph = graph_on_host(recipe, devices[0])
            yield from_host(graph, recipe, devices, repetitions)
            yield from_pinned(graph, recipe, devices, repetitions)


def table_of(points: Sequence[Point]) -> Table:
    """Return medians in milliseconds, and the steps of one solve by several devices."""
    headings = ("scope", "degree", "vertices", "edges", "one ms", "both ways", "several ms",
                "ratio", "parts alone", "parts, began+ms", "move ms", "merge ms", "end",
                "uploads at once")  # fmt: skip
    return Table(title="Several GPUs", headings=headings, rows=[one.cells() for one in points])


def opened(names: Sequence[str], *, one_context: bool) -> list[clmst.Device]:
    """Return the devices of some names, in one context if that is wanted."""
    devices = [clmst.get_device(name) for name in names]
    if not one_context:
        return devices
    import pyopencl as cl

    context = cl.Context([device.cl_device for device in devices])
    return [clmst.get_device(cl.CommandQueue(context, device.cl_device)) for device in devices]


@click.command(cls=Experiment)
@click.option("--device", "names", multiple=True, required=True, help="Two or more; as usual.")
@click.option("--degree", "degrees", type=int, multiple=True, default=(64, 256, 1024))
@click.option("--edges", "n_edges", type=float, default=1e9, show_default=True)
@click.option("--host-edges", type=float, default=2.5e8, show_default=True, help="0: none.")
@click.option("--profile", is_flag=True, help="Tell the kernels of one solve by the first device.")
@click.option("--one-context", is_flag=True, help="Open one context for all.")
@click.option("--repetitions", type=click.IntRange(min=1), default=5, show_default=True)
@json_option
def main(  # noqa: PLR0917 - click gives all of them by name
    names: tuple[str, ...], degrees: tuple[int, ...], n_edges: float, host_edges: float,
    profile: bool, one_context: bool, repetitions: int, json_file: Path | None,
) -> None:  # fmt: skip
    """Compare one device with several, resident and from the host."""
    devices: list[clmst.Device] = []
    seconds = seconds_of(lambda: devices.extend(opened(names, one_context=one_context)))
    on = ", ".join(device.description for device in devices)
    click.echo(f"{on}; {'one context' if one_context else 'a context each'}, {seconds:.1f} s")
    if profile:
        for degree in degrees:
            click.echo(profile_of(Recipe.of(degree, int(n_edges)), devices[0]))
    points = recorded(
        devices[0],
        measure(devices, degrees, int(n_edges), int(host_edges), repetitions),
        json_file,
        on_point=lambda point: click.echo(" | ".join(point.cells())),
        devices=[device.description for device in devices],
    )
    click.echo("\n" + table_of(points).as_markdown())


if __name__ == "__main__":
    main()
