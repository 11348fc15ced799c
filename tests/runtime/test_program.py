"""Programs: which macros a device gets, what a specialisation is called, what a failure says."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyopencl as cl
import pytest

from clmst import Device, KernelBuildError
from clmst.runtime import program
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.specialisation import Prelude, Specialisation, specialise
from tests.helpers.kernel_sources import sources_in
from tests.helpers.variants import GPU_SHAPE, variants
from tests.runtime.test_policy import CAPABILITIES

SUBGROUPS = replace(CAPABILITIES["gpu"], lanes="khr", lane_width=16)
WARPS = replace(CAPABILITIES["gpu"], lanes="ptx", int64_atomics=False)


def macros(capabilities: Capabilities, **defines: int | bool) -> dict[str, int]:
    return dict(specialise("device/trial.cl", capabilities, GPU_SHAPE, **defines).defines)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """Return the one kernel source there is, called ``some/file.cl``, to be written."""
    (tmp_path / "some").mkdir()
    with sources_in(tmp_path):
        yield tmp_path / "some" / "file.cl"


# -------------------------------------------------------------------- specialisations


def test_names_and_options() -> None:
    """The order of macros means nothing: else one program would be built twice."""
    one = Specialisation.of("algorithms/ecl/ecl.cl", {"WG_SIZE": 256, "ATOMIC64": True})
    assert one == Specialisation.of("algorithms/ecl/ecl.cl", {"ATOMIC64": 1, "WG_SIZE": 256})
    assert one.label == "ecl[ATOMIC64=1,WG_SIZE=256]"
    assert one.options == ["-cl-std=CL1.2", "-DATOMIC64=1", "-DWG_SIZE=256"]
    assert Specialisation.of("a.cl", {}).label == "a[]"
    assert Specialisation.of("b.cl", {}, Prelude("mine", "")).label == "b[mine]"


def test_work_items_that_are_alone_are_not_made_into_vectors() -> None:
    """Intel's compiler would keep each kernel twice: by vectors of work-items, which never run."""
    device = next((one.device for one in variants() if "Intel" in one.device.platform), None)
    if device is None:
        pytest.skip("Intel's runtime for CPUs is not here")
    source_name = "algorithms/dense/dense.cl"
    alone = specialise(source_name, device.capabilities, device.policy, WG_SIZE=1)
    undeclared = [option for option in alone.options if not option.startswith("-Dkernel=")]
    assert len(undeclared) == len(alone.options) - 1
    sizes = [
        len(cl.Program(device.context, alone.text).build(options).binaries[0])
        for options in (alone.options, undeclared)
    ]
    assert sizes[0] < 0.8 * sizes[1]


@pytest.mark.parametrize(
    ("capabilities", "given", "expected"),
    [
        (SUBGROUPS, {}, {"LANES": 16, "LANES_IMPL": 1, "ATOMIC64": 1}),
        (WARPS, {}, {"LANES": 32, "LANES_IMPL": 2, "ATOMIC64": 0}),
        (
            SUBGROUPS.without(("lanes", "int64-atomics")), {},
            {"LANES": 16, "LANES_IMPL": 0, "ATOMIC64": 0},
        ),
        # Single work-items lack lanes. What is given wins.
        (SUBGROUPS, {"WG_SIZE": 1}, {"LANES": 1, "LANES_IMPL": 0, "ATOMIC64": 1}),
        (
            SUBGROUPS, {"LANES_IMPL": 0, "WG_SIZE": 128, "TUPLES": False},
            {"LANES": 16, "ATOMIC64": 1},
        ),
    ],
)  # fmt: skip
def test_traits_become_macros(
    capabilities: Capabilities, given: dict[str, int], expected: dict[str, int]
) -> None:
    shape = {"WG_SIZE": GPU_SHAPE.work_group_size}
    assert macros(capabilities, **given) == shape | expected | given
    if given.get("WG_SIZE") == 1:  # as where a policy says so
        tuning = replace(GPU_SHAPE, work_group_size=1)
        one = specialise("device/trial.cl", capabilities, tuning)
        assert dict(one.defines) == expected | given


def test_traits_that_a_source_does_not_look_at() -> None:
    """Else devices that differ in nothing else would each build their own."""
    fill = "device/fill.cl"
    with_lanes = specialise(fill, SUBGROUPS, GPU_SHAPE)
    assert dict(with_lanes.defines) == {
        "WG_SIZE": GPU_SHAPE.work_group_size,
        "LANES": 16,
        "LANES_IMPL": 1,
    }
    assert specialise(fill, SUBGROUPS.without(("int64-atomics",)), GPU_SHAPE) == with_lanes
    assert specialise(fill, SUBGROUPS.without(("lanes",)), GPU_SHAPE) != with_lanes
    asking = Prelude("mine", "uint wide = ATOMIC64;")
    assert dict(specialise(fill, SUBGROUPS, GPU_SHAPE, asking).defines)["ATOMIC64"] == 1
    assert dict(specialise(fill, WARPS, GPU_SHAPE, ATOMIC64=1).defines)["ATOMIC64"] == 1


# -------------------------------------------------------------------------- building


def test_macros_and_preludes_arrive(any_device: Device, file: Path) -> None:
    text = "#if A == 3 && B == 0 && defined RIGHT\nkernel void right(void) {}\n#endif\n"
    file.write_text(text)
    built = any_device.program("some/file.cl", Prelude("mine", "#define RIGHT"), A=3, B=False)
    assert built.specialisation.prelude == Prelude("mine", "#define RIGHT")
    assert built.kernel("right", ()).function_name == "right"


@pytest.mark.parametrize("place", ["my operator:2:", "cl/some/file.cl:3:"])
def test_failure_says_what_where_and_why(device: Device, file: Path, place: str) -> None:
    """A caller looks for a fault in their own text, and not behind ours: lines of each count."""
    fault = "kernel void wrong(void) { undeclared_thing = A; }"
    file.write_text(f"\n\n{'' if 'my' in place else fault}\n")
    prelude = Prelude("my operator", f"// one\n{fault if 'my' in place else ''}\n// three")
    with pytest.raises(KernelBuildError) as caught:
        device.program("some/file.cl", prelude, A=7)
    error = caught.value
    assert isinstance(error.__cause__, cl.Error)
    assert error.label.startswith("file[my operator,A=7,WG_SIZE=")
    assert error.device == device.name
    assert place in error.log
    for words in (error.label, error.device, error.log.strip()):
        assert words in str(error)


def test_warnings_of_the_compiler_are_not_python_warnings(any_device: Device, file: Path) -> None:
    """A user can do nothing about them; the offline builds see them."""
    file.write_text("kernel void a(global uint *p) { int unused; p[0] = (uint)p; }\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program.build(
            any_device.context, any_device.cl_device, Specialisation.of("some/file.cl", {})
        )


def test_device_keeps_one_program_a_prelude(any_device: Device, file: Path) -> None:
    """Whatever the order in which macros are given."""
    file.write_text("kernel void same(void) {}\n")
    device = Device(any_device.cl_device)
    preludes = Prelude("mine", ""), Prelude("mine", "#define RIGHT"), None
    first, second, third = (device.program("some/file.cl", p, A=1, B=2) for p in preludes)
    assert len({id(first), id(second), id(third)}) == 3
    again = device.program("some/file.cl", Prelude("mine", ""), A=1, B=2)
    assert again is first
    assert again.work_group_size == device.policy.work_group_size


def test_threads_build_a_program_once(
    any_device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:  # fmt: skip
    """Else each thread would wait for its own, and silence warnings for the others."""
    device = Device(any_device.cl_device)
    device.check_usable()
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))  # which lacks a binary of it
    with caplog.at_level(logging.INFO, "clmst"), ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: device.program("device/trial.cl", UNHEARD_OF=2), range(8)))
    assert caplog.text.count("compiling kernels (trial)") == 1
    assert len(set(map(id, found))) == 1
