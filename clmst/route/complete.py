"""The ways of points and of complete matrices: of their trees, and of core distances."""

from __future__ import annotations

from clmst.route.facts import DeviceFacts, Passed, PointFacts, Rule, Way, first_answer
from clmst.route.facts import passed_over as _passed_over
from clmst.route.limits import LIMITS
from clmst.route.records import BOXES, HOST, PRIM_POINTS, ROWS, TILES, TURNS

# ------------------------------------------------------------------------------- the trees


def way_of_complete(facts: PointFacts) -> Way:
    """Return the way of points, or of a complete matrix, that is on a device."""
    found = first_answer(_TREE_RULES, facts, facts.refused)
    if found is not None:
        return found
    variant = "one work-group" if in_one_work_group(facts.n, facts.device) else "all work-groups"
    return Way(ROWS, f"a complete graph of {facts.n:,} vertices: no other way takes it", variant)


def passed_over_complete(facts: PointFacts) -> list[tuple[str, str]]:
    """Return the ways that were looked at before :func:`way_of_complete` had its answer."""
    return _passed_over(_TREE_RULES, facts, facts.refused)


def _points_by_prim(facts: PointFacts) -> Way | Passed:
    n, most = facts.n, LIMITS.points_by_prim
    if (reason := _no_hierarchy(facts)) is not None:
        return reason
    if not facts.device.alone:
        return ("the work-groups of the device have several work-items",)
    if n > most:
        return ("{:,} points > {:,} (points_by_prim)", n, most)
    if n <= 1:
        return ("there are no two points",)
    return Way(PRIM_POINTS, f"{n:,} of at most {most:,} points on a CPU")


def _points_by_boxes(facts: PointFacts) -> Way | Passed:
    n, least = facts.n, _least_of_hierarchy(facts)
    if (reason := _no_hierarchy(facts)) is not None:
        return reason
    if n < least:
        name = "hierarchy_alone" if facts.device.alone else "hierarchy"
        return ("{:,} points < {:,} ({}, {} dimensions)", n, least, name, facts.dimensions)
    return Way(BOXES, f"{n:,} of at least {least:,} points in {facts.dimensions} dimensions")


def _points_by_tiles(facts: PointFacts) -> Way | Passed:
    d, most = facts.dimensions, LIMITS.flat_dimensions
    if facts.maximum:
        return ("the maximum spanning tree is wanted",)
    if d == 0:
        return ("it is for points, and this is a matrix",)
    if d <= most:
        return ("{} dimensions <= {} (flat_dimensions)", d, most)
    return Way(TILES, f"points of {d} dimensions, more than {most}")


_TREE_RULES: tuple[Rule[PointFacts], ...] = (
    (PRIM_POINTS, _points_by_prim), (BOXES, _points_by_boxes), (TILES, _points_by_tiles),
)  # fmt: skip


def _no_hierarchy(facts: PointFacts) -> Passed | None:
    """Return why a tree of points cannot be found by a hierarchy of boxes; None if it can."""
    if facts.dimensions == 0:
        return ("it is for points, and this is a matrix",)
    if facts.maximum:
        return ("the maximum spanning tree is wanted",)
    if not facts.automatic:
        return ("the call names an algorithm, or has options",)
    if not facts.boxed:
        return ("no box bounds the distances of the metric",)
    if facts.dimensions > LIMITS.hierarchy_dimensions:
        name, most = "hierarchy_dimensions", LIMITS.hierarchy_dimensions
        return ("{} dimensions > {} ({})", facts.dimensions, most, name)
    return None


def _has_hierarchy(facts: PointFacts) -> bool:
    return facts.boxed and 0 < facts.dimensions <= LIMITS.hierarchy_dimensions


def _least_of_hierarchy(facts: PointFacts) -> int:
    if facts.device.alone:
        return LIMITS.hierarchy_alone
    doublings = max(facts.dimensions - LIMITS.flat_dimensions - 0.5, 0) / 2
    return int(-(-LIMITS.hierarchy * 2**doublings // 1))


# -------------------------------------------------------------------------- core distances


def way_of_core_distances(facts: PointFacts) -> Way:
    """Return the way of the distances of points to their k-th nearest points (`neighbours`).

    A hierarchy stays with the points, and the tree that comes next uses it.
    """
    if not facts.boxed or not facts.device.doubles:
        return Way(HOST, "no box bounds these distances, or the device has no doubles")
    found = first_answer(_CORE_RULES, facts, facts.refused)
    return found or Way(HOST, f"{facts.neighbours:,} neighbours are more than a device lists")


def passed_over_core_distances(facts: PointFacts) -> list[tuple[str, str]]:
    """Return the ways that were looked at before :func:`way_of_core_distances` had its answer."""
    if not facts.boxed or not facts.device.doubles:
        return []
    return _passed_over(_CORE_RULES, facts, facts.refused)


def _neighbours_in_turn(facts: PointFacts) -> Way | Passed:
    n, k, d = facts.n, facts.neighbours, facts.dimensions
    if facts.device.alone:
        return ("the work-groups of the device have one work-item",)
    if not in_one_work_group(n, facts.device):
        return ("{:,} points > {:,} (one_work_group)", n, LIMITS.one_work_group)
    if k * n > LIMITS.turns:
        return ("{:,} neighbours in all > {:,} (turns)", k * n, LIMITS.turns)
    if d > LIMITS.flat_dimensions:
        return ("{} dimensions > {} (flat_dimensions)", d, LIMITS.flat_dimensions)
    if not 0 < k < n:
        return ("{:,} neighbours of {:,} points", k, n)
    return Way(TURNS, f"{k:,} neighbours of {n:,} points, of at most {LIMITS.turns:,} in all")


def _flat_neighbours(facts: PointFacts) -> Way | Passed:
    """Take boxes for few dimensions, and for as many points as a tree by boxes needs."""
    is_flat = facts.dimensions <= LIMITS.flat_dimensions
    is_enough = facts.device.alone or facts.n >= LIMITS.flat_neighbours
    least = _least_of_hierarchy(facts)
    if (is_flat and is_enough) or (_has_hierarchy(facts) and facts.n >= least):
        return _neighbours_by_boxes(facts)
    if is_flat:
        return ("{:,} points < {:,} (flat_neighbours)", facts.n, LIMITS.flat_neighbours)
    if not _has_hierarchy(facts):
        name, most = "hierarchy_dimensions", LIMITS.hierarchy_dimensions
        return ("{} dimensions > {} ({})", facts.dimensions, most, name)
    name = "hierarchy_alone" if facts.device.alone else "hierarchy"
    return ("{:,} points < {:,} ({}, {} dimensions)", facts.n, least, name, facts.dimensions)


def _neighbours_by_tiles(facts: PointFacts) -> Way | Passed:
    return Way(TILES, f"{facts.n:,} points in {facts.dimensions} dimensions, all pairs")


def _neighbours_by_boxes(facts: PointFacts) -> Way | Passed:
    k, most = facts.neighbours, LIMITS.listed_neighbours
    if k > most:
        return ("{:,} neighbours > {:,} (listed_neighbours)", k, most)
    return Way(BOXES, f"{k:,} neighbours, of at most {most:,}")


_CORE_RULES: tuple[Rule[PointFacts], ...] = (
    (TURNS, _neighbours_in_turn), (BOXES, _flat_neighbours), (TILES, _neighbours_by_tiles),
    (BOXES, _neighbours_by_boxes),
)  # fmt: skip


# -------------------------------------------------------------------------------- variants


def in_one_work_group(n: int, device: DeviceFacts) -> bool:
    """Return whether one work-group takes all rounds of a complete graph of `n` vertices."""
    return not device.alone and n <= LIMITS.one_work_group


def in_one_launch(n: int) -> bool:
    """Return whether one work-group that takes all rounds does so in one launch."""
    return n <= LIMITS.one_launch


def long_enough_for_products(n: int, dimensions: int, *, alone: bool) -> bool:
    """Return whether tiles may compare squares by products, which a sample has to allow."""
    return n * n * dimensions >= (LIMITS.products_alone if alone else LIMITS.products)
