"""Images as graphs: a vertex a pixel, an edge between neighbours."""

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

_MAX_AXES = 4  # the neighbours of a pixel are up to 3**axes - 1
_COLOURS = (3, 4)  # channels of RGB and RGBA


def from_image(
    cls: type[Graph],
    image: Any,
    *,
    connectivity: int = 1,
    channel_axis: int | None = None,
    mask: Any = None,
) -> Graph:
    """Take an image or a volume: a vertex a pixel, an edge between neighbours.

    The weight of an edge says how far the two pixels' values are apart: the absolute difference
    of one channel, exact for integers; the Euclidean distance of several, in float64. Vertices
    are numbered as the pixels in C order, so ``array.reshape(shape)`` makes an image of an
    array of vertices.

    Parameters
    ----------
    image : array of real numbers, shape (..., rows, columns)
        Of one to four axes of pixels, and finite.
    connectivity : int
        How many coordinates of two neighbours may differ, by one each: for two axes 1 is four
        neighbours, 2 is eight.
    channel_axis : int, optional
        The axis of colours or other channels. None: there is one channel; an array of uint8
        whose last axis has 3 or 4 values gets a `GraphWarning`.
    mask : array of bool, shape of the pixels, optional
        False: a pixel without edges.

    Raises
    ------
    InvalidGraphError
        The image is empty, not of real numbers, or has a value that is not finite.
    InvalidArgumentError
        Another argument is out of range, or the mask has another shape.

    Notes
    -----
    O(pixels * neighbours) time and memory. Edge ids go by neighbour first, then by pixel.
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
    """Return an image as an array of finite numbers."""
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
    """Warn of what looks like an image in colours, and is taken for a thin volume."""
    if values.ndim == 3 and values.dtype == np.uint8 and values.shape[-1] in _COLOURS:
        warnings.warn(
            f"the image has shape {values.shape}, and each value is a pixel of a volume; where the "
            "last axis has the colours of a pixel, give channel_axis=-1",
            GraphWarning,
            stacklevel=callers_level(),
        )


def _checked_mask(mask: Any, shape: tuple[int, ...]) -> Array | None:
    if mask is None:
        return None
    given = as_array("mask", mask)
    if given.dtype != np.bool_ or given.shape != shape:
        raise InvalidArgumentError(
            f"mask is {shown(mask)}; it must be an array of bool of shape {shape}"
        )
    return given


def _offsets(n_axes: int, connectivity: int) -> list[tuple[int, ...]]:
    """Return the steps to half of the neighbours; the others are these, backwards."""
    steps = product((-1, 0, 1), repeat=n_axes)
    return [
        step for step in steps if step > (0,) * n_axes and np.count_nonzero(step) <= connectivity
    ]


def _slices(offset: tuple[int, ...]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """Return which pixels have a neighbour at an offset, and these neighbours."""
    here = tuple(slice(max(-step, 0), -step if step > 0 else None) for step in offset)
    there = tuple(slice(max(step, 0), step if step < 0 else None) for step in offset)
    return here, there


def _distance(a: Array, b: Array, *, is_coloured: bool) -> Array:
    """Return how far values are apart: exact for integers of one channel."""
    if is_coloured:
        distance: Array = np.linalg.norm(a.astype(np.float64) - b.astype(np.float64), axis=-1)
        return distance
    greater, lesser = np.maximum(a, b), np.minimum(a, b)
    if a.dtype.kind == "i":  # modulo 2**bits the difference is the true one, at least 0
        unsigned = np.dtype(f"u{a.dtype.itemsize}")
        greater, lesser = greater.view(unsigned), lesser.view(unsigned)
    with np.errstate(over="ignore"):  # beyond the greatest float the difference is infinite
        difference: Array = greater - lesser
    return difference


def _coordinates(shape: tuple[int, ...]) -> Array | None:
    """Return where to draw the pixels of an image of two axes: rows from the top down."""
    if len(shape) != 2:
        return None
    row, column = np.indices(shape)
    return np.column_stack([column.ravel(), -row.ravel()]).astype(np.float64)
