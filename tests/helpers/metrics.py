"""Points by every metric, for tests that go through all metrics by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import InvalidGraphError, Points


def points_by(coordinates: Any, metric: Any, core_distances: Any = None) -> Points:
    """Return points with a metric of this name. Minkowski's distance gets the power 3.

    For "correlation", 0 is appended to each row, and 1 is added to a row that is then constant. For
    "jaccard", the coordinates are the 64 bits of each given one. For "braycurtis", the coordinates
    are replaced by their magnitudes if two points are opposite, and a row of zeros by ones.
    """
    power = 3 if metric == "minkowski" else None
    if metric == "correlation":
        rows = np.pad(np.asarray(coordinates, np.float64), ((0, 0), (0, 1)))
        rows[(rows == rows[:, :1]).all(axis=1), 0] += 1
        coordinates = rows
    if metric == "jaccard":
        rows = np.ascontiguousarray(coordinates, np.float64)
        coordinates = np.unpackbits(rows.view(np.uint8), axis=1)
    if metric == "braycurtis":
        try:
            return Points(coordinates, metric, core_distances)
        except InvalidGraphError:
            rows = np.abs(np.asarray(coordinates, np.float64))
            coordinates = rows + ~rows.any(axis=1, keepdims=True)
    return Points(coordinates, metric, core_distances, power)
