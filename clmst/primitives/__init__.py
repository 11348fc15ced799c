"""Data-parallel operations on arrays of a device: sort, scan, reduce, select, gather and others.

They are usable without any graph. All take and return :class:`clmst.DeviceArray`. No call blocks:
each enqueues its work and returns. Results whose size only the device knows, such as the number of
records that a compaction keeps, stay on the device as arrays of one element. The kernels are in
``cl/primitives``.

Examples
--------
>>> import clmst
>>> import numpy as np
>>> from clmst import primitives
>>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
>>> primitives.sort(values).to_host().tolist()
[1, 2, 3]
>>> primitives.inclusive_scan(values).to_host().tolist()
[3, 4, 6]
"""

from typing import TYPE_CHECKING

from clmst.primitives.compact import compact, partition, positions, unique_by_key
from clmst.primitives.element import pair_of
from clmst.primitives.families import FAMILY_OF, gated
from clmst.primitives.function import Predicate
from clmst.primitives.histogram import histogram
from clmst.primitives.map import Map, map
from clmst.primitives.monoid import Monoid
from clmst.primitives.permute import gather, scatter
from clmst.primitives.scan import exclusive_scan, inclusive_scan, reduce, segmented_scan
from clmst.primitives.segments import end_flags, head_flags, segmented_reduce
from clmst.primitives.sort import argsort, sort, sort_by_key
from clmst.primitives.split import split

__all__ = [
    "Map",
    "Monoid",
    "Predicate",
    "argsort",
    "compact",
    "end_flags",
    "exclusive_scan",
    "gather",
    "head_flags",
    "histogram",
    "inclusive_scan",
    "map",
    "pair_of",
    "partition",
    "positions",
    "reduce",
    "scatter",
    "segmented_reduce",
    "segmented_scan",
    "sort",
    "sort_by_key",
    "split",
    "unique_by_key",
]


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


if not TYPE_CHECKING:  # type checkers see the plain functions, with their types
    for _name in FAMILY_OF:
        globals()[_name] = gated(globals()[_name])
