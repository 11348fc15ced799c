"""Make the tables of docs/papers/ecl_mst.md, the page on the paper of ECL-MST, from records."""

from __future__ import annotations

from statistics import geometric_mean

import numpy as np

from benchmarks import stated
from benchmarks.ecl import LIGHT, PEER, SEED_MS, TITLES, WARP, rates_in_paper
from benchmarks.marked import table
from benchmarks.pages import Record, digits, listed, mean, part, results_of, span, wrapped
from clmst.bench.grid import Grid, means
from clmst.bench.report import PAPER, STEPS
from clmst.bench.tables import spread
from clmst.generators.surrogates import CLOSER, SURROGATES

ECL, DEFAULT = "clmst ecl", "clmst filter-boruvka"
ODD = "skitter"  # by far the slowest of ECL-MST for its size
# What the page calls the optimisations that are taken away, one after the other.
TAKEN = (
    "atomic guards", "hybrid rows (thread-based)", "filter", "implicit path compression",
    "single edge direction", "tuples", "worklists (topology-driven)", "edge-centric work",
)  # fmt: skip


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
    order = [*stated.ECL_MST, *CLOSER]
    return {name: found[name] for name in order if name in found}


@part("ecl times", "bench/h200_ecl")
def times(*records: Record) -> str:
    """Make the table of the times in the paper's Tables 3 and 4 beside times on one GPU.

    The times on the GPU are for surrogates, which are generated graphs of the same size and kind as
    the paper's.
    """
    ms = milliseconds(*records)
    solve = [(name, "solve") for name in (PEER, ECL, DEFAULT)]
    copies = [(name, "transfers") for name in (PEER, DEFAULT)]
    headings = ["surrogate", "stands for", "Titan V (T. 3)", "RTX 3080 Ti (T. 4)"]
    headings += ["ECL-MST, H200", "`ecl`", "`filter-boruvka`"]
    headings += ["copies: Titan V (T. 3)", "3080 Ti (T. 4)", "ECL-MST, H200", "clmst"]

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
        "the H200. "
        f"This is more than the {stated.ECL_MST[ODD][0]} ms that the paper gives for the real "
        "graph on a Titan V (Table 3), an older GPU. Therefore the table also has the mean "
        f"without {ODD}."
    )
    return f"{table(headings, rows, texts=2)}\n\n{wrapped(text)}"


@part("ecl warps", "two_cores/ecl_warps", "bench/h200_ecl", "bench/h200_close")
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
        cells = [f"{row['greatest degree']:,}", f"{slowest:,}", f"{row['its first vertex']:,}"]
        cells += [f"{row['its hubs']}", digits(usual, 3)]
        cells += [digits(own[key, "solve"], 3) for key in (PEER, ECL)]
        rows.append([row["graph"], *cells, digits(ratios[row["graph"]], 3)])
    steps = {row["graph"]: row["steps of the slowest warp"] for row in counts.rows}
    others = {name: count for name, count in steps.items() if name != ODD}
    odd = counts.row(graph=ODD)
    alone, hubs = -(-odd["greatest degree"] // WARP), odd["its hubs"]
    by_steps, by_ratio = (sorted(of, key=lambda name: -of[name]) for of in (steps, ratios))
    same = [name for k, name in enumerate(by_steps) if by_steps[: k + 1] == by_ratio[: k + 1]]
    text = (
        f"For {ODD}, the slowest warp takes {steps[ODD]:,} steps, "
        f"{steps[ODD] / max(others.values()):.1f} times as many as that of any other graph of the "
        f"table, and ECL-MST takes {digits(ratios[ODD], 3)} times as long as `ecl`. The vertex of "
        f"the greatest degree alone is {alone:,} of these steps. So the reason is not one hub. It "
        f"is that {hubs} of the 32 vertices of this warp are hubs. For the other graphs ECL-MST "
        "takes "
        f"{span([ratios[name] for name in others])} times as long as `ecl`. The graphs with the "
        f"most steps of the slowest warp, {listed(same)}, are in the same order the graphs on "
        "which ECL-MST takes longest beside `ecl`."
    )
    headings = ["surrogate", "greatest degree", "steps of the slowest warp", "its first vertex"]
    headings += ["its hubs", "mean of all warps"]
    headings += ["ECL-MST, H200, ms", "`ecl`, ms", "ECL-MST / `ecl`"]
    return f"{table(headings, rows)}\n\n{wrapped(text)}"


@part("ecl seeds", "h200/ecl_seeds", "h200/ecl_seeds_kron21")
def seeds(*records: Record) -> str:
    """Make the table for the paper's Figures 6 and 7: what the seed of the filter's sample changes.

    With the filter, `ecl` solves light edges first, about as many as a target says. How many they
    are depends on the seed of a random sample. The table has, over many seeds, the range of their
    number, of the throughput, and of the number of rounds. The second record has all times of a
    graph of which the first one has only those for the smaller sample.
    """
    others, again = records
    repeated = {row["graph"] for row in again.rows}
    rows, ratios = [], dict[int, dict[str, float]]()
    for row in [one for one in others.rows if one["graph"] not in repeated] + again.rows:
        beside, ms = np.array(row[f"_{LIGHT}"]), row[f"_{SEED_MS}"]
        far = ((beside > 100) | (beside < -50)).mean()
        ratios.setdefault(row["samples"], {})[row["graph"]] = max(ms) / min(ms)
        cells = [f"{row['samples']:,}", f"{row['seeds']}", f"{max(ms) / min(ms):.2f}"]
        cells += [f"{beside.min():+.1f}", f"{np.median(beside):+.1f}", f"{beside.max():+.1f}"]
        rounds = dict.fromkeys((row["fewest rounds"], row["most rounds"]))
        rows.append([row["graph"], *cells, f"{100 * far:.0f}", " to ".join(map(str, rounds))])
    said = []
    for samples, own in ratios.items():
        first, second = sorted(own, key=lambda name: -own[name])[:2]
        said.append(
            f"With {samples:,} samples, the quickest seed is {span([*own.values()])} times as fast "
            f"as the slowest, most for {first} and then for {second} ({digits(own[second], 3)} "
            "times)."
        )
    headings = ["surrogate", "samples", "seeds", "quickest / slowest", "deviation: least"]
    headings += ["median", "most", "beyond double or half", "rounds"]
    return f"{table(headings, rows)}\n\n{wrapped(' '.join(said))}"


@part("ecl ablation", "bench/h200_ablation")
def ablation(record: Record) -> str:
    """Make the table of how much each optimisation of `ecl` gains, beside the paper's effects.

    Each step takes one more optimisation away. Its effect is the relative growth of the time, by
    geometric mean over graphs.
    """
    (grid,) = Grid.each(results_of(record), "ablation")
    grid = grid.ordered(STEPS)
    inputs = np.array([name in stated.ECL_ABLATION_MS for name in grid.graphs])
    connected = grid.facts("n_vertices") - grid.facts("n_forest_edges") == 1
    chosen = {
        f"H200, the surrogates of these {inputs.sum()}": inputs,
        f"all {connected.sum()} connected surrogates": connected,
        f"all {len(grid.graphs)} surrogates of the record": np.ones_like(inputs),
    }
    mean_of = [means(grid.seconds[mask]) for mask in chosen.values()]
    rows = [
        [name, f"{paper:+.0%}", *(f"{ms[step + 1] / ms[step] - 1:+.1%}" for ms in mean_of)]
        for step, (name, paper) in enumerate(zip(TAKEN, PAPER, strict=True))
    ]
    every = [f"{ms[-1] / ms[0]:.1f} x" for ms in mean_of]
    rows.append(["all together", "over 8 x", *every])
    own = mean_of[0][1:] / mean_of[0][:-1] - 1
    other = [
        name
        for name, ours, paper in zip(TAKEN, own, PAPER, strict=True)
        if not 0.5 <= ours / paper <= 2
    ]
    text = (
        f"Of the {len(TAKEN)} optimisations, {len(other)} have another effect on the H200 than in "
        "the paper: an effect of another sign, or one that differs by more than a factor of two. "
        f"They are {listed(other)}."
    )
    paper = f"paper, RTX 3080 Ti, {len(stated.ECL_ABLATION_MS)} connected inputs (section 5.3)"
    return f"{table(['taken away', paper, *chosen], rows)}\n\n{wrapped(text)}"


@part("ecl ablation times", "bench/h200_ablation")
def ablation_times(record: Record) -> str:
    """Make the table for the paper's Table 5: times with fewer and fewer optimisations."""
    (grid,) = Grid.each(results_of(record), "ablation")
    grid = grid.ordered(STEPS)
    rows = []
    for name in [one for one in SURROGATES if one in grid.graphs]:
        theirs = stated.ECL_ABLATION_MS.get(name)
        cells = [digits(1e3 * seconds, 3) for seconds in grid.seconds[grid.graphs.index(name)]]
        if theirs:
            cells = [f"{paper} / {own}" for paper, own in zip(theirs, cells, strict=True)]
        rows.append([name, *cells])
    return table(["surrogate", "`ecl`", *(f"- {name}" for name in TAKEN)], rows)


# The two places of graph and forest for which times are compared, by the scope of the times.
SCOPES = {"solve": "the device", "transfers": "the host"}


@part("ecl machines", "bench/h200_ecl", "bench/h100", "bench/h100_more")
def machines(*records: Record) -> str:
    """Make the table of ECL-MST's times divided by the times of `filter-boruvka`, by machine."""
    rows = []
    for machine, own in (("H200", records[:1]), ("H100", records[1:])):
        ms = milliseconds(*own)
        for scope, place in SCOPES.items():
            ratio = {name: one[PEER, scope] / one[DEFAULT, scope] for name, one in ms.items()}
            most = max(ratio, key=lambda name: ratio[name])
            usual = [value for name, value in ratio.items() if name != ODD]
            connected = [ratio[name] for name in ratio if stated.TABLE_2[name][2] == 1]
            rows.append([
                f"NVIDIA {machine}", place, f"{len(ratio)}", mean([*ratio.values()]),
                digits(min(ratio.values()), 3), f"{digits(ratio[most], 3)}, {most}",
                f"{mean(usual)} ({span(usual)})", mean(connected),
            ])  # fmt: skip
    headings = ["machine", "graph and forest on", "surrogates", "geometric mean", "least", "most"]
    headings += [f"without {ODD} (least to most)", "connected inputs alone"]
    return table(headings, rows, texts=2)


@part("ecl solves", "bench/h200_ecl")
def solves(record: Record) -> str:
    """Make the table of solves of all surrogates by ECL-MST and `filter-boruvka` on the device."""
    results = results_of(record)
    grids = {one.scope: one for one in Grid.each(results, "times", ("solve", "forest"))}
    rows, ratios = [], []
    for graph in grids["solve"].graphs:
        cells = {
            (scope, column.contestant): one
            for scope, grid in grids.items()
            for column in grid.columns
            if (one := grid.at(graph, column))
        }
        peer, own = (cells["solve", name] for name in (PEER, DEFAULT))
        ratios.append(peer.median / own.median)
        sizes = [f"{results.graphs[graph][name]:,}" for name in ("n_vertices", "n_slots")]
        times = [digits(1e3 * one.median) for one in (peer, own, cells["forest", DEFAULT])]
        times.insert(2, spread(own.seconds, 1e3))
        rows.append([graph, *sizes, *times[:3], digits(ratios[-1], 3), times[3]])
    rows.append(["geometric mean", *[""] * 5, mean(ratios), ""])
    headings = ["graph", "n", "directed slots", "ECL-MST", "clmst", "its spread", "ratio"]
    return table([*headings, "clmst, forest"], rows)


@part("ecl copies", "bench/h200_ecl")
def copies(record: Record) -> str:
    """Make the table of the times of ECL-MST and `filter-boruvka` with the copies of the graph."""
    ms, scope = milliseconds(record), "transfers"
    ratio = {name: one[PEER, scope] / one[DEFAULT, scope] for name, one in ms.items()}
    rows = [
        [name, *(digits(one[key, scope]) for key in (PEER, DEFAULT)), digits(ratio[name], 3)]
        for name, one in ms.items()
    ]
    graphs = results_of(record).graphs
    large = [name for name in ms if graphs[name]["n_slots"] > 10_000_000]
    slower = [name for name in ms if ratio[name] < 1]
    rows.append(["geometric mean", "", "", mean([*ratio.values()])])
    text = (
        f"The {len(large)} graphs of more than 10 million slots (CSR entries, two for each edge) "
        f"have a ratio of {mean([ratio[name] for name in large])} by geometric mean. "
        f"clmst is slower than ECL-MST on {listed(slower)}."
    )
    return f"{table(['graph', 'ECL-MST', 'clmst', 'ratio'], rows)}\n\n{wrapped(text)}"


@part("ecl throughput", "bench/h200_ecl")
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
        rows.append([f"{label}, H200, surrogates", *_extremes(rates)])
    return table(["", "geometric mean", "least", "most"], rows)


def _extremes(rates: dict[str, float]) -> list[str]:
    least, most = (pick(rates, key=lambda name: rates[name]) for pick in (min, max))
    ends = [f"{digits(rates[name], 3)}, {name}" for name in (least, most)]
    return [mean([*rates.values()]), *ends]
