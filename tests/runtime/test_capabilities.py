"""Capabilities: what is read off a device, and what can be forced off."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pyopencl as cl
import pytest

from clmst import Device, InvalidArgumentError
from clmst.runtime.capabilities import OPTIONAL, Capabilities, detect

INT64 = "cl_khr_int64_base_atomics cl_khr_int64_extended_atomics"
NVIDIA_QUERY = "cl_nv_device_attribute_query"
INTEL_LANES = "cl_khr_subgroups cl_intel_subgroups cl_intel_required_subgroup_size"


def described(
    *, extensions: str = "", vendor: str = "Somebody", kind: int = cl.device_type.GPU
) -> Any:
    """Return what `detect` asks of a ``pyopencl.Device``."""
    return SimpleNamespace(
        extensions=extensions,
        vendor=vendor,
        platform=SimpleNamespace(name="Somebody's OpenCL"),
        type=kind,
        max_compute_units=12,
        max_work_group_size=1024,
        local_mem_size=49152,
        global_mem_size=1 << 33,
        max_mem_alloc_size=1 << 31,
        mem_base_addr_align=1024,
        compute_capability_major_nv=9,
        compute_capability_minor_nv=0,
    )


@pytest.fixture
def capable() -> Capabilities:
    """Return capabilities with nothing missing."""
    return detect(described(extensions=f"{INT64} {INTEL_LANES}"))


def test_sizes_are_the_devices_own(capable: Capabilities) -> None:
    assert capable.compute_units == 12
    assert capable.max_work_group_size == 1024
    assert capable.local_memory == 49152
    assert capable.global_memory == 1 << 33
    assert capable.max_allocation == 1 << 31


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (cl.device_type.GPU, "gpu"),
        (cl.device_type.CPU, "cpu"),
        (cl.device_type.CPU | cl.device_type.DEFAULT, "cpu"),
        (cl.device_type.ACCELERATOR, "accelerator"),
        (cl.device_type.CUSTOM, "accelerator"),
    ],
)
def test_kind(type_: int, kind: str) -> None:
    assert detect(described(kind=type_)).kind == kind


SVM = cl.device_svm_capabilities


@pytest.mark.parametrize(
    ("kind", "svm", "host_arrays"),
    [
        (cl.device_type.CPU, SVM.COARSE_GRAIN_BUFFER | SVM.FINE_GRAIN_SYSTEM, "shared"),
        (cl.device_type.CPU, SVM.COARSE_GRAIN_BUFFER | SVM.FINE_GRAIN_BUFFER, "wrapped"),
        (cl.device_type.CPU, None, "wrapped"),
        (cl.device_type.GPU, SVM.FINE_GRAIN_SYSTEM, "copied"),  # pages would travel one by one
        (cl.device_type.GPU, None, "copied"),
    ],
)
def test_host_arrays(kind: int, svm: int | None, host_arrays: str) -> None:
    """OpenCL 1.2 does not know the question: asking it is an error."""
    device = described(kind=kind)
    if svm is not None:
        device.svm_capabilities = svm
    assert detect(device).host_arrays == host_arrays


def test_host_arrays_of_a_driver_that_does_not_answer() -> None:
    class Mute(SimpleNamespace):
        @property
        def svm_capabilities(self) -> int:
            raise cl.LogicError("clGetDeviceInfo failed: INVALID_VALUE")

    device = Mute(**vars(described(kind=cl.device_type.CPU)))
    assert detect(device).host_arrays == "wrapped"


@pytest.mark.parametrize(
    ("extensions", "has"),
    [
        (INT64, True),
        ("cl_khr_fp64 " + INT64 + " ", True),
        ("cl_khr_int64_base_atomics", False),  # has exchanges, but no minimum
        ("cl_khr_int64_extended_atomics", False),
        ("cl_khr_int64_base_atomics_x cl_khr_int64_extended_atomics_x", False),
        ("", False),
    ],
)
def test_int64_atomics_need_both_extensions(extensions: str, has: bool) -> None:
    assert detect(described(extensions=extensions)).int64_atomics is has


@pytest.mark.parametrize(
    ("vendor", "extensions", "lanes", "width"),
    [
        ("NVIDIA Corporation", NVIDIA_QUERY, "ptx", 32),
        ("NVIDIA Corporation", "", "local", 32),  # a layered driver: no inline PTX
        ("Intel(R) Corporation", INTEL_LANES, "khr", 16),
        ("Intel(R) Corporation", "cl_intel_subgroups", "local", 32),  # their size cannot be fixed
        ("Somebody", "cl_khr_subgroups", "local", 32),
        ("Somebody", "", "local", 32),
    ],
)
def test_lanes(vendor: str, extensions: str, lanes: str, width: int) -> None:
    found = detect(described(vendor=vendor, extensions=extensions))
    assert (found.lanes, found.lane_width) == (lanes, width)


@pytest.mark.parametrize(("major", "lanes"), [(6, "local"), (7, "ptx"), (12, "ptx")])
def test_lanes_need_the_instructions_of_volta(major: int, lanes: str) -> None:
    device = described(vendor="NVIDIA Corporation", extensions=NVIDIA_QUERY)
    device.compute_capability_major_nv = major
    assert detect(device).lanes == lanes


@pytest.mark.parametrize(
    ("capability", "kibibytes"), [((7, 5), 64), ((8, 6), 100), ((9, 0), 228), ((99, 0), 48)]
)
def test_local_memory_that_work_groups_share(capability: tuple[int, int], kibibytes: int) -> None:
    device = described(vendor="NVIDIA Corporation", extensions=NVIDIA_QUERY)
    device.compute_capability_major_nv, device.compute_capability_minor_nv = capability
    assert detect(device).shared_local_memory == kibibytes << 10
    assert detect(described()).shared_local_memory == 0


@pytest.mark.parametrize(
    ("local_memory", "groups"), [(1023, 4), (24576, 2), (49152, 1), (65536, 0)]
)
def test_work_groups_at_once(local_memory: int, groups: int) -> None:
    """Of 64 KiB, of which each takes one beside its own; any number where that is not known."""
    turing = replace(detect(described()), shared_local_memory=64 << 10)
    assert turing.groups_at_once(4, local_memory) == groups
    assert detect(described()).groups_at_once(4, local_memory) == 4


def test_without(capable: Capabilities) -> None:
    """What is forced off goes, and nothing else changes."""
    assert capable.without(()) == capable
    no_atomics = capable.without(("int64-atomics",))
    assert (no_atomics.int64_atomics, no_atomics.lanes) == (False, "khr")
    no_lanes = capable.without(("lanes",))
    assert (no_lanes.int64_atomics, no_lanes.lanes) == (True, "local")
    assert no_lanes.lane_width == capable.lane_width
    neither = capable.without(OPTIONAL)
    assert neither == no_atomics.without(("lanes",)) == neither.without(OPTIONAL)


@pytest.mark.parametrize("names", [("speed",), ("lanes", "int64_atomics"), ("",)])
def test_without_something_unknown(capable: Capabilities, names: tuple[str, ...]) -> None:
    with pytest.raises(InvalidArgumentError, match=rf"'{names[-1]}'.* int64-atomics, lanes$"):
        capable.without(names)


def test_every_device_is_described(device: Device) -> None:
    """Numbers that no device can lack."""
    can = device.capabilities
    assert can == detect(device.cl_device).without(device.without)
    assert min(can.compute_units, can.max_work_group_size) >= 1
    assert 0 < can.max_allocation <= can.global_memory
    assert can.max_work_group_size % can.lane_width == 0
