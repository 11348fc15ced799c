"""Time algorithms on generated graphs, by size and by degree, and on road maps.

    python -m benchmarks studies sizes [--family random] [--vertices 1000000] [--degree 12]
    python -m benchmarks studies degrees [--algorithm boruvka] [--algorithm "pma variant=min"]
    python -m benchmarks studies roads [--share 0.1]
    python -m benchmarks studies counts [--vertices 100000] [--degree 8]
    python -m benchmarks studies small [--algorithm NAME ...] [--rounds K ...] [--from-edges]
        [--largest N]

``sizes`` and ``degrees`` repeat the panels of Figure 13 of Vineet et al. (HPG '09) and of Figures 5
and 6 of Nobari et al. (PPoPP '12). Their graphs are uniform random graphs, recursive matrices
(R-MAT), SSCA#2's cliques and rewired rings. ``roads`` solves the road maps in Table 1 of each of
the papers, and shows the papers' times. If the real file of a map is there
(`clmst.bench.inputs.real_file`), it is used. Otherwise a surrogate of its size is generated.
Options of an algorithm follow its name. Graphs and forests are on the device. All algorithms must
find the forest that the first one finds. With ``--kruskal``, Kruskal's algorithm on the host is
timed once, on one core.

``counts`` measures no times. It counts the rounds and the launches of kernels that a solve needs.
These counts do not depend on other programs on the machine. The number of launches depends on the
kind of the device.

``small`` times all algorithms on random graphs of degree 8 and 64, on complete graphs, and on
graphs whose components have 64 vertices of degree about 8. Graphs are on the device, with both
directions of each edge. With --from-edges, they are on the host, each edge is stored once, and
every solve uploads the graph again. The order of the algorithms changes from turn to turn. Every
forest is compared with the forest of Kruskal's algorithm before any time is printed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import click
import numpy as np

import clmst
from benchmarks.agreement import Agreement
from benchmarks.plots import lines, names_of
from benchmarks.runner import Cases, Row, Rows, Run, Way, case, solving
from benchmarks.strategies import KRUSKAL, kruskal_ms
from clmst import DeviceGraph, Graph
from clmst.algorithms.option_texts import read, texts_with
from clmst.bench.canvas import legend_below, panels, plain_ticks
from clmst.bench.inputs import real_file
from clmst.core.errors import DeviceError
from clmst.generators import generate

Make: TypeAlias = Callable[[], Graph]

_LEAST = 1000  # minimum number of vertices, however small the share
BETWEEN = 0.5  # SSCA#2's probability of an edge to the next clique: about 2 edges per vertex

# For each road map: its name at DIMACS, its numbers of vertices and edges in thousands, and times
# in milliseconds. The first two times are from Table 1 of Vineet et al.: of their program on a GPU,
# and of a program on a CPU. The other three are from Table 1 of Nobari et al.: of HybridPMA, of
# Vineet's program, and of Kruskal's algorithm on a CPU.
ROADS: Mapping[str, tuple[str, int, int, tuple[Any, ...]]] = {
    "New York": ("USA-road-d.NY", 264, 733, (39, 780, 18, 29, 216)),
    "San Francisco": ("USA-road-d.BAY", 321, 800, (57, 870, 19, 30, 255)),
    "Colorado": ("USA-road-d.COL", 435, 1000, (62, 1280, 24, 38, 359)),
    "Florida": ("USA-road-d.FLA", 1070, 2700, (101, 3840, 50, 79, 987)),
    "Northwest USA": ("USA-road-d.NW", 1200, 2800, (124, 4290, 58, 83, 1111)),
    "Northeast USA": ("USA-road-d.NE", 1520, 3800, (126, 6050, 80, 112, 1571)),
    "California": ("USA-road-d.CAL", 1800, 4600, (148, 7750, 102, 137, 2003)),
    "Great Lakes": ("USA-road-d.LKS", 2700, 6800, (204, 12300, 157, 193, 3004)),
    "USA-East": ("USA-road-d.E", 3500, 8700, (253, 16280, 193, 242, 3944)),
    "USA-West": ("USA-road-d.W", 6200, 15000, (412, 32050, 343, 430, 7158)),
    "USA-Central": ("USA-road-d.CTR", 14000, 33900, ("", "", 900, "", "")),
    "USA-Full": ("USA-road-d.USA", 23900, 57700, ("", "", 1361, "", "")),
}
STATED = ("Vineet, GPU", "its CPU", "HybridPMA", "Vineet there", "Kruskal there")


def scaled(n: float, share: float) -> int:
    """Return the number of vertices of a smaller graph: `n` times `share`, but at least 1000."""
    return max(round(n * share), _LEAST)


def recursive(n: int, degree: float) -> Make:
    """Return a function that generates an R-MAT graph with at least `n` vertices.

    The number of vertices is the next power of two. `degree` is the average degree.
    """
    factor = max(round(degree / 2), 1)
    return partial(generate, "rmat", scale=(n - 1).bit_length(), edge_factor=factor)


def cliques_apart(n: int, degree: float) -> Make:
    """Return a function that generates a graph of SSCA#2: random cliques, with edges between them.

    The graph has `n` vertices. The average degree is about `degree`, and at least 2.
    """
    largest = max(round(1.5 * (degree - 4 * BETWEEN)) + 1, 1)
    return partial(generate, "ssca2", n=n, largest_clique=largest, between=BETWEEN)


def uniform(n: int, degree: float) -> Make:
    """Return a function that generates a uniform random graph with `n` vertices.

    `degree` is the average degree.
    """
    return partial(generate, "random", n=n, average_degree=float(degree))


def rewired(n: int, degree: float) -> Make:
    """Return a function that generates a small world of Watts and Strogatz.

    It is a ring of `n` vertices, each joined to its `degree` nearest ones, in which the ends of
    some random edges are moved.
    """
    return partial(generate, "watts_strogatz", n=n, neighbours=2 * round(degree / 2))


FAMILIES: Mapping[str, Callable[[int, float], Make]] = {
    "random": uniform,
    "rmat": recursive,
    "ssca2": cliques_apart,
    "watts-strogatz": rewired,
}


def road(place: str, share: float) -> tuple[str, Make]:
    """Return the name of the source of a road map, and a function that makes the graph.

    `place` is a key of ROADS. If the real file of the map exists, the first result is its name.
    Otherwise it is "surrogate", and a map with the fraction `share` of the real one's vertices is
    generated. Real maps ignore `share`.
    """
    name, vertices, edges, _ = ROADS[place]
    file = real_file(name)
    if file is not None:
        return file.name, partial(Graph.read, file)
    degree = edges / vertices
    return "surrogate", partial(
        generate, "road", n=scaled(1000 * vertices, share), average_degree=min(degree, 3.0)
    )


# ------------------------------------------------------------------------ measurement


def ways_of(graph: DeviceGraph, texts: tuple[str, ...]) -> dict[str, Way]:
    """Return functions that solve a graph, each by another algorithm, by the algorithm's name.

    `texts` has the names of the algorithms, which can be followed by options, such as ``pma
    gamma=64``.
    """
    return {text: solving(graph, *read(text)) for text in texts}


def timed(run: Run, host: Graph, texts: tuple[str, ...], *, kruskal: bool) -> Row:
    """Time algorithms on a graph in turns, and return its sizes and their times.

    `host` is the graph, on the host. `texts` are names of algorithms, which can have options. If
    `kruskal` is true, Kruskal's algorithm on the host is timed once, too.
    """
    graph = clmst.to_device(host.symmetrised(), run.device)
    agreement = Agreement(texts[0], by="edges")
    times = run.turns(ways_of(graph, texts), agreement.difference)
    if kruskal and agreement.forest is not None:
        times[KRUSKAL] = [kruskal_ms(host, agreement.forest)]
    sizes = {"vertices": graph.n_vertices, "edges": graph.n_slots // 2}
    del graph
    run.device.release_memory()
    return sizes | times


def _over(
    run: Run, families: tuple[str, ...], sizes: tuple[int, ...], degrees: tuple[float, ...],
    texts: tuple[str, ...], *, kruskal: bool,
) -> Iterator[Row]:  # fmt: skip
    for family in families:
        for n in sizes:
            for degree in degrees:
                row: Row = {"family": family, "degree": float(degree)}
                yield row | timed(run, FAMILIES[family](n, degree)(), texts, kruskal=kruskal)


def _texts(_context: object, _parameter: object, texts: tuple[str, ...]) -> tuple[str, ...]:
    try:
        return texts_with(texts, ())
    except clmst.InvalidArgumentError as error:
        raise click.BadParameter(str(error)) from error


ALGORITHMS_OPTION = click.option(
    "--algorithm", "texts", multiple=True, callback=_texts,
    default=("boruvka", "pma variant=min", "pma", "pma variant=hybrid", "auto"),
    show_default=True, help='Again for more; with options as in "pma gamma=64".',
)  # fmt: skip
KRUSKAL_OPTION = click.option("--kruskal", is_flag=True, help="Time Kruskal's algorithm, too.")
FAMILY = click.option(
    "--family", "families", type=click.Choice(tuple(FAMILIES)), multiple=True,
    default=tuple(FAMILIES), show_default=True, help="Of graphs; again for more.",
)  # fmt: skip


def _numbers(name: str, default: tuple[float, ...], kind: Any, text: str) -> Any:
    plural = {"--degree": "degrees"}.get(name, name.strip("-"))
    return click.option(
        name, plural, type=kind, multiple=True, default=default, show_default=True, help=text
    )


def draw(rows: Sequence[Row], path: Path, device: str, *, over: str) -> None:
    """Draw the times of all algorithms, with a panel for each family of graphs.

    The x axis is the column `over` of the rows, for example the number of vertices. If it is the
    number of vertices and the rows have several degrees, a family has a row of panels, one for each
    degree.
    """
    families = list(dict.fromkeys(row["family"] for row in rows))
    degrees = sorted({row["degree"] for row in rows}) if over == "vertices" else [None]
    several = len(degrees) > 1
    groups = [(family, degree) for family in families for degree in degrees]
    in_row, n_rows = (len(degrees), len(families)) if several else (len(families), 1)
    size, title = (3.3 * in_row + 1, 3.2 * n_rows + 1.2), f"Time by {over}, {device}"
    with panels(path, in_row, size, title=title, share_y=True, rows=n_rows) as axes:
        for panel, (family, degree) in zip(axes, groups, strict=True):
            own = [row for row in rows if row["family"] == family]
            here = [row for row in own if degree in (None, row["degree"])]
            lines(panel, sorted(here, key=itemgetter(over)), over)
            name = f"{family}, degree {degree:g}" if several else family
            panel.set(title=name, xlabel=over, yscale="log")
            plain_ticks(panel.yaxis, (1, 2, 5))
        for first in axes[::in_row]:
            first.set_ylabel("milliseconds")
        legend_below(axes[0], columns=len(names_of(rows)))


@click.group(cls=Cases)
def main() -> None:
    """Time algorithms over sizes, degrees and road maps."""


@main.add_command
@case(
    FAMILY, ALGORITHMS_OPTION, KRUSKAL_OPTION,
    _numbers(
        "--vertices", tuple(k * 1_000_000 for k in range(1, 6)), click.IntRange(16),
        "Sizes; those of recursive matrices are the next powers of two.",
    ),
    _numbers("--degree", (12.0,), click.FloatRange(2), "Average degrees."),
    draw=partial(draw, over="vertices"),
)  # fmt: skip
def sizes(
    run: Run, *, families: tuple[str, ...], vertices: tuple[int, ...],
    degrees: tuple[float, ...], texts: tuple[str, ...], kruskal: bool,
) -> Rows:  # fmt: skip
    """Time graphs of growing size (HPG '09, Figure 13 a, c, e; PPoPP '12, Figure 6)."""
    return _over(run, families, vertices, degrees, texts, kruskal=kruskal)


@main.add_command
@case(
    FAMILY, ALGORITHMS_OPTION, KRUSKAL_OPTION,
    _numbers("--vertices", (1_000_000,), click.IntRange(16), "Sizes."),
    _numbers("--degree", (4, 8, 12, 16, 24, 32), click.FloatRange(2), "Average degrees."),
    draw=partial(draw, over="degree"),
)  # fmt: skip
def degrees(
    run: Run, *, families: tuple[str, ...], vertices: tuple[int, ...],
    degrees: tuple[float, ...], texts: tuple[str, ...], kruskal: bool,
) -> Rows:  # fmt: skip
    """Time graphs of growing degree (HPG '09, Figure 13 b, d, f; PPoPP '12, Figure 5)."""
    return _over(run, families, vertices, degrees, texts, kruskal=kruskal)


@main.add_command
@case(
    ALGORITHMS_OPTION, KRUSKAL_OPTION,
    click.option(
        "--share", default=1.0, type=click.FloatRange(0, 1, min_open=True),
        help="Of the vertices of surrogates.",
    ),
    click.option(
        "--place", "places", type=click.Choice(tuple(ROADS)), multiple=True, default=tuple(ROADS),
        help="Of all; again for more.",
    ),
)  # fmt: skip
def roads(
    run: Run, share: float, places: tuple[str, ...], texts: tuple[str, ...], *, kruskal: bool
) -> Rows:
    """Time road maps, beside the times in Table 1 of each of the two papers."""
    for place in places:
        source, make = road(place, share)
        row: Row = {"road map": place, "from": source}
        row |= timed(run, make(), texts, kruskal=kruskal)
        yield row | dict(zip(STATED, ROADS[place][3], strict=True))


# ----------------------------------------------------------------------------- counts

PAPER_STEPS = "boruvka numbering=split duplicates=split"  # as Vineet et al. do them


@main.add_command
@case(
    FAMILY,
    click.option(
        "--algorithm", "texts", multiple=True, default=("boruvka", PAPER_STEPS, "ecl"),
        callback=_texts, show_default=True, help="As of studies degrees.",
    ),
    _numbers("--vertices", (100_000,), click.IntRange(16), "Sizes."),
    _numbers("--degree", (8,), click.FloatRange(2), "Average degrees."),
    repetitions=1, measures="numbers of rounds and of launches",
)  # fmt: skip
def counts(
    run: Run, *, families: tuple[str, ...], vertices: tuple[int, ...],
    degrees: tuple[float, ...], texts: tuple[str, ...],
) -> Rows:  # fmt: skip
    """Count rounds and kernel launches of algorithms.

    Unlike times, these counts do not depend on other programs on the machine.
    """
    for family, n, degree in product(families, vertices, degrees):
        host = FAMILIES[family](n, degree)()
        graph = clmst.to_device(host.symmetrised(), run.device)
        row: Row = {"family": family, "degree": degree}
        row |= {"vertices": graph.n_vertices, "edges": graph.n_slots // 2}
        agreement = Agreement(texts[0], by="edges")
        for text in texts:
            forest = ways_of(graph, (text,))[text]()
            if wrong := agreement.difference(forest):
                raise DeviceError(f"{text} is wrong: {wrong}")
            row |= {f"{text}: {what}": int(forest.stats[what]) for what in ("rounds", "launches")}
        yield row


# ----------------------------------------------------------------------- small graphs

SMALL = ("prim", "prim-boruvka", "boruvka", "filter-boruvka", "ecl")
_DEGREE, _BLOCK = 8, 64  # average degree, and vertices of a component


def weighted(u: np.ndarray, v: np.ndarray, n: int, rng: np.random.Generator) -> clmst.Graph:
    """Return a graph with the edges (u[i], v[i]) and random weights of 30 bits.

    It has `n` vertices. Each edge is stored once.
    """
    weights = rng.integers(0, 1 << 30, u.size).astype(np.uint32)
    return clmst.Graph.from_edges(u, v, weights, n_vertices=n)


def small_graphs(most: int, seed: int = 0) -> Iterator[tuple[str, clmst.Graph]]:
    """Yield pairs of a kind, such as "complete", and a random graph of this kind.

    All graphs have at most `most` vertices.
    """
    rng = np.random.default_rng(seed)

    def sizes(*every: int) -> Iterator[int]:
        return (n for n in every if n <= most)

    for n in sizes(16, 64, 256, 1 << 10, 1 << 12, 1 << 14, 1 << 16):
        u, v = rng.integers(0, n, (2, _DEGREE * n // 2))
        yield f"random, degree {_DEGREE}", weighted(u, v, n, rng)
    for n in sizes(1 << 12, 1 << 14, 1 << 16):
        u, v = rng.integers(0, n, (2, 8 * _DEGREE * n // 2))
        yield f"random, degree {8 * _DEGREE}", weighted(u, v, n, rng)
    for n in sizes(16, 64, 256, 1024, 2048, 4096):
        yield "complete", weighted(*np.triu_indices(n, 1), n, rng)
    for n in sizes(1 << 12, 1 << 16):
        u = np.repeat(np.arange(n), _DEGREE // 2)
        v = u // _BLOCK * _BLOCK + rng.integers(0, _BLOCK, u.size)
        yield f"components of {_BLOCK}", weighted(u, v, n, rng)


@main.add_command
@case(
    click.option("--algorithm", "algorithms", multiple=True, default=SMALL, metavar="NAME"),
    click.option("--rounds", multiple=True, type=click.IntRange(min=0), help="Of prim-boruvka."),
    click.option("--from-edges", is_flag=True, help="From the host, each edge stored once."),
    click.option("--largest", default=1 << 16, type=click.IntRange(1), help="Vertices at most."),
    repetitions=21,
)
def small(
    run: Run, algorithms: tuple[str, ...], rounds: tuple[int, ...], from_edges: bool, largest: int
) -> Rows:
    """Time all algorithms on small and on dense graphs."""
    for kind, graph in small_graphs(largest):
        given = graph if from_edges else clmst.to_device(graph.symmetrised(), run.device)
        solve = partial(
            clmst.minimum_spanning_forest, given, device=run.device, keep_on_device=True
        )
        ways = {name: partial(solve, algorithm=name) for name in algorithms}
        for k in rounds:
            options = clmst.PrimBoruvkaOptions(rounds=k)
            ways[f"prim-boruvka, {k} round{'s' * (k != 1)}"] = partial(solve, options=options)
        agreement = Agreement("the oracle", clmst.kruskal(graph))
        times = run.turns(ways, agreement.difference, order="random", warm_ups=0)
        quickest = min(times, key=lambda name: run.of(times[name]))
        sizes = {"n": graph.n_vertices, "slots": 2 * graph.n_edges}
        yield {"graph": kind, **sizes, **times, "quickest": f"`{quickest}`"}
