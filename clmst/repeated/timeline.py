"""What a round on several devices tells of itself: who did what, when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clmst.repeated.member import Work
from clmst.repeated.plan import Assignment, Plan


def round_stats(
    plan: Plan, works: Sequence[Work], last: str, *, began: float, entered: float, ended: float
) -> Mapping[str, Any]:
    """Return ``stats`` of a forest.

    Parameters
    ----------
    plan : Plan
    works : sequence of Work
        By device.
    last : str
        The algorithm of the last pass.
    began, entered, ended : float
        When the round began, and the last pass began and ended, by the host's clock in seconds.
    """
    parts = [
        _part(assignment, work, began, entered)
        for assignment, work in zip(plan.assignments, works, strict=True)
    ]
    stats: dict[str, Any] = {
        "algorithm": last,
        "device": plan.device.description,
        "strategy": plan.strategy,
        "launches": sum(work.launch.launches for work in works),
        "devices": parts,
        "last_pass": {
            "device": plan.device.description,
            "edges": sum(part["forest_edges"] for part in parts),
            "algorithm": last,
            "began_ms": 1e3 * (entered - began),
            "ms": 1e3 * (ended - entered),
        },
    }
    return stats


def _part(assignment: Assignment, work: Work, began: float, entered: float) -> dict[str, Any]:
    """Return what one device has done; times since the round began, or of a step."""
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
