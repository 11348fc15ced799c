"""Opening files: gzip on top of any format, atomic replacement, errors that name the file."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO, cast

from clmst.core.atomic_file import replacing
from clmst.core.errors import (
    FileFormatError,
    InvalidArgumentError,
    InvalidGraphError,
    MissingFileError,
)
from clmst.core.memory import physical_memory

GZIP_SUFFIX = ".gz"
# A compressed file may expand to so many bytes, or so many times its own size.
FREE_EXPANSION = 1 << 28
MAX_EXPANSION = 200
_PIECE_BYTES = 1 << 20
_GZIP_LEVEL = 6  # level 9, gzip's default, takes three times as long for one per cent


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file that is being read.

    Attributes
    ----------
    stream : binary file
        Seekable; decompressed if the name ends in ``.gz``.
    size : int or None
        Bytes in `stream`, if it is an uncompressed file on a disk; else None, since only reading
        all of it would tell.
    stored : int or None
        Bytes of the file on the disk, or from a pipe; None if unknown.
    """

    stream: BinaryIO
    size: int | None
    stored: int | None = None


class BoundedGzip(gzip.GzipFile):
    """A compressed file that is read up to a limit: a few kilobytes may expand to gigabytes.

    Raises
    ------
    FileFormatError
        It expands beyond :func:`expansion_limit`.
    """

    def __init__(self, file: BinaryIO, stored: int) -> None:
        super().__init__(fileobj=file)
        self._stored = stored

    def read(self, size: int | None = -1) -> bytes:
        """Return `size` bytes, or all remaining ones if it is negative."""
        if size is not None and size >= 0:
            return self._counted(super().read(size))
        pieces = []
        while piece := self._counted(super().read(_PIECE_BYTES)):
            pieces.append(piece)
        return b"".join(pieces)

    def readline(self, size: int | None = -1) -> bytes:
        """Return a line, of at most `size` bytes if that is not negative."""
        most = _PIECE_BYTES if size is None or size < 0 else size
        return self._counted(super().readline(most))

    def _counted(self, read: bytes) -> bytes:
        check_expansion(self.tell(), self._stored)
        return read


def expansion_limit(stored: int) -> int:
    """Return how many bytes a compressed file may expand to."""
    return max(FREE_EXPANSION, MAX_EXPANSION * stored)


def check_expansion(n_bytes: int, stored: int) -> None:
    """Raise if a compressed file expands beyond the limit."""
    if n_bytes > expansion_limit(stored):
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
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > most:
            raise FileFormatError(
                f"it gives more than {most} bytes, half of this machine's memory; what is no file "
                "on a disk is kept in memory while it is read"
            )
    return b"".join(pieces)


def is_compressed(path: Path) -> bool:
    """Whether the name says that the file is gzip-compressed."""
    return path.suffix.lower() == GZIP_SUFFIX


@contextmanager
def reading(path: Path) -> Iterator[SourceFile]:
    """Open `path`, and put its name before the message of each error of its reader.

    Raises
    ------
    InvalidArgumentError
        There is no such file, or it cannot be opened.
    FileFormatError
        The file is empty; its name ends in ``.gz`` but it is no complete gzip file; or the body of
        the ``with`` statement raised :class:`InvalidGraphError`.
    """
    with _open(path) as file:
        try:
            yield _source(file, is_compressed(path))
        except InvalidGraphError as error:
            raise FileFormatError(f"{path}: {error}") from error
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise FileFormatError(
                f"{path}: cannot be decompressed ({error}); "
                f"a file whose name ends in {GZIP_SUFFIX} must be one whole gzip file"
            ) from error


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except FileNotFoundError as error:
        raise MissingFileError(f"no such file: {path}") from error
    except IsADirectoryError as error:
        raise InvalidArgumentError(f"{path} is a directory; it must be a file") from error
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be read: {error.strerror}") from error


def _source(file: BinaryIO, compressed: bool) -> SourceFile:
    """Make a seekable source of an open file; raise if it is empty."""
    is_pipe = not file.seekable()
    stream: BinaryIO = BytesIO(read_whole(file)) if is_pipe else file
    stored = stream.seek(0, os.SEEK_END) if is_pipe else os.fstat(file.fileno()).st_size
    stream.seek(0)
    if compressed:
        stream = cast(BinaryIO, BoundedGzip(stream, stored))
    if not stream.read(1):
        raise FileFormatError("the file is empty; even a graph without vertices takes a header")
    stream.seek(0)
    return SourceFile(stream=stream, size=None if is_pipe or compressed else stored, stored=stored)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace `path` at the end of the ``with`` statement.

    As :func:`clmst.core.atomic_file.replacing`; compressed where the name ends in ``.gz``.
    """
    with replacing(path) as raw, _compressed(raw, path) as stream:
        yield stream


@contextmanager
def _compressed(raw: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    if not is_compressed(path):
        yield raw
        return
    # No name and no time in the gzip header: equal contents make equal files.
    with gzip.GzipFile("", "wb", _GZIP_LEVEL, raw, mtime=0) as stream:
        yield cast(BinaryIO, stream)
