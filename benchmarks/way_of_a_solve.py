"""Draw the way of a solve through the source code, as a picture.

The picture has a box for each stage of the solve (a part), with the names of its source files.
Arrows between the boxes show how many calls lead from one part to another.

    python -m benchmarks.way_of_a_solve [--device NAME] [docs/images/way_of_a_solve.svg]

The files and calls are from a traced solve (`benchmarks.structure`) by filter-boruvka of a SciPy
matrix, on a CPU unless another device is named. This module says which file belongs to which part.
The parts are in the order of the layers of the code. A layer should only call layers below it, so
there should be no arrow upwards.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks import structure

PICTURE = structure.HERE / "docs/images/way_of_a_solve.svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stage of a solve on its way through the source code.

    It has a name, a purpose, and patterns of the files that belong to it.
    """

    name: str
    purpose: str
    files: tuple[str, ...]


PARTS = (
    Part(name="call", purpose="checks names, takes the device's lock", files=("api.py",)),
    Part(
        name="input",
        purpose="asks once what kind of graph it is; puts it on the device",
        files=("inputs.py", "algorithms/csr_validation/*"),
    ),
    Part(
        name="choice",
        purpose="which algorithm, and whether the device is trusted with it",
        files=(
            "algorithms/direct.py", "algorithms/solving.py", "algorithms/families.py",
            "algorithms/registry.py",
        ),
    ),
    Part(
        name="algorithm",
        purpose="options, plan and rounds; leaves a flag for each slot on the device",
        files=("algorithms/*/*",),
    ),
    Part(
        name="compaction",
        purpose="flags to slots, and endpoints, on the device",
        files=("algorithms/shared/solution.py", "primitives/*"),
    ),
    Part(
        name="result",
        purpose="slots, endpoints and weights on the host",
        files=(
            "algorithms/shared/device_forest.py", "algorithms/shared/read_back.py",
            "core/forest.py", "core/lazy.py",
        ),
    ),
    Part(
        name="device",
        purpose="arrays on the device, programs, launches, errors, bounds on counts",
        files=("runtime/*", "algorithms/shared/progress.py"),
    ),
    Part(
        name="graph",
        purpose="the canonical CSR on the host, keys of weights, checks",
        files=("core/*",),
    ),
    Part(name="router", purpose="decides the way from facts alone", files=("route/*",)),
)  # fmt: skip


def part_of(file: str) -> int:
    """Return the index in PARTS of the part (stage of a solve) to which a source file belongs.

    If patterns of several parts match the file, the longest pattern decides. Raises LookupError if
    no pattern matches.
    """
    matches = [
        (len(pattern), index)
        for index, part in enumerate(PARTS)
        for pattern in part.files
        if fnmatch(file, pattern)
    ]
    if not matches:
        raise LookupError(f"{file} is on the way of a solve, and in no part of it")
    return max(matches)[1]


def files_by_part(path: dict[str, Any]) -> list[list[str]]:
    """Return the files of each part (stage of a solve), in the order in which they are reached.

    `path` is the result of :func:`traced`.
    """
    found: list[list[str]] = [[] for _ in PARTS]
    for file in path["files"]:
        found[part_of(file)].append(file)
    return found


def calls(path: dict[str, Any]) -> Counter[tuple[int, int]]:
    """Count the calls between the parts (stages) of a traced solve.

    For each pair of parts, the pairs of files are counted of which one calls the other. `path` is
    the result of :func:`traced`.
    """
    doors = ((part_of(one), part_of(other)) for one, other in path["edges"])
    return Counter((one, other) for one, other in doors if one != other)


def traced(device: str | None = "cpu") -> dict[str, Any]:
    """Trace a solve on the named device, and return what `structure.solve_path` found."""
    what = structure.PATHS["filter-boruvka on a CPU"]
    return structure.solve_path(structure.HERE, *what, device=device)


# ------------------------------------------------------------------------------ drawing

_WIDTH, _MARGIN, _BOX = 960, 16, 640  # pixels
_LINE, _HEAD, _GAP = 18, 46, 18
_CHARACTERS = 84  # maximum length of a line of file names
_STYLE = """
    text { font-family: sans-serif; font-size: 14px; fill: #1a1a1a }
    .name { font-weight: bold; font-size: 16px }
    .files { font-family: monospace; font-size: 12px; fill: #345 }
    .count { font-size: 11px; fill: #666 }
    .part { fill: #f4f7fb; stroke: #6b8cae }
    .down { fill: none; stroke: #6b8cae }
    .up { fill: none; stroke: #c0392b }
"""


def _lines(files: Sequence[str]) -> list[str]:
    """Arrange file names in lines that are short enough for a box of the picture."""
    lines = [""]
    for file in files:
        longer = f"{lines[-1]}  {file}" if lines[-1] else file
        if len(longer) > _CHARACTERS:
            lines.append(file)
        else:
            lines[-1] = longer
    return lines


def picture(path: dict[str, Any]) -> str:
    """Return a picture of a traced solve as SVG."""
    shapes, middles, top = [], [], _MARGIN
    for number, (part, files) in enumerate(zip(PARTS, files_by_part(path), strict=True), 1):
        lines = _lines(files)
        height = _HEAD + _LINE * len(lines)
        shapes.append(
            f'<rect class="part" x="{_MARGIN}" y="{top}" width="{_BOX}" height="{height}" rx="8"/>'
        )
        title = f'<tspan class="name">{number} {escape(part.name)}</tspan>  {escape(part.purpose)}'
        shapes.append(f'<text x="{_MARGIN + 12}" y="{top + 24}">{title}</text>')
        for k, line in enumerate(lines):
            y = top + _HEAD + _LINE * k
            shapes.append(
                f'<text class="files" xml:space="preserve" x="{_MARGIN + 12}" y="{y}">'
                f"{escape(line)}</text>"
            )
        middles.append(top + height // 2)
        top += height + _GAP
    arrows = [_arrow(one, other, n, middles) for (one, other), n in sorted(calls(path).items())]
    head = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}">',
        f'<style>{_STYLE}</style>\n<rect width="100%" height="100%" fill="white"/>',
    ]
    return "\n".join([*head, *shapes, *arrows, "</svg>\n"])


def _arrow(one: int, other: int, count: int, middles: Sequence[int]) -> str:
    """Return, as SVG, an arrow for the calls from one part to another, at the right of the boxes.

    `one` and `other` are indices of parts, and `count` is the number of calls. `middles` has the
    vertical middle of each box in pixels.
    """
    apart, x = other - one, _MARGIN + _BOX
    begin, end = middles[one] + 3 * apart - 8, middles[other] - 14 + 4 * one
    bow = x + 20 + 38 * abs(apart)
    kind, half = "down" if apart > 0 else "up", (begin + end) // 2
    peak = x + (bow - x) * 3 // 4
    return (
        f'<path class="{kind}" stroke-width="{1 + count / 4}" '
        f'd="M {x} {begin} C {bow} {begin} {bow} {end} {x} {end}"/>'
        f'<path class="{kind}" d="M {x + 8} {end - 4} L {x} {end} L {x + 8} {end + 4}"/>'
        f'<text class="count" x="{peak + 3}" y="{half + 4}">{count}</text>'
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the picture, as the command line says. Returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu", help="where the solve is traced")
    parser.add_argument("picture", type=Path, nargs="?", default=PICTURE)
    given = parser.parse_args(arguments)
    given.picture.write_text(picture(traced(given.device)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
