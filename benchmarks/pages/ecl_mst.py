"""Make the tables of docs/papers/ecl_mst.md, the page on the paper of ECL-MST, from records."""

from __future__ import annotations

from statistics import geometric_mean

import numpy as np

from benchmarks import stated
from benchmarks.ecl import LIGHT, TITLES
from benchmarks.marked import table
from benchmarks.pages import Record, digits, mean, part, results_of, span, wrapped
from clmst.bench.grid import Grid
from clmst.generators.surrogates import SURROGATES

PEER, ECL, DEFAULT = "ECL-MST", "clmst ecl", "clmst filter-boruvka"
ODD = "skitter"  # by far the slowest of ECL-MST for its size


@part("ecl inputs", "ecl_inputs")
def inputs(record: Record) -> str:
    """Make the table for the paper's Table 2: sizes and degrees of its graphs and of surrogates.

    A surrogate is a generated graph of the same size and kind as a graph of the paper.
    """
    headings = ["input", "surrogate", *("slots", "vertices", "components"), "average degree"]
    headings += ["greatest degree"]
    rows = []
    for row in record.rows:
        name = row["graph"]
        kind = name.removesuffix("-close")
        paper = stated.TABLE_2[kind]
        ours = [row[f"{title}, ours"] for title in TITLES]
        pairs = zip(paper, ours, strict=True)
        cells = [f"{_count(a)} / {_count(b)}" for a, b in pairs]
        rows.append([SURROGATES[kind].stands_for, name, *cells])
    return table(headings, rows, texts=2)


def _count(value: float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else f"{value:,}"


def milliseconds(*records: Record) -> dict[str, dict[tuple[str, str], float]]:
    """Return the median times in records of ``clmst bench``, in milliseconds.

    The result maps the name of each graph to a dict. The keys of this dict are pairs of a solver
    and a scope, and the values are times. A scope says what a time covers: "solve" is the solve
    alone, and "transfers" also includes copies from and to the host.
    """
    found: dict[str, dict[tuple[str, str], float]] = {}
    results = results_of(*records)
    for scope in ("solve", "transfers"):
        (grid,) = Grid.each(results, "times", (scope,))
        for graph in grid.graphs:
            for column in grid.columns:
                if one := grid.at(graph, column):
                    cell = found.setdefault(graph, {})
                    cell[column.contestant, scope] = 1e3 * one.median
    return {name: found[name] for name in stated.ECL_MST if name in found}


@part("ecl times", "bench/h100", "bench/h100_more")
def times(*records: Record) -> str:
    """Make the table of the times in the paper's Tables 3 and 4 beside times on one GPU.

    The times on the GPU are for surrogates, which are generated graphs of the same size and kind as
    the paper's.
    """
    ms = milliseconds(*records)
    solve = [(name, "solve") for name in (PEER, ECL, DEFAULT)]
    copies = [(name, "transfers") for name in (PEER, DEFAULT)]
    headings = ["surrogate", "stands for", "Titan V (T. 3)", "RTX 3080 Ti (T. 4)"]
    headings += ["ECL-MST, H100", "`ecl`", "`filter-boruvka`"]
    headings += ["copies: Titan V (T. 3)", "3080 Ti (T. 4)", "ECL-MST, H100", "clmst"]

    def cells(of: dict[tuple[str, str], float], paper: list[str], both: list[str]) -> list[str]:
        own, whole = ([digits(of[key], 3) for key in keys] for keys in (solve, copies))
        return [*paper, *own, *both, *whole]

    rows = []
    for name, own in ms.items():
        paper, both = ([f"{x}" for x in of[name]] for of in (stated.ECL_MST, stated.ECL_MST_COPIES))
        rows.append([name, SURROGATES[name].stands_for, *cells(own, paper, both)])
    for label, names in (
        ("geometric mean", [*ms]),
        (f"the same without {ODD}", [name for name in ms if name != ODD]),
    ):
        means = {
            key: geometric_mean([ms[name][key] for name in names]) for key in (*solve, *copies)
        }
        # The paper computed its means from times with more digits than its tables have. So its
        # means are not computed again here. They are shown as the paper states them, and only in
        # the row for all graphs.
        means_of_paper = stated.ECL_MST_MEANS if names == [*ms] else ("", "", "", "")
        paper, both = ([f"{x}" for x in means_of_paper[k : k + 2]] for k in (0, 2))
        rows.append([label, "", *cells(means, paper, both)])
    ratios = [own[solve[0]] / own[solve[2]] for own in ms.values()]
    odd = ms[ODD][solve[0]]
    text = (
        "If graph and forest are on the device, ECL-MST takes "
        f"{mean(ratios)} times as long as `filter-boruvka`, by geometric mean over the surrogates, "
        f"the generated graphs in place of the paper's inputs ({span(ratios)} times on single "
        f"surrogates). For the surrogate of the input {ODD}, ECL-MST takes {digits(odd, 3)} ms on "
        "the H100. "
        f"This is more than the {stated.ECL_MST[ODD][0]} ms that the paper gives for the real "
        "graph on a Titan V (Table 3), an older GPU. Therefore the table also has the mean "
        f"without {ODD}."
    )
    return f"{table(headings, rows, texts=2)}\n\n{wrapped(text)}"


@part("ecl thresholds", "ecl_thresholds")
def thresholds(record: Record) -> str:
    """Make the table for the paper's Figure 7: how far the filter of `ecl` is from its target.

    With the filter, `ecl` solves light edges first, about as many as a target says. How many they
    are depends on the seed of a random sample. The table has the range over many seeds.
    """
    rows = []
    for row in record.rows:
        beside = np.array(row[f"_{LIGHT}"])
        far = ((beside > 100) | (beside < -50)).mean()
        cells = [f"{row['samples']:,}", f"{row['seeds']}", f"{beside.min():+.1f}"]
        cells += [f"{np.median(beside):+.1f}", f"{beside.max():+.1f}", f"{100 * far:.0f}"]
        rounds = dict.fromkeys((row["fewest rounds"], row["most rounds"]))
        rows.append([row["graph"], *cells, " to ".join(map(str, rounds))])
    headings = ["surrogate", "samples", "seeds", "least", "median", "most", "beyond double or half"]
    return table([*headings, "rounds"], rows)


@part("ecl throughput", "bench/h100", "bench/h100_more")
def throughput(*records: Record) -> str:
    """Make the table for the paper's Figures 3 and 4: billions of CSR entries per second."""
    results = results_of(*records)
    rows = []
    for place, (machine, number) in enumerate(zip(stated.ECL_MST_MACHINES, (3, 4), strict=True)):
        rates = {
            SURROGATES[name].stands_for: stated.TABLE_2[name][0] / ms[place] * 1e-6
            for name, ms in stated.ECL_MST.items()
        }
        label = f"ECL-MST, {machine}, the inputs (paper: Tables 2 and {number})"
        rows.append([label, *_extremes(rates)])
    (grid,) = Grid.each(results, "times")
    for name, label in ((PEER, PEER), (ECL, "`ecl`"), (DEFAULT, "`filter-boruvka`")):
        own = grid.ordered([name])
        column = own.rates()[:, 0] * 1e-9
        rates = {
            graph: float(rate)
            for graph, rate in zip(own.graphs, column, strict=True)
            if graph in stated.ECL_MST and not np.isnan(rate)
        }
        rows.append([f"{label}, H100, surrogates", *_extremes(rates)])
    return table(["", "geometric mean", "least", "most"], rows)


def _extremes(rates: dict[str, float]) -> list[str]:
    least, most = (pick(rates, key=lambda name: rates[name]) for pick in (min, max))
    ends = [f"{digits(rates[name], 3)}, {name}" for name in (least, most)]
    return [mean([*rates.values()]), *ends]
