"""Make the tables of docs/papers/ecl_mst.md, the page on the paper of ECL-MST, from records."""

from __future__ import annotations

from statistics import geometric_mean

import numpy as np

from benchmarks import stated
from benchmarks.ecl import LIGHT, PEER, TITLES, rates_in_paper
from benchmarks.marked import table
from benchmarks.pages import Record, digits, mean, part, results_of, span, wrapped
from clmst.bench.grid import Grid
from clmst.generators.surrogates import SURROGATES

ECL, DEFAULT = "clmst ecl", "clmst filter-boruvka"
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
    connected = [name for name in ms if stated.TABLE_2[name][2] == 1]
    for label, names, means_of_paper in (
        ("geometric mean", [*ms], stated.ECL_MST_MEANS),
        (f"the same without {ODD}", [name for name in ms if name != ODD], ("",) * 4),
        (f"the {len(connected)} connected inputs alone", connected, stated.ECL_MST_CONNECTED),
    ):
        means = {
            key: geometric_mean([ms[name][key] for name in names]) for key in (*solve, *copies)
        }
        # The paper computed its means from times with more digits than its tables have. So its
        # means are not computed again here. They are shown as the paper states them.
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


@part("ecl warps", "two_cores/ecl_warps", "bench/h100", "bench/h100_more")
def warps(counts: Record, *records: Record) -> str:
    """Make the table of the work of ECL-MST's slowest warp, beside its times.

    A warp is 32 work-items of a GPU that run together. `counts` has the number of steps in which
    warps fill the worklist of ECL-MST. `records` have the times.
    """
    ms = milliseconds(*records)
    rows, ratios = [], {}
    for row in counts.rows:
        slowest, usual = row["steps of the slowest warp"], row["mean of all warps"]
        own = ms[row["graph"]]
        ratios[row["graph"]] = own[PEER, "solve"] / own[ECL, "solve"]
        cells = [f"{row['greatest degree']:,}", f"{slowest:,}", digits(usual, 3)]
        cells += [digits(own[key, "solve"], 3) for key in (PEER, ECL)]
        rows.append([row["graph"], *cells, digits(ratios[row["graph"]], 3)])
    odd = counts.row(graph=ODD)
    steps, others = (
        odd["steps of the slowest warp"],
        [row["steps of the slowest warp"] for row in counts.rows if row["graph"] != ODD],
    )
    text = (
        f"For {ODD}, the slowest warp takes {steps:,} steps, {steps / max(others):.1f} times as "
        f"many as that of any other graph of the table, and ECL-MST takes {digits(ratios[ODD], 3)} "
        f"times as long as `ecl`. For the other graphs it takes "
        f"{span([ratio for name, ratio in ratios.items() if name != ODD])} times as long."
    )
    headings = ["surrogate", "greatest degree", "steps of the slowest warp", "mean of all warps"]
    headings += ["ECL-MST, H100, ms", "`ecl`, ms", "ECL-MST / `ecl`"]
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


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
    for machine, number in zip(stated.ECL_MST_MACHINES, (3, 4), strict=True):
        for program, of_graphs in rates_in_paper(machine).items():
            rates = {SURROGATES[name].stands_for: rate for name, rate in of_graphs.items()}
            label = f"{program}, {machine}, the inputs (paper: Tables 2 and {number})"
            if len(rates) < len(stated.TABLE_2):
                label = label.replace("the inputs", f"{len(rates)} connected inputs")
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
