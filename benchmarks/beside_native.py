"""Time ``clmst.minimum_spanning_forest`` on a CPU beside native programs and libraries, in one run.

    python -m benchmarks beside_native GRAPH.egr ... --peer PBBS=./pbbs --peer GBBS=./gbbs

clmst gets a ``scipy.sparse.csr_array`` and is timed from call to result, including conversion. It
is timed once with both directions of every edge, and once with the upper triangle. SciPy gets the
upper triangle, with which it is fastest. Libraries get a graph of their own kind, which is made
before the clock starts. Peers (native programs) follow the protocol of docs/benchmark.md. They
time themselves, without reading and building their graph.

All contestants take turns, in several passes, because times of two threads vary by a factor of up
to two between passes. The table has medians over all passes or, with ``--least``, minimum times,
which are better on a shared machine. ``--clock cpu`` measures the processor time of all threads.
With it, peers must report processor time, too. Forests are compared by weight before any time is
printed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks.runner import Row, Rows, Run, case
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import Contestant, Times, WrongResultError
from clmst.bench.peers import Peer

# Larger graphs than this number of edges are not solved by Python libraries, because some keep a
# Python object for each edge.
_LIBRARY_EDGES = 3_000_000
_TIME_LIMIT = 600.0

# A pair of functions. The first solves a graph and is timed. The second computes the total weight
# of the result of the first.
Way = tuple[Callable[[], Any], Callable[[Any], float | int]]


def matrices(path: Path) -> tuple[Any, Any]:
    """Read a graph file, and return the graph's symmetric matrix and its upper triangle."""
    symmetric = as_matrix(clmst.read_graph(path).symmetrised())
    return symmetric, sparse.triu(symmetric, format="csr")


def libraries(upper: Any, names: tuple[str, ...]) -> dict[str, Way]:
    """Return, by the name of each library, the functions that solve a graph and weigh the result.

    `upper` is the upper triangle of the graph's matrix, and `names` are the libraries. Each
    library's own graph is made here, before anything is timed.
    """
    edges = upper.tocoo()
    makers = {"rustworkx": _rustworkx, "igraph": _igraph, "NetworKit": _networkit}
    return {name: makers[name](edges) for name in names if edges.nnz <= _LIBRARY_EDGES}


def _rustworkx(edges: Any) -> Way:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(edges.shape[0]))
    ends = zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True)
    graph.add_edges_from(list(ends))
    solve = partial(rustworkx.minimum_spanning_edges, graph, weight_fn=float)
    return solve, lambda forest: sum(weight for _, _, weight in forest)


def _igraph(edges: Any) -> Way:
    import igraph

    ends = np.stack([edges.row, edges.col], axis=1)
    graph = igraph.Graph(n=edges.shape[0], edges=ends)
    weights = edges.data.tolist()
    solve = partial(graph.spanning_tree, weights=weights, return_tree=False)
    return solve, lambda forest: sum(weights[edge] for edge in forest)


def _networkit(edges: Any) -> Way:
    import networkit

    ends = edges.row.astype(np.uint64), edges.col.astype(np.uint64)
    negated = -edges.data.astype(np.float64)  # NetworKit only finds maximum spanning forests
    graph = networkit.GraphFromCoo((negated, ends), n=edges.shape[0], weighted=True)

    def solve() -> Any:
        return networkit.graph.RandomMaximumSpanningForest(graph).run().getMSF(True)

    return solve, lambda forest: -round(forest.totalEdgeWeight())


def forest_weight(result: Any) -> float | int:
    """Return the weight of a forest of clmst or a tree of SciPy."""
    weight = getattr(result, "total_weight", None)
    return int(result.data.sum(dtype=np.int64)) if weight is None else weight


def contestant(name: str, way: Way, expected: float | int) -> Contestant[Any]:
    """Return a contestant of the benchmark, which is wrong unless its forest has a given weight.

    `way` is a pair of functions. The first solves, and the second computes the total weight of the
    first one's result. `expected` is the right weight.
    """
    solve, weigh = way

    def difference(result: Any) -> str:
        weight = weigh(result)
        return "" if weight == expected else f"its forest weighs {weight}, not {expected}"

    return Contestant(name=name, call=solve, difference=difference)


def timed(
    run: Run, path: Path, peers: list[Peer], names: tuple[str, ...], passes: int
) -> dict[str, list[float]]:
    """Time all contestants on the graph in a file, and return their milliseconds by name.

    `path` is the graph file. The contestants are clmst, SciPy, the native programs `peers`, and the
    libraries `names`. All of them are timed one after the other, and this is repeated `passes`
    times.
    """
    symmetric, upper = matrices(path)
    solve: Any = partial(clmst.minimum_spanning_forest, device=run.device)
    ways: dict[str, Way] = {
        "clmst": (partial(solve, symmetric), forest_weight),
        "clmst, upper": (partial(solve, upper), forest_weight),
        "SciPy": (partial(minimum_spanning_tree, upper), forest_weight),
        **libraries(upper, names),
    }
    expected = solve(upper).total_weight
    every = [Times(contestant=contestant(name, way, expected)) for name, way in ways.items()]
    own = run.harness(verification="every")
    seconds: dict[str, list[float]] = {}
    for _ in range(passes):
        for times in every:
            is_ours = times.name.startswith("clmst")
            own.warm_up([times], int(is_ours and run.repetitions > 1))
            for _ in range(run.repetitions if is_ours else 1):
                own.time(times)
        for peer in peers:
            verdict = peer.compete(path, run.repetitions, expected, time_limit=_TIME_LIMIT)
            if verdict.status != "ok":
                raise WrongResultError(f"{peer.name}: {verdict.remark}")
            seconds.setdefault(peer.name, []).extend(verdict.solve)
    by_peer = {name: [1e3 * each for each in taken] for name, taken in seconds.items()}
    return {times.name: times.milliseconds for times in every} | by_peer


def means(run: Run, rows: list[Row], natives: list[str], names: tuple[str, ...]) -> Rows:
    """Yield two texts with geometric means of the ratios of each program's time to clmst's.

    The first text is for clmst with the symmetric matrix, and the second for clmst with the upper
    triangle. `rows` are the rows of the table, one for each graph. `natives` are the names of the
    native programs, and `names` the names of the libraries.
    """
    for ours in ("clmst", "clmst, upper"):
        found = []
        alone = {name: [name] for name in (*natives, "SciPy", *names)}
        for title, group in {"best peer": natives, **alone}.items():
            ratios = [
                min(run.of(row[name]) for name in group) / run.of(row[ours])
                for row in rows
                if group and all(row.get(name) for name in group)
            ]
            if ratios:
                found.append(f"{title} {geometric_mean(ratios):.2f} (least {min(ratios):.2f})")
        yield f"Geometric means over {ours}: {', '.join(found)}."


def cores_option() -> Any:
    """Return a command-line option that restricts this process to some cores.

    The option takes effect before a device is opened, because an OpenCL device of a CPU goes on to
    use the cores that the process may use at the moment of opening.
    """

    def keep(_context: click.Context, _parameter: click.Parameter, cores: int | None) -> None:
        if cores is not None:
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])

    return click.option("--cores", type=int, callback=keep, expose_value=False, is_eager=True,
                        help="Cores that this process may use.")  # fmt: skip


@case(
    click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path)),
    click.option("--peer", "peers", multiple=True, help="NAME=COMMAND; several are allowed."),
    click.option("--library", "names", multiple=True, help="rustworkx, igraph or NetworKit."),
    click.option("--passes", default=3, show_default=True),
    cores_option(),
    repetitions=5,
)
def main(
    run: Run, graphs: tuple[Path, ...], peers: tuple[str, ...], names: tuple[str, ...], passes: int
) -> Rows:
    """Time SciPy matrices beside native programs and libraries.

    Use --device cpu for the best CPU.
    """
    parsed, rows = [Peer.parse(text) for text in peers], []
    natives = [peer.name for peer in parsed]
    for path in graphs:
        times = timed(run, path, parsed, names, passes)
        row: Row = {"graph": path.stem}
        row |= {
            name: times.get(name, [])
            for name in ("clmst", "clmst, upper", *natives, "SciPy", *names)
        }
        rows.append(row)
        yield row
    yield from means(run, rows, natives, names)
