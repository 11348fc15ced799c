"""Devices for tests of several at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np
import pytest

from clmst import Device, Graph, RepeatedSolver
from tests.helpers.bounds import bounds
from tests.helpers.variants import GPU_SHAPE, is_native, unoptimised, variants
from tests.repeated.rounds import (
    copying,
    every_device,
    in_canonical_order,
    random_graph,
    sorted_graph,
)

Array = Any

STRATEGIES: tuple[Literal["split", "cores"], ...] = ("split", "cores")
DENSE = 25  # vertices from which on a part of these tests is dense


@cache
def device_sets() -> dict[str, list[Device]]:
    """Return devices by a name that says what is special about them.

    The result is empty without a device.

    Where the machine has one device alone, its second one lacks a capability.
    """
    native = [unoptimised(one.device) for one in variants() if is_native(one.device)]
    if not native:
        return {}
    poor = native[0].forcing_off("int64-atomics")
    other = native[1] if len(native) > 1 else native[0].forcing_off("lanes")
    return {
        "two": [native[0], other],
        "one twice": [native[0], poor],
        "copying": [copying(native[0]), copying(other)],
        "gpu shape": [other, native[0].with_policy(GPU_SHAPE)],
        "three": [native[0], copying(other), poor],
    }


def every_device_set(*names: str) -> pytest.MarkDecorator:
    """Parametrise a test with all sets of devices, or with the named sets."""
    params = [
        pytest.param(devices, id=name)
        for name, devices in device_sets().items()
        if not names or name in names
    ]
    missing = pytest.param([], marks=pytest.mark.skip(reason="there is no usable device"))
    return pytest.mark.parametrize("devices", params or [missing])


def clustered_graph(
    sizes: tuple[int, ...] = (40, 30, 25), *, n: int = 400, m: int = 500, seed: int = 0
) -> Graph:
    """Return cliques in a sparse graph, vertices and edges in a random order."""
    rng = np.random.default_rng(seed)
    ends = [rng.integers(0, n, (2, m))]
    begin = 0
    for size in sizes:
        ends.append(np.stack(np.triu_indices(size, 1)) + begin)
        begin += size
    u, v = np.concatenate(ends, axis=1)
    order, names = rng.permutation(u.size), rng.permutation(n)
    return Graph.from_edges(names[u[order]], names[v[order]], n_vertices=n + 3)


@dataclass(frozen=True)
class Place:
    """Where a solver works: on one device, or on several by a strategy."""

    devices: list[Device]
    strategy: Literal["split", "cores"] | None = None

    @property
    def device(self) -> Device:
        """The device that arrays are on: of several, one that is not the first."""
        return self.devices[-1]

    def graph(self, *, is_sorted: bool = False) -> Graph:
        """Return a graph of which all devices get a part.

        If `is_sorted`, its edges are in canonical order.
        """
        if len(self.devices) == 1:
            return sorted_graph() if is_sorted else random_graph()
        return in_canonical_order(clustered_graph()) if is_sorted else clustered_graph()

    def solver(self, graph: Graph, *, range_step: int = 512, **options: Any) -> RepeatedSolver:
        """Return a solver. Ranges of host arrays may begin anywhere; cliques are dense parts."""
        devices: Any = self.devices if len(self.devices) > 1 else self.device
        with bounds(range_step=range_step, dense_part_from=DENSE):
            return RepeatedSolver(graph, devices=devices, strategy=self.strategy, **options)


either_order = pytest.mark.parametrize("is_sorted", [False, True])


def every_place(*names: str) -> pytest.MarkDecorator:
    """Parametrise a test with every device alone, and with sets of some names by each strategy."""
    params = [pytest.param(Place([one.values[0]]), id=str(one.id)) for one in every_device()]
    params += [
        pytest.param(Place(devices, strategy), id=f"{strategy}-{name}")
        for name, devices in device_sets().items()
        for strategy in STRATEGIES
        if not names or name in names
    ]
    return pytest.mark.parametrize("place", params)
