"""Make tables from records of one H200 and the 16 cores beside it, for the pages on all papers.

Each of these records repeats tables or figures of a paper on the devices of the paper: what the
paper ran on a CPU is on the cores, and what it ran on a GPU is on the H200.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks import cores, stated
from benchmarks.ecl import PEER
from benchmarks.marked import table
from benchmarks.pages import Record, digits, listed, of, part, results_of, span, wrapped
from benchmarks.pages.ecl_mst import DEFAULT, ECL
from benchmarks.pages.hybrid import MEDIANS
from benchmarks.pages.pma import BORUVKA, STUDIED
from benchmarks.rounds import BOTH as MP_AND_CU
from benchmarks.rounds import CU, HYBRID, MP, REPEATED, accumulated, repaid, repaid_after
from benchmarks.runner import Row
from benchmarks.strategies import KRUSKAL, SCHEDULES
from clmst.bench.grid import Grid
from clmst.generators.surrogates import CLOSER


def shown(value: Any, significant: int = 4) -> str:
    """Format a cell of a record: a text, a whole number, a time, or the median of some times."""
    if isinstance(value, list):
        value = float(median(value)) if value else ""
    if isinstance(value, str):
        return value
    if isinstance(value, float) and value.is_integer() and value < 100:
        return f"{value:g}"  # a degree
    return f"{value:,}" if isinstance(value, int) else digits(value, significant)


def plain(rows: Sequence[Row], columns: Mapping[str, str], *, texts: int = 1) -> str:
    """Return a table of some columns of a record, with medians of times.

    `columns` maps the headings of the table to the headings of the record. The first `texts`
    columns have texts.
    """
    cells = [[shown(row.get(key, "")) for key in columns.values()] for row in rows]
    return table([*columns], cells, texts=texts)


# --------------------------------------------------------------------------- ECL-MST


@part("ecl close", "bench/h200_close")
def close(record: Record) -> str:
    """Make the table of times for the three surrogates that resemble the paper's inputs more.

    A surrogate is a generated graph of the size and kind of one of the paper's.
    """
    rows = []
    results = results_of(record)
    grids = {scope: next(iter(Grid.each(results, "times", (scope,)))) for scope in
             ("solve", "transfers")}  # fmt: skip
    for name, one in CLOSER.items():
        kind = name.removesuffix("-close")
        cells = [name, one.stands_for, *(f"{ms}" for ms in stated.ECL_MST[kind])]
        for scope, whose in (("solve", (PEER, ECL, DEFAULT)), ("transfers", (PEER, "clmst"))):
            grid = grids[scope]
            for contestant in whose:
                found = [
                    grid.at(name, column)
                    for column in grid.columns
                    if column.contestant == contestant
                    or (contestant == "clmst" and column.contestant == DEFAULT)
                ]
                cells.append(digits(1e3 * found[0].median, 3) if found and found[0] else "")
        rows.append(cells)
    machines = [f"{gpu} (T. {number})" for gpu, number in zip(stated.ECL_MST_MACHINES, (3, 4),
                                                               strict=True)]  # fmt: skip
    headings = ["surrogate", "stands for", *machines, "ECL-MST, H200", "`ecl`", "`filter-boruvka`"]
    return table([*headings, "copies: ECL-MST", "copies: clmst"], rows, texts=2)


# ------------------------------------------------------------------- Vineet et al.


@part("splits", "h200/primitives_splits")
def splits(record: Record) -> str:
    """Make the table for the paper's Figure 4: times of splits by the sizes of record and key."""
    kinds = list(dict.fromkeys((row["bytes"], row["key bits"]) for row in record.rows))
    rows = []
    for records, here in record.groups("records").items():
        own = {(row["bytes"], row["key bits"]): of(row, "ms") for row in here}
        count = f"2\\*\\*{records.bit_length() - 1}"
        rows.append([f"{count} records, ms", *(digits(own[kind]) for kind in kinds)])
        rates = (digits(1e-3 * records / own[kind], 3) for kind in kinds)
        rows.append(["the same, million records a second", *rates])
    headings = [f"{size}, {bits}" for size, bits in kinds]
    return table(["H200: bytes of a record, bits of the key", *headings], rows)


@part("boruvka roads", "h200/studies_roads")
def roads(record: Record) -> str:
    """Make the table for the paper's Table 1: times of road maps, beside the paper's."""
    columns = {"road map": "road map", "vertices": "vertices", "edges": "edges"}
    columns |= {"CPU (T. 1)": "its CPU", "their GPU (T. 1)": "Vineet, GPU"}
    columns |= {"Kruskal, one core": KRUSKAL, "`boruvka`, H200": BORUVKA, '"auto", H200': "auto"}
    return f"{plain(record.rows, columns)}\n\n{_over_kruskal(record)}"


@part("boruvka degrees", "h200/studies_degrees")
def boruvka_degrees(record: Record) -> str:
    """Make the table for the paper's Figure 13 b, d, f: times by degree, beside a CPU."""
    return with_kruskal(record)


@part("boruvka sizes", "h200/studies_sizes")
def boruvka_sizes(record: Record) -> str:
    """Make the table for the paper's Figure 13 a, c, e: times by size, beside a CPU."""
    return with_kruskal(record)


# ------------------------------------------------------------------ Sun and Skadron


# ------------------------------------------------------------------------------- PMA


def with_kruskal(record: Record) -> str:
    """Return a table of ``studies`` with Kruskal's algorithm on one core, and sentences on it."""
    columns = {"family": "family", "degree": "degree", "vertices": "vertices", "edges": "edges"}
    columns |= {"Kruskal, one core": KRUSKAL, "`boruvka`": BORUVKA}
    columns |= {name: key for key, name in STUDIED.items()} | {'"auto"': "auto"}
    return f"{plain(record.rows, columns)}\n\n{_over_kruskal(record)}"


def _over_kruskal(record: Record) -> str:
    """Return sentences on how many times as fast algorithms are as Kruskal's on one core."""
    said = []
    for name, key in {"`boruvka`": BORUVKA, '"auto"': "auto"}.items():
        ratios = [of(row, KRUSKAL) / of(row, key) for row in record.rows]
        said.append(
            f"{name} is {span(ratios)} times as fast as Kruskal's algorithm by SciPy on one core."
        )
    return wrapped(" ".join(said))


# ----------------------------------------------------------------------- Ma and Wan


@part("strategies families", "h200/strategies_families")
def families(record: Record) -> str:
    """Make the table for the paper's Figures 3 and 6: MP over Kruskal by size, with 8 threads."""
    columns = {"graph": "graph", "n": "n", "edges": "edges", "Kruskal, ms": KRUSKAL}
    columns |= {"MP, half, ms": "atomic-half", "MP, full, ms": "atomic-full"}
    columns |= {"Kruskal / MP, half": f"{KRUSKAL} / atomic-half"}
    return plain(record.rows, columns)


@part("strategies schedules", "h200/strategies_schedules")
def schedules(record: Record) -> str:
    """Make the table for the paper's Table 3: MP with 8 threads by schedule, over Kruskal."""
    own, *openmp = SCHEDULES
    headings = ["graph", "edges", "Kruskal, ms"]
    headings += [f'"{name}", ms' for name in (*openmp, own)]
    headings += [f"Kruskal / {name}, paper (T. 3)" for name in openmp]
    headings += [f"Kruskal / {name}" for name in (*openmp, own)]
    rows, slower, in_paper = [], [], []
    for row in record.rows:
        paper = stated.SCHEDULES[row["graph"]]
        cells = [row["graph"], *(shown(row[key]) for key in ("edges", KRUSKAL, *openmp, own))]
        cells += [f"{paper[name]:.2f}" for name in openmp]
        rows.append([*cells, *(digits(of(row, KRUSKAL) / of(row, k), 3) for k in (*openmp, own))])
        slower.append(digits(of(row, "dynamic") / of(row, "static"), 2))
        in_paper.append(digits(paper["static"] / paper["dynamic"], 2))
    names = listed([row["graph"] for row in record.rows])
    text = (
        f'"Dynamic" takes {listed(slower)} times as long as "static" on the graphs {names}. In the '
        f"paper it takes {listed(in_paper)} times as long."
    )
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


@part("strategies complete", "h200/strategies_complete")
def complete(record: Record) -> str:
    """Make the table for the paper's Table 4: MP on cores, CU on the GPU, complete graphs."""
    columns = {"n": "n", "edges": "edges", "Kruskal, one core, ms": KRUSKAL}
    columns |= {"MP, 8 threads, ms": MP, "CU, H200, ms": CU, "`dense`, H200, ms": "dense"}
    columns |= {"`filter-boruvka`, H200, ms": "filter-boruvka"}
    return plain(record.rows, columns, texts=0)


@part("strategies density of two devices", "h200/strategies_density")
def density(record: Record) -> str:
    """Make the table for the paper's Table 5: MP on cores, CU on the GPU, by density."""
    headings = ["p", "edges", "paper: MP s (T. 5)", "CU s (T. 5)", "MP / CU (T. 5)"]
    headings += ["MP, 8 threads, ms", "CU, H200, ms", "MP / CU", "`dense`, H200, ms"]
    headings += ["`filter-boruvka`, H200, ms"]
    rows = []
    for row in record.rows:
        p = row["p"]
        cells = [f"{p}", shown(row["edges"])]
        cells += [f"{seconds:.2f}" for seconds in stated.DENSITY_SECONDS[p]]
        cells += [f"{stated.DENSITIES[p]:.2f}", shown(row[MP]), shown(row[CU])]
        cells += [digits(of(row, MP) / of(row, CU), 3)]
        rows.append([*cells, *(shown(row[name]) for name in ("dense", "filter-boruvka"))])
    return table(headings, rows, texts=0)


@part("cores complete", "h200/cores_complete")
def core_numbers(record: Record) -> str:
    """Make the table for the paper's Table 6: core numbers of complete graphs."""
    headings = ["n", "edges", "paper s (T. 6)", "H200 ms, both directions stored", "one direction"]
    rows = []
    for row in record.rows:
        paper = stated.CORES.get(row["n"])
        cells = [shown(row["n"]), shown(row["edges"]), "" if paper is None else f"{paper:f}"]
        rows.append([*cells, *(digits(of(row, k), 3) for k in (cores.BOTH, cores.ONCE))])
    return table(headings, rows, texts=0)


@part("rounds of the paper's hybrid", "h200/rounds")
def rounds(record: Record) -> str:
    """Make the table for the paper's Figure 9: thirty rounds by MP, CU, and both at once."""
    known = {row["contestant"]: row for row in record.rows}
    rows = []
    for name in (CU, MP, MP_AND_CU, HYBRID, REPEATED):
        row = known[name]
        cells = [f"`{name}`", *(digits(of(row, key), 3) for key in ("prepare", "round"))]
        cells.append(digits(accumulated(row)[-1] / 1e3, 3))
        for other in (CU, MP):
            if name in (CU, MP):
                cells.append("")
                continue
            after = repaid_after(MEDIANS, row, known[other])
            within = repaid(row, known[other])
            said = "never" if after is None else f"{after:.1f}"
            cells.append(f"{said} ({'not in 30' if within is None else f'in round {within}'})")
        rows.append(cells)
    ratios = [of(known[MP_AND_CU], "round") / of(known[one], "round") for one in (CU, MP)]
    text = (
        f"A round of MP and CU at once takes {ratios[0]:.2f} times as long as a round of CU, and "
        f"{ratios[1]:.2f} times as long as a round of MP. In the paper it takes about "
        f"{stated.HYBRID} times as long as either, and its preparation of "
        f"{stated.HYBRID_PREPARING} is repaid after {stated.HYBRID_REPAID} rounds (section 4.3)."
    )
    headings = ["contestant", "preparing, ms", "a round, ms", "all rounds, s"]
    headings += ["rounds until repaid beside CU", "beside MP"]
    return f"{table(headings, rows)}\n\n{wrapped(text)}"
