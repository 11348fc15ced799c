"""Make random input arrays for benchmarks of primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.workspace import Workspace
from clmst.core.weight_keys import Array


def random_words(space: Workspace, size: int, dtype: Any = np.uint32) -> Array:
    """Return random unsigned integers, uniform over the whole range of the dtype."""
    dtype = np.dtype(dtype)
    return space.rng.integers(0, 2 ** (8 * dtype.itemsize), size, dtype, endpoint=False)


def random_walk_steps(space: Workspace, size: int) -> Array:
    """Return random float32 values of -1 and 1, whose sums are exact in any order.

    float32 represents all integers up to 2**24 exactly. The sum of even 2**28 of the values is far
    smaller in magnitude.
    """
    steps = space.rng.integers(0, 2, size, np.int8)
    return (2 * steps - 1).astype(np.float32)


def random_flags(space: Workspace, size: int, share: float) -> Array:
    """Return random uint8 flags. A flag is 1 with the probability `share`, and otherwise 0."""
    drawn = space.rng.integers(0, 2**16, size, np.uint16)
    return (drawn < round(share * 2**16)).astype(np.uint8)


def sorted_runs(space: Workspace, size: int, mean_length: int) -> Array:
    """Return ascending uint32 keys in runs of equal keys, which have random lengths."""
    heads = random_flags(space, size, 1 / mean_length)
    return np.cumsum(heads, dtype=np.uint32)


def host_empty(size: int, dtype: Any) -> Array:
    """Return an uninitialised array for NumPy's results that begins in the middle of a page.

    Large arrays usually all begin at the same offset in a page of memory. Processors delay a load
    if an earlier store was to the same offset in another page, because the load seems to depend on
    the store. This slows `numpy.cumsum` by a factor of up to six, depending on where input and
    output happen to be.
    """
    dtype = np.dtype(dtype)
    half_page = 2048 // dtype.itemsize
    return np.empty(size + half_page, dtype)[half_page:]
