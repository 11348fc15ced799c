"""Images as graphs: each pixel is a vertex, and neighbouring pixels are joined by an edge."""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.core.arguments import as_array, check_integer, shown
from clmst.core.errors import GraphWarning, InvalidArgumentError, InvalidGraphError, callers_level
from clmst.core.weight_keys import Array

if TYPE_CHECKING:
    from clmst.core.graph import Graph

_MAX_AXES = 4  # limited, because a pixel has up to 3**axes - 1 neighbours
_COLOURS = (3, 4)  # numbers of channels: RGB and RGBA


def from_image(
    cls: type[Graph],
    image: Any,
    *,
    connectivity: int = 1,
    channel_axis: int | None = None,
    mask: Any = None,
) -> Graph:
    """Build the graph of an image or a volume, with one vertex per pixel.

    Neighbouring pixels are joined by an edge. Its weight is the distance of their values: for one
    channel the absolute difference, which is exact for integers, and for several channels the
    Euclidean distance in float64. Vertices are numbered like the pixels in C order, so
    ``array.reshape(shape)`` turns an array with one element per vertex into an image.

    Parameters
    ----------
    image : array of real numbers, shape (..., rows, columns)
        The values of the pixels, which must be finite. There may be one to four axes of pixels.
    connectivity : int
        The number of coordinates, from 1 to the number of axes, in which two neighbours may differ,
        by 1 each. For two axes, 1 means 4 neighbours and 2 means 8.
    channel_axis : int, optional
        The axis of the colours or other channels. By default there is one channel.
    mask : array of bool, shape of the pixels, optional
        A pixel whose cell is False does not get any edges.

    Returns
    -------
    Graph

    Raises
    ------
    InvalidGraphError
        The image is empty, does not consist of real numbers, has a wrong number of axes, or
        contains a value that is not finite.
    InvalidArgumentError
        Another argument is out of range, or the mask has a wrong shape or dtype.

    Warns
    -----
    GraphWarning
        `channel_axis` is None, but the image is uint8 with three axes and a last axis of length 3
        or 4, so it probably is a colour image.

    Notes
    -----
    O(pixels * neighbours) time and memory. Edge ids are sorted by the direction to the neighbour,
    then by pixel.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_image([[1, 1, 9], [1, 8, 9]])
    >>> graph.n_vertices, graph.n_edges
    (6, 7)
    """
    values = _checked_values(image)
    if channel_axis is not None:
        axis = check_integer("channel_axis", channel_axis, low=-values.ndim, high=values.ndim - 1)
        values = np.moveaxis(values, axis, -1)
    shape = values.shape if channel_axis is None else values.shape[:-1]
    if not 1 <= len(shape) <= _MAX_AXES or 0 in values.shape:
        raise InvalidGraphError(
            f"the image has shape {values.shape}; it must have 1 to {_MAX_AXES} axes of pixels, "
            "and no axis of length 0"
        )
    connectivity = check_integer("connectivity", connectivity, low=1, high=len(shape))
    pixels = np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    if channel_axis is None:
        _warn_of_colours(values)
    inside = _checked_mask(mask, shape)
    u, v, weights = [], [], []
    for offset in _offsets(len(shape), connectivity):
        here, there = _slices(offset)
        distance = _distance(values[here], values[there], is_coloured=channel_axis is not None)
        kept = ... if inside is None else inside[here] & inside[there]
        u.append(pixels[here][kept].ravel())
        v.append(pixels[there][kept].ravel())
        weights.append(distance[kept].ravel())
    return cls.from_edges(
        np.concatenate(u), np.concatenate(v), np.concatenate(weights), n_vertices=pixels.size,
        coordinates=_coordinates(shape),
    )  # fmt: skip


def _checked_values(image: Any) -> Array:
    """Return an image as an array of finite numbers, or raise InvalidGraphError."""
    values = as_array("image", image, error=InvalidGraphError)
    if values.dtype.kind not in "buif" or values.dtype.itemsize > 8:
        raise InvalidGraphError(f"the image is of dtype {values.dtype}; it must be of real numbers")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        pixel = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise InvalidGraphError(
            f"the image is {values[pixel]} at {pixel}; every value must be finite"
        )
    return values.view(np.uint8) if values.dtype == np.bool_ else values


def _warn_of_colours(values: Array) -> None:
    """Warn if the array `values` looks like a colour image, but is treated as a volume."""
    if values.ndim == 3 and values.dtype == np.uint8 and values.shape[-1] in _COLOURS:
        warnings.warn(
            f"the image has shape {values.shape}, and each value is a pixel of a volume; where the "
            "last axis has the colours of a pixel, give channel_axis=-1",
            GraphWarning,
            stacklevel=callers_level(),
        )


def _checked_mask(mask: Any, shape: tuple[int, ...]) -> Array | None:
    """Return the mask as an array, or None if `mask` is None.

    Raise InvalidArgumentError if the mask is not an array of bool of this shape.
    """
    if mask is None:
        return None
    given = as_array("mask", mask)
    if given.dtype != np.bool_ or given.shape != shape:
        raise InvalidArgumentError(
            f"mask is {shown(mask)}; it must be an array of bool of shape {shape}"
        )
    return given


def _offsets(n_axes: int, connectivity: int) -> list[tuple[int, ...]]:
    """Return the offsets from a pixel to half of its neighbours, so that each edge is made once.

    The negatives of these offsets lead to the other half. An offset is a tuple of `n_axes` numbers
    from -1 to 1, of which at most `connectivity` are not 0.
    """
    steps = product((-1, 0, 1), repeat=n_axes)
    return [
        step for step in steps if step > (0,) * n_axes and np.count_nonzero(step) <= connectivity
    ]


def _slices(offset: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return the slices that select all pixels with a neighbour at an offset, and the neighbours.

    The two selections of an image have the same shape. There is one slice for each axis.
    """
    here = tuple(slice(max(-step, 0), -step if step > 0 else None) for step in offset)
    there = tuple(slice(max(step, 0), step if step < 0 else None) for step in offset)
    return here, there


def _distance(a: Array, b: Array, *, is_coloured: bool) -> Array:
    """Return the distances between the pixels in `a` and the pixels in `b`, element by element.

    If `is_coloured`, the last axis has the channels, and the distance is Euclidean. Otherwise the
    distance is the absolute difference, which is exact for integers.
    """
    if is_coloured:
        distance: Array = np.linalg.norm(a.astype(np.float64) - b.astype(np.float64), axis=-1)
        return distance
    greater, lesser = np.maximum(a, b), np.minimum(a, b)
    if a.dtype.kind == "i":  # the difference as an unsigned integer is right modulo 2**bits
        unsigned = np.dtype(f"u{a.dtype.itemsize}")
        greater, lesser = greater.view(unsigned), lesser.view(unsigned)
    with np.errstate(over="ignore"):  # a difference beyond the greatest float becomes infinite
        difference: Array = greater - lesser
    return difference


def _coordinates(shape: tuple[int, ...]) -> Array | None:
    """Return coordinates for drawing the pixels of an image, with the first row at the top.

    `shape` is the number of pixels along each axis. Return None unless there are two axes.
    """
    if len(shape) != 2:
        return None
    row, column = np.indices(shape)
    return np.column_stack([column.ravel(), -row.ravel()]).astype(np.float64)
