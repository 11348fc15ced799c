"""Text as arrays: where each line and token of a block of text starts and ends.

Lines and tokens of a well-formed file never become Python objects: a file is read in blocks that
fit the cache, and one pass finds the borders of all tokens. Blocks of plain rows do not even take
that pass: :mod:`clmst.io.plain_rows`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB are equally fast; 16 MiB takes half as long again

_SPACE = 32  # this byte and all below it separate tokens
_EMPTY_FIELD = re.compile(rb"^[ \t]*,|,[ \t]*(?=[,\r\n]|\Z)", re.MULTILINE)
_COMMA_TO_SPACE = bytes.maketrans(b",", b" ")


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Some whole lines of a text and the borders of their tokens, found when first asked for.

    Attributes
    ----------
    raw : bytes
        The lines as the file has them.
    first_line : int
        The number of line 0 of the block in the file, counted from 1.
    commas : bool
        Whether commas separate tokens too.
    file_bytes : int or None
        Bytes of the file on the disk, if known.
    """

    raw: bytes
    first_line: int
    commas: bool = False
    file_bytes: int | None = None

    @cached_property
    def text(self) -> npt.NDArray[np.uint8]:
        """The bytes, with spaces for commas that separate tokens."""
        plain = _without_commas(self.raw, self.first_line) if self.commas else self.raw
        return np.frombuffer(plain, np.uint8)

    @cached_property
    def _borders(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        solid = np.zeros(self.text.size + 2, bool)
        np.greater(self.text, _SPACE, out=solid[1:-1])
        borders = np.flatnonzero(solid[1:] != solid[:-1])
        return borders[::2].copy(), borders[1::2].copy()

    @property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each token starts in `text`, shape (n_tokens,)."""
        return self._borders[0]

    @property
    def ends(self) -> npt.NDArray[np.int64]:
        """Where each token ends, shape (n_tokens,)."""
        return self._borders[1]

    @cached_property
    def _behind(self) -> npt.NDArray[np.int64]:
        """The first token behind each line."""
        line_ends = np.flatnonzero(self.text == ord("\n"))
        if line_ends.size < self.n_lines:
            line_ends = np.append(line_ends, self.text.size)
        return np.searchsorted(self.starts, line_ends)

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """How many tokens each line has, shape (n_lines,)."""
        return np.diff(self._behind, prepend=0)

    @cached_property
    def heads(self) -> npt.NDArray[np.int64]:
        """The first token of each line, shape (n_lines,)."""
        return self._behind - self.counts

    @cached_property
    def n_lines(self) -> int:
        """Number of lines, blank ones included."""
        newlines = np.frombuffer(self.raw, np.uint8) == ord("\n")  # as bytes.count, but quicker
        return int(np.count_nonzero(newlines)) + (not self.raw.endswith(b"\n"))

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
        block = Block(raw=text, first_line=line, commas=commas, file_bytes=file_bytes)
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
    """Return the tokens and lines of `text`."""
    return Block(raw=text, first_line=first_line, file_bytes=file_bytes)
