"""Move labels apart until none covers another."""

from __future__ import annotations

import numpy as np

from clmst.core.weight_keys import Array

_RINGS = 200  # maximum number of rings of places that are tried around the middle of a box
_STEP = 0.5  # distance of two rings, in heights of the box
_APART = 1.0  # pixels between two boxes


def spread(middles: Array, sizes: Array, corners: Array) -> Array:
    """Move boxes so that no two overlap, and return their new middles.

    Boxes are placed one after the other. Each takes the nearest free place that is found on rings
    around its middle. If the area is too full for the box, the box stays where it was.

    Parameters
    ----------
    middles : array of float64, shape (n, 2)
        Where the boxes should be, in pixels.
    sizes : array of float64, shape (n, 2)
        Widths and heights in pixels.
    corners : array of float64, shape (2, 2)
        Lower left and upper right corner of the area inside which boxes are moved.

    Returns
    -------
    array of float64, shape (n, 2)

    Notes
    -----
    O(n**2 r**2) if boxes move by r heights.
    """
    placed = np.array(middles, np.float64)
    for k, (middle, size) in enumerate(zip(middles, sizes, strict=True)):
        least = (sizes[:k] + size) / 2 + _APART
        for ring in range(_RINGS):
            turns = 2 * np.pi * np.arange(max(6 * ring, 1)) / max(6 * ring, 1)
            away = _STEP * size[1] * ring
            places = middle + away * np.stack([np.cos(turns), np.sin(turns)], axis=1)
            overlaps = (np.abs(places[:, None] - placed[None, :k]) < least).all(axis=2)
            is_inside = (places - size / 2 >= corners[0]) & (places + size / 2 <= corners[1])
            is_free = ~overlaps.any(axis=1) & (is_inside.all(axis=1) | (ring == 0))
            if is_free.any():
                placed[k] = places[int(np.argmax(is_free))]
                break
    return placed
