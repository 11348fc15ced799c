"""How much longer an edge takes on structured graphs than on a random graph of as many edges.

    python -m benchmarks.worst_cases [--device NAME] [--algorithm NAME ...] [--family TEXT ...]
        [--edges 1000000] [--layout both|upper|each] [--shape own|gpu] [--repetitions 5]
        [--limit 4] [--clock wall|cpu] [--json FILE]

Every family of ``worst_case_graphs`` is solved by every algorithm that "auto" can choose, and by
``pma``, in the memory of the device; the forest stays there. Beside each family stands the random
graph with as many edges and as many vertices (but 32 edges a vertex at most). Both take turns; a
time is the least of the repetitions, each as the first solve of the graph: what solves leave for
the next is dropped. No graph is timed before its forest, edge for edge, is the
oracle's. ``prim`` takes graphs of 4,000 edges, as "auto" does, and ``dense`` complete graphs.
``--shape gpu`` gives a CPU the work-groups of a GPU, which shows ratios, not times.

``--clock cpu`` takes the processor time of all threads: for CPU devices of a busy machine.

Ratios beyond ``--limit`` are marked, and the exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from benchmarks.worst_case_graphs import FAMILIES, Edges, matrices, random_graph
from clmst.bench.agreement import Agreement
from clmst.bench.harness import CLOCKS, Contestant, Harness, Times
from clmst.bench.record import write_record
from clmst.runtime import policy

ALGORITHMS = ("filter-boruvka", "ecl", "prim", "dense", "pma")
_PRIM_EDGES = 4000
_DENSE_VERTICES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One algorithm on one family.

    Attributes
    ----------
    algorithm, family, layout : str
    n_vertices, n_edges : int
    edge_ns, reference_ns : float
        Nanoseconds an edge, of the family and of the random graph beside it.
    reference_vertices : int
        Of that graph, which has as many edges.
    rounds : int
        What the solve says of itself; 0 if it does not.
    launches : int
    """

    algorithm: str
    family: str
    layout: str
    n_vertices: int
    n_edges: int
    edge_ns: float
    reference_ns: float
    reference_vertices: int
    rounds: int
    launches: int

    @property
    def ratio(self) -> float:
        """Time an edge beside that of the random graph."""
        return self.edge_ns / self.reference_ns


class Solves:
    """A graph on the device, and its solves by one algorithm; right, and warmed up."""

    def __init__(
        self,
        graph: clmst.Graph | clmst.DenseGraph | clmst.Points,
        algorithm: str,
        device: clmst.Device,
        harness: Harness,
    ) -> None:
        self.resident = clmst.to_device(graph, device)
        self.algorithm, self.n_edges = algorithm, graph.n_edges
        listed = graph if isinstance(graph, clmst.Graph) else graph.to_graph()
        agreement = Agreement("the oracle", clmst.kruskal(listed))
        self.times: Times[clmst.DeviceForest] = harness.admit(
            Contestant(
                name=algorithm,
                call=self.solve,
                difference=agreement.difference,
                before=self._forget,
                wait=device.queue.finish,
            )
        )
        self.stats = self.solve().to_host().stats

    def solve(self) -> clmst.DeviceForest:
        """Solve, and leave the forest on the device."""
        return clmst.minimum_spanning_forest(
            self.resident, algorithm=self.algorithm, keep_on_device=True
        )

    def _forget(self) -> None:
        """Drop what a graph's first solve leaves for the next."""
        self.resident.device.queue.finish()
        self.resident.plans.clear()

    @property
    def edge_ns(self) -> float:
        """Nanoseconds an edge, of the quickest turn."""
        return 1e9 * min(self.times.seconds) / max(self.n_edges, 1)


def point(
    names: tuple[str, str, str],
    ours: Solves,
    random: Solves,
    harness: Harness,
) -> Point:
    """Time a family beside its random graph, by turns."""
    for turn in range(harness.repetitions):
        harness.take_turn([ours.times, random.times], turn)
    algorithm, family, layout = names
    return Point(
        algorithm=algorithm,
        family=family,
        layout=layout,
        n_vertices=ours.resident.n_vertices,
        n_edges=ours.n_edges,
        edge_ns=ours.edge_ns,
        reference_ns=random.edge_ns,
        reference_vertices=random.resident.n_vertices,
        rounds=int(ours.stats.get("rounds", 0)),
        launches=int(ours.stats.get("launches", 0)),
    )


class Run:
    """What all families share."""

    def __init__(self, device: clmst.Device, arguments: argparse.Namespace) -> None:
        self.device, self.arguments = device, arguments
        # Each timed solve comes after one that is not timed.
        self._harness = Harness(
            repetitions=arguments.repetitions,
            rehearsals=1,
            clock=CLOCKS[arguments.clock],
        )
        self._random: dict[tuple[str, str, int, int], Solves] = {}

    def points(self) -> Iterator[Point]:
        """Yield what every algorithm does on every family that was asked for."""
        for algorithm in self.arguments.algorithm or ALGORITHMS:
            if algorithm == "dense":
                yield from self._complete()
                continue
            for family in self._chosen(FAMILIES):
                m = _PRIM_EDGES if algorithm == "prim" else self.arguments.edges
                edges = FAMILIES[family](m)
                for layout in self._layouts():
                    ours = self._contestant(edges, algorithm, layout)
                    random = self._beside(edges, algorithm, layout)
                    names = (algorithm, family, layout)
                    yield point(names, ours, random, self._harness)
                    del ours
            self._random.clear()

    def _chosen(self, names: Any) -> list[str]:
        wanted = self.arguments.family
        return [one for one in names if not wanted or any(text in one for text in wanted)]

    def _layouts(self) -> Sequence[str]:
        layout = self.arguments.layout
        return ("both", "upper") if layout == "each" else (layout,)

    def _contestant(self, edges: Edges, algorithm: str, layout: str) -> Solves:
        graph = edges.graph()
        if layout == "both":
            graph = graph.symmetrised()
        return Solves(graph, algorithm, self.device, self._harness)

    def _beside(self, edges: Edges, algorithm: str, layout: str) -> Solves:
        """Return the random graph of as many edges and vertices; the last ones are kept."""
        beside = random_graph(edges.u.size, edges.n)
        key = (algorithm, layout, beside.n, beside.u.size)
        if key not in self._random:
            if len(self._random) >= 4:
                del self._random[next(iter(self._random))]
            self._random[key] = self._contestant(beside, algorithm, layout)
        kept = self._random[key]
        kept.times.seconds = []
        return kept

    def _complete(self) -> Iterator[Point]:
        cells = matrices(min(_DENSE_VERTICES, int((2 * self.arguments.edges) ** 0.5)))
        first = next(iter(cells))
        beside = self._dense(cells[first])
        for family in self._chosen(cells):
            beside.times.seconds = []
            ours = self._dense(cells[family])
            names = ("dense", family, "complete")
            yield point(names, ours, beside, self._harness)

    def _dense(self, cells: np.ndarray) -> Solves:
        return Solves(clmst.DenseGraph(cells), "dense", self.device, self._harness)


def shaped(device: clmst.Device, shape: str) -> clmst.Device:
    """Return the device in another shape of kernels."""
    if shape == "own":
        return device
    capabilities = replace(device.capabilities, kind="gpu")
    return device.with_policy(
        replace(policy.choose(capabilities), work_group_size=64, groups_per_compute_unit=8)
    )


def arguments_of(words: Sequence[str] | None) -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.worst_cases", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--device")
    parser.add_argument("--algorithm", action="append", choices=ALGORITHMS)
    parser.add_argument("--family", action="append", help="part of a name; may be repeated")
    parser.add_argument("--edges", type=int, default=1_000_000)
    parser.add_argument("--layout", choices=("both", "upper", "each"), default="both")
    parser.add_argument("--shape", choices=("own", "gpu"), default="own")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--limit", type=float, default=4.0)
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall")
    parser.add_argument("--json", type=Path)
    return parser.parse_args(words)


def row(one: Point, limit: float) -> str:
    """Return a line of the table."""
    mark = f"**{one.ratio:.2f}**" if one.ratio > limit else f"{one.ratio:.2f}"
    return (
        f"| {one.algorithm} | {one.family} | {one.layout} | {one.n_vertices:,} | {one.n_edges:,} "
        f"| {one.edge_ns:.2f} | {one.reference_ns:.2f} | {mark} | {one.rounds} | {one.launches} |"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit status."""
    arguments = arguments_of(words)
    device = shaped(clmst.get_device(arguments.device), arguments.shape)
    print(f"{device.description}, driver {device.driver}, shape {arguments.shape}\n")
    print("| algorithm | family | layout | n | m | ns an edge | random graph | ratio "
          "| rounds | launches |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    points = []
    for one in Run(device, arguments).points():
        points.append(one)
        print(row(one, arguments.limit), flush=True)
    beyond = [one for one in points if one.ratio > arguments.limit]
    print(f"\n{len(beyond)} of {len(points)} beyond {arguments.limit}")
    values = [asdict(one) | {"ratio": one.ratio} for one in points]
    write_record(device, values, arguments.json, shape=arguments.shape)
    return int(bool(beyond))


if __name__ == "__main__":
    sys.exit(main())
