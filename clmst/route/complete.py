"""Choose how spanning trees of points and of complete matrices are found, and core distances.

Each rule below stands for one way of computing the result. A rule returns either a :class:`Way`, if
it applies, or the reason why it does not. The first rule that applies decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from clmst.route.facts import DeviceFacts, Passed, PointFacts, Rule, Way, first_answer
from clmst.route.facts import passed_over as _passed_over
from clmst.route.limits import LIMITS
from clmst.route.records import BOXES, HOST, PRIM_POINTS, ROWS, TILES, TURNS

_NO_BOX = ("no box bounds the distances of the metric",)  # the reason against bounding boxes

# ------------------------------------------------------------------------------- the trees


def way_of_complete(facts: PointFacts) -> Way:
    """Choose how the spanning tree of points, or of a complete matrix, is found on a device.

    `facts` are the facts about the points or the matrix, the device and the call. A way of solving
    is skipped if the device has failed the self-test of its kernels. If no other way applies, the
    tree is found row by row.
    """
    found = first_answer(_TREE_RULES, facts, facts.refused)
    if found is not None:
        return found
    variant = "one work-group" if in_one_work_group(facts.n, facts.device) else "all work-groups"
    return Way(ROWS, f"a complete graph of {facts.n:,} vertices: no other way takes it", variant)


def passed_over_complete(facts: PointFacts) -> list[tuple[str, str]]:
    """Return the ways of solving that :func:`way_of_complete` rejects before it chooses one.

    Each element is the name of a way, and the reason against it in words, for these `facts`.
    """
    return _passed_over(_TREE_RULES, facts, facts.refused)


def _points_by_prim(facts: PointFacts) -> Way | Passed:
    """Choose Prim's algorithm by one work-item if `facts` describe few points on a CPU.

    Otherwise, return the reason against it.
    """
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
    """Choose a tree of bounding boxes if there are many points of few dimensions.

    Otherwise, return the reason against boxes. The limits depend on the device in `facts`.
    """
    n, least = facts.n, _least_of_hierarchy(facts)
    if (reason := _no_hierarchy(facts)) is not None:
        return reason
    if n < least:
        return _too_few_points(facts)
    return Way(BOXES, f"{n:,} of at least {least:,} points in {facts.dimensions} dimensions")


def _points_by_tiles(facts: PointFacts) -> Way | Passed:
    """Choose the comparison of all pairs, tile by tile, if the points have many dimensions.

    A tile is a block of the matrix of distances that a work-group computes. If the points in
    `facts` have few dimensions, return the reason against this way, unless the metric divides: its
    filter saves time in few dimensions, too.
    """
    d, most = facts.dimensions, LIMITS.flat_dimensions
    if facts.maximum:
        return ("the maximum spanning tree is wanted",)
    if d == 0:
        return ("it is for points, and this is a matrix",)
    if facts.unrounded and not facts.boxed:
        return Way(TILES, "the metric divides: a filter saves most divisions")
    if d <= most:
        return ("{} dimensions <= {} (flat_dimensions)", d, most)
    return Way(TILES, f"points of {d} dimensions, more than {most}")


_TREE_RULES: tuple[Rule[PointFacts], ...] = (
    (PRIM_POINTS, _points_by_prim), (BOXES, _points_by_boxes), (TILES, _points_by_tiles),
)  # fmt: skip


def _no_hierarchy(facts: PointFacts) -> Passed | None:
    """Return the reason against a tree of bounding boxes for a spanning tree, or None.

    `facts` are the facts about the points and the call.
    """
    if facts.dimensions == 0:
        return ("it is for points, and this is a matrix",)
    if facts.maximum:
        return ("the maximum spanning tree is wanted",)
    if not facts.automatic:
        return ("the call names an algorithm, or has options",)
    if not facts.boxed:
        return _NO_BOX
    if facts.dimensions > LIMITS.hierarchy_dimensions:
        return _too_many_dimensions(facts)
    return None


def _has_hierarchy(facts: PointFacts) -> bool:
    """Return whether a tree of bounding boxes works for the metric and the dimensions of points.

    `facts` are the facts about the points.
    """
    return facts.boxed and 0 < facts.dimensions <= LIMITS.hierarchy_dimensions


def _least_of_hierarchy(facts: PointFacts) -> int:
    """Return the minimum number of points for which a tree of bounding boxes is used.

    It grows with the number of dimensions in `facts`, up to the greatest number of dimensions for
    which boxes are used.
    """
    if facts.device.alone:
        return LIMITS.hierarchy_alone
    dimensions = min(facts.dimensions, LIMITS.hierarchy_dimensions)
    doublings = max(dimensions - LIMITS.flat_dimensions - 0.5, 0) / 2
    return int(-(-LIMITS.hierarchy * 2**doublings // 1))


def _too_few_points(facts: PointFacts) -> Passed:
    """Create the reason against bounding boxes that the points in `facts` are too few."""
    name = "hierarchy_alone" if facts.device.alone else "hierarchy"
    least = _least_of_hierarchy(facts)
    return ("{:,} points < {:,} ({}, {} dimensions)", facts.n, least, name, facts.dimensions)


def _too_many_dimensions(facts: PointFacts) -> Passed:
    """Create the reason against bounding boxes that the points have too many dimensions."""
    most = LIMITS.hierarchy_dimensions
    return ("{} dimensions > {} (hierarchy_dimensions)", facts.dimensions, most)


# -------------------------------------------------------------------------- core distances


def way_of_core_distances(facts: PointFacts) -> Way:
    """Choose how to find core distances: the distance of each point to its k-th nearest point.

    `facts` describes the points and the call; its field `neighbours` is k. If a tree of bounding
    boxes is built, it is kept, and a later spanning tree of the same points uses it.
    """
    if not facts.unrounded:
        return Way(HOST, "the metric rounds distances to integers")
    found = first_answer(_CORE_RULES, facts, facts.refused)
    return found or Way(HOST, f"{facts.neighbours:,} neighbours are more than a device lists")


def passed_over_core_distances(facts: PointFacts) -> list[tuple[str, str]]:
    """Return the ways to find core distances that :func:`way_of_core_distances` rejects.

    Each element is the name of a way, and the reason against it in words, for these `facts`.
    """
    if not facts.unrounded:
        return []
    return _passed_over(_CORE_RULES, facts, facts.refused)


def _neighbours_in_turn(facts: PointFacts) -> Way | Passed:
    """Choose one launch that finds each point's nearest point, then the second nearest, and so on.

    This way is for few points on a GPU. If `facts` describe another device, or exceed the limits of
    this way, return the reason against it.
    """
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
    """Choose a tree of bounding boxes if the points have few dimensions, or are very many.

    The number of points from which the tree is faster than comparing all pairs grows with the
    number of dimensions in `facts`. If the tree is not chosen, return the reason against it.
    """
    if not facts.boxed:
        return _NO_BOX
    is_flat = facts.dimensions <= LIMITS.flat_dimensions
    is_enough = facts.device.alone or facts.n >= LIMITS.flat_neighbours
    least = _least_of_hierarchy(facts)
    if (is_flat and is_enough) or (_has_hierarchy(facts) and facts.n >= least):
        return _neighbours_by_boxes(facts)
    if is_flat:
        return ("{:,} points < {:,} (flat_neighbours)", facts.n, LIMITS.flat_neighbours)
    if not _has_hierarchy(facts):
        return _too_many_dimensions(facts)
    return _too_few_points(facts)


def _neighbours_by_tiles(facts: PointFacts) -> Way | Passed:
    """Choose the comparison of all pairs of points, tile by tile, which is always possible.

    A tile is a block of the matrix of distances. `facts` are only used for the reason in words.
    """
    return Way(TILES, f"{facts.n:,} points in {facts.dimensions} dimensions, all pairs")


def _neighbours_by_boxes(facts: PointFacts) -> Way | Passed:
    """Choose a tree of bounding boxes if lists of k nearest points are short enough for kernels.

    Otherwise, return the reason against boxes. `facts` has k, the number of neighbours.
    """
    if not facts.boxed:
        return _NO_BOX
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
    """Return whether a single work-group does all rounds of Borůvka's algorithm.

    The graph is a complete graph with `n` vertices. `device` has the facts about the device.
    """
    return not device.alone and n <= LIMITS.one_work_group


def in_one_launch(n: int) -> bool:
    """Return whether one launch does all rounds for a complete graph with `n` vertices.

    The launch has a single work-group. For a larger graph, one work-group is launched for each
    round, and before it all work-groups read the cells of the matrix that the round needs.
    """
    return n <= LIMITS.one_launch


def long_enough_for_products(n: int, dimensions: int, *, alone: bool) -> bool:
    """Return whether distances of `n` points are computed faster from inner products.

    The squared distance of x and y is then computed as x·x + y·y - 2 x·y instead of from the
    differences of their coordinates. The answer depends on `n` and `dimensions`. Products are less
    exact, so a sample of the points must also show that they are exact enough, which this function
    does not check. `alone` is True if work-groups of the device have one work-item.
    """
    return n * n * dimensions >= (LIMITS.products_alone if alone else LIMITS.products)


# -------------------------------------------------------------------------------- the host


def way_of_host(passed: Sequence[tuple[str, str]] = ()) -> Way:
    """Return a Way that says that the host computes, with the reason in words.

    `passed` has the name of each device that was tried before, best first, and the reason why it
    cannot do the work. It is empty if no device was found.
    """
    if not passed:
        return Way(HOST, "there is no device")
    return after(passed, Way(HOST, "there is no further device"))


def after(passed: Sequence[tuple[str, str]], way: Way) -> Way:
    """Return a copy of `way` whose reason also says why other devices were not used.

    `way` is the record of how a forest is computed, and its reason is the text `because`. `passed`
    has the name of each device that was tried before, and the reason against it. They are appended
    to the text.
    """
    words = "; ".join(f"{name}: {reason}" for name, reason in passed)
    return way._replace(because=f"{way.because} (after {words})")


def grows_from_lists(n: int, *, boxed: bool, maximum: bool) -> bool:
    """Return whether the host finds a tree of `n` points from lists of nearest points.

    Otherwise the host computes all distances, row by row. `boxed` is as in :class:`PointFacts`. If
    `maximum`, that is, for a maximum spanning tree, the answer is False.
    """
    return boxed and not maximum and n >= LIMITS.host_lists


def searches_boxes(n: int, dimensions: int, *, of_new: bool = False) -> bool:
    """Return whether the host searches the nearest of `n` points in a k-d tree.

    If the points have more `dimensions` than a limit, it compares all pairs instead. It also does
    if the points are few and have several dimensions. `of_new` says that the nearest of a fit's
    points are searched for new points, not for the points themselves.
    """
    if of_new:
        return dimensions <= LIMITS.host_tree_dimensions_of_new
    if n <= LIMITS.host_pairs and dimensions >= LIMITS.host_pairs_dimensions:
        return False
    return dimensions <= LIMITS.host_tree_dimensions


def computes_without_scipy(n_coordinates: int) -> bool:
    """Return whether the validity index computes Euclidean distances without SciPy.

    The points have `n_coordinates` numbers in all. The distances have the same bits either way.
    """
    return n_coordinates <= LIMITS.host_coordinates


def searches_globally(n_inside: Any, n: int) -> Any:
    """Return True if the host searches all points for near points outside of a set.

    The set has `n_inside` of all `n` points. In a search of all points, the host asks for more than
    `n_inside` near points, so that some are outside of the set. If the result is False, the host
    builds a search structure of the points outside of the set. `n_inside` may be an array, as may
    the result.
    """
    return n_inside * n_inside <= n


def compares_boxes(n_components: int, n: int, dimensions: int) -> bool:
    """Return whether the host compares boxes of points to find all edges between components.

    There are `n` points of so many `dimensions`. If the components are many, the host first merges
    small ones with near points outside of them.
    """
    is_few = n_components <= LIMITS.host_components and n_components * n_components <= n
    return is_few and searches_boxes(n, dimensions)


def ends_comparison(n_compared: int, n: int) -> bool:
    """Return whether the host ends a comparison of boxes of `n` points without a result.

    `n_compared` is how often a point has been compared with a box or with another point. If the
    answer is True, a search for single components is expected to be faster.
    """
    return n_compared > n * LIMITS.host_compared
