"""Kernel sources: where they are, and how one is put together from the files it includes.

This is the only file that knows where ``cl/`` is.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_INCLUDE = re.compile(r'^\s*#include\s+"([^"]+)"\s*$')


@cache
def root() -> Path:
    """Return the folder of kernel sources: inside an installed package, or beside it in a clone."""
    package = Path(__file__).resolve().parents[1]
    for candidate in (package / "cl", package.parent / "cl"):
        if (candidate / "device").is_dir():
            return candidate
    raise FileNotFoundError(f"clmst is installed without its kernel sources (cl/ in {package})")


@cache
def compose(name: str) -> str:
    """Return ``cl/<name>`` with its includes put in place, each file once.

    ``#line`` directives keep the compiler's messages on the real files and lines.
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
