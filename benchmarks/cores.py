"""Time `core_numbers` of complete graphs, of random graphs, and of graph files beside NetworkX.

    python -m benchmarks cores complete [--smallest N] [--largest N]
    python -m benchmarks cores random [--vertices N] [--degree D]
    python -m benchmarks cores files FILE...

``complete`` repeats Table 6 of Ma and Wan. Each graph is timed twice: with both directions of each
edge stored, and with one direction. The graph is on the device before the clock starts, and the
clock stops when the core numbers are on the host. The core numbers are checked before they are
timed. In complete graphs they must be n - 1. For random graphs, both forms of the graph must have
the same core numbers. For files they are compared with NetworkX, which is timed once.
"""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

import clmst
from benchmarks.runner import Cases, Row, Rows, Run, case, sizes_up_to
from benchmarks.timing import seconds_of

BOTH, ONCE, NETWORKX = "both directions", "one direction", "NetworkX"


def by_networkx(graph: clmst.Graph) -> tuple[np.ndarray, float]:
    """Return the core numbers by NetworkX, and the milliseconds it took."""
    import networkx as nx

    u, v, _, _ = graph.edges()
    peer = nx.empty_graph(graph.n_vertices)
    peer.add_edges_from(zip(u.tolist(), v.tolist(), strict=True))
    found: dict[int, int] = {}
    seconds = seconds_of(lambda: found.update(nx.core_number(peer)))
    return np.array([found[vertex] for vertex in range(graph.n_vertices)]), 1e3 * seconds


def timed(run: Run, name: str, ways: dict[str, clmst.Graph], expected: np.ndarray) -> Row:
    """Time the core numbers of a graph in each of its forms, and return a row of the table.

    `name` is the name of the graph. `ways` has the forms of the graph, by the heading of a column:
    with each edge stored once, and with both directions stored. `expected` has the right core
    numbers.
    """
    times: dict[str, list[float]] = {}
    for way, graph in ways.items():
        resident = clmst.to_device(graph, run.device)

        def solve(resident: clmst.DeviceGraph = resident) -> np.ndarray:
            return clmst.core_numbers(resident)

        def difference(cores: np.ndarray) -> str:
            return "" if np.array_equal(cores, expected) else "other core numbers than expected"

        times |= run.turns({way: solve}, difference, warm_ups=0)
        run.device.release_memory()
    sizes = {"n": graph.n_vertices, "edges": graph.n_edges}
    return {"graph": name, **sizes, "greatest": int(expected.max(initial=0)), **times}


@click.group(cls=Cases)
def main() -> None:
    """Time `core_numbers`."""


@main.add_command
@case(
    click.option("--smallest", type=click.IntRange(2), default=512, show_default=True),
    click.option("--largest", type=click.IntRange(2), default=16384, show_default=True),
)
def complete(run: Run, smallest: int, largest: int) -> Rows:
    """Time core numbers of complete graphs (Table 6 of Ma and Wan)."""
    for n in sizes_up_to(largest, smallest):
        graph = clmst.generate("complete", n=n, weights="equal")
        ways = {BOTH: graph.symmetrised(), ONCE: graph}
        yield timed(run, "complete", ways, np.full(n, n - 1))


@main.add_command
@case(
    click.option("--vertices", type=click.IntRange(16), default=3_800_000, show_default=True),
    click.option("--degree", type=click.IntRange(1), default=8, show_default=True),
)
def random(run: Run, vertices: int, degree: int) -> Rows:
    """Time core numbers of a random graph."""
    graph = clmst.generate("random", n=vertices, average_degree=degree, weights="equal")
    expected = clmst.core_numbers(graph, device=run.device)
    yield timed(run, "random", {BOTH: graph.symmetrised(), ONCE: graph}, expected)


@main.add_command
@case(click.argument("files", nargs=-1, required=True, type=click.Path(exists=True)))
def files(run: Run, files: tuple[str, ...]) -> Rows:
    """Time core numbers of simple graphs in files, beside NetworkX."""
    for file in files:
        graph = clmst.Graph.read(file)
        expected, taken = by_networkx(graph)
        ways = {BOTH: graph.symmetrised()} | ({} if graph.is_symmetric else {ONCE: graph})
        yield timed(run, Path(file).name, ways, expected) | {NETWORKX: [taken]}
