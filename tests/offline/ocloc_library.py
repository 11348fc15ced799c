"""ocloc as a library in processes of its own: what it loads for one call serves the next."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from tests.processes import Child, LostError

LIBRARY = "libocloc.so"
SECONDS = 300.0  # of a compilation

Files = tuple[bool, dict[str, bytes]]  # whether ocloc succeeded, and what it would have written

_BYTES = ctypes.POINTER(ctypes.c_uint8)
_idle: list[Child] = []


def invoke(arguments: list[str], name: str, data: bytes) -> Files:
    """Let a process call ocloc; return whether that succeeded, and its files, the log included.

    Parameters
    ----------
    arguments : list of str
        Of its command line, its own name left out.
    name : str
        The file that it is to compile, which need not be on disk.
    data : bytes
        What is in that file.
    """
    try:
        child = _idle.pop()
    except IndexError:
        child = Child(_begin)
    try:
        answer: Files = child.ask((arguments, name, data), SECONDS)
    except LostError as lost:
        return False, {"stdout.log": f"ocloc ends its process: {lost.detail}".encode()}
    finally:
        _idle.append(child)
    return answer


def _begin() -> Callable[[Any], Files]:
    library = ctypes.CDLL(LIBRARY)
    return lambda question: _invoke(library, *question)


def _invoke(library: ctypes.CDLL, arguments: list[str], name: str, data: bytes) -> Files:
    """Call `oclocInvoke` of Intel's ``ocloc_api.h``."""
    words = [word.encode() for word in ("ocloc", *arguments)]
    source = ctypes.create_string_buffer(data, len(data))
    count = ctypes.c_uint32()
    contents, lengths = ctypes.POINTER(_BYTES)(), ctypes.POINTER(ctypes.c_uint64)()
    names = ctypes.POINTER(ctypes.c_char_p)()
    outputs = [ctypes.byref(one) for one in (count, contents, lengths, names)]
    status = library.oclocInvoke(
        ctypes.c_uint32(len(words)),
        (ctypes.c_char_p * len(words))(*words),
        ctypes.c_uint32(1),
        (_BYTES * 1)(ctypes.cast(source, _BYTES)),
        (ctypes.c_uint64 * 1)(len(data)),
        (ctypes.c_char_p * 1)(name.encode()),
        *(ctypes.c_uint32(0), None, None, None),  # no headers
        *outputs,
    )
    files = {
        (names[k] or b"").decode(): ctypes.string_at(contents[k], lengths[k])
        for k in range(count.value)
    }
    library.oclocFreeOutput(*outputs)
    return status == 0, files
