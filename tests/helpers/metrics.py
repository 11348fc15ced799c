"""Points by every metric, for tests that go through all metrics by their names."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst import Points


def points_by(coordinates: Any, metric: Any, core_distances: Any = None) -> Points:
    """Return points with a metric of this name. Minkowski's distance gets the power 3.

    For "correlation", 0 is appended to each row, and 1 is added to a row that is then constant.
    """
    power = 3 if metric == "minkowski" else None
    if metric == "correlation":
        rows = np.pad(np.asarray(coordinates, np.float64), ((0, 0), (0, 1)))
        rows[(rows == rows[:, :1]).all(axis=1), 0] += 1
        coordinates = rows
    return Points(coordinates, metric, core_distances, power)
