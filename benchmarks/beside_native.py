"""Time ``clmst.minimum_spanning_forest`` on a CPU beside native programs and libraries, in one run.

    python -m benchmarks.beside_native GRAPH.egr ... --peer PBBS=./pbbs --peer GBBS=./gbbs

clmst gets a ``scipy.sparse.csr_array`` and is timed from call to result, conversion included: once
with both directions of every edge, once with the upper triangle, which SciPy gets and likes best;
libraries get a graph of their own kind, made before the clock starts. Peers keep to the protocol of
docs/benchmark.md, and time themselves, without reading and building their graph.

Everybody takes turns, in several passes: times of two threads vary by up to two between passes.
Shown are medians over all passes. Forests are compared by weight before any time is printed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from time import perf_counter
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from clmst.bench.peers import Peer

# A library takes part up to so many edges: some keep a Python object for each.
_LIBRARY_EDGES = 3_000_000
_TIME_LIMIT = 600.0

Call = Callable[[], float | int]


def matrices(path: Path) -> tuple[Any, Any]:
    """Return a graph as a symmetric matrix, and as its upper triangle."""
    graph = clmst.read_graph(path).symmetrised()
    shape = (graph.n_vertices, graph.n_vertices)
    parts = (graph.weights, graph.indices.view(np.int32), graph.indptr.view(np.int32))
    symmetric = sparse.csr_array(parts, shape=shape)
    return symmetric, sparse.triu(symmetric, format="csr")


def libraries(upper: Any, names: tuple[str, ...]) -> dict[str, Call]:
    """Return what solves the graph in each library, made beforehand."""
    edges = upper.tocoo()
    makers = {"rustworkx": _rustworkx, "igraph": _igraph, "NetworKit": _networkit}
    return {name: makers[name](edges) for name in names if edges.nnz <= _LIBRARY_EDGES}


def _rustworkx(edges: Any) -> Call:
    import rustworkx

    graph = rustworkx.PyGraph()
    graph.add_nodes_from(range(edges.shape[0]))
    ends = zip(edges.row.tolist(), edges.col.tolist(), edges.data.tolist(), strict=True)
    graph.add_edges_from(list(ends))
    last: list[Any] = []

    def solve() -> int:
        last[:] = [rustworkx.minimum_spanning_edges(graph, weight_fn=float)]
        return 0

    def weigh() -> int:
        return sum(weight for _, _, weight in last[0])

    return _weighed(solve, weigh)


def _igraph(edges: Any) -> Call:
    import igraph

    ends = np.stack([edges.row, edges.col], axis=1)
    graph = igraph.Graph(n=edges.shape[0], edges=ends)
    weights = edges.data.tolist()
    last: list[Any] = []

    def solve() -> int:
        last[:] = [graph.spanning_tree(weights=weights, return_tree=False)]
        return 0

    return _weighed(solve, lambda: sum(weights[edge] for edge in last[0]))


def _networkit(edges: Any) -> Call:
    import networkit

    ends = edges.row.astype(np.uint64), edges.col.astype(np.uint64)
    negated = -edges.data.astype(np.float64)  # it has maximum spanning forests
    graph = networkit.GraphFromCoo((negated, ends), n=edges.shape[0], weighted=True)
    last: list[Any] = []

    def solve() -> int:
        forest = networkit.graph.RandomMaximumSpanningForest(graph)
        last[:] = [forest.run().getMSF(True)]
        return 0

    return _weighed(solve, lambda: -round(last[0].totalEdgeWeight()))


class _Weighed:
    """A call whose forest is weighed outside the time it takes."""

    def __init__(self, solve: Callable[[], Any], weigh: Callable[[], float | int]) -> None:
        self.solve, self.weigh = solve, weigh

    def __call__(self) -> float | int:
        self.solve()
        return self.weigh()


def _weighed(solve: Callable[[], Any], weigh: Callable[[], float | int]) -> Call:
    return _Weighed(solve, weigh)


def timed(call: Call, expected: float | int) -> float:
    """Return the seconds that a call takes; raise unless its forest weighs what is expected."""
    start = perf_counter()
    if isinstance(call, _Weighed):
        call.solve()
        seconds = perf_counter() - start
        weight = call.weigh()
    else:
        result: Any = call()
        seconds = perf_counter() - start
        weight = getattr(result, "total_weight", None) or int(result.data.sum(dtype=np.int64))
    if weight != expected:
        raise SystemExit(f"a forest weighs {weight}, not {expected}")
    return seconds


def contest(  # noqa: PLR0917
    path: Path,
    device: clmst.Device,
    peers: list[Peer],
    names: tuple[str, ...],
    passes: int,
    repetitions: int,
) -> dict[str, float]:
    """Return the median seconds of everybody on one graph."""
    symmetric, upper = matrices(path)
    solve: Any = partial(clmst.minimum_spanning_forest, device=device)
    calls: dict[str, Any] = {
        "clmst": partial(solve, symmetric),
        "clmst, upper": partial(solve, upper),
        "SciPy": partial(minimum_spanning_tree, upper),
        **libraries(upper, names),
    }
    expected = clmst.minimum_spanning_forest(upper, device=device).total_weight
    seconds: dict[str, list[float]] = {}
    for _ in range(passes):
        for name, call in calls.items():
            rounds = repetitions if name.startswith("clmst") else 1
            times = [timed(call, expected) for _ in range(rounds + (rounds > 1))]
            seconds.setdefault(name, []).extend(times[-rounds:])
        for peer in peers:
            verdict = peer.compete(path, repetitions, expected, time_limit=_TIME_LIMIT)
            if verdict.status != "ok":
                raise SystemExit(f"{peer.name}: {verdict.remark}")
            seconds.setdefault(peer.name, []).extend(verdict.solve)
    return {name: median(times) for name, times in seconds.items()}


def show(graph: str, times: dict[str, float], peers: list[Peer], columns: list[str]) -> str:
    """Return a row of the table."""
    cells = [f"{times[name] * 1e3:.1f}" if name in times else "" for name in columns]
    best = min((times[peer.name] for peer in peers), default=None)
    ratios = [f"{best / times[name]:.2f}" if best else "" for name in ("clmst", "clmst, upper")]
    return "| " + " | ".join([graph, *cells, *ratios]) + " |"


@click.command(help=__doc__.split("\n")[0])
@click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--peer", "peers", multiple=True, help="NAME=COMMAND; several are allowed.")
@click.option("--library", "names", multiple=True, help="rustworkx, igraph or NetworKit.")
@click.option("--device", help="Which device; the best CPU when left out.")
@click.option("--cores", type=int, help="Cores that this process may use.")
@click.option("--passes", default=3, show_default=True)
@click.option("--repetitions", default=5, show_default=True)
def main(  # noqa: PLR0917
    graphs: tuple[Path, ...],
    peers: tuple[str, ...],
    names: tuple[str, ...],
    device: str | None,
    cores: int | None,
    passes: int,
    repetitions: int,
) -> None:
    """Measure, and print a table."""
    if cores is not None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    chosen, parsed = clmst.get_device(device or "cpu"), [Peer.parse(text) for text in peers]
    columns = ["clmst", "clmst, upper", *(peer.name for peer in parsed), "SciPy"]
    columns += names
    heads = ["graph", *(f"{name} ms" for name in columns), "ratio", "ratio, upper"]
    click.echo(f"{chosen.description}, driver {chosen.driver}\n")
    click.echo("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    everything = []
    for path in graphs:
        times = contest(path, chosen, parsed, names, passes, repetitions)
        everything.append(times)
        click.echo(show(path.stem, times, parsed, columns))
    for ours in ("clmst", "clmst, upper"):
        means = []
        groups = {"best peer": [peer.name for peer in parsed], "SciPy": ["SciPy"]}
        for title, group in {**groups, **{name: [name] for name in names}}.items():
            ratios = [
                min(times[name] for name in group) / times[ours]
                for times in everything
                if group and all(name in times for name in group)
            ]
            if ratios:
                means.append(f"{title} {geometric_mean(ratios):.2f} (least {min(ratios):.2f})")
        click.echo(f"\nGeometric means over {ours}: {', '.join(means)}.")


if __name__ == "__main__":
    main()
