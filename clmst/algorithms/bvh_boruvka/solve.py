"""bvh-boruvka: find spanning trees of points with a tree of bounding boxes.

``cl/algorithms/bvh_boruvka/bvh_boruvka.cl`` names the paper; ``docs/inside_algorithms.md`` explains
the steps.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.algorithms.bvh_boruvka.hierarchy import BoxTree, hierarchy_of
from clmst.algorithms.bvh_boruvka.neighbours import NearPoints, nearest
from clmst.algorithms.shared.found_tree import FoundTree
from clmst.algorithms.shared.progress import check_rounds, no_progress
from clmst.core.weight_keys import Array
from clmst.primitives.split import split
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/bvh_boruvka/bvh_boruvka.cl"
SEARCHES_SOURCE = "algorithms/bvh_boruvka/searches.cl"

# _N_COUNTS is the number of counters in the memory of a solve. Each launch has counters of its own,
# for example for the hooked components, or for the vertices that do not point to their root yet.
# _MOST_JUMPS is the maximum number of launches of a round that shorten paths to roots (pointer
# jumps). A solve has at most 32 rounds, and a round needs at most 71 counters.
_N_COUNTS, _MOST_JUMPS = 2304, 33
# Maximum number of points for which the numbers of both ends of an edge fit into one word of 32
# bits (winners.cl).
_SHORT_IDS = 1 << 16


def solve(matrix: DeviceMatrix, launch: Launcher) -> FoundTree:
    """Find the minimum spanning tree of points with a tree of bounding boxes.

    `matrix` has the points on the device. The edges of the result are in canonical order. In every
    round the call waits until the device has counted the remaining components. The call does not
    wait for the last kernels, which write the edges and their weights.

    The work is O(n log n) for evenly spread points, and at most O(n**2) in each of O(log n) rounds.
    Device memory: the tree of boxes, which is kept with the points, and about 100 bytes per point.
    """
    n = matrix.n_vertices
    if n < 2:
        ends = DeviceArray.empty(0, np.uint32, matrix.device)
        stats = {"rounds": 0, "components": [n], "searches": []}
        return FoundTree(matrix=matrix, algorithm="bvh-boruvka", ends=ends, stats=stats)
    run = _Run(hierarchy_of(matrix, launch), launch)
    ends = DeviceArray.empty(2 * (n - 1), np.uint32, matrix.device)
    run.solve()
    run.unpack(ends)
    weights = run.weigh(matrix, ends)
    return FoundTree(
        matrix=matrix, algorithm="bvh-boruvka", ends=ends, weights=weights, stats=run.stats()
    )


def joining_edges(matrix: DeviceMatrix, labels: Array, launch: Launcher) -> Array:
    """Find the shortest edges that join given components of points, and wait for the device.

    `matrix` has two or more points on the device. `labels` has the component of each point,
    numbered from 0 without gaps. The edges form the minimum spanning tree of the components, where
    the distance of two components is the distance of their nearest points. Returns the ends of the
    edges as uint32, shape (components - 1, 2), in canonical order.
    """
    run = _Run(hierarchy_of(matrix, launch), launch)
    k = run.join(labels)
    if k == 0:
        return np.zeros((0, 2), np.uint32)
    ends = DeviceArray.empty(2 * k, np.uint32, matrix.device)
    run.unpack(ends)
    return ends.to_host().reshape(k, 2)


class _Run:
    """One solve of points.

    It enqueues the kernels of all rounds, and reads the number of remaining components after each.
    """

    def __init__(self, tree: BoxTree, launch: Launcher) -> None:
        self.tree, self.launch, self.n = tree, launch, tree.n
        self.program = tree.device.program(SOURCE, **tree.defines)
        self.searches_program = tree.device.program(SEARCHES_SOURCE, **tree.defines)
        self.short_ids = int(self.n <= _SHORT_IDS)
        self.bits = max(self.n.bit_length(), 1)
        self.n_words = 2 + (1 if self.short_ids else 2)
        self.pass_words = 2 if tree.device.capabilities.int64_atomics else 1
        n, new = self.n, self._new
        self.component, self.parents = new(n), new(n)
        self.roots, self.next_roots = new(n), new(n)
        self.candidate, self.keys = new(n), new(n, np.uint64)
        self.cursor = new(n, np.uint8)
        self.labels = new(tree.n_nodes)
        self.winners = new(n * 4)
        self.edges = new(n, np.uint64)
        self.list, self.active, self.next_active = new(n), new(n), new(n)
        self.leaf_lower = new(tree.n_leaves, np.float64)
        self.n_active = n
        self.state = new(_N_COUNTS)
        self.counts = np.zeros(_N_COUNTS, np.uint32)
        self._next_count = 0
        self.components, self.searches = [n], list[int]()

    def _new(self, size: int, dtype: npt.DTypeLike = np.uint32) -> DeviceArray:
        return DeviceArray.empty(size, dtype, self.tree.device)

    def _new_count(self) -> int:
        """Reserve the next counter in device memory, which is still 0, and return its index."""
        self._next_count += 1
        return self._next_count - 1

    def _for_each(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.program, f"bvh_boruvka_{kernel}", n_items, *arguments)

    def _search(self, kernel: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.searches_program, f"bvh_boruvka_{kernel}", n_items, *arguments)

    def stats(self) -> dict[str, Any]:
        return {
            "rounds": len(self.components) - 1,
            "components": self.components,
            "searches": self.searches,
        }

    def unpack(self, ends: DeviceArray) -> None:
        """Enqueue kernels that sort the found edges into canonical order and write their ends.

        `ends` is the output, two words for each edge.
        """
        ordered = split(self.edges, key_bits=2 * self.bits, launch=self.launch)
        k = ends.size // 2
        self._for_each("unpack_edges", k, ordered, ends, k, self.bits)

    def weigh(self, matrix: DeviceMatrix, ends: DeviceArray) -> DeviceArray:
        """Enqueue the computation of the weights of the edges with these `ends`.

        `matrix` has the points. The host could also compute the weights, but more slowly.
        """
        k = ends.size // 2
        weights = self._new(k, np.float64)
        self._for_each(
            "weigh_edges", k, matrix.panels[0].cells, ends, weights, matrix.dimensions, self.n, k
        )
        return weights

    # --------------------------------------------------------------------- rounds

    def solve(self) -> None:
        """Do all rounds of Borůvka's algorithm, beginning with each point as its own component.

        The call waits for the device in each round.
        """
        self._begin()
        with self.launch.phase("nearest points"):
            has_cores = self.tree.defines["CORE_DISTANCES"]
            near = self._no_lists() if has_cores else nearest(self.tree, self.launch)
        self._rounds(self.n, near)

    def join(self, labels: Array) -> int:
        """Do all rounds of Borůvka's algorithm, beginning with given components instead of points.

        `labels` has the component of each point. The call waits for the device in each round.
        Returns the number of edges, which is one less than the number of given components.
        """
        self._begin()
        n_components = int(labels.max()) + 1
        stands = np.empty(n_components, np.uint32)
        stands[labels] = np.arange(self.n)
        given = self.tree.device.upload(stands[labels])
        self._for_each(
            "hook_given", self.n, given, self.tree.ids, self.tree.slots, self.parents, self.n
        )
        self._find_roots(self.n)
        self.roots, self.next_roots = self.next_roots, self.roots
        self._label()
        if n_components > 1:
            self._rounds(n_components, self._no_lists())
        return n_components - 1

    def _begin(self) -> None:
        """Enqueue the kernel that makes each point a component and sets the counters to 0."""
        n, tree = self.n, self.tree
        self._for_each(
            "begin", max(n, tree.n_nodes, _N_COUNTS), self.component, self.roots, self.active,
            self.candidate, self.edges, self.cursor, self.labels, self.leaf_lower, self.winners,
            self.state, n, tree.n_nodes, self.short_ids, np.uint64((1 << 2 * self.bits) - 1),
            _N_COUNTS,
        )  # fmt: skip

    def _rounds(self, n_roots: int, near: NearPoints) -> None:
        """Merge `n_roots` components until one is left, and wait for the device in each round.

        `near` has, for each point, the nearest points and a lower bound on the weights of all other
        edges of the point. With these, many points need not search the tree of boxes.
        """
        tree = self.tree
        for number in count():
            check_rounds("bvh-boruvka", tree.device, number, components=n_roots)
            with self.launch.phase("lightest edges"):
                active, searches = self._find_lightest(near, is_apart=n_roots == self.n)
            with self.launch.phase("merge"):
                remaining = self._merge(n_roots)
            self.searches.append(int(self.counts[searches]))
            self.components.append(remaining)
            if remaining == 1:
                return
            if not 0 < remaining <= n_roots // 2:
                rule = "every component is joined to another one in each round"
                raise no_progress(
                    "bvh-boruvka", tree.device, rule, round=number, before=n_roots, now=remaining
                )
            n_roots, self.n_active = remaining, int(self.counts[active])
            self.roots, self.next_roots = self.next_roots, self.roots
            self.active, self.next_active = self.next_active, self.active
            with self.launch.phase("labels"):
                self._label()

    def _no_lists(self) -> NearPoints:
        """Return a lower bound on the weight of each point's edges, without lists of near points.

        The bound of a point is its core distance, or 0 if the points lack core distances.
        Finding it takes no search of the tree of boxes.
        """
        lower = self._new(self.n, np.float64)
        if self.tree.defines["CORE_DISTANCES"]:
            self._for_each(
                "take_cores", self.n, self.tree.points, lower, self.tree.dimensions, self.n
            )
        else:
            self.launch.fill(lower.memory, 0, self.n, np.uint64)
        return NearPoints(k=0, lists=None, lower=lower)

    def _find_lightest(self, near: NearPoints, *, is_apart: bool) -> tuple[int, int]:
        """Enqueue the search for the lightest edge that leads out of every component.

        Returns the indices of two counters in device memory. The first counts the active points,
        which have an edge that may be the lightest of their component. The second counts the points
        that had to search the tree of boxes.

        `is_apart` says that every point is still a component of its own. Then no leaf of the tree
        lies within one component, and the kernel that skips these leaves is left out. Another
        kernel only bounds the searches. It is left out in two cases: if the lists of nearest points
        bound the searches already, and on CPUs, where all points of a leaf search together and so
        bound one another.
        """
        n, tree = self.n, self.tree
        active, searches = self._new_count(), self._new_count()
        known = self.candidate, self.keys, self.cursor
        components = self.component, self.labels
        if near.k or not is_apart:
            self._search(
                "lightest_propose", self.n_active, *tree.arguments, near.lists, *components,
                self.active, self.next_active, *known, self.winners, self.state, active,
                self.n_active, n, tree.top, near.k, self.short_ids,
            )  # fmt: skip
        if not (is_apart and (near.k or tree.device.policy.work_group_size == 1)):
            self._search(
                "lightest_bound", tree.n_leaves, *tree.arguments, *components, self.winners, n,
                tree.top, self.short_ids,
            )  # fmt: skip
        if not is_apart:
            self._search(
                "clear_leaves", tree.n_leaves, *tree.arguments, *components, near.lower,
                self.leaf_lower, self.winners, n, tree.top,
            )  # fmt: skip
        self._search(
            "lightest_collect", tree.n_leaves, *components, self.candidate, self.cursor, near.lower,
            self.leaf_lower, self.winners, self.list, self.state, searches, n,
        )  # fmt: skip
        self._search(
            "search_listed", n, *tree.arguments, *components, *known, near.lower, self.winners,
            self.list, self.next_active, self.state, searches, active, n, tree.top, self.short_ids,
        )  # fmt: skip
        for word in range(self.pass_words, self.n_words, self.pass_words):
            self._search(
                "lightest_reserve_word", n, tree.ids, *components, self.candidate, self.keys,
                self.winners, self.next_active, self.state, active, n, self.short_ids, word,
            )  # fmt: skip
        return active, searches

    def _merge(self, n_roots: int) -> int:
        """Merge `n_roots` components along the lightest edge of each, and return the new number.

        The call waits for the device.
        """
        hooked = self._new_count()
        self._for_each(
            "hook", n_roots, self.roots, self.winners, self.tree.slots, self.component,
            self.labels, self.parents, self.edges, self.state, hooked, n_roots, self.n,
            self.short_ids, self.bits,
        )  # fmt: skip
        return self._find_roots(n_roots)

    def _find_roots(self, n_roots: int) -> int:
        """Follow the parent pointers of the `n_roots` old roots to the new roots.

        A root is the vertex that represents its component. Returns the number of new roots. The
        call waits for the device. Raises DeviceError if some pointers still have not reached a root
        after the maximum number of pointer jumps.
        """
        first = self._next_count
        for _ in range(_MOST_JUMPS):
            found, pending = self._new_count(), self._new_count()
            self._for_each(
                "jump", n_roots, self.roots, self.parents, self.winners, self.next_roots,
                self.state, found, pending, n_roots, self.n, self.short_ids,
            )  # fmt: skip
            self.launch.read(self.state.memory, self.counts)
            if not self.counts[pending]:
                return int(self.counts[first])
        rule = f"jumps at least double each time, so {_MOST_JUMPS} times are enough"
        left = int(self.counts[pending])
        raise no_progress("bvh-boruvka", self.tree.device, rule, pending=left)

    def _label(self) -> None:
        """Enqueue the update of the component of each point and of the label of each tree node.

        The label of a node in the tree of boxes is the component to which all points below the node
        belong, or MIXED if they belong to several components.
        """
        tree = self.tree
        self._for_each(
            "label_leaves", tree.n_leaves, self.parents, self.component, self.labels, self.n
        )
        tree.each_level(
            self.launch, self.program, "bvh_boruvka_label_nodes", self.labels, tree.bases,
            tree.n_leaves,
        )  # fmt: skip
