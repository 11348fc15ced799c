"""Which device solves which part of a graph, by a strategy.

Source of "cores": L. Ma, J. Wan, "Heterogeneous CPU-GPU Orchestration for Repeated Minimum Spanning
Tree Computation", section 3.2; ``docs/inside_rounds.md`` says what is different here.
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

# The most edges, stored once, of a graph whose core numbers are computed.
_MOST_PEELED = (1 << 31) - 1
_WORD_BYTES = 4  # of a weight, as far as is known before there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """Parts of the edges that a device solves, by an algorithm and its options."""

    device: Device
    parts: tuple[Part, ...]
    algorithm: str
    options: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """The assignments of a strategy to devices.

    The first device also runs the last pass: it solves the union of the forests, by `algorithm`.
    `edges` are of the whole graph, as of :func:`clmst.core.topology.edges_once`; `devices` are
    those that the caller named.
    """

    strategy: Strategy
    edges: Graph
    devices: tuple[Device, ...]
    assignments: tuple[Assignment, ...]
    algorithm: str
    options: object

    @property
    def device(self) -> Device:
        """The device of the last pass, which keeps forests."""
        return self.assignments[0].device


def plan(
    strategy: Strategy, edges: Graph, devices: Sequence[Device], *, algorithm: str, options: object
) -> DevicePlan:
    """Divide the edges of a graph among devices. The quickest device gets the last pass.

    `algorithm` and `options` are for all parts but dense ones, and for the last pass. Without a
    dense part, the plan of "cores" has one assignment: the quickest device solves all edges.
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
    """Return the dense parts that a device can solve, and the part of all other edges."""
    if not 0 < edges.n_slots <= _MOST_PEELED:
        return [partition.whole(edges)]
    cores = peeling.core_numbers(edges, device=device)
    most = solving.most_vertices("dense", device)
    found = clusters.dense_parts(edges, cores, least=route.LIMITS.dense_part, most=most)
    if not found.count:
        return [partition.whole(edges)]
    return partition.by_clusters(edges, found)
