"""The division of points into blocks of near points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clmst.blocks.regions import Cloud, Doubles, Numbers
from clmst.core.points import Points


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Some of the points, which lie near one another.

    `numbers` are the numbers of its points among all points, in the order of `cloud`.
    """

    numbers: Numbers
    cloud: Cloud


def divide(points: Points, most: int) -> list[Block]:
    """Divide points into blocks of at most `most` points each, as the nodes of a k-d tree.

    Each part is divided at its widest dimension until it has at most `most` points. So blocks have
    about the same size, more than half of `most`. O(n log n).
    """
    blocks, parts = [], [np.arange(points.n_vertices)]
    while parts:
        part = parts.pop()
        planes = points.subset(part).planes
        if part.size <= most:
            cloud, order = Cloud.of(planes)
            blocks.append(Block(part[order], cloud))
            continue
        widest = int(np.argmax(planes.max(axis=1) - planes.min(axis=1)))
        parts += _halves(part, planes[widest], -(-part.size // most))
    return blocks


def _halves(part: Numbers, coordinates: Doubles, n_blocks: int) -> list[Numbers]:
    """Divide a part in two, so that `n_blocks` blocks of equal size can be made of both.

    `coordinates` has one coordinate of each point of the part, by which they are divided.
    """
    middle = part.size * (n_blocks // 2) // n_blocks
    is_low = np.zeros(part.size, bool)
    is_low[np.argpartition(coordinates, middle)[:middle]] = True
    return [part[is_low], part[~is_low]]
