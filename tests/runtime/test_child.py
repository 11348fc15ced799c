"""The child process that self-tests run in; what a crash of it comes to: tests/faults."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pyopencl as cl
import pytest

from clmst import Device, EclOptions
from clmst.algorithms.families import family_of, with_options
from clmst.core.arguments import unchecked
from clmst.families import BY_NAME
from clmst.runtime import child
from clmst.runtime.child import DeviceSpec, decoded, encoded
from clmst.runtime.child_main import opened
from clmst.runtime.kernel_family import Case, KernelFamily
from clmst.runtime.quirks import PROVEN, is_proven
from clmst.runtime.trial import TRIAL
from tests.helpers.caches import use_own_cache
from tests.helpers.processes import run_python
from tests.helpers.variants import GPU_SHAPE


@pytest.fixture
def new(any_device: Device) -> Device:
    """Return a device object that has passed no self-test."""
    return Device(any_device.cl_device)


@pytest.fixture(autouse=True)
def own_child() -> Iterator[None]:
    """Let every test begin and end without a child."""
    child._child.end()
    yield
    child._child.end()


@pytest.mark.parametrize(
    ("platform", "name", "version", "proven"),
    [
        ("Intel(R) OpenCL", "any CPU", "2026.22.10.0.01_160000", True),
        ("Intel(R) OpenCL", "any CPU", "2025.20.9.0.10_160000", False),
        ("Intel(R) OpenCL", "any CPU", "2026.23.1.0", False),
        ("Intel(R) OpenCL Graphics", "Arc", "2026.22.10", False),
        ("Intel(R) FPGA Emulation Platform for OpenCL(TM)", "FPGA", "2026.22.1", False),
        ("NVIDIA CUDA", "NVIDIA H100 80GB HBM3", "580.159.04", True),
        ("NVIDIA CUDA", "NVIDIA H200", "580.65.06", True),
        ("NVIDIA CUDA", "NVIDIA H200", "575.57.08", False),
        ("NVIDIA CUDA", "NVIDIA A100-SXM4-80GB", "580.159.04", False),
        ("Portable Computing Language", "pthread", "3.1+debian", True),
        ("Portable Computing Language", "pthread", "3.1", False),
        ("Portable Computing Language", "pthread", "6.0-1+debian", False),
        ("rusticl", "llvmpipe", "22.3.6", False),
        ("Apple", "M1", "1.2 1.0", False),
        ("Clover", "AMD", "", False),
    ],
)
def test_proven_drivers(platform: str, name: str, version: str, proven: bool) -> None:
    """By name and by the versions that were tried: all others are new."""
    assert is_proven(platform, name, version) is proven
    assert all(one.lowest < one.below for one in PROVEN)


def test_device_is_found_again(new: Device) -> None:
    """With its shape and what is forced off, also through a queue of the caller's."""
    queue = cl.CommandQueue(cl.Context([new.cl_device]))
    for device in (
        new,
        new.forcing_off("lanes", "int64-atomics"),
        new.with_policy(GPU_SHAPE),
        Device(new.cl_device, queue=queue, _optimised=False),
    ):
        line = encoded(DeviceSpec.of(device), "ecl", Case())
        assert line.count(b"\n") == 1
        spec, *_ = decoded(line)
        assert spec is not None
        found = opened(spec)
        assert found.cl_device == device.cl_device
        assert (found.without, found.policy) == (device.without, device.policy)
        assert found.capabilities == device.capabilities
        assert found.is_optimised == device.is_optimised
        assert found.trust.given
        assert not found.is_callers


def test_one_child_runs_all_tests(new: Device) -> None:
    """Of a trial, of families in usual cases, and of one with options of its own."""
    options = EclOptions(filter=False)
    case = with_options(Case(), options)
    assert child.tested(new, TRIAL, "") is not None
    process = child._child._process
    for family, tried in ((BY_NAME["permute"], ""), (family_of("ecl"), case)):
        outcome = child.tested(new, family, tried)
        assert outcome is not None
        assert (outcome.reason, outcome.lasts) == (None, True)
        assert outcome.seconds > 0
    assert child._child._process is process


def test_what_a_child_does_not_know(new: Device) -> None:
    """Is tested in the process: a family in no table, a case that does not go there."""
    unknown = KernelFamily(name="sums", what="sums", test=lambda *_: None)
    assert child.tested(new, unknown, "") is None
    assert child.tested(new, BY_NAME["permute"], lambda: None) is None


def test_error_that_is_not_the_devices_comes_home(
    new: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is raised as it would be in this process, with its place, and is recorded nowhere."""
    use_own_cache(monkeypatch, tmp_path)
    options = unchecked(EclOptions, **asdict(EclOptions()) | {"seed": "no seed"})
    case = replace(Case(), option_text="of no seed", options=options)
    for _ in range(2):
        with pytest.raises(TypeError, match="SeedSequence expects") as caught:
            new.trust.test(family_of("ecl"), case, apart=True)
        (note,) = caught.value.__notes__
        assert note.startswith("in the child process that tests ecl: ")
    assert new.trust.verdicts() == []
    assert child.tested(new, family_of("ecl"), Case()) is not None  # the next one is tested there


def test_child_that_is_gone_is_replaced(new: Device) -> None:
    assert child.tested(new, BY_NAME["permute"], "") is not None
    process = child._child._process
    assert process is not None
    process.end()
    assert child.tested(new, BY_NAME["permute"], "") is not None
    assert child._child._process is not process


def test_verdict_of_a_child_is_kept(
    new: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The process itself opens no context for it."""
    use_own_cache(monkeypatch, tmp_path)
    assert new.trust.test(BY_NAME["permute"], apart=True).passed
    assert "context" not in vars(new)
    (verdict,) = Device(new.cl_device).trust.verdicts()
    assert (verdict.family, verdict.passed) == ("permute", True)


IDLE = """
import time
from clmst import get_device
from clmst.families import BY_NAME
from clmst.runtime import child, child_main
child.tested(get_device(), BY_NAME["permute"], "")
process = child._child._process._process
print(process.pid, flush=True)
until = time.monotonic() + 60
while process.returncode is None and time.monotonic() < until:
    time.sleep(0.1)
print(process.returncode)
"""


@pytest.mark.exhaustive
def test_idle_child_ends_by_itself() -> None:
    """And leaves no zombie, warning or output."""
    began = time.monotonic()
    done = run_python("-X", "dev", "-c", IDLE)
    assert done.stdout.split()[1] == "0"
    assert done.stderr == ""
    assert time.monotonic() - began < 60
