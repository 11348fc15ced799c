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
from clmst.core.errors import FileFormatError, InvalidArgumentError, InvalidGraphError

GZIP_SUFFIX = ".gz"
_GZIP_LEVEL = 6  # level 9, the default of the gzip module, takes thrice the time for one percent


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file that is being read.

    Attributes
    ----------
    stream : binary file
        Decompressed where the name ends in ``.gz``; can seek.
    size : int or None
        Bytes in `stream`, where it is a file on disk as it stands; None where only reading all
        of it would tell.
    """

    stream: BinaryIO
    size: int | None


def is_compressed(path: Path) -> bool:
    """Whether the name says that the file is gzip-compressed."""
    return path.suffix.lower() == GZIP_SUFFIX


@contextmanager
def reading(path: Path) -> Iterator[Source]:
    """Open `path`, and put its name in front of whatever its reader finds wrong with it.

    Raises
    ------
    InvalidArgumentError
        There is no such file, or it cannot be opened.
    FileFormatError
        The file is empty, is no whole gzip file although its name ends in ``.gz``, or the body
        of the ``with`` statement raised :class:`InvalidGraphError`.
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
        raise InvalidArgumentError(f"no such file: {path}") from error
    except IsADirectoryError as error:
        raise InvalidArgumentError(f"{path} is a directory; it must be a file") from error
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be read: {error.strerror}") from error


def _source(file: BinaryIO, compressed: bool) -> Source:
    """Make a seekable source of an open file; raise if there is nothing in it."""
    is_pipe = not file.seekable()
    stream = BytesIO(file.read()) if is_pipe else file
    if compressed:
        stream = cast(BinaryIO, gzip.GzipFile(fileobj=stream))
    if not stream.read(1):
        raise FileFormatError("the file is empty; even a graph without vertices takes a header")
    stream.seek(0)
    size = None if is_pipe or compressed else os.fstat(file.fileno()).st_size
    return Source(stream=stream, size=size)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a stream whose bytes take the place of `path` at the end of the ``with`` statement.

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
