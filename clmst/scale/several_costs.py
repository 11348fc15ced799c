"""The estimated time of one solve on one device, and on several.

Pure functions of sizes and of :class:`Costs`, in milliseconds. docs/scaling.md has the model in
words, and where several devices break even with one.
"""

from __future__ import annotations

from collections.abc import Sequence

from clmst.runtime.device_costs import Costs

# The predicted time on several devices must be below this fraction of the time on one: the model is
# off by as much.
WORTH_IT = 0.8

# Uploads to two devices at once are this many times as quick as to one. Two H200 that upload at the
# same time take as long as in sequence (docs/experiments.md, "Several devices").
_UPLOADS_AT_ONCE = 1.0

# A column and where a row begins, for each edge that is moved to another device; its weight comes
# on top.
_MOVED_BYTES = 8
# Launches of a merge, and threads that wait for one another.
_MEETING_MS = 0.5


def upload(costs: Costs, n: int, m: int, word: int) -> float:
    """Return the time of uploading m edges that are stored once, of weights of `word` bytes."""
    return 1e-6 * costs.upload_ns * (4 * n + (4 + word) * m)


def alone(costs: Costs, n: int, m: int, word: int) -> float:
    """Return the time of one device, from the host's memory to a forest on the device."""
    return upload(costs, n, m, word) + costs.sparse(n, m)


def several(every: Sequence[Costs], n: int, m: int, word: int) -> float:
    """Return the time of several devices, from the host's memory to a forest on the first one."""
    shares = shares_of(every)
    at_once = 1.0 if len(every) == 1 else _UPLOADS_AT_ONCE
    uploads = sum(upload(one, n, round(m * share), word)
                  for one, share in zip(every, shares, strict=True)) / at_once  # fmt: skip
    return uploads + resident(every, n, m, word)


def resident(every: Sequence[Costs], n: int, m: int, word: int) -> float:
    """Return the time of several devices from parts that are on them already."""
    parts = [round(m * share) for share in shares_of(every)]
    own = max(one.sparse(n, part) for one, part in zip(every, parts, strict=True))
    ms, forests, devices = own, [min(n, part) for part in parts], list(every)
    while len(forests) > 1:
        pairs = range(0, len(forests) - 1, 2)
        ms += max(
            _MEETING_MS
            + move(devices[k + 1], devices[k], forests[k + 1], word)
            + devices[k].sparse(n, forests[k] + forests[k + 1])
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


def best_count(every: Sequence[Costs], n: int, m: int, word: int) -> int:
    """Return how many of some devices, the quickest first, one solve from the host should take."""
    best, below = 1, WORTH_IT * alone(every[0], n, m, word)
    for count in range(2, len(every) + 1):
        ms = several(every[:count], n, m, word)
        if ms < below:
            best, below = count, ms
    return best
