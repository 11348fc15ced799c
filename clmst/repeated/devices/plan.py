"""Who does what in a solve on several devices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from clmst.core.graph import Graph
from clmst.core.partition import Part
from clmst.runtime.device import Device

Strategy: TypeAlias = Literal["alone", "split", "cores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A part of the edges, and what solves it.

    Attributes
    ----------
    part : Part
    algorithm : str
    options : object, optional
        As of :func:`clmst.minimum_spanning_forest`.
    """

    part: Part
    algorithm: str
    options: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What one device does.

    Attributes
    ----------
    device : Device
    tasks : tuple of Task
    """

    device: Device
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """What all devices do, the first of them the last pass.

    Attributes
    ----------
    strategy : {"alone", "split", "cores"}
    edges : Graph
        The whole graph, as of :func:`clmst.core.topology.edges_once`.
    assignments : tuple of Assignment
        The first is that of the device of the last pass.
    last : Task
        The last pass, whose part is the whole graph: what solves the union of the forests, or the
        whole graph by itself.
    """

    strategy: Strategy
    edges: Graph
    assignments: tuple[Assignment, ...]
    last: Task

    @property
    def device(self) -> Device:
        """The device of the last pass, where forests are kept."""
        return self.assignments[0].device
