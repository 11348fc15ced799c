"""The estimated time of one solve on one device, and on several.

Pure functions of sizes and of :class:`Costs`, in milliseconds. docs/scaling.md has the model in
words, and where several devices break even with one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from clmst.runtime.device_costs import Costs

# The predicted time on several devices must be below this fraction of the time on one: the model is
# off by as much.
WORTH_IT = 0.8

# The time of a vertex, to that of the tables, which is of graphs with far more edges than vertices
# or with few vertices. An H200 solves the union of two forests with 2^25, 2^23 and 2^21 vertices in
# 20.9, 4.7 and 1.3 ms (docs/scaling.md): 0.5 ns a vertex beside the tables' 0.036 an edge.
_VERTICES = 5.0

# How much shorter parts of early rows are: see ends_of_parts.
_EARLY_ROWS = 0.2

# A column and where a row begins, for each edge that is moved to another device; its weight comes
# on top.
_MOVED_BYTES = 8
# Launches of a merge, and threads that wait for one another.
_MEETING_MS = 0.5


def upload(costs: Costs, n: int, m: int, word: int) -> float:
    """Return the time of uploading m edges that are stored once, of weights of `word` bytes."""
    return 1e-6 * costs.upload_ns * (4 * n + (4 + word) * m)


def solve(costs: Costs, n: int, m: int) -> float:
    """Return the time of a solve on a device."""
    return costs.sparse(n, m) + 1e-6 * (_VERTICES - 1) * n * costs.vertex_ns


def alone(costs: Costs, n: int, m: int, word: int) -> float:
    """Return the time of one device, from the host's memory to a forest on the device."""
    return upload(costs, n, m, word) + solve(costs, n, m)


def several(every: Sequence[Costs], n: int, m: int, word: int, *, at_once: bool = False) -> float:
    """Return the time of several devices, from the host's memory to a forest on the first one.

    Parts are uploaded one after the other; a device solves behind the uploads that come after its
    own. `at_once`: from pinned memory, all at the same time.
    """
    arrived = end = 0.0
    for one, share in zip(every, shares_of(every), strict=True):
        part = round(m * share)
        arrived = upload(one, n, part, word) + (0.0 if at_once else arrived)
        end = max(end, arrived + solve(one, n, part))
    return end + merges(every, n, m, word)


def resident(every: Sequence[Costs], n: int, m: int, word: int) -> float:
    """Return the time of several devices from parts that are on them already."""
    parts = [round(m * share) for share in shares_of(every)]
    own = max(solve(one, n, part) for one, part in zip(every, parts, strict=True))
    return own + merges(every, n, m, word)


def merges(every: Sequence[Costs], n: int, m: int, word: int) -> float:
    """Return the time from the parts' forests to that of all."""
    forests = [min(n, round(m * share)) for share in shares_of(every)]
    ms, devices = 0.0, list(every)
    while len(forests) > 1:
        pairs = range(0, len(forests) - 1, 2)
        ms += max(
            _MEETING_MS
            + move(devices[k + 1], devices[k], forests[k + 1], word)
            + solve(devices[k], n, forests[k] + forests[k + 1])
            for k in pairs
        )
        forests = [min(n, sum(forests[k : k + 2])) for k in range(0, len(forests), 2)]
        devices = devices[::2]
    return ms


def move(source: Costs, target: Costs, k: int, word: int) -> float:
    """Return the time of moving a forest of k edges: both directions of the bus work at once."""
    n_bytes = (_MOVED_BYTES + word) * k
    return 1e-6 * n_bytes * max(source.download_ns, target.upload_ns)


def shares_of(every: Sequence[Costs]) -> list[float]:
    """Return each device's share of the edges, in proportion to its speed."""
    speeds = [1 / one.edge_ns for one in every]
    return [speed / sum(speeds) for speed in speeds]


def ends_of_parts(every: Sequence[Costs]) -> list[float]:
    """Return up to which share of the edges, in the order of rows, each device's part goes.

    Each edge is stored in the row of its lesser end, so early rows lead to all vertices, late ones
    to few, and an edge of an early row takes longer. Two H200s are alike with 0.42 to 0.48 of the
    edges of a random graph in the first part (docs/scaling.md).
    """
    ends = list(accumulate(shares_of(every)))
    return [end - _EARLY_ROWS * end * (1 - end) for end in ends[:-1]]


def best_count(every: Sequence[Costs], n: int, m: int, word: int, *, at_once: bool = False) -> int:
    """Return how many of some devices, the quickest first, one solve from the host should take."""
    best, below = 1, WORTH_IT * alone(every[0], n, m, word)
    for count in range(2, len(every) + 1):
        ms = several(every[:count], n, m, word, at_once=at_once)
        if ms < below:
            best, below = count, ms
    return best
