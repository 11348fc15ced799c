"""Copies of copies, resolved by pointer jumping, so that sequential rules run in parallel."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Entries = npt.NDArray[np.int64]


def resolve(entries: Entries) -> None:
    """Follow every copy to the value that it comes to, in place.

    Parameters
    ----------
    entries : ndarray of int64, shape (m,)
        A value from 0 on, or ~k: a copy of entry k. No chain of copies comes back to itself.

    Notes
    -----
    Pointer jumping: in every round a copy takes the entry of its source, so that chains halve. O(m)
    for copies of random entries, whose chains are short; O(m log m) at worst.
    """
    copies = np.flatnonzero(entries < 0)
    while copies.size:
        entries[copies] = entries[~entries[copies]]
        copies = copies[entries[copies] < 0]
