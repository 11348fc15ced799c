"""Numbers in text: columns of tokens at once, and columns that grow block by block.

NumPy reads the text of a block in one pass. Where it refuses a token, or a number may be beyond 64
bits, the tokens are read one at a time, exactly, and the wrong one is named. pyarrow, if it is
installed, reads a block of rows in less time, in a quarter of it if they have fractions.
"""

from __future__ import annotations

import re
import warnings
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array
from clmst.io.text import Block

ARROW_BYTES = 1 << 17  # of a block: below, pyarrow's import would take longer than it saves
_EXACT = 1e18  # greater integers may be beyond 64 bits
_FRACTION = re.compile(rb"[.eEnNiI]")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_INT64, _UINT64 = range(-(1 << 63), 1 << 63), range(1 << 64)


def parse(text: bytes, dtype: npt.DTypeLike, count: int) -> Array | None:
    """Return the `count` numbers of a text, or None if it has anything else."""
    with warnings.catch_warnings():  # NumPy below 2.3 warns where later versions raise
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            # The last number shows that all before it were read to their ends.
            values = np.fromstring(text + b" 0", dtype, sep=" ")
        except ValueError:
            return None
    return values[:-1] if values.size == count + 1 else None


def parse_int64(text: bytes, count: int) -> Array | None:
    """Return the integers of a text, or None unless all are within int64 and not at its ends."""
    values = parse(text, np.int64, count)
    if values is None or not count:
        return values
    is_inside = _INT64[0] < int(values.min()) and int(values.max()) < _INT64[-1]
    return values if is_inside else None  # NumPy takes an end for what lies beyond


def integers(block: Block, tokens: Array, wrong: str) -> Array:
    """Read tokens as int64, or all as uint64 if one needs it; `wrong` is the message otherwise."""
    values = parse_int64(block.extract(tokens), tokens.size)
    if values is not None:
        return values
    words = [block.word(token) for token in tokens.tolist()]
    exact = [int(word) if _is_integer(word) else None for word in words]
    kept = _UINT64 if all(number is None or number >= 0 for number in exact) else _INT64
    for token, number in zip(tokens.tolist(), exact, strict=True):
        if number is None or number not in kept:
            raise block.token_error(token, wrong)
    return _integer_array(exact)


def _is_integer(word: str) -> bool:
    """Return whether a word is an integer of not too many digits to be computed."""
    return bool(_INTEGER.fullmatch(word)) and len(word.lstrip("+-0")) <= 20


def _integer_array(numbers: list[Any]) -> Array:
    return np.array(numbers, np.int64 if max(numbers) in _INT64 else np.uint64)


def numbers(block: Block, tokens: Array) -> Array:
    """Read tokens as integers if all are, else as float64, correctly rounded."""
    text = block.extract(tokens)
    values = parse_int64(text, tokens.size)
    if values is None:
        values = parse(text, np.float64, tokens.size)
        if values is None or not (np.abs(values) < _EXACT).all():
            return _exact_numbers(block, tokens)
    return values


def _exact_numbers(block: Block, tokens: Array) -> Array:
    """Read tokens one at a time, or find the one that is wrong; slow."""
    words = [block.word(token) for token in tokens.tolist()]
    are_integers = all(map(_INTEGER.fullmatch, words))
    is_signed = any(word.startswith("-") and word.strip("-0") for word in words)
    for token, word in zip(tokens.tolist(), words, strict=True):
        held = _INT64 if is_signed else _UINT64
        if _INTEGER.fullmatch(word) and not (_is_integer(word) and int(word) in held):
            raise block.token_error(
                token, "does not fit into 64 bits; integers must, together with the others"
            )
    if are_integers:
        return _integer_array([int(word) for word in words])
    values = []
    for token, word in zip(tokens.tolist(), words, strict=True):
        try:
            if "_" in word or not word.isascii():  # which Python takes for numbers
                raise ValueError  # noqa: TRY301
            values.append(float(word))
        except ValueError:
            raise block.token_error(token, "is not a number") from None
        if np.isinf(values[-1]) and word.lstrip("+-")[0] not in "iI":
            raise block.token_error(token, "is beyond the range of float64")
    return np.array(values)


# ----------------------------------------------------------------------- rows


@cache
def _pyarrow() -> tuple[Any, Any] | None:
    """Return pyarrow and its parser of CSV, if they are installed."""
    try:
        return import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None


def arrow_rows(text: bytes, letters: bytes = b"") -> list[Array] | None:
    """Return the columns of a text that has nothing but rows; None where pyarrow may not read it.

    Two columns are int64, and perhaps one is int64 or float64. One of the letters begins each row,
    the same one in all, unless a digit does. pyarrow's parser would take 0x1f for a number, and a
    single carriage return for the end of a row.
    """
    modules = _pyarrow() if len(text) >= ARROW_BYTES else None
    if modules is None or b"x" in text or b"X" in text:
        return None
    if b"\r" in text and text.count(b"\r") != text.count(b"\r\n"):
        return None
    first = text[: text.find(b"\n")].rstrip()
    delimiter = next((one for one in (b",", b"\t", b" ") if one in first), b"?")
    fields = first.split(delimiter)
    letter = fields.pop(0) if letters and not text[:1].isdigit() else b""
    if len(fields) not in (2, 3) or (letter and (len(letter) > 1 or letter not in letters)):
        return None
    pyarrow, csv = modules
    types = dict.fromkeys("uvw"[: len(fields)], pyarrow.int64())
    if _FRACTION.search(fields[-1]):
        types[[*types][-1]] = pyarrow.float64()
    names = [*letter.decode(), *types]
    try:
        table = csv.read_csv(
            pyarrow.BufferReader(text),
            # One block has nothing to share out: threads took 1.3 times the processor time.
            csv.ReadOptions(column_names=names, block_size=len(text), use_threads=False),
            csv.ParseOptions(delimiter=delimiter.decode(), quote_char=False),
            csv.ConvertOptions(
                column_types=types, include_columns=[*types], null_values=[], check_utf8=False
            ),
        )
    except (pyarrow.ArrowException, ValueError):
        return None
    columns: list[Array] = [column.to_numpy() for column in table.columns]
    if letter and _count_lines(text, letter + delimiter) != table.num_rows:
        return None
    is_exact = columns[-1].dtype.kind == "i" or (np.abs(columns[-1]) < _EXACT).all()
    return columns if is_exact and columns[1].dtype.kind == "i" else None


def _count_lines(text: bytes, begin: bytes) -> int:
    """Return how many lines begin with these two bytes."""
    array = np.frombuffer(text, np.uint8)
    found = array[:-2] == ord("\n")
    found &= array[1:-1] == begin[0]
    found &= array[2:] == begin[1]
    return int(np.count_nonzero(found)) + text.startswith(begin)


# -------------------------------------------------------------------- growing

_LEAST = 1 << 10
_GROWTH = 8  # by an eighth each time: the system moves the memory without copying it


class GrowingArray:
    """Numbers of a file, part after part; of a dtype that holds each of them as it was read.

    It takes the memory that the numbers need in the end. A list of parts that are joined takes
    twice as much, and the memory of small parts, once freed, does not go back to the system.
    """

    def __init__(self) -> None:
        self._array: Array | None = None
        self._kinds: set[str] = set()
        self._low, self._high = 0, 0  # of integers
        self.size = 0

    def append(self, part: Array) -> None:
        """Add numbers behind the others."""
        self._kinds.add(part.dtype.kind)
        if part.dtype.kind in "iu" and part.size:
            self._low = min(self._low, int(part.min()))
            self._high = max(self._high, int(part.max()))
        size, old = self.size + part.size, self._array
        dtype = part.dtype if old is None else np.promote_types(old.dtype, part.dtype)
        if dtype.kind == "f" and self._kinds <= {"i", "u"} and self._low >= 0:
            dtype = np.dtype(np.uint64)  # NumPy makes floats of int64 together with uint64
        if old is None or old.dtype != dtype:
            self._array = np.empty(max(size + size // _GROWTH, _LEAST), dtype)
            if old is not None:
                self._array[: self.size] = old[: self.size]
        elif old.size < size:
            old.resize(size + size // _GROWTH, refcheck=False)
        assert self._array is not None
        self._array[self.size : size] = part
        self.size = size

    def take(self) -> Array:
        """Return the numbers; then there are none here any more."""
        if {"i", "u"} == self._kinds and self._low < 0 and self._high >= 1 << 63:
            raise FileFormatError(
                f"the integers range from {self._low} to {self._high}; "
                "all must fit into int64, or all into uint64"
            )
        array, self._array = self._array, None
        if array is None:
            return np.zeros(0, np.int64)
        array.resize(self.size, refcheck=False)
        self.size = 0
        return array
