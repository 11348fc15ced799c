"""Text as arrays: where each line and token of a block of text starts and ends.

Lines and tokens of a well-formed file never become Python objects: a file is read in blocks that
fit the cache, and one pass finds the borders of all tokens.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from clmst.core.errors import FileFormatError
from clmst.core.weight_keys import Array

BLOCK_BYTES = 1 << 20  # 128 KiB to 1 MiB are equally fast; 16 MiB takes half as long again

_SPACE = 32  # this byte and all below it separate tokens
_NEWLINE, _COMMA = b"\n,"
_EMPTY_FIELD = re.compile(rb"^[ \t]*,|,[ \t]*(?=[,\r\n]|\Z)", re.MULTILINE)
_COMMA_TO_SPACE = bytes.maketrans(b",", b" ")

Integers = npt.NDArray[np.int64]


class _Tokens(NamedTuple):
    """The starts and ends of tokens, and for each line the first token behind it."""

    starts: Integers
    ends: Integers
    behind: Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """Some whole lines of a text and the borders of their tokens, found when first asked for."""

    raw: bytes  # the lines as the file has them
    first_line: int = 1  # the number of the first of them in the file, counted from 1
    commas: bool = False  # whether commas separate tokens too; two in a row are an error

    @cached_property
    def text(self) -> npt.NDArray[np.uint8]:
        """The bytes."""
        return np.frombuffer(self.raw, np.uint8)

    @cached_property
    def _tokens(self) -> _Tokens:
        is_separator = self.text <= _SPACE
        if self.commas:
            is_separator |= self.text == _COMMA
        ends = np.flatnonzero(is_separator)
        if not self.raw.endswith(b"\n"):
            ends = np.append(ends, self.text.size)
        line_ends = np.flatnonzero(self.text.take(ends, mode="clip") == _NEWLINE)
        if line_ends.size < self.n_lines:
            line_ends = np.append(line_ends, ends.size - 1)
        starts = np.zeros_like(ends)
        np.add(ends[:-1], 1, out=starts[1:])
        is_token = starts < ends
        if is_token.all():  # separators stand alone, as in most files that programs write
            return _Tokens(starts, ends, line_ends + 1)
        if self.commas:
            self._refuse_empty_fields()
        behind = np.cumsum(is_token, dtype=np.int64)[line_ends]
        return _Tokens(starts[is_token], ends[is_token], behind)

    def _refuse_empty_fields(self) -> None:
        if b"," in self.raw and (empty := _EMPTY_FIELD.search(self.raw)):
            line = self.raw.count(b"\n", 0, empty.start())
            raise self.error(line, "a field is empty; each comma must separate two fields")

    @property
    def starts(self) -> Integers:
        """The start of each token in `text`, shape (n_tokens,)."""
        return self._tokens.starts

    @property
    def ends(self) -> Integers:
        """The end of each token, shape (n_tokens,)."""
        return self._tokens.ends

    @cached_property
    def counts(self) -> Integers:
        """The number of tokens of each line, shape (n_lines,)."""
        return np.diff(self._tokens.behind, prepend=0)

    @cached_property
    def heads(self) -> Integers:
        """The first token of each line, shape (n_lines,)."""
        return self._tokens.behind - self.counts

    @cached_property
    def n_lines(self) -> int:
        """Number of lines, blank ones included."""
        newlines = np.count_nonzero(self.text == _NEWLINE)  # as bytes.count, but quicker
        return int(newlines) + (not self.raw.endswith(b"\n"))

    def initials(self) -> npt.NDArray[np.uint8]:
        """Return the first byte of each line's first token, 0 for blank lines."""
        initials = self.text[self.starts.take(self.heads, mode="clip")] if self.starts.size else 0
        return np.where(self.counts > 0, initials, np.uint8(0))

    def extract(self, tokens: Array | None = None) -> bytes:
        """Return the text of some tokens, given by rising numbers, with space between them.

        Without `tokens` it is the text of all.
        """
        text = self.raw
        if tokens is not None and tokens.size < self.starts.size:
            is_taken = np.zeros(self.starts.size, bool)
            is_taken[tokens] = True
            text = self.text[int(self.starts[0]) :][np.repeat(is_taken, self._spans)].tobytes()
        return text.translate(_COMMA_TO_SPACE) if self.commas else text

    @cached_property
    def _spans(self) -> Integers:
        """The bytes from the start of each token to the next one's."""
        return np.diff(self.starts, append=self.text.size)

    def without_letters(self, tokens: Array) -> bytes:
        """Return the text of all tokens but some, each of which is a single letter."""
        text = self.text.copy()
        text[self.starts[tokens]] = _SPACE
        return text.tobytes()

    def word(self, token: int) -> str:
        """Return one token."""
        return self.raw[self.starts[token] : self.ends[token]].decode("latin-1")

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


def blocks(stream: BinaryIO, *, commas: bool = False) -> Iterator[Block]:
    """Yield the lines of `stream` in blocks of about `BLOCK_BYTES`; a zero byte is an error."""
    line = 1
    for text in _whole_lines(stream):
        block = Block(raw=text, first_line=line, commas=commas)
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
