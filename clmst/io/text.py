"""Reading text files in blocks of whole lines, and converting the numbers in them.

NumPy converts all numbers of a block at once. If NumPy refuses a word, or if a number may not fit
into 64 bits, the words are converted one at a time and exactly, and an error names the wrong word.
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

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB are equally fast; 16 MiB takes 1.5 times as long
EXACT = 1e18  # integers above this may not fit into 64 bits

_INTEGER = re.compile(r"[+-]?[0-9]+")
_BARE_SIGN = re.compile(rb"[-+](?:\s|\Z)")
_INT64, _UINT64 = range(-(1 << 63), 1 << 63), range(1 << 64)
_SPACE, _NEWLINE = b" \n"
_OTHER_SPACES = b"\x1c\x1d\x1e\x1f"  # white space for str.split, but not for bytes.split

Word: TypeAlias = tuple[int, str]
"""A line number, counted from 1, and a word on that line."""


def blocks(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the text of `stream` in blocks of whole lines, as (number of the first line, bytes).

    A byte order mark is left out. Raises :class:`FileFormatError` if the text contains a zero byte.
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
                "the file holds bytes that are not text; it must be a text file, compressed only "
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
    """Split a line at white space and return the words as strings."""
    return [word.decode("latin-1") for word in line.split()]


def word_counts(lines: Sequence[bytes]) -> Array:
    """Return the number of words of each line."""
    text = np.frombuffer(b" %s\n" % b"\n".join(lines), np.uint8)
    is_space = text <= _SPACE
    begins = np.flatnonzero(is_space[:-1] & ~is_space[1:])
    ends = np.searchsorted(begins, np.flatnonzero(text == _NEWLINE))
    return np.diff(ends, prepend=0)


def line_error(line: int, message: str) -> FileFormatError:
    """Create an error whose message begins with a line number. The caller raises the error."""
    return FileFormatError(f"line {line}: {message}")


def word_error(word: Word, message: str) -> FileFormatError:
    """Create a :class:`FileFormatError` about a word of a file.

    The text of the error has the number of the line, the word in quotes, and then `message`.
    """
    line, text = word
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    return line_error(line, f"{shown!r} {message}")


# --------------------------------------------------------------------------- numbers


def table(
    lines: Sequence[bytes], dtype: npt.DTypeLike, delimiter: str | None = None
) -> Array | None:
    """Convert lines of numbers to a NumPy array, or return None if a line does not fit the dtype.

    Spaces and tabs separate the fields of a line, unless a `delimiter` is given.
    """
    text = b"".join(lines)
    # A text with unusual characters is left to a slower reader, because NumPy would take some of
    # them for spaces or digits.
    if not text.isascii() or len(text.translate(None, _OTHER_SPACES)) < len(text):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no rows; fractions of integers in NumPy 1.26
        try:
            return np.loadtxt(
                lines, dtype, comments=None, delimiter=delimiter, encoding="latin-1", ndmin=1
            )
        except (ValueError, Warning):
            return None


def numbers(lines: Sequence[bytes], at: Sequence[int], no_integer: str = "") -> Array:
    """Return all numbers on some lines as one flat array.

    `at` has the numbers of the lines in the file. The dtype is int64 if all numbers are integers,
    uint64 if all are integers and one is too large for int64, and otherwise float64, correctly
    rounded. If `no_integer` is not empty, all words must be integers, and it is the end of the
    message about a word that is not. Raises :class:`FileFormatError` if a word is not a number.
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
    """Convert a text of integers to an int64 array, in half the time of :func:`table`.

    Returns None if a word is not an integer, or if an integer may not fit into int64.
    """
    if (b"-" in text or b"+" in text) and _BARE_SIGN.search(text):
        return None  # NumPy would read a bare sign as part of the next number
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)  # NumPy 2.3 raises ValueError
        try:
            found = np.fromstring(text, np.int64, sep=" ")
        except (ValueError, DeprecationWarning):
            return None
    is_inside = _INT64[0] < int(found.min()) and int(found.max()) < _INT64[-1]
    return found if is_inside else None  # NumPy clips numbers beyond int64 to its ends


def exact(words: Sequence[Word], no_integer: str = "") -> Array:
    """Convert words to an array one at a time, exactly.

    This is slow, but an error names the word that is wrong. The dtype of the result and
    `no_integer` are as in :func:`numbers`.
    """
    integers = [int(text) if _is_integer(text) else None for _, text in words]
    is_signed = any(text.startswith("-") and text.strip("-0") for _, text in words)
    held = _INT64 if is_signed else _UINT64
    for word, number in zip(words, integers, strict=True):
        is_held = number is not None and number in held
        if no_integer and not is_held:
            raise word_error(word, no_integer)
        if _INTEGER.fullmatch(word[1]) and not is_held:
            raise word_error(
                word, "does not fit into 64 bits together with the other integers; all of them must"
            )
    if all(number is not None for number in integers):
        known: Iterable[Any] = integers
        return np.array(integers, np.int64 if max(known) in _INT64 else np.uint64)
    return np.array([_float(word) for word in words])


def _is_integer(text: str) -> bool:
    """Return whether the word `text` is an integer of at most 20 digits, leading zeros left out."""
    return bool(_INTEGER.fullmatch(text)) and len(text.lstrip("+-0")) <= 20


def _float(word: Word) -> float:
    _, text = word
    try:
        # Python's `float` would accept underscores, digits beyond ASCII, and spaces around a
        # number.
        if "_" in text or not text.isascii() or text != text.strip():
            raise ValueError  # noqa: TRY301
        number = float(text)
    except ValueError:
        raise word_error(word, "is not a number") from None
    if np.isinf(number) and text.lstrip("+-")[0] not in "iI":
        raise word_error(word, "is beyond the range of float64")
    return number


# --------------------------------------------------------------------------- growing

_LEAST = 1 << 10
_GROWTH = 8  # grows by an eighth: the system remaps the memory without copying


class GrowingArray:
    """A one-dimensional array to which the numbers of a file are appended part by part.

    The dtype is widened so that it holds every number exactly as it was read. The array takes only
    as much memory as the numbers need in the end. A list of parts that are concatenated at the end
    would take twice as much, and the memory of small parts, once freed, does not go back to the
    system.
    """

    def __init__(self) -> None:
        self._array: Array | None = None
        self._kinds: set[str] = set()
        self._low, self._high = 0, 0  # the range of the integers
        self.size = 0

    def append(self, part: Array) -> None:
        """Append the numbers in the array `part`."""
        self._kinds.add(part.dtype.kind)
        if part.dtype.kind in "iu" and part.size:
            self._low = min(self._low, int(part.min()))
            self._high = max(self._high, int(part.max()))
        size, old = self.size + part.size, self._array
        dtype = part.dtype if old is None else np.promote_types(old.dtype, part.dtype)
        if dtype.kind == "f" and self._kinds <= {"i", "u"} and self._low >= 0:
            dtype = np.dtype(np.uint64)  # NumPy promotes int64 with uint64 to float64
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
        """Return the numbers as an array, and leave this object empty.

        Raises :class:`FileFormatError` if the integers fit neither into int64 nor into uint64.
        """
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
