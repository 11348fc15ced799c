"""Time forests of graphs that a device generates, without ever storing the graph.

    python -m benchmarks generated 64e9 --vertices 28 [--small 4e6] [--memory-limit BYTES]

The graph is a random graph with 2**VERTICES vertices. The ends and the weight of edge number i are
bits of hashes of i. First, a small graph is generated in the same way, and its forest is compared
with the forest of Kruskal's algorithm on the host, edge for edge. Then the large graph is solved
several times, and once more with its edges in reverse order, the last edge first. That forest must
have the same ends and weights.
"""

from __future__ import annotations

import warnings

import click
import numpy as np

import clmst
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.timing import wall_and_processor_seconds
from clmst.bench.harness import WrongResultError
from clmst.core.forest import Forest
from clmst.runtime.device import Device

_HASH = """
ulong hashed(ulong x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}
"""


def random_graph(n_edges: int, bits: int, *, is_reversed: bool = False) -> clmst.GeneratedEdges:
    """Return a random graph with 2**bits vertices, with its edges in order or in reverse order."""
    number = f"({n_edges - 1} - id)" if is_reversed else "id"
    ends, mask = f"hashed(2 * {number} + seed)", (1 << bits) - 1
    edges = clmst.GeneratedEdges(
        n_vertices=1 << bits, n_edges=n_edges, preamble=_HASH,
        u=f"{ends} >> {64 - bits}", v=f"{ends} & {mask}",
        weight=f"hashed(2 * {number} + 1 + seed) >> 32",
        weight_dtype=np.dtype("uint32"), scalars={"seed": "uint64"},
    )  # fmt: skip
    return edges(seed=20261124)


def check_small(n_edges: int, bits: int, device: Device) -> None:
    """Raise unless the device finds the host's forest of a small generated graph.

    The graph is solved as a stream of edges, with enough memory for a single pass and with so
    little that many passes are needed.
    """
    edges = random_graph(n_edges, bits)
    right = clmst.kruskal(clmst.Graph.from_edges(*edges.edges(device=device), 1 << bits))
    for limit in (None, 600 << bits, 64 << bits):  # the last limit leaves space only for passes
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", clmst.StreamedWarning)
            found = clmst.stream_minimum_spanning_forest(edges, device=device, memory_limit=limit)
        if found != right:
            raise WrongResultError(f"another forest of the small graph, memory limit {limit}")


def check_reversed(found: Forest, turned: Forest) -> None:
    """Raise WrongResultError if the order in which the edges are generated changes the forest.

    `found` is the forest of the edges in order, and `turned` the forest of the same edges, with the
    last edge first. The ends and weights of their edges are compared. Edge ids are not, because an
    id is the position of an edge in the order.
    """
    same = np.array_equal(found.edges, turned.edges)
    if not (same and np.array_equal(found.weights, turned.weights)):
        raise WrongResultError("another forest of the edges in reverse order")


@case(
    click.argument("n_edges", type=float),
    click.option("--vertices", "bits", default=28, help="Their binary logarithm."),
    click.option("--small", default=4e6, help="Edges of the graph that is checked."),
    click.option("--memory-limit", type=float, default=None),
    repetitions=3,
)
def main(run: Run, *, n_edges: float, bits: int, small: float, memory_limit: float | None) -> Rows:
    """Time a graph with N_EDGES generated edges."""
    limit = None if memory_limit is None else int(memory_limit)
    check_small(int(small), max(int(small / 32).bit_length(), 2), run.device)

    def solve(*, is_reversed: bool = False) -> Forest:
        edges = random_graph(int(n_edges), bits, is_reversed=is_reversed)
        return clmst.stream_minimum_spanning_forest(edges, device=run.device, memory_limit=limit)

    found, first, _ = wall_and_processor_seconds(solve)
    times = run.turns({"s": solve}, warm_ups=0)["s"]
    check_reversed(found, solve(is_reversed=True))
    stats = found.stats
    row: Row = {"vertices": 1 << bits, "edges": int(n_edges), "first s": first, "ms": times}
    row["edges a second"] = f"{1e3 * n_edges / run.of(times):.3g}"
    row |= {"passes": stats["passes"], "reductions": stats["reductions"]}
    yield row | {"filtered": f"{stats['edges_filtered'] / n_edges:.2%}"}
    yield f"forest: {found.n_edges:,} edges, weight {found.total_weight:,}"
