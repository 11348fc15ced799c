"""The OpenCL C types for the elements of a NumPy array, and the words in which kernels move them.

An element is a number or a structure with which kernels compute. A record is an element that
kernels only move and compare, word by word. The OpenCL C code for this is in
``cl/device/record.cl`` and ``cl/device/fields.cl``.
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
_UNSIGNED = {1: "uchar", 2: "ushort", 4: "uint", 8: "ulong"}  # unsigned types, by bytes
_VECTORS = (2, 4, 8, 16)
MAX_BYTES = 64  # so that elements of 256 work-items take 16 of the 32 KiB of local memory
WORD_BYTES = 4
_MOST_SHORT_BYTES = 16  # maximum number of bytes of a record whose words have 1 or 2 bytes
_MOST_ALIGNED = 16  # maximum number of bytes that a GPU loads at once
_SIZES = f"1 to {_MOST_SHORT_BYTES} bytes, or a multiple of {WORD_BYTES} up to {MAX_BYTES}"


def pair_of(
    first: Any, second: Any | None = None, names: tuple[str, str] = ("key", "index")
) -> Any:
    """Return the structured dtype of a pair: two fields without a gap between them.

    Parameters
    ----------
    first : dtype
        The dtype of the first field.
    second : dtype, optional
        The dtype of the second field. By default it is `first`.
    names : tuple of str
        The names of both fields.

    Returns
    -------
    numpy.dtype

    Raises
    ------
    InvalidArgumentError
        NumPy cannot make this dtype, for example because the names are equal.

    Examples
    --------
    >>> from clmst.primitives.element import pair_of
    >>> pair_of("float32", "uint32")
    dtype([('key', '<f4'), ('index', '<u4')])
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
    """A number within an element, or the element itself if the element is a number."""

    name: str  # NumPy's name of the field; "" if the element is a number itself
    dtype: np.dtype[Any]
    offset: int  # in bytes, from the beginning of the element

    @property
    def type(self) -> str:
        """The OpenCL C type of the number."""
        return _SCALARS[self.dtype.str[1:]]

    @property
    def end(self) -> int:
        """The offset in bytes of the first byte after the field."""
        return self.offset + self.dtype.itemsize


@dataclass(frozen=True, slots=True)
class Element:
    """The form in OpenCL C of the elements of a NumPy dtype: a scalar, a vector or a struct."""

    dtype: np.dtype[Any]
    fields: tuple[Field, ...]  # in the order of the dtype's names

    @property
    def is_struct(self) -> bool:
        """Whether the element is a struct in OpenCL C, not a scalar or a vector."""
        size = self.fields[0].dtype.itemsize
        return (
            len({field.dtype for field in self.fields}) > 1
            or len(self.fields) not in (1, *_VECTORS)
            or any(field.offset != size * k for k, field in enumerate(self.fields))
            or self.dtype.itemsize != size * len(self.fields)
        )

    @property
    def type(self) -> str:
        """The name of the OpenCL C type, if the element is a scalar or vector.

        For a struct, :class:`ElementTypes` chooses the name.
        """
        n_fields = len(self.fields)
        return self.fields[0].type + ("" if n_fields == 1 else str(n_fields))

    @property
    def has_doubles(self) -> bool:
        """Whether one of the fields is a double."""
        return any(field.type == "double" for field in self.fields)

    @property
    def held_type(self) -> str:
        """The OpenCL C type in which kernels keep an element in registers and in local memory.

        For a scalar or a vector, this is its own type. A struct is kept as a vector of 32-bit
        words, because some compilers lose structs in local memory (quirk: llvm-local-structs).
        """
        if not self.is_struct:
            return self.type
        if self.held_bytes <= WORD_BYTES:
            return _SCALARS[f"u{self.held_bytes}"]
        return f"uint{self.held_bytes // WORD_BYTES}"

    @property
    def held_bytes(self) -> int:
        """The size of `held_type` in bytes: the element's size, rounded up to a power of two."""
        return 1 << (self.dtype.itemsize - 1).bit_length()

    def member(self, field: Field) -> str:
        """Return the name of the struct's member for a field.

        The member has NumPy's name of the field, followed by "_", because names of macros never end
        in "_". If NumPy's name is not an identifier, the member's name is "Field" and a number.
        """
        is_name = field.name.isascii() and field.name.isidentifier()
        return f"{field.name}_" if is_name else f"Field{self.fields.index(field)}"

    @property
    def members(self) -> list[tuple[str, str, int, int]]:
        """The name, OpenCL C type, offset and size in bytes of each member of the struct.

        The members are in the order of their offsets. Each byte of a gap between two fields is a
        member of its own, so that a copy of a record has the bytes of its gaps, too.
        """
        placed = {byte: (f"Gap{byte}", "uchar", byte, 1) for byte in range(self.dtype.itemsize)}
        for one in self.fields:
            for byte in range(one.offset, one.end):
                del placed[byte]
            placed[one.offset] = (self.member(one), one.type, one.offset, one.dtype.itemsize)
        return [placed[offset] for offset in sorted(placed)]

    def definition(self, name: str) -> str:
        """Return the OpenCL C text that defines the struct `name` and the macros for the struct.

        The name of each macro begins with `name`. ``cl/device/fields.cl`` describes the macros.
        """
        size, held = self.dtype.itemsize, self.held_type
        words, unit = -(-size // WORD_BYTES), words_of(size).unit
        given = [f"value_{k}" for k in range(len(self.fields))]
        made = [
            f".{self.member(field)} = ({value})"
            for field, value in zip(self.fields, given, strict=True)
        ]
        taken = [
            f".{member} = as_{kind}(({_UNSIGNED[length]})({_bits(offset, length, held)}))"
            for member, kind, offset, length in self.members
        ]
        packed = [_packed_word(word, self.members) for word in range(words)]
        loaded = [_loaded_word(word, unit, size) for word in range(words)]
        stored = [
            f"units[{k}] = ({_UNSIGNED[unit]})({_word(k * unit // WORD_BYTES, held)}"
            f" >> {k * unit % WORD_BYTES * 8});"
            for k in range(size // unit)
        ]
        fields = " ".join(f"FIELD({kind}, {member})" for member, kind, *_ in self.members)
        alignment = min(size & -size, _MOST_ALIGNED)
        return "\n".join((
            f"#define {name}_FIELDS(FIELD) {fields}",
            f"#define {name}_LOAD(units) {_vector(held, loaded)}",
            f"#define {name}_STORE(units, held) {' '.join(stored)}",
            f"RECORD_TYPE({name}, {size}, {alignment}, {_UNSIGNED[unit]}, {held})",
            f"#define {name}_OF({', '.join(given)}) (({name}){{{', '.join(made)}}})",
            f"#define {name}_FROM(held) (({name}){{{', '.join(taken)}}})",
            f"#define {name}_HELD(record) {_vector(held, packed)}",
            f"#define {name}_AT(array, at) {name}_FROM({name}_held_at(array, at))",
            f"#define {name}_PUT(array, at, record) "
            f"{name}_put_held(array, at, {name}_HELD(record))",
        ))  # fmt: skip

    @property
    def listed(self) -> str:
        """The names and dtypes of all fields as a text, for messages."""
        return ", ".join(f"{field.name} ({field.dtype})" for field in self.fields)


# The following functions return OpenCL C expressions. The expressions compose and split words of 32
# bits by shifts, which all compilers keep in registers. Some compilers keep unions of a struct and
# a vector in memory.


def _word(k: int, held: str) -> str:
    """Return an OpenCL C expression for the 32-bit word `k` of a record.

    The record is in a variable called "held", whose type is `held`, such as "uint4".
    """
    if held in ("uchar", "ushort", "uint"):
        return "(uint)held"
    return f"held.s{k:x}"


def _bits(offset: int, length: int, held: str) -> str:
    """Return an OpenCL C expression for `length` bytes of a record, from byte `offset` on.

    The record is in a variable called "held", whose type is `held`. The bytes are the lowest bytes
    of the expression's value; its other bytes are arbitrary. The expression shifts only 32-bit
    words, because otherwise Intel's compiler for GPUs keeps records in memory.
    """
    if length <= WORD_BYTES:
        return _word_from(offset, length, held)
    low, high = (_word_from(at, WORD_BYTES, held) for at in (offset, offset + WORD_BYTES))
    return f"upsample({high}, {low})"


def _word_from(offset: int, length: int, held: str) -> str:
    """Return an OpenCL C expression for up to 4 bytes of a record, from byte `offset` on.

    The record is in a variable called "held", whose type is `held`. The `length` bytes are the
    lowest bytes of the expression's 32-bit value; its other bytes are arbitrary.
    """
    k, byte = divmod(offset, WORD_BYTES)
    low = f"{_word(k, held)} >> {8 * byte}"
    if byte + length <= WORD_BYTES:
        return low
    return f"({low} | {_word(k + 1, held)} << {32 - 8 * byte})"


def _packed_word(k: int, members: list[tuple[str, str, int, int]]) -> str:
    """Return an OpenCL C expression for the 32-bit word `k` of a struct called "record".

    The expression composes the word from the members that have bytes in it. `members` has the name,
    type, offset and size of each member.
    """
    parts = []
    for name, _, offset, length in members:
        bits, shift = f"as_{_UNSIGNED[length]}((record).{name})", 8 * (offset - WORD_BYTES * k)
        if 0 <= shift < 8 * WORD_BYTES:
            parts.append(f"(uint){bits} << {shift}")
        elif shift < 0 < shift + 8 * length:
            parts.append(f"(uint)({bits} >> {-shift})")
    return " | ".join(parts)


def _loaded_word(k: int, unit: int, size: int) -> str:
    """Return an OpenCL C expression for the 32-bit word `k` of a record in global memory.

    The record has `size` bytes. It is an array called "units" of integers of `unit` bytes.
    """
    first, count = k * WORD_BYTES // unit, min(WORD_BYTES, size - k * WORD_BYTES) // unit
    return " | ".join(f"(uint)units[{first + j}] << {8 * unit * j}" for j in range(count))


def _vector(held: str, words: list[str]) -> str:
    """Return an OpenCL C expression for a value of type `held` with these words, padded with zeros.

    `words` are expressions for the 32-bit words of the value.
    """
    length = int(held.removeprefix("uint") or 1) if held.startswith("uint") else 1
    padded = words + ["0"] * (length - len(words))
    return f"(({held})({', '.join(f'({word})' for word in padded)}))"


@cache
def element_of(dtype: np.dtype[Any]) -> Element:
    """Return the OpenCL C form of the elements of a dtype.

    The dtype is (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64, or a structure of these.
    Raises InvalidArgumentError if it is any other dtype, is not in the byte order of the host, has
    fields that overlap, or has an unsupported size.
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
    """Return the reason why kernels cannot compute with a dtype, or None if they can.

    `fields` are the numbers within the dtype. In the message, the reason follows the dtype.
    """
    for field in fields:
        if field.dtype.str[1:] not in _SCALARS or not field.dtype.isnative or field.dtype.subdtype:
            return f", whose field {field.name!r} is of {field.dtype}" if field.name else ""
    placed = sorted(fields, key=lambda field: field.offset)
    for field, following in pairwise(placed):
        if field.end > following.offset:
            return f", whose fields {field.name!r} and {following.name!r} overlap"
    return None if _has_words(dtype.itemsize) else f", of {dtype.itemsize} bytes"


def check_supported(dtype: np.dtype[Any], device: Device) -> None:
    """Raise UnsupportedDeviceError if elements of `dtype` have doubles and `device` does not.

    Raise InvalidArgumentError if kernels cannot compute with elements of this dtype on any device.
    """
    if element_of(dtype).has_doubles and not device.capabilities.doubles:
        raise UnsupportedDeviceError(
            f"{device.description} has no arithmetic on doubles, which elements of {dtype} need"
        )


class ElementTypes:
    """The OpenCL C types of all elements with which one program computes.

    Each structure gets a name of its own. The names begin with a capital letter, so they differ
    from all names in a caller's expressions, which are in lower case.
    """

    def __init__(self) -> None:
        self._structs: dict[np.dtype[Any], str] = {}

    def of(self, dtype: np.dtype[Any], name: str) -> str:
        """Return the OpenCL C name of the type of a dtype. A new struct is called `name`."""
        element = element_of(dtype)
        return self._structs.setdefault(dtype, name) if element.is_struct else element.type

    @property
    def definitions(self) -> str:
        """The OpenCL C text that defines all structures, or "" if there are none."""
        named = self._structs.items()
        return "\n".join(element_of(dtype).definition(name) for dtype, name in named)


# ---------------------------------------------------------------------------- records


@dataclass(frozen=True, slots=True)
class RecordWords:
    """The words in which kernels move a record: their number and their width."""

    count: int  # number of words, 1 to 16; 0 stands for values if records have no values
    unit: int = WORD_BYTES  # bytes per word: 4, or 2 or 1 if the size is not a multiple of 4

    def defines(self, role: str) -> dict[str, int]:
        """Return the macros of ``cl/device/record.cl`` for records or for values.

        `role` is "RECORD" or "VALUE", with which the names of the macros begin.
        """
        narrow = {} if self.unit == WORD_BYTES else {f"{role}_UNIT": self.unit}
        return {f"{role}_WORDS": self.count, **narrow}

    @property
    def chunks(self) -> int:
        """The number of chunks, of up to four words each, in which kernels move a record."""
        if self.unit < WORD_BYTES:
            return self.count
        return self.count // next(chunk for chunk in (4, 2, 1) if self.count % chunk == 0)


NO_WORDS = RecordWords(0)


def record_words(name: str, dtype: np.dtype[Any]) -> RecordWords:
    """Return the words in which kernels move records of `dtype`.

    Raise InvalidArgumentError if kernels cannot move records of this size. `name` is the name of
    the array, for the message.
    """
    size = dtype.itemsize
    if not _has_words(size):
        raise InvalidArgumentError(
            f"{name} has elements of {dtype}, {size} bytes each; they must have {_SIZES}"
        )
    return words_of(size)


def _has_words(size: int) -> bool:
    """Return whether kernels can move records of `size` bytes."""
    return 1 <= size <= (MAX_BYTES if size % WORD_BYTES == 0 else _MOST_SHORT_BYTES)


@cache
def words_of(size: int) -> RecordWords:
    """Return the words in which kernels move a record of `size` bytes, which must be supported."""
    unit = next(unit for unit in (WORD_BYTES, 2, 1) if size % unit == 0)
    return RecordWords(size // unit, unit)
