"""The fields of a policy: legal values, and values that a search tries."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from clmst.runtime.policy import Policy
from clmst.runtime.tuning_table import Number

Shape: TypeAlias = Literal["any", "serial", "groups"]


def _doubling(first: int, last: int) -> tuple[int, ...]:
    return tuple(first << k for k in range((last // first).bit_length()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TuningParameter:
    """A field of :class:`~clmst.runtime.policy.Policy` that can be tuned.

    Attributes
    ----------
    name : str
        The field.
    unit : str
        What it counts.
    least, most : int or float
        The range of legal values, both ends included.
    multiple_of : int
        Legal values but the least one are multiples of it; 0 for real numbers.
    tries : tuple of int or float
        The values that a search steps through, rising.
    algorithms : tuple of str
        The algorithms that it affects; none: all. "auto": it affects which algorithm is chosen, and
        no search varies it.
    shape : {"any", "serial", "groups"}
        Whether it has an effect everywhere, only with work-groups of one work-item, or only with
        larger ones.
    needs : str
        A field that must not be 0 for it to have an effect. Empty: there is none.
    """

    name: str
    unit: str
    least: Number
    most: Number
    multiple_of: int = 1
    tries: tuple[Number, ...]
    algorithms: tuple[str, ...] = ()
    shape: Shape = "any"
    needs: str = ""

    @property
    def help(self) -> str:
        """Its description, from the docstring of the class of policies."""
        entry = re.search(
            rf"^ *{self.name} : .*\n((?: {{8}}.*\n?)+)", Policy.__doc__ or "", re.MULTILINE
        )
        return " ".join(entry[1].split()) if entry else ""

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
        kinds = (int, float) if not self.multiple_of else (int,)
        if isinstance(value, bool) or not isinstance(value, kinds):
            return False
        if not self.least <= value <= self.most:  # NaN is not legal either
            return False
        return not self.multiple_of or value == self.least or value % self.multiple_of == 0

    def matters(self, algorithm: str, policy: Policy) -> bool:
        """Return whether it has an effect on an algorithm, given the other fields."""
        shape = "serial" if policy.work_group_size == 1 else "groups"
        if self.shape not in ("any", shape) or (self.needs and not getattr(policy, self.needs)):
            return False
        return algorithm in (self.algorithms or (algorithm,))


_PRIMITIVES = ("boruvka", "pma", "prim-boruvka")
_FILTERING = ("filter-boruvka",)
_RESIDENT = "resident_groups_per_compute_unit"

# In the order of the search: the most important fields first.
_DECLARED = (
    TuningParameter(
        name="work_group_size", unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, *_doubling(32, 1024)),
    ),
    TuningParameter(
        name="groups_per_compute_unit", unit="work-groups", least=1, most=65536,
        tries=_doubling(1, 4096),
    ),
    TuningParameter(
        name="edges_per_item", unit="edges", least=1, most=1024, tries=_doubling(1, 1024),
        algorithms=("ecl",),
    ),
    TuningParameter(
        name="rows_per_item", unit="rows", least=1, most=65536, tries=_doubling(16, 4096),
        algorithms=("ecl",), shape="serial",
    ),
    TuningParameter(
        name="stage_capacity", unit="edges", least=1, most=65536, tries=_doubling(64, 4096),
        algorithms=("ecl",),
    ),
    TuningParameter(
        name="hub_row", unit="slots", least=5, most=1 << 20, tries=_doubling(32, 2048),
        algorithms=("ecl",), shape="groups",
    ),
    TuningParameter(
        name="slots_per_item", unit="slots", least=1, most=65536,
        tries=(1, 2, 4, 8, 16, *_doubling(256, 16384)), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="worklist_edges_per_item", unit="edges", least=1, most=1024,
        tries=_doubling(1, 1024), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="max_registers", unit="registers", least=0, most=255, tries=(0, 32, 40, 48, 64),
        algorithms=_FILTERING, shape="groups",
    ),
    TuningParameter(
        name="chase", unit="vertices", least=2, most=1024, tries=_doubling(2, 256),
        algorithms=_FILTERING,
    ),
    TuningParameter(
        name="filter_degree", unit="slots a vertex", least=0, most=1e9, multiple_of=0,
        tries=(3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="filter_target", unit="edges a vertex", least=0.125, most=64, multiple_of=0,
        tries=(0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 4.0), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="dense_degree", unit="slots a vertex", least=0, most=1e9, multiple_of=0,
        tries=(8.0, 12.0, 16.0, 24.0, 32.0), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="dense_filter_target", unit="edges a vertex", least=0.125, most=64, multiple_of=0,
        tries=(0.4, 0.5, 0.6, 0.7, 0.85, 1.0), algorithms=_FILTERING,
    ),
    TuningParameter(
        name="probe_edges", unit="edges", least=0, most=(1 << 32) - 1,
        tries=_doubling(1 << 22, 1 << 28), algorithms=_FILTERING, shape="groups",
    ),
    # If they are not resident after all, they give up, and the solve runs again: slow, but right.
    TuningParameter(
        name=_RESIDENT, unit="work-groups", least=0, most=64, tries=(0, 1, 2, 3, 4),
        algorithms=_FILTERING, shape="groups",
    ),
    TuningParameter(
        name="resident_work_group_size", unit="work-items", least=1, most=1024, multiple_of=32,
        tries=_doubling(64, 1024), algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="resident_slots_per_item", unit="slots", least=1, most=65536, tries=_doubling(1, 16),
        algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="resident_edges_per_item", unit="edges", least=1, most=1024, tries=_doubling(1, 8),
        algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="finish_groups_per_compute_unit", unit="work-groups", least=1, most=64,
        tries=(1, 2, 3, 4), algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="finish_work_group_size", unit="work-items", least=1, most=1024, multiple_of=32,
        tries=_doubling(64, 1024), algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="finish_edges_per_item", unit="edges", least=1, most=1024, tries=_doubling(1, 8),
        algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="resident_slots", unit="slots", least=0, most=(1 << 32) - 1,
        tries=(0, *_doubling(1 << 16, 1 << 28)), algorithms=_FILTERING, shape="groups",
        needs=_RESIDENT,
    ),
    TuningParameter(
        name="half_resident_slots", unit="slots", least=0, most=(1 << 32) - 1,
        tries=(0, *_doubling(1 << 16, 1 << 23)), algorithms=_FILTERING, shape="groups",
        needs=_RESIDENT,
    ),
    TuningParameter(
        name="direct_vertices", unit="vertices", least=0, most=(1 << 32) - 1,
        tries=(0, *_doubling(1 << 16, 1 << 24)), algorithms=_FILTERING, shape="groups",
        needs=_RESIDENT,
    ),
    TuningParameter(
        name="separate_rounds", unit="rounds", least=0, most=32, tries=(0, 1, 2, 3, 4, 5, 6),
        algorithms=_FILTERING, shape="groups", needs=_RESIDENT,
    ),
    TuningParameter(
        name="prim_vertices", unit="vertices", least=0, most=(1 << 32) - 1,
        tries=(0, *_doubling(1 << 8, 1 << 16)), algorithms=("auto",),
    ),
    TuningParameter(
        name="prim_edges", unit="edges", least=0, most=(1 << 32) - 1,
        tries=(0, *_doubling(1 << 10, 1 << 20)), algorithms=("auto",),
    ),
    TuningParameter(
        name="solve_us", unit="us", least=0, most=1e9, multiple_of=0, tries=(100.0, 1000.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="edge_ns", unit="ns", least=1e-6, most=1e9, multiple_of=0, tries=(0.03, 10.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="vertex_ns", unit="ns", least=0, most=1e9, multiple_of=0, tries=(0.1, 20.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="cell_ns", unit="ns", least=1e-6, most=1e9, multiple_of=0, tries=(0.01, 5.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="upload_gb_s", unit="GB/s", least=1e-3, most=1e6, multiple_of=0, tries=(10.0, 50.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="download_gb_s", unit="GB/s", least=1e-3, most=1e6, multiple_of=0, tries=(10.0, 50.0),
        algorithms=("auto",),
    ),
    TuningParameter(
        name="compact_shares_per_compute_unit", unit="work-groups", least=1, most=4096,
        tries=_doubling(1, 128),
    ),
    TuningParameter(
        name="compact_bytes_per_item", unit="bytes", least=16, most=128, multiple_of=16,
        tries=_doubling(16, 128), shape="groups",
    ),
    TuningParameter(
        name="shares_per_compute_unit", unit="work-groups", least=1, most=4096,
        tries=_doubling(1, 128), algorithms=_PRIMITIVES,
    ),
    TuningParameter(
        name="bytes_per_item", unit="bytes", least=16, most=128, multiple_of=16,
        tries=_doubling(16, 128), algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="chain_work_group_size", unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, *_doubling(64, 1024)), algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="chain_bytes_per_item", unit="bytes", least=16, most=128, multiple_of=16,
        tries=_doubling(16, 128), algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="chain_registers", unit="registers", least=0, most=255, tries=(0, 48, 56, 64, 80),
        algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="radix_bits", unit="bits", least=1, most=8, tries=(4, 5, 6, 7, 8),
        algorithms=_PRIMITIVES,
    ),
    TuningParameter(
        name="split_work_group_size", unit="work-items", least=1, most=1024, multiple_of=32,
        tries=(1, 64, 128, 256, 384, 512, 1024), algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="split_bytes_per_item", unit="bytes", least=4, most=128, multiple_of=4,
        tries=(16, 32, 48, 64, 96, 128), algorithms=_PRIMITIVES, shape="groups",
    ),
    TuningParameter(
        name="split_shares_per_compute_unit", unit="work-groups", least=1, most=4096,
        tries=_doubling(1, 64), algorithms=_PRIMITIVES,
    ),
)  # fmt: skip

PARAMETERS: Mapping[str, TuningParameter] = {one.name: one for one in _DECLARED}
"""All fields of a policy by name; a search goes through them in this order."""
