"""Repeat experiments of Nobari et al. (PPoPP '12) on their algorithm PMA, in clmst `pma`.

The experiments are Table 1 and Figures 4, 7 and 8 of the paper. Figure 5 is repeated by
``python -m benchmarks studies degrees``, and Figure 6 by ``python -m benchmarks studies sizes``.

    python -m benchmarks pma table [--share 0.25] [--network NAME]... [--kruskal] [--plot FILE]
    python -m benchmarks pma gamma|parallel|reduction [--share 0.25] [--plot FILE]

PMA grows many small trees at the same time, each of at most gamma vertices, and then contracts each
tree to a vertex. This is repeated, level by level, with the contracted graph. The three variants of
PMA are "min", "sort" and "hybrid".

``table`` times the variants beside `boruvka` and `ecl` on graphs of the paper's kinds. It also
times the preparation of the first level alone, which ranks the edges and sorts the rows. With
``--kruskal``, Kruskal's algorithm on one core of the host is timed once for each graph. ``gamma``
times the variants by the size of trees (Figures 4(a) and 7). ``parallel`` times solves with and
without the removal of parallel edges, by average degree (Figure 4(b)). ``reduction`` counts the
vertices that the first level unites (Figure 8). It does so for Bader and Cong's algorithm, too,
which grows one tree for each processor and stops growing a tree that meets another one.

Graphs are generated, with the fraction ``--share`` of the paper's number of vertices. The paper's
real graphs are replaced by graphs of a similar kind with the same numbers of vertices and edges.
Surrogate graphs can be added by name (``--graph road_usa``). Graphs are on the device before a
solve begins, and forests stay there. All forests must be the forest that `ecl` finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import click
import numpy as np

import clmst
from benchmarks import stated, studies
from benchmarks.agreement import Agreement
from benchmarks.plots import lines, medians, names_of
from benchmarks.runner import Cases, Row, Rows, Run, Way, case, solving
from benchmarks.strategies import KRUSKAL, kruskal_ms
from benchmarks.studies import Make, recursive, scaled
from clmst import DeviceForest, DeviceGraph, Graph, PmaOptions
from clmst.algorithms.pma import Variant
from clmst.algorithms.pma.solve import Growth, chosen_gamma, grow_trees, lanes_for
from clmst.algorithms.shared.contraction import Contraction
from clmst.bench.canvas import GRID, legend_below, panels, plain_ticks, style
from clmst.bench.inputs import real_file
from clmst.generators import generate
from clmst.generators.surrogates import SURROGATES
from clmst.runtime.launcher import Launcher

VARIANTS: tuple[Variant, ...] = ("min", "sort", "hybrid")
SMALL_GAMMA = 6  # the best gamma on random graphs of small degree in the paper
GAMMAS = (2, 4, 6, 8, 12, 16, 24, 32, 64, 128, 256)
BADER_CONG = "Bader and Cong"
PROCESSORS = 64  # for Bader and Cong's algorithm; few, as in section 6.4 of the paper
FIRST_LEVEL = "first level alone"  # a column of the table that is not a solver
DEGREES = (4, 8, 16, 32, 64)
_MILLION = 1_000_000


def road(n: int, degree: float) -> Make:
    """Return a function that generates a road map with `n` vertices and average degree `degree`."""
    return partial(generate, "road", n=n, average_degree=degree)


def table_graphs(share: float) -> Mapping[str, Make]:
    """Return, by name, functions that make the graphs of the paper's Table 1.

    A graph is read from its file if there is one. Otherwise a graph of the same kind is generated,
    with the fraction `share` of the vertices.
    """
    of = partial(scaled, share=share)
    attach = partial(generate, "preferential")
    networks: Mapping[str, tuple[str, Make]] = {
        "Arxiv Astro Physics": ("ca-AstroPh", partial(attach, n=of(19_000), edges_per_vertex=11)),
        "Penn Road network": ("roadNet-PA", road(of(1_000_000), 2.8)),
        "Amazon co-purchasing": ("amazon0505", partial(attach, n=of(410_000), edges_per_vertex=8)),
        "Google graph": ("web-Google", recursive(of(876_000), 12)),
        "Internet topology": ("as-skitter", recursive(of(1_700_000), 14)),
        "US patents citation": (
            "cit-Patents", partial(attach, n=of(3_800_000), edges_per_vertex=4)
        ),
    }  # fmt: skip
    return {
        **{place: studies.road(place, share)[1] for place in studies.ROADS},
        **{name: from_file_or(*one) for name, one in networks.items()},
        "clusters (SSCA#2)": partial(generate, "ssca2", n=of(_MILLION)),
    }


def from_file_or(name: str, make: Make) -> Make:
    """Return a function that reads the real graph `name` from its file, if the file is there.

    Otherwise return `make`, a function that generates a similar graph.
    """
    file = real_file(name)
    return make if file is None else partial(Graph.read, file)


def gamma_graphs(share: float) -> Mapping[str, Make]:
    """Return functions that generate the graphs of the paper's Figures 4(a) and 7, by name.

    `share` is the fraction of the paper's number of vertices.
    """
    n = scaled(_MILLION, share)
    return {
        "road map (Florida)": road(n, 2.5),
        "random, degree 8": partial(generate, "random", n=n, average_degree=8.0),
        "random, degree 64": partial(generate, "random", n=n, average_degree=64.0),
        "dense R-MAT": recursive(10_000, 2 * max(round(1000 * share), 16)),
    }


def reduction_graphs(share: float) -> Mapping[str, Make]:
    """Return functions that generate the graphs of the paper's Figure 8, by name.

    `share` is the fraction of the paper's number of vertices.
    """
    n = scaled(_MILLION, share)
    return {
        "road map (Florida)": road(n, 2.5),
        "random, degree 60": partial(generate, "random", n=n, average_degree=60.0),
        "R-MAT, degree 20": recursive(n, 20),
        "clusters (SSCA#2)": partial(generate, "ssca2", n=n),
    }


def degree_graphs(share: float) -> Mapping[str, Make]:
    """Return functions that generate random graphs of ascending average degree (Figure 4(b)).

    `share` is the fraction of the paper's number of vertices.
    """
    n = scaled(_MILLION, share)
    return {
        f"random, degree {degree}": partial(generate, "random", n=n, average_degree=float(degree))
        for degree in DEGREES
    }


# ------------------------------------------------------------------------ experiments


def resident(run: Run, graphs: Mapping[str, Make]) -> Iterator[tuple[DeviceGraph, Row]]:
    """Upload each graph in turn, and yield it with the first columns of its row of the table.

    They are the graph's name, its numbers of vertices and edges, and the maximum size of trees that
    `pma` uses by default.
    """
    for name, make in graphs.items():
        host = make().symmetrised()
        graph = clmst.to_device(host, run.device)
        default = chosen_gamma(host.n_vertices, host.n_slots, run.device)
        sizes = {"vertices": host.n_vertices, "edges": host.n_slots // 2}
        yield graph, {"graph": name, **sizes, "_default": default}
        del graph
        run.device.release_memory()


def timed(run: Run, graph: DeviceGraph, ways: Mapping[str, Way]) -> dict[str, list[float]]:
    """Time some functions that solve a graph in turns, and return their milliseconds by name.

    Each of the functions must find the same forest as the algorithm `ecl`.
    """
    right = solving(graph, "ecl")().to_host()
    return run.turns(ways, Agreement("ecl", right).difference, warm_ups=0)


def over_degrees(
    run: Run, graphs: Mapping[str, Make], options: Mapping[str, PmaOptions]
) -> Iterator[Row]:
    """Time `pma` with several options on each graph, and yield a row of times for each graph.

    `options` has the options for each column of the table, by its heading.
    """
    for graph, row in resident(run, graphs):
        degree = {"degree": 2 * row["edges"] / row["vertices"]}
        yield (
            row
            | degree
            | timed(run, graph, {k: solving(graph, "pma", v) for k, v in options.items()})
        )


def united_by_bader_cong(graph: DeviceGraph, processors: int) -> float:
    """Return by how many per cent the first level of Bader and Cong's MST-BC reduces the vertices.

    Each of `processors` processors grows trees as Prim's algorithm does, each from another vertex.
    A processor that meets a vertex of another tree stops growing its own tree, without joining the
    two, and begins a new tree. MST-BC marks the vertices of a tree by a colour. Here, as in the PMA
    paper, a processor claims a vertex by an atomic operation instead, so trees can grow further.
    """
    device = graph.device
    steps = Contraction(graph, Launcher(device, device.queue), maximum=False)
    level = steps.first_level()
    if level is None:
        return 0.0
    growth = Growth(
        n=level.n, entries=level.entries, gamma=max(level.n // processors, 2),
        lanes=lanes_for(device.capabilities, device.policy), rows_rise=True,
    )  # fmt: skip
    roots, _ = grow_trees(steps, level, growth)
    return 100 * (1 - np.unique(roots.to_host()).size / level.n)


def united(forest: DeviceForest) -> float:
    """Return by how many per cent the first level of a solve by `pma` reduces the vertices.

    The first level grows many small trees, and contracts each of them to a vertex.
    """
    vertices: Sequence[int] = forest.stats["vertices"]
    return 100 * (1 - (vertices[1] if len(vertices) > 1 else 0) / vertices[0])


# ---------------------------------------------------------------------------- pictures


def draw_table(rows: Sequence[Row], path: Path, device: str) -> None:
    """Draw the speedup of each algorithm over `boruvka`, with a line for each graph.

    The paper's speedups are drawn with hollow markers.
    """
    size, title = (9, 1.6 + 0.3 * len(rows)), f"How many times as fast as boruvka, {device}"
    base, numbers = medians(rows, "boruvka"), range(len(rows))
    with panels(path, 1, size, title=title) as (panel,):
        for number, name in enumerate(
            one for one in names_of(rows) if one not in (FIRST_LEVEL, KRUSKAL)
        ):
            ratios = [other / own for other, own in zip(base, medians(rows, name), strict=True)]
            look = style(number)
            panel.plot(ratios, numbers, linestyle="", markersize=7, label=name, **look)
            theirs, places = stated.pma_speedups(name, [row["graph"] for row in rows])
            if theirs:
                hollow = {**look, **stated.LOOK, "markeredgecolor": look["color"]}
                panel.plot(theirs, places, label=f"{name}, paper", **hollow)
        panel.set_xscale("log")
        plain_ticks(panel.xaxis, (1, 2, 3, 5))
        panel.set_xlabel("time of boruvka / time; of the paper, of Vineet / time")
        panel.set_yticks(numbers, [row["graph"] for row in rows])
        panel.invert_yaxis()
        panel.grid(**GRID)
        legend_below(panel, columns=5)


def draw_gamma(rows: Sequence[Row], path: Path, device: str) -> None:
    """Draw the times of the variants by gamma, the maximum size of trees, in a panel per graph.

    Vertical lines mark the gamma that clmst chooses by default and the best gammas in the paper.
    """
    graphs = list(dict.fromkeys(row["graph"] for row in rows))
    size, title = (3.3 * len(graphs), 4.2), f"pma: time over the size of trees, gamma; {device}"
    with panels(path, len(graphs), size, title=title) as axes:
        for panel, graph in zip(axes, graphs, strict=True):
            here = [row for row in rows if row["graph"] == graph]
            lines(panel, here, "gamma", band=True)
            default = here[0]["_default"]
            panel.axvline(default, color="#999999", linestyle=":", label="gamma by default")
            for best in stated.GAMMAS.get(graph, ()):
                panel.axvline(best, color="#D55E00", linestyle="--", label="best in the paper")
            sizes = f"{here[0]['vertices']:,} vertices, {here[0]['edges']:,} edges"
            panel.set_title(f"{graph}\n{sizes}", fontsize=9)
            panel.set_xscale("log", base=2)
            panel.set_xticks([2, 8, 32, 128], ["2", "8", "32", "128"])
            panel.set_xlabel("gamma")
            panel.set_ylim(bottom=0)
        axes[0].set_ylabel("milliseconds")
        legend_below(axes[0], columns=4)


def draw_over_degrees(rows: Sequence[Row], path: Path, device: str) -> None:
    """Draw the times of `pma` with and without the removal of parallel edges, by average degree."""
    title = f"pma: random graphs of {rows[0]['vertices']:,} vertices, {device}"
    with panels(path, 1, (6.5, 4.2), title=title) as (panel,):
        lines(panel, rows, "degree", band=True)
        panel.set_xlabel("average degree")
        panel.set_ylabel("milliseconds")
        panel.set_ylim(bottom=0)
        panel.figure.legend(
            loc="outside lower center", title="parallel edges", ncols=2, frameon=False
        )


def draw_reduction(rows: Sequence[Row], path: Path, device: str) -> None:
    """Draw by how many per cent the first contraction reduces the vertices of each graph."""
    names, title = names_of(rows), f"Vertices that the first level unites, {device}"
    width = 0.8 / len(names)
    with panels(path, 1, (8, 4.2), title=title) as (panel,):
        for number, name in enumerate(names):
            left = (number - (len(names) - 1) / 2) * width
            bars = panel.bar(
                [place + left for place in range(len(rows))], medians(rows, name),
                width=0.9 * width, label=name, color=style(number)["color"],
            )  # fmt: skip
            panel.bar_label(bars, fmt="%.1f", fontsize=7)
        panel.set_xticks(range(len(rows)), [row["graph"] for row in rows])
        panel.set_ylabel("vertices united by the first level, %")
        panel.grid(axis="y", **GRID)
        legend_below(panel, columns=5)


# ---------------------------------------------------------------------------- commands


@click.group(cls=Cases)
def main() -> None:
    """Repeat the experiments of the paper on PMA (Nobari et al., PPoPP '12)."""


SHARE = click.option(
    "--share", default=1.0, type=click.FloatRange(0, 1, min_open=True), help="Of sizes."
)


@main.add_command
@case(
    SHARE,
    studies.KRUSKAL_OPTION,
    click.option(
        "--network", "networks", multiple=True, type=click.Choice(tuple(table_graphs(1))),
        help="Of the paper's; again for more. All by default.",
    ),
    click.option("--graph", "names", multiple=True, type=click.Choice(tuple(SURROGATES))),
    draw=draw_table,
)  # fmt: skip
def table(
    run: Run, share: float, networks: tuple[str, ...], names: tuple[str, ...], *, kruskal: bool
) -> Rows:
    """Time all variants of PMA, Borůvka's algorithm and ECL-MST (Table 1).

    --graph adds surrogate graphs.
    """
    every = table_graphs(share)
    graphs = {name: every[name] for name in networks or every}
    graphs |= {name: SURROGATES[name].load for name in names}
    for graph, row in resident(run, graphs):
        ways = {"boruvka": solving(graph, "boruvka"), "ecl": solving(graph, "ecl")}
        ways |= {f"pma {v}": solving(graph, "pma", PmaOptions(variant=v)) for v in VARIANTS}

        def make(graph: DeviceGraph = graph) -> None:
            launch = Launcher(run.device, run.device.queue)
            Contraction(graph, launch, maximum=False).first_level()

        alone = run.turns({FIRST_LEVEL: make}, wait=run.device.queue.finish, warm_ups=0)
        times = timed(run, graph, ways)
        if kruskal:
            host = graph.graph
            assert host is not None
            times[KRUSKAL] = [kruskal_ms(host, ways["ecl"]().to_host())]
        yield row | {"_share": share} | times | alone


@main.add_command
@case(SHARE, draw=draw_gamma)
def gamma(run: Run, share: float) -> Rows:
    """Time all variants of PMA by the maximum size of their trees (Figures 4(a) and 7)."""
    for graph, row in resident(run, gamma_graphs(share)):
        ways = {
            f"pma {variant} {gamma}": solving(
                graph, "pma", PmaOptions(variant=variant, gamma=gamma)
            )
            for gamma in GAMMAS
            for variant in VARIANTS
        }
        times = timed(run, graph, ways)
        for gamma in GAMMAS:
            yield row | {"gamma": gamma} | {f"pma {v}": times[f"pma {v} {gamma}"] for v in VARIANTS}


@main.add_command
@case(SHARE, draw=draw_over_degrees)
def parallel(run: Run, share: float) -> Rows:
    """Time `pma` with and without the removal of parallel edges, for two gammas (Figure 4(b)).

    Gamma is the maximum size of the trees that grow in one level.
    """
    options = {
        f"{what}, {'chosen gamma' if gamma is None else f'gamma {gamma}'}": PmaOptions(
            variant="hybrid", gamma=gamma, remove_parallel=what == "removed"
        )
        for gamma in (SMALL_GAMMA, None)
        for what in ("removed", "kept")
    }
    return over_degrees(run, degree_graphs(share), options)


@main.add_command
@case(
    SHARE,
    click.option("--processors", type=click.IntRange(1), default=PROCESSORS, show_default=True),
    draw=draw_reduction,
    measures="per cent of the vertices that the first contraction removes",
)
def reduction(run: Run, share: float, processors: int) -> Rows:
    """Measure by how many per cent the first contraction reduces the vertices (Figure 8)."""
    for graph, row in resident(run, reduction_graphs(share)):
        ways = {"boruvka": solving(graph, "boruvka")}
        ways |= {
            f"pma, gamma {k}": solving(graph, "pma", PmaOptions(gamma=k)) for k in (2, 10, 100)
        }
        timed(run, graph, ways)
        found = {
            name: [united(way()) for _ in range(run.repetitions)] for name, way in ways.items()
        }
        apart = [united_by_bader_cong(graph, processors) for _ in range(run.repetitions)]
        yield row | {BADER_CONG: apart} | found
