"""Condensing: one launch of few vertices, with their merges, finds what single steps find."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from clmst import Device
from clmst.algorithms.dendrogram.condense import condense, merge_and_condense
from clmst.algorithms.dendrogram.merge import merge
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher, Profile


@pytest.mark.parametrize(("n", "least"), [(2, 2), (3, 5), (700, 2), (701, 3), (1500, 40)])
def test_few_are_condensed_at_once(device: Device, n: int, least: int) -> None:
    """By one launch and at most one read; n // least clusters may have none in them."""
    rng = np.random.default_rng(n)
    child = np.arange(1, n, dtype=np.uint32)
    ends = np.stack([(rng.random(n - 1) * child).astype(np.uint32), child], axis=1).ravel()
    order = rng.permutation(n - 1).astype(np.uint32)
    heights = np.empty(n - 1)
    heights[order] = np.arange(1, n)
    found = []
    for few in (True, False):
        launch = Launcher(device, device.profiling_queue, Profile())
        assert launch.profile is not None
        if few:
            found.append(merge_and_condense(ends.reshape(-1, 2), heights, order, least, launch))
        else:
            given = [DeviceArray.from_host(array, device) for array in (ends, order, heights)]
            merges = merge(n, given[0], given[1], launch, serial=True)
            found.append(condense(merges, given[2], least, launch))
        times = launch.profile.summary()
        assert ("dendrogram_condense_steps" in times) != few
        if few:  # devices that have memory of their own need a read
            assert sum(one.launches for one in times.values()) == 1 + ("(read back)" in times)
    for one in fields(found[0]):
        at_once, by_steps = (getattr(tree, one.name) for tree in found)
        np.testing.assert_array_equal(at_once, by_steps, err_msg=one.name)
    assert found[0].n_clusters > 1 or n < 2 * least
