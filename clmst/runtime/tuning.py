"""The choice of policies: by which table, and which of their fields depend on others; and costs.

From the least to the most specific: the values of its kind (``policy.py``), the shipped entry of
its vendor and kind, the shipped entry of its name (``tuning_table.py``), the user's own of its
name, platform and driver (``tuning_file.py``). Each field comes from the last of these that has it.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from clmst import __version__
from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.runtime import policy, tuning_file
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import PARAMETERS, Number, Policy
from clmst.runtime.tuning_table import SHIPPED, Entry

if TYPE_CHECKING:
    from clmst.runtime.device import Device

Source: TypeAlias = Literal["given", "user", "device", "vendor", "default"]


class TuningWarning(UserWarning):
    """Something in the user's table of tuned values cannot be used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The names by which a device is found, as it reports them; the vendor's is the platform's."""

    device: str
    platform: str
    vendor: str
    driver: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """A policy, and where it comes from."""

    policy: Policy
    source: Source  # the most specific table with an entry for the device
    title: str  # what that table's entry is for, in a few words
    measured: str = ""  # what it was measured on; empty if unknown
    note: str = ""  # why the user's own entry of that name, if any, is not used

    @property
    def description(self) -> str:
        """Source and title in one."""
        words: dict[Source, str] = {
            "given": "given by the caller",
            "user": "your own",
            "device": f"shipped for {self.title}",
            "vendor": f"shipped for {self.title}",
            "default": "default of its kind",
        }
        return f"{words[self.source]} ({self.note})" if self.note else words[self.source]


def look_up(identity: Identity, capabilities: Capabilities) -> Tuning:
    """Return the policy of a device; warn once of all that cannot be used of the user's table."""
    found = shipped(identity, capabilities)
    path = tuning_file.user_path()
    try:
        entries, problems = tuning_file.read(path)
    except FileFormatError as error:
        _tell(f"{error}; the tuning table is ignored")
        return found
    for entry in entries:
        if (entry.device, entry.platform) != (identity.device, identity.platform):
            continue
        if entry.driver != identity.driver:
            if found.source != "user":
                found = replace(found, note=f"your own is of driver {entry.driver}")
            continue
        if entry.clmst != __version__:
            problems.append(
                f"the values for {entry.device} are of clmst {entry.clmst}, this is {__version__}"
            )
            continue
        own = _overlaid(found, entry, "user")
        if broken := conflicts(own.policy):
            problems.append(f"the values for {entry.device} do not go together: {broken[0]}")
        elif entry.values:
            found = own
    if problems:
        _tell(f"{path}: {'; '.join(problems)}; these are ignored, `clmst tune` measures anew")
    return found


def shipped(
    identity: Identity, capabilities: Capabilities, table: tuple[Entry, ...] = SHIPPED
) -> Tuning:
    """Return the policy of a device without the user's own table."""
    kind = capabilities.kind
    found = Tuning(policy=policy.choose(capabilities), source="default", title=kind)
    if capabilities.max_work_group_size < policy.LEAST_WORK_GROUP:
        return found  # tables are for devices that have work-groups
    of_vendor = [e for e in table if e.device is None and e.vendor == identity.vendor]
    of_device = [e for e in table if e.device == identity.device]
    levels: tuple[tuple[Source, list[Entry]], ...] = (("vendor", of_vendor), ("device", of_device))
    for source, entries in levels:
        for entry in entries:
            if entry.kind in (None, kind) and entry.vendor in (None, identity.vendor):
                found = _overlaid(found, entry, source)
    return found


def _overlaid(below: Tuning, entry: Entry, source: Source) -> Tuning:
    values: dict[str, Any] = dict(entry.values)
    return Tuning(
        policy=replace(below.policy, **values),
        source=source,
        title=entry.title,
        measured=entry.measured,
    )


@cache
def _tell(message: str) -> None:
    """Warn once in a process: all devices look into the same table."""
    warnings.warn(message, TuningWarning, stacklevel=2)


# ---------------------------------------------------------------------- rules between fields

# SAMPLES of cl/algorithms/filter_boruvka/sample.cl.
_SAMPLES = 1024


def _dividing(work_group_size: int) -> int:
    return work_group_size if _SAMPLES % work_group_size == 0 else 32


def _of_tile(slots: int, work_group_size: int) -> int:
    """Return the nearest number of slots of a tile that a work-item takes (tiles.cl)."""
    return max(slots, 256) if work_group_size == 1 else min(slots, 16)


def _rules(p: Policy) -> list[tuple[str, str, int]]:
    """Return fields, what each has to be, and a value that is so: its own where that may stay."""
    size, resident, split = p.work_group_size, p.resident_work_group_size, p.split_work_group_size
    tile = "is at most 16, but at least 256 where"
    return [
        ("work_group_size", f"divides {_SAMPLES}", _dividing(size)),
        ("resident_work_group_size", f"divides {_SAMPLES}", _dividing(resident)),
        ("slots_per_item", f"{tile} work_group_size is 1", _of_tile(p.slots_per_item, size)),
        (
            "resident_slots_per_item",
            f"{tile} resident_work_group_size is 1",
            _of_tile(p.resident_slots_per_item, resident),
        ),
        ("stage_capacity", "is at least work_group_size", max(p.stage_capacity, size)),
        ("rows_per_item", "is 1 unless work_group_size is", p.rows_per_item if size == 1 else 1),
        (
            "split_work_group_size",
            "is 1 where work_group_size is, and only there",
            split if (split == 1) == (size == 1) else size,
        ),
    ]


def conflicts(policy: Policy) -> list[str]:
    """Return the rules that a policy breaks, though each field alone may be legal."""
    return [
        f"{name} {rule}" for name, rule, value in _rules(policy) if getattr(policy, name) != value
    ]


def fitted(policy: Policy, name: str, value: Number) -> Policy:
    """Return the policy with another value in one field, and the others fitted to it."""
    change: dict[str, Any] = {name: value}
    while change:  # what follows a change has no other that follows it back
        policy = replace(policy, **change)
        change = {n: v for n, _, v in _rules(policy) if getattr(policy, n) != v}
    return policy


def changes(before: Policy, after: Policy) -> dict[str, Number]:
    """Return the fields in which a policy differs from another, with its values."""
    return {n: getattr(after, n) for n in PARAMETERS if getattr(after, n) != getattr(before, n)}


# ------------------------------------------------------------------------------ costs by them


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """The costs of solves and transfers on a device."""

    solve_ms: float  # the fixed time of a solve
    edge_ns: float  # for an edge of a sparse graph
    vertex_ns: float
    cell_ns: float  # for a cell of `dense`
    upload_ns: float  # for a byte from the host
    download_ns: float
    host: bool  # whether the device computes on the host's own cores

    @classmethod
    def of(cls, device: Device) -> Costs:
        """Return the costs of a device by the tuning tables."""
        tuning = device.policy
        copies = device.capabilities.host_arrays == "copied"
        return cls(
            solve_ms=1e-3 * tuning.solve_us,
            edge_ns=tuning.edge_ns,
            vertex_ns=tuning.vertex_ns,
            cell_ns=tuning.cell_ns,
            upload_ns=1 / tuning.upload_gb_s if copies else 0.0,
            download_ns=1 / tuning.download_gb_s if copies else 0.0,
            host=device.capabilities.kind == "cpu",
        )

    @property
    def has_dense_parts(self) -> bool:
        """Whether `dense` is quicker at least if all pairs are edges."""
        return 2 * self.cell_ns < self.edge_ns

    def is_dense(self, sizes: Array, edges: Array) -> Array:
        """Return whether `dense` is quicker for parts, by their numbers of vertices and edges."""
        return edges * self.edge_ns > sizes.astype(np.float64) ** 2 * self.cell_ns

    def sparse(self, n: int, m: int) -> float:
        """Return the time of a sparse graph of n vertices and m edges on the device."""
        return self.solve_ms + 1e-6 * (n * self.vertex_ns + m * self.edge_ns)

    def dense(self, n: int) -> float:
        """Return the time of `dense` for n vertices."""
        return self.solve_ms + 1e-6 * n * n * self.cell_ns
