"""The model of costs: pure functions, no device."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from clmst import Device
from clmst.algorithms.parts import costs as model
from clmst.algorithms.parts.costs import Costs
from clmst.runtime import policy
from tests.runtime.test_policy import CAPABILITIES


def costs_of(kind: Any) -> Costs:
    device = Device.__new__(Device)
    device.capabilities = replace(
        CAPABILITIES[kind], host_arrays="copied" if kind == "gpu" else "shared"
    )
    device.__dict__["policy"] = policy.choose(device.capabilities)
    return Costs.of(device)


GPU, CPU = costs_of("gpu"), costs_of("cpu")
# Vertices and edges, and the bytes of a weight.
ROAD = 24_000_000, 29_000_000, 4
KRON = 2_100_000, 91_000_000, 4


def alone(costs: Costs, *sizes: int) -> float:
    return model.alone(costs, *sizes, prepared=True)


def split(every: list[Costs], *sizes: int) -> float:
    return model.several(every, *sizes, prepared=True)


def test_costs_of_kinds() -> None:
    """A CPU has weights where they are; a GPU gets them over the bus."""
    assert model.upload(GPU, 9, 1_000_000, 4, prepared=True) == pytest.approx(4 / 45)
    assert model.upload(GPU, 500_000, 1_000_000, 4) == pytest.approx(10 / 45)
    assert model.upload(CPU, 9, 1_000_000, 4) == 0
    assert (GPU.host, CPU.host) == (False, True)
    assert GPU.sparse(0, 0) == GPU.solve_ms == 0.15
    # The graphs that the figures come from, on the device, in milliseconds.
    for (n, m), measured in ((ROAD[:2], 3.2), (KRON[:2], 3.1), ((8_400_000, 34_000_000), 3.7)):
        assert GPU.sparse(n, m) == pytest.approx(measured, rel=0.45)


def test_no_where_one_alone_is_quicker() -> None:
    """A forest nearly as large as the graph is solved twice; a dense graph's is small.

    Uploads go through the same host's memory, so only what devices do themselves is shared out.
    """
    assert split([GPU, GPU], *ROAD) > alone(GPU, *ROAD)
    assert 0.8 * alone(GPU, *KRON) < split([GPU, GPU], *KRON)
    slow = replace(GPU, edge_ns=20 * GPU.edge_ns)
    assert split([slow, slow], *KRON) < 0.65 * alone(slow, *KRON)
    assert split([slow] * 4, *KRON) < split([slow, slow], *KRON)
    for pair in ([GPU, GPU], [CPU, GPU], [GPU, CPU]):
        assert split(pair, 1000, 4000, 4) > min(alone(one, 1000, 4000, 4) for one in pair)


def test_shares_are_by_speed() -> None:
    assert model.shares_of([GPU, GPU], 4) == [0.5, 0.5]
    assert model.shares_of([CPU], 4) == [1]
    quick = replace(CPU, edge_ns=CPU.edge_ns / 3)
    assert model.shares_of([quick, CPU], 4) == pytest.approx([0.75, 0.25])
    assert sum(model.shares_of([GPU, CPU, quick], 4)) == pytest.approx(1)
    assert model.shares_of([GPU, CPU])[0] > model.shares_of([GPU, CPU], 4)[0] > 0.95


def test_the_last_pass_is_for_the_quick() -> None:
    """A slow device as the last one costs its own pace for all that the others found."""
    n = KRON[0]
    assert split([GPU, CPU], *KRON) < split([CPU, GPU], *KRON)
    forests = [n - 1, n - 1]
    assert model.merge([GPU, CPU], forests, n, 4) < model.merge([CPU, GPU], forests, n, 4)
    assert model.merge([GPU, GPU], [n - 1, 0], n, 4) < model.merge([GPU, GPU], forests, n, 4)


def test_dense_parts() -> None:
    """By the cells of all of it against its edges, whatever its density is called."""
    sizes = np.array([2, 100, 100, 1])
    edges = np.array([1, 4950, 1000, 0])
    cheap = replace(GPU, edge_ns=1.0, cell_ns=0.3)
    assert cheap.is_dense(sizes, edges).tolist() == [False, True, False, False]
    assert cheap.has_dense_parts
    assert not replace(cheap, cell_ns=0.6).has_dense_parts
    parts = [(16_000, 100_000_000)]
    whole = 50_000, 110_000_000, 4
    here, there = (
        model.cores((GPU, GPU), *whole, parts, dense_is_last=last) for last in (False, True)
    )
    assert here < there  # the forest of the dense part is the smaller one to send
    uploads = model.upload(GPU, *whole, prepared=True)
    assert there < alone(GPU, *whole) + uploads + GPU.dense(16_000)
    slow = replace(GPU, cell_ns=1.0)
    assert model.cores((slow, GPU), *whole, parts, dense_is_last=False) > 256


@pytest.mark.parametrize(
    ("sizes", "groups"),
    [
        ([], []),
        ([5000], [[0]]),
        ([10, 20, 30], [[2, 1, 0]]),  # cells in vain are fewer than a solve takes
        ([5000, 4000, 10], [[0], [1, 2]]),
        ([100, 9000, 100], [[1, 0, 2]]),
        ([100, 90000, 100], [[1], [0, 2]]),
    ],
)
def test_which_share_a_matrix(sizes: list[int], groups: list[list[int]]) -> None:
    assert model.grouped(sizes, GPU, 1 << 20) == groups


def test_a_matrix_has_a_limit() -> None:
    assert model.grouped([10, 20, 30], GPU, 50) == [[2, 1], [0]]


def test_model_of_costs() -> None:
    """Several devices pay where edges are many and are on the devices already; else one is best."""
    n, m = 1 << 22, 1 << 30
    free = replace(GPU, upload_ns=0.0, download_ns=0.0)
    assert model.several([GPU], n, m, 4) == pytest.approx(model.alone(GPU, n, m, 4))
    assert model.several([free] * 2, n, m, 4) < 0.65 * model.solve(free, n, m)
    assert model.several([free] * 4, n, m, 4) < 0.5 * model.solve(free, n, m)
    assert model.best_count([free] * 4, n, m, 4) == 4
    assert model.best_count([free] * 4, n, 2 * n, 4) == 1  # a forest is half of the edges
    assert model.best_count([GPU] * 4, n, m, 4) == 1  # uploads take longer than solves
    assert model.best_count([GPU] * 4, n, m, 4, at_once=True) == 4
    ends = model.ends_of_parts([free] * 4)
    assert ends == pytest.approx([0.2125, 0.45, 0.7125])  # rows that come first lead everywhere
    assert model.ends_of_parts([free]) == []
    slow = replace(free, edge_ns=1.0)
    assert model.shares_of([free, slow]) == pytest.approx([1 / 1.036, 0.036 / 1.036])
    assert model.several([free, slow], 100, 1000, 4) > model.alone(free, 100, 1000, 4)
