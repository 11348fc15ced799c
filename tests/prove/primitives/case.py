"""A case of a primitive: a kind, a length and the draws of all else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any, ClassVar

from clmst import Device
from tests.prove.draws import Draws
from tests.prove.primitives import fields, maps, orders, scans, selections
from tests.prove.primitives.bench import Bench
from tests.prove.primitives.kinds import Kind

PER_KIND = 30  # cases of each kind, in a row: a process then builds few programs
VARIANTS = ("native", "gpu-shape", "no-lanes")  # primitives do not use 64-bit atomics
_FAMILIES: tuple[Any, ...] = (selections, orders, scans, maps, fields)
_FAMILY_OF = {kind.primitive: family for family in _FAMILIES[:-1] for kind in family.KINDS}
# Tiles are a few times a power of two long: 2**a * k + d for all small k and d. One case in eight
# goes on to longer arrays, of elements that are not too long.
_USUAL, _LONG, _LONGEST = 11, 14, 17
_MOST_BYTES = 1 << 21


@dataclass(frozen=True, kw_only=True)
class PrimitiveCase:
    """One call of a primitive."""

    subject: ClassVar[str] = "primitives"
    kind: Kind
    variant: str
    length: int  # elements of its inputs
    key: int  # of the draws of data, outputs and options

    @property
    def named(self) -> str:
        """Primitive and strategy in one."""
        return f"{self.kind.primitive}: {self.kind.strategy}"

    def __str__(self) -> str:
        kind = self.kind
        value = f" and {kind.value}" if kind.value else ""
        how = f", {kind.how}" if kind.how else ""
        return f"{self.named}, {self.length} of {kind.dtype}{value}{how}; {self.variant}"

    @property
    def counted(self) -> tuple[str, ...]:
        """What it counts as, as "table/entry"."""
        kind, size = self.kind, 0 if self.length == 0 else 1 << self.length.bit_length() - 1
        what = f"{kind.dtype} {kind.how}".strip()
        return (
            f"primitive/{kind.primitive}",
            f"strategy/{kind.strategy}",
            f"length/{size:06} and more",
            f"variant/{self.variant}",
            f"kind/{kind.primitive}, {what}, {kind.value or 'no values'}, {kind.strategy}",
        )

    def as_json(self) -> dict[str, Any]:
        """Return the case as JSON, for :meth:`of_json`."""
        return {"subject": self.subject, **asdict(self)}

    @classmethod
    def of_json(cls, record: dict[str, Any]) -> PrimitiveCase:
        """Return the case that a record is of."""
        named = {name: record[name] for name in ("variant", "length", "key")}
        return cls(kind=Kind(**record["kind"]), **named)

    @property
    def sizes(self) -> dict[str, int]:
        """What there is to take away from it."""
        return {"elements": self.length}

    def smaller(self, part: int) -> Iterator[PrimitiveCase]:
        """Yield the same on shorter arrays, `part` elements less."""
        if self.length >= part:
            yield replace(self, length=self.length - part)

    def compare(self, device: Device) -> tuple[str | None, int]:
        """Call it; return what was wrong, and how many results were compared."""
        return run(self.kind, Bench(device, Draws(self.key), self.length)), 1


def run(kind: Kind, bench: Bench) -> str | None:
    """Call a primitive on what a bench draws; return what is wrong with its results, or None."""
    family = fields if kind.how.startswith(fields.BY_FIELDS) else _FAMILY_OF[kind.primitive]
    wrong: str | None = family.run(kind, bench)
    return wrong


@cache
def kinds() -> tuple[Kind, ...]:
    """Return all kinds."""
    return tuple(kind for family in _FAMILIES for kind in family.KINDS)


@cache
def _order(seed: int, cycle: int) -> tuple[Kind, ...]:
    return tuple(Draws(seed, 7, cycle).shuffled(kinds()))


def case_of(seed: int, number: int) -> PrimitiveCase:
    """Return a case: a pure function of seed and number. Kinds take turns, in random order."""
    turn = number // PER_KIND
    cycle, index = divmod(turn, len(kinds()))
    kind, draws = _order(seed, cycle)[index], Draws(seed, 8, number)
    return PrimitiveCase(
        kind=kind,
        variant=VARIANTS[(turn + cycle) % len(VARIANTS)],
        length=_length(draws, kind),
        key=draws.word(),
    )


def _length(draws: Draws, kind: Kind) -> int:
    most = _USUAL
    if draws.one_in(8):
        most = _LONGEST if draws.one_in(6) else _LONG
    length = (1 + draws.below(5) << draws.below(most + 1)) + draws.below(5) - 2
    sizes = [int(one[1:]) for one in (kind.dtype, kind.value) if one]
    return max(min(length, _MOST_BYTES // max(sizes, default=16)), 0)
