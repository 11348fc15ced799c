"""Build the tree with which a forest is proved. The kernels are in ``proof/tree.cl``.

The forest is contracted level by level: each vertex is joined to another one along its lightest
edge, and the joined vertices become one node of the next level. Each node has a parent on the next
level, so all levels together are a tree, whose leaves are the vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import KernelArgument, Memory
from clmst.runtime.launcher import Launcher

SOURCE = "algorithms/proof/tree.cl"

# Minimum number of forest edges, and minimum number of nodes, that a work-group takes. For a small
# forest, fewer work-groups are started.
_MIN_SEGMENT = 4096
_MIN_SHARE = 1024
# Maximum number of levels of the tree. A level has at most half as many nodes as the level before.
_MAX_LEVELS = 34
# Indices of words in the array state[] of proof/state.cl.
#   _PENDING   whether parents of nodes are still unknown
#   _CLAIM     the first wrong element of the list of edges that is said to be the forest
#   _SLOT      the first CSR entry whose edge proves the forest wrong
#   _LEVELS    where _LEVEL_WORDS words for each level of the tree begin: the number of its nodes
#              (_NODES), and the number of its nodes without an edge (_TOPS)
_PENDING, _CLAIM, _SLOT, _LEVELS = 0, 1, 2, 3
_NODES, _TOPS = 0, 1
_LEVEL_WORDS = 2
_NO_FAULT = 0xFFFFFFFF
# Number of parent pointers that a node follows in one launch, if there are many work-items.
_HOPS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """The tree by which a claimed forest is proved, in the memory of a device.

    The leaves of the tree are the vertices. All other nodes are sets of vertices that the
    contraction of the forest has merged, level by level.
    """

    parents: Memory  # this array and the next three have an element for each node; see ``tree.cl``
    orders: Memory
    reaches: Memory
    tops: Memory
    state: Memory  # the words that ``state.cl`` describes
    has_trees: bool  # whether more than one tree of the forest has edges
    levels: int
    n_nodes: int

    def is_confirmed(self, launch: Launcher) -> bool:
        """Return True if the device has not found an edge of the graph that refutes the forest.

        The call waits for the device.
        """
        return launch.read_words(self.state, 1, first=_SLOT) == [_NO_FAULT]


class TreeBuilder:
    """Builds the tree of a forest with `n` vertices and `k` edges, and holds the tree's memory.

    The edges of the forest are listed in `records`, in `segments` segments of `stride` edges each,
    with the number of edges of each segment in `lengths`. `least` has the lightest edge of each
    vertex. ``records.cl`` describes these arrays. The device writes counts and faults to `state`
    (``state.cl``).
    """

    def __init__(self, n: int, k: int, launch: Launcher) -> None:
        self.n, self.k, self.launch = n, k, launch
        device = launch.device
        self.program = device.program(SOURCE)
        self.passes = 1 if device.capabilities.int64_atomics else 2
        self.segments = launch.groups_for(-(-self.k // _MIN_SEGMENT))
        self.stride = -(-self.k // self.segments)
        sizes = (8 * n, 8 * (n // 2), 8 * n, 16 * n, 16 * n, 8 * n)
        buffers = [device.allocate(max(size, 16)) for size in sizes]
        self._leasts, self.least = buffers[:2], buffers[0]
        self.parents, self.orders, self.reaches, self.tops = buffers[2:]
        self.records = device.allocate(max(16 * self.segments * self.stride, 16))
        self.lengths = device.allocate(4 * self.segments)
        self.counts = np.zeros(_LEVELS + _LEVEL_WORDS * (_MAX_LEVELS + 1), np.uint32)
        self.state = device.allocate(self.counts.nbytes)

    def build(self, list_edges: Callable[[TreeBuilder], None]) -> Tree | None:
        """Build the tree of a claimed forest.

        `list_edges` is called with this object. It enqueues kernels that check the claimed edges,
        list them in `records`, and find the lightest edge of each vertex in `least`. The call waits
        for the device. Returns None if the claimed edges contain a cycle, or edges that the graph
        does not have.
        """
        self.counts[[_CLAIM, _SLOT]] = _NO_FAULT
        self.launch.write(self.state, self.counts)
        self._each("begin", self.n, self.least, self.n)
        if self.k:
            list_edges(self)
        if not self.claim_is_right():
            return None
        self._refine(self.least, 0, self.n)
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
            state=self.state,
            has_trees=has_trees,
            levels=len(bases) - 1,
            n_nodes=bases[-1],
        )

    def ranks_of(self, numbers: DeviceArray) -> DeviceArray:
        """Enqueue the computation of the rank of each edge, from 1 on, and return the ranks.

        The rank of an edge is its position in the order of weights. `numbers` lists the edges in
        that order.
        """
        ranks = DeviceArray.empty(self.k, np.uint32, self.launch.device)
        self._each("list_ranks", self.k, numbers, ranks, self.k)
        return ranks

    def claim_is_right(self) -> bool:
        """Return True if the device has not yet found an error in the claimed forest.

        The call waits for the device.
        """
        self._read()
        return bool(self.counts[_CLAIM] == _NO_FAULT)

    def _contract(self) -> list[int] | None:
        """Contract the forest level by level.

        The call waits for the device. Returns the number of the first node of each level, followed
        by the number of all nodes. Returns None if a level has more nodes than possible, or if
        parent pointers form a ring. Either of these is a fault of the device.
        """
        bases, n, stride = [0], self.n, self.n
        for level in range(_MAX_LEVELS):
            base = bases[-1]
            here, following = self._leasts[level % 2], self._leasts[1 - level % 2]
            counts = _LEVELS + _LEVEL_WORDS * level
            self._step(
                "hook", self._shares(n), here, following, self.records, self.parents, self.orders,
                self.state, counts, base, n, stride, n // 2,
            )  # fmt: skip
            if not self._follow(base, n):
                return None
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

    def _follow(self, base: int, n: int) -> bool:
        """Follow the links of all nodes of a level to the nodes' parents on the next level.

        A node may link to another node of its level, which may link to a further one, and the last
        of these links to the parent. The level has `n` nodes from number `base` on. The call waits
        for the device, and then the host has the device's counts in :attr:`counts`. Returns False
        if some nodes do not get a parent within the possible number of launches. This happens only
        if a faulty device has linked nodes into a ring.
        """
        for _ in range(_MAX_LEVELS):
            self._each("jump", n, self.parents, self.state, base, n, _HOPS)
            self._read()
            if not self.counts[_PENDING]:
                return True
            self.launch.fill(self.state, 0, 1)
        return False

    def _refine(self, least: Memory, base: int, least_stride: int) -> None:
        for _ in range(1, self.passes if self.k else 1):
            self._step(
                "refine", self.segments, self.records, self.lengths, least, base, self.stride,
                least_stride,
            )  # fmt: skip

    # ------------------------------------------------------------------ launching

    def _level(self, level: int) -> Array:
        begin = _LEVELS + _LEVEL_WORDS * level
        return self.counts[begin : begin + _LEVEL_WORDS]

    def _read(self) -> None:
        self.launch.read(self.state, self.counts)

    def _shares(self, n_items: int) -> int:
        return self.launch.groups_for(-(-n_items // _MIN_SHARE))

    def _step(self, name: str, groups: int, *arguments: KernelArgument) -> None:
        self.launch.enqueue(self.program, f"proof_tree_{name}", groups, *arguments)

    def _each(self, name: str, n_items: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.program, f"proof_tree_{name}", n_items, *arguments)
