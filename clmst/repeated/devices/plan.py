"""The plan of a solve on several devices: the task of each device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.core.graph import Graph
from clmst.core.partition import Part
from clmst.runtime.device import Device

Strategy: TypeAlias = Literal["alone", "split", "cores"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A part of the edges, and the algorithm that solves it.

    Attributes
    ----------
    part : Part
    algorithm : str
    options : object, optional
        As of :func:`clmst.minimum_spanning_forest`.
    """

    part: Part
    algorithm: str
    options: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """The tasks of one device.

    Attributes
    ----------
    device : Device
    tasks : tuple of Task
    """

    device: Device
    tasks: tuple[Task, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePlan:
    """The tasks of all devices; the first device also runs the last pass.

    Attributes
    ----------
    strategy : {"alone", "split", "cores"}
    edges : Graph
        The whole graph, as of :func:`clmst.core.topology.edges_once`.
    assignments : tuple of Assignment
        The first is that of the device of the last pass.
    last : Task
        The last pass, whose part is the whole graph. It solves the union of the forests, or the
        whole graph at once.
    """

    strategy: Strategy
    edges: Graph
    assignments: tuple[Assignment, ...]
    last: Task

    @property
    def device(self) -> Device:
        """The device of the last pass, which keeps forests."""
        return self.assignments[0].device
