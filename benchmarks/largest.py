"""Solve the largest graph that a device takes.

    python -m benchmarks largest [--bits 27] [--degree 32] [--algorithm NAME]...

The graph has 2**BITS vertices with DEGREE neighbours each, but one edge is replaced by a loop. With
the default 2**27 and 32 it has 2**32 - 1 slots (CSR entries), the maximum for one device. The
device itself makes the three arrays of the CSR (``largest.cl``), and checks them
(`DeviceGraph.from_arrays`). Two algorithms solve the graph one after the other, since the work
arrays of both would not fit into the memory at once. Both forests must have the same edges, and the
device proves that they are minimum. Times are of the public call, from the graph on the device to
the forest on the device. Memory is the maximum that clmst holds on the device, including the graph.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

import clmst
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.timing import seconds_of
from clmst.algorithms.proof.prove import prove
from clmst.bench.harness import WrongResultError
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph_checks import MAX_SLOTS
from clmst.runtime.launcher import Launcher

ALGORITHMS = ("filter-boruvka", "ecl")
_SOURCE = Path(__file__).with_name("largest.cl")


def made_on(device: clmst.Device, bits: int, degree: int) -> clmst.DeviceGraph:
    """Make a graph on the device, check it there, and return it.

    The graph has 2**`bits` vertices with `degree` neighbours each. Raises InvalidArgumentError if
    the degree is odd or too large, or if the graph is larger than one device takes.
    """
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


def solve_by(run: Run, algorithm: str, graph: clmst.DeviceGraph) -> tuple[Row, clmst.DeviceForest]:
    """Time solves of a graph by an algorithm, and prove that the last forest is minimum.

    The memory of the solves is released. Returns the row of the table and the last forest. Raises
    WrongResultError if the proof fails.
    """
    device, forests = graph.device, list[clmst.DeviceForest]()

    def solve() -> None:
        forests.clear()  # so that the next forest can take its memory
        forests.append(
            clmst.minimum_spanning_forest(graph, algorithm=algorithm, keep_on_device=True)
        )

    first = 1e3 * seconds_of(solve)
    times = run.turns({"ms": solve}, wait=device.queue.finish, warm_ups=0)
    n_bytes = device._pool.managed_bytes
    graph.plans.clear()
    device.release_memory()
    proofs: list[Any] = []
    proof = seconds_of(lambda: proofs.append(prove(forests[0], Launcher(device, device.queue))))
    if not proofs[0].ok:
        raise WrongResultError(f"{algorithm}: the device refutes the forest")
    device.release_memory()
    row = {"algorithm": algorithm, "vertices": graph.n_vertices, "slots": graph.n_slots}
    row |= {"edges": forests[0].n_edges, "first ms": first, **times, "proof ms": 1e3 * proof}
    row |= {"GiB": n_bytes / 2**30, "bytes a slot": n_bytes / graph.n_slots}
    return row, forests[0]


@case(
    click.option("--bits", type=click.IntRange(6, 30), default=27, show_default=True),
    click.option("--degree", type=click.IntRange(2, 64), default=32, show_default=True),
    click.option("--algorithm", "algorithms", multiple=True, default=ALGORITHMS),
    repetitions=5,
)
def main(run: Run, bits: int, degree: int, algorithms: tuple[str, ...]) -> Rows:
    """Solve a graph of 2**BITS vertices with DEGREE neighbours each by several algorithms."""
    made: list[clmst.DeviceGraph] = []
    seconds = seconds_of(lambda: made.append(made_on(run.device, bits, degree)))
    yield f"{made[0].n_slots:,} slots, made and checked in {seconds:.2f} s"
    expected: Any = None
    for algorithm in algorithms:
        row, forest = solve_by(run, algorithm, made[0])
        slots = forest.slots_array().to_host()
        if expected is not None and not np.array_equal(slots, expected):
            raise WrongResultError(f"{algorithm} has other edges than {algorithms[0]}")
        expected = slots
        del forest
        yield row
