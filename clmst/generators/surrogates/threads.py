"""Work on all cores: NumPy releases the interpreter while it computes, so threads are enough."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from clmst.core.cores import usable_cores

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return what `function` gives for every item, in their order; one thread a core."""
    with ThreadPoolExecutor(max_workers=usable_cores()) as pool:
        return list(pool.map(function, items))


def slices(count: int, size: int) -> Iterator[slice]:
    """Cut 0 .. count - 1 into slices of at most `size`."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
