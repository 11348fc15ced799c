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
    stream_on_device: int = _limit(
        1 << 20, "edges of a stream so far",
        f"{_TWO_CORES}, processor time of the device's way to the host's: 0.42 to 0.78 for thirty "
        "million edges and up to a million vertices, 1.29 for four million edges and two million "
        "vertices (docs/scaling.md)",
    )  # fmt: skip
    vertices_per_edge: int = _limit(
        8, "vertices of the graph for each edge of a part of it",
        "In sparser parts, arrays of all vertices cost more than a search for those that occur; "
        "not in docs/performance_log.md",
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
        "docs/performance_log.md",
    )  # fmt: skip
    warm_start: int = _limit(
        1 << 16, "edges of a graph whose rounds may be warm starts",
        "Smaller graphs are solved in the time that checking their weights takes",
    )  # fmt: skip
    warm_start_resident: int = _limit(
        1 << 19, "edges, where a whole solve is one launch",
        "An H200, time of near rounds to that of others: 1.06 to 1.19 and 1.02 to 1.06 with 0.19 "
        "and 0.36 million edges, 0.82 to 1.05 with 0.52 million, 0.88 to 0.97 with 1.07 million "
        "(docs/performance_log.md)",
    )  # fmt: skip
    warm_start_candidates: int = _limit(
        35, "candidates for 100 edges, above which a warm start does not pay",
        "Candidates are solved in each round; not in docs/performance_log.md",
    )  # fmt: skip
    series: int = _limit(
        1 << 18, "edges of a graph whose degree-2 paths are contracted for rounds",
        "Smaller graphs are solved in the time that launches take",
    )  # fmt: skip
    series_density: int = _limit(
        250, "edges for 100 vertices, above which paths are not looked for",
        "Denser graphs have few degree-2 paths; not in docs/performance_log.md",
    )  # fmt: skip
    series_candidates: int = _limit(
        70, "candidates for 100 edges, above which a contraction does not pay",
        "Candidates are solved in each round; not in docs/performance_log.md. Of road_usa rounds "
        "take 0.54 to 0.60 of the time",
    )  # fmt: skip
    scan_one_launch: int = _limit(
        4, "tiles of an array that one lane group scans",
        "One launch of one lane group is quicker than three launches; not in "
        "docs/performance_log.md",
    )  # fmt: skip
    selection_one_launch: int = _limit(
        64, "records for each work-item of a work-group",
        "One launch of one work-group is quicker than three launches; not in "
        "docs/performance_log.md",
    )  # fmt: skip
    selection_serial: int = _limit(
        1 << 14, "records that one work-item of a CPU selects alone",
        "One launch is quicker than three; not in docs/performance_log.md",
    )  # fmt: skip


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


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamFacts:
    """What the router knows about a stream of edges, when the next piece of it has come."""

    n_vertices: int
    n_new: int  # edges that no reduction has had, those of the piece included
    n_forest: int  # edges of the forest of the last reduction
    generated: bool = False  # the device generates the edges
    reduced: bool = False  # the host has reduced edges before
    refused: bool = False  # the device has no space for the edges, or is not trusted with them
    has_space: bool = True  # the memory limit holds the forest and a part of the stream beside it


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
REDUCED_ON_HOST, REDUCED, PASSES = "stream-on-host", "stream", "stream-by-passes"

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
    REDUCED_ON_HOST: "a stream whose edges wait on the host, and are put on the device for each "
    "reduction (scale/host_reducer.py)",
    REDUCED: "a stream whose edges the device checks, filters and reduces "
    "(algorithms/edge_stream/reducer.py)",
    PASSES: "a stream that is read once for each round of Borůvka's algorithm, where memory is "
    "short (algorithms/edge_stream/passes.py)",
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


# ---------------------------------------------------------------------------- streams


def way_of_stream(facts: StreamFacts) -> Way:
    """Return the way of the edges of a stream that have come and of those that come next.

    It is asked for each piece until the device has the edges, which then stay there.
    """
    if not facts.has_space:
        return Way(PASSES, f"no space for a forest of {facts.n_vertices:,} vertices and more edges")
    if facts.generated:
        return Way(REDUCED, "the device generates the edges")
    if facts.refused or facts.n_vertices == 0:
        return Way(REDUCED_ON_HOST, "the device has no space, or no vertices or trust")
    n_edges, n_new = facts.n_new + facts.n_forest, facts.n_new
    if is_sparse_part(facts.n_vertices, n_edges):
        return Way(REDUCED_ON_HOST, f"{n_edges:,} edges among {facts.n_vertices:,} vertices")
    least = max(LIMITS.stream_on_device, facts.n_forest)
    if n_new < least and not facts.reduced:
        return Way(REDUCED_ON_HOST, f"{n_new:,} edges so far, of fewer than {least:,}")
    return Way(REDUCED, f"{n_new:,} edges so far, of at least {least:,}, or the host has reduced")


def is_sparse_part(n_vertices: int, n_edges: int) -> bool:
    """Return whether most vertices have no edge in a part, so that it gets numbers of its own."""
    return n_edges * LIMITS.vertices_per_edge < n_vertices


def filters_on_host(n_to_come: int, n_vertices: int) -> bool:
    """Return whether the host filters the edges that come by the forest of those before."""
    return n_to_come >= LIMITS.stream_filter * n_vertices


def streams_instead(bytes_needed: int, device_bytes: int) -> bool:
    """Return whether a graph that did not fit its device is solved as a stream of its edges."""
    return bytes_needed * LIMITS.streamed_part >= device_bytes


# ----------------------------------------------------------------------- repeated solves


def checks_on_host(n_weights: int) -> bool:
    """Return whether the host checks weights for NaN before they are uploaded."""
    return n_weights < LIMITS.weights_on_host


def has_warm_starts(n_edges: int, *, one_launch: bool) -> bool:
    """Return whether rounds of a graph may begin with what earlier ones have settled.

    `one_launch` says whether the device does a whole solve of a small graph in one launch.
    """
    return n_edges >= (LIMITS.warm_start_resident if one_launch else LIMITS.warm_start)


def warm_start_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether the edges that weights nearby leave open are few enough."""
    return 100 * n_candidates <= LIMITS.warm_start_candidates * n_edges


def looks_for_series(n_edges: int, n_vertices: int) -> bool:
    """Return whether the degree-2 paths of a graph are worth a search."""
    return n_edges >= LIMITS.series and 100 * n_edges <= LIMITS.series_density * n_vertices


def series_pays(n_candidates: int, n_edges: int) -> bool:
    """Return whether the edges that topology leaves open are few enough."""
    return 100 * n_candidates <= LIMITS.series_candidates * n_edges


# --------------------------------------------------------------------------- primitives


def in_one_pass(primitive: Literal["scan", "selection", "sort"], n_tiles: int) -> bool:
    """Return whether a primitive that can look back reads its input once, not in several sweeps.

    A selection does whatever its size. So a self-test and the solve after it need one program: a
    first solve on an H100 built 0.30 to 0.38 s less (docs/performance_log.md).
    """
    if primitive == "selection":
        return True
    return n_tiles > (LIMITS.scan_one_launch if primitive == "scan" else 1)


def scanned_in_one_launch(n_tiles: int) -> bool:
    """Return whether one lane group scans all tiles of an array, so that there are no carries."""
    return n_tiles <= LIMITS.scan_one_launch


def selected_in_one_launch(n_records: int, work_group: int) -> bool:
    """Return whether one work-group selects among all records, so that there are no counts."""
    if work_group == 1:
        return n_records <= LIMITS.selection_serial
    return n_records <= LIMITS.selection_one_launch * work_group


def limits_table() -> str:
    """Return the limits as a table in Markdown, for docs/algorithms.md."""
    rows = [
        f"| `{one.name}` | {one.default:,} | {one.metadata['unit']} | {one.metadata['evidence']} |"
        for one in fields(Limits)
    ]
    return "\n".join(["| limit | value | of | evidence |", "|---|--:|---|---|", *rows])
