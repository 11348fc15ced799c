"""Find the right forest of a graph, and compare the forests of contestants with it.

A contestant is an algorithm or program that the benchmark times. For surrogate graphs (generated
graphs that stand for real ones), the total weight of the forest is on record, and a forest with
that weight counts as right. For other graphs, Kruskal's algorithm on the host finds the right
forest. If that would take minutes, two algorithms that share no kernels must agree on every edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clmst.api import minimum_spanning_forest
from clmst.core.errors import InvalidForestError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.kruskal import kruskal
from clmst.core.weight_keys import Array
from clmst.runtime.device_graph import DeviceGraph

KRUSKAL_SLOTS = 1 << 25
_RELATIVE = 1e-9
# Two algorithms that do not have a kernel in common. A forest that both find is taken as right.
_WITNESSES = ("ecl", "boruvka")


def first_difference(found: Array, right: Array, what: str = "") -> str:
    """Compare two lists of edges, which are arrays with an edge per row or entry.

    Returns "" if `found` equals `right`, else a text that describes the first difference. In the
    text, `what` is the word before an edge, such as "slot ".
    """
    if len(found) != len(right):
        return f"{len(found)} edges, not {len(right)}"
    at = np.flatnonzero((found != right).reshape(len(right), -1).any(axis=1))
    return f"edge {at[0]} is {what}{found[at[0]]}, not {right[at[0]]}" if at.size else ""


@dataclass(frozen=True, kw_only=True)
class Reference:
    """The right forest of a graph, with which the forests of contestants are compared.

    A slot is an entry of the graph's CSR. Edges are given by their slots.
    """

    slots: Array  # the slots of the forest's edges, shape (k,), in ascending order
    n_slots: int
    total_weight: int | float
    how: str  # the reason why the forest is known to be right

    @cached_property
    def flags(self) -> Array:
        """A uint8 for each CSR entry (slot): 1 if its edge is in the forest, else 0."""
        flags = np.zeros(self.n_slots, np.uint8)
        flags[self.slots] = 1
        return flags

    def difference_of_flags(self, flags: Array) -> str:
        """Compare a forest, given as a mask of CSR entries, with the right forest. O(n_slots).

        `flags` has 1 for each CSR entry (slot) of an edge of the forest, else 0. Returns "" if both
        forests agree, else a text that describes the first difference.
        """
        same = np.array_equal(flags, self.flags)  # much faster than finding the slots
        return "" if same else self.difference(np.flatnonzero(flags)) or "a flag is neither 0 nor 1"

    def difference(self, slots: Array) -> str:
        """Compare a forest, given as the slots (CSR entries) of its edges, with the right forest.

        Returns "" if both forests agree, else a text that describes the first difference.
        """
        return first_difference(slots.astype(np.int64), self.slots, "slot ")


def establish(
    graph: Graph, resident: DeviceGraph, recorded: int | float | None, *, largest: int | None = None
) -> Reference:
    """Find the forest with which the forests of all contestants are compared.

    The graph is on the host and, as `resident`, on a device. The edge ids of `graph` must be the
    indices of its CSR entries (slots). `recorded` is the total weight of the forest, or None if it
    is not on record. `largest` is the maximum number of slots for which Kruskal's algorithm on the
    host finds the forest, by default KRUSKAL_SLOTS. Raises :class:`InvalidForestError` if no
    algorithm finds a forest of the recorded weight, or if two algorithms disagree.
    """

    def solved(name: str) -> Forest:
        return minimum_spanning_forest(resident, algorithm=name)

    if recorded is not None:
        return _of_recorded_weight(solved, graph.n_slots, recorded)
    if graph.n_slots <= (KRUSKAL_SLOTS if largest is None else largest):
        return _reference(kruskal(graph), graph.n_slots, "Kruskal's algorithm on the host")
    one, other = map(solved, _WITNESSES)
    how = f"{_WITNESSES[0]} and {_WITNESSES[1]} agree on every edge"
    reference = _reference(one, graph.n_slots, how)
    if difference := reference.difference(other.edge_ids):
        raise InvalidForestError(
            f"{_WITNESSES[1]} and {_WITNESSES[0]} disagree ({difference}), so it is unknown "
            "which forest is right: a bug in clmst"
        )
    return reference


def _of_recorded_weight(
    solved: Callable[[str], Forest], n_slots: int, recorded: int | float
) -> Reference:
    found: dict[str, int | float] = {}
    for name in _WITNESSES:
        forest = solved(name)
        found[name] = forest.total_weight
        if _same(found[name], recorded):
            return _reference(forest, n_slots, "the recorded weight")
    weights = ", ".join(f"{weight} by {name}" for name, weight in found.items())
    raise InvalidForestError(
        f"the forest has the total weight {weights}; the recorded weight is {recorded}"
    )


def _reference(forest: Forest, n_slots: int, how: str) -> Reference:
    slots = forest.edge_ids.astype(np.int64)
    return Reference(slots=slots, n_slots=n_slots, total_weight=forest.total_weight, how=how)


def _same(found: int | float, right: int | float) -> bool:
    if isinstance(found, int) and isinstance(right, int):
        return found == right
    return math.isclose(found, right, rel_tol=_RELATIVE)
