"""Open files for readers and writers of graphs, and limit the memory that a file can take.

A file is decompressed while it is read. A file that is written replaces the old one as a whole. A
compressed file may expand, and a header may declare sizes, only up to limits.
"""

from __future__ import annotations

import codecs
import io
import os
import stat
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from clmst.core.arguments import errors_as, is_of_system
from clmst.core.atomic_file import replacing
from clmst.core.errors import (
    FileFormatError,
    InvalidArgumentError,
    InvalidGraphError,
    MissingFileError,
)
from clmst.core.graph_checks import (
    BYTES_PER_EDGE,
    BYTES_PER_VERTEX,
    FREE_VERTICES,
    MAX_SLOTS,
    MAX_VERTICES,
)
from clmst.core.long_work import LongWork
from clmst.core.machine import physical_memory
from clmst.io.compression import Codec, codec_of

# A compressed file may expand to FREE_EXPANSION bytes or to MAX_EXPANSION times its own size,
# whichever is more.
FREE_EXPANSION = 1 << 28
MAX_EXPANSION = 200
_PIECE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that a format's reader reads: a seekable stream of its uncompressed bytes."""

    stream: BinaryIO
    size: int | None  # bytes in `stream`; None unless it is an uncompressed file on disk
    stored: int | None = None  # bytes before decompression, on disk or from a pipe


class Decompressed(io.RawIOBase):
    """A stream that decompresses another file, up to a limit on the decompressed size.

    The limit (:func:`check_expansion`) is there because a few kilobytes may expand to gigabytes.
    Reading beyond it, or reading damaged data, raises :class:`FileFormatError`.
    """

    def __init__(self, file: BinaryIO, stored: int, codec: Codec) -> None:
        super().__init__()
        self._file, self._stored, self._codec = file, stored, codec
        self._restart()

    def _restart(self) -> None:
        self._file.seek(0)
        self._at = 0
        with self._codec.errors_named():
            self._inner = self._codec.reader(self._file)

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True, because :meth:`seek` works from the start and from the current position."""
        return True

    def readinto(self, into: Any) -> int:
        """Store the next bytes in `into` and return the number of bytes.

        At the end of the file the number is 0.
        """
        with self._codec.errors_named():
            found = self._inner.read(len(into))
        self._at += len(found)
        check_expansion(self._at, self._stored)
        into[: len(found)] = found
        return len(found)

    def readall(self) -> bytes:
        """Return all remaining bytes."""
        return b"".join(iter(lambda: self.read(_PIECE_BYTES) or b"", b""))

    def tell(self) -> int:
        """Return the current position: the number of decompressed bytes before the next one."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Move to a position in the decompressed content, and return the position.

        `offset` counts from the beginning, or from the present position if `whence` is
        ``SEEK_CUR``. The position is at most the end of the content. To move backwards, the file is
        decompressed again from its start. Raises `io.UnsupportedOperation` for ``SEEK_END``.
        """
        if whence == os.SEEK_END:
            raise io.UnsupportedOperation("only reading all of a compressed file tells its end")
        target = offset + (self._at if whence == os.SEEK_CUR else 0)
        if target < self._at:
            self._restart()
        while self._at < target and self.read(min(target - self._at, _PIECE_BYTES)):
            pass
        return self._at


def check_expansion(n_bytes: int, stored: int) -> None:
    """Raise :class:`FileFormatError` if `stored` compressed bytes expand beyond the limit."""
    if n_bytes > max(FREE_EXPANSION, MAX_EXPANSION * stored):
        raise FileFormatError(
            f"{stored} compressed bytes expand to {n_bytes} or more; there may be "
            f"{FREE_EXPANSION}, or {MAX_EXPANSION} times as many (decompress the file by other "
            "means if that is right)"
        )


def read_whole(file: BinaryIO) -> bytes:
    """Read a pipe to the end and return the bytes. Blocks until the pipe is closed.

    Raises :class:`FileFormatError` if there are more bytes than half of this machine's memory, and
    :class:`InvalidArgumentError` if the file is open in text mode.
    """
    memory = physical_memory()
    most = 1 << 63 if memory is None else memory // 2
    pieces, n_bytes = [], 0
    while piece := file.read(_PIECE_BYTES):
        if not isinstance(piece, bytes):
            raise InvalidArgumentError(
                f"{named(file)} gives {type(piece).__name__}; it must give bytes"
            )
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > most:
            raise FileFormatError(
                f"it gives more than {most} bytes, half of this machine's memory; input that is "
                "not a file on a disk is kept in memory while it is read, so it must be smaller"
            )
    return b"".join(pieces)


@contextmanager
def reading(path: Path | BinaryIO) -> Iterator[SourceFile]:
    """Open a file for reading inside a ``with``, and name the file in every error.

    Yields a SourceFile. An :class:`InvalidGraphError` that is raised inside the ``with`` becomes a
    :class:`FileFormatError` whose message begins with the name of the file. An error of the
    operating system while the file at `path` is read becomes an :class:`InvalidArgumentError`. If
    the caller passed an open file, errors that this file itself raises are not changed.
    """
    if not isinstance(path, Path):
        with LongWork(f"reading {named(path)}"), explained(path):
            yield _source(path, codec_of(Path(named(path))))
        return
    with (
        LongWork(f"reading {path}"),
        open_file(path) as file,
        explained(path),
        system_errors_named(path),
    ):
        yield _source(file, codec_of(path))


@contextmanager
def system_errors_named(path: Path) -> Iterator[None]:
    """Replace errors of the operating system inside the ``with`` by InvalidArgumentError.

    The message names the file `path`. An OSError that a decoder raises for damaged data is not
    changed. Yields None.
    """
    try:
        yield
    except OSError as error:
        if not is_of_system(error):
            raise
        raise _unread(path, error) from error


@contextmanager
def explained(path: Path | BinaryIO) -> Iterator[None]:
    """Replace InvalidGraphError inside the ``with`` by a FileFormatError that names the file.

    `path` is the file, or an open file. Yields None.
    """
    try:
        yield
    except InvalidGraphError as error:
        name = path if isinstance(path, Path) else named(path)
        raise FileFormatError(f"{name}: {error}") from error


def unreadable(message: str) -> AbstractContextManager[None]:
    """Create a context manager that replaces errors of another library by FileFormatError.

    `message` is the text of the error, in which ``{}`` stands for what the library says. An
    :class:`EOFError`, which means the end of compressed data, passes unchanged. The ``with`` gets
    None.
    """
    return errors_as(lambda error: FileFormatError(
        message.format(" ".join(str(error).split())[:200] or type(error).__name__)
    ), EOFError)  # fmt: skip


def open_file(path: Path) -> BinaryIO:
    """Open the file `path` for reading, in binary mode.

    Raises :class:`MissingFileError` if the file does not exist, and :class:`InvalidArgumentError`
    if it is a directory or cannot be opened.
    """
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise MissingFileError(f"no such file: {path}") from error
    except IsADirectoryError as error:
        raise InvalidArgumentError(f"{path} is a directory; it must be a file") from error
    except OSError as error:
        raise _unread(path, error) from error


def _unread(path: Path, error: OSError) -> InvalidArgumentError:
    return InvalidArgumentError(f"{path} cannot be read: {error.strerror}")


def named(file: BinaryIO) -> str:
    """Return the name of an open file for messages, or "the stream" for a file without a name."""
    name = getattr(file, "name", None)
    return str(name) if isinstance(name, str | Path) else "the stream"


def _source(file: BinaryIO, codec: Codec | None) -> SourceFile:
    """Create a seekable SourceFile from an open file. A pipe is first read to the end.

    `codec` decompresses the file, or is None if it is not compressed. Raises
    :class:`FileFormatError` if the file is empty or is UTF-16 text.
    """
    on_disk = _is_on_disk(file)
    stream: BinaryIO = file if on_disk else BytesIO(read_whole(file))
    stored = os.fstat(file.fileno()).st_size if on_disk else stream.seek(0, os.SEEK_END)
    stream.seek(0)
    if codec is not None:
        raw = Decompressed(stream, stored, codec)
        stream = cast(BinaryIO, io.BufferedReader(raw, _PIECE_BYTES))
    _check_begin(stream)
    stream.seek(0)
    size = stored if on_disk and codec is None else None
    return SourceFile(stream=stream, size=size, stored=stored)


def _check_begin(stream: BinaryIO) -> None:
    """Raise FileFormatError if a stream contains only white space, or begins like UTF-16 text."""
    piece = stream.read(_HEAD_BYTES)
    if piece.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) and b"\0" in piece[:4]:
        raise FileFormatError(
            "it is UTF-16 text, as Windows PowerShell writes; save it as UTF-8, or convert it: "
            "iconv -f utf-16 -t utf-8"
        )
    piece = piece.removeprefix(codecs.BOM_UTF8)
    while not piece.strip():
        if not (piece := stream.read(_PIECE_BYTES)):
            raise FileFormatError("the file is empty; even a graph without vertices takes a header")


def _is_on_disk(file: BinaryIO) -> bool:
    """Return whether an open file is a regular file from which nothing has been read yet."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.tell() == 0
    except (OSError, AttributeError, ValueError):  # not a file of the system
        return False


@contextmanager
def writing(path: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace the file `path` at the end of the ``with`` statement.

    If the body raises an error, the old file is unchanged
    (:func:`clmst.core.atomic_file.replacing`). The bytes are compressed if the name of the file
    says so. If `path` is an open file, the bytes go directly into it, without compression, and it
    is flushed at the end.
    """
    if not isinstance(path, Path):
        with LongWork(f"writing {named(path)}"):
            yield path
            path.flush()
        return
    with LongWork(f"writing {path}"), replacing(path) as raw, _compressed(raw, path) as stream:
        yield stream


@contextmanager
def _compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    codec = codec_of(path)
    if codec is None:
        yield raw
        return
    with codec.writer(raw) as stream:
        yield cast(BinaryIO, stream)


# The header of a file may declare up to FREE_VERTICES vertices, or VERTICES_PER_BYTE for each byte
# of the file if that is more. There may be more vertices than bytes, because a vertex without edges
# is not listed in the file. The number of edges needs no such limit, because memory for edges is
# only allocated when they are read.
VERTICES_PER_BYTE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSizes:
    """The numbers of vertices and edges that the header of a file declares.

    Creating an object checks the numbers, before anything of that size is allocated:
    FileFormatError is raised if they exceed what a graph may have, what this machine's memory can
    hold, or what a file of `file_bytes` bytes may declare. None as `file_bytes` means that the size
    is unknown.
    """

    n_vertices: int
    n_edges: int
    file_bytes: int | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        what = f"the header declares {self.n_vertices} vertices and {self.n_edges} edges"
        if self.n_vertices > MAX_VERTICES or self.n_edges > MAX_SLOTS:
            raise FileFormatError(
                f"{what}; there may be {MAX_VERTICES} vertices and {MAX_SLOTS} edges"
            )
        memory = physical_memory()
        needed = BYTES_PER_VERTEX * self.n_vertices + BYTES_PER_EDGE * self.n_edges
        if memory is not None and needed > memory:
            raise FileFormatError(
                f"{what}, which take at least {needed >> 20} MiB; "
                f"this machine has {memory >> 20} MiB of memory"
            )
        size = self.file_bytes
        if size is not None and self.n_vertices > max(FREE_VERTICES, VERTICES_PER_BYTE * size):
            raise FileFormatError(
                f"{what} in a file of {size} bytes; there may be {FREE_VERTICES} vertices, "
                f"or {VERTICES_PER_BYTE} for each byte of the file"
            )

    @classmethod
    def parse(
        cls, n_vertices: str, n_edges: str, *, line: int, file_bytes: int | None = None
    ) -> DeclaredSizes:
        """Read the words `n_vertices` and `n_edges` of a header. `line` is the line's number.

        `file_bytes` is the size of the file, or None if it is unknown. Raises
        :class:`FileFormatError`, with the number of the line, if a word is not a number, or if a
        number exceeds a limit.
        """
        counts = []
        for word in (n_vertices, n_edges):
            if not (word.isascii() and word.isdigit()):
                raise FileFormatError(
                    f"line {line}: the header says {word[:20]!r}; "
                    "it must give the numbers of vertices and edges"
                )
            significant = word.lstrip("0") or "0"
            counts.append(int(significant[:20]))  # more digits are too many in any case
        try:
            return cls(n_vertices=counts[0], n_edges=counts[1], file_bytes=file_bytes)
        except FileFormatError as error:
            raise FileFormatError(f"line {line}: {error}") from error

    def check_edges(self, n_edges: int, *, what: str = "edges") -> None:
        """Raise :class:`FileFormatError` unless the file has as many edges as declared.

        `what` is the word for the edges in the message.
        """
        if n_edges != self.n_edges:
            raise FileFormatError(
                f"the header declares {self.n_edges} {what} but the file holds {n_edges}; "
                "they must be equal (is the file cut short?)"
            )
