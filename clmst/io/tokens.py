"""Text as arrays: where each token of a block of lines starts and ends, and what it means.

No line and no token of a well-formed file is ever a Python object. A file is taken in blocks that
stay in cache: one pass finds the borders of all tokens, and numbers are put together one decimal
place at a time, for all tokens of a column at once.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB read equally fast, 16 MiB half as fast again

_SPACE = 32  # it and all below it separate tokens
_PLUS, _MINUS = b"+-"
_SAFE_DIGITS = 18  # every number of so many digits is below 2**63
_FLOATS_AT_ONCE = 1 << 20  # bytes of the table that floats are read from

_EMPTY_FIELD = re.compile(rb"^[ \t]*,|,[ \t]*(?=[,\r\n]|\Z)", re.MULTILINE)
_COMMA_TO_SPACE = bytes.maketrans(b",", b" ")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Block:
    """Some whole lines of a text and the borders of their tokens.

    Attributes
    ----------
    text : ndarray of uint8
    first_line : int
        The number of line 0 of the block in the file, counted from 1.
    starts, ends : ndarray of int64, shape (n_tokens,)
        Token t is ``text[starts[t]:ends[t]]``.
    heads : ndarray of int64, shape (n_lines,)
        The first token of each line.
    counts : ndarray of int64, shape (n_lines,)
        How many tokens each line has.
    """

    text: npt.NDArray[np.uint8]
    first_line: int
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]

    @property
    def n_lines(self) -> int:
        """Number of lines, blank ones included."""
        return self.heads.size

    def initials(self) -> npt.NDArray[np.uint8]:
        """Return the first byte of each line's first token, 0 for blank lines."""
        initials = np.zeros(self.n_lines, np.uint8)
        written = self.counts > 0
        initials[written] = self.text[self.starts[self.heads[written]]]
        return initials

    def word(self, token: int) -> str:
        """Return one token."""
        return self.text[self.starts[token] : self.ends[token]].tobytes().decode("latin-1")

    def words(self, line: int) -> list[str]:
        """Return the tokens of one line of the block."""
        head = int(self.heads[line])
        return [self.word(token) for token in range(head, head + int(self.counts[line]))]

    def error(self, line: int, message: str) -> FileFormatError:
        """Make an error that names one line of the block."""
        return FileFormatError(f"line {self.first_line + line}: {message}")

    def token_error(self, token: int, message: str) -> FileFormatError:
        """Make an error about one token; `message` comes after the token itself."""
        line = int(np.searchsorted(self.heads, token, side="right")) - 1
        word = self.word(token)
        shown = word if len(word) <= 40 else f"{word[:40]}..."
        return self.error(line, f"{shown!r} {message}")


# ----------------------------------------------------------------------- blocks


def blocks(stream: BinaryIO, *, commas: bool = False) -> Iterator[Block]:
    """Yield the lines of `stream` in blocks of about `BLOCK_BYTES`.

    Parameters
    ----------
    stream : binary file
    commas : bool
        Commas separate tokens too; two in a row are an error.

    Raises
    ------
    FileFormatError
        The stream holds a zero byte, so it is no text, or an empty field.
    """
    line = 1
    for text in _whole_lines(stream):
        if b"\0" in text:
            raise FileFormatError("the file holds bytes that are no text; it must be a text file")
        block = scan(_without_commas(text, line) if commas else text, line)
        yield block
        line += block.n_lines


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of `stream` in pieces that end with a line, without a byte order mark."""
    pieces: list[bytes] = []
    piece = stream.read(BLOCK_BYTES).removeprefix(codecs.BOM_UTF8)
    while piece:
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*pieces, piece[:cut]])
            pieces = []
        pieces.append(piece[cut:])
        piece = stream.read(BLOCK_BYTES)
    if rest := b"".join(pieces):
        yield rest


def _without_commas(text: bytes, first_line: int) -> bytes:
    if b"," not in text:
        return text
    if empty := _EMPTY_FIELD.search(text):
        line = first_line + text.count(b"\n", 0, empty.start())
        raise FileFormatError(f"line {line}: a field is empty; each comma must separate two fields")
    return text.translate(_COMMA_TO_SPACE)


def scan(text: bytes, first_line: int) -> Block:
    """Find the tokens and lines of `text`."""
    array = np.frombuffer(text, np.uint8)
    solid = np.zeros(array.size + 2, bool)
    np.greater(array, _SPACE, out=solid[1:-1])
    borders = np.flatnonzero(solid[1:] != solid[:-1])
    starts, ends = borders[::2].copy(), borders[1::2].copy()
    line_ends = np.flatnonzero(array == ord("\n"))
    if not text.endswith(b"\n"):
        line_ends = np.append(line_ends, array.size)
    behind = np.searchsorted(starts, line_ends)
    counts = np.diff(behind, prepend=0)
    return Block(
        text=array,
        first_line=first_line,
        starts=starts,
        ends=ends,
        heads=behind - counts,
        counts=counts,
    )


# ---------------------------------------------------------------------- numbers


def integers(block: Block, tokens: Array) -> tuple[Array, Array]:
    """Read tokens as integers.

    Returns
    -------
    values : ndarray of int64, or of uint64 where a value needs it
    bad : ndarray of bool
        Which tokens are no integers that fit; their values mean nothing.
    """
    starts, ends = block.starts[tokens], block.ends[tokens]
    first = block.text[starts]
    negative = first == _MINUS
    starts += negative | (first == _PLUS)
    lengths = ends - starts
    values, bad = _sum_digits(block.text, ends, lengths)
    np.negative(values, out=values, where=negative)
    long = np.flatnonzero(lengths > _SAFE_DIGITS)
    if long.size:
        return _with_long(block, tokens, values, bad, long)
    return values, bad


def _sum_digits(text: Array, ends: Array, lengths: Array) -> tuple[Array, Array]:
    """Add up the last 18 digits of numbers, one decimal place at a time."""
    values = np.zeros(ends.size, np.int64)
    bad = lengths == 0
    for place in range(min(int(lengths.max(initial=0)), _SAFE_DIGITS)):
        digits = text.take(ends - (place + 1), mode="clip") - np.uint8(ord("0"))
        digits[lengths <= place] = 0
        if digits.max() > 9:
            bad |= digits > 9
        values += digits * np.int64(10**place)
    return values, bad


def _with_long(
    block: Block, tokens: Array, values: Array, bad: Array, long: Array
) -> tuple[Array, Array]:
    """Put the values of numbers of 19 digits and more in place, in uint64 where they need it."""
    exact = [_exact_integer(block.word(int(tokens[at]))) for at in long]
    fits_signed = all(number is None or number < 1 << 63 for number in exact)
    bad[long] = [number is None for number in exact]
    if not fits_signed and not (values < 0).any() and all(n is None or n >= 0 for n in exact):
        values = values.astype(np.uint64)
        fits_signed = True
    for at, number in zip(long.tolist(), exact, strict=True):
        if number is None or not (fits_signed or number < 1 << 63):
            bad[at] = True
        else:
            values[at] = number
    return values, bad


def _exact_integer(word: str) -> int | None:
    """Return the value of `word` if it is an integer of 64 bits, signed or unsigned."""
    digits = word[1:] if word[0] in "+-" else word
    significant = digits.lstrip("0")
    if not (digits.isascii() and digits.isdigit()) or len(significant) > 20:
        return None
    value = int(significant or "0") * (-1 if word[0] == "-" else 1)
    return value if -(1 << 63) <= value < 1 << 64 else None


def numbers(block: Block, tokens: Array) -> Array:
    """Read tokens as integers if all are, else as float64.

    Raises
    ------
    FileFormatError
        A token is no number, or an integer or float that 64 bits cannot hold.
    """
    values, bad = integers(block, tokens)
    if not bad.any():
        return values
    for at in np.flatnonzero(bad & (block.ends[tokens] - block.starts[tokens] > _SAFE_DIGITS)):
        if block.word(int(tokens[at])).lstrip("+-").isdigit():
            raise block.token_error(
                int(tokens[at]), "does not fit into 64 bits; integers must, together with the others"
            )
    return floats(block, tokens)


def floats(block: Block, tokens: Array) -> npt.NDArray[np.float64]:
    """Read tokens as float64, correctly rounded; NaN and infinities pass.

    Raises
    ------
    FileFormatError
        A token is no number, or beyond the range of float64.
    """
    values = np.empty(tokens.size, np.float64)
    widest = int((block.ends[tokens] - block.starts[tokens]).max(initial=1))
    step = max(_FLOATS_AT_ONCE // widest, 1)
    for start in range(0, tokens.size, step):
        part = slice(start, start + step)
        values[part] = _floats_at_once(block, tokens[part])
    return values


def _floats_at_once(block: Block, tokens: Array) -> npt.NDArray[np.float64]:
    starts, ends = block.starts[tokens], block.ends[tokens]
    lengths = (ends - starts)[:, None]
    columns = np.arange(int(lengths.max()))
    table = block.text.take(starts[:, None] + columns, mode="clip")
    table[columns >= lengths] = 0
    try:
        if (table == ord("_")).any():  # Python would take 1_000 for a number
            raise ValueError  # noqa: TRY301
        values = table.view(f"S{columns.size}").ravel().astype(np.float64)
    except ValueError:
        raise _first_no_float(block, tokens) from None
    for at in np.flatnonzero(np.isinf(values)):
        if block.word(int(tokens[at])).lstrip("+-")[0] not in "iI":
            raise block.token_error(int(tokens[at]), "is beyond the range of float64")
    return values


def _first_no_float(block: Block, tokens: Array) -> FileFormatError:
    """Find the first token that is no number. The slow path: one token at a time."""
    for token in tokens.tolist():
        word = block.word(token)
        try:
            if "_" not in word:
                float(word)
                continue
        except ValueError:
            pass
        return block.token_error(token, "is not a number")
    raise AssertionError("the table of floats was refused, but every token is a number")


def join(parts: list[Array]) -> Array:
    """Join the values of blocks; their common dtype holds each of them as it was read.

    Raises
    ------
    FileFormatError
        Some values need uint64 and others are negative.
    """
    kinds = {part.dtype.kind for part in parts}
    if kinds == {"i", "u"}:  # NumPy would make floats of them
        low = min(int(part.min()) for part in parts if part.size)
        if low < 0:
            high = max(int(part.max()) for part in parts if part.size)
            raise FileFormatError(
                f"the integers range from {low} to {high}; "
                "all must fit into int64, or all into uint64"
            )
        parts = [part.astype(np.uint64) for part in parts]
    return np.concatenate(parts)
