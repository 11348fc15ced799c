"""Replace files atomically: a reader sees all of the old content or all of the new content."""

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
    """Open a stream whose bytes replace the file `path` when the ``with`` statement ends.

    Parameters
    ----------
    path : Path
        The file. If it is a symbolic link, the link stays and its target is replaced. An existing
        file keeps its permissions. Anything other than a regular file, such as a pipe or
        ``/dev/stdout``, is written directly.
    durable : bool
        Wait until the bytes are on the disk, so that they survive a loss of power. A cache whose
        entries have checksums does not need this.

    Raises
    ------
    InvalidArgumentError
        The file cannot be created.
    FileWriteError
        The disk is full, or fails, before everything is written.

    Notes
    -----
    Until the end the bytes are in a temporary file in the same folder. If an exception is raised,
    the temporary file is removed and the old content of `path` stays.
    """
    target = replaceable(path)
    # os.path.realpath of a pipe does not name an existing file, so `path` itself is tested.
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
    """Return the file that a path refers to, with symbolic links resolved.

    Raise InvalidArgumentError if the path is a folder, or if the folder that should contain the
    file does not exist. The functions of `os.path` are used because methods of pathlib raise an
    exception for very long names.
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
    """Replace the content of the file `path` with bytes, atomically.

    `durable` is as in :func:`replacing`: if it is True, wait until the bytes are on the disk.
    """
    with replacing(path, durable=durable) as stream:
        stream.write(content)


def write_text(path: Path, text: str, *, durable: bool = True) -> None:
    """Replace the content of the file `path` with a text in UTF-8, atomically.

    `durable` is as in :func:`replacing`: if it is True, wait until the bytes are on the disk.
    """
    write_bytes(path, text.encode(), durable=durable)


def make_folder(path: Path) -> None:
    """Create the folder `path` and its parents unless they exist.

    Raise InvalidArgumentError if the system refuses.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgumentError(f"{path} cannot be made: {error.strerror}") from error


@contextmanager
def _explained(path: Path, replaces: bool) -> Iterator[None]:
    """Replace an OSError inside the ``with`` by an error that names the file `path`.

    The system's own errors do not name a file that is already open. BrokenPipeError is not changed,
    because a closed pipe is not an error of this file. If `replaces` is True, a temporary file is
    being written, and the message says that the old content of `path` is still there.
    """
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        named = os.fspath(error.filename or "")
        is_part = named.endswith(".part") and path.name in named  # the temporary file's name
        if isinstance(error, FileWriteError) or (named and not is_part):
            raise
        state = "what was there before is unchanged" if replaces else "part of it may have been"
        raise FileWriteError(
            f"{path} was not written: {error.strerror or error}; {state}"
        ) from error
