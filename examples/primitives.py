"""Scan, sort and compaction on the device, without any graph.

Prints::

    running maximum [3 3 4 4 5]
    sorted [1 1 3 4 5]
    odd numbers [3 1 1 5]
"""

from __future__ import annotations

import numpy as np

import clmst
from clmst import primitives


def main() -> None:
    """Run three primitives on five numbers."""
    device = clmst.get_device()
    numbers = clmst.DeviceArray.from_host(np.array([3, 1, 4, 1, 5], np.uint32), device)
    greatest = primitives.Monoid.maximum(np.uint32)
    print("running maximum", primitives.inclusive_scan(numbers, monoid=greatest).to_host())
    odd = primitives.Predicate(dtype=numbers.dtype, expression="x % 2 == 1")
    kept, count = primitives.compact(numbers, predicate=odd)
    print("sorted", primitives.sort(numbers).to_host())
    print("odd numbers", kept.to_host()[: count.to_host()[0]])


if __name__ == "__main__":
    main()
