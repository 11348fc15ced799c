"""What solves cost: the line is found that times lie on, and devices use what was measured."""

from __future__ import annotations

import pytest

from clmst import Device
from clmst.runtime.policy import PARAMETERS
from clmst.tune import costs, graphs
from tests.repeated.rounds import copying

COSTS = ("solve_us", "edge_ns", "vertex_ns", "cell_ns")
TRANSFERS = ("upload_gb_s", "download_gb_s")


def test_fit() -> None:
    """Exact where there is a line, and never below nothing."""
    sizes = [(100, 500), (10**6, 10**6), (10**5, 10**7), (10**4, 10**5)]
    found = costs.fitted(sizes, [0.15 + 36e-9 * m + 1e-7 * n for n, m in sizes])
    assert [found[name] for name in COSTS[:3]] == pytest.approx([150, 0.036, 0.1])
    falling = costs.fitted(sizes, [1 + 1e-6 * m - 1e-7 * n for n, m in sizes])
    assert min(falling.values()) >= 0


def test_measured(any_device: Device) -> None:
    """Legal values, of transfers only where there are any."""
    few = graphs.named(["grid:rows=20,columns=20", "random:n=2000,average_degree=8.0"])
    for device in (any_device, copying(any_device)):
        copies = device.capabilities.host_arrays == "copied"
        values = costs.measure(device, few, 2)
        assert set(values) == set(COSTS) | (set(TRANSFERS) if copies else set())
        assert all(PARAMETERS[name].allows(value) for name, value in values.items())
        assert values["cell_ns"] > 0
