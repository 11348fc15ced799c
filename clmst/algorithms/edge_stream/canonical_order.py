"""The canonical order of a forest's edges that came in another one: by a sort on the device."""

from __future__ import annotations

import numpy as np

from clmst.algorithms.edge_stream.reducer import Columns
from clmst.primitives.permute import number
from clmst.primitives.sort import bits_of, sort_by_key
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher


def in_canonical_order(columns: Columns, *, n_vertices: int, launch: Launcher) -> Columns:
    """Return edges by their ends, as a forest has them; waits.

    Parameters
    ----------
    columns : tuple of ndarray, shape (k,)
        u, v, weights and ids. Every u is less than its v, and no two edges have the same ends.
    n_vertices : int
    launch : Launcher

    Notes
    -----
    Radix sort of ``2 log2(n)`` bits, in 24 bytes of the device an edge.
    """
    u, v, weights, ids = columns
    if not u.size:
        return columns
    bits = np.uint64(bits_of(n_vertices))
    pairs = u.astype(np.uint64)
    pairs <<= bits
    pairs |= v
    keys = DeviceArray.from_host(pairs, launch.device)
    positions = DeviceArray.unchecked(u.size, np.dtype(np.uint32), launch.device)
    number(launch, positions)
    sort_by_key(
        keys, positions, key_bits=2 * int(bits), keys_out=keys, values_out=positions, launch=launch
    )
    pairs, order = keys.to_host(), positions.to_host()
    v = (pairs & (np.uint64(1) << bits) - np.uint64(1)).astype(np.uint32)
    pairs >>= bits
    # All positions are in range; NumPy takes three times as long to look at that.
    weights, ids = (column.take(order, mode="clip") for column in (weights, ids))
    return pairs.astype(np.uint32), v, weights, ids
