"""Time structured graphs beside random graphs with as many edges, to find bad cases.

    python -m benchmarks worst_cases [--algorithm NAME ...] [--family TEXT ...] [--edges 1000000]
        [--layout both|upper|each] [--shape own|gpu] [--limit 4]

Every family of ``worst_case_graphs`` is solved by every algorithm that "auto" can choose, and by
``pma``. The graph is on the device, and the forest stays there. Each graph is timed in turns with a
random graph that has as many edges and vertices, but at most 32 edges per vertex. A time is the
minimum of the repetitions. Each repetition solves the graph as if for the first time, without the
data that an earlier solve has kept. Before a graph is timed, its forest is compared, edge for edge,
with the forest of Kruskal's algorithm. ``prim`` is only timed on graphs of 4,000 edges, because
"auto" chooses it only for small graphs, and ``dense`` only on complete graphs. With ``--shape gpu``
a CPU gets work-groups of as many work-items as a GPU. This shows ratios for kernels of GPUs. The
times themselves mean nothing.

Ratios above ``--limit`` are marked, and the exit status is 1 if there are any.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import click
import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.runner import Row, Rows, Run, case
from benchmarks.worst_case_graphs import FAMILIES, Edges, matrices, random_graph
from clmst.bench.harness import Contestant, Harness, Times
from clmst.runtime import policy

ALGORITHMS = ("filter-boruvka", "ecl", "prim", "dense", "pma")
_PRIM_EDGES = 4000
_DENSE_VERTICES = 1024
_KEPT = 4  # number of random graphs that are kept, the last ones


class Solves:
    """A graph on the device, with the times of its solves by one algorithm.

    The constructor uploads the graph, and verifies and warms up the algorithm.
    """

    def __init__(
        self, graph: clmst.Graph | clmst.DenseGraph, algorithm: str, device: clmst.Device,
        harness: Harness,
    ) -> None:  # fmt: skip
        self.resident = clmst.to_device(graph, device)
        self.algorithm, self.n_edges = algorithm, graph.n_edges
        listed = graph if isinstance(graph, clmst.Graph) else graph.to_graph()
        agreement = Agreement("the oracle", clmst.kruskal(listed))
        self.times: Times[clmst.DeviceForest] = harness.admit(Contestant(
            name=algorithm, call=self.solve, difference=agreement.difference,
            before=self._forget, wait=device.queue.finish,
        ))  # fmt: skip
        self.stats = self.solve().to_host().stats

    def solve(self) -> clmst.DeviceForest:
        """Solve the graph, and leave the forest on the device."""
        return clmst.minimum_spanning_forest(
            self.resident, algorithm=self.algorithm, keep_on_device=True
        )

    def _forget(self) -> None:
        """Drop all data that a solve has kept with the graph for the next solve."""
        self.resident.device.queue.finish()
        self.resident.plans.clear()

    @property
    def edge_ns(self) -> float:
        """Nanoseconds per edge in the fastest turn."""
        return 1e9 * min(self.times.seconds) / max(self.n_edges, 1)


def row_of(names: tuple[str, str, str], ours: Solves, random: Solves, harness: Harness) -> Row:
    """Time a structured graph and a random graph in turns, and return the row of the table.

    `names` are the algorithm, the family of the structured graph, and the layout, which says
    whether edges are stored once or twice. `ours` solves the structured graph, and `random` the
    random graph.
    """
    random.times.seconds = []
    for turn in range(harness.repetitions):
        harness.take_turn([ours.times, random.times], turn)
    row: Row = dict(zip(("algorithm", "family", "layout"), names, strict=True))
    row |= {"n": ours.resident.n_vertices, "m": ours.n_edges, "ns an edge": ours.edge_ns}
    row |= {"random graph": random.edge_ns, "ratio": ours.edge_ns / random.edge_ns}
    return row | {name: int(ours.stats.get(name, 0)) for name in ("rounds", "launches")}


@dataclass(kw_only=True)
class Comparison:
    """A comparison of the times of structured graphs on one device with times of random graphs.

    Each graph of a family is timed in turns with a random graph that has as many edges and
    vertices.
    """

    device: clmst.Device
    harness: Harness
    families: Sequence[str]  # parts of names; empty means all families
    edges: int
    layouts: Sequence[str]
    _random: dict[tuple[str, str, int, int], Solves] = field(default_factory=dict)

    def rows(self, algorithm: str) -> Iterator[Row]:
        """Yield a row of the table for each chosen family of graphs, solved by an algorithm."""
        if algorithm == "dense":
            yield from self._complete()
            return
        for family in self._chosen(FAMILIES):
            m = _PRIM_EDGES if algorithm == "prim" else self.edges
            edges = FAMILIES[family](m)
            for layout in self.layouts:
                ours = self._solves(edges, algorithm, layout)
                random = self._beside(edges, algorithm, layout)
                yield row_of((algorithm, family, layout), ours, random, self.harness)
                del ours
        self._random.clear()

    def _chosen(self, names: Iterable[str]) -> list[str]:
        wanted = self.families
        return [one for one in names if not wanted or any(text in one for text in wanted)]

    def _solves(self, edges: Edges, algorithm: str, layout: str) -> Solves:
        graph = edges.graph()
        if layout == "both":
            graph = graph.symmetrised()
        return Solves(graph, algorithm, self.device, self.harness)

    def _beside(self, edges: Edges, algorithm: str, layout: str) -> Solves:
        beside = random_graph(edges.u.size, edges.n)
        key = (algorithm, layout, beside.n, beside.u.size)
        if key not in self._random:
            if len(self._random) >= _KEPT:
                del self._random[next(iter(self._random))]
            self._random[key] = self._solves(beside, algorithm, layout)
        return self._random[key]

    def _complete(self) -> Iterator[Row]:
        cells = matrices(min(_DENSE_VERTICES, int((2 * self.edges) ** 0.5)))
        beside = self._dense(next(iter(cells.values())))
        for family in self._chosen(cells):
            ours = self._dense(cells[family])
            yield row_of(("dense", family, "complete"), ours, beside, self.harness)

    def _dense(self, cells: np.ndarray) -> Solves:
        return Solves(clmst.DenseGraph(cells), "dense", self.device, self.harness)


def shaped(device: clmst.Device, shape: str) -> clmst.Device:
    """Return the device with its own settings, or with settings for a GPU if `shape` is "gpu".

    With settings for a GPU, a work-group has many work-items, which share the work. A CPU normally
    has one work-item in each work-group.
    """
    if shape == "own":
        return device
    capabilities = replace(device.capabilities, kind="gpu")
    return device.with_policy(
        replace(policy.choose(capabilities), work_group_size=64, groups_per_compute_unit=8)
    )


@case(
    click.option("--algorithm", "algorithms", type=click.Choice(ALGORITHMS), multiple=True,
                 default=ALGORITHMS),
    click.option("--family", "families", multiple=True, help="Part of a name; again for more."),
    click.option("--edges", default=1_000_000, show_default=True),
    click.option("--layout", type=click.Choice(["both", "upper", "each"]), default="both"),
    click.option("--shape", type=click.Choice(["own", "gpu"]), default="own", show_default=True),
    click.option("--limit", default=4.0, show_default=True, help="Of ratios."),
    repetitions=5,
)  # fmt: skip
def main(
    run: Run, *, algorithms: tuple[str, ...], families: tuple[str, ...], edges: int, layout: str,
    shape: str, limit: float,
) -> Rows:  # fmt: skip
    """Time structured graphs beside random ones."""
    comparison = Comparison(
        device=shaped(run.device, shape),
        harness=run.harness(rehearsals=1),  # each timed solve follows an untimed one
        families=families,
        edges=edges,
        layouts=("both", "upper") if layout == "each" else (layout,),
    )
    ratios = []
    for algorithm in algorithms:
        for row in comparison.rows(algorithm):
            ratios.append(row["ratio"])
            mark = "**" if row["ratio"] > limit else ""
            yield row | {"ratio": f"{mark}{row['ratio']:.2f}{mark}", "_ratio": row["ratio"]}
    beyond = sum(ratio > limit for ratio in ratios)
    yield f"{beyond} of {len(ratios)} beyond {limit:g}"
    if beyond:
        raise click.exceptions.Exit(1)
