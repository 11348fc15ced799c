"""Trees, core distances and labels equal the results of all pairs, by every metric."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from clmst import Device
from clmst.bench.harness import WrongResultError
from clmst.core.point_checks import UNROUNDED
from clmst.core.points import Metric
from tests.helpers.metrics import points_by
from tests.helpers.strategies import EXHAUSTIVE
from tests.helpers.variants import Variant, native_variants
from tests.points.test_ways import HARD
from tests.prove import all_pairs, brute_force


def in_the_plane(count: int) -> Iterator[int]:
    """Yield the numbers of sets that a single metric in two dimensions compares."""
    for number in range(20 * count):
        points = brute_force.draw(number)[1]
        if points.metric == "euclidean" and points.planes.shape[0] == 2:
            yield number


def test_random_sets_are_right(any_device: Device) -> None:
    """Of each kind; with equal distances, and with core distances."""
    kinds = brute_force.compare(in_the_plane(100), any_device)
    assert kinds.keys() >= {"uniform", "lattice", "duplicates", "clusters"}
    assert kinds["with equal distances"] > 20
    assert kinds["with core distances"] > 10


def test_what_is_wrong_is_told(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(all_pairs, "pdist", lambda X, metric: 2 * pdist(X, metric))
    with pytest.raises(WrongResultError, match=r"set \d+, .*: the linkage has other heights"):
        brute_force.compare(in_the_plane(100), any_device)


NATIVE = native_variants()
ON_A_SPHERE = ("great-circle", "haversine")


@pytest.mark.parametrize(
    ("driver", "d"),
    [
        pytest.param(
            one,
            d,
            id=f"{one.name}-{d}",
            marks=[] if d == 3 or (one is NATIVE[0] and d < 384) else pytest.mark.exhaustive,
        )
        for one in NATIVE
        for d in (2, 3, 7, 64, 384)
    ],
)
def test_every_metric(driver: Variant, d: int) -> None:
    """Trees by a hierarchy and by all pairs.

    HDBSCAN's trees have core distances, many of them equal. The standard run takes all but the most
    dimensions on the first driver. On the others it takes three dimensions and every fourth metric,
    because each metric takes programs of its own.
    """
    metrics: list[Any] = [one for one in get_args(Metric) if d == 2 or one not in ON_A_SPHERE]
    if not (driver is NATIVE[0] or EXHAUSTIVE):
        metrics = metrics[::4]
    rng = np.random.default_rng(d)
    kinds = [HARD[name](rng, 16, d) for name in ("spread", "duplicates", "lattice", "last bits")]
    together = rng.permutation(np.concatenate(kinds))
    for number, metric in enumerate(metrics):
        scale = 1 if metric in UNROUNDED else 10  # distances that are not all rounded to 0
        points = points_by(scale * (together + (metric == "cosine")), metric)
        assert brute_force.wrong_of(number, points, driver.device) == "", metric
