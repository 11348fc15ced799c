"""Policies: how kernels are shaped for a device. A policy never changes a result.

A field of :class:`Policy` is a number in which measured devices differ. A number that is the same
on all of them is a :class:`Constant`, and stands beside its kernel.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from clmst.core.errors import CacheWarning, callers_level
from clmst.core.machine import cache_folder

if TYPE_CHECKING:
    from clmst.runtime.capabilities import Capabilities

LEAST_WORK_GROUP = 32  # work-items, except in work-groups of one


@dataclass(frozen=True, slots=True)
class Constant:
    """A number in the shape of kernels that is the same on every device.

    A policy may have another number in its place (:attr:`Policy.instead`). Tests use that, so that
    small graphs reach every path of a kernel.
    """

    name: str
    value: int

    def under(self, policy: Policy) -> int:
        """Return the number that counts on a device of this policy."""
        return dict(policy.instead).get(self, self.value) if policy.instead else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The shape of kernels and launches on a device.

    If `work_group_size` is 1, the work-items are alone: each has much work, and no barriers.
    """

    work_group_size: int  # work-items: 1, or a multiple of 32 that divides 1024
    groups_per_compute_unit: int  # work-groups of a launch whose work-items stride over the work

    # Of "ecl": edges that a work-item takes from each tile of a worklist; and edges staged in local
    # memory before they are appended to a worklist, at least `work_group_size`.
    edges_per_item: int
    stage_capacity: int

    # Of "filter-boruvka": slots that a work-item takes from each tile of a graph, at most 16, but
    # at least 256 where work-items are alone; and edges that it takes from each tile of a worklist.
    slots_per_item: int
    worklist_edges_per_item: int
    # The average degree (slots a vertex) from which light edges go first; and the degree from which
    # as many light edges are wanted as `dense_filter_target` says, in multiples of the vertices.
    filter_degree: float
    dense_degree: float
    dense_filter_target: float
    # Edges from which light edges go first in graphs above `dense_degree`; in other graphs 4 times
    # as many.
    filter_edges: int
    # Work-groups on a compute unit that certainly run at the same time, and so may wait for one
    # another. 0 if that was not tested.
    resident_groups_per_compute_unit: int

    # Of primitives: work-groups that a selection divides an array among, that a scan by
    # reduce-then-scan does, and that a sort does.
    compact_shares_per_compute_unit: int
    shares_per_compute_unit: int
    split_shares_per_compute_unit: int
    # Bytes that a work-item loads from its tile of a scan in one pass, a multiple of 16; and bytes
    # of records that it takes from each tile of a sort, a multiple of 4. Values are counted apart.
    chain_bytes_per_item: int
    split_bytes_per_item: int

    # Numbers that take the place of constants, each constant once.
    instead: tuple[tuple[Constant, int], ...] = ()

    def with_constants(self, numbers: Mapping[Constant, int]) -> Policy:
        """Return the policy with other numbers in the place of some constants."""
        return replace(self, instead=tuple((dict(self.instead) | dict(numbers)).items()))


# Two cores of an AMD EPYC, under Intel's CPU runtime 2026.22 and under PoCL 3.1: no value next to
# one of these was quicker by more than the same values differed in a second run, 4 to 5 %
# (docs/performance_log.md, "Shapes of kernels").
CPU = Policy(
    work_group_size=1,
    groups_per_compute_unit=16,
    edges_per_item=256,
    stage_capacity=256,
    slots_per_item=1024,
    worklist_edges_per_item=256,
    filter_degree=6.0,
    dense_degree=15.0,
    dense_filter_target=1.0,
    filter_edges=0,
    resident_groups_per_compute_unit=0,
    compact_shares_per_compute_unit=4,
    shares_per_compute_unit=4,
    split_shares_per_compute_unit=4,
    chain_bytes_per_item=64,
    split_bytes_per_item=64,
)

# GPUs that are not NVIDIA's: the values of NVIDIA's, with less that needs registers, and without
# work-groups that wait for one another. None of these GPUs was measured.
GPU = Policy(
    work_group_size=256,
    groups_per_compute_unit=256,
    edges_per_item=1,
    stage_capacity=1024,
    slots_per_item=4,
    worklist_edges_per_item=1,
    filter_degree=3.5,
    dense_degree=12.0,
    dense_filter_target=1.5,
    filter_edges=1 << 17,
    resident_groups_per_compute_unit=0,
    compact_shares_per_compute_unit=32,
    shares_per_compute_unit=32,
    split_shares_per_compute_unit=8,
    chain_bytes_per_item=64,
    split_bytes_per_item=48,
)

# NVIDIA H200, driver 580.159.04, 2026-11-21: the fifteen benchmark graphs, geometric mean
# (docs/performance_log.md). Other GPUs of NVIDIA's get these values, too: all that have the
# instructions hold 1,024 work-items of 64 registers a compute unit. An H100 solves small graphs
# four times as fast with them as without resident work-groups.
NVIDIA = replace(
    GPU,
    slots_per_item=8,
    worklist_edges_per_item=4,
    resident_groups_per_compute_unit=4,
    chain_bytes_per_item=128,
    split_bytes_per_item=56,
)


def choose(capabilities: Capabilities, vendor: str = "") -> Policy:
    """Choose the policy of a device, by its kind and the vendor of its OpenCL platform."""
    is_alone = capabilities.max_work_group_size < LEAST_WORK_GROUP
    if capabilities.kind == "cpu" or is_alone:
        return CPU
    return NVIDIA if (vendor, capabilities.kind) == ("NVIDIA Corporation", "gpu") else GPU


@cache
def warn_of_old_table() -> None:
    """Warn once in a process if the user has a table of tuned values, which is not read."""
    path = cache_folder() / "tuning.json"
    if path.exists():
        warnings.warn(
            f"{path} is ignored, as clmst does not read tuned values any more; delete the file to "
            "end this warning",
            CacheWarning,
            stacklevel=callers_level(),
        )
