"""Files that are replaced atomically: a reader finds all of the old or all of the new content."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from clmst.core.errors import FileWriteError, InvalidArgumentError


@contextmanager
def replacing(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a stream whose bytes replace `path` at the end of the ``with`` statement.

    Until then they are in a temporary file beside it, which is removed if anything is raised:
    `path` has either all of its old content or all of the new one. Other files than regular ones (a
    pipe, ``/dev/stdout``) are written directly. A symbolic link stays one, and an existing file
    keeps its permissions. `durable` waits until the bytes are on the disk, so that they survive a
    loss of power; a cache whose entries have checksums does not need that.

    Raise :class:`InvalidArgumentError` if the file cannot be made there, :class:`FileWriteError` if
    the disk is full, or fails, before everything is written.
    """
    target = replaceable(path)
    # The real path of a pipe is no file's name.
    replaces = os.path.isfile(path) or not os.path.exists(path)
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part") if replaces else path
    try:
        try:
            stream = part.open("xb" if replaces else "wb")
        except OSError as error:
            raise InvalidArgumentError(f"{path} cannot be written: {error.strerror}") from error
        with _explained(path, replaces), stream:
            yield stream
            if replaces and durable:
                stream.flush()
                os.fsync(stream.fileno())
        if replaces:
            with _explained(path, replaces):
                if target.exists():
                    part.chmod(target.stat().st_mode)
                part.replace(target)
    except BaseException:
        if replaces:
            with suppress(OSError):
                part.unlink()
        raise


def replaceable(path: Path) -> Path:
    """Return the file that a path means; raise if it is a folder, or is to be in none.

    Questions are those of `os.path`: of a name that is too long, pathlib's raise.
    """
    target = Path(os.path.realpath(path))
    if os.path.isdir(path):
        raise InvalidArgumentError(f"{path} is a directory; it must be a file")
    if not (os.path.exists(path) or os.path.isdir(target.parent)):
        raise InvalidArgumentError(
            f"{path} cannot be written: there is no folder {target.parent}; it must exist"
        )
    return target


def write_bytes(path: Path, content: bytes, *, durable: bool = True) -> None:
    """Replace the content of a file; see :func:`replacing`."""
    with replacing(path, durable=durable) as stream:
        stream.write(content)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the content of a file by UTF-8; see :func:`replacing`."""
    write_bytes(path, text.encode(), durable=durable)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, unless they exist; raise if it cannot be made."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be made: {error.strerror}") from error


@contextmanager
def _explained(path: Path, replaces: bool) -> Iterator[None]:
    """Add `path` to errors of the system about an open file, which name no file.

    A closed pipe is no error of this file.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = os.fspath(error.filename or "")
        is_part = named.endswith(".part") and path.name in named  # the temporary file
        if isinstance(error, FileWriteError) or (named and not is_part):
            raise
        state = "what was there before is unchanged" if replaces else "part of it may have been"
        raise FileWriteError(
            f"{path} was not written: {error.strerror or error}; {state}"
        ) from error
