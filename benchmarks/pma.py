"""PMA's experiments, redone: its Table 1 and Figures 4, 7 and 8.

    python -m benchmarks.pma [table] [gamma] [parallel] [reduction] [workers] [--device NAME]

``table`` times the three variants beside `boruvka` and `ecl` on graphs of the paper's kinds, and
making the first level, ranks of edges and sorted rows, by itself; ``gamma`` times the variants over
the size of trees (Figures 4(a) and 7); ``parallel`` with and without the removal of parallel edges
over the average degree (Figure 4(b)); ``reduction`` counts the vertices that the first level unites
(Figure 8). Without names, these four are run. ``workers`` compares work-items with lane groups over
the average degree, on devices whose lanes combine.

Graphs are generated, at ``--share`` of the paper's size: its real graphs, of their numbers of
vertices and edges and of a similar kind, are surrogate graphs by name (``--graph road_usa``).
Contestants take turns on the graph resident on the device, and leave the forest there; none is
timed before its edges are found equal to those of `ecl`. ``--clock cpu`` takes the processor time
of all threads instead of wall time: for CPU devices of a machine that others are using.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
from rich.console import Console
from rich.table import Table

import clmst
from benchmarks.options import Experiment
from benchmarks.pma_graphs import EXPERIMENTS, OF_THE_PAPER, Make
from benchmarks.pma_plots import FIRST_LEVEL, draw
from clmst import DeviceForest, DeviceGraph, PmaOptions
from clmst.algorithms.pma.options import Variant
from clmst.algorithms.pma.solve import chosen_gamma
from clmst.algorithms.shared.contraction import Contraction
from clmst.bench.agreement import Agreement
from clmst.bench.harness import CLOCKS, Contestant, Harness
from clmst.bench.record import write_record
from clmst.generators.surrogates import SURROGATES
from clmst.runtime.launcher import Launcher

VARIANTS: tuple[Variant, ...] = ("min", "sort", "hybrid")
SMALL_GAMMA = 6  # best on random graphs of small degree in the paper
GAMMAS = (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)

UNITS = {"wall": "milliseconds", "cpu": "processor milliseconds"}

Solve = Callable[[DeviceGraph], DeviceForest]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The results of one contestant on one graph.

    Attributes
    ----------
    experiment, graph, contestant : str
    n_vertices, n_edges : int
    x : float
        What the experiment varies: gamma, or the average degree; 0 if nothing.
    values : tuple of float
        One a repetition: milliseconds, or per cent of the vertices united.
    default : int
        The default gamma.
    """

    experiment: str
    graph: str
    contestant: str
    n_vertices: int
    n_edges: int
    x: float = 0.0
    values: tuple[float, ...]
    default: int

    @property
    def median(self) -> float:
        """The median of the values."""
        return median(self.values)


# ----------------------------------------------------------------------- contestants


def by(algorithm: str, options: PmaOptions | None = None) -> Solve:
    """Return a contestant that leaves its forest on the device."""
    return lambda graph: clmst.minimum_spanning_forest(
        graph, algorithm=algorithm, options=options, keep_on_device=True
    )


def named(graph: DeviceGraph, solves: Mapping[str, Solve]) -> list[Contestant[DeviceForest]]:
    """Return contestants that must find the edges that `ecl` finds."""
    agreement = Agreement("ecl", by("ecl")(graph).to_host())
    return [
        Contestant(name=name, call=partial(solve, graph), difference=agreement.difference)
        for name, solve in solves.items()
    ]


def united(forest: DeviceForest) -> float:
    """Return the per cent of the vertices that the first level unites with others."""
    vertices: Sequence[int] = forest.stats["vertices"]
    return 100 * (1 - (vertices[1] if len(vertices) > 1 else 0) / vertices[0])


# ------------------------------------------------------------------------ experiments


class Run:
    """A device, how often everything is done, and by which clock."""

    def __init__(self, device: clmst.Device, repetitions: int, clock: str) -> None:
        self.device = device
        self.harness = Harness(repetitions=repetitions, clock=CLOCKS[clock])

    def _timed(
        self, graph: DeviceGraph, contestants: Mapping[str, Solve]
    ) -> dict[str, tuple[float, ...]]:
        """Return the milliseconds of every contestant's calls; they take turns."""
        found = self.harness.run(named(graph, contestants))
        return {times.name: tuple(times.milliseconds) for times in found}

    def _on_device(self, graphs: Mapping[str, Make]) -> Iterator[tuple[str, DeviceGraph, Point]]:
        """Yield each graph on the device, and a point of it without values."""
        for name, make in graphs.items():
            host = make().symmetrised()
            graph = clmst.to_device(host, self.device)
            default = chosen_gamma(host.n_vertices, host.n_slots, self.device)
            yield name, graph, Point(
                experiment="", graph=name, contestant="", n_vertices=host.n_vertices,
                n_edges=host.n_slots // 2, values=(), default=default,
            )  # fmt: skip
            del graph
            self.device.release_memory()

    def _ranked(self, graph: DeviceGraph) -> tuple[float, ...]:
        """Return the milliseconds of making the first level, with which each solve begins."""

        def make() -> None:
            launch = Launcher(self.device, self.device.queue)
            Contraction(graph, launch, maximum=False).first_level()

        contestant = Contestant(name=FIRST_LEVEL, call=make, wait=self.device.queue.finish)
        (times,) = self.harness.run([contestant])
        return tuple(times.milliseconds)

    def table(self, graphs: Mapping[str, Make]) -> Iterator[Point]:
        """Table 1: all variants, Borůvka and ECL-MST."""
        contestants = {"boruvka": by("boruvka"), "ecl": by("ecl")}
        contestants |= {f"pma {v}": by("pma", PmaOptions(variant=v)) for v in VARIANTS}
        for _, graph, point in self._on_device(graphs):
            for name, values in self._timed(graph, contestants).items():
                yield replace(point, experiment="table", contestant=name, values=values)
            yield replace(
                point, experiment="table", contestant=FIRST_LEVEL, values=self._ranked(graph)
            )

    def gamma(self, graphs: Mapping[str, Make]) -> Iterator[Point]:
        """Figures 4(a) and 7: all variants over the size of trees."""
        for _, graph, point in self._on_device(graphs):
            contestants = {
                (variant, gamma): by("pma", PmaOptions(variant=variant, gamma=gamma))
                for gamma in GAMMAS
                for variant in VARIANTS
            }
            titled = {f"pma {v} {gamma}": way for (v, gamma), way in contestants.items()}
            times = self._timed(graph, titled)
            for variant, gamma in contestants:
                yield replace(
                    point, experiment="gamma", contestant=f"pma {variant}", x=float(gamma),
                    values=times[f"pma {variant} {gamma}"],
                )  # fmt: skip

    def parallel(self, graphs: Mapping[str, Make]) -> Iterator[Point]:
        """Figure 4(b): with and without the removal of parallel edges, for trees of two sizes."""
        contestants = {
            f"{what}, {'chosen gamma' if gamma is None else f'gamma {gamma}'}": by(
                "pma", PmaOptions(variant="hybrid", gamma=gamma, remove_parallel=what == "removed")
            )
            for gamma in (SMALL_GAMMA, None)
            for what in ("removed", "kept")
        }
        return self._over_degrees("parallel", contestants, graphs)

    def _over_degrees(
        self, experiment: str, contestants: Mapping[str, Solve], graphs: Mapping[str, Make]
    ) -> Iterator[Point]:
        """Time contestants, the average degree for x."""
        for _, graph, point in self._on_device(graphs):
            degree = 2 * point.n_edges / point.n_vertices
            for name, values in self._timed(graph, contestants).items():
                yield replace(
                    point, experiment=experiment, contestant=name, x=degree, values=values
                )

    def workers(self, graphs: Mapping[str, Make]) -> Iterator[Point]:
        """Ours: the average degree from which lane groups read rows faster."""
        contestants = {
            "work-items": by("pma", PmaOptions(workers="items")),
            "lane groups": by("pma", PmaOptions(workers="lanes")),
        }
        return self._over_degrees("workers", contestants, graphs)

    def reduction(self, graphs: Mapping[str, Make]) -> Iterator[Point]:
        """Figure 8: what the first level unites."""
        contestants = {"boruvka": by("boruvka")}
        contestants |= {
            f"pma, gamma {gamma}": by("pma", PmaOptions(gamma=gamma)) for gamma in (2, 10, 100)
        }
        for _, graph, point in self._on_device(graphs):
            for one in named(graph, contestants):
                self.harness.admit(one)
                values = tuple(united(one.call()) for _ in range(self.harness.repetitions))
                yield replace(point, experiment="reduction", contestant=one.name, values=values)


# ----------------------------------------------------------------------------- command


@click.command(cls=Experiment)
@click.argument("experiments", nargs=-1, type=click.Choice(tuple(EXPERIMENTS)))
@click.option("--device", default=None, help="As of clmst solve.")
@click.option("--share", default=1.0, type=click.FloatRange(0, 1, min_open=True), help="Of sizes.")
@click.option("--graph", "names", multiple=True, type=click.Choice(tuple(SURROGATES)))
@click.option("--repetitions", default=9, show_default=True, type=click.IntRange(min=1))
@click.option("--clock", default="wall", show_default=True, type=click.Choice(tuple(CLOCKS)))
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write figures here.")
@click.option("--plot", type=click.Path(path_type=Path), help="Draw them into this folder.")
def main(
    *,
    experiments: tuple[str, ...],
    device: str | None,
    share: float,
    names: tuple[str, ...],
    repetitions: int,
    clock: str,
    json_file: Path | None,
    plot: Path | None,
) -> None:
    """Redo the experiments of the paper on PMA; --graph adds surrogate graphs to the table."""
    on = clmst.get_device(device)
    run = Run(on, repetitions, clock)
    points: list[Point] = []
    for experiment in experiments or OF_THE_PAPER:
        graphs = dict(EXPERIMENTS[experiment](share))
        if experiment == "table":
            graphs |= {name: SURROGATES[name].load for name in names}
        points += getattr(run, experiment)(graphs)
        show([point for point in points if point.experiment == experiment], UNITS[clock])
    write_record(on, points, json_file, unit=UNITS[clock])
    if plot is not None:
        draw(points, plot, on.description, UNITS[clock])


def show(points: list[Point], unit: str) -> None:
    """Print a row a graph and value of x, and a column a contestant: median (least to most)."""
    names = list(dict.fromkeys(point.contestant for point in points))
    rows: dict[Any, dict[str, Point]] = {}
    for point in points:
        rows.setdefault((point.graph, point.x), {})[point.contestant] = point
    unit = "%" if points[0].experiment == "reduction" else unit
    title = f"{points[0].experiment}, {unit}: median (least to most)"
    table = Table("graph", "vertices", "edges", "x", *names, title=title)
    for (graph, x), own in rows.items():
        first, varied = next(iter(own.values())), f"{x:.0f}" if x else ""
        cells = [
            f"{p.median:.1f} ({min(p.values):.1f}-{max(p.values):.1f})"
            for p in (own[name] for name in names)
        ]
        table.add_row(graph, f"{first.n_vertices:,}", f"{first.n_edges:,}", varied, *cells)
    Console(width=200).print(table)


if __name__ == "__main__":
    main()
