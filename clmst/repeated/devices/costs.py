"""The estimated time of solves on one device, and divided among several.

Pure functions of sizes and of :class:`Costs`, in milliseconds. All strategies take weights from the
host and give the forest back there. Uploads to several devices share the host's memory, and copies
into pinned memory take most of the time: two H200 that upload at the same time take as long as in
sequence (docs/experiments.md).
"""

from __future__ import annotations

from collections.abc import Sequence

from clmst.runtime.device_costs import Costs

# A slot and a 32-bit weight, for each edge of a forest that is sent to another device.
_SENT_BYTES = 8
# One or two launches of the merge, and threads that wait for one another.
_MEETING_MS = 0.1

# Edges and vertices of dense parts that are solved together.
Dense = tuple[int, int]


def alone(costs: Costs, n: int, m: int) -> float:
    """Return the time of one device for the whole graph."""
    return costs.upload(m) + costs.sparse(n, m)


def shares(every: Sequence[Costs]) -> list[float]:
    """Return each device's share of the edges, in proportion to its speed."""
    speeds = [1 / costs.weighed_edge_ns for costs in every]
    return [speed / sum(speeds) for speed in speeds]


def meeting(every: Sequence[Costs], forests: Sequence[int], n: int) -> float:
    """Return the time of the last pass on the first device, with the transfers to it.

    Parameters
    ----------
    every : sequence of Costs
    forests : sequence of int
        The edges of each device's forest.
    n : int
        Vertices.
    """
    last = every[0]
    sent = [
        k * _SENT_BYTES * (one.download_ns + last.upload_ns)
        for one, k in zip(every[1:], forests[1:], strict=True)
    ]
    return _MEETING_MS + 1e-6 * sum(sent) + last.sparse(n, sum(forests))


def split(every: Sequence[Costs], n: int, m: int) -> float:
    """Return the time of "split"; the first device runs the last pass."""
    parts = [round(share * m) for share in shares(every)]
    touched = [min(n, 2 * part) for part in parts]
    uploads = sum(c.upload(p) for c, p in zip(every, parts, strict=True))
    own = [
        c.sparse(t, p) + (uploads if c.upload_ns else 0)
        for c, p, t in zip(every, parts, touched, strict=True)
    ]
    forests = [min(max(t - 1, 0), p) for t, p in zip(touched, parts, strict=True)]
    return max(own) + meeting(every, forests, n)


def cores(
    dense: Costs, sparse: Costs, n: int, m: int, parts: Sequence[Dense], *, dense_is_last: bool
) -> float:
    """Return the time of two devices, one of which solves the dense parts.

    Parameters
    ----------
    dense, sparse : Costs
    n, m : int
        Vertices and edges of the whole graph.
    parts : sequence of (int, int)
        Vertices and edges of each matrix.
    dense_is_last : bool
        Whether the device of the dense parts runs the last pass.
    """
    inside = sum(edges for _, edges in parts)
    inner = sum(vertices for vertices, _ in parts)
    uploads = dense.upload(m) + sparse.upload(m)
    matrices = sum(dense.dense(vertices) for vertices, _ in parts)
    matrices += uploads if dense.upload_ns else 0
    rest = sparse.sparse(n, m - inside) + (uploads if sparse.upload_ns else 0)
    forests = [min(inner, inside), min(max(n - 1, 0), m - inside)]
    if dense_is_last:
        return max(matrices, rest) + meeting([dense, sparse], forests, n)
    return max(matrices, rest) + meeting([sparse, dense], forests[::-1], n)


def grouped(sizes: Sequence[int], costs: Costs) -> list[list[int]]:
    """Return which dense parts share a matrix, by their indices.

    One more matrix takes one more solve. A matrix of several parts has cells between the parts,
    which cost time for nothing. The largest parts come first; each joins the present matrix as long
    as the wasted cells take less time than one more solve.
    """
    groups: list[list[int]] = []
    vertices = 0  # of the present matrix
    for index in sorted(range(len(sizes)), key=lambda index: -sizes[index]):
        wasted_ms = 1e-6 * costs.cell_ns * 2 * vertices * sizes[index]
        if not groups or wasted_ms > costs.solve_ms:
            groups.append([])
            vertices = 0
        groups[-1].append(index)
        vertices += sizes[index]
    return groups
