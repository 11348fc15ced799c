"""The ways of points and of complete matrices: of their trees, and of core distances."""

from __future__ import annotations

from clmst.route.facts import DeviceFacts, PointFacts, Way
from clmst.route.limits import LIMITS
from clmst.route.records import BOXES, HOST, PRIM_POINTS, ROWS, TILES, TURNS


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


def takes_all_rounds_in_one_launch(n: int) -> bool:
    """Return whether the one work-group also reads cells again, so that one launch is all."""
    return n <= LIMITS.rounds_in_one_launch


def may_take_products(n: int, dimensions: int, *, alone: bool) -> bool:
    """Return whether tiles look at a sample of points, and may compare by products then."""
    least = LIMITS.products_alone if alone else LIMITS.products
    return n * n * dimensions >= least


def _has_hierarchy(facts: PointFacts) -> bool:
    return facts.boxed and 0 < facts.dimensions <= LIMITS.hierarchy_dimensions


def _least_of_hierarchy(facts: PointFacts) -> int:
    if facts.device.alone:
        return LIMITS.hierarchy_alone
    doublings = max(facts.dimensions - LIMITS.flat_dimensions - 0.5, 0) / 2
    return int(-(-LIMITS.hierarchy * 2**doublings // 1))
