"""Make the tables of docs/papers/pma.md, and tables on `pma` in benchmarks/log.md, from records.

The algorithm `pma` is clmst's form of PMA, by Nobari et al. (PPoPP '12).
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks import stated
from benchmarks.marked import table
from benchmarks.pages import Record, digits, listed, mean, of, part, span, wrapped
from benchmarks.pma import BADER_CONG, FIRST_LEVEL
from benchmarks.runner import Row
from benchmarks.strategies import KRUSKAL

BORUVKA = "boruvka"
VARIANTS = {"pma min": "min", "pma sort": "sort", "pma hybrid": "hybrid"}
# The short names of PMA's variants, by the names that the benchmark ``studies`` writes.
STUDIED = {"pma variant=min": "min", "pma": "sort", "pma variant=hybrid": "hybrid"}


def _best(row: Row, variants: Sequence[str]) -> str:
    """Return the name of the variant of `pma` that has the least median time in a row."""
    return min(variants, key=lambda name: of(row, name))


def gain(row: Row, variants: Sequence[str]) -> float:
    """Return the time of `boruvka` divided by the time of the fastest of some variants of `pma`."""
    return of(row, BORUVKA) / of(row, _best(row, variants))


def _counted(rows: Sequence[Row], variants: dict[str, str]) -> str:
    """Return a text that says on how many rows each variant is the fastest.

    `variants` maps the headings of the variants' columns to the names in the text.
    """
    best = [variants[_best(row, [*variants])] for row in rows]
    each = (f"{name} on {best.count(name)}" for name in variants.values() if name in best)
    return listed([*each])


@part("pma table", "h200/pma_table")
def table_1(record: Record) -> str:
    """Make the table for the paper's Table 1: its times beside clmst's and SciPy's.

    clmst's times are of surrogates, which are generated graphs of the kinds and sizes of the real
    ones. The last two columns compare `boruvka` with the variant min, and with the variant that is
    the quickest on each graph.
    """
    ours = [KRUSKAL, BORUVKA, *VARIANTS, "ecl"]
    headings = ["graph", "paper: Prim, Kruskal, Borůvka on a CPU"]
    headings += ["Vineet, paper", "MinPMA, paper", "SortPMA, paper", "HybridPMA, paper"]
    headings += ["Kruskal, one core", "H200: `boruvka`", *(f"`{one}`" for one in VARIANTS.values())]
    headings += ["`ecl`", "`boruvka` / `min`", "`boruvka` / the quickest variant", "which"]
    rows = []
    for row in record.rows:
        graph = row["graph"]
        cpu, gpu = stated.PMA_CPU.get(graph, ()), stated.PMA.get(graph, ("",) * 4)
        cells = [graph, ", ".join(map(str, cpu)), *map(str, gpu)]
        cells += [digits(of(row, name), 3) for name in ours]
        cells += [digits(of(row, BORUVKA) / of(row, "pma min"), 3)]
        rows.append([*cells, digits(gain(row, [*VARIANTS]), 3), VARIANTS[_best(row, [*VARIANTS])]])
    gains = [gain(row, [*VARIANTS]) for row in record.rows]
    over_min = [of(row, BORUVKA) / of(row, "pma min") for row in record.rows]
    slower = [row["graph"] for row in record.rows if of(row, BORUVKA) < of(row, "pma min")]
    over_cpu = [of(row, KRUSKAL) / of(row, BORUVKA) for row in record.rows]
    text = (
        f"`boruvka` takes {mean(gains)} times as long as the quickest variant of `pma`, by "
        f"geometric mean of these {len(gains)} graphs ({span(gains)} times on single graphs). In "
        "the paper, Vineet's program, which `boruvka` repeats, takes up to 2 times as long as the "
        f"quickest variant (section 6.5). `boruvka` takes {mean(over_min)} times as long as the "
        f"variant min ({span(over_min)} times on single graphs). `boruvka` is quicker than min on "
        f"{listed(slower) or 'no graph'}. The quickest variant is "
        f"{_counted(record.rows, VARIANTS)} of these graphs. In the paper the quickest variant is "
        "HybridPMA (section 6.5), the variant hybrid. It does not sort rows on the first level, to "
        "save time there. clmst sorts the rows before the first level for every variant, so "
        "hybrid saves nothing. Kruskal's algorithm by SciPy, on one core of the GPU's host, takes "
        f"{span(over_cpu)} times as long as `boruvka`."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


@part("pma table in full", "pma_table")
def table_1_in_full(record: Record) -> str:
    """Make a longer form of Table 1 for benchmarks/log.md.

    It also has the sizes of the graphs and the time of the first level alone. In the first level,
    PMA grows many small trees and contracts each of them to a vertex.
    """
    times = [BORUVKA, "ecl", *VARIANTS, FIRST_LEVEL]
    headings = ["graph like", "vertices", "edges", *(f"`{name}`" for name in times)]
    headings += ["`boruvka` / `pma min`"]
    rows = []
    for row in record.rows:
        cells = [row["graph"], f"{row['vertices']:,}", f"{row['edges']:,}"]
        cells += [digits(of(row, name), 3) for name in times]
        rows.append([*cells, digits(of(row, BORUVKA) / of(row, "pma min"), 3)])
    over_min = [of(row, BORUVKA) / of(row, "pma min") for row in record.rows]
    rows.append(["geometric mean", *[""] * (len(headings) - 2), mean(over_min)])
    quicker = sum(ratio > 1 for ratio in over_min)
    over_ecl = [of(row, _best(row, [*VARIANTS])) / of(row, "ecl") for row in record.rows]
    text = (
        f"`pma min` is quicker than `boruvka` on {quicker} of {len(rows) - 1} graphs. `ecl` is "
        f"{span(over_ecl)} times as fast as the best variant of `pma`. The best variant is "
        f"{_counted(record.rows, VARIANTS)}. `hybrid`, the best variant of the paper, gains "
        "nothing from its first levels, in which it is `min`."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


def _quickest(rows: Sequence[Row], variant: str) -> Row:
    """Return the row with the least time of `variant`, whose gamma is therefore the best.

    Gamma is the maximum number of vertices of a tree in PMA's first level.
    """
    return min(rows, key=lambda row: of(row, variant))


@part("pma gamma", "h200/pma_gamma")
def over_gamma(record: Record) -> str:
    """Make the table for the paper's Figures 4(a) and 7: times by gamma, the maximum size of trees.

    For each graph and variant it has the gamma with the least time and the one with the greatest.
    The sentences below the table compare the greatest gamma with the best one.
    """
    headings = ["graph", "vertices", "edges", "variant", "best in the paper (section 6.2)"]
    headings += ["quickest gamma", "ms", "gamma 2, ms", "slowest gamma", "ms"]
    rows, greatest, exceptions = [], [], []
    for graph, here in record.groups("graph").items():
        paper = " or ".join(map(str, stated.GAMMAS.get(graph, ())))
        at_two, at_most = here[0], here[-1]
        worse, slower = [], []
        for key, name in VARIANTS.items():
            quick = _quickest(here, key)
            slow = max(here, key=lambda row: of(row, key))
            cells = [graph, f"{quick['vertices']:,}", f"{quick['edges']:,}", name, paper]
            cells += [f"{quick['gamma']}", digits(of(quick, key)), digits(of(at_two, key))]
            rows.append([*cells, f"{slow['gamma']}", digits(of(slow, key))])
            worse.append(f"{digits(of(at_most, key) / of(quick, key), 3)} ({name})")
            slower += [name] if slow is not at_two else []
        greatest.append(f"{listed(worse)} on '{graph}'")
        exceptions += [f"'{graph}' ({listed(slower)})"] if slower else []
    apart, where = max(
        (max(row[key]) / min(row[key]), row["graph"]) for row in record.rows for key in VARIANTS
    )
    text = (
        f"A gamma of {at_two['gamma']} is the slowest, except on {listed(exceptions)}. With a "
        f"gamma of {at_most['gamma']}, the greatest, the variants take this many times as long as "
        f"with their quickest gamma: {'; '.join(greatest)}. Calls of the same solve differ by up "
        f"to {digits(apart, 2)} times, which is on '{where}'. So the order of gammas whose times "
        "are close can be chance."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


@part("pma parallel", "pma_parallel")
def parallel(record: Record) -> str:
    """Make the table for the paper's Figure 4(b): times if parallel edges are removed, or kept."""
    headings = ["degree"]
    for gamma in ("gamma 6", "chosen gamma"):
        headings += [f"{gamma}: removed, ms", "kept, ms", "removed / kept"]
    rows = []
    for row in record.rows:
        cells = [f"{row['degree']:g}"]
        for gamma in ("gamma 6", "chosen gamma"):
            removed, kept = (of(row, f"{what}, {gamma}") for what in ("removed", "kept"))
            cells += [digits(removed), digits(kept), digits(removed / kept, 3)]
        rows.append(cells)
    return table(headings, rows, texts=0)


@part("pma reduction", "pma_reduction", "two_cores/pma_reduction")
def reduction(gpu: Record, cpu: Record) -> str:
    """Make the table for the paper's Figure 8: the vertices that the first contraction removes."""
    ways = [BADER_CONG, BORUVKA, *(f"pma, gamma {k}" for k in (2, 10, 100))]
    headings = ["per cent", "vertices", "Bader and Cong", "`boruvka`"]
    headings += ["gamma 2", "gamma 10", "gamma 100"]
    rows = [
        [f"{where}: {row['graph']}", f"{row['vertices']:,}", *(digits(of(row, w)) for w in ways)]
        for where, record in (("2 cores", cpu), ("H100", gpu))
        for row in record.rows
    ]
    every = [*cpu.rows, *gpu.rows]
    less = [of(row, "pma, gamma 10") - of(row, BADER_CONG) for row in every]
    nearest = every[less.index(min(less))]
    text = (
        "The paper does not give the values of its bars, which are rates: per cent of the "
        "vertices that the first level unites with others. According to its text, the rate of "
        "Bader and Cong's algorithm is 'much lower than that of PMA, especially in dense graphs'. "
        "The rate of Vineet's program is lower than PMA's and sometimes lower than Bader and "
        "Cong's. Trees of up to 100 vertices (gamma = 100) are better than trees of up to 10 "
        "(section 6.4). In our measurements, the rate of `pma` with gamma = 10 is "
        f"{span(less)} percentage points above Bader and Cong's. The difference is smallest on the "
        f"graph '{nearest['graph']}' of {nearest['vertices']:,} vertices."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


def _studied(record: Record) -> str:
    """Return the table, as Markdown, of times that ``python -m benchmarks studies`` has recorded.

    It has a row for each graph, and a column for each algorithm. One of them is Kruskal's algorithm
    on the host, if the record has its times.
    """
    columns = {KRUSKAL: "Kruskal, one core"} if KRUSKAL in record.rows[0] else {}
    columns |= {BORUVKA: "`boruvka`", **STUDIED, "auto": '"auto"'}
    rows = [
        [row["family"], f"{row['degree']:g}", f"{row['vertices']:,}", f"{row['edges']:,}"]
        + [digits(of(row, name)) for name in columns]
        for row in record.rows
    ]
    return table(["family", "degree", "vertices", "edges", *columns.values()], rows)


@part("studies degrees", "h200/studies_degrees")
def over_degrees(record: Record) -> str:
    """Make the table for Figure 5 of the paper on PMA: times by average degree."""
    gains = (
        f"{span([gain(row, [*STUDIED]) for row in here])} (degree {degree:g})"
        for degree, here in record.groups("degree").items()
    )
    text = (
        f"`boruvka` takes {listed([*gains])} times as long as the quickest variant of `pma` (min, "
        f"sort or hybrid). Of the {len(record.rows)} graphs, the quickest variant is "
        f"{_counted(record.rows, STUDIED)}."
    )
    return f"{_studied(record)}\n\n{wrapped(text)}"


@part("studies sizes", "h200/studies_sizes")
def over_sizes(record: Record) -> str:
    """Make the table for Figure 6 of the paper on PMA: times by number of vertices."""
    gains = (
        f"{span([gain(row, [*STUDIED]) for row in here])} (degree {degree:g})"
        for degree, here in record.groups("degree").items()
    )
    over_cpu = [of(row, KRUSKAL) / of(row, BORUVKA) for row in record.rows]
    text = [
        f"`boruvka` takes {listed([*gains])} times as long as the quickest variant of `pma` (min, "
        f"sort or hybrid). Of the {len(record.rows)} graphs, the quickest variant is "
        f"{_counted(record.rows, STUDIED)}."
    ]
    lost = [
        f"{row['family']} of degree {row['degree']:g} and {row['vertices']:,} vertices"
        for row in record.rows
        if gain(row, [*STUDIED]) < 1
    ]
    if lost:
        text.append(f"`boruvka` is quicker than every variant on {listed(lost)}.")
    text.append(
        "Kruskal's algorithm by SciPy, on one core of the GPU's host, takes "
        f"{span(over_cpu)} times as long as `boruvka`."
    )
    return f"{_studied(record)}\n\n{wrapped(' '.join(text))}"
