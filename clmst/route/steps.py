"""Graphs that are on a device: which algorithm comes first, and in which variant it solves."""

from __future__ import annotations

from typing import Literal

from clmst.route.facts import Passed, Way
from clmst.route.limits import LIMITS
from clmst.route.records import STEPS


def prefers_prim(*, alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> bool:
    """Return whether prim comes first of all algorithms, as one work-item soon has the forest."""
    return type(prim_first(alone, n_vertices, n_slots, symmetric)) is Way


def prim_first(alone: bool, n_vertices: int, n_slots: int, symmetric: bool) -> Way | Passed:
    """Return the answer that prim comes first, or why it does not."""
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
    """Return the way of a graph that is solved step by step, and why by the algorithm of a name.

    `given` is what the caller gave: the name of an algorithm, "options", or None for "auto".
    """
    size = f"{n_vertices:,} vertices, {n_slots:,} slots"
    if given is not None:
        return Way(STEPS, f"{size}; the call gives {given}", name)
    first = prim_first(alone, n_vertices, n_slots, symmetric)
    if type(first) is Way and name == "prim":
        return Way(STEPS, f"{size}; {first.because}", name)
    return Way(STEPS, f"{size}; the first algorithm by rank", name)


def shape_of_rounds(*, alone: bool, launches_given: bool) -> Literal["gpu", "cpu"]:
    """Return the shape of filter-boruvka: ranges for work-groups of one, or shared worklists."""
    return "cpu" if alone and not launches_given else "gpu"


def launches_of_rounds(n_slots: int, *, most_resident: int) -> Literal["resident", "mixed"]:
    """Return how work-groups that may wait for one another are launched.

    `most_resident` is the number of slots for one launch of the whole solve. It is a constant of
    the kernels (``algorithms/filter_boruvka``).
    """
    return "resident" if n_slots <= most_resident else "mixed"


def light_edges_first(
    degree: float, n_edges: int, *, filter_degree: float, dense_degree: float, filter_edges: int
) -> bool:
    """Return whether a window of light edges goes first in a graph of an average degree.

    The degrees and the edges to compare with are fields of the device's policy.
    """
    times = 1 if degree >= dense_degree else LIMITS.filter_sparse_times
    return degree >= filter_degree and n_edges >= times * filter_edges
