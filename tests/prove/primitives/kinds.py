"""Kinds of cases: one for each documented width, dtype, operator and strategy."""

from __future__ import annotations

from dataclasses import dataclass, replace

# Bytes of records and of values: 1 to 16, or a multiple of 4 up to 64.
SIZES = (*range(1, 17), *range(20, 65, 4))
# Of these with all others, and of all others with these, there are cases of every primitive.
_USUAL_SIZES = (1, 3, 4, 8, 16, 64)
INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
NUMBERS = (*INTEGERS, "f4", "f8")
# One kind in twelve is by a single work-item too, which takes programs of its own.
_SEQUENTIAL_EVERY = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What decides which programs a case takes."""

    primitive: str  # a public name of clmst.primitives
    dtype: str  # of the elements; "V12" is a record of 12 bytes
    value: str = ""  # of the values that go along, or of the results, if there are any
    how: str = ""  # what else there is to say, such as the operator
    strategy: str = "parallel"


def records(size: int) -> str:
    """Return the dtype of records of `size` bytes."""
    return f"V{size}"


def pairs(*, every: bool = False) -> list[tuple[str, str]]:
    """Return dtypes of a record and of its value, which is empty where there is none.

    Each size comes up as a record's and as a value's; with `every`, every pair of sizes.
    """
    return [
        (records(size), records(value) if value else "")
        for size in SIZES
        for value in (0, *SIZES)
        if every or size in _USUAL_SIZES or value in (0, *_USUAL_SIZES)
    ]


def by_turns(kinds: list[Kind]) -> list[Kind]:
    """Return kinds, every twelfth of them by a single work-item as well."""
    alone = [replace(one, strategy="sequential") for one in kinds[::_SEQUENTIAL_EVERY]]
    return [*kinds, *alone]
