"""One solve by several GPUs: ``python -m benchmarks.several_gpus``.

    python -m benchmarks.several_gpus --device nvidia:0 --device nvidia:1 [--degree 64]
        [--edges 1e9] [--host-edges 2.5e8] [--one-context] [--repetitions 5] [--json FILE]

Graphs are random, made by the devices (``several_gpus.cl``): every vertex has about DEGREE
neighbours, each edge is stored once. *Resident*: the first device has the whole graph, and every
device has its part of it; the time is that from graphs on devices to endpoints and weights on the
first device. *From the host*: a smaller graph in the host's memory; the time is that to a `Forest`.
Both contestants take turns. Before that their forests are compared edge by edge, and of a small
graph of the same kind with Kruskal's algorithm on the host. Steps are those of one more solve.

`--one-context` opens all devices in one OpenCL context, where the driver moves forests by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment, json_option
from clmst.bench.harness import Contestant, Harness, WrongResultError, seconds_of
from clmst.bench.record import recorded
from clmst.bench.tables import Table, digits
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph_checks import MAX_SLOTS
from clmst.runtime.launcher import Launcher
from clmst.scale.several import Branch, SolveOfParts

_SOURCE = Path(__file__).with_name("several_gpus.cl")
_SMALL = 1 << 18  # edges of the graph that the host solves, too


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A graph of 2**bits vertices, each with about `degree` neighbours."""

    bits: int
    degree: int

    @classmethod
    def of(cls, degree: int, n_edges: int) -> Recipe:
        """Return the smallest graph of a degree that has so many edges at least."""
        bits = max((2 * n_edges // degree - 1).bit_length(), degree.bit_length())
        while cls(bits=bits, degree=degree).n_edges < n_edges:
            bits += 1
        return cls(bits=bits, degree=degree)

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return 1 << self.bits

    @property
    def n_edges(self) -> int:
        """Number of edges."""
        return self.edges_before(self.n_vertices)

    def edges_before(self, row: int) -> int:
        """Return the number of edges in all rows before one."""
        return self.degree * row * (2 * (self.n_vertices - 1) - row + 1) >> (self.bits + 1)

    def bounds(self, count: int) -> list[int]:
        """Return bounds of so many ranges of rows with equally many edges."""
        rows = [0]
        for number in range(1, count):
            low, high = 0, self.n_vertices
            while low < high:
                middle = (low + high) // 2
                if self.edges_before(middle) * count < self.n_edges * number:
                    low = middle + 1
                else:
                    high = middle
            rows.append(low)
        return [*rows, self.n_vertices]

    def made_on(self, device: clmst.Device, first_row: int, end_row: int) -> clmst.DeviceGraph:
        """Return some rows, made and checked by a device."""
        import pyopencl as cl

        n, size = self.n_vertices, self.edges_before(end_row) - self.edges_before(first_row)
        if size > MAX_SLOTS:
            raise InvalidArgumentError(f"{size} edges; one device takes up to {MAX_SLOTS}")
        arrays = [
            clmst.DeviceArray.empty(length, dtype, device)
            for length, dtype in ((n + 1, "u4"), (size, "u4"), (size, "i4"))
        ]
        program: Any = cl.Program(device.context, _SOURCE.read_text(encoding="utf-8"))
        fill = program.build(devices=[device.cl_device]).several_gpus_fill_rows
        words = map(np.uint32, (self.bits, self.degree, first_row, end_row))
        fill(device.queue, (n,), None, *(one.memory for one in arrays), *words)
        device.queue.finish()
        indptr, indices, weights = arrays
        return clmst.DeviceGraph.from_arrays(indptr, indices, weights, device)

    def parts_on(self, devices: Sequence[clmst.Device]) -> clmst.DeviceParts:
        """Return the graph in parts, each made by its device."""
        rows = self.bounds(len(devices))
        return clmst.DeviceParts.of_graphs([
            self.made_on(device, *ends)
            for device, *ends in zip(devices, rows[:-1], rows[1:], strict=True)
        ])  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The times of one graph in one scope.

    Attributes
    ----------
    scope : {"resident", "from the host"}
    degree, n_vertices, n_edges : int
    one, several : list of float
        Milliseconds.
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

    @property
    def ratio(self) -> float:
        """How many times as quick several devices are."""
        return median(self.one) / median(self.several)

    def cells(self) -> tuple[str, ...]:
        """Return the row of a table."""
        parts = [one["ms"] for one in self.solves if one["began_ms"] < self.moves[0]["began_ms"]]
        merges = [one["ms"] for one in self.solves[len(parts) :]]
        moved = sum(one["ms"] for one in self.moves)
        n_bytes = sum(one["n_bytes"] for one in self.moves)
        rate = f"{n_bytes / moved / 1e6:.1f} GB/s, {self.moves[0]['way']}"
        return (
            self.scope, f"{self.degree}", f"{self.n_vertices:,}", f"{self.n_edges:,}",
            digits(median(self.one)), digits(median(self.several)), f"{self.ratio:.2f}",
            " / ".join(map(digits, parts)), f"{digits(moved)} ({rate})",
            " / ".join(map(digits, merges)),
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
        self._solve: SolveOfParts = self._new_solve()

    def _new_solve(self) -> SolveOfParts:
        return SolveOfParts(self.parts, algorithm="auto", options=None, maximum=False)

    def solve_by_one(self) -> None:
        """Solve on the first device."""
        self._one.clear()  # whose memory the next one takes
        self._one.append(clmst.minimum_spanning_forest(self.whole, keep_on_device=True))
        self.devices[0].queue.finish()

    def solve_by_several(self) -> None:
        """Solve on all devices."""
        self._root.clear()
        self._solve, first = self._new_solve(), self.devices[0]
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

    def point(self, repetitions: int) -> Point:
        """Return the times."""
        self.check()
        calls = (("one", self.solve_by_one), ("several", self.solve_by_several))
        contestants = [Contestant(name=name, call=call) for name, call in calls]
        one, several = Harness(repetitions=repetitions, warm_ups=1).run(contestants)
        return point_of("resident", self.recipe, one, several, self._solve.stats())


def profile_of(recipe: Recipe, device: clmst.Device) -> str:
    """Return the kernels of one solve that take longest, with launches and milliseconds."""
    graph = recipe.made_on(device, 0, recipe.n_vertices)
    for _ in range(2):
        forest = clmst.minimum_spanning_forest(graph, keep_on_device=True, profile=True)
    kernels: Any = forest.stats["profile"]
    longest = list(kernels.items())[:12]
    cells = [f"{name} {of.launches} x, {digits(of.milliseconds)} ms" for name, of in longest]
    return f"degree {recipe.degree}, {forest.stats['worklist_sizes']}: " + "; ".join(cells)


def from_host(recipe: Recipe, devices: Sequence[clmst.Device], repetitions: int) -> Point:
    """Return the times of a graph in the host's memory."""
    on_device = recipe.made_on(devices[0], 0, recipe.n_vertices).graph
    graph = clmst.Graph.unchecked(
        indptr=on_device.indptr, indices=on_device.indices, weights=on_device.weights,
        is_symmetric=False, edge_ids=None, n_input=on_device.n_slots,
    )  # fmt: skip
    del on_device
    found: list[clmst.Forest] = []

    def solve(**on: Any) -> clmst.Forest:
        found[:] = [clmst.minimum_spanning_forest(graph, **on)]
        return found[0]

    right = solve(device=devices[0])

    def difference(forest: clmst.Forest) -> str:
        return "" if forest == right else "several devices have other edges than one"

    contestants = [
        Contestant(name="one", call=lambda: solve(device=devices[0]), difference=difference),
        Contestant(name="several", call=lambda: solve(devices=devices), difference=difference),
    ]
    one, several = Harness(repetitions=repetitions, warm_ups=1).run(contestants)
    return point_of("from the host", recipe, one, several, found[0].stats)


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
            yield from_host(Recipe.of(degree, host_edges), devices, repetitions)


def table_of(points: Sequence[Point]) -> Table:
    """Return medians in milliseconds, and the steps of one solve by several devices."""
    headings = ("scope", "degree", "vertices", "edges", "one ms", "several ms", "ratio",
                "parts ms", "move ms", "merge ms")  # fmt: skip
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
@click.option("--one-context", is_flag=True, help="Let the driver move forests.")
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
