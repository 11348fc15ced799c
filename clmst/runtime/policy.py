"""Policies: the sizes of work-groups, tiles and launches on a device. They never change a result.

A field of :class:`Policy` is a number whose best value differs between the devices that were
measured. A number with one best value on all of these devices is a :class:`Constant`. It is defined
in the module that launches its kernel.
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

LEAST_WORK_GROUP = 32  # the smallest work-group, except that a work-group may have one work-item


@dataclass(frozen=True, slots=True)
class Constant:
    """A size in a kernel that is equal on all devices.

    The attribute `instead` of a :class:`Policy` can replace the value. Tests replace it to let
    small graphs reach every path of a kernel.
    """

    name: str
    value: int

    def under(self, policy: Policy) -> int:
        """Return the value of this constant on a device with the given policy.

        A policy has the sizes of work-groups, tiles and launches. If it replaces the constant, its
        value is returned, and otherwise the default value.
        """
        return dict(policy.instead).get(self, self.value) if policy.instead else self.value


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The sizes of work-groups, tiles and launches on a device.

    If `work_group_size` is 1, kernels are built in the form for CPUs: each work-item does much work
    by itself, without barriers.
    """

    work_group_size: int  # number of work-items: 1, or a multiple of 32 that divides 1024
    # Number of work-groups per compute unit in a launch that has more items of work than
    # work-items. Each work-item then takes several items, in steps of the number of all work-items.
    groups_per_compute_unit: int

    # For "ecl", whose worklists hold the remaining edges. `edges_per_item` is the number of edges
    # that a work-item takes from each tile of a worklist. `stage_capacity` is the number of edges
    # that fit into the stage, the buffer in local memory from which edges are appended to a
    # worklist. It is at least `work_group_size`.
    edges_per_item: int
    stage_capacity: int

    # For "filter-boruvka". `slots_per_item` is the number of slots (CSR entries) that a work-item
    # takes from each tile of a graph: at most 16, or at least 256 if `work_group_size` is 1.
    # `worklist_edges_per_item` is the number of edges that it takes from each tile of a worklist,
    # the list of remaining edges.
    slots_per_item: int
    worklist_edges_per_item: int
    # For "filter-boruvka". `filter_degree` is the average degree (slots per vertex) from which
    # light edges are solved first. From the degree `dense_degree` on, the number of edges that
    # count as light is about `dense_filter_target` times the number of vertices.
    filter_degree: float
    dense_degree: float
    dense_filter_target: float
    # Light edges are solved first only in graphs of at least this number of edges, if the average
    # degree is above `dense_degree`. In other graphs, it takes 4 times as many edges.
    filter_edges: int
    # Number of work-groups per compute unit that certainly run at the same time, and so may wait
    # for one another. It is 0 if that was not tested.
    resident_groups_per_compute_unit: int

    # For primitives: the numbers of work-groups per compute unit in a selection, in a scan by
    # reduce-then-scan, and in a sort.
    compact_shares_per_compute_unit: int
    shares_per_compute_unit: int
    split_shares_per_compute_unit: int
    # `chain_bytes_per_item` is the number of bytes that a work-item loads from its tile in a
    # single-pass scan, a multiple of 16. `split_bytes_per_item` is the number of bytes of keys that
    # a work-item takes from each tile of a sort, a multiple of 4. Values that are sorted with keys
    # are not counted.
    chain_bytes_per_item: int
    split_bytes_per_item: int

    # Pairs of a :class:`Constant` and the value that replaces its own under this policy. Each
    # constant occurs at most once.
    instead: tuple[tuple[Constant, int], ...] = ()

    def with_constants(self, numbers: Mapping[Constant, int]) -> Policy:
        """Return a copy of this policy in which constants have other values.

        `numbers` maps each constant to its new value. Earlier replacements of other constants stay.
        """
        return replace(self, instead=tuple((dict(self.instead) | dict(numbers)).items()))


# Measured on two cores of an AMD EPYC, with Intel's CPU runtime 2026.22 and PoCL 3.1. Neighbouring
# values were at most 4 to 5 % faster. Two runs of the same values differed by as much
# (benchmarks/log.md, "Shapes of kernels").
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

# For GPUs of other vendors than NVIDIA. They have NVIDIA's values, except that kernels use fewer
# registers, and that work-groups do not wait for one another. None of these GPUs was measured.
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

# Measured on an NVIDIA H200, driver 580.159.04, 2026-11-21, as the geometric mean of the fifteen
# benchmark graphs (benchmarks/log.md). All other NVIDIA GPUs use these values, too.
# `resident_groups_per_compute_unit` is the number of work-groups that certainly run at the same
# time. It holds for every GPU of compute capability 7 or more (`_PTX_CAPABILITY` of
# capabilities.py), because a compute unit of such a GPU runs 1,024 work-items with 64 registers
# each. If work-groups may wait for one another, an H100 solves small graphs four times as fast as
# otherwise.
NVIDIA = replace(
    GPU,
    slots_per_item=8,
    worklist_edges_per_item=4,
    resident_groups_per_compute_unit=4,
    chain_bytes_per_item=128,
    split_bytes_per_item=56,
)


def choose(capabilities: Capabilities, vendor: str = "") -> Policy:
    """Choose the policy of a device, which is the sizes of its work-groups, tiles and launches.

    `capabilities` are the device's, and `vendor` is the vendor of its OpenCL platform.
    """
    is_alone = capabilities.max_work_group_size < LEAST_WORK_GROUP
    if capabilities.kind == "cpu" or is_alone:
        return CPU
    return NVIDIA if (vendor, capabilities.kind) == ("NVIDIA Corporation", "gpu") else GPU


@cache
def warn_of_old_table() -> None:
    """Warn once per process if the user's cache still has a table of tuned values, now ignored."""
    path = cache_folder() / "tuning.json"
    if path.exists():
        warnings.warn(
            f"{path} is ignored, as clmst does not read tuned values any more; delete the file to "
            "end this warning",
            CacheWarning,
            stacklevel=callers_level(),
        )


def name_of(policy: Policy) -> str:
    """Return the name of a policy: "cpu", "gpu" or "nvidia", or "" if it is none of these.

    A policy has the sizes of work-groups, tiles and launches on a device.
    """
    known = {"cpu": CPU, "gpu": GPU, "nvidia": NVIDIA}
    return next((name for name, one in known.items() if one == policy), "")
