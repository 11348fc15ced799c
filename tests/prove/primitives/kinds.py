"""Kinds of cases: one for each documented width, dtype, operator and strategy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Bytes of records and of values: 1 to 16, or a multiple of 4 up to 64.
SIZES = (*range(1, 17), *range(20, 65, 4))
# Of these with all others, and of all others with these, there are cases of every primitive.
_USUAL_SIZES = (1, 3, 4, 8, 16, 64)
INTEGERS = ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")
NUMBERS = (*INTEGERS, "f4", "f8")
# Records whose fields differ in type or width, or in number from vectors; a few vectors by
# names. The names of fields are words that programs use otherwise.
_FIELDS: dict[str, tuple[list[tuple[str, str]], bool]] = {  # and whether C would place them so
    "f4 u4": ([("weight", "f4"), ("id", "u4")], False),
    "i4 u4": ([("key", "i4"), ("index", "u4")], False),
    "f8 u8": ([("key", "f8"), ("index", "u8")], False),
    "u8 u4 u4": ([("f0", "u8"), ("f1", "u4"), ("f2", "u4")], False),
    "u4 f8": ([("T", "u4"), ("R", "f8")], False),
    "u4 f8, aligned": ([("int", "u4"), ("float", "f8")], True),
    "u1 f4": ([("s1", "u1"), ("x", "f4")], False),
    "u1 f4, aligned": ([("kernel", "u1"), ("lo", "f4")], True),
    "f8 i2": ([("a", "f8"), ("b", "i2")], False),
    "f8 i2, aligned": ([("b", "f8"), ("a", "i2")], True),
    "u2 f8 i2 f4": ([("min", "u2"), ("max", "f8"), ("length", "i2"), ("sum", "f4")], False),
    "i2 i8 f8 u2": ([("x", "i2"), ("y", "i8"), ("i", "f8"), ("w", "u2")], False),
    "i2 i8 f8 u2, aligned": ([("i", "i2"), ("y", "i8"), ("z", "f8"), ("w", "u2")], True),
    "f4 i1 u4 i4": ([("Record", "f4"), ("record", "i1"), ("result", "u4"), ("Gap0", "i4")], False),
    "u1 i1": ([("x", "u1"), ("y", "i1")], False),
    "i1 u2": ([("x", "i1"), ("y", "u2")], False),
    "3 f4": ([("x", "f4"), ("y", "f4"), ("z", "f4")], False),
    "5 u4": ([("a", "u4"), ("b", "u4"), ("c", "u4"), ("d", "u4"), ("e", "u4")], False),
    "2 u8": ([("first", "u8"), ("second", "u8")], False),
    "4 i2": ([("u", "i2"), ("v", "i2"), ("p", "i2"), ("q", "i2")], False),
    "u4": ([("only", "u4")], False),
    "f8 u4 6 f4 u8 i1 u2 u1 f8": (
        [("d", "f8"), ("n", "u4"), *((f"g{k}", "f4") for k in range(6)), ("wide", "u8"),
         ("tiny", "i1"), ("short", "u2"), ("byte", "u1"), ("end", "f8")], False,
    ),
}  # fmt: skip
RECORDS: dict[str, np.dtype[Any]] = {
    name: np.dtype(fields, align=aligned) for name, (fields, aligned) in _FIELDS.items()
}
RECORDS["f4 i4, backwards"] = np.dtype(
    {"names": ["late", "soon"], "formats": ["f4", "i4"], "offsets": [8, 0], "itemsize": 16}
)

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
    """Return dtypes of a record and of its value. The value's dtype is empty if there is none.

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
