"""The largest graph that a device takes: ``python -m benchmarks.largest --device nvidia``.

The graph has 2**BITS vertices of DEGREE neighbours each, one edge replaced by a loop: with the
usual 2**27 and 32 it has 2**32 - 1 slots, as many as one device takes. The device itself makes the
three arrays (``largest.cl``), and checks them (`DeviceGraph.from_arrays`). Two algorithms solve it,
one after the other, as both worklists would not fit at once; their forests must have the same
slots, and the device proves them. Times are those of the public call, from the graph on the device
to the forest on the device. Memory is the most that clmst holds on the device, the graph included.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.options import Experiment, device_option, json_option
from clmst.algorithms.proof.prove import prove
from clmst.bench.harness import Contestant, Harness, WrongResultError, seconds_of
from clmst.bench.record import recorded
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph_checks import MAX_SLOTS
from clmst.runtime.launcher import Launcher

ALGORITHMS = ("filter-boruvka", "ecl")
_SOURCE = Path(__file__).with_name("largest.cl")


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What one algorithm took.

    Attributes
    ----------
    algorithm : str
    n_vertices, n_slots, n_edges : int
        Of the graph, and the edges of its forest.
    first : float
        Milliseconds of the first solve, which also allocates.
    milliseconds : list of float
        Of the others.
    proof : float
        Milliseconds of the proof.
    n_bytes : int
        On the device after the solves.
    """

    algorithm: str
    n_vertices: int
    n_slots: int
    n_edges: int
    first: float
    milliseconds: list[float]
    proof: float
    n_bytes: int

    def __str__(self) -> str:
        spread = f"{min(self.milliseconds):.1f} to {max(self.milliseconds):.1f}"
        return (
            f"{self.algorithm}: {median(self.milliseconds):.1f} ms ({spread}), first "
            f"{self.first:.0f}, proof {self.proof:.0f} ms; {self.n_edges:,} edges; "
            f"{self.n_bytes / 2**30:.1f} GiB, {self.n_bytes / self.n_slots:.1f} bytes a slot"
        )


def made_on(device: clmst.Device, bits: int, degree: int) -> clmst.DeviceGraph:
    """Return the graph, made and checked by the device."""
    import pyopencl as cl

    n = 1 << bits
    if degree % 2 or not 2 <= degree < n // 2:
        raise InvalidArgumentError(
            f"the degree is {degree} and there are {n} vertices; it must be even, at least 2, and "
            "less than half of the vertices"
        )
    if n * degree - 1 > MAX_SLOTS:
        raise InvalidArgumentError(
            f"2**{bits} vertices of degree {degree} are {n * degree - 1} slots; one device takes "
            f"up to {MAX_SLOTS}"
        )
    rng = np.random.default_rng(0)
    drawn = 1 + rng.choice(min(n // 2 - 1, 1 << 16), degree // 2, replace=False)
    steps = np.maximum((n // 2 - 1) // (1 << 16), 1) * drawn
    offsets = clmst.DeviceArray.from_host(steps.astype(np.uint32), device)
    arrays: list[Any] = [
        clmst.DeviceArray.empty(size, dtype, device)
        for size, dtype in ((n + 1, "u4"), (n * degree - 1, "u4"), (n * degree - 1, "i4"))
    ]
    program: Any = cl.Program(device.context, _SOURCE.read_text(encoding="utf-8"))
    fill = program.build([f"-DDEGREE={degree}"]).largest_fill_rows
    fill(device.queue, (n,), None, offsets.memory, *(one.memory for one in arrays), np.uint32(bits))
    device.queue.finish()
    return clmst.DeviceGraph.from_arrays(*arrays)


def solve_by(
    algorithm: str, graph: clmst.DeviceGraph, repetitions: int
) -> tuple[Point, clmst.DeviceForest]:
    """Time an algorithm, prove its last forest, and give back what it holds beside the graph."""
    device, forests = graph.device, list[clmst.DeviceForest]()

    def solve() -> None:
        forests.clear()  # whose memory the next one takes
        forests.append(
            clmst.minimum_spanning_forest(graph, algorithm=algorithm, keep_on_device=True)
        )

    first = 1e3 * seconds_of(solve)
    contestant: Contestant[Any] = Contestant(name=algorithm, call=solve, wait=device.queue.finish)
    (times,) = Harness(repetitions=repetitions).run([contestant])
    n_bytes = device._pool.managed_bytes
    graph.plans.clear()
    device.release_memory()
    proofs: list[Any] = []
    proof = 1e3 * seconds_of(
        lambda: proofs.append(prove(forests[0], Launcher(device, device.queue)))
    )
    if not proofs[0].ok:
        raise WrongResultError(f"{algorithm}: the device refutes the forest")
    device.release_memory()
    point = Point(
        algorithm=algorithm,
        n_vertices=graph.n_vertices,
        n_slots=graph.n_slots,
        n_edges=forests[0].n_edges,
        first=first,
        milliseconds=[1e3 * seconds for seconds in times.seconds],
        proof=proof,
        n_bytes=n_bytes,
    )
    return point, forests[0]


def measure(
    graph: clmst.DeviceGraph, algorithms: tuple[str, ...], repetitions: int
) -> Iterator[Point]:
    """Yield what each algorithm takes; their forests must be the same."""
    expected: Any = None
    for algorithm in algorithms:
        point, forest = solve_by(algorithm, graph, repetitions)
        slots = forest.slots_array().to_host()
        if expected is not None and not np.array_equal(slots, expected):
            raise WrongResultError(f"{algorithm} has other edges than {algorithms[0]}")
        expected = slots
        del forest
        yield point


@click.command(cls=Experiment)
@device_option
@click.option("--bits", type=click.IntRange(6, 30), default=27, show_default=True)
@click.option("--degree", type=click.IntRange(2, 64), default=32, show_default=True)
@click.option("--algorithm", "algorithms", multiple=True, default=ALGORITHMS, show_default=True)
@click.option("--repetitions", type=click.IntRange(min=1), default=5, show_default=True)
@json_option
def main(  # noqa: PLR0917 - click gives all of them by name
    device: str | None, bits: int, degree: int, algorithms: tuple[str, ...], repetitions: int,
    json_file: Path | None,
) -> None:  # fmt: skip
    """Solve a graph of 2**BITS vertices of DEGREE neighbours by several algorithms."""
    on = clmst.get_device(device)
    made: list[clmst.DeviceGraph] = []
    seconds = seconds_of(lambda: made.append(made_on(on, bits, degree)))
    (graph,) = made
    click.echo(
        f"{graph.n_vertices:,} vertices, {graph.n_slots:,} slots on {on.description}, made and "
        f"checked in {seconds:.2f} s"
    )
    recorded(on, measure(graph, algorithms, repetitions), json_file, on_point=click.echo)


if __name__ == "__main__":
    main()
