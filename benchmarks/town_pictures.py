"""Pictures of the gallery that show roads between ten towns."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import clmst
from clmst.bench.canvas import panels
from clmst.drawing.change import ENTERS, LEAVES

# The towns of the picture "towns", each with its position (east, north) in kilometres, and the
# roads between them.
TOWNS = {
    "Bern": (600, 200), "Thun": (614, 179), "Basel": (611, 267), "Olten": (635, 245),
    "Zürich": (683, 248), "Luzern": (666, 211), "Biel": (585, 221), "Fribourg": (578, 184),
    "Aarau": (646, 249), "Interlaken": (632, 171),
}  # fmt: skip
ROADS = (
    ("Bern", "Thun"), ("Bern", "Biel"), ("Bern", "Fribourg"), ("Bern", "Olten"), ("Bern", "Luzern"),
    ("Biel", "Basel"), ("Biel", "Olten"), ("Basel", "Olten"), ("Basel", "Aarau"),
    ("Olten", "Aarau"), ("Aarau", "Zürich"), ("Olten", "Luzern"), ("Luzern", "Zürich"),
    ("Thun", "Interlaken"), ("Interlaken", "Luzern"), ("Biel", "Fribourg"),
)  # fmt: skip


# Where the name of each town stands beside its point, in points (1/72 inch) to the right and up,
# and which part of the name is there. The places are free of roads.
BESIDE = {
    "Bern": (16, -2, "left", "top"), "Thun": (-6, -6, "right", "top"),
    "Basel": (0, 9, "center", "bottom"), "Olten": (14, -2, "left", "top"),
    "Zürich": (3, 9, "right", "bottom"), "Luzern": (9, 0, "left", "center"),
    "Biel": (-9, 0, "right", "center"), "Fribourg": (0, -9, "center", "top"),
    "Aarau": (3, 9, "center", "bottom"), "Interlaken": (6, -9, "center", "top"),
}  # fmt: skip
KEPT, OTHER, TOWN = "#12304f", "#9fb8c6", "#c2410c"


def towns(path: Path, device: clmst.Device) -> None:
    """Draw roads, which are the rows of a data frame, and the shortest ones that join all towns."""
    import pandas as pd

    rows = {"source": [u for u, _ in ROADS], "target": [v for _, v in ROADS]}
    frame = pd.DataFrame({**rows, "weight": lengths()})
    forest = clmst.minimum_spanning_forest(frame, device=device)
    with panels(path, 1, (6.7, 5.4), title="The shortest roads that join ten towns") as (axis,):
        _draw(axis, forest.edge_ids.tolist())


def closed_road(path: Path, device: clmst.Device) -> None:
    """Draw the shortest roads that join all towns, before and after one of them closes."""
    numbers = {name: k for k, name in enumerate(TOWNS)}
    u, v = np.transpose([(numbers[one], numbers[other]) for one, other in ROADS])
    forest = clmst.DynamicForest(len(TOWNS), device=device)
    forest.insert(u, v, lengths())
    before = forest.snapshot().edge_ids.tolist()
    closed = ROADS.index(("Interlaken", "Luzern"))
    (new,) = forest.delete([closed]).entered.tolist()
    after = forest.snapshot().edge_ids.tolist()
    with panels(path, 2, (6.7, 3.7), title="A road closes, and another takes its place") as axes:
        _draw(axes[0], before, {closed: LEAVES})
        _draw(axes[1], after, {new: ENTERS}, closed=closed)
        for axis, road, does, colour in zip(
            axes, (closed, new), ("closes", "enters"), (LEAVES, ENTERS), strict=True
        ):
            axis.set_title(f"{' to '.join(ROADS[road])} {does}", color=colour, fontsize=12, pad=22)


def lengths() -> list[float]:
    """Return the length of each of ROADS along a straight line, in kilometres."""
    return [math.dist(TOWNS[one], TOWNS[other]) for one, other in ROADS]


def _draw(
    axis: Any, chosen: list[int], marked: Mapping[int, str] = {}, closed: int | None = None
) -> None:
    """Draw the roads and the towns. `chosen` are the indices of the roads that are drawn wide.

    `marked` has the colours of some of these roads. The road `closed`, if any, is dotted.
    """
    for k, pair in enumerate(ROADS):
        colour, width = (marked.get(k, KEPT), 4) if k in chosen else (OTHER, 1.2)
        style = {"color": colour, "linewidth": width}
        if k == closed:
            style = {"color": LEAVES, "linewidth": 1.2, "linestyle": "dotted"}
        axis.plot(*np.transpose([TOWNS[one] for one in pair]), zorder=1, **style)
    for name, place in TOWNS.items():
        axis.scatter(*place, s=60, color=TOWN, zorder=2)
        right, up, horizontal, vertical = BESIDE[name]
        axis.annotate(
            name, place, (right, up), textcoords="offset points", fontsize=12, ha=horizontal,
            va=vertical,
        )  # fmt: skip
    axis.set_aspect("equal")
    axis.set_axis_off()
