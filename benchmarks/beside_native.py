"""Time ``clmst.minimum_spanning_forest`` on a CPU beside native programs and libraries, in one run.

    python -m benchmarks.beside_native GRAPH.egr ... --peer PBBS=./pbbs --peer GBBS=./gbbs

clmst gets a ``scipy.sparse.csr_array`` and is timed from call to result, conversion included: once
with both directions of every edge, once with the upper triangle, which SciPy gets, since it is
fastest with it; libraries get a graph of their own kind, made before the clock starts. Peers keep
to the protocol of docs/benchmark.md, and time themselves, without reading and building their graph.

All contestants take turns, in several passes: times of two threads vary by a factor of up to two
between passes. The table has medians over all passes; the least times with ``--least``, for a
machine that others use. There ``--clock cpu`` takes the processor time of all threads; peers then
have to do the same. Forests are compared by weight before any time is printed.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

import clmst
from benchmarks.options import Experiment
from clmst.bench.contestants import as_matrix
from clmst.bench.harness import CLOCKS, Contestant, Harness, Times, WrongResultError
from clmst.bench.peers import Peer

# A library takes part up to so many edges: some keep a Python object for each.
_LIBRARY_EDGES = 3_000_000
_TIME_LIMIT = 600.0

# The solve, and the function that weighs its result outside the timed part.
Way = tuple[Callable[[], Any], Callable[[Any], float | int]]


def matrices(path: Path) -> tuple[Any, Any]:
    """Return a graph as a symmetric matrix, and as its upper triangle."""
    symmetric = as_matrix(clmst.read_graph(path).symmetrised())
    return symmetric, sparse.triu(symmetric, format="csr")


def libraries(upper: Any, names: tuple[str, ...]) -> dict[str, Way]:
    """Return the solve of each library, with its graph made beforehand."""
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
    negated = -edges.data.astype(np.float64)  # it has maximum spanning forests
    graph = networkit.GraphFromCoo((negated, ends), n=edges.shape[0], weighted=True)

    def solve() -> Any:
        return networkit.graph.RandomMaximumSpanningForest(graph).run().getMSF(True)

    return solve, lambda forest: -round(forest.totalEdgeWeight())


def forest_weight(result: Any) -> float | int:
    """Return the weight of a forest of clmst or a tree of SciPy."""
    weight = getattr(result, "total_weight", None)
    return int(result.data.sum(dtype=np.int64)) if weight is None else weight


def contestant(name: str, way: Way, expected: float | int) -> Contestant[Any]:
    """Return a contestant whose forest must have the expected weight."""
    solve, weigh = way

    def difference(result: Any) -> str:
        weight = weigh(result)
        return "" if weight == expected else f"its forest weighs {weight}, not {expected}"

    return Contestant(name=name, call=solve, difference=difference)


def timed(  # noqa: PLR0917
    path: Path,
    device: clmst.Device,
    peers: list[Peer],
    names: tuple[str, ...],
    passes: int,
    repetitions: int,
    clock: str = "wall",
) -> dict[str, list[float]]:
    """Return the seconds of all solves of all contestants on one graph."""
    symmetric, upper = matrices(path)
    solve: Any = partial(clmst.minimum_spanning_forest, device=device)
    ways: dict[str, Way] = {
        "clmst": (partial(solve, symmetric), forest_weight),
        "clmst, upper": (partial(solve, upper), forest_weight),
        "SciPy": (partial(minimum_spanning_tree, upper), forest_weight),
        **libraries(upper, names),
    }
    expected = clmst.minimum_spanning_forest(upper, device=device).total_weight
    every = [Times(contestant=contestant(name, way, expected)) for name, way in ways.items()]
    own = Harness(repetitions=repetitions, verification="every", clock=CLOCKS[clock])
    seconds: dict[str, list[float]] = {}
    for _ in range(passes):
        for times in every:
            is_ours = times.name.startswith("clmst")
            own.warm_up([times], int(is_ours and repetitions > 1))
            for _ in range(repetitions if is_ours else 1):
                own.time(times)
        for peer in peers:
            verdict = peer.compete(path, repetitions, expected, time_limit=_TIME_LIMIT)
            if verdict.status != "ok":
                raise WrongResultError(f"{peer.name}: {verdict.remark}")
            seconds.setdefault(peer.name, []).extend(verdict.solve)
    return seconds | {times.name: times.seconds for times in every}


def show(graph: str, times: dict[str, float], peers: list[Peer], columns: list[str]) -> str:
    """Return a row of the table."""
    cells = [f"{times[name] * 1e3:.1f}" if name in times else "" for name in columns]
    best = min((times[peer.name] for peer in peers), default=None)
    ratios = [f"{best / times[name]:.2f}" if best else "" for name in ("clmst", "clmst, upper")]
    return "| " + " | ".join([graph, *cells, *ratios]) + " |"


@click.command(cls=Experiment, help=__doc__.split("\n")[0])
@click.argument("graphs", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--peer", "peers", multiple=True, help="NAME=COMMAND; several are allowed.")
@click.option("--library", "names", multiple=True, help="rustworkx, igraph or NetworKit.")
@click.option("--device", help="Which device; the best CPU when left out.")
@click.option("--cores", type=int, help="Cores that this process may use.")
@click.option("--passes", default=3, show_default=True)
@click.option("--repetitions", default=5, show_default=True)
@click.option("--clock", type=click.Choice(sorted(CLOCKS)), default="wall", show_default=True)
@click.option("--least", is_flag=True, help="Least times instead of medians.")
def main(  # noqa: PLR0917
    graphs: tuple[Path, ...],
    peers: tuple[str, ...],
    names: tuple[str, ...],
    device: str | None,
    cores: int | None,
    passes: int,
    repetitions: int,
    clock: str,
    least: bool,
) -> None:
    """Measure, and print a table."""
    if cores is not None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    chosen, parsed = clmst.get_device(device or "cpu"), [Peer.parse(text) for text in peers]
    columns = ["clmst", "clmst, upper", *(peer.name for peer in parsed), "SciPy"]
    columns += names
    heads = ["graph", *(f"{name} ms" for name in columns), "ratio", "ratio, upper"]
    click.echo(f"{chosen.description}, driver {chosen.driver}, {clock} time\n")
    click.echo("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
    everything = []
    one_of = min if least else median
    for path in graphs:
        found = timed(path, chosen, parsed, names, passes, repetitions, clock)
        times = {name: one_of(seconds) for name, seconds in found.items()}
        everything.append(times)
        click.echo(show(path.stem, times, parsed, columns))
    for ours in ("clmst", "clmst, upper"):
        means = []
        natives = [peer.name for peer in parsed]
        alone = {name: [name] for name in (*natives, "SciPy", *names)}
        for title, group in {"best peer": natives, **alone}.items():
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
