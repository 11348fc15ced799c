"""Dendrograms on every device, beside disjoint sets in Python."""

from __future__ import annotations

import numpy as np
import pytest

import clmst
from clmst import Device, InvalidForestError
from clmst.algorithms.dendrogram.merge import merge, rising_order
from clmst.algorithms.self_test import merge_by_host
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher
from tests.helpers.variants import GPU_SHAPE


def merged(
    n: int, edges: np.ndarray, order: np.ndarray, device: Device, *, few: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the children, shape (m, 2), and the sizes of merges on a device."""
    ends, places = (
        DeviceArray.from_host(a.astype(np.uint32).ravel(), device) for a in (edges, order)
    )
    merges = merge(n, ends, places, Launcher(device, device.queue), serial=few)
    return merges.children.to_host().reshape(-1, 2), merges.sizes.to_host()


def tree(n: int, seed: int, kind: str) -> np.ndarray:
    """Return the edges of a random tree, a path or a star, with vertices in random order."""
    random = np.random.default_rng(seed)
    children = np.arange(1, n)
    parents = {
        "random": (random.random(n - 1) * children).astype(np.int64),
        "path": children - 1,
        "star": np.zeros(n - 1, np.int64),
        "broom": np.where(children <= n // 2, children - 1, n // 2),
    }[kind]
    edges: np.ndarray = random.permutation(n)[np.stack([parents, children], axis=1)]
    return edges


@pytest.mark.parametrize("few", [True, False])
@pytest.mark.parametrize("kind", ["random", "path", "star", "broom"])
@pytest.mark.parametrize("n", [2, 3, 65, 1030])
def test_merges(device: Device, n: int, kind: str, few: bool) -> None:
    """Merges are right for weights that rise, fall or are random along paths and stars."""
    random = np.random.default_rng(n)
    edges = tree(n, n, kind)
    for order in (np.arange(n - 1), np.arange(n - 1)[::-1], random.permutation(n - 1)):
        expected = merge_by_host(n, edges, order)
        found = merged(n, edges, order, device, few=few)
        for one, right in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, right)


@pytest.mark.parametrize(
    "dtype", ["bool", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
)
def test_rising_order(any_device: Device, dtype: str) -> None:
    """Equal weights by position; -0.0 and 0.0 are equal; infinities are at the ends."""
    random = np.random.default_rng(5)
    weights = random.integers(-9, 9, 900).astype(dtype)
    if weights.dtype.kind == "f":
        weights[::7] = -0.0
        weights[1::70], weights[2::70] = np.inf, -np.inf
    device = any_device.with_policy(GPU_SHAPE)
    found = rising_order(weights, Launcher(device, device.queue), by_device=True)
    np.testing.assert_array_equal(found.to_host(), np.argsort(weights, kind="stable"))


@pytest.mark.parametrize("few", [True, False])
def test_forest_in_parts(device: Device, few: bool) -> None:
    edges, order = np.array([[4, 1], [2, 3], [0, 1]]), np.array([2, 1, 0])
    children, sizes = merged(6, edges, order, device, few=few)
    assert children.tolist() == [[0, 1], [2, 3], [4, 6]]
    assert sizes.tolist() == [2, 2, 3]
    assert merged(3, np.zeros((0, 2), np.int32), order[:0], device, few=True)[1].size == 0


def test_a_maximum_forest_has_no_dendrogram() -> None:
    graph = clmst.generate("grid", rows=3, columns=3)
    with pytest.raises(InvalidForestError, match="maximum"):
        clmst.kruskal(graph, maximum=True).linkage()
