"""Elements, which kernels compute with, and records, which they move word by word.

The OpenCL C type of a NumPy dtype; host side of ``cl/device/record.cl`` and
``cl/device/fields.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from clmst.core.arguments import check_dtype, check_texts, shown
from clmst.core.errors import InvalidArgumentError, UnsupportedDeviceError
from clmst.runtime.device import Device

_SCALARS = {
    "u1": "uchar",
    "i1": "char",
    "u2": "ushort",
    "i2": "short",
    "u4": "uint",
    "i4": "int",
    "f4": "float",
    "u8": "ulong",
    "i8": "long",
    "f8": "double",
}
_VECTORS = (2, 4, 8, 16)
MAX_BYTES = 64  # a work-group of 256 keeps one element each in 32 KiB of local memory
WORD_BYTES = 4
_MOST_SHORT_BYTES = 16  # of records of words of 1 or 2 bytes
_MOST_ALIGNED = 16  # bytes that GPUs load at once
_SIZES = f"1 to {_MOST_SHORT_BYTES} bytes, or a multiple of {WORD_BYTES} up to {MAX_BYTES}"


def pair_of(
    first: Any, second: Any | None = None, names: tuple[str, str] = ("key", "index")
) -> Any:
    """Return the dtype of a pair: two fields that follow each other.

    Raises
    ------
    InvalidArgumentError
        NumPy makes no such dtype.
    """
    key = check_dtype("first", first)
    index = key if second is None else check_dtype("second", second)
    check_texts("names", names)
    try:
        return np.dtype([(names[0], key), (names[1], index)])
    except Exception as error:
        raise InvalidArgumentError(
            f"names are {shown(names)}; they must be two different strings"
        ) from error


# --------------------------------------------------------------------------- elements


@dataclass(frozen=True, slots=True)
class Field:
    """A number within an element."""

    name: str  # NumPy's; "" for an element that is a number itself
    dtype: np.dtype[Any]
    offset: int  # in bytes

    @property
    def type(self) -> str:
        """Its OpenCL C type."""
        return _SCALARS[self.dtype.str[1:]]

    @property
    def end(self) -> int:
        """The first byte after it."""
        return self.offset + self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Element:
    """The form in which OpenCL C has the elements of a dtype: a scalar, a vector or a struct."""

    dtype: np.dtype[Any]
    fields: tuple[Field, ...]  # in the order of NumPy's names

    @property
    def is_struct(self) -> bool:
        """Whether it is a struct, because no scalar and no vector has its fields."""
        size = self.fields[0].dtype.itemsize
        return (
            len({field.dtype for field in self.fields}) > 1
            or len(self.fields) not in (1, *_VECTORS)
            or any(field.offset != size * k for k, field in enumerate(self.fields))
            or self.dtype.itemsize != size * len(self.fields)
        )

    @property
    def type(self) -> str:
        """The type of the scalar or vector."""
        n_fields = len(self.fields)
        return self.fields[0].type + ("" if n_fields == 1 else str(n_fields))

    @property
    def has_doubles(self) -> bool:
        """Whether one of its numbers is a double."""
        return any(field.type == "double" for field in self.fields)

    @property
    def held_type(self) -> str:
        """The type in which kernels hold an element in registers and in local memory.

        It is the scalar or vector itself. A struct is held as a vector of words, since compilers
        lose structs in local memory (quirk: llvm-local-structs).
        """
        if not self.is_struct:
            return self.type
        if self.held_bytes <= WORD_BYTES:
            return _SCALARS[f"u{self.held_bytes}"]
        return f"uint{self.held_bytes // WORD_BYTES}"

    @property
    def held_bytes(self) -> int:
        """The size of `held_type`: that of the element, rounded up to a power of two."""
        return 1 << (self.dtype.itemsize - 1).bit_length()

    def member(self, field: Field) -> str:
        """Return the name of a field in the struct: NumPy's with a "_", as no macro ends in one."""
        is_name = field.name.isascii() and field.name.isidentifier()
        return f"{field.name}_" if is_name else f"Field{self.fields.index(field)}"

    def definition(self, name: str) -> str:
        """Return the macros of ``cl/device/fields.cl`` that define the struct under a name."""
        placed, end = [], 0
        for k, field in enumerate(sorted(self.fields, key=lambda field: field.offset)):
            if field.offset > end:
                placed.append(f"GAP({k}, {field.offset - end})")
            placed.append(f"FIELD({field.type}, {self.member(field)})")
            end = field.end
        size = self.dtype.itemsize
        if size > end:
            placed.append(f"GAP({len(self.fields)}, {size - end})")
        given = [f"value_{k}" for k in range(len(self.fields))]
        members = [
            f".{self.member(field)} = ({value})"
            for field, value in zip(self.fields, given, strict=True)
        ]
        alignment = min(size & -size, _MOST_ALIGNED)
        return "\n".join((
            f"#define {name}_FIELDS(FIELD, GAP) {' '.join(placed)}",
            f"RECORD_TYPE({name}, {size}, {alignment})",
            f"#define {name}_OF({', '.join(given)}) (({name}){{{', '.join(members)}}})",
        ))  # fmt: skip

    @property
    def listed(self) -> str:
        """The fields with their dtypes, for messages."""
        return ", ".join(f"{field.name} ({field.dtype})" for field in self.fields)


@cache
def element_of(dtype: np.dtype[Any]) -> Element:
    """Return the form of elements that kernels compute with, or raise InvalidArgumentError.

    Elements are (u)int8, (u)int16, (u)int32, (u)int64, float32 and float64, or structures of these.
    """
    within: Any = dtype.fields or {}
    names = dtype.names or ()
    fields = tuple(Field(name, *within[name][:2]) for name in names) or (Field("", dtype, 0),)
    why = _flaw(dtype, fields)
    if why is not None:
        raise InvalidArgumentError(
            f"elements are {dtype}{why}; they must be (u)int8, 16, 32 or 64, float32 or float64, "
            "in the machine's byte order, or a structure of such fields, which do not overlap, of "
            f"{_SIZES}"
        )
    return Element(dtype, fields)


def _flaw(dtype: np.dtype[Any], fields: tuple[Field, ...]) -> str | None:
    """Return what is wrong with a dtype as that of elements, or None."""
    for field in fields:
        if field.dtype.str[1:] not in _SCALARS or not field.dtype.isnative or field.dtype.subdtype:
            return f", whose field {field.name!r} is of {field.dtype}" if field.name else ""
    placed = sorted(fields, key=lambda field: field.offset)
    for field, following in pairwise(placed):
        if field.end > following.offset:
            return f", whose fields {field.name!r} and {following.name!r} overlap"
    return None if _has_words(dtype.itemsize) else f", of {dtype.itemsize} bytes"


def check_supported(dtype: np.dtype[Any], device: Device) -> None:
    """Raise unless kernels on `device` can compute with elements of this dtype."""
    if element_of(dtype).has_doubles and not device.capabilities.doubles:
        raise UnsupportedDeviceError(
            f"{device.description} has no arithmetic on doubles, which elements of {dtype} need"
        )


class ElementTypes:
    """The OpenCL C types of the elements that one program computes with.

    Each structure gets a name of its own, which no text of a caller can have, as such names are
    lower-case.
    """

    def __init__(self) -> None:
        self._structs: dict[np.dtype[Any], str] = {}

    def of(self, dtype: np.dtype[Any], name: str) -> str:
        """Return the type of a dtype. A structure that is new is named `name`."""
        element = element_of(dtype)
        return self._structs.setdefault(dtype, name) if element.is_struct else element.type

    @property
    def definitions(self) -> str:
        """The macros that define the structs; "" if there are none."""
        named = self._structs.items()
        return "\n".join(element_of(dtype).definition(name) for dtype, name in named)


# ---------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class RecordWords:
    """A record as kernels move it: a number of words of one width."""

    count: int  # 1 to 16; 0 for a value that is not there
    unit: int = WORD_BYTES  # 4; or 2 or 1, if the record has no multiple of 4 bytes

    def defines(self, role: str) -> dict[str, int]:
        """Return the macros of a role: RECORD or VALUE."""
        narrow = {} if self.unit == WORD_BYTES else {f"{role}_UNIT": self.unit}
        return {f"{role}_WORDS": self.count, **narrow}

    @property
    def chunks(self) -> int:
        """Pieces that kernels move a record in."""
        if self.unit < WORD_BYTES:
            return self.count
        return self.count // next(chunk for chunk in (4, 2, 1) if self.count % chunk == 0)


NO_WORDS = RecordWords(0)


def record_words(name: str, dtype: np.dtype[Any]) -> RecordWords:
    """Return the words of a record, or raise unless kernels move records of this dtype."""
    size = dtype.itemsize
    if not _has_words(size):
        raise InvalidArgumentError(
            f"{name} has elements of {dtype}, {size} bytes each; they must have {_SIZES}"
        )
    return words_of(size)


def _has_words(size: int) -> bool:
    return 1 <= size <= (MAX_BYTES if size % WORD_BYTES == 0 else _MOST_SHORT_BYTES)


@cache
def words_of(size: int) -> RecordWords:
    """Return the words of a record of a legal size in bytes."""
    unit = next(unit for unit in (WORD_BYTES, 2, 1) if size % unit == 0)
    return RecordWords(size // unit, unit)
