"""What follows the tree of blocks says how much memory it takes, and takes no more."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import BlockOptions, BlockProgress, Device
from clmst.cluster import HDBSCAN, single_linkage
from tests.helpers.capabilities import with_capabilities
from tests.helpers.variants import GPU_SHAPE, unoptimised

N = 24_000
_CONSTANT = 1 << 18  # bytes that do not depend on the number of points

Call = Callable[[Any, Device, BlockOptions], Any]


def _clusters(**given: Any) -> Call:
    return lambda rows, device, options: HDBSCAN(
        **given, min_samples=2, device=device, block_points=options
    ).fit(rows)


CALLS: dict[str, tuple[str, Call]] = {
    "clusters of 2": ("clusters", _clusters(min_cluster_size=2)),
    "clusters of 50": ("clusters", _clusters(min_cluster_size=50)),
    "brief clusters": (
        "clusters", _clusters(min_cluster_size=2, cluster_selection_persistence=0.01)
    ),
    "simultaneous ties": ("clusters", _clusters(min_cluster_size=2, ties="simultaneous")),
    "linkage": (
        "dendrogram",
        lambda rows, device, options: single_linkage(rows, device=device, block_points=options),
    ),
}  # fmt: skip

OF_GPU = ("clusters of 50",)


@pytest.mark.parametrize(
    ("name", "is_gpu"),
    [
        # In the standard run, the shape of a GPU takes one kind of call.
        pytest.param(
            name, is_gpu, id=f"{name}-{'gpu-shape' if is_gpu else 'native'}",
            marks=[pytest.mark.exhaustive] if is_gpu and name not in OF_GPU else [],
        )
        for name, is_gpu in product(CALLS, (False, True))
    ],
)  # fmt: skip
def test_what_follows_the_tree_states_its_memory(
    name: str, is_gpu: bool, any_device: Device
) -> None:
    step, call = CALLS[name]
    rows = np.random.default_rng(0).random((N, 2)).round(3)
    shaped = unoptimised(any_device).with_policy(GPU_SHAPE) if is_gpu else any_device
    device = with_capabilities(shaped, host_arrays="copied")
    stated: list[BlockProgress] = []
    peaks: list[int] = []

    def note(progress: BlockProgress) -> None:
        if progress.step != step:
            return
        if progress.done:
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        else:
            stated.append(progress)
            device.release_memory()
            tracemalloc.start()

    call(rows, device, BlockOptions(n_points=N // 2, on_progress=note))
    assert 0 < peaks[0] <= stated[0].n_bytes + _CONSTANT
    assert 0 < device._pool.managed_bytes <= stated[0].n_device_bytes + _CONSTANT
    assert f"{step}: 0 of 1, up to " in str(stated[0])


def test_many_dimensions_say_their_cost() -> None:
    """Every pair is solved whole, which a line says before the first of them."""
    seen: list[BlockProgress] = []
    points = clmst.Points(np.random.default_rng(1).random((1200, 40)))
    options = BlockOptions(n_points=200, on_progress=seen.append)
    found = clmst.minimum_spanning_forest(points, block_points=options)
    assert found == clmst.minimum_spanning_forest(points)
    first = next(one for one in seen if one.step == "edges between blocks")
    blocks = [one for one in seen if one.step == "trees of blocks"][-1]
    assert (first.done, first.n_tasks, first.n_dropped) == (0, 15, 0)
    assert first.seconds_expected is not None
    assert 0 < first.seconds_expected <= 15 * 4 / 6 * blocks.seconds
    assert str(first).startswith("edges between blocks: 0 of 15, at most about ")
