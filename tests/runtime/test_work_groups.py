"""What a device takes of a kernel's work-items: smaller work-groups than asked for, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst import Device, DeviceArray, UnsupportedDeviceError, primitives
from clmst.algorithms.registry import ALGORITHMS
from clmst.peeling import core_numbers
from clmst.primitives.families import FAMILIES
from clmst.runtime import policy
from clmst.runtime.kernel_family import ONLY, KernelFamily
from clmst.runtime.launcher import Launcher
from clmst.runtime.program import Program, build
from clmst.runtime.specialisation import Specialisation
from tests.faults.injection import inject
from tests.helpers.programs import programs
from tests.helpers.variants import as_variant, unoptimised
from tests.primitives.shapes import SHAPES
from tests.runtime.test_policy import CAPABILITIES

Limit = Callable[[Program, str], int]

LEAST = 32  # work-items of any policy, but for those that are alone

GPU_SHAPES = [one for one in SHAPES if one.device.policy.work_group_size > 1]
each_gpu_shape = pytest.mark.parametrize(
    "variant", [pytest.param(one, id=one.name) for one in GPU_SHAPES]
)


@pytest.fixture
def shaped(any_device: Device) -> Device:
    """Return a device in the shape of a GPU, with no program built."""
    return as_variant(unoptimised(any_device), "gpu-shape").twin()


@contextmanager
def limited(monkeypatch: pytest.MonkeyPatch, limit: Limit) -> Iterator[Counter[int]]:
    """Let devices report a limit; count launches by the size of their work-groups."""
    sizes = Counter[int]()
    with monkeypatch.context() as patch:
        patch.setattr(Program, "work_group_limit", limit)
        inject(patch, "kernel").let_fail(lambda *given: bool(sizes.update(given[3])))
        yield sizes


def at_most(size: int) -> Limit:
    return lambda program, name: size


# ----------------------------------------------------------------------- smaller work-groups


@each_gpu_shape
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.covering
def test_primitives(family: KernelFamily, variant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares, tiles and spines follow from the work-group that was built, not from the policy."""
    device = variant.device.twin()
    with limited(monkeypatch, at_most(LEAST + 1)) as sizes:
        assert family.failure(device, ONLY) is None
    assert sizes
    assert set(sizes) == {LEAST}


@each_gpu_shape
def test_wide_records(variant: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that take the most registers."""
    device = variant.device.twin()
    rng = np.random.default_rng(5)
    n = 3000
    mask = rng.integers(0, 2, n, dtype=np.uint8)
    flags = DeviceArray.from_host(mask, device)
    with limited(monkeypatch, at_most(LEAST)) as sizes:
        for words in ((1, 4), (4, 4)):
            host = [rng.integers(0, 1 << 30, (n, w)).astype(np.uint32) for w in words]
            records, values = (
                DeviceArray.from_host(one.view(f"V{4 * w}").ravel(), device)
                for one, w in zip(host, words, strict=True)
            )
            *found, count = primitives.compact(records, flags, values=values)
            k = int(count.to_host()[0])
            assert k == mask.sum()
            for one, whole in zip(found, host, strict=True):
                kept = np.frombuffer(one.to_host()[:k].tobytes(), np.uint32)
                assert np.array_equal(kept, whole[mask == 1].ravel())
    assert set(sizes) == {LEAST}


@pytest.mark.parametrize("lanes", ["gpu-shape", "no-lanes"])
@pytest.mark.parametrize("algorithm", [None, *sorted(ALGORITHMS)])
@pytest.mark.covering
def test_algorithms(
    algorithm: str | None, lanes: str, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = as_variant(unoptimised(any_device), lanes).twin()
    rng = np.random.default_rng(7)
    n, m = (40, 780) if algorithm == "dense" else (900, 3600)
    u, v = np.triu_indices(n, 1) if algorithm == "dense" else rng.integers(0, n, (2, m))
    graph = clmst.Graph.from_edges(u, v, rng.integers(0, 99, m).astype(np.uint32), n_vertices=n)
    expected = clmst.kruskal(graph)
    with limited(monkeypatch, at_most(LEAST)) as sizes:
        for given in (graph, graph.symmetrised()):
            if algorithm is None:
                numbers = core_numbers(given, device=device)
                right = core_numbers(given, device=any_device)
                assert np.array_equal(numbers, right)
                continue
            forest = clmst.minimum_spanning_forest(given, algorithm=algorithm, device=device)
            assert np.array_equal(forest.edges, expected.edges)
    assert set(sizes) <= {1, LEAST}
    assert sizes[LEAST]


def test_programs_that_differ(shaped: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """One program of a call may have smaller work-groups than the others."""
    host = np.random.default_rng(3).integers(0, 1 << 32, 20_000, dtype=np.uint32)
    values = DeviceArray.from_host(host, shaped)

    def limit(program: Program, name: str) -> int:
        return LEAST if "scan" in program.specialisation.source else 4096

    with limited(monkeypatch, limit) as sizes:
        assert np.array_equal(primitives.sort(values).to_host(), np.sort(host))
        assert min(sizes) > LEAST
        sizes.clear()
        found = primitives.inclusive_scan(values).to_host()
        assert np.array_equal(found, np.cumsum(host, dtype=np.uint32))
        assert set(sizes) == {LEAST}


# ------------------------------------------------------------------ declared work-groups


def test_kernels_that_do_not_fit_declare_their_work_group(
    shaped: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Compilers then fit registers to it, so that the work-group stays as large as asked for."""

    def limit(program: Program, name: str) -> int:
        declared = dict(program.specialisation.defines).get("DECLARED_WORK_GROUP")
        return program.work_group_size if declared else LEAST

    host = np.arange(1000, dtype=np.uint32)
    with limited(monkeypatch, limit) as sizes:
        total = primitives.reduce(DeviceArray.from_host(host, shaped))
        assert total.to_host()[0] == host.sum()
    assert set(sizes) == {shaped.policy.work_group_size}


@pytest.mark.parametrize("declared", [0, 1])
def test_declaration(declared: int, shaped: Device) -> None:
    macros = {"WG_SIZE": 64, "LANES": 16, "LANES_IMPL": 0, "DECLARED_WORK_GROUP": declared}
    wanted = Specialisation.of("device/fill.cl", macros)
    built = build(shaped.context, shaped.cl_device, wanted, optimised=False)
    asked = cl.kernel_work_group_info.COMPILE_WORK_GROUP_SIZE
    for kernel in built.program.all_kernels():
        found = list(kernel.get_work_group_info(asked, shaped.cl_device))
        assert found == ([64, 1, 1] if declared else [0, 0, 0])


def test_every_kernel_can_declare_it() -> None:
    """The file that does so comes before the first kernel of each source."""
    gpu = CAPABILITIES["gpu"]
    every = programs(gpu, policy.choose(gpu))
    texts = {one.source: one.text for one in every if "\nkernel void" in one.text}
    assert len(texts) > 30
    for name, text in texts.items():
        before, _, _ = text.partition("\nkernel void")
        assert "#if DECLARED_WORK_GROUP" in before, name
        assert "__kernel void" not in text, name


# ------------------------------------------------------------------------------ refusals


def test_launch_that_cannot_fit(shaped: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is enqueued: drivers say it late, with an error that names no kernel.

    Kernels whose arguments are set beforehand are refused when they are made.
    """
    host = np.arange(1000, dtype=np.uint32)
    values, out = DeviceArray.from_host(host, shaped), DeviceArray.from_host(host, shaped)
    launch = Launcher(shaped, shaped.queue)
    program, buffer = shaped.program("device/fill.cl"), shaped.allocate(64)
    rule = r"scan_\w+ of scan.*work-groups of 64 .* takes at most 7 .* so 7 or fewer would fit"
    with limited(monkeypatch, at_most(7)):
        with pytest.raises(UnsupportedDeviceError, match=rule):
            primitives.exclusive_scan(values, out=out, launch=launch)
        with pytest.raises(UnsupportedDeviceError, match=r"fill_bytes of fill.*at most 7"):
            Program(program._built, program.specialisation).preset(
                "fill_bytes", (buffer, np.uint64(0), np.uint64(64))
            )
    assert launch.launches == 0
    assert np.array_equal(out.to_host(), host)


def test_one_work_item_alone(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fits everywhere, so that nothing is asked."""
    device = unoptimised(any_device)
    values = DeviceArray.from_host(np.arange(9, dtype=np.uint32), device)
    with limited(monkeypatch, at_most(0)) as sizes:
        found = primitives.inclusive_scan(values, strategy="reduce-then-scan")
        assert found.to_host().tolist() == np.cumsum(np.arange(9)).tolist()
    assert set(sizes) == {device.policy.work_group_size}


def test_devices_are_asked_once(shaped: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Launches of kernels that have been launched before cost nothing more."""
    asked = list[str]()
    real = Program.work_group_limit

    def limit(program: Program, name: str) -> int:
        asked.append(name)
        return real(program, name)

    values = DeviceArray.from_host(np.arange(999, dtype=np.uint32), shaped)
    with limited(monkeypatch, limit):
        for _ in range(3):
            primitives.inclusive_scan(values)
            primitives.compact(
                values, predicate=primitives.Predicate(dtype=np.dtype("u4"), expression="x")
            )
    assert asked
    assert max(Counter(asked).values()) == 1


@pytest.mark.parametrize("lanes", [16, 64])
def test_no_work_group_below_a_lane_group(lanes: int) -> None:
    least = max(lanes, LEAST)
    wanted = Specialisation.of("device/fill.cl", {"WG_SIZE": 256, "LANES": lanes})
    declared = wanted.for_work_items(least - 1)
    assert declared is not None
    assert dict(declared.defines) == dict(wanted.defines) | {"DECLARED_WORK_GROUP": 1}
    assert declared.for_work_items(least - 1) is None
    smaller = declared.for_work_items(2 * least - 1)
    assert smaller is not None
    assert dict(smaller.defines) == dict(declared.defines) | {"WG_SIZE": least}
