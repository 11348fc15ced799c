"""Text in blocks of whole lines, and the numbers in it.

NumPy reads all numbers of a block at once. Where it refuses one, or one may be beyond 64 bits,
words are read one at a time, exactly, and the wrong one is named.
"""

from __future__ import annotations

import codecs
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB are equally fast; 16 MiB takes half as long again
EXACT = 1e18  # greater integers may be beyond 64 bits

_INTEGER = re.compile(r"[+-]?[0-9]+")
_BARE_SIGN = re.compile(rb"[-+](?:\s|\Z)")
_INT64, _UINT64 = range(-(1 << 63), 1 << 63), range(1 << 64)
_SPACE, _NEWLINE = b" \n"

Word: TypeAlias = tuple[int, str]
"""The number of a line, counted from 1, and a word on it."""


def blocks(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield whole lines of a text in blocks, each after the number of its first line.

    A byte order mark is left out; a zero byte is an error.
    """
    line = 1
    for text in _whole_lines(stream):
        yield line, text
        line += int(np.count_nonzero(np.frombuffer(text, np.uint8) == _NEWLINE))


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    pieces: list[bytes] = []
    if stream.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        stream.seek(0)
    while piece := stream.read(BLOCK_BYTES):
        if b"\0" in piece:
            raise FileFormatError(
                "the file holds bytes that are no text; it must be a text file, compressed only "
                "where its name ends in .gz, .bz2, .xz or .zst"
            )
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pieces, piece[:cut]])
            pieces = []
        pieces.append(piece[cut:])
    if rest := b"".join(pieces):
        yield rest


def words_of(line: bytes) -> list[str]:
    """Return the words of a line."""
    return [word.decode("latin-1") for word in line.split()]


def word_counts(lines: Sequence[bytes]) -> Array:
    """Return the number of words of each line."""
    text = np.frombuffer(b" %s\n" % b"\n".join(lines), np.uint8)
    is_space = text <= _SPACE
    begins = np.flatnonzero(is_space[:-1] & ~is_space[1:])
    ends = np.searchsorted(begins, np.flatnonzero(text == _NEWLINE))
    return np.diff(ends, prepend=0)


def line_error(line: int, message: str) -> FileFormatError:
    """Make an error that names a line."""
    return FileFormatError(f"line {line}: {message}")


def word_error(word: Word, message: str) -> FileFormatError:
    """Make an error about a word; `message` comes after the word itself."""
    line, text = word
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    return line_error(line, f"{shown!r} {message}")


# --------------------------------------------------------------------------- numbers


def table(
    lines: Sequence[bytes], dtype: npt.DTypeLike, delimiter: str | None = None
) -> Array | None:
    """Return the rows of some lines, or None if these have anything else.

    Fields stand between spaces and tabs, or delimiters.
    """
    if not all(map(bytes.isascii, lines)):  # other letters may be spaces, or digits, elsewhere
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of no rows; of integers, by NumPy 1.26, with a fraction
        try:
            return np.loadtxt(
                lines, dtype, comments=None, delimiter=delimiter, encoding="latin-1", ndmin=1
            )
        except (ValueError, Warning):
            return None


def numbers(lines: Sequence[bytes], at: Sequence[int], no_integer: str = "") -> Array:
    """Return all numbers on some lines, whose own numbers are `at`.

    They are int64, or uint64 if one needs it, if all are integers, else float64, correctly rounded.
    If all must be integers, `no_integer` is what is said of a word that is none.
    """
    text = b" ".join(lines).replace(b"\r", b" ")
    if text.isspace() or not text:
        return np.zeros(0, np.int64)
    found = _integers(text)
    if found is None and not no_integer:
        found = table([text], np.float64)
        found = found if found is not None and (np.abs(found) < EXACT).all() else None
    if found is None:
        pairs = zip(at, map(words_of, lines), strict=True)
        found = exact([(line, word) for line, words in pairs for word in words], no_integer)
    return found


def _integers(text: bytes) -> Array | None:
    """Return the integers of a text, or None unless all are such, in half the time of a table."""
    if (b"-" in text or b"+" in text) and _BARE_SIGN.search(text):
        return None  # NumPy takes it for the sign of the next number
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # what NumPy raises from 2.3 on
        try:
            found = np.fromstring(text, np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    is_inside = _INT64[0] < int(found.min()) and int(found.max()) < _INT64[-1]
    return found if is_inside else None  # NumPy takes an end for what lies beyond


def exact(words: Sequence[Word], no_integer: str = "") -> Array:
    """Read words one at a time, or find the one that is wrong; as :func:`numbers`, but slow."""
    integers = [int(text) if _is_integer(text) else None for _, text in words]
    is_signed = any(text.startswith("-") and text.strip("-0") for _, text in words)
    held = _INT64 if is_signed else _UINT64
    for word, number in zip(words, integers, strict=True):
        is_held = number is not None and number in held
        if no_integer and not is_held:
            raise word_error(word, no_integer)
        if _INTEGER.fullmatch(word[1]) and not is_held:
            raise word_error(
                word, "does not fit into 64 bits; integers must, together with the others"
            )
    if all(number is not None for number in integers):
        known: Iterable[Any] = integers
        return np.array(integers, np.int64 if max(known) in _INT64 else np.uint64)
    return np.array([_float(word) for word in words])


def _is_integer(text: str) -> bool:
    """Return whether a word is an integer of not too many digits to be computed."""
    return bool(_INTEGER.fullmatch(text)) and len(text.lstrip("+-0")) <= 20


def _float(word: Word) -> float:
    _, text = word
    try:
        if "_" in text or not text.isascii():  # which Python takes for numbers
            raise ValueError  # noqa: TRY301
        number = float(text)
    except ValueError:
        raise word_error(word, "is not a number") from None
    if np.isinf(number) and text.lstrip("+-")[0] not in "iI":
        raise word_error(word, "is beyond the range of float64")
    return number


# --------------------------------------------------------------------------- growing

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
