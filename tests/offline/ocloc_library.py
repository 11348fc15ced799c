"""ocloc as a library, in a process of its own: what it loads for one compilation serves the next.

``python -m tests.offline.ocloc_library`` reads compilations from its standard input, and writes
what came of each to its standard output, both pickled.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

LIBRARY = "libocloc.so"

_BYTES = ctypes.POINTER(ctypes.c_uint8)
_thread = threading.local()


def invoke(arguments: list[str], name: str, data: bytes) -> tuple[bool, dict[str, bytes]]:
    """Let this thread's process call ocloc, as `_invoke` does.

    Parameters
    ----------
    arguments : list of str
        Of its command line, its own name left out.
    name : str
        The file that it is to compile, which need not be on disk.
    data : bytes
        What is in that file.
    """
    if not hasattr(_thread, "process"):
        _thread.process = _Process()
    try:
        answer: tuple[bool, dict[str, bytes]] = _thread.process.ask((arguments, name, data))
    except (BrokenPipeError, EOFError):
        status = _thread.process.end()
        del _thread.process
        return False, {"stdout.log": f"ocloc ends its process: {status}".encode()}
    return answer


class _Process:
    """A process that calls ocloc; it ends with the thread that it belongs to."""

    def __init__(self) -> None:
        self.made = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=Path(__file__).parents[2],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )

    def ask(self, question: Any) -> Any:
        assert self.made.stdin is not None
        assert self.made.stdout is not None
        pickle.dump(question, self.made.stdin)
        self.made.stdin.flush()
        return pickle.load(self.made.stdout)

    def end(self) -> int:
        """Let it end, and return its status."""
        assert self.made.stdin is not None
        with suppress(BrokenPipeError):
            self.made.stdin.close()
        return self.made.wait()

    def __del__(self) -> None:
        self.end()


def _invoke(
    library: ctypes.CDLL, arguments: list[str], name: str, data: bytes
) -> tuple[bool, dict[str, bytes]]:
    """Return whether ocloc succeeded, and the files that it would have written, its log included.

    This is `oclocInvoke` of Intel's ``ocloc_api.h``.
    """
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


def main() -> None:
    library = ctypes.CDLL(LIBRARY)
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # what the library prints is no answer
        while True:
            try:
                question = pickle.load(sys.stdin.buffer)
            except EOFError:
                return
            pickle.dump(_invoke(library, *question), answers)
            answers.flush()


if __name__ == "__main__":
    main()
