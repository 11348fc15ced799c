"""What the rest of clmst has to know of lone-boruvka."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clmst.algorithms.shared import links
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

if TYPE_CHECKING:
    from clmst.runtime.device_graph import DeviceGraph
    from clmst.runtime.policy import Policy


def _rank(policy: Policy, _: DeviceGraph | None) -> int:
    """Return the first rank but that of small graphs where work-groups are of one work-item."""
    return 10 if policy.work_group_size == 1 else 30


RECORD = AlgorithmRecord(
    name="lone-boruvka",
    folder="clmst.algorithms.lone_boruvka",
    options="LoneBoruvkaOptions",
    purpose="the same in the shape of a CPU: one work-item a core, long rows, few atomics",
    good_for="CPUs",
    rank=_rank,
    most_vertices=links.most_vertices,
    bytes_needed=(40, 22),
    takes_any_graph=True,
)
