"""Build dendrograms on a device. The kernels are in ``cl/algorithms/dendrogram``.

The merge by many work-items follows P. Sao, A. Prokopenko, D. Lebrun-Grandié, "PANDORA: A Parallel
Dendrogram Construction Algorithm for Single Linkage Clustering on GPU", ICPP '24. ``contract.cl``
explains how it differs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst import route
from clmst.core.canonical import stable_order
from clmst.core.weight_keys import Array
from clmst.primitives.scan import exclusive_scan, segmented_scan
from clmst.primitives.sort import argsort, bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import KernelArgument
from clmst.runtime.launcher import Launcher

SERIAL_SOURCE = "algorithms/dendrogram/serial.cl"
CONTRACT_SOURCE = "algorithms/dendrogram/contract.cl"
CHAINS_SOURCE = "algorithms/dendrogram/chains.cl"

NONE = 0xFFFFFFFF
HOPS = 32  # DENDROGRAM_HOPS of jump.cl: a launch of pointer jumps makes paths this many times short


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Merges:
    """A dendrogram on a device, with a merge for each edge of a forest.

    Vertices are the nodes 0 to n - 1, and merge i creates the node n + i.
    """

    n: int  # number of vertices, which are the nodes 0 to n - 1
    order: DeviceArray  # uint32, shape (m,): the edge that each merge belongs to
    children: DeviceArray  # uint32, shape (2 m,): the two nodes that each merge joins, lesser first
    sizes: DeviceArray  # uint32, shape (m,): number of vertices below each merge


def merge(
    n: int, ends: KernelArgument, order: DeviceArray, launch: Launcher, *, serial: bool
) -> Merges:
    """Build the dendrogram of a forest with `n` vertices.

    `ends` has the two ends of each edge, uint32, shape (2 m,). `order` has the indices of the edges
    by ascending weight, uint32, shape (m,).

    There are three cases:

    * If work-groups have one work-item, as on CPUs, one work-item merges the edges one after the
      other. That is nearly O(n) work and takes 12 bytes of device memory per vertex and 24 bytes
      per edge. The call does not wait for the device.
    * On other devices, `serial` makes one work-item merge in local memory. `n` must then be small;
      :mod:`clmst.route` has the limit. The call does not wait for the device.
    * Otherwise many work-items merge level by level (:class:`ParallelMerge`), in O(n log n) work
      and with about 80 bytes per vertex. The call waits for the size of every level.
    """
    device, m = order.device, order.size
    if m and not serial and device.policy.work_group_size > 1:
        children, sizes = ParallelMerge(n, ends, order, launch).run()
        return Merges(n=n, order=order, children=children, sizes=sizes)
    clusters, children, sizes = (
        DeviceArray.empty(size, np.uint32, device) for size in (3 * n, 2 * m, m)
    )
    if m:
        program = device.program(SERIAL_SOURCE)
        launch.enqueue(
            program, "dendrogram_serial_merge", 1, ends, order, clusters, children, sizes, n, m
        )
    return Merges(n=n, order=order, children=children, sizes=sizes)


def rising_order(weights: Array, launch: Launcher, *, by_device: bool | None = None) -> DeviceArray:
    """Sort edges by ascending weight, and return the indices of the edges on the device.

    Edges of equal weight keep their order. Weights must not be NaN. `by_device` says whether the
    device or the host sorts. If it is None, the device sorts if there are many edges. The host
    always sorts if the device's work-groups have one work-item.

    The host takes O(k log k) work for k edges. The device uses a radix sort, with O(k) work and
    about 30 bytes of device memory per edge.
    """
    device = launch.device
    alone = device.policy.work_group_size == 1
    if by_device is None:
        by_device = route.device_sorts(weights.size, alone=alone)
    if alone or not by_device:
        return DeviceArray.from_host(stable_order(weights).astype(np.uint32), device)
    keys = weights.astype(np.float32) if weights.dtype == np.float16 else weights
    keys = keys.view(np.uint8) if keys.dtype == np.bool_ else keys + keys.dtype.type(0)  # no -0.0
    return argsort(DeviceArray.from_host(keys, device), launch=launch)


@dataclass(slots=True, kw_only=True)
class _ClusterTree:
    """The tree that remains after some rounds of contraction in :class:`ParallelMerge`.

    It has `n` vertices, each a cluster of original vertices, and `n_edges` edges (`u`, `v`). The
    rank of an edge is its position among all edges by weight. Edges are in the order of their
    ranks.
    """

    n: int
    n_edges: int
    u: DeviceArray
    v: DeviceArray
    rank: DeviceArray


class ParallelMerge:
    """Builds a dendrogram by many work-items, level by level.

    At each level, the edges that are the lightest at one of their ends are contracted. The
    contracted edges are assigned to chains. A chain is a path of the dendrogram in which each merge
    is below the next one (``contract.cl``). An edge is identified by its rank, which is its
    position in the order of weights.
    """

    def __init__(self, n: int, edges: KernelArgument, order: DeviceArray, launch: Launcher) -> None:
        self.n, self.m, self.launch, self.device = n, order.size, launch, order.device
        self.contract_program = self.device.program(CONTRACT_SOURCE)
        self.chains_program = self.device.program(CHAINS_SOURCE)
        self.children, self.sizes = self._new(2 * self.m), self._new(self.m)
        self.chain, self.above, self.inside = (self._filled(self.m) for _ in range(3))
        self.firsts: list[int] = []  # the first chain of each level, then the number of all chains
        self.level = _ClusterTree(
            n=n, n_edges=self.m, u=self._new(self.m), v=self._new(self.m), rank=self._new(self.m)
        )
        level = self.level
        self._chains("begin", self.m, edges, order, level.u, level.v, level.rank, self.children,
                     self.m)  # fmt: skip

    def _new(self, size: int) -> DeviceArray:
        return DeviceArray.empty(max(size, 1), np.uint32, self.device)

    def _filled(self, size: int) -> DeviceArray:
        array = self._new(size)
        self.launch.fill(array.memory, NONE, size)
        return array

    def _contract(self, step: str, count: int, *arguments: DeviceArray | int) -> None:
        self.launch.for_each(
            self.contract_program, f"dendrogram_contract_{step}", count, *arguments
        )

    def _chains(self, step: str, count: int, *arguments: KernelArgument) -> None:
        self.launch.for_each(self.chains_program, f"dendrogram_chains_{step}", count, *arguments)

    def run(self) -> tuple[DeviceArray, DeviceArray]:
        """Build the dendrogram, and return the children and the size of every merge.

        At each level, the edges that are the lightest at one of their ends are contracted. The call
        waits for the number of remaining edges of each level, but not for the last kernels.
        """
        first = 0
        while True:
            level = self.level
            lightest = self._filled(level.n)
            ends = (level.u, level.v, level.rank)
            self._contract("lightest", level.n_edges, *ends, lightest, level.n_edges)
            if first == 0:
                self._chains("vertices", self.n, lightest, self.children, self.n)
            self._contract("place", self.m, self.inside, lightest, self.chain, self.above,
                           self.m, first)  # fmt: skip
            self.firsts.append(first)
            first += level.n
            if level.n_edges == 0:
                break
            self.level = self._contracted(level, lightest)
        self.firsts.append(first)
        self._link()
        return self.children, self.sizes

    def _contracted(self, level: _ClusterTree, lightest: DeviceArray) -> _ClusterTree:
        """Contract the lightest edge of each vertex of a level, and return the tree that remains.

        `level` is the tree before, and `lightest` has the lightest edge of each of its vertices.
        The call waits for the device, to read the size of the remaining tree. For each contracted
        edge e, ``self.inside[e]`` becomes the vertex of that tree into which e has been contracted.
        """
        n, k, m = level.n, level.n_edges, self.m
        ends = (level.u, level.v, level.rank)
        parent, flags, stays = self._new(n), self._new(n), self._new(k)
        self._contract("reset", n, parent, n)
        self._contract("hook", k, *ends, lightest, parent, k)
        reached = 1
        while reached < n:
            self._contract("jump", n, parent, n)
            reached *= HOPS
        self._contract("roots", n, parent, flags, n)
        self._contract("alpha", k, *ends, lightest, stays, k)
        number, n_next = self._numbered(flags)
        place, k_next = self._numbered(stays)
        self._contract("follow", m, parent, number, self.chain, self.inside, m)
        later = _ClusterTree(
            n=n_next, n_edges=k_next,
            u=self._new(k_next), v=self._new(k_next), rank=self._new(k_next),
        )  # fmt: skip
        self._contract("edges", k, *ends, lightest, parent, number, place, self.inside,
                       later.u, later.v, later.rank, k)  # fmt: skip
        return later

    def _numbered(self, flags: DeviceArray) -> tuple[DeviceArray, int]:
        """Give the set flags numbers from 0 in their order, and return the numbers and their count.

        `flags` has a word of 0 or 1 for each element. The result has a number at each set flag. The
        call waits for the device.
        """
        total = self._new(1)
        numbers = exclusive_scan(flags, total=total, launch=self.launch)
        return numbers, self.launch.read_count(total.memory, flags.size)

    def _link(self) -> None:
        """Enqueue the kernels that link each merge to the merge above it and add up sizes."""
        m, n, launch = self.m, self.n, self.launch
        ranks = self.inside  # reuses the memory
        launch.write(ranks.memory, np.arange(m, dtype=np.uint32))
        bits = bits_of(self.firsts[-1])
        chain, ordered = sort_by_key(self.chain, ranks, key_bits=bits, launch=launch)
        position, own = self._new(m), self._new(m)
        begins = DeviceArray.empty(m, np.uint8, self.device)
        self._chains("merges", m, chain, ordered, self.above, self.children, position, begins, m, n)
        self._chains("count", m, self.children, position, own, m, n)
        for first, end in zip(self.firsts[:-1], self.firsts[1:], strict=True):
            sums = segmented_scan(own, begins, launch=launch)
            self._chains("sizes", m, chain, ordered, self.above, position, sums, own, self.sizes,
                         m, first, end)  # fmt: skip
