"""What compilers said, kept between processes and runs, so that each text is compiled once.

One file an answer, in the user's cache. Its name is a hash of all that the answer depends on: the
text, the options, the compiler as it is installed, and the modules here that ask it and read it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from clmst.core import atomic_file
from clmst.runtime import binary_cache

Answer = TypeVar("Answer")
P = ParamSpec("P")

UNUSED_DAYS = 14  # after which an answer is removed


def kept(question: tuple[Any, ...], compiler: str, ask: Callable[[], Answer]) -> Answer:
    """Return the answer to a question, which is asked only if its answer is not there.

    The question has all that the answer depends on beside the compiler, as it is installed.
    """
    key = hashlib.sha256(repr((question, compiler, _modules())).encode()).hexdigest()
    path = folder() / key
    try:
        content = path.read_bytes()
        os.utime(path)
    except OSError:
        answer = ask()
        content = pickle.dumps(answer)
        atomic_file.write_bytes(path, _checksum(content) + content, durable=False)
        return answer
    if content[:32] != _checksum(content[32:]):
        path.unlink()
        return kept(question, compiler, ask)
    found: Answer = pickle.loads(content[32:])
    return found


def asked_once(compiler: Callable[[], str]) -> Callable[[Callable[P, Answer]], Callable[P, Answer]]:
    """Keep the answers of a function, whose arguments are all that they depend on."""

    def decorate(ask: Callable[P, Answer]) -> Callable[P, Answer]:
        @wraps(ask)
        def answer(*question: P.args, **named: P.kwargs) -> Answer:
            key = (ask.__module__, ask.__qualname__, question, named)
            return kept(key, compiler(), lambda: ask(*question, **named))

        return answer

    return decorate


@cache
def folder() -> Path:
    """Remove answers that were not used for long, and return the folder of the others."""
    found = binary_cache.folder().resolve().parent / "compiled-offline"
    atomic_file.make_folder(found)
    oldest = time.time() - UNUSED_DAYS * 86_400
    for path in found.iterdir():
        with suppress(OSError):  # another process was quicker
            if path.stat().st_mtime < oldest:
                path.unlink()
    return found


def installed(*paths: Path) -> str:
    """Return a text that identifies files of a compiler by their names, sizes and times."""
    states = [(str(path.resolve()), path.stat()) for path in sorted(paths)]
    return repr([(name, state.st_size, state.st_mtime_ns) for name, state in states])


@cache
def _modules() -> str:
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name.startswith("test_"):
            continue  # which asks nothing itself
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
