"""The cases: what is timed, by name, with the sizes that are used when none is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.case import Case
from benchmarks.cases import moves, scans, segments, selections, sorts
from benchmarks.workspace import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A case that can be built.

    Attributes
    ----------
    name : str
        Of the case, and of the work in the protocol of outside peers.
    family : str
        Of cases that belong together.
    build : callable
        Takes the space and the number of elements.
    gpu, cpu : int
        Elements when none are asked for.
    """

    name: str
    family: str
    build: Callable[[Workspace, int], Case]
    gpu: int
    cpu: int = 2**24

    def elements(self, space: Workspace) -> int:
        """Return how many elements the device of `space` gets."""
        return self.cpu if space.is_cpu else self.gpu


ENTRIES = (
    Entry(name="copy", family="copy", build=moves.copy, gpu=2**28),
    Entry(name="reduce", family="scan", build=scans.reduce, gpu=2**28),
    Entry(name="exclusive_scan", family="scan", build=scans.exclusive_u32, gpu=2**28),
    Entry(name="exclusive_scan_f32", family="scan", build=scans.exclusive_f32, gpu=2**28),
    Entry(name="exclusive_scan_u64", family="scan", build=scans.exclusive_u64, gpu=2**28),
    Entry(name="inclusive_scan", family="scan", build=scans.inclusive, gpu=2**28),
    Entry(name="segmented_scan_one", family="segmented", build=segments.one, gpu=2**27, cpu=2**23),
    Entry(
        name="segmented_scan_16th", family="segmented", build=segments.random, gpu=2**27, cpu=2**23
    ),
    Entry(
        name="segmented_scan_all", family="segmented", build=segments.every, gpu=2**27, cpu=2**23
    ),
    Entry(
        name="segmented_scan_kinds", family="segmented", build=segments.kinds, gpu=2**27, cpu=2**23
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
