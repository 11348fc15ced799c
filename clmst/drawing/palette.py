"""Colours that distinguish trees and clusters, for every kind of colour vision."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clmst.core.weight_keys import Array

# The colours of trees and clusters. The distance of any two in the colour space OKLab is more than
# 0.075, where 0.02 is just noticeable, both for normal eyes and for eyes without long, medium or
# short cones. The first two colours were given. A search found all others such that the minimum
# distance of two colours is as large as possible. tests/drawing/test_palette.py measures it.
PALETTE = (
    "#2b8fb8", "#e3762f", "#c31e78", "#a5e14b", "#a569ff", "#4b2db4", "#785a00", "#00d2ff",
    "#1e5ae1", "#780f3c", "#785aa5", "#c3a5c3", "#69a5ff", "#e1a500", "#a57869", "#0f695a",
    "#87c387", "#781e87", "#003c00", "#4b0069",
)  # fmt: skip
MARKERS = "os^Dv*"  # the marker changes after every twenty clusters

PAPER = "#fbfaf6"
INK = "#1f2d3a"
FAINT_INK = "#6f7a84"
STONE = "#a39c8c"  # grey, for lines and points that do not belong to a tree or cluster
# Greys from light to dark, for forest edges that are the background of other edges. The fewer
# vertices lie beyond an edge, the lighter it is.
STONES = ("#cfcabd", "#b3ada0", "#8b8a86", "#565b60")


def rgb(colour: str) -> Array:
    """Convert a colour of the form "#rrggbb" to three numbers from 0 to 1."""
    return np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])


def ramp(colour: str) -> tuple[Array, ...]:
    """Return four shades of a colour, from light to dark, for the edges of a tree.

    Edges with few vertices beyond them are light. The second shade is the colour itself.
    """
    own, light, dark = rgb(colour), rgb("#ffffff"), rgb("#050a12")
    return (own + light) / 2, own, (0.9 * own + 1.1 * dark) / 2, (own + 4 * dark) / 5


RAMPS = tuple(map(ramp, PALETTE))


def hues(numbers: Array) -> Array:
    """Return the colours of trees or clusters, given by their numbers. The shape is (k, 3).

    Colours repeat after twenty numbers. A negative number gives grey.
    """
    colours = np.array([rgb(colour) for colour in (*PALETTE, STONE)])
    return np.asarray(colours[np.where(numbers < 0, len(PALETTE), numbers % len(PALETTE))])


def shades(rank: Array, hue: Array, ramps: Sequence[Sequence[Array]] = RAMPS) -> Array:
    """Return a colour for each edge of a forest, shape (k, 3).

    `ramps` has the shades of each hue, from light to dark, and `hue` is the index in `ramps` for
    each edge. `rank` says how dark the edge is: 0 gives the lightest shade and 1 the darkest.
    """
    stops: Array = np.array(ramps)
    at = np.clip(rank, 0, 1) * (stops.shape[1] - 1)
    left = np.minimum(at.astype(np.int64), stops.shape[1] - 2)
    part = (at - left)[:, None]
    return np.asarray(stops[hue, left] * (1 - part) + stops[hue, left + 1] * part)
