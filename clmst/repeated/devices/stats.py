"""The stats of a round on several devices: work and times of each device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clmst.repeated.devices.plan import Assignment, DevicePlan
from clmst.repeated.devices.worker import Work
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class LastPass:
    """The solve of the union.

    Attributes
    ----------
    launch : Launcher
    algorithm : str
    began, ended : float
        By the host's clock, in seconds.
    """

    launch: Launcher
    algorithm: str
    began: float
    ended: float


def round_stats(
    plan: DevicePlan, works: Sequence[Work], last: LastPass, began: float
) -> Mapping[str, Any]:
    """Return ``stats`` of a forest.

    Parameters
    ----------
    plan : DevicePlan
    works : sequence of Work
        By device.
    last : LastPass
    began : float
        When the round began, by the host's clock, in seconds.
    """
    parts = [
        _part(assignment, work, began, last.began)
        for assignment, work in zip(plan.assignments, works, strict=True)
    ]
    union: dict[str, Any] = {
        "device": plan.device.description,
        "edges": sum(part["forest_edges"] for part in parts),
        "algorithm": last.algorithm,
        "began_ms": 1e3 * (last.began - began),
        "ms": 1e3 * (last.ended - last.began),
    }
    if last.launch.profile is not None:
        union["profile"] = last.launch.profile.summary()
    launches = [work.launch.launches for work in works]
    return {
        "algorithm": last.algorithm,
        "device": plan.device.description,
        "strategy": plan.strategy,
        "launches": sum(launches) + last.launch.launches,
        "devices": parts,
        "last_pass": union,
    }


def _part(assignment: Assignment, work: Work, began: float, entered: float) -> dict[str, Any]:
    """Return the work of one device; times are since the begin of the round, or of a step."""
    tasks = assignment.tasks
    part: dict[str, Any] = {
        "device": assignment.device.description,
        "vertices": sum(task.part.graph.n_vertices for task in tasks),
        "edges": sum(task.part.n_edges for task in tasks),
        "algorithms": [found.algorithm for found in work.found],
        "forest_edges": sum(found.n_edges for found in work.found),
        "began_ms": 1e3 * (work.began - began),
        "upload_ms": 1e3 * (work.uploaded - work.began),
        "solve_ms": 1e3 * (work.solved - work.uploaded),
        "send_ms": 1e3 * (work.ended - work.solved),
        "ended_ms": 1e3 * (work.ended - began),
        "wait_ms": 1e3 * (entered - work.ended),
    }
    if work.launch.profile is not None:
        part["profile"] = work.launch.profile.summary()
        span = work.launch.profile.span()
        if span is not None:
            since = work.host_less_device - began
            part["kernels_began_ms"], part["kernels_ended_ms"] = (
                1e3 * (time + since) for time in span
            )
    return part
