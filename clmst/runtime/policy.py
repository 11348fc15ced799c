"""Tuning policies: how kernels are shaped for a device. They never change a result.

The class of policies is the table of what can be tuned: each field stands there once, with its
meaning, its values on GPUs and CPUs, its legal values, and those that a search tries.
``tuning_table.py`` has values measured on devices, which win over those here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias

from clmst.runtime.capabilities import Capabilities

Number: TypeAlias = int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningParameter:
    """The declaration of a field of :class:`Policy`."""

    name: str
    help: str
    unit: str  # what it counts
    # Its values where no table has others. GPUs' are near to NVIDIA's, the only ones measured.
    gpu: Number
    cpu: Number
    least: Number  # the range of legal values, both ends included
    most: Number
    multiple_of: int  # of which all legal values but the least are multiples; 0 for real numbers
    tries: tuple[Number, ...]  # the values that a search steps through, rising
    # The algorithms that it affects; none: all. "auto": which one is chosen; no search varies it.
    algorithms: tuple[str, ...] = ()
    # Whether it has an effect everywhere, or with work-groups of one work-item, or larger ones.
    shape: Literal["any", "serial", "groups"] = "any"
    needs: str = ""  # a field that must not be 0 for it to have an effect, if there is one

    @property
    def rule(self) -> str:
        """The legal values, as text."""
        if not self.multiple_of:
            return f"a number from {self.least} to {self.most}"
        if self.multiple_of == 1:
            return f"an integer from {self.least} to {self.most}"
        return f"{self.least}, or a multiple of {self.multiple_of} up to {self.most}"

    def allows(self, value: object) -> bool:
        """Return whether a value of any type is legal."""
        kinds = (int,) if self.multiple_of else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        if not self.least <= value <= self.most:  # so NaN is not legal
            return False
        return not self.multiple_of or value == self.least or value % self.multiple_of == 0

    def matters(self, algorithm: str, policy: Policy) -> bool:
        """Return whether it has an effect on an algorithm, given the other fields."""
        shape = "serial" if policy.work_group_size == 1 else "groups"
        if self.shape not in ("any", shape) or (self.needs and not getattr(policy, self.needs)):
            return False
        return algorithm in (self.algorithms or (algorithm,))


def _declared(help_text: str, **declaration: Any) -> Any:
    """Return a field of policies, with what :class:`TuningParameter` has of it."""
    declaration.setdefault("multiple_of", 0 if isinstance(declaration["gpu"], float) else 1)
    return field(metadata={"help": help_text, **declaration})


def _doubling(first: int, last: int) -> tuple[int, ...]:
    return tuple(first << k for k in range((last // first).bit_length()))


_WORD = (1 << 32) - 1
LEAST_WORK_GROUP = 32  # work-items, but for single ones
# What the declarations of some fields have in common.
_ECL: Any = {"algorithms": ("ecl",)}
_FILTERING: Any = {"algorithms": ("filter-boruvka",)}
_RESIDENT: Any = {**_FILTERING, "shape": "groups", "needs": "resident_groups_per_compute_unit"}
_PRIMITIVES: Any = {"algorithms": ("boruvka", "pma", "prim-boruvka")}
_AUTO: Any = {"algorithms": ("auto",)}


# fmt: off
@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The shape of kernels and launches; a search goes through its fields in this order."""

    work_group_size: int = _declared(
        "Work-items; 1 on CPUs, where one work-item with much work needs no barriers.",
        gpu=256, cpu=1, unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, *_doubling(32, 1024)),
    )
    groups_per_compute_unit: int = _declared(
        "Work-groups of a grid-stride launch.",
        gpu=256, cpu=16, unit="work-groups", least=1, most=65536, tries=_doubling(1, 4096),
    )
    edges_per_item: int = _declared(
        "Edges that a work-item takes from each tile of a worklist.",
        gpu=1, cpu=256, unit="edges", least=1, most=1024, tries=_doubling(1, 1024), **_ECL,
    )
    rows_per_item: int = _declared(
        "Rows that a single work-item takes from each tile of a graph.",
        gpu=1, cpu=256, unit="rows", least=1, most=65536, tries=_doubling(16, 4096), **_ECL,
        shape="serial",
    )
    stage_capacity: int = _declared(
        "Edges staged in local memory before they are appended to a worklist.",
        gpu=1024, cpu=256, unit="edges", least=1, most=65536, tries=_doubling(64, 4096), **_ECL,
    )
    hub_row: int = _declared(
        "Rows of more slots are cut into pieces of that size, one for each lane group.",
        gpu=128, cpu=128, unit="slots", least=5, most=1 << 20, tries=_doubling(32, 2048), **_ECL,
        shape="groups",
    )
    slots_per_item: int = _declared(
        "Slots that a work-item takes from each tile of a graph, in `filter-boruvka`.",
        gpu=4, cpu=1024, unit="slots", least=1, most=65536,
        tries=(1, 2, 4, 8, 16, *_doubling(256, 16384)), **_FILTERING,
    )
    worklist_edges_per_item: int = _declared(
        "Edges that a work-item takes from each tile of a worklist, in `filter-boruvka`.",
        gpu=1, cpu=256, unit="edges", least=1, most=1024, tries=_doubling(1, 1024), **_FILTERING,
    )
    max_registers: int = _declared(
        "The most registers of a work-item of `filter-boruvka`, if the compiler takes a limit; 0: "
        "no limit.",
        gpu=0, cpu=0, unit="registers", least=0, most=255, tries=(0, 32, 40, 48, 64), **_FILTERING,
        shape="groups",
    )
    chase: int = _declared(
        "Parent pointers that a work-item follows at most in one launch on the way to a root.",
        gpu=32, cpu=32, unit="vertices", least=2, most=1024, tries=_doubling(2, 256), **_FILTERING,
    )
    filter_degree: float = _declared(
        "Average degree from which on light edges go first.",
        gpu=3.5, cpu=6.0, unit="slots a vertex", least=0, most=1e9,
        tries=(3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0), **_FILTERING,
    )
    filter_target: float = _declared(
        "Light edges aimed at, in multiples of the number of vertices.",
        gpu=1.0, cpu=1.0, unit="edges a vertex", least=0.125, most=64,
        tries=(0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0), **_FILTERING,
    )
    dense_degree: float = _declared(
        "Average degree from which on `dense_filter_target` is aimed at instead.",
        gpu=12.0, cpu=15.0, unit="slots a vertex", least=0, most=1e9,
        tries=(8.0, 12.0, 16.0, 24.0, 32.0), **_FILTERING,
    )
    dense_filter_target: float = _declared(
        "As `filter_target`.",
        gpu=1.5, cpu=1.0, unit="edges a vertex", least=0.125, most=64,
        tries=(0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0), **_FILTERING,
    )
    filter_edges: int = _declared(
        "Edges from which on light edges go first in graphs above `dense_degree`; in others from 4 "
        "times as many on.",
        gpu=1 << 17, cpu=0, unit="edges", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 14, 1 << 20)), **_FILTERING,
    )
    resident_groups_per_compute_unit: int = _declared(
        "Work-groups that are certainly resident at the same time, and so may wait for one "
        "another; 0 if that was not tested.",
        gpu=0, cpu=0, unit="work-groups", least=0, most=64, tries=(0, 1, 2, 3, 4), **_FILTERING,
        shape="groups",
    )
    resident_work_group_size: int = _declared(
        "Their work-items, where they do a whole solve.",
        gpu=256, cpu=1, unit="work-items", least=1, most=1024, multiple_of=32,
        tries=_doubling(64, 1024), **_RESIDENT,
    )
    resident_slots_per_item: int = _declared(
        "As `slots_per_item`, for them.",
        gpu=4, cpu=1024, unit="slots", least=1, most=65536, tries=_doubling(1, 16), **_RESIDENT,
    )
    resident_edges_per_item: int = _declared(
        "As `worklist_edges_per_item`, for them.",
        gpu=1, cpu=256, unit="edges", least=1, most=1024, tries=_doubling(1, 8), **_RESIDENT,
    )
    finish_groups_per_compute_unit: int = _declared(
        "As `resident_groups_per_compute_unit` if that is not 0, where they only end a phase of a "
        "larger solve.",
        gpu=2, cpu=1, unit="work-groups", least=1, most=64, tries=(1, 2, 3, 4), **_RESIDENT,
    )
    finish_work_group_size: int = _declared(
        "Their work-items then.",
        gpu=512, cpu=1, unit="work-items", least=1, most=1024, multiple_of=32,
        tries=_doubling(64, 1024), **_RESIDENT,
    )
    finish_edges_per_item: int = _declared(
        "As `worklist_edges_per_item`, for them then.",
        gpu=2, cpu=256, unit="edges", least=1, most=1024, tries=_doubling(1, 8), **_RESIDENT,
    )
    resident_slots: int = _declared(
        "Slots up to which a graph is solved in one launch of resident work-groups.",
        gpu=1 << 23, cpu=0, unit="slots", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 16, 1 << 28)), **_RESIDENT,
    )
    half_resident_slots: int = _declared(
        "Slots up to which half as many of them have the launch: a barrier takes the longer, the "
        "more work-groups there are.",
        gpu=1 << 20, cpu=0, unit="slots", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 16, 1 << 23)), **_RESIDENT,
    )
    direct_vertices: int = _declared(
        "Vertices of a graph up to which each goes the whole way to its component after a window, "
        "in a launch of resident work-groups; in others depths are gone through one by one.",
        gpu=1 << 20, cpu=0, unit="vertices", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 16, 1 << 24)), **_RESIDENT,
    )
    separate_rounds: int = _declared(
        "Rounds of larger graphs that are launched separately, before resident work-groups do the "
        "rest; at least one where edges are stored once.",
        gpu=0, cpu=0, unit="rounds", least=0, most=32, tries=(0, 1, 2, 3, 4, 5, 6), **_RESIDENT,
    )
    compact_shares_per_compute_unit: int = _declared(
        "Work-groups that a selection divides an array among.",
        gpu=32, cpu=4, unit="work-groups", least=1, most=4096, tries=_doubling(1, 128),
    )
    compact_bytes_per_item: int = _declared(
        "Bytes of records and values that a work-item of a selection loads at a time; a multiple "
        "of 16.",
        gpu=32, cpu=64, unit="bytes", least=16, most=128, multiple_of=16, tries=_doubling(16, 128),
        shape="groups",
    )
    shares_per_compute_unit: int = _declared(
        "Work-groups that reduce-then-scan divides an array among: as many as are resident.",
        gpu=32, cpu=4, unit="work-groups", least=1, most=4096, tries=_doubling(1, 128),
        **_PRIMITIVES,
    )
    bytes_per_item: int = _declared(
        "Bytes that a work-item loads from each tile of its share.",
        gpu=64, cpu=64, unit="bytes", least=16, most=128, multiple_of=16, tries=_doubling(16, 128),
        **_PRIMITIVES, shape="groups",
    )
    chain_work_group_size: int = _declared(
        "Work-items of a work-group that has one tile of a scan in one pass. 1: nothing is "
        "scanned in one pass, as always where `work_group_size` is 1.",
        gpu=512, cpu=1, unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, *_doubling(64, 1024)), **_PRIMITIVES, shape="groups",
    )
    chain_bytes_per_item: int = _declared(
        "Bytes of that tile that a work-item loads.",
        gpu=64, cpu=64, unit="bytes", least=16, most=128, multiple_of=16, tries=_doubling(16, 128),
        **_PRIMITIVES, shape="groups",
    )
    chain_registers: int = _declared(
        "The most registers of a work-item where arrays are scanned or sorted in one pass, if the "
        "compiler takes a limit; 0: no limit.",
        gpu=0, cpu=0, unit="registers", least=0, most=255, tries=(0, 48, 56, 64, 80), **_PRIMITIVES,
        shape="groups",
    )
    radix_bits: int = _declared(
        "Bits of a digit where lanes rank records, or work-items are alone: 1 to 8. Elsewhere 4.",
        gpu=8, cpu=8, unit="bits", least=1, most=8, tries=(4, 5, 6, 7, 8), **_PRIMITIVES,
    )
    split_work_group_size: int = _declared(
        "Work-items where records are split; 1 where `work_group_size` is. Without ranking lanes "
        "256 at most.",
        gpu=512, cpu=1, unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, 64, 128, 256, 384, 512, 1024), **_PRIMITIVES, shape="groups",
    )
    split_bytes_per_item: int = _declared(
        "Bytes of records that a work-item takes from each tile, at most; of values likewise. A "
        "tile and 13 KiB beside fit local memory. Without ranking lanes 32 at most.",
        gpu=48, cpu=64, unit="bytes", least=4, most=128, multiple_of=4,
        tries=(16, 32, 48, 64, 96, 128), **_PRIMITIVES, shape="groups",
    )
    split_shares_per_compute_unit: int = _declared(
        "Work-groups that records are divided among.",
        gpu=8, cpu=4, unit="work-groups", least=1, most=4096, tries=_doubling(1, 64), **_PRIMITIVES,
    )
    # On two cores, Intel's runtime and PoCL alike (docs/performance_log.md): prim is twice as quick
    # on 4,096 vertices, filter-boruvka half as quick again on 16,384; where edges are stored once
    # both take the same time on 4,096 vertices and 16,384 edges.
    prim_vertices: int = _declared(
        'Vertices up to which "auto" is prim on graphs that store both directions of edges; half '
        "as many where each is stored once, since prim then needs their mirror.",
        gpu=0, cpu=8192, unit="vertices", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 8, 1 << 16)), **_AUTO,
    )
    prim_edges: int = _declared(
        'Edges up to which "auto" is prim on those.',
        gpu=0, cpu=32768, unit="edges", least=0, most=_WORD,
        tries=(0, *_doubling(1 << 10, 1 << 20)), **_AUTO,
    )
    # On GPUs: filter-boruvka on road_usa, r4_23, kron21 and rmat22 (docs/experiments.md), by the
    # least relative squares: off by a sixth to two fifths; cells: dense on 16,384 vertices, and as
    # much again for building the matrix, an estimate. On CPUs: filter-boruvka on the eight graphs
    # of "Repeated solves" there, but patents, which fits no cache: off by a fifth at most; cells:
    # dense on complete graphs of 512 to 4,096 vertices on a busy machine, less what sparse ones
    # took longer there. CPUs work in the host's memory.
    solve_us: float = _declared(
        "The fixed time of a solve. This field and those below only decide how work is divided "
        "among several devices.",
        gpu=150.0, cpu=860.0, unit="us", least=0, most=1e9, tries=(100.0, 1000.0), **_AUTO,
    )
    edge_ns: float = _declared(
        "The time of the quickest algorithm for sparse graphs for an edge that is stored once.",
        gpu=0.036, cpu=7.4, unit="ns", least=1e-6, most=1e9, tries=(0.03, 10.0), **_AUTO,
    )
    vertex_ns: float = _declared(
        "Its time for a vertex.",
        gpu=0.1, cpu=17.4, unit="ns", least=0, most=1e9, tries=(0.1, 20.0), **_AUTO,
    )
    cell_ns: float = _declared(
        "The time of `dense` for a cell of its matrix, including the construction.",
        gpu=0.009, cpu=3.0, unit="ns", least=1e-6, most=1e9, tries=(0.01, 5.0), **_AUTO,
    )
    upload_gb_s: float = _declared(
        "The rate of uploads of large arrays.",
        gpu=45.0, cpu=10.0, unit="GB/s", least=1e-3, most=1e6, tries=(10.0, 50.0), **_AUTO,
    )
    download_gb_s: float = _declared(
        "The rate of downloads.",
        gpu=41.0, cpu=10.0, unit="GB/s", least=1e-3, most=1e6, tries=(10.0, 50.0), **_AUTO,
    )
# fmt: on


PARAMETERS: Mapping[str, TuningParameter] = {
    one.name: TuningParameter(name=one.name, **one.metadata) for one in fields(Policy)
}
"""All fields by name, in their order."""


def choose(capabilities: Capabilities) -> Policy:
    """Return the policy of a device that is in no table: a CPU's where work-items are alone."""
    is_alone = capabilities.kind == "cpu" or capabilities.max_work_group_size < LEAST_WORK_GROUP
    kind = "cpu" if is_alone else "gpu"
    return Policy(**{name: getattr(one, kind) for name, one in PARAMETERS.items()})
