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
    *, extensions: str = "", vendor: str = "Somebody", kind: int = cl.device_type.GPU, **facts: Any
) -> Any:
    """Return a stand-in with the attributes of ``pyopencl.Device`` that clmst reads."""
    usual = {
        "name": "Something",
        "platform": SimpleNamespace(name="Somebody's OpenCL", vendor=vendor),
        "driver_version": "1.0",
        "version": "OpenCL 3.0",
        "max_compute_units": 12,
        "max_work_group_size": 1024,
        "local_mem_size": 49152,
        "global_mem_size": 1 << 33,
        "max_mem_alloc_size": 1 << 31,
        "mem_base_addr_align": 1024,
        "compute_capability_major_nv": 9,
        "compute_capability_minor_nv": 0,
    }
    return SimpleNamespace(extensions=extensions, vendor=vendor, type=kind, **(usual | facts))


@pytest.fixture
def capable() -> Capabilities:
    """Return capabilities with nothing missing."""
    return detect(described(extensions=f"{INT64} {INTEL_LANES}"))


SVM = cl.device_svm_capabilities
COARSE = SVM.COARSE_GRAIN_BUFFER
GPU, CPU, NVIDIA = cl.device_type.GPU, cl.device_type.CPU, "NVIDIA Corporation"


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (
            {},
            {
                "compute_units": 12, "max_work_group_size": 1024, "local_memory": 49152,
                "global_memory": 1 << 33, "max_allocation": 1 << 31, "shared_local_memory": 0,
            },
        ),
        *(
            ({"kind": type_}, {"kind": kind})
            for type_, kind in (
                (GPU, "gpu"), (CPU, "cpu"), (CPU | cl.device_type.DEFAULT, "cpu"),
                (cl.device_type.ACCELERATOR, "accelerator"),
                (cl.device_type.CUSTOM, "accelerator"),
            )
        ),
        # OpenCL 1.2 does not know the question after shared memory: asking it is an error.
        *(
            ({"kind": kind, **answer}, {"host_arrays": way})
            for kind, answer, way in (
                (CPU, {"svm_capabilities": COARSE | SVM.FINE_GRAIN_SYSTEM}, "shared"),
                (CPU, {"svm_capabilities": COARSE | SVM.FINE_GRAIN_BUFFER}, "wrapped"),
                (CPU, {}, "wrapped"),
                # Pages would travel one by one.
                (GPU, {"svm_capabilities": SVM.FINE_GRAIN_SYSTEM}, "copied"),
                (GPU, {}, "copied"),
            )
        ),
        *(
            ({"extensions": extensions}, {"int64_atomics": has})
            for extensions, has in (
                (INT64, True), (f"cl_khr_fp64 {INT64} ", True), ("", False),
                ("cl_khr_int64_base_atomics", False),  # has exchanges, but no minimum
                ("cl_khr_int64_extended_atomics", False),
                ("cl_khr_int64_base_atomics_x cl_khr_int64_extended_atomics_x", False),
            )
        ),
        *(
            ({"vendor": vendor, "extensions": said}, {"lanes": lanes, "lane_width": width})
            for vendor, said, lanes, width in (
                (NVIDIA, NVIDIA_QUERY, "ptx", 32),
                (NVIDIA, "", "local", 32),  # a layered driver: no inline PTX
                ("Intel(R) Corporation", INTEL_LANES, "khr", 16),
                # Their size cannot be fixed.
                ("Intel(R) Corporation", "cl_intel_subgroups", "local", 32),
                ("Somebody", "cl_khr_subgroups", "local", 32),
                ("Somebody", "", "local", 32),
            )
        ),
        # Volta has the instructions of lanes. Work-groups share what the generation is known for.
        *(
            (
                {
                    "vendor": NVIDIA, "extensions": NVIDIA_QUERY,
                    "compute_capability_major_nv": major, "compute_capability_minor_nv": minor,
                },
                {"lanes": lanes, "shared_local_memory": kibibytes << 10},
            )
            for major, minor, lanes, kibibytes in (
                (6, 0, "local", 0), (7, 0, "ptx", 96), (7, 5, "ptx", 64), (8, 6, "ptx", 100),
                (9, 0, "ptx", 228), (12, 0, "ptx", 100), (99, 0, "ptx", 48),
            )
        ),
    ],
)  # fmt: skip
def test_what_a_device_says(facts: dict[str, Any], expected: dict[str, Any]) -> None:
    found = detect(described(**facts))
    assert {name: getattr(found, name) for name in expected} == expected


def test_host_arrays_of_a_driver_that_does_not_answer() -> None:
    class Mute(SimpleNamespace):
        @property
        def svm_capabilities(self) -> int:
            raise cl.LogicError("clGetDeviceInfo failed: INVALID_VALUE")

    device = Mute(**vars(described(kind=CPU)))
    assert detect(device).host_arrays == "wrapped"


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
    no_doubles = capable.without(("doubles",))
    assert (no_doubles.doubles, no_doubles.lanes) == (False, "khr")
    none = capable.without(OPTIONAL)
    assert none == no_atomics.without(("lanes", "doubles")) == none.without(OPTIONAL)


@pytest.mark.parametrize("names", [("speed",), ("lanes", "int64_atomics"), ("",)])
def test_without_something_unknown(capable: Capabilities, names: tuple[str, ...]) -> None:
    with pytest.raises(
        InvalidArgumentError, match=rf"'{names[-1]}'.* int64-atomics, lanes, doubles$"
    ):
        capable.without(names)


def test_every_device_is_described(device: Device) -> None:
    """Numbers that no device can lack."""
    can = device.capabilities
    assert can == detect(device.cl_device).without(device.without)
    assert min(can.compute_units, can.max_work_group_size) >= 1
    assert 0 < can.max_allocation <= can.global_memory
    assert can.max_work_group_size % can.lane_width == 0
