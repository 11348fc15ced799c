"""Rules between the fields of a policy, and how fields follow a change of another one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from clmst.runtime.policy import Policy
from clmst.runtime.tuning_table import Number

# SAMPLES of cl/algorithms/filter_boruvka/sample.cl.
_SAMPLES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """A rule between fields, and how other fields follow a change of one."""

    text: str
    holds: Callable[[Policy], bool]
    mend: Callable[[Policy], Policy]


def _may_have(slots: int, work_group_size: int) -> bool:
    """Return whether a work-item may take this many slots of a tile (filter_boruvka/tiles.cl)."""
    return slots >= 256 if work_group_size == 1 else slots <= 16


_RULES = (
    _Rule(
        text=f"work_group_size divides {_SAMPLES}",
        holds=lambda p: _SAMPLES % p.work_group_size == 0,
        mend=lambda p: replace(p, work_group_size=32),
    ),
    _Rule(
        text=f"resident_work_group_size divides {_SAMPLES}",
        holds=lambda p: _SAMPLES % p.resident_work_group_size == 0,
        mend=lambda p: replace(p, resident_work_group_size=32),
    ),
    _Rule(
        text="slots_per_item is at most 16, but at least 256 where work_group_size is 1",
        holds=lambda p: _may_have(p.slots_per_item, p.work_group_size),
        mend=lambda p: replace(p, slots_per_item=256 if p.work_group_size == 1 else 16),
    ),
    _Rule(
        text="resident_slots_per_item is at most 16, but at least 256 where "
        "resident_work_group_size is 1",
        holds=lambda p: _may_have(p.resident_slots_per_item, p.resident_work_group_size),
        mend=lambda p: replace(
            p, resident_slots_per_item=256 if p.resident_work_group_size == 1 else 16
        ),
    ),
    _Rule(
        text="stage_capacity is at least work_group_size",
        holds=lambda p: p.stage_capacity >= p.work_group_size,
        mend=lambda p: replace(p, stage_capacity=p.work_group_size),
    ),
    _Rule(
        text="rows_per_item is 1 unless work_group_size is",
        holds=lambda p: p.rows_per_item == 1 or p.work_group_size == 1,
        mend=lambda p: replace(p, rows_per_item=1),
    ),
    _Rule(
        text="split_work_group_size is 1 where work_group_size is, and only there",
        holds=lambda p: (p.split_work_group_size == 1) == (p.work_group_size == 1),
        mend=lambda p: replace(p, split_work_group_size=p.work_group_size),
    ),
)


def conflicts(policy: Policy) -> list[str]:
    """Return the rules that a policy breaks, though each field alone may be legal."""
    return [rule.text for rule in _RULES if not rule.holds(policy)]


def fitted(policy: Policy, name: str, value: Number) -> Policy:
    """Return the policy with another value in one field, and the others fitted to it."""
    change: dict[str, Any] = {name: value}
    changed = replace(policy, **change)
    for rule in _RULES:
        if not rule.holds(changed):
            changed = rule.mend(changed)
    return changed


def changes(before: Policy, after: Policy) -> dict[str, Number]:
    """Return the fields in which a policy differs from another, with its values."""
    names = [field.name for field in fields(Policy)]
    return {n: getattr(after, n) for n in names if getattr(after, n) != getattr(before, n)}
