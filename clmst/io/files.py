"""Files from anywhere: opened, decompressed, replaced as a whole, and believed within limits."""

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

# A compressed file may expand to FREE_EXPANSION bytes, or to MAX_EXPANSION times its own size.
FREE_EXPANSION = 1 << 28
MAX_EXPANSION = 200
_PIECE_BYTES = 1 << 20
_HEAD_BYTES = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that is being read: a seekable stream, decompressed if the file is compressed."""

    stream: BinaryIO
    size: int | None  # bytes in `stream`, if it is an uncompressed file on a disk
    stored: int | None = None  # bytes of the file on the disk, or from a pipe


class Decompressed(io.RawIOBase):
    """A compressed file that is read up to a limit: a few kilobytes may expand to gigabytes."""

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
        """Return that it can be read."""
        return True

    def seekable(self) -> bool:
        """Return that it can be read again from any byte on, counted from the first."""
        return True

    def readinto(self, into: Any) -> int:
        """Store the next bytes."""
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
        """Return how many bytes come before the next one."""
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a byte; backwards by decompressing anew."""
        if whence == os.SEEK_END:
            raise io.UnsupportedOperation("only reading all of a compressed file tells its end")
        target = offset + (self._at if whence == os.SEEK_CUR else 0)
        if target < self._at:
            self._restart()
        while self._at < target and self.read(min(target - self._at, _PIECE_BYTES)):
            pass
        return self._at


def check_expansion(n_bytes: int, stored: int) -> None:
    """Raise if a compressed file expands beyond the limit."""
    if n_bytes > max(FREE_EXPANSION, MAX_EXPANSION * stored):
        raise FileFormatError(
            f"{stored} compressed bytes expand to {n_bytes} or more; there may be "
            f"{FREE_EXPANSION}, or {MAX_EXPANSION} times as many (decompress the file by other "
            "means if that is right)"
        )


def read_whole(file: BinaryIO) -> bytes:
    """Return all bytes of a pipe, at most half of this machine's memory."""
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
                f"it gives more than {most} bytes, half of this machine's memory; what is no file "
                "on a disk is kept in memory while it is read"
            )
    return b"".join(pieces)


@contextmanager
def reading(path: Path | BinaryIO) -> Iterator[SourceFile]:
    """Open `path`, and put its name before the message of each error of its reader.

    An :class:`InvalidGraphError` from the body of the ``with`` statement is one of the file's. If
    the system cannot read the file at `path`, that is an :class:`InvalidArgumentError`. What the
    caller's own open file raises passes unchanged.
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
    """Raise :class:`InvalidArgumentError` with the name of a file that the system cannot read."""
    try:
        yield
    except OSError as error:
        if not is_of_system(error):
            raise
        raise _unread(path, error) from error


@contextmanager
def explained(path: Path | BinaryIO) -> Iterator[None]:
    """Raise an :class:`InvalidGraphError` as one of a file, whose name comes first."""
    try:
        yield
    except InvalidGraphError as error:
        name = path if isinstance(path, Path) else named(path)
        raise FileFormatError(f"{name}: {error}") from error


def unreadable(message: str) -> AbstractContextManager[None]:
    """Raise :class:`FileFormatError` where another library's reader fails; ``{}`` is what it says.

    The end of compressed data stays an :class:`EOFError`.
    """
    return errors_as(lambda error: FileFormatError(
        message.format(" ".join(str(error).split())[:200] or type(error).__name__)
    ), EOFError)  # fmt: skip


def open_file(path: Path) -> BinaryIO:
    """Open a file that is to be read."""
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
    """Return the name of an open file, or what stands for it in messages."""
    name = getattr(file, "name", None)
    return str(name) if isinstance(name, str | Path) else "the stream"


def _source(file: BinaryIO, codec: Codec | None) -> SourceFile:
    """Make a seekable source from an open file, or raise if it is empty or is UTF-16 text."""
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
    """Raise if a file holds nothing but white space, or begins as UTF-16 text does."""
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
    """Return whether an open file is one on a disk, of which nothing has been read."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode) and file.tell() == 0
    except (OSError, AttributeError, ValueError):  # what is no file of the system has no number
        return False


@contextmanager
def writing(path: Path | BinaryIO) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace `path` at the end of the ``with`` statement.

    As :func:`clmst.core.atomic_file.replacing`; compressed where the name says so. An open file is
    written to, and flushed.
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


# A header may declare FREE_VERTICES, or VERTICES_PER_BYTE for each byte of its file: vertices
# without an edge take no text. Declared edges cost nothing until they are read.
VERTICES_PER_BYTE = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSizes:
    """The numbers of vertices and edges that a header declares.

    More than a graph may have, than this machine's memory could hold, or than a file of
    `file_bytes` may declare are refused, before any allocation of that size.
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
        """Read the two numbers of a header on line `line`."""
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
        """Raise unless the file has as many edges as declared."""
        if n_edges != self.n_edges:
            raise FileFormatError(
                f"the header declares {self.n_edges} {what} but the file holds {n_edges}; "
                "they must be equal (is the file cut short?)"
            )
