"""The router: which way a forest is found, decided from facts alone.

Every function here is pure. It gets facts about an input and a device, and returns a :class:`Way`:
the name of a record, and the reason in words. Some choices depend on the data, such as whether all
weights are equal. Then the way names in `asks` the fact that is missing. The caller, who has the
data, reads that fact and asks again. So no fact is read that does not matter.

The numbers that decide stand in :class:`Limits`, each with what was measured.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypeAlias

Form: TypeAlias = Literal["matrix", "graph", "list", "complete"]


# ------------------------------------------------------------------------------ the limits


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
        "An H200: one work-group takes all rounds in one launch (algorithms/dense/few.py)",
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


LIMITS = Limits()


# ------------------------------------------------------------------------------- the facts


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceFacts:
    """What the router knows about a device."""

    alone: bool  # work-groups have one work-item, as on CPUs
    compute_units: int
    host_arrays: Literal["shared", "wrapped", "copied"]
    doubles: bool

    @property
    def serial(self) -> bool:
        """Whether one work-item can solve a graph where it lies, in the memory of the host."""
        return self.alone and self.host_arrays != "copied"


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseFacts:
    """What the router knows about a graph that lists its edges, and about the call.

    A fact that is None has not been read.
    """

    form: Form
    n_vertices: int
    n_entries: int  # slots, entries or edges as they are stored; cells of a complete graph
    device: DeviceFacts | None  # None: there is no device
    host_allowed: bool = True  # False: the caller named a device
    by_entry: bool = False  # ties go to the first entry, as in SciPy's function
    equal: bool | None = None  # all weights are equal
    canonical: bool | None = None  # rows rise, and the matrix is symmetric or a triangle
    refused: frozenset[str] = frozenset()  # ways whose kernels the device is not trusted with


@dataclass(frozen=True, slots=True, kw_only=True)
class PointFacts:
    """What the router knows about points, or about a complete matrix, on a device."""

    n: int
    dimensions: int  # 0: a matrix of distances
    boxed: bool  # the distance to a box bounds the distances to the points in it
    device: DeviceFacts
    maximum: bool = False
    automatic: bool = True  # neither an algorithm nor options are given
    neighbours: int = 0  # k, if the distance of each point to its k-th nearest one is wanted
    refused: frozenset[str] = frozenset()


class Way(NamedTuple):
    """The router's answer."""

    record: str  # a name in RECORDS
    because: str  # the facts that decided, in words
    asks: str = ""  # a fact to be read first; then the other fields say nothing


def ask(fact: str) -> Way:
    """Return the answer that a fact has to be read before the router can decide."""
    return Way("", "", fact)


# ------------------------------------------------------------------------------ the records

HOST, EQUAL, SMALL, STEPS = "host", "equal-weights", "small-matrix", "steps"
PRIM_POINTS, BOXES, TILES, ROWS = "points-by-prim", "points-by-boxes", "tiles", "rows"
TURNS = "turns"

RECORDS = {
    HOST: "Kruskal's algorithm on the host (core/kruskal.py)",
    EQUAL: "equal weights on a CPU: disjoint sets without a sort, one launch "
    "(algorithms/equal_weights)",
    SMALL: "a small graph on a CPU: check, solve and list of edges in one launch "
    "(algorithms/small_matrix)",
    STEPS: "put on the device, then the first algorithm by rank that the device is trusted with "
    "(algorithms/solving.py)",
    PRIM_POINTS: "few points on a CPU: Prim's algorithm by one work-item "
    "(algorithms/bvh_boruvka/prim.py)",
    BOXES: "points: Borůvka's algorithm by a hierarchy of boxes (algorithms/bvh_boruvka)",
    TILES: "points of many dimensions: Borůvka's algorithm by tiles of pairs in float32, the "
    "nearest ones again in float64 (algorithms/dense/tiles.py)",
    ROWS: "complete graphs: Borůvka's algorithm by rows of cells (algorithms/dense)",
    TURNS: "core distances of few points on a GPU: one launch finds the nearest points in turn "
    "(algorithms/dense/few.py)",
}


# ------------------------------------------------------------------------------ the choices


def way_of_sparse(facts: SparseFacts) -> Way:
    """Return the way of a graph that lists its edges, or of a small complete graph.

    The first rule that has an answer decides.
    """
    rules = _TREE_RULES if facts.by_entry else _FOREST_RULES
    for rule in rules:
        way = rule(facts)
        if way is not None:
            return way
    return Way(STEPS, f"{facts.n_entries:,} edges or entries")


def _without_device(facts: SparseFacts) -> Way | None:
    """Take the host if there is nothing else."""
    return Way(HOST, "there is no device") if facts.device is None else None


def _equal_weights(facts: SparseFacts) -> Way | None:
    """Take one launch for a matrix of equal weights, if one work-item reads the host's arrays."""
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if facts.form != "matrix" or device is None or EQUAL in facts.refused:
        return None
    if not device.alone or device.host_arrays != "shared" or size > LIMITS.equal_weights:
        return None
    if facts.equal is None:
        return ask("equal")
    return Way(EQUAL, f"{facts.n_entries:,} entries of equal weights") if facts.equal else None


def _one_launch(facts: SparseFacts) -> Way | None:
    """Take one launch for what one work-item solves sooner than all compute units together."""
    device, size = facts.device, max(facts.n_entries, facts.n_vertices)
    if device is None or not device.serial or SMALL in facts.refused or facts.n_entries == 0:
        return None
    most = _for_units(_serial_limit(facts), device)
    if size <= most:
        return Way(SMALL, f"{size:,} of at most {most:,} for one work-item")
    most = _for_units(LIMITS.small_unsorted_matrix, device)
    if facts.form != "matrix" or size > most:
        return None
    if facts.canonical is None:
        return ask("canonical")
    reason = f"{size:,} in any order, of at most {most:,} for one work-item"
    return None if facts.canonical else Way(SMALL, reason)


def _serial_limit(facts: SparseFacts) -> int:
    """Return the limit for one work-item beside two compute units."""
    if facts.form == "list":
        return LIMITS.small_list
    return LIMITS.small_complete if facts.form == "complete" else LIMITS.small_matrix


def _for_units(limit: int, device: DeviceFacts) -> int:
    """Return a limit that is for two compute units, for those that a device has."""
    return 2 * limit // min(max(device.compute_units, 2), LIMITS.serial_compute_units)


def _small_on_host(facts: SparseFacts) -> Way | None:
    """Take the host for what is too small for a device that has a memory of its own."""
    device = facts.device
    by_device = device is not None and device.serial and SMALL not in facts.refused
    if not facts.host_allowed or by_device or facts.form == "complete":
        return None
    return _few_entries(facts)


def _few_entries(facts: SparseFacts) -> Way | None:
    """Take the host for few entries."""
    m, most = facts.n_entries, LIMITS.host
    return Way(HOST, f"{m:,} of at most {most:,} for the host") if 0 < m <= most else None


def _unsorted_tree(facts: SparseFacts) -> Way | None:
    """Take the host for entries that a device would have to sort."""
    m, most = facts.n_entries, LIMITS.host_unsorted_tree
    if m >= most:
        return None
    if facts.canonical is None:
        return ask("canonical")
    return None if facts.canonical else Way(HOST, f"{m:,} in any order, of fewer than {most:,}")


def _equal_tree(facts: SparseFacts) -> Way | None:
    """Take the host for equal weights."""
    m = facts.n_entries
    if m >= LIMITS.host_equal_tree:
        return None
    if facts.equal is None:
        return ask("equal")
    return Way(HOST, f"{m:,} entries of equal weights, which need no sort") if facts.equal else None


_Rule: TypeAlias = Callable[[SparseFacts], Way | None]
_FOREST_RULES: tuple[_Rule, ...] = (_without_device, _equal_weights, _one_launch, _small_on_host)
_TREE_RULES: tuple[_Rule, ...] = (
    _without_device, _equal_weights, _one_launch, _few_entries, _unsorted_tree, _equal_tree,
)  # fmt: skip


def converts_on_host(n_entries: int, device: DeviceFacts, *, equal: bool) -> bool:
    """Return whether the host brings a COO or CSC matrix into CSR form.

    The alternative is that the device gets the entries as they are. `equal` says whether a sample
    of the weights has one value.
    """
    if equal and device.alone and device.host_arrays == "shared":
        return n_entries <= LIMITS.equal_weights
    if device.serial:
        return n_entries <= _for_units(LIMITS.small_unsorted_matrix, device)
    return n_entries <= LIMITS.host_conversion


def prefers_prim(*, alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> bool:
    """Return whether prim comes first of all algorithms, as one work-item soon has the forest."""
    if not alone:
        return False
    if symmetric:
        return n_vertices <= LIMITS.prim
    return 2 * n_vertices <= LIMITS.prim and n_slots <= LIMITS.prim_once


def way_of_complete(facts: PointFacts) -> Way:
    """Return the way of points, or of a complete matrix, that is on a device."""
    for rule in (_points_by_prim, _points_by_boxes, _points_by_tiles):
        way = rule(facts)
        if way is not None and way.record not in facts.refused:
            return way
    return Way(ROWS, f"a complete graph of {facts.n:,} vertices")


def _points_by_prim(facts: PointFacts) -> Way | None:
    n, most = facts.n, LIMITS.points_by_prim
    if not (_may_have_hierarchy(facts) and facts.device.alone and 1 < n <= most):
        return None
    return Way(PRIM_POINTS, f"{n:,} of at most {most:,} points on a CPU")


def _points_by_boxes(facts: PointFacts) -> Way | None:
    n, least = facts.n, _least_of_hierarchy(facts)
    if not (_may_have_hierarchy(facts) and n >= least):
        return None
    return Way(BOXES, f"{n:,} of at least {least:,} points in {facts.dimensions} dimensions")


def _points_by_tiles(facts: PointFacts) -> Way | None:
    d, most = facts.dimensions, LIMITS.flat_dimensions
    if facts.maximum or d <= most:
        return None
    return Way(TILES, f"points of {d} dimensions, more than {most}")


def _may_have_hierarchy(facts: PointFacts) -> bool:
    return facts.automatic and not facts.maximum and _has_hierarchy(facts)


def way_of_core_distances(facts: PointFacts) -> Way:
    """Return the way of the distances of points to their k-th nearest points (`neighbours`).

    A hierarchy stays with the points, and the tree that comes next uses it.
    """
    if not facts.boxed or not facts.device.doubles:
        return Way(HOST, "no box bounds these distances, or the device has no doubles")
    for rule in (_neighbours_in_turn, _flat_neighbours, _neighbours_by_tiles, _neighbours_by_boxes):
        way = rule(facts)
        if way is not None and way.record not in facts.refused:
            return way
    return Way(HOST, f"{facts.neighbours:,} neighbours are more than a device lists")


def _neighbours_in_turn(facts: PointFacts) -> Way | None:
    n, k = facts.n, facts.neighbours
    is_small = in_one_work_group(n, facts.device) and k * n <= LIMITS.turns
    if not is_small or facts.dimensions > LIMITS.flat_dimensions or not 0 < k < n:
        return None
    return Way(TURNS, f"{k:,} neighbours of {n:,} points, of at most {LIMITS.turns:,} in all")


def _flat_neighbours(facts: PointFacts) -> Way | None:
    """Take boxes for few dimensions, and for as many points as a tree by boxes needs."""
    is_flat = facts.dimensions <= LIMITS.flat_dimensions
    is_enough = facts.device.alone or facts.n >= LIMITS.flat_neighbours
    has_tree = _has_hierarchy(facts) and facts.n >= _least_of_hierarchy(facts)
    return _neighbours_by_boxes(facts) if (is_flat and is_enough) or has_tree else None


def _neighbours_by_tiles(facts: PointFacts) -> Way | None:
    return Way(TILES, f"{facts.n:,} points in {facts.dimensions} dimensions, all pairs")


def _neighbours_by_boxes(facts: PointFacts) -> Way | None:
    k, most = facts.neighbours, LIMITS.listed_neighbours
    return Way(BOXES, f"{k:,} neighbours, of at most {most:,}") if k <= most else None


def in_one_work_group(n: int, device: DeviceFacts) -> bool:
    """Return whether one work-group takes all rounds of a complete graph of `n` vertices."""
    return not device.alone and n <= LIMITS.one_work_group


def keeps_hierarchy(facts: PointFacts) -> bool:
    """Return whether a tree of points uses the order of a hierarchy that core distances left."""
    return way_of_complete(facts).record in (PRIM_POINTS, BOXES)


def _has_hierarchy(facts: PointFacts) -> bool:
    return facts.boxed and 0 < facts.dimensions <= LIMITS.hierarchy_dimensions


def _least_of_hierarchy(facts: PointFacts) -> int:
    if facts.device.alone:
        return LIMITS.hierarchy_alone
    doublings = max(facts.dimensions - LIMITS.flat_dimensions - 0.5, 0) / 2
    return int(-(-LIMITS.hierarchy * 2**doublings // 1))


def limits_table() -> str:
    """Return the limits as a table in Markdown, for docs/algorithms.md."""
    rows = [
        f"| `{one.name}` | {one.default:,} | {one.metadata['unit']} | {one.metadata['evidence']} |"
        for one in fields(Limits)
    ]
    return "\n".join(["| limit | value | of | evidence |", "|---|--:|---|---|", *rows])
