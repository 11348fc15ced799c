"""Tuning policies: how kernels are shaped for a device. They never change a result.

``tuning_parameters.py`` declares the legal values of each field. ``tuning_table.py`` has the values
measured on devices, with their figures. They win over the values of the device's kind, which are
here.
"""

from __future__ import annotations

from dataclasses import dataclass

from clmst.runtime.capabilities import Capabilities, DeviceKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The shape of kernels and launches.

    Attributes
    ----------
    work_group_size : int
        Work-items; 1 on CPUs, where one work-item with much work needs no barriers.
    groups_per_compute_unit : int
        Work-groups of a grid-stride launch.
    edges_per_item : int
        Edges that a work-item takes from each tile of a worklist.
    rows_per_item : int
        Rows that a single work-item takes from each tile of a graph (`work_group_size` 1 only).
    stage_capacity : int
        Edges staged in local memory before they are appended to a worklist.
    hub_row : int
        Rows of more slots are cut into pieces of this many, one for each lane group (only for
        work-groups of more than one work-item).
    shares_per_compute_unit : int
        Work-groups that reduce-then-scan divides an array among: as many as are resident.
    bytes_per_item : int
        Bytes that a work-item loads from each tile of its share; a multiple of 16.
    chain_work_group_size : int
        Work-items of a work-group that has one tile of a scan in one pass. 1: nothing is scanned in
        one pass, as always where `work_group_size` is 1.
    chain_bytes_per_item : int
        Bytes of that tile that a work-item loads; a multiple of 16.
    chain_registers : int
        The most registers of a work-item where arrays are scanned or sorted in one pass, if the
        compiler takes a limit; 0: no limit.
    compact_shares_per_compute_unit : int
        Work-groups that a selection divides an array among.
    compact_bytes_per_item : int
        Bytes of records and values that a work-item of a selection loads at a time; a multiple of
        16.
    radix_bits : int
        Bits of a digit where lanes rank records, or work-items are alone: 1 to 8. Elsewhere 4.
    split_work_group_size : int
        Work-items where records are split; 1 where `work_group_size` is. Without ranking lanes 256
        at most.
    split_bytes_per_item : int
        Bytes of records that a work-item takes from each tile, at most; of values likewise. A tile
        and 13 KiB beside fit local memory. Without ranking lanes 32 at most.
    split_shares_per_compute_unit : int
        Work-groups that records are divided among.
    slots_per_item : int
        Slots that a work-item takes from each tile of a graph, in `filter-boruvka`.
    worklist_edges_per_item : int
        Edges that a work-item takes from each tile of a worklist, in `filter-boruvka`.
    max_registers : int
        The most registers of a work-item of `filter-boruvka`, if the compiler takes a limit; 0: no
        limit.
    chase : int
        Parent pointers that a work-item follows at most in one launch on the way to a root.
    filter_degree : float
        Average degree from which on light edges go first.
    filter_target : float
        Light edges aimed at, in multiples of the number of vertices.
    dense_degree : float
        Average degree from which on `dense_filter_target` is aimed at instead.
    dense_filter_target : float
        As `filter_target`.
    probe_edges : int
        Edges from which on a graph above `dense_degree` gets a second window of light edges, unless
        a sample tells that the first one left few edges.
    resident_groups_per_compute_unit : int
        Work-groups that are certainly resident at the same time, and so may wait for one another; 0
        if that was not tested.
    resident_work_group_size : int
        Their work-items, where they do a whole solve.
    resident_slots_per_item : int
        As `slots_per_item`, for them.
    resident_edges_per_item : int
        As `worklist_edges_per_item`, for them.
    finish_groups_per_compute_unit : int
        As `resident_groups_per_compute_unit` if that is not 0, where they only end a phase of a
        larger solve.
    finish_work_group_size : int
        Their work-items then.
    finish_edges_per_item : int
        As `worklist_edges_per_item`, for them then.
    resident_slots : int
        Slots up to which a graph is solved in one launch of resident work-groups.
    half_resident_slots : int
        Slots up to which half as many of them have the launch: a barrier takes the longer, the more
        work-groups there are.
    direct_vertices : int
        Vertices of a graph up to which each goes the whole way to its component after a window, in
        a launch of resident work-groups; in others depths are gone through one by one.
    separate_rounds : int
        Rounds of larger graphs that are launched separately, before resident work-groups do the
        rest; at least one where edges are stored once.
    prim_vertices : int
        Vertices up to which "auto" is prim on graphs that store both directions of edges; half as
        many where each is stored once, since prim then needs their mirror.
    prim_edges : int
        Edges up to which "auto" is prim on those.
    solve_us : float
        The fixed time of a solve. This field and those below only decide how work is divided among
        several devices.
    edge_ns : float
        The time of the quickest algorithm for sparse graphs for an edge that is stored once.
    vertex_ns : float
        Its time for a vertex.
    cell_ns : float
        The time of `dense` for a cell of its matrix, including the construction.
    upload_gb_s : float
        The rate of uploads of large arrays.
    download_gb_s : float
        The rate of downloads.
    """

    work_group_size: int
    groups_per_compute_unit: int
    edges_per_item: int
    rows_per_item: int
    stage_capacity: int
    hub_row: int
    shares_per_compute_unit: int
    bytes_per_item: int
    chain_work_group_size: int
    chain_bytes_per_item: int
    chain_registers: int
    compact_shares_per_compute_unit: int
    compact_bytes_per_item: int
    radix_bits: int
    split_work_group_size: int
    split_bytes_per_item: int
    split_shares_per_compute_unit: int
    slots_per_item: int
    worklist_edges_per_item: int
    max_registers: int
    chase: int
    filter_degree: float
    filter_target: float
    dense_degree: float
    dense_filter_target: float
    probe_edges: int
    resident_groups_per_compute_unit: int
    resident_work_group_size: int
    resident_slots_per_item: int
    resident_edges_per_item: int
    finish_groups_per_compute_unit: int
    finish_work_group_size: int
    finish_edges_per_item: int
    resident_slots: int
    half_resident_slots: int
    direct_vertices: int
    separate_rounds: int
    prim_vertices: int
    prim_edges: int
    solve_us: float
    edge_ns: float
    vertex_ns: float
    cell_ns: float
    upload_gb_s: float
    download_gb_s: float


# The policy of a device that is in no table. That of GPUs is near to NVIDIA's: no other make is
# measured yet.
_DEFAULTS: dict[DeviceKind, Policy] = {
    "gpu": Policy(
        work_group_size=256,
        groups_per_compute_unit=256,
        edges_per_item=1,
        rows_per_item=1,
        stage_capacity=1024,
        hub_row=128,
        shares_per_compute_unit=32,
        bytes_per_item=64,
        chain_work_group_size=512,
        chain_bytes_per_item=64,
        chain_registers=0,
        compact_shares_per_compute_unit=32,
        compact_bytes_per_item=32,
        radix_bits=8,
        split_work_group_size=512,
        split_bytes_per_item=48,
        split_shares_per_compute_unit=8,
        slots_per_item=4,
        worklist_edges_per_item=1,
        max_registers=0,
        chase=32,
        filter_degree=5.5,
        filter_target=1.0,
        dense_degree=15.0,
        dense_filter_target=0.7,
        probe_edges=100 << 20,
        resident_groups_per_compute_unit=0,
        resident_work_group_size=256,
        resident_slots_per_item=4,
        resident_edges_per_item=1,
        finish_groups_per_compute_unit=2,
        finish_work_group_size=512,
        finish_edges_per_item=2,
        resident_slots=1 << 23,
        half_resident_slots=1 << 20,
        direct_vertices=1 << 20,
        separate_rounds=0,
        prim_vertices=0,
        prim_edges=0,
        # filter-boruvka on road_usa, r4_23, kron21 and rmat22 (docs/experiments.md), by the least
        # relative squares: off by a sixth to two fifths. Cells: dense on 16,384 vertices, and as
        # much again for building the matrix, which is an estimate.
        solve_us=150.0,
        edge_ns=0.036,
        vertex_ns=0.1,
        cell_ns=0.009,
        upload_gb_s=45.0,
        download_gb_s=41.0,
    ),
    "cpu": Policy(
        work_group_size=1,
        groups_per_compute_unit=16,
        edges_per_item=256,
        rows_per_item=256,
        stage_capacity=256,
        hub_row=128,
        shares_per_compute_unit=4,
        bytes_per_item=64,
        chain_work_group_size=1,
        chain_bytes_per_item=64,
        chain_registers=0,
        compact_shares_per_compute_unit=4,
        compact_bytes_per_item=64,
        radix_bits=8,
        split_work_group_size=1,
        split_bytes_per_item=64,
        split_shares_per_compute_unit=4,
        slots_per_item=1024,
        worklist_edges_per_item=256,
        max_registers=0,
        chase=32,
        filter_degree=6.0,
        filter_target=1.0,
        dense_degree=15.0,
        dense_filter_target=0.7,
        probe_edges=100 << 20,
        resident_groups_per_compute_unit=0,
        resident_work_group_size=1,
        resident_slots_per_item=1024,
        resident_edges_per_item=256,
        finish_groups_per_compute_unit=1,
        finish_work_group_size=1,
        finish_edges_per_item=256,
        resident_slots=0,
        half_resident_slots=0,
        direct_vertices=0,
        separate_rounds=0,
        # On two cores, Intel's runtime and PoCL alike (docs/experiments.md): prim is twice as quick
        # on 4,096 vertices, filter-boruvka half as quick again on 16,384; where edges are stored
        # once both take the same time on 4,096 vertices and 16,384 edges.
        prim_vertices=8192,
        prim_edges=32768,
        # filter-boruvka on the eight graphs of "Repeated solves" there, but patents, which fits no
        # cache: off by a fifth at most. Cells: dense on complete graphs of 512 to 4,096 vertices on
        # a busy machine, less what sparse ones took longer there. CPUs work in the host's memory.
        solve_us=860.0,
        edge_ns=7.4,
        vertex_ns=17.4,
        cell_ns=3.0,
        upload_gb_s=10.0,
        download_gb_s=10.0,
    ),
}
_DEFAULTS["accelerator"] = _DEFAULTS["gpu"]


def choose(capabilities: Capabilities) -> Policy:
    """Return the policy for devices of a kind."""
    return _DEFAULTS[capabilities.kind]
