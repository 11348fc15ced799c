"""The ground under a road network: smooth noise, towns, water, and the map that bends it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from clmst.core.weight_keys import Array
from clmst.generators.hashing import Stream

Field = npt.NDArray[np.float64]
Shape = tuple[int, int]

_TOWNS = 14
_TOWN_PULL = 0.5  # by how much distances shrink in the middle of a town
_HILLS = ((3, 1.0), (7, 0.6), (16, 0.35), (40, 0.15), (100, 0.07))  # bumps to a side, height
_RIVER = 4  # bumps to a side of the field whose middle contour is the river
_RIVER_WIDTH = 0.006
_JITTER = 0.3  # of a cell, to either side; up to 0.5, edges between neighbours cannot cross
# Bumps to a side, and height over width. Smooth steps rise by up to 1.5 times that ratio; as the
# ratios add up to less than 1 / 3, every partial derivative stays below 1 / 2 in magnitude, and
# the bent plane never folds.
_BENDS = ((3, 0.12), (9, 0.11), (30, 0.09))


@dataclass(frozen=True, slots=True, kw_only=True)
class Town:
    """A town, where vertices crowd and streets turn; lengths in cells of the lattice.

    Attributes
    ----------
    row, column : float
        The middle.
    radius : float
        Where its pull has fallen to a quarter.
    turn : float
        Tangent of half the angle by which its middle is turned.
    """

    row: float
    column: float
    radius: float
    turn: float

    def nearness(self, y: Array, x: Array) -> Field:
        """Return 1 in the middle, falling to 0 far away, at each point."""
        dy, dx = y - self.row, x - self.column
        near = 1.0 / (1.0 + (dy * dy + dx * dx) / (self.radius * self.radius))
        return np.asarray(near * near)

    def attract(self, y: Field, x: Field) -> tuple[Field, Field]:
        """Move points towards the middle and round it; order by distance is kept."""
        near = self.nearness(y, x)
        shrink = 1.0 - _TOWN_PULL * near
        half = self.turn * near  # rational functions of it are exact where sin and cos are not
        cosine = shrink * (1.0 - half * half) / (1.0 + half * half)
        sine = shrink * 2.0 * half / (1.0 + half * half)
        dy, dx = y - self.row, x - self.column
        return self.row + (cosine * dy + sine * dx), self.column + (cosine * dx - sine * dy)


def found_towns(shape: Shape, seed: int) -> tuple[Town, ...]:
    """Choose towns, each smaller than the one before, the first near the middle."""
    chances = Stream.named(seed, "road towns").uniform(3 * _TOWNS).reshape(_TOWNS, 3)
    chances[0, :2] = 0.3 + 0.4 * chances[0, :2]
    size = max(shape)
    return tuple(
        Town(
            row=shape[0] * (0.1 + 0.8 * y),
            column=shape[1] * (0.1 + 0.8 * x),
            radius=0.13 * size / (1.0 + 0.4 * rank),
            turn=0.6 * (turn - 0.5),
        )
        for rank, (y, x, turn) in enumerate(chances.tolist())
    )


def urbanity(shape: Shape, towns: tuple[Town, ...]) -> Field:
    """Return how urban each cell is: 0 far out, 1 and more in the middle of towns."""
    y, x = np.ogrid[: shape[0], : shape[1]]
    field = np.zeros(shape)
    for town in towns:
        field += town.nearness(y, x)
    return field


def elevation(shape: Shape, urban: Field, seed: int) -> Field:
    """Return how high each cell lies: low towards the rim, lower still where the river runs."""
    field = 0.35 * urban
    for bumps, height in _HILLS:
        field += height * smooth_field(Stream.named(seed, f"road hills {bumps}"), shape, bumps)
    y, x = (np.linspace(-1.0, 1.0, size) for size in shape)
    field -= 0.9 * (_fourth_power(y)[:, None] + _fourth_power(x))
    depth = np.abs(smooth_field(Stream.named(seed, "road river"), shape, _RIVER) - 0.5)
    depth -= 0.03 * smooth_field(Stream.named(seed, "road banks"), shape, 25)
    field[depth < _RIVER_WIDTH] -= 1.2
    return field


def bend(rows: Array, columns: Array, shape: Shape, seed: int) -> tuple[Field, Field]:
    """Bend lattice points smoothly, without folds; return (y, x) before any town's attraction."""
    axes = []
    for name, lattice in (("y", rows), ("x", columns)):
        jitter = Stream.named(seed, f"road jitter {name}").uniform(lattice.size)
        at = lattice + _JITTER * (2.0 * jitter - 1.0)
        for bumps, ratio in _BENDS:
            stream = Stream.named(seed, f"road bends {name} {bumps}")
            at += (ratio * max(shape) / bumps) * smooth_field(stream, shape, bumps)[rows, columns]
        axes.append(at)
    return axes[0], axes[1]


def smooth_field(stream: Stream, shape: Shape, bumps: int) -> Field:
    """Return value noise in [0, 1): random at knots, `bumps` to the longer side, smooth between."""
    spacing = max(max(shape) / bumps, 1.0)
    knots = tuple(int(size / spacing) + 2 for size in shape)
    field = stream.uniform(knots[0] * knots[1]).reshape(knots)
    for axis, size in enumerate(shape):
        at = np.arange(size) / spacing
        knot = at.astype(np.int64)
        part = at - knot
        ease = part * part * (3.0 - 2.0 * part)
        ease = ease[:, None] if axis == 0 else ease
        field = field.take(knot, axis) * (1.0 - ease) + field.take(knot + 1, axis) * ease
    return field


def _fourth_power(values: Field) -> Field:
    square = values * values
    return square * square
