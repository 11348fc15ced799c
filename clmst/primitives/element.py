"""Elements, which kernels compute with, and records, which they move word by word.

The OpenCL C type of a NumPy dtype; host side of ``cl/device/record.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
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


def pair_of(
    first: Any, second: Any | None = None, names: tuple[str, str] = ("key", "index")
) -> Any:
    """Return the dtype of a pair: two fields, of one width, that follow each other.

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


@cache
def element_type(dtype: np.dtype[Any]) -> str:
    """Return the OpenCL C type of an element.

    Scalars are (u)int8, (u)int16, (u)int32, (u)int64, float32 and float64. A structured dtype of 2,
    4, 8 or 16 such fields is a vector of them; fields of one width but different kinds make a
    vector of unsigned integers, which an operator reads with ``as_float`` and the like. Raises
    InvalidArgumentError for any other dtype.
    """
    within: Any = dtype.fields or {}
    placed = [within[name][:2] for name in dtype.names or ()] or [(dtype, 0)]
    fields = [field for field, _ in placed]
    codes = {field.str[1:] for field in fields}
    width = dtype.itemsize // len(fields)
    if (
        not codes <= _SCALARS.keys()
        or any(field.itemsize != width or not field.isnative for field in fields)
        or any(offset != width * k for k, (_, offset) in enumerate(placed))
        or len(fields) not in (1, *_VECTORS)
        or dtype.itemsize != width * len(fields)
        or dtype.itemsize > MAX_BYTES
    ):
        raise InvalidArgumentError(
            f"elements are {dtype}; they must be (u)int8, 16, 32 or 64, float32, float64, or a "
            "structure of 2, 4, 8 or 16 of these of one width, in sequence, without "
            f"padding, of {MAX_BYTES} bytes at most"
        )
    scalar = _SCALARS[codes.pop() if len(codes) == 1 else f"u{width}"]
    return scalar if len(fields) == 1 else f"{scalar}{len(fields)}"


def check_supported(dtype: np.dtype[Any], device: Device) -> None:
    """Raise unless kernels on `device` can compute with elements of this dtype."""
    if element_type(dtype).startswith("double") and not device.capabilities.doubles:
        raise UnsupportedDeviceError(
            f"{device.description} has no arithmetic on doubles, which elements of {dtype} need"
        )


WORD_BYTES = 4
_MOST_SHORT_BYTES = 16  # of records of words of 1 or 2 bytes


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
    most = MAX_BYTES if size % WORD_BYTES == 0 else _MOST_SHORT_BYTES
    if not 1 <= size <= most:
        raise InvalidArgumentError(
            f"{name} has elements of {dtype}, {size} bytes each; they must have 1 to "
            f"{_MOST_SHORT_BYTES} bytes, or a multiple of {WORD_BYTES} up to {MAX_BYTES}"
        )
    return words_of(size)


@cache
def words_of(size: int) -> RecordWords:
    """Return the words of a record of a legal size in bytes."""
    unit = next(unit for unit in (WORD_BYTES, 2, 1) if size % unit == 0)
    return RecordWords(size // unit, unit)
