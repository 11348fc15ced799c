"""The numbers by which the router decides, each with its unit and what was measured."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


def _limit(value: int, unit: str, evidence: str) -> Any:
    """Return a field of :class:`Limits`: a number, its unit, and what was measured."""
    return field(default=value, metadata={"unit": unit, "evidence": evidence})


_TWO_CORES = "two cores of an AMD EPYC, Intel's CPU runtime 2026.22"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The numbers by which the router decides."""

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
        '(docs/performance_log.md, "Points")',
    )  # fmt: skip
    hierarchy_alone: int = _limit(
        1000, "points on a device whose work-items are alone",
        '(docs/performance_log.md, "Points"); from here on a hierarchy beats all pairs',
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
    rounds_in_one_launch: int = _limit(
        512, "vertices of a complete graph, by one work-group of a GPU",
        "An H200: all rounds in one launch; of more vertices all work-groups read cells again, in "
        "a launch of their own for each round",
    )  # fmt: skip
    products: int = _limit(
        1 << 32, "pairs times dimensions of points on a GPU",
        "An H200, trees by products of coordinates instead of differences: 50,000 x 256 138 ms "
        "instead of 170. A sample is looked at first, which a short solve does not make up for",
    )  # fmt: skip
    products_alone: int = _limit(
        1 << 27, "pairs times dimensions of points, where work-items are alone",
        f"{_TWO_CORES}: 5,000 x 64 takes 0.76 of the processor time by products; HDBSCAN of "
        "1,000 x 256 14.0 ms instead of 16.8",
    )  # fmt: skip
    turns: int = _limit(
        1 << 16, "points times neighbours",
        "An H200: core distances of few points by one launch, one neighbour after the other",
    )  # fmt: skip
    listed_neighbours: int = _limit(
        256, "neighbours of a point", "The longest list that a search of a hierarchy is built for"
    )
    serial_merges: int = _limit(
        5120, "vertices of a dendrogram on a GPU, by one work-item",
        "An H200: so many clusters fit local memory; 5,000 points take 0.81 ms instead of 2.1 to "
        "3.4 level by level",
    )  # fmt: skip
    condensed_tiles: int = _limit(
        8, "tiles of vertices of a dendrogram",
        "5,000 points condensed in the launch that merges take one launch and one read instead of "
        "7 and 5 (docs/performance_log.md)",
    )  # fmt: skip
    device_sort: int = _limit(
        1 << 16, "edges of a forest on a GPU",
        "An H200: a dendrogram of 37,000,000 points takes three quarters of the time if the device "
        "sorts its edges; fewer are sorted by the host before they are uploaded",
    )  # fmt: skip
    flat_dimensions: int = _limit(
        3, "dimensions", "A pair of so few coordinates is compared as quickly without a filter"
    )
    hierarchy_dimensions: int = _limit(
        12, "dimensions", "In more, boxes overlap so much that all pairs are compared anyway"
    )


LIMITS = Limits()


def limits_table() -> str:
    """Return the limits as a table in Markdown, for docs/algorithms.md."""
    rows = [
        f"| `{one.name}` | {one.default:,} | {one.metadata['unit']} | {one.metadata['evidence']} |"
        for one in fields(Limits)
    ]
    return "\n".join(["| limit | value | of | evidence |", "|---|--:|---|---|", *rows])
