"""Compare clmst's surrogate graphs and times with those published for ECL-MST.

A surrogate is a generated graph of the size and kind of a real one that cannot be distributed.
ECL-MST's paper is Fallin et al. (SC '23).

    python -m benchmarks ecl inputs [GRAPH ...]
    python -m benchmarks ecl throughput RESULTS.json ... [--plot FILE]
    python -m benchmarks ecl thresholds [GRAPH ...] [--seeds 99] [--timed]
    python -m benchmarks ecl warps [GRAPH ...]
    python -m benchmarks ecl stated [NAME=FILE ...] [--dtype float32]

``inputs`` prints Table 2 of the paper beside the numbers of the surrogates. A GRAPH is the name of
a surrogate graph, or a file. ``throughput`` repeats Figures 3 and 4: it shows results of `clmst
bench` beside the paper's results of ECL-MST.

``thresholds`` repeats Figure 7. The algorithm `ecl` first solves only light edges, up to a weight
that it estimates from a random sample, so that their number is about a target. The figure shows how
far their number is from the target, for many seeds of the sample. These numbers are the same on
every device. With ``--timed``, it also times the solves with each seed, as Figure 6 does.

``warps`` counts how many steps the slowest warp of ECL-MST takes to fill its worklist. In ECL-MST a
warp takes 32 consecutive vertices. It goes over each row of 4 slots or more by itself, 32 slots in
a step, one row after the other. It measures no times.

``stated`` times solves beside the times that pull request 3118 of NVIDIA's RAFT, by ECL-MST's first
author, states for an H200 with float32 weights. Ten of its graphs have a surrogate, which is used
unless a file is given. 'Solve' leaves the forest as a flag for each slot (CSR entry), which is what
ECL-MST measures. The pull request does not say what its times cover. 'Forest' is the public call,
with the forest on the device. Each forest is proved to be minimum before it is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from benchmarks.repeated import load
from benchmarks.runner import Cases, Row, Rows, Run, case, graphs_argument, show
from benchmarks.stated import (
    ECL_MST,
    ECL_MST_MACHINES,
    ECL_OTHERS,
    ECL_OTHERS_MS,
    LOOK,
    TABLE_2,
)
from clmst import EclOptions
from clmst.algorithms.ecl import HUB_ROW
from clmst.algorithms.ecl.solve import FILTER_DEGREE
from clmst.bench.agreement import Reference
from clmst.bench.canvas import GRID, STYLES, legend_below, panels, plain_ticks, style
from clmst.bench.contestants import finding_forest, solving
from clmst.bench.grid import Grid
from clmst.bench.inputs import in_common_form
from clmst.bench.report import FILTER_TARGET
from clmst.bench.results import Results, merged
from clmst.bench.suite import PAPER_SAMPLES
from clmst.core.errors import DeviceError, InvalidArgumentError

PEER = "ECL-MST"
TITLES = ("slots", "vertices", "components", "d-avg", "d-max")


@click.group(cls=Cases)
def main() -> None:
    """Compare surrogate graphs with ECL-MST's inputs, and times with published times."""


@main.add_command
@case(graphs_argument(), measures="sizes and degrees of graphs")
def inputs(run: Run, graphs: tuple[str, ...]) -> Rows:
    """Compare the sizes and degrees of surrogate graphs with those in the paper's Table 2."""
    del run
    for name in graphs or tuple(TABLE_2):
        stated, found = TABLE_2.get(name.removesuffix("-close"), ("",) * 5), facts_of(load(name))
        row: Row = {"graph": name}
        for title, theirs, ours in zip(TITLES, stated, found, strict=True):
            row |= {f"{title}, paper": theirs, f"{title}, ours": ours}
        yield row


def facts_of(graph: clmst.Graph) -> tuple[Any, ...]:
    """Return facts about a symmetric graph, in the order of TITLES.

    They are the numbers of slots (CSR entries), vertices and components, and the average and the
    maximum degree.
    """
    n, degrees = graph.n_vertices, np.diff(graph.indptr.astype(np.int64))
    ones = np.ones(graph.n_slots, np.int8)
    matrix = sparse.csr_array(
        (ones, graph.indices.view(np.int32), graph.indptr.view(np.int32)), shape=(n, n)
    )
    count = int(connected_components(matrix, directed=False)[0])
    return graph.n_slots, n, count, round(graph.n_slots / max(n, 1), 1), int(degrees.max(initial=0))


# The times of RAFT on an H200 in milliseconds, as stated in its pull request 3118.
STATED = {
    "internet": 0.296, "road_ny": 0.378, "rmat16": 0.537, "cit": 0.728, "amazon": 0.931,
    "grid20": 1.343, "copapers": 2.570, "patents": 6.450, "rmat22": 7.928, "road_usa": 10.166,
}  # fmt: skip


def beside_stated(run: Run, name: str, graph: clmst.Graph, dtype: str) -> Row:
    """Prove that the forest of a graph is minimum, and time two kinds of solves of it.

    Returns the row of the table, which also has the time that is published for the graph `name`.
    `dtype` is the dtype to which the weights are converted.
    """
    weighted = graph.replace(weights=graph.weights.astype(dtype))
    resident = clmst.to_device(weighted, run.device)
    proved = clmst.minimum_spanning_forest(resident, verify=True)
    reference = Reference(
        slots=np.asarray(proved.edge_ids), n_slots=weighted.n_slots,
        total_weight=proved.total_weight, how="proved",
    )  # fmt: skip
    ways = {
        "solve": solving(resident, "filter-boruvka", "solve").call,
        "forest": finding_forest(resident, resident, "filter-boruvka", "forest").call,
    }
    times = run.turns(ways, lambda found: found.difference(reference), warm_ups=3)
    row = {"graph": name, "slots": weighted.n_slots, "stated": STATED[name], **times}
    return row | {"stated / solve": STATED[name] / run.of(times["solve"])}


@main.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--plot", type=click.Path(path_type=Path), help="Draw a picture here.")
def throughput(files: tuple[Path, ...], plot: Path | None) -> None:
    """Compare the throughput in ECL-MST's paper with results of `clmst bench` (Figures 3 and 4).

    The throughput is in billion CSR entries per second. An entry is one direction of an edge. The
    paper's rates were measured on its graphs, and all other rates on surrogates, which are
    generated graphs of the same kind and size.
    """
    results = merged({str(file): Results.load(file) for file in files})
    rows = [*show(rates_of(results), Run(devices=()))]
    if plot is not None and rows:
        machines = ", ".join(map(results.name_of, results.machines))
        draw(rows, plot, f"ECL-MST in its paper, and solves of surrogates, {machines}")


def rates_of(results: Results) -> Iterator[Row]:
    """Yield a row for each surrogate graph: the throughput of all algorithms beside the paper's.

    A surrogate is a generated graph of the same size and kind as one of the paper's. The throughput
    is in billion slots (CSR entries) per second.
    """
    for grid in Grid.each(results, "times"):
        for graph, rates in zip(grid.graphs, grid.rates() * 1e-9, strict=True):
            if graph not in ECL_MST:
                continue
            slots, times = TABLE_2[graph][0], ECL_MST[graph]
            row: Row = {"graph": graph}
            for machine, ms in zip(ECL_MST_MACHINES, times, strict=True):
                row[f"paper: ECL-MST, {machine}"] = slots / ms * 1e-6
            yield row | {
                one.label: "" if np.isnan(rate) else float(rate)
                for one, rate in zip(grid.columns, rates, strict=True)
            }


def rates_in_paper(machine: str) -> dict[str, dict[str, float]]:
    """Return the throughput of all programs in Figure 3 or 4 of the paper, by program and graph.

    `machine` is the GPU of the figure. The throughput is in billion slots (CSR entries) per second.
    Graphs are named as the surrogates that stand for them. A graph that a program does not take is
    left out.
    """
    place = ECL_MST_MACHINES.index(machine)
    times: dict[str, dict[str, float | None]] = {
        PEER: {graph: ms[place] for graph, ms in ECL_MST.items()}
    }
    for number, name in enumerate(ECL_OTHERS[machine]):
        times[name] = {graph: ms[number] for graph, ms in ECL_OTHERS_MS[machine].items()}
    return {
        name: {graph: TABLE_2[graph][0] / ms * 1e-6 for graph, ms in own.items() if ms is not None}
        for name, own in times.items()
    }


def draw(rows: Sequence[Row], file: Path, title: str) -> None:
    """Draw the throughput of every algorithm that was timed, and of all programs in the paper.

    Each of `rows` is a graph, which gets a horizontal line with a marker for each algorithm. The
    first panels are Figures 3 and 4 of the paper, with hollow markers. The last panel is ours.
    """
    size, graphs = (15, 2.6 + 0.32 * len(rows)), [row["graph"] for row in rows]
    own = {
        name: {row["graph"]: row[name] for row in rows if row[name]}
        for name in rows[0]
        if name != "graph" and not name.startswith("paper")
    }
    drawn = {f"paper, {machine}": rates_in_paper(machine) for machine in ECL_MST_MACHINES}
    drawn["here, surrogates"] = own
    labels = [*dict.fromkeys(name for rates in drawn.values() for name in rates)]
    with panels(file, len(drawn), size, title=title, share_y=True) as axes:
        for panel, (heading, rates) in zip(axes, drawn.items(), strict=True):
            for name, values in rates.items():
                look: dict[str, Any] = {"linestyle": "", **style(labels.index(name))}
                if labels.index(name) >= len(STYLES):  # styles begin again
                    look["marker"] = "p"
                if heading.startswith("paper"):
                    look |= {**LOOK, "markersize": 8, "markeredgecolor": look["color"]}
                here = [(values[graph], at) for at, graph in enumerate(graphs) if graph in values]
                if here:
                    panel.plot(*zip(*here, strict=True), label=name, **look)
            panel.set(title=heading, xscale="log", xlabel="thousand million slots a second")
            plain_ticks(panel.xaxis, (1,))
            panel.set_yticks(range(len(graphs)), graphs)
            panel.grid(**GRID)
        axes[0].invert_yaxis()
        legend_below(axes[0], columns=5)


LIGHT = "light edges beside the target, per cent"
SEED_MS = "median milliseconds by seed"
_BOX = "graph", "samples"  # each graph and size of the sample has a box plot
WARP, ALONE = 32, 4  # lanes of a warp; ECL-MST gives a warp all rows of at least so many slots


def draw_thresholds(rows: Sequence[Row], file: Path, device: str) -> None:
    """Draw box plots over many random samples of the filter, for each graph and size of the sample.

    The first panel has how far the number of light edges is from its target (Figure 7). If the
    solves were timed, a second panel has the throughput with each seed, divided by the throughput
    with the slowest seed (Figure 6).
    """
    graphs, sizes = (list(dict.fromkeys(row[name] for row in rows)) for name in _BOX)
    timed = [row for row in rows if row.get(f"_{SEED_MS}")]
    drawn = [("Figure 7: distance from the target of the filter", LIGHT, rows)]
    if timed:
        drawn.append(
            (f"Figure 6: throughput, {device}", "times as fast as the slowest seed", timed)
        )
    title = "ecl: seeds of the sample of the filter, surrogates"
    with panels(file, len(drawn), ((2 + 0.6 * len(graphs)) * len(drawn), 4.4), title=title) as axes:
        for panel, (heading, label, chosen) in zip(axes, drawn, strict=True):
            for number, samples in enumerate(sizes):
                own = [row for row in chosen if row["samples"] == samples]
                shift, color = 0.4 * (number - (len(sizes) - 1) / 2), style(number)["color"]
                boxes = panel.boxplot(
                    [_over_slowest(row) if chosen is timed else row[f"_{LIGHT}"] for row in own],
                    positions=[graphs.index(row["graph"]) + shift for row in own], widths=0.34,
                    whis=(0, 100), patch_artist=True, manage_ticks=False,
                    boxprops={"facecolor": color, "alpha": 0.55}, medianprops={"color": "black"},
                )["boxes"]  # fmt: skip
                if boxes:
                    boxes[0].set_label(f"{samples:,} samples")
            panel.set_xticks(range(len(graphs)), graphs, rotation=35, ha="right")
            panel.set(title=heading, ylabel=label)
            panel.grid(axis="y", **GRID)
        legend_below(axes[0], columns=len(sizes))


def _over_slowest(row: Row) -> list[float]:
    times = row[f"_{SEED_MS}"]
    return [max(times) / ms for ms in times]


@main.add_command
@case(
    graphs_argument(),
    click.option("--seeds", type=click.IntRange(1), default=99, show_default=True),
    click.option("--timed", is_flag=True, help="Time the solves, too (Figure 6)."),
    draw=draw_thresholds, measures="numbers of light edges and of rounds over all seeds",
)  # fmt: skip
def thresholds(run: Run, graphs: tuple[str, ...], seeds: int, *, timed: bool) -> Rows:
    """Count light edges and rounds of `ecl` for many seeds of the filter's sample (Figure 7).

    The filter solves light edges first. It estimates their greatest weight from a random sample.
    Samples of the paper's size and of clmst's size are tried. By default the graphs are all
    surrogate graphs whose average degree is so high that `ecl` uses its filter.
    """
    filtered = [name for name, stated in TABLE_2.items() if stated[3] > FILTER_DEGREE]
    for name in graphs or filtered:
        resident = clmst.to_device(in_common_form(load(name)), run.device)
        proved = clmst.minimum_spanning_forest(resident, verify=True)
        reference = Reference(
            slots=np.asarray(proved.edge_ids), n_slots=resident.n_slots,
            total_weight=proved.total_weight, how="proved",
        )  # fmt: skip
        for samples in (PAPER_SAMPLES, EclOptions().samples):
            light, rounds, times = [], [], list[float]()
            for seed in range(seeds):
                options = EclOptions(samples=samples, seed=seed)
                contestant = solving(resident, "ecl", name, options)
                outcome = contestant.call()
                if wrong := outcome.difference(reference):
                    raise DeviceError(f"ecl with seed {seed} is wrong on {name}: {wrong}")
                details = contestant.details(outcome)
                rounds.append(int(outcome.stats["rounds"]))
                if "light_edges" in details:
                    light.append(details["light_edges"])
                if timed:
                    found = run.turns({name: contestant.call}, warm_ups=0)[name]
                    times.append(round(run.of(found), 4))
            target = FILTER_TARGET * resident.n_vertices
            row: Row = {"graph": name, "samples": samples, "seeds": seeds}
            beside = [round(100 * (count / target - 1), 2) for count in light]
            for title, pick in (("least", min), ("median", median), ("most", max)):
                row[f"{title}, per cent"] = f"{pick(beside):+.0f}" if beside else ""
            row |= {"fewest rounds": min(rounds), "most rounds": max(rounds)}
            if timed:
                row["slowest / quickest"] = max(times) / min(times)
                row[f"_{SEED_MS}"] = times
            yield row | {f"_{LIGHT}": beside}
        del resident
        run.device.release_memory()


def warp_steps(degrees: np.ndarray) -> np.ndarray:
    """Return the number of steps that each warp of ECL-MST takes to fill its worklist.

    `degrees` has the number of slots of each row. A step is 32 slots of one row.
    """
    steps = np.where(degrees >= ALONE, -(-degrees // WARP), 0)
    steps = np.append(steps, np.zeros(-steps.size % WARP, steps.dtype))
    return np.asarray(steps.reshape(-1, WARP).sum(axis=1))


@main.add_command
@case(graphs_argument(), measures="numbers of steps")
def warps(run: Run, graphs: tuple[str, ...]) -> Rows:
    """Count the steps of the slowest warp of ECL-MST, which fills its worklist from the rows.

    A vertex is a hub if its row is so long that `ecl` cuts it into pieces. The hubs of the slowest
    warp are counted, too. By default the graphs are all surrogates of the paper's inputs.
    """
    del run
    for name in graphs or tuple(TABLE_2):
        degrees = np.diff(load(name).indptr.astype(np.int64))
        steps = warp_steps(degrees)
        first = WARP * int(steps.argmax()) if steps.size else 0
        hubs = int((degrees[first : first + WARP] >= HUB_ROW.value).sum())
        yield {
            "graph": name, "greatest degree": int(degrees.max(initial=0)),
            "steps of the slowest warp": int(steps.max(initial=0)),
            "its first vertex": first, "its hubs": hubs,
            "mean of all warps": round(float(steps.mean()), 2) if steps.size else 0.0,
        }  # fmt: skip


@main.add_command
@case(
    graphs_argument(),
    click.option("--dtype", default="float32", show_default=True, help="Of the weights."),
)
def stated(run: Run, graphs: tuple[str, ...], dtype: str) -> Rows:
    """Time solves of the graphs for which RAFT's pull request states times.

    By default surrogate graphs are solved. With NAME=FILE, the graph NAME is read from a file.
    """
    sources = dict(one.partition("=")[::2] for one in graphs) or dict.fromkeys(STATED, "")
    for name in sources:
        if name not in STATED:
            raise InvalidArgumentError(
                f"no time is stated for {name!r}; there are {', '.join(STATED)}"
            )
    ratios = []
    for name, source in sources.items():
        row = beside_stated(run, name, in_common_form(load(source or name)), dtype)
        ratios.append(row["stated / solve"])
        yield row
    yield f"stated / solve, geometric mean: {geometric_mean(ratios):.2f}"
