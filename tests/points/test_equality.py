"""Trees, core distances and labels on every device are the host's, by every metric."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

from clmst import Points
from clmst.algorithms.bvh_boruvka import choice
from clmst.core.points import Metric
from tests.prove import brute_force
from tests.variants import Variant, is_native, unoptimised, variants

NATIVE = [one for one in variants() if is_native(one.device)]
ON_A_SPHERE = ("great-circle", "haversine")


def hard(d: int, *, scale: float) -> np.ndarray:
    """Return points spread evenly, equal, on a lattice, and different in last bits alone."""
    rng = np.random.default_rng(d)
    spread = rng.normal(size=(24, d))
    equal = spread[rng.integers(0, 6, 14)]
    lattice = rng.integers(1, 3, (14, d))
    near = 3 + rng.integers(0, 3, (14, d)) * np.spacing(3.0)
    together: np.ndarray = np.concatenate([spread, equal, lattice, near])
    return rng.permutation(together) * scale


@pytest.mark.parametrize("d", [2, 3, 7, 64, 384])
@pytest.mark.parametrize("driver", NATIVE, ids=lambda one: one.name)
def test_every_metric(driver: Variant, d: int) -> None:
    """Trees by a hierarchy and by all pairs; those of HDBSCAN have core distances, many equal."""
    device = unoptimised(driver.device)
    metrics: list[Any] = [one for one in get_args(Metric) if d == 2 or one not in ON_A_SPHERE]
    for number, metric in enumerate(metrics):
        points = Points(hard(d, scale=1.0 if metric in choice.METRICS else 10.0), metric)
        assert brute_force.wrong_of(number, points, device) == "", metric
