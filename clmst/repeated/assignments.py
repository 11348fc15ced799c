"""Divide the edges of a graph among devices, by the strategy "split" or "cores".

"split" gives each device a range of the edges. "cores" gives the dense parts of the graph to one
device and all other edges to another. The strategy "cores" is from L. Ma, J. Wan, "Heterogeneous
CPU-GPU Orchestration for Repeated Minimum Spanning Tree Computation", section 3.2.
``docs/inside_rounds.md`` lists the differences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from clmst import peeling, route
from clmst.algorithms import solving
from clmst.algorithms.parts.shares import by_speed, shares_of
from clmst.core import clusters, partition
from clmst.core.graph import Graph
from clmst.core.partition import Part
from clmst.runtime.device import Device

Strategy: TypeAlias = Literal["split", "cores"]

# Maximum number of edges of a graph in which dense parts are looked for. They are sets of vertices
# with edges between most of them, and are found by core numbers.
_MOST_PEELED = (1 << 31) - 1
_WORD_BYTES = 4  # assumed bytes of a weight, because no weights are known yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The parts of a graph that one device solves, and the algorithm and options for them."""

    device: Device
    parts: tuple[Part, ...]
    algorithm: str
    options: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """The division of a graph among devices that a strategy has made.

    Attributes
    ----------
    strategy : {"split", "cores"}
        The strategy.
    edges : Graph
        The whole graph, which stores each edge once (:func:`clmst.core.topology.edges_once`).
    devices : tuple of Device
        All devices that the caller named, whether they have a part or not.
    assignments : tuple of Assignment
        The parts of each device that has one. The first of these devices also runs the last pass,
        which solves the union of the forests of all parts.
    algorithm, options
        The algorithm of the last pass, and its options.
    """

    strategy: Strategy
    edges: Graph
    devices: tuple[Device, ...]
    assignments: tuple[Assignment, ...]
    algorithm: str
    options: object

    @property
    def device(self) -> Device:
        """The device that merges the forests of all parts, on which the result then is."""
        return self.assignments[0].device


def plan(
    strategy: Strategy, edges: Graph, devices: Sequence[Device], *, algorithm: str, options: object
) -> DevicePlan:
    """Divide the edges of a graph among devices by a strategy.

    `edges` is the graph, which stores each edge once. Each device solves its edges, and the fastest
    device also solves the last pass, which is the union of all forests. `algorithm` and `options`
    are used for the last pass and for all parts except dense parts, which the algorithm "dense"
    solves. If the strategy "cores" finds no dense part, the fastest device solves all edges.
    """
    order = by_speed(devices, _WORD_BYTES)
    usual: dict[str, Any] = {"algorithm": algorithm, "options": options}
    if strategy == "split":
        bounds = partition.range_bounds(shares_of(order, _WORD_BYTES), edges.n_input)
        parts = partition.by_ranges(edges, bounds)
        assignments = [
            Assignment(device=device, parts=(part,), **usual)
            for device, part in zip(order, parts, strict=True)
        ]
    else:
        *dense, rest = _dense_parts_and_rest(edges, order[0])
        assignments = [Assignment(device=order[1 if dense else 0], parts=(rest,), **usual)]
        if dense:
            first = Assignment(device=order[0], parts=tuple(dense), algorithm="dense")
            assignments.insert(0, first)
    return DevicePlan(
        strategy=strategy, edges=edges, devices=tuple(devices), assignments=tuple(assignments),
        **usual,
    )  # fmt: skip


def _dense_parts_and_rest(edges: Graph, device: Device) -> list[Part]:
    """Divide a graph into dense parts that `device` can solve, and one part of all other edges.

    The device computes core numbers to find dense parts, which blocks. If there are none, the list
    has only the last part.
    """
    if not 0 < edges.n_slots <= _MOST_PEELED:
        return [partition.whole(edges)]
    cores = peeling.core_numbers(edges, device=device)
    most = solving.most_vertices("dense", device)
    found = clusters.dense_parts(edges, cores, least=route.LIMITS.dense_part, most=most)
    if not found.count:
        return [partition.whole(edges)]
    return partition.by_clusters(edges, found)
