"""The tree by which a forest is proved; host side of ``proof_claim.cl`` and ``proof_tree.cl``."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.algorithms.solution import DeviceForest
from clmst.primitives.sort import sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.enqueue import enqueue, for_each
from clmst.runtime.launcher import Launcher

CLAIM_SOURCE = "algorithms/proof_claim.cl"
SOURCE = "algorithms/proof_tree.cl"

# Forest edges of a segment, below which fewer work-groups do; nodes of a share likewise.
_MIN_SEGMENT = 4096
_MIN_SHARE = 1024
# Levels: each has at most half the nodes of the one before.
_MAX_LEVELS = 34
# The layout of state[], as proof_state.cl has it.
_PENDING, _CLAIM, SLOT, _LEVELS = 0, 1, 2, 3
_NODES, _TOPS = 0, 1
_LEVEL_WORDS = 2
NO_FAULT = 0xFFFFFFFF
# Nodes that a node follows in one launch, where work-items are many.
_HOPS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The tree of a forest's contraction, on the device.

    Attributes
    ----------
    parents, orders, reaches, tops : device buffers
        Of all nodes, as ``proof_tree.cl`` has them.
    keys : device buffer
        The keys of the forest's edges, sorted, where weights have 64 bits; else any buffer.
    state : device buffer
        The words of ``proof_state.cl``.
    has_trees : bool
        Whether several trees have edges.
    levels : int
        How many levels it has.
    """

    parents: Any
    orders: Any
    reaches: Any
    tops: Any
    keys: Any
    state: Any
    has_trees: bool
    levels: int


class TreeBuilder:
    """Checks that a claimed forest is one, and builds its tree.

    Parameters
    ----------
    forest : DeviceForest
        Of a DeviceGraph of at most 2**31 - 1 vertices, one at least.
    launch : Launcher
    """

    def __init__(self, forest: DeviceForest, launch: Launcher) -> None:
        assert isinstance(forest.graph, DeviceGraph)
        self.forest, self.graph, self.launch = forest, forest.graph, launch
        self.n, self.k = forest.graph.n_vertices, forest.n_edges
        device = launch.device
        weights = self.graph.weight_defines(maximum=forest.maximum)
        self.wide = weights["WEIGHT_BITS"] == 64
        self.claim = device.program(CLAIM_SOURCE, **weights)
        self.program = device.program(SOURCE)
        self.passes = 1 if device.capabilities.int64_atomics else 2
        self.segments = launch.groups_for(-(-self.k // _MIN_SEGMENT))
        self.stride = -(-self.k // self.segments)
        n = self.n
        sizes = (8 * n, 8 * (n // 2), 8 * n, 16 * n, 16 * n, 8 * n)
        buffers = [device.allocate(max(size, 16)) for size in sizes]
        self.least, (self.parents, self.orders, self.reaches, self.tops) = buffers[:2], buffers[2:]
        self.records = device.allocate(max(16 * self.segments * self.stride, 16))
        self.lengths = device.allocate(4 * self.segments)
        self.counts = np.zeros(_LEVELS + _LEVEL_WORDS * (_MAX_LEVELS + 1), np.uint32)
        self.state = device.allocate(self.counts.nbytes)
        self.keys: Any = self.state  # whatever kernels take for none

    def build(self) -> Tree | None:
        """Return the tree; None if the claim is no forest, or not one of edges of the graph."""
        self.counts[[_CLAIM, SLOT]] = NO_FAULT
        self.launch.write(self.state, self.counts)
        for_each(self.launch, self.claim, "proof_claim_begin", self.n, self.least[0], self.n)
        self._list()
        self._read()
        if self.counts[_CLAIM] != NO_FAULT:
            return None
        bases = self._contract()
        if bases is None:
            return None
        tops = [int(self._level(level)[_TOPS]) for level in range(len(bases) - 1)]
        if self.n - sum(tops) != self.k:  # a cycle: not every edge has joined two nodes
            return None
        has_trees = sum(tops[1:]) > 1
        for begin, end in reversed(list(pairwise(bases))):
            self._each(
                "descend", end - begin, self.parents, self.orders, self.reaches, self.tops, begin,
                end - begin, int(has_trees),
            )  # fmt: skip
        return Tree(
            parents=self.parents,
            orders=self.orders,
            reaches=self.reaches,
            tops=self.tops,
            keys=self.keys,
            state=self.state,
            has_trees=has_trees,
            levels=len(bases) - 1,
        )

    def _list(self) -> None:
        """Enqueue the check of the claim, and the list of its edges."""
        forest, graph = self.forest, self.graph
        if self.k == 0:
            return
        own = forest.weights
        ranks = self._ranks() if self.wide else self.state
        enqueue(
            self.launch, self.claim, "proof_claim_list", self.segments, graph.indptr,
            graph.indices, graph.weights, forest.slots, forest.edges, ranks,
            own.words if own else self.state, self.least[0], self.records, self.lengths,
            self.state, self.n, graph.n_slots, self.k, self.stride, int(bool(own)),
        )  # fmt: skip
        self._refine(self.least[0], 0, self.n)

    def _ranks(self) -> DeviceArray:
        """Return the ranks of the claimed edges by (key, slot), from 1 on."""
        device, k = self.launch.device, self.k
        keys = DeviceArray.empty(k, np.uint64, device)
        numbers = DeviceArray.empty(k, np.uint32, device)
        ranks = DeviceArray.empty(k, np.uint32, device)
        for_each(
            self.launch, self.claim, "proof_claim_list_keys", k, self.graph.weights,
            self.forest.slots, keys, numbers, self.graph.n_slots, k,
        )  # fmt: skip
        keys, numbers = sort_by_key(keys, numbers, launch=self.launch)
        for_each(self.launch, self.claim, "proof_claim_list_ranks", k, numbers, ranks, k)
        self.keys = keys.memory
        return ranks

    def _contract(self) -> list[int] | None:
        """Contract the forest level by level; return the first node of each, and the end.

        None if a level has more nodes than there can be: the device does not count rightly.
        """
        bases, n, stride = [0], self.n, self.n
        for level in range(_MAX_LEVELS):
            base = bases[-1]
            here, following = self.least[level % 2], self.least[1 - level % 2]
            counts = _LEVELS + _LEVEL_WORDS * level
            self._step(
                "hook", self._shares(n), here, following, self.records, self.parents, self.orders,
                self.state, counts, base, n, stride, n // 2,
            )  # fmt: skip
            self._follow(base, n)
            bases.append(base + n)
            stride, bound, n = n // 2, n // 2, int(self._level(level + 1)[_NODES])
            if n == 0:
                return bases
            if n > bound:
                return None
            self._step(
                "contract", self.segments, self.parents, following, self.records, self.lengths,
                bases[-1], self.stride,
            )  # fmt: skip
            self._refine(following, bases[-1], stride)
        return None

    def _follow(self, base: int, n: int) -> None:
        """Let all nodes of a level know their parents, and read the counts."""
        for _ in range(_MAX_LEVELS):
            self._each("follow", n, self.parents, self.state, base, n, _HOPS)
            self._read()
            if not self.counts[_PENDING]:
                return
            self.launch.fill(self.state, 0, 1)

    def _refine(self, least: Any, base: int, least_stride: int) -> None:
        for _ in range(1, self.passes):
            self._step(
                "refine", self.segments, self.records, self.lengths, least, base, self.stride,
                least_stride,
            )  # fmt: skip

    # ------------------------------------------------------------------ launching

    def _level(self, level: int) -> Any:
        begin = _LEVELS + _LEVEL_WORDS * level
        return self.counts[begin : begin + _LEVEL_WORDS]

    def _read(self) -> None:
        self.launch.read(self.state, self.counts)

    def _shares(self, n_items: int) -> int:
        return self.launch.groups_for(-(-n_items // _MIN_SHARE))

    def _step(self, name: str, groups: int, *arguments: Any) -> None:
        enqueue(self.launch, self.program, f"proof_tree_{name}", groups, *arguments)

    def _each(self, name: str, n_items: int, *arguments: Any) -> None:
        for_each(self.launch, self.program, f"proof_tree_{name}", n_items, *arguments)
