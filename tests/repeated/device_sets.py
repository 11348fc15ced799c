"""Devices for tests of several at once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from clmst import Device, Graph
from tests.repeated.rounds import copying
from tests.variants import GPU_SHAPE, is_native, unoptimised, variants

Array = Any


def with_cheap_matrices(device: Device) -> Device:
    """Return a device to which matrices are so cheap that small graphs have dense parts.

    All such devices cost the same.
    """
    cheap = replace(device.policy, solve_us=0.001, edge_ns=1.0, vertex_ns=1.0, cell_ns=0.3)
    other = device.with_policy(cheap)
    other.capabilities = device.capabilities
    return other


@cache
def device_sets() -> dict[str, list[Device]]:
    """Return devices by a name of what is special about them; empty where there is no device.

    Where the machine has one device alone, its second one lacks a capability.
    """
    native = [unoptimised(one.device) for one in variants() if is_native(one.device)]
    if not native:
        return {}
    poor = native[0].forcing_off("int64-atomics")
    other = native[1] if len(native) > 1 else native[0].forcing_off("lanes")
    found = {
        "two": [native[0], other],
        "one twice": [native[0], poor],
        "copying": [copying(native[0]), copying(other)],
        "gpu shape": [other, native[0].with_policy(GPU_SHAPE)],
        "three": [native[0], copying(other), poor],
    }
    return {name: [with_cheap_matrices(one) for one in devices] for name, devices in found.items()}


def every_device_set(*names: str) -> pytest.MarkDecorator:
    """Parametrise a test with sets of devices, all or those of some names."""
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


def in_canonical_order(graph: Graph) -> Graph:
    """Return a graph whose caller's order is the canonical one."""
    return Graph.from_edges(graph.rows, graph.indices, n_vertices=graph.n_vertices)
