"""Text as arrays: where each line and token of a block of text starts and ends.

Lines and tokens of a well-formed file never become Python objects: a file is read in blocks that
fit the cache, and one pass finds the borders of all tokens.
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

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB are equally fast; 16 MiB takes half as long again

_SPACE = 32  # this byte and all below it separate tokens
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
    file_bytes : int or None
        Bytes of the file on the disk, if known.
    """

    text: npt.NDArray[np.uint8]
    first_line: int
    starts: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    heads: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    file_bytes: int | None = None

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


def blocks(
    stream: BinaryIO, *, commas: bool = False, file_bytes: int | None = None
) -> Iterator[Block]:
    """Yield the lines of `stream` in blocks of about `BLOCK_BYTES`.

    Parameters
    ----------
    stream : binary file
    commas : bool
        Commas separate tokens too; two in a row are an error.
    file_bytes : int, optional
        The size of the file on the disk, for the blocks.

    Raises
    ------
    FileFormatError
        The stream holds a zero byte, so it is no text, or an empty field.
    """
    line = 1
    for text in _whole_lines(stream):
        block = scan(_without_commas(text, line) if commas else text, line, file_bytes=file_bytes)
        yield block
        line += block.n_lines


def _whole_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of `stream` in pieces that end with a line, without a byte order mark."""
    pieces: list[bytes] = []
    piece = stream.read(BLOCK_BYTES).removeprefix(codecs.BOM_UTF8)
    while piece:
        if b"\0" in piece:
            raise FileFormatError("the file holds bytes that are no text; it must be a text file")
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


def scan(text: bytes, first_line: int, *, file_bytes: int | None = None) -> Block:
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
        file_bytes=file_bytes,
    )
