"""The sizes at which one algorithm becomes faster than another, with units and measurements."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from clmst.route.facts import DeviceFacts


def _limit(value: int, unit: str, evidence: str) -> Any:
    """Create a dataclass field of :class:`Limits` with a default value, a unit and the evidence.

    `unit` says in words what is counted, and `evidence` says which measurement decided the value.
    """
    return field(default=value, metadata={"unit": unit, "evidence": evidence})


_TWO_CORES = "two cores of an AMD EPYC, Intel's CPU runtime 2026.22"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The sizes at which the choice of an algorithm or kernel changes.

    Each field is a size. The metadata of the field have the unit, and the measurement by which the
    size was chosen.
    """

    small_matrix: int = _limit(
        1 << 19, "slots of a matrix in canonical order",
        f"{_TWO_CORES}, ms of processor time by one work-item and by steps: 1.2 and 2.9 for "
        "119,938 slots of a triangulation, 7.1 and 14 for 599,932, 8.4 and 27 for 365,050 of roads",
    )  # fmt: skip
    small_unsorted_matrix: int = _limit(
        1 << 21, "entries of a matrix in any other order",
        f"{_TWO_CORES}: 3.7 and 11 ms for 200,000 entries of nearest neighbours, 35 and 66 for "
        "1,500,000, 23 and 89 for 2,000,000 at random",
    )  # fmt: skip
    small_list: int = _limit(
        1 << 21, "edges of a list",
        f"{_TWO_CORES}: 0.9 and 7.9 ms for 100,000 edges, 20 and 60 for 1,000,000, 105 and 258 for "
        "4,000,000",
    )  # fmt: skip
    small_complete: int = _limit(
        1 << 17, "cells of a complete graph",
        f"{_TWO_CORES}: 0.15 and 1.5 ms for 20 vertices, 0.84 and 1.9 for 200, 2.3 and 3.9 for 400",
    )  # fmt: skip
    serial_compute_units: int = _limit(
        16, "compute units",
        "The four limits above are for two compute units and are divided by half of their number. "
        "More units than this do not make the steps quicker at these sizes.",
    )  # fmt: skip
    equal_weights: int = _limit(
        1 << 24, "entries of a matrix whose weights are all equal",
        f"{_TWO_CORES}: beyond it all cores are quicker, although they make an order first",
    )  # fmt: skip
    host: int = _limit(
        1 << 14, "slots that the host solves although there is a GPU",
        "One core of an H100's host takes 0.15 ms for 3,994 slots of a symmetric matrix and 0.41 "
        "for 15,848. The H100 takes 0.56 ms for 100 and 1.03 for 16,000.",
    )  # fmt: skip
    first_entries: int = _limit(
        1 << 21, "slots or entries of a graph that the host solves while kernels are built",
        "One core of an H200's host takes 0.19 s for 1,600,000 slots of a matrix, and 0.15 for the "
        "800,000 edges as a list. A first call that waits for kernels takes 3 to 5 s there",
    )  # fmt: skip
    first_points: int = _limit(
        5000, "points, or rows of distances, whose tree the host finds while kernels are built",
        "One core of an H200's host takes 0.03 s to cluster 2,000 points of 2 dimensions",
    )  # fmt: skip
    host_conversion: int = _limit(
        1 << 17, "entries of a COO or CSC matrix that the host converts for a GPU",
        "SciPy converts so few sooner than a device sorts them",
    )  # fmt: skip
    host_unsorted_tree: int = _limit(
        1 << 18, "entries in any order for csgraph, where ties go by entry",
        "The host is quicker than a device that has to sort the entries first (docs/scipy.md)",
    )  # fmt: skip
    host_equal_tree: int = _limit(
        1 << 24, "entries of equal weights for csgraph",
        "The host needs no sort for equal weights and is quicker than any device (docs/scipy.md)",
    )  # fmt: skip
    prim: int = _limit(
        8192, "vertices of a graph in both directions, by one work-item",
        f"{_TWO_CORES} and PoCL 3.1: prim takes half the time of filter-boruvka on 4,096 vertices, "
        "and 1.2 to 1.5 times as long on 16,384. A graph that stores each edge once needs its "
        "mirror first: half as many vertices",
    )  # fmt: skip
    prim_once: int = _limit(
        32_768, "edges that are stored once, by prim",
        f"{_TWO_CORES}: both take the same time on 4,096 vertices and 16,384 edges",
    )  # fmt: skip
    points_by_prim: int = _limit(
        2000, "points, by one work-item",
        f"{_TWO_CORES}: one work-item compares all pairs sooner than a hierarchy is built "
        '(benchmarks/log.md, "Points")',
    )  # fmt: skip
    hierarchy_alone: int = _limit(
        1000, "points on a device whose work-items are alone",
        '(benchmarks/log.md, "Points"); from here on a hierarchy beats all pairs',
    )  # fmt: skip
    hierarchy: int = _limit(
        20_000, "points on a GPU, of up to three dimensions",
        "An H200: a dense solve is quick there, and a search in many dimensions is not. The number "
        "doubles with every two dimensions beyond three",
    )  # fmt: skip
    flat_neighbours: int = _limit(
        8_000, "points of up to three dimensions on a GPU, for core distances",
        "An H200: near points alone pay sooner than a tree",
    )  # fmt: skip
    one_work_group: int = _limit(
        2048, "vertices of a complete graph on a GPU",
        "An H200: one work-group takes all rounds in one launch (algorithms/dense/one_group.py)",
    )  # fmt: skip
    turns: int = _limit(
        1 << 16, "points times neighbours",
        "An H200: core distances of few points by one launch, one neighbour after the other",
    )  # fmt: skip
    listed_neighbours: int = _limit(
        256, "neighbours of a point", "The longest list that a search of a hierarchy is built for"
    )
    flat_dimensions: int = _limit(
        3, "dimensions", "A pair of so few coordinates is compared as quickly without a filter"
    )
    hierarchy_dimensions: int = _limit(
        12, "dimensions", "In more, boxes overlap so much that all pairs are compared anyway"
    )
    device_check: int = _limit(
        1 << 14, "slots of a matrix, from which on the device checks it",
        "The host has checked fewer before a device has answered. An H100 takes 0.5 ms less than "
        "its host for 39,994.",
    )  # fmt: skip
    device_order: int = _limit(
        1 << 16, "edges or entries, from which on the device brings them into canonical order",
        "The host has sorted fewer before a device has built the kernels",
    )  # fmt: skip
    host_parallel: int = _limit(
        512, "entries, from which on the host merges parallel edges before it solves",
        "Of fewer entries the solve finds the lightest of a pair sooner than a pass looks for it",
    )  # fmt: skip
    host_complete: int = _limit(
        1 << 26, "edges of a complete graph that the host lists to prove its tree",
        "60 bytes each: 4 GB for 11,585 vertices",
    )  # fmt: skip
    host_lists: int = _limit(
        64, "points, from which on the host joins lists of near points",
        "The lists of fewer points hold most pairs; not in benchmarks/log.md",
    )  # fmt: skip
    host_pairs: int = _limit(
        2048, "points of several dimensions, up to which the host compares all pairs",
        "One core, milliseconds of processor time for the 8 nearest of each of 500, 1,000 and "
        "2,000 normally distributed points: in 8 dimensions k-d tree 4.1, 12, 39, all pairs 2.7, "
        "9.8, 35; in 4 dimensions 2.1, 4.6, 10 and 2.6, 8.7, 32. The module of SciPy with the tree "
        "takes half a second to load",
    )  # fmt: skip
    host_pairs_dimensions: int = _limit(
        8, "dimensions, from which on the host compares all pairs of few points",
        "The times at `host_pairs`: in 4 dimensions the tree is two to three times as fast",
    )  # fmt: skip
    host_coordinates: int = _limit(
        1 << 14, "numbers in the coordinates of points, up to which the validity index computes "
        "Euclidean distances without SciPy",
        "Two cores: SciPy's function takes a third of the time or less (0.02 s less for 5,000 "
        "points of 8 dimensions), but loading it takes a quarter of a second",
    )  # fmt: skip
    host_tree_dimensions: int = _limit(
        12, "dimensions of points for which the host searches a k-d tree",
        "One core, seconds of processor time for the 10 nearest of each of 10,000 normally "
        "distributed points: k-d tree 0.16 in 5 dimensions, 0.77 in 8, 1.5 in 10, 4.3 in 16; "
        "products of all pairs 0.6 to 1.2 in all of them. Points in groups are far quicker in the "
        "tree",
    )  # fmt: skip
    host_tree_dimensions_of_new: int = _limit(
        32, "dimensions of points for which the host searches a k-d tree for new points",
        "Two cores, seconds of processor time for 20,000 points of a fit and 2,000 new points, in "
        "16, 32 and 64 dimensions: groups that overlap, k-d tree 0.45, 0.87 and 1.6, products of "
        "all pairs 0.23, 0.25 and 0.30; groups far apart, k-d tree 0.03, 0.05 and 0.13, products "
        "0.29",
    )  # fmt: skip
    host_components: int = _limit(
        256, "components of points between which the host finds all edges at once, by boxes",
        "Paths between all components are kept, which takes time with the third power of their "
        "number; not in benchmarks/log.md",
    )  # fmt: skip
    host_compared: int = _limit(
        512, "comparisons with boxes or points, for each point, before the host gives up boxes",
        "Groups of 5,000 and 20,000 points in ten dimensions took 1 to 128 comparisons. The limit "
        "itself was not measured; not in benchmarks/log.md",
    )  # fmt: skip
    networkx: int = _limit(
        2000, "edges of a NetworkX graph, from which on clmst is quicker than NetworkX",
        "A first call includes the conversion (docs/networkx.md)",
    )  # fmt: skip
    filter_sparse_times: int = _limit(
        4, "times the edges from which light edges go first in a dense graph",
        "A sparse graph has fewer edges within components when the first window is done. The "
        "degree and the edges of a dense graph are in the device's policy (runtime/policy.py)",
    )  # fmt: skip
    one_launch: int = _limit(
        512, "vertices of a complete graph on a GPU, all rounds of which are one launch",
        "An H200: for 1,000 points one work-group took 0.56 ms, nearly all for cells that it read "
        "again. Beyond the limit all work-groups read these",
    )  # fmt: skip
    products_alone: int = _limit(
        1 << 27, "pairs of points times coordinates, by products, with work-groups of one",
        "Two cores, 5,000 points of 64 and of 384 dimensions: products take 0.76 and 0.72 of the "
        'processor time (benchmarks/log.md, "Points by tiles"); a sample has to be taken',
    )  # fmt: skip
    products: int = _limit(
        1 << 32, "pairs of points times coordinates, by products, on a GPU",
        "An H200: a tree of 50,000 points of 256 dimensions takes 138 ms by products, 170 by "
        'differences (benchmarks/log.md, "Points by tiles"); a sample has to be taken',
    )  # fmt: skip
    device_sort: int = _limit(
        1 << 16, "edges of a forest, from which on a GPU sorts them for a dendrogram",
        "The host sorts fewer before a GPU has built the kernels of a radix sort",
    )  # fmt: skip
    serial_dendrogram: int = _limit(
        5120, "vertices whose edges one work-item of a GPU merges",
        "An H200, 5,000 points: 0.81 ms in local memory, 2.1 to 3.4 level by level "
        '(benchmarks/log.md, "Points by tiles"). It is SERIAL_VERTICES of dendrogram/'
        "serial.cl: more do not fit",
    )  # fmt: skip
    condensed_tiles: int = _limit(
        8, "tiles of vertices of a dendrogram",
        "5,000 points condensed in the launch that merges take one launch and one read instead of "
        "7 and 5 (benchmarks/log.md)",
    )  # fmt: skip
    stream_on_device: int = _limit(
        1 << 20, "edges of a stream so far",
        f"{_TWO_CORES}, processor time of the device's way to the host's: 0.42 to 0.78 for thirty "
        "million edges and up to a million vertices, 1.29 for four million edges and two million "
        "vertices (docs/scaling.md)",
    )  # fmt: skip
    vertices_per_edge: int = _limit(
        8, "vertices of the graph for each edge of a part of it",
        "In sparser parts, arrays of all vertices cost more than a search for those that occur; "
        "not in benchmarks/log.md",
    )  # fmt: skip
    forest_per_lost_edge: int = _limit(
        512, "edges of a dynamic forest for each edge that it loses in a change",
        f"{_TWO_CORES}, ms of processor time for a forest of 750,000 vertices and 3,000,000 edges, "
        "from the remaining trees: 537 for 100 lost edges, 973 for 10,000; 447 to solve anew",
    )  # fmt: skip
    resident_forest: int = _limit(
        1 << 18, "stored edges of a dynamic forest that stay in the memory of a GPU",
        "Fewer edges are solved in the time that launches take; not measured",
    )  # fmt: skip
    edges_per_lost_edge: int = _limit(
        16, "light edges that are looked at for each lost edge of a forest on a GPU",
        "Nearly all large pieces then have an edge that leaves them; not measured",
    )  # fmt: skip
    lost_at_once: int = _limit(
        256, "lost edges, from which on light edges are looked at before all others",
        "Of fewer pieces nearly all are small, and few of their edges are light; not measured",
    )  # fmt: skip
    stream_filter: int = _limit(
        2, "edges a vertex still to come, from which the host filters a stream",
        f"{_TWO_CORES}, forty million rows: 17.8 s of processor time with reductions of 2 edges a "
        "vertex, too few for a filter, 7.9 with 3, 6.8 with 4, 7.3 with 6 (docs/scaling.md)",
    )  # fmt: skip
    streamed_part: int = _limit(
        16, "solves of a graph that the memory of its device would hold side by side",
        "A solve that takes a lesser part of the memory did not fail because of the graph's size; "
        "not measured",
    )  # fmt: skip
    dense_part: int = _limit(
        256, "vertices of a part with half of its pairs",
        "Ma and Wan, section 4.2, call a part of n vertices dense from n**2 / 2 edges on; in their "
        "Table 4 a matrix pays off from 4,096 vertices on",
    )  # fmt: skip
    weights_on_host: int = _limit(
        1 << 16, "weights of a round, or changed ones, that the host checks for NaN",
        "Beyond it the kernel that takes the weights checks them, too; not in "
        "benchmarks/log.md",
    )  # fmt: skip
    serial_round: int = _limit(
        1 << 20, "edges of a graph whose rounds one work-item solves",
        f"{_TWO_CORES}, all weights new, to a one-shot solve: 0.69 to 0.87 with 10,000 edges, 0.76 "
        "to 1.1 with 300,000; by steps 2.4 to 3.8 and 0.7 to 1.5; more edges were not measured",
    )  # fmt: skip
    edges_per_change: int = _limit(
        16, "edges for each change of a weight that may change the forest",
        f"{_TWO_CORES}, 1 % of the weights changed, from the forest before: 0.30 to 0.84 of a "
        "one-shot solve; other shares were not measured",
    )  # fmt: skip
    serial_changes: int = _limit(
        1 << 20, "edges of a graph whose rounds start from the forest before, on a CPU",
        f"{_TWO_CORES}, 1 % of the weights new, to a one-shot solve, from the forest before and "
        "all edges anew: 1,000,000 edges 0.41 to 0.52 and 0.50 to 0.73, 1,600,000 edges 0.36 to "
        "0.53 and 0.26 to 0.48, 3,000,000 edges 0.69 to 1.04 and 0.72 to 0.81",
    )  # fmt: skip
    vertices_per_kept_change: int = _limit(
        50_000, "vertices for each new weight of a round that starts from the forest on a GPU",
        "An H200, ms from the last forest and anew: 900,000 vertices 0.69 and 0.83 for 1 new "
        "weight of 3,600,000, 1.03 and 0.78 for 100; 9,000,000 vertices 2.16 and 3.38 for 100 of "
        "18,000,000, 3.07 and 3.58 for 6,000, 4.11 and 3.40 for 18,000",
    )  # fmt: skip
    rounds_without_keeping: int = _limit(
        64, "rounds on a GPU, after which the forest is kept again to compare weights with",
        "An H200: to compare and keep 3,600,000 weights takes up to 0.5 of 1.5 ms of a round",
    )  # fmt: skip
    warm_start: int = _limit(
        1 << 16, "edges of a graph whose rounds may be warm starts",
        "Smaller graphs are solved in the time that checking their weights takes",
    )  # fmt: skip
    warm_start_resident: int = _limit(
        1 << 19, "edges, where a whole solve is one launch",
        "An H200, time of near rounds to that of others: 1.06 to 1.19 and 1.02 to 1.06 with 0.19 "
        "and 0.36 million edges, 0.82 to 1.05 with 0.52 million, 0.88 to 0.97 with 1.07 million "
        "(benchmarks/log.md)",
    )  # fmt: skip
    warm_start_candidates: int = _limit(
        35, "candidates for 100 edges, above which a warm start does not pay",
        "Candidates are solved in each round; not in benchmarks/log.md",
    )  # fmt: skip
    series: int = _limit(
        1 << 18, "edges of a graph whose degree-2 paths are contracted for rounds",
        "Smaller graphs are solved in the time that launches take",
    )  # fmt: skip
    series_density: int = _limit(
        250, "edges for 100 vertices, above which paths are not looked for",
        "Denser graphs have few degree-2 paths; not in benchmarks/log.md",
    )  # fmt: skip
    series_candidates: int = _limit(
        70, "candidates for 100 edges, above which a contraction does not pay",
        "Candidates are solved in each round; not in benchmarks/log.md. Of road_usa rounds "
        "take 0.54 to 0.60 of the time",
    )  # fmt: skip
    scan_one_launch: int = _limit(
        4, "tiles of an array that one lane group scans",
        "One launch of one lane group is quicker than three launches; not in "
        "benchmarks/log.md",
    )  # fmt: skip
    selection_one_launch: int = _limit(
        64, "records for each work-item of a work-group",
        "One launch of one work-group is quicker than three launches; not in "
        "benchmarks/log.md",
    )  # fmt: skip
    selection_serial: int = _limit(
        1 << 14, "records that one work-item of a CPU selects alone",
        "One launch is quicker than three; not in benchmarks/log.md",
    )  # fmt: skip


LIMITS = Limits()


def for_units(limit: int, device: DeviceFacts) -> int:
    """Convert a limit that was measured with two compute units to the one for `device`.

    More compute units make the competing way of solving faster, so the limit decreases.
    """
    return 2 * limit // min(max(device.compute_units, 2), LIMITS.serial_compute_units)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The place where the measurement behind a limit is kept.

    Attributes
    ----------
    page : str
        The file, as a path from the root of the repository.
    part : str
        Words of that file that only the measurement has: a heading, or the text of a row.
    date : str
        The day on which the figures were written down, as year-month-day.
    device : str
        Where it was measured.
    """

    page: str
    part: str
    date: str
    device: str


_TWO, _H100, _H200 = "two cores of an AMD EPYC", "NVIDIA H100", "NVIDIA H200"


def _log(part: str, date: str, device: str) -> Measured:
    """Return the place of a measurement that is kept in the log of the benchmarks.

    `part` is the heading or row. `date` and `device` say when, and on which device, it was made.
    """
    return Measured(page="benchmarks/log.md", part=part, date=date, device=device)


def _page(page: str, part: str, date: str, device: str) -> Measured:
    """Return the place of a measurement that is kept in the page `page` of the documentation.

    `part` is the heading or row. `date` and `device` say when, and on which device, it was made.
    """
    return Measured(page=f"docs/{page}.md", part=part, date=date, device=device)


MEASURED = {
    "small_list": _log("Lists of edges by one work-item", "2026-11-26", _TWO),
    "host": _page("performance", "an H100 takes 0.56 ms for 100 vertices", "2026-11-29", _H100),
    "first_entries": _log("The host answers first calls of graphs", "2026-11-30", _H200),
    "first_points": _log("The host answers first calls of graphs", "2026-11-30", _H200),
    "host_conversion": _log("COO and CSC matrices of equal weights", "2026-11-26", _TWO),
    "prim": _log('Small and dense graphs: what "auto" goes by', "2026-11-22", _TWO),
    "prim_once": _log('Small and dense graphs: what "auto" goes by', "2026-11-22", _TWO),
    "points_by_prim": _log("Trees of few points by Prim's algorithm", "2026-11-26", _TWO),
    "hierarchy": _log("Points: hierarchies or all pairs", "2026-11-24", f"{_H200}, {_H100}"),
    "hierarchy_dimensions": _log("| 100,000 | 12 | 139 / 85.5 |", "2026-11-27", _H100),
    "flat_neighbours": _log("Core distances of fewer than 8,000 points", "2026-11-26", _H100),
    "one_work_group": _log("All rounds of up to 2,048 points", "2026-11-27", _H100),
    "one_launch": _log("Above 512 points all work-groups read", "2026-11-27", _H200),
    "device_check": _log("A device checks matrices from 16,384", "2026-11-26", _H100),
    "networkx": _page("networkx", "| 2,000 | 609 |", "2026-11-28", _TWO),
    "products_alone": _log("Squares by products", "2026-11-26", _TWO),
    "products": _log("Squares by products", "2026-11-26", _H200),
    "serial_dendrogram": _log("dendrograms of up to 5,120 points", "2026-11-26", _H200),
    "condensed_tiles": _log("Condensing of up to 8 tiles", "2026-11-26", _TWO),
    "stream_on_device": _page("scaling", "0.42 to 0.78", "2026-11-29", _TWO),
    "stream_filter": _page("scaling", "took 17.8 s of processor time", "2026-11-29", _TWO),
    "warm_start_resident": _log("Warm starts from more edges", "2026-11-23", _H200),
    "serial_round": _log("Rounds by one work-item", "2026-11-29", _TWO),
    "serial_changes": _log("| 1,600,000 | 4 | 0.26 to 0.30 |", "2026-11-30", _TWO),
    "edges_per_change": _log("processor time of 1 % changed", "2026-11-29", _TWO),
    "series_candidates": _log("road_usa 0.6 with any weights", "2026-11-22", _H200),
}
"""Where the measurement behind each limit is kept, by the name of the limit.

The measurement behind any other limit was not kept. If its evidence has figures, they were measured
when the limit was chosen, and can only be measured again.
"""


def limits_table() -> str:
    """Return all limits as a table in Markdown, which docs/algorithms.md contains."""
    rows = [
        f"| `{one.name}` | {one.default:,} | {one.metadata['unit']} | {one.metadata['evidence']} "
        f"| {_place(one.name)} |"
        for one in fields(Limits)
    ]
    return "\n".join(
        ["| limit | value | of | evidence | kept in |", "|---|--:|---|---|---|", *rows]
    )


def _place(name: str) -> str:
    """Return in words where the measurement behind the limit `name` is kept: page, device, date."""
    found = MEASURED.get(name)
    return f"{found.page}, {found.device}, {found.date}" if found else "not kept"
