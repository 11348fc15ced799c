"""The choice of the algorithm and its variant for a graph that is on a device."""

from __future__ import annotations

from typing import Literal

from clmst.route.facts import Passed, Way, in_words
from clmst.route.limits import LIMITS
from clmst.route.records import STEPS


def prefers_prim(*, alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> bool:
    """Return whether the algorithm "prim" is the first choice, as for small graphs on a CPU.

    The graph has `n_vertices` vertices and `n_slots` CSR entries. `alone` is True if work-groups of
    the device have one work-item. `symmetric` is True if both directions of every edge are stored.
    """
    return type(_prim_first(alone, n_vertices, n_slots, symmetric)) is Way


def passed_over_steps(
    *, alone: bool, n_vertices: int, n_slots: int, symmetric: bool
) -> list[tuple[str, str]]:
    """Return the reason why the algorithm "prim" is not the first choice for a graph.

    The result is a list with the pair ("prim", reason), or an empty list if "prim" is the first
    choice. `alone`, `n_vertices`, `n_slots` and `symmetric` are as in :func:`prefers_prim`.
    """
    answer = _prim_first(alone, n_vertices, n_slots, symmetric)
    return [] if type(answer) is Way else [("prim", in_words(answer))]


def _prim_first(alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> Way | Passed:
    """Choose the algorithm "prim", or return the reason against it. This rule is tried first.

    `alone`, `n_vertices`, `n_slots` and `symmetric` are as in :func:`prefers_prim`.
    """
    if not alone:
        return ("the work-groups of the device have several work-items",)
    most = LIMITS.prim if symmetric else LIMITS.prim // 2
    if n_vertices > most:
        return ("{:,} vertices > {:,} (prim)", n_vertices, most)
    if not symmetric and n_slots > LIMITS.prim_once:
        return ("{:,} edges stored once > {:,} (prim_once)", n_slots, LIMITS.prim_once)
    return Way("prim", f"{n_vertices:,} of at most {most:,} vertices for prim on a CPU")


def way_of_steps(
    name: str, given: str | None, *, n_vertices: int, n_slots: int, symmetric: bool, alone: bool
) -> Way:
    """Return the way to solve a graph on a device, the algorithm `name`, with the reason for it.

    `given` is None if the caller left the choice to "auto". Otherwise it says by which argument the
    caller chose: it is the name of an algorithm, or "options". All other arguments are facts about
    the graph and the device, as in :func:`prefers_prim`.
    """
    size = f"{n_vertices:,} vertices, {n_slots:,} slots"
    if given is not None:
        return Way(STEPS, f"{size}; the call gives {given}", name)
    first = _prim_first(alone, n_vertices, n_slots, symmetric)
    if type(first) is Way and name == "prim":
        return Way(STEPS, f"{size}; {first.because}", name)
    return Way(STEPS, f"{size}; the first algorithm by rank", name)


def shape_of_rounds(*, alone: bool, launches_given: bool) -> Literal["gpu", "cpu"]:
    """Choose the CPU variant or the GPU variant of filter-boruvka.

    In the CPU variant each work-item has a range of the edges. In the GPU variant all work-items
    share worklists. `alone` is True if work-groups of the device have one work-item.
    `launches_given` says whether the caller chose launches, which only the GPU variant has.
    """
    return "cpu" if alone and not launches_given else "gpu"


def launches_of_rounds(n_slots: int, *, most_resident: int) -> Literal["resident", "mixed"]:
    """Choose the launches of filter-boruvka on a device whose work-groups can wait for one another.

    "resident" is a single launch for the whole solve. "mixed" launches the steps of the first,
    large rounds separately, and all remaining rounds of a filter pass together. The graph has
    `n_slots` CSR entries. `most_resident` is the maximum number of entries for a single launch, a
    constant of the kernels (``algorithms/filter_boruvka``).
    """
    return "resident" if n_slots <= most_resident else "mixed"


def light_edges_first(
    degree: float, n_edges: int, *, filter_degree: float, dense_degree: float, filter_edges: int
) -> bool:
    """Return whether the light edges of a graph are solved first.

    Most heavy edges can then be dropped, because their ends are connected already.

    A solve in this order is faster for a graph with many edges, `n_edges`, and a high average
    `degree`. `filter_degree`, `dense_degree` and `filter_edges` are the thresholds. They are fields
    of the device's :class:`~clmst.runtime.policy.Policy`.
    """
    times = 1 if degree >= dense_degree else LIMITS.filter_sparse_times
    return degree >= filter_degree and n_edges >= times * filter_edges
