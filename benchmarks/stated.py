"""Solves on the device beside times that others state.

    python -m benchmarks stated [NAME=FILE ...] [--dtype float32]

Pull request 3118 of NVIDIA's RAFT, by ECL-MST's first author, states times on an H200 with weights
of 32-bit floating point. Ten of its graphs have a surrogate graph here, which is made unless a
file is given for it. 'Solve' leaves the forest as a flag a slot, which is what ECL-MST times; what
the stated times cover is not said. 'Forest' is the public call, with the forest on the device.
Every forest is proved before it is timed.
"""

from __future__ import annotations

from statistics import geometric_mean

import click
import numpy as np

import clmst
from benchmarks.repeated import load
from benchmarks.runner import Row, Rows, Run, case, graphs_argument
from clmst.bench.agreement import Reference
from clmst.bench.contestants import finding_forest, solving
from clmst.core.errors import InvalidArgumentError

# What RAFT's pull request 3118 states for an H200, in ms.
STATED = {
    "internet": 0.296,
    "road_ny": 0.378,
    "rmat16": 0.537,
    "cit": 0.728,
    "amazon": 0.931,
    "grid20": 1.343,
    "copapers": 2.570,
    "patents": 6.450,
    "rmat22": 7.928,
    "road_usa": 10.166,
}


def measure(run: Run, name: str, graph: clmst.Graph, dtype: str) -> Row:
    """Prove the forest of a graph, and time its solves."""
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


@case(
    graphs_argument(),
    click.option("--dtype", default="float32", show_default=True, help="Of the weights."),
)
def main(run: Run, graphs: tuple[str, ...], dtype: str) -> Rows:
    """Time the surrogates of graphs that RAFT states times for; NAME=FILE gives a graph."""
    sources = dict(one.partition("=")[::2] for one in graphs) or dict.fromkeys(STATED, "")
    for name in sources:
        if name not in STATED:
            raise InvalidArgumentError(
                f"no time is stated for {name!r}; there are {', '.join(STATED)}"
            )
    ratios = []
    for name, source in sources.items():
        row = measure(run, name, load(source or name), dtype)
        ratios.append(row["stated / solve"])
        yield row
    yield f"stated / solve, geometric mean: {geometric_mean(ratios):.2f}"
