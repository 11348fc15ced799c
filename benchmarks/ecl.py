"""How close the surrogates are to the inputs of ECL-MST's paper, and times that others state.

    python -m benchmarks ecl inputs [GRAPH ...]
    python -m benchmarks ecl stated [NAME=FILE ...] [--dtype float32]

``inputs`` is Table 2 of SC '23 with the surrogates' own numbers beside it. A GRAPH is a surrogate
graph by name, or a file. ``stated`` times solves beside what pull request 3118 of NVIDIA's RAFT, by
ECL-MST's first author, states for an H200 with weights of 32-bit floating point; ten of its graphs
have a surrogate, which is made unless a file is given. 'Solve' leaves the forest as a flag a slot,
which is what ECL-MST times; what the stated times cover is not said. 'Forest' is the public call,
with the forest on the device. Each is proved before it is timed.
"""

from __future__ import annotations

from statistics import geometric_mean
from typing import Any

import click
import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

import clmst
from benchmarks.repeated import load
from benchmarks.runner import Cases, Row, Rows, Run, case, graphs_argument
from clmst.bench.agreement import Reference
from clmst.bench.contestants import finding_forest, solving
from clmst.core.errors import InvalidArgumentError

TITLES = ("slots", "vertices", "components", "d-avg", "d-max")
# Table 2 of the paper: its slots ("edges"), vertices, components, average and greatest degree.
TABLE_2: dict[str, tuple[int, int, int, float, int]] = {
    "internet": (387_240, 124_651, 1, 3.1, 151),
    "road_ny": (730_100, 264_346, 1, 2.8, 8),
    "rmat16": (967_866, 65_536, 3_900, 14.8, 569),
    "cit": (2_313_294, 268_495, 1, 8.6, 1_318),
    "grid20": (4_190_208, 1_048_576, 1, 4.0, 4),
    "amazon": (4_886_816, 403_394, 7, 12.1, 2_752),
    "skitter": (22_190_596, 1_696_415, 756, 13.1, 35_455),
    "in2004": (27_182_946, 1_382_908, 134, 19.7, 21_869),
    "patents": (33_037_894, 3_774_768, 3_627, 8.8, 793),
    "copapers": (30_491_458, 540_486, 1, 56.4, 3_299),
    "road_usa": (57_708_624, 23_947_347, 1, 2.4, 9),
    "rmat22": (65_660_814, 4_194_304, 428_640, 15.7, 3_687),
    "r4_23": (67_108_846, 8_388_608, 1, 8.0, 26),
    "lj": (85_702_474, 4_847_571, 1_876, 17.7, 20_333),
    "tri24": (100_663_202, 16_777_216, 1, 6.0, 26),
    "road_eur": (108_109_320, 50_912_018, 1, 2.1, 13),
    "kron21": (182_081_864, 2_097_152, 553_159, 86.8, 213_904),
}


@click.group(cls=Cases)
def main() -> None:
    """Compare surrogates with ECL-MST's inputs, and times with stated ones."""


@main.add_command
@case(graphs_argument())
def inputs(run: Run, graphs: tuple[str, ...]) -> Rows:
    """Put the surrogates' numbers beside the paper's (Table 2)."""
    del run
    for name in graphs or tuple(TABLE_2):
        stated, found = TABLE_2.get(name.removesuffix("-close"), ("",) * 5), facts_of(load(name))
        row: Row = {"graph": name}
        for title, theirs, ours in zip(TITLES, stated, found, strict=True):
            row |= {f"{title}, paper": theirs, f"{title}, ours": ours}
        yield row


def facts_of(graph: clmst.Graph) -> tuple[Any, ...]:
    """Return slots, vertices, components, average and greatest degree of a symmetric graph."""
    n, degrees = graph.n_vertices, np.diff(graph.indptr.astype(np.int64))
    ones = np.ones(graph.n_slots, np.int8)
    matrix = sparse.csr_array(
        (ones, graph.indices.view(np.int32), graph.indptr.view(np.int32)), shape=(n, n)
    )
    count = int(connected_components(matrix, directed=False)[0])
    return graph.n_slots, n, count, round(graph.n_slots / max(n, 1), 1), int(degrees.max(initial=0))


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


def beside_stated(run: Run, name: str, graph: clmst.Graph, dtype: str) -> Row:
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


@main.add_command
@case(
    graphs_argument(),
    click.option("--dtype", default="float32", show_default=True, help="Of the weights."),
)
def stated(run: Run, graphs: tuple[str, ...], dtype: str) -> Rows:
    """Time the surrogates of graphs that RAFT states times for; NAME=FILE gives a graph."""
    sources = dict(one.partition("=")[::2] for one in graphs) or dict.fromkeys(STATED, "")
    for name in sources:
        if name not in STATED:
            raise InvalidArgumentError(
                f"no time is stated for {name!r}; there are {', '.join(STATED)}"
            )
    ratios = []
    for name, source in sources.items():
        row = beside_stated(run, name, load(source or name), dtype)
        ratios.append(row["stated / solve"])
        yield row
    yield f"stated / solve, geometric mean: {geometric_mean(ratios):.2f}"
