"""Kernel sources: where they are stored, and how their includes are resolved.

This is the only module that knows the location of ``cl/``.
"""

from __future__ import annotations

import hashlib
import os
import re
from functools import cache
from pathlib import Path

_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')
_LINE = re.compile(r'^#line (\d+) "([^"]+)"$')
# The form in which a compiler that ignores `#line` directives, such as NVIDIA's, names a line of
# the source in its messages.
_NAMELESS = re.compile(r"<kernel>:(\d+)")


@cache
def root() -> Path:
    """Return the folder of kernel sources.

    In an installed package, it is inside of the package. In a clone of the repository, it is beside
    the package.
    """
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "cl", package.parent / "cl"):
        if (candidate / "device").is_dir():
            return candidate
    raise FileNotFoundError(f"the kernel sources of clmst are missing (cl/ in {package})")


@cache
def digest() -> str:
    """Compute a digest of all kernel sources, which changes when any of the files changes."""
    whole = hashlib.sha256()
    for folder, folders, names in os.walk(root()):
        folders.sort()
        for name in sorted(names):
            with open(os.path.join(folder, name), "rb") as file:  # faster than by Path
                text = file.read()
            whole.update(f"{os.path.relpath(folder, root())} {name} {len(text)}\n".encode())
            whole.update(text)
    return whole.hexdigest()


@cache
def compose(name: str) -> str:
    """Return the text of ``cl/<name>`` with all includes inserted, each file once.

    ``#line`` directives let compilers report errors by the original files and lines.
    """
    return "\n".join(_expand(name, seen=set())) + "\n"


def _expand(name: str, seen: set[str]) -> list[str]:
    if name in seen:
        return []
    seen.add(name)
    lines = [f'#line 1 "cl/{name}"']
    for number, line in enumerate((root() / name).read_text(encoding="utf-8").splitlines(), 1):
        match = _INCLUDE.match(line)
        if match:
            lines += [*_expand(match[1], seen), f'#line {number + 1} "cl/{name}"']
        else:
            lines.append(line)
    return lines


def name_places(log: str, text: str) -> str:
    """Replace line numbers in a compiler's log by the name of the original file and its line.

    `text` is the source that was compiled, which :func:`compose` has put together from files. The
    log stays unchanged if the compiler has used the ``#line`` directives itself.
    """
    lines = text.splitlines()

    def location(found: re.Match[str]) -> str:
        file, number = "<kernel>", 0
        for line in lines[: int(found[1])]:
            number += 1
            if directive := _LINE.match(line):
                file, number = directive[2], int(directive[1]) - 1
        return f"{file}:{number}"

    return _NAMELESS.sub(location, log)
