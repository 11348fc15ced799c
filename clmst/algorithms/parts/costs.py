"""The estimated time of one solve on one device, and divided among several.

Pure functions of sizes and of :class:`Costs`, in milliseconds, from the host's memory to a forest
on the first device. Of a graph that is `prepared` the devices have all but the weights, whose width
is `word` bytes. docs/several_devices.md has the model in words, and where several break even.

Uploads share the host's memory: copies into pinned memory take most of the time, so two H200 that
upload at the same time take as long as in sequence (docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from clmst.core.weight_keys import Array
from clmst.runtime.device import Device

# The predicted time on several devices must be below this fraction of the time on one: the model is
# off by as much.
WORTH_IT = 0.8

# The time of a vertex, to that of the tables, which is of graphs with far more edges than vertices
# or with few vertices. An H200 solves the union of two forests with 2^25, 2^23 and 2^21 vertices in
# 20.9, 4.7 and 1.3 ms (docs/several_devices.md): 0.5 ns a vertex beside the tables' 0.036 an edge.
_VERTICES = 5.0

# How much shorter parts of early rows are: see ends_of_parts.
_EARLY_ROWS = 0.2

# A column, a slot and where a row begins, for each edge that is moved to another device; its weight
# comes on top.
_MOVED_BYTES = 12
# Launches of a merge, and threads that wait for one another.
MERGE_OVERHEAD_MS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of solves and transfers on a device."""

    solve_ms: float  # the fixed time of a solve
    edge_ns: float  # for an edge of a sparse graph
    vertex_ns: float
    cell_ns: float  # for a cell of `dense`
    upload_ns: float  # for a byte from the host
    download_ns: float
    host: bool  # whether the device computes on the host's own cores

    @classmethod
    def of(cls, device: Device) -> Costs:
        """Return the costs of a device by its policy."""
        tuning = device.policy
        copies = device.capabilities.host_arrays == "copied"
        return cls(
            solve_ms=1e-3 * tuning.solve_us,
            edge_ns=tuning.edge_ns,
            vertex_ns=tuning.vertex_ns,
            cell_ns=tuning.cell_ns,
            upload_ns=1 / tuning.upload_gb_s if copies else 0.0,
            download_ns=1 / tuning.download_gb_s if copies else 0.0,
            host=device.capabilities.kind == "cpu",
        )

    @property
    def has_dense_parts(self) -> bool:
        """Whether `dense` is quicker at least if all pairs are edges."""
        return 2 * self.cell_ns < self.edge_ns

    def is_dense(self, sizes: Array, edges: Array) -> Array:
        """Return whether `dense` is quicker for parts, by their numbers of vertices and edges."""
        return edges * self.edge_ns > sizes.astype(np.float64) ** 2 * self.cell_ns

    def sparse(self, n: int, m: int) -> float:
        """Return the time of a sparse graph of n vertices and m edges on the device."""
        return self.solve_ms + 1e-6 * (n * self.vertex_ns + m * self.edge_ns)

    def dense(self, n: int) -> float:
        """Return the time of `dense` for n vertices."""
        return self.solve_ms + 1e-6 * n * n * self.cell_ns


def upload(costs: Costs, n: int, m: int, word: int, *, prepared: bool = False) -> float:
    """Return the time of uploading m edges that are stored once, or the weights of m edges."""
    topology = 0 if prepared else 4 * (n + m)
    return 1e-6 * costs.upload_ns * (topology + word * m)


def solve(costs: Costs, n: int, m: int) -> float:
    """Return the time of a solve on a device."""
    return costs.sparse(n, m) + 1e-6 * (_VERTICES - 1) * n * costs.vertex_ns


def alone(costs: Costs, n: int, m: int, word: int, *, prepared: bool = False) -> float:
    """Return the time of one device for the whole graph."""
    return upload(costs, n, m, word, prepared=prepared) + solve(costs, n, m)


def several(
    every: Sequence[Costs], n: int, m: int, word: int, *, at_once: bool = False,
    prepared: bool = False,
) -> float:  # fmt: skip
    """Return the time of several devices, each with a part of the edges.

    Parts are uploaded one after the other; a device solves behind the uploads that come after its
    own. `at_once`: from pinned memory, all at the same time. The forests of a prepared graph all go
    to the first device, others are merged in pairs.
    """
    parts = [round(m * share) for share in shares_of(every, word if prepared else 0)]
    arrived = end = 0.0
    for one, part in zip(every, parts, strict=True):
        own = upload(one, n, part, word, prepared=prepared)
        arrived = own + (0.0 if at_once else arrived)
        end = max(end, (arrived if own else 0.0) + solve(one, n, part))
    forests = [min(n, part) for part in parts]
    return end + (merge if prepared else _merges)(every, forests, n, word)


def cores(
    pair: tuple[Costs, Costs], n: int, m: int, word: int, parts: Sequence[tuple[int, int]], *,
    dense_is_last: bool,
) -> float:  # fmt: skip
    """Return the time of two devices, the first of which solves dense parts of a prepared graph.

    `parts` are the vertices and edges of each matrix; `dense_is_last`: the union is solved there.
    """
    dense, sparse = pair
    inner, inside = (sum(numbers) for numbers in zip(*parts, strict=True))
    uploads = sum(upload(one, n, m, word, prepared=True) for one in pair)
    matrices = sum(dense.dense(vertices) for vertices, _ in parts)
    matrices += uploads if dense.upload_ns else 0
    rest = solve(sparse, n, m - inside) + (uploads if sparse.upload_ns else 0)
    order = [(dense, min(inner, inside)), (sparse, min(n, m - inside))]
    every, forests = zip(*(order if dense_is_last else order[::-1]), strict=True)
    return max(matrices, rest) + merge(every, forests, n, word)


def merge(every: Sequence[Costs], forests: Sequence[int], n: int, word: int) -> float:
    """Return the time of moving forests of some edges to the first device and solving the union."""
    moves = [move(one, every[0], k, word) for one, k in zip(every[1:], forests[1:], strict=True)]
    return MERGE_OVERHEAD_MS + sum(moves) + solve(every[0], n, sum(forests))


def _merges(every: Sequence[Costs], forests: Sequence[int], n: int, word: int) -> float:
    """Return the time from the parts' forests to that of all, in pairs."""
    ms, devices, forests = 0.0, list(every), list(forests)
    while len(forests) > 1:
        pairs = [slice(k, k + 2) for k in range(0, len(forests), 2)]
        ms += max(merge(devices[p], forests[p], n, word) for p in pairs if len(forests[p]) == 2)
        forests = [min(n, sum(forests[p])) for p in pairs]
        devices = devices[::2]
    return ms


def move(source: Costs, target: Costs, k: int, word: int) -> float:
    """Return the time of moving a forest of k edges: both directions of the bus work at once."""
    n_bytes = (_MOVED_BYTES + word) * k
    return 1e-6 * n_bytes * max(source.download_ns, target.upload_ns)


def shares_of(every: Sequence[Costs], upload_bytes: int = 0) -> list[float]:
    """Return each device's share of the edges, in proportion to its speed.

    `upload_bytes`: of each edge, if uploads count.
    """
    speeds = [1 / (one.edge_ns + upload_bytes * one.upload_ns) for one in every]
    return [speed / sum(speeds) for speed in speeds]


def ends_of_parts(every: Sequence[Costs]) -> list[float]:
    """Return the share of the edges at which each device's part ends, in the order of rows.

    Each edge is stored in the row of its lesser end, so early rows lead to all vertices, late ones
    to few, and an edge of an early row takes longer. Two H200s are alike with 0.42 to 0.48 of the
    edges of a random graph in the first part (docs/several_devices.md).
    """
    ends = list(accumulate(shares_of(every)))
    return [end - _EARLY_ROWS * end * (1 - end) for end in ends[:-1]]


def best_count(every: Sequence[Costs], n: int, m: int, word: int, *, at_once: bool = False) -> int:
    """Return the number of devices, the quickest first, for one solve from the host."""
    best, below = 1, WORTH_IT * alone(every[0], n, m, word)
    for count in range(2, len(every) + 1):
        ms = several(every[:count], n, m, word, at_once=at_once)
        if ms < below:
            best, below = count, ms
    return best


def grouped(sizes: Sequence[int], costs: Costs, limit: int) -> list[list[int]]:
    """Return the indices of the dense parts of each matrix of at most `limit` vertices.

    One more matrix takes one more solve. A matrix of several parts has cells between the parts,
    which cost time for nothing. The largest parts come first; each joins the present matrix as long
    as the wasted cells take less time than one more solve.
    """
    groups: list[list[int]] = []
    vertices = 0  # of the present matrix
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        wasted_ms = 1e-6 * costs.cell_ns * 2 * vertices * sizes[index]
        if not groups or wasted_ms > costs.solve_ms or vertices + sizes[index] > limit:
            groups.append([])
            vertices = 0
        groups[-1].append(index)
        vertices += sizes[index]
    return groups
