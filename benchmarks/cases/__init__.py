"""The table of all benchmark cases of primitives, with the default number of elements of each.

A case is some work on arrays of a given size, with all ways of doing it that are timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from benchmarks.case import Case
from benchmarks.cases import moves, scans, segments, selections, sorts
from benchmarks.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry of the table: a benchmark case that can be built for any number of elements."""

    name: str  # outside programs (peers) know the case by this name, too
    family: str  # the name of a group of cases that belong together
    build: Callable[[Workspace, int], Case]  # takes the number of elements
    gpu: int  # default number of elements on a GPU
    cpu: int = 2**24  # default number of elements on a CPU

    def elements(self, space: Workspace) -> int:
        """Return the default number of elements for the device of `space`."""
        return self.cpu if space.is_cpu else self.gpu


def _by_kind(kind: str) -> Callable[[Workspace, int], Case]:
    return partial(segments.pairs, kind=kind)


ENTRIES = (
    Entry(name="copy", family="copy", build=moves.copy, gpu=2**28),
    Entry(name="reduce", family="scan", build=scans.reduce, gpu=2**28),
    *(
        Entry(name=name, family="scan", build=partial(scans.scanned, name=name), gpu=2**28)
        for name in scans.SCANS
    ),
    *(
        Entry(name=f"segmented_scan_{kind}", family="segmented", build=build, gpu=2**27, cpu=2**23)
        for kind, build in (
            *((kind, _by_kind(kind)) for kind in segments.KINDS),
            ("kinds", segments.kinds),
        )
    ),
    Entry(name="segmented_scan_packed", family="segmented", build=segments.packed, gpu=2**28),
    Entry(name="sort", family="sorting", build=sorts.keys, gpu=2**26),
    Entry(name="sort_pairs", family="sorting", build=sorts.pairs, gpu=2**26),
    Entry(name="split", family="sorting", build=sorts.split, gpu=2**26),
    Entry(name="compact", family="selection", build=selections.flagged, gpu=2**28),
    Entry(name="compact_if", family="selection", build=selections.satisfying, gpu=2**28),
    Entry(name="partition", family="selection", build=selections.partitioned, gpu=2**28),
    Entry(name="unique", family="selection", build=selections.unique, gpu=2**28),
    Entry(name="unique_by_key", family="selection", build=selections.unique_by_key, gpu=2**28),
    Entry(name="gather", family="permute", build=moves.gather, gpu=2**27),
    Entry(name="scatter", family="permute", build=moves.scatter, gpu=2**27),
)
