"""Programs: which macros a device gets, what a specialisation is called, what a failure says."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyopencl as cl
import pytest

from clmst import Device, KernelBuildError
from clmst.runtime import program, source, specialisation
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.specialisation import Prelude, Specialisation, specialise
from tests.runtime.test_policy import CAPABILITIES
from tests.variants import GPU_SHAPE, variants

SUBGROUPS = replace(CAPABILITIES["gpu"], lanes="khr", lane_width=16)
WARPS = replace(CAPABILITIES["gpu"], lanes="ptx", int64_atomics=False)


def macros(capabilities: Capabilities, **defines: int | bool) -> dict[str, int]:
    return dict(specialise("device/trial.cl", capabilities, GPU_SHAPE, **defines).defines)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the one kernel source there is, called ``some/file.cl``, to be written."""
    monkeypatch.setattr(source, "root", lambda: tmp_path)
    source.compose.cache_clear()
    (tmp_path / "some").mkdir()
    yield tmp_path / "some" / "file.cl"
    source.compose.cache_clear()


# -------------------------------------------------------------------- specialisations


def test_order_of_macros_means_nothing() -> None:
    """Else one program would be built twice."""
    one = Specialisation.of("a/b.cl", {"B": 2, "A": True})
    other = Specialisation.of("a/b.cl", {"A": 1, "B": 2})
    assert one == other
    assert hash(one) == hash(other)
    assert one.defines == (("A", 1), ("B", 2))
    assert one != Specialisation.of("a/c.cl", {"A": 1, "B": 2})


def test_label_and_options() -> None:
    one = Specialisation.of("algorithms/ecl/ecl.cl", {"WG_SIZE": 256, "ATOMIC64": True})
    assert one.label == "ecl[ATOMIC64=1,WG_SIZE=256]"
    assert one.options == ["-cl-std=CL1.2", "-DATOMIC64=1", "-DWG_SIZE=256"]
    assert Specialisation.of("a.cl", {}).label == "a[]"


def test_work_items_that_are_alone_are_not_made_into_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Intel's compiler would keep each kernel twice: by vectors of work-items, which never run."""
    device = next((one.device for one in variants() if "Intel" in one.device.platform), None)
    if device is None:
        pytest.skip("Intel's runtime for CPUs is not here")
    source_name = "algorithms/dense/dense.cl"
    alone = specialise(source_name, device.capabilities, device.policy, WG_SIZE=1)
    assert [option for option in alone.options if option.startswith("-Dkernel=")]
    size = binary_size(device, alone)
    monkeypatch.setattr(specialisation, "_ALONE", "-DNOTHING")
    assert size < 0.8 * binary_size(device, alone)


def binary_size(device: Device, one: Specialisation) -> int:
    """Return the bytes of a program that is built anew."""
    built = program._compile(device.context, device.cl_device, one.text, one.options)
    return len(program._binary_of(built, device.cl_device))


def test_traits_become_macros() -> None:
    shape = {"WG_SIZE": GPU_SHAPE.work_group_size}
    assert macros(SUBGROUPS) == shape | {"LANES": 16, "LANES_IMPL": 1, "ATOMIC64": 1}
    assert macros(WARPS) == shape | {"LANES": 32, "LANES_IMPL": 2, "ATOMIC64": 0}
    local = SUBGROUPS.without(("lanes", "int64-atomics"))
    assert macros(local) == shape | {"LANES": 16, "LANES_IMPL": 0, "ATOMIC64": 0}


def test_single_work_items_have_no_lanes() -> None:
    """Neither where a device's policy says so nor where one program does."""
    lone = {"WG_SIZE": 1, "LANES": 1, "LANES_IMPL": 0, "ATOMIC64": 1}
    assert macros(SUBGROUPS, WG_SIZE=1) == lone
    tuning = replace(GPU_SHAPE, work_group_size=1)
    assert dict(specialise("device/trial.cl", SUBGROUPS, tuning).defines) == lone


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


def test_given_macros_win() -> None:
    assert macros(SUBGROUPS, LANES_IMPL=0)["LANES_IMPL"] == 0
    assert macros(SUBGROUPS, WG_SIZE=128)["WG_SIZE"] == 128
    assert macros(SUBGROUPS, TUPLES=False)["TUPLES"] == 0


# -------------------------------------------------------------------------- building


def test_macros_arrive(any_device: Device, file: Path) -> None:
    file.write_text("#if A == 3 && B == 0\nkernel void right(void) {}\n#endif\n")
    one = Specialisation.of("some/file.cl", {"A": 3, "B": False})
    built = program.build(any_device.context, any_device.cl_device, one)
    assert [kernel.function_name for kernel in built.all_kernels()] == ["right"]


def test_failure_says_what_where_and_why(any_device: Device, file: Path) -> None:
    file.write_text("\nkernel void wrong(void) { undeclared_thing = A; }\n")
    with pytest.raises(KernelBuildError) as caught:
        any_device.program("some/file.cl", A=7)
    error = caught.value
    assert isinstance(error.__cause__, cl.Error)
    assert error.label.startswith("file[A=7,WG_SIZE=")
    assert error.device == any_device.name
    assert "cl/some/file.cl:2:" in error.log
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


def test_device_builds_each_program_once(device: Device) -> None:
    program_ = device.program("device/trial.cl")
    assert device.program("device/trial.cl") is program_
    assert device.program("device/trial.cl", UNHEARD_OF=1) is not program_
    assert program_.work_group_size == device.policy.work_group_size


# --------------------------------------------------------------------------- preludes


def test_prelude_belongs_to_the_specialisation() -> None:
    """Two operators are two programs, even of one name; and it is no macro's value."""
    plain = Specialisation.of("a/b.cl", {"B": 2})
    one = Specialisation.of("a/b.cl", {"B": 2}, Prelude("uint32 sum", "#define T uint"))
    same = Specialisation.of("a/b.cl", {"B": 2}, Prelude("uint32 sum", "#define T uint"))
    other = Specialisation.of("a/b.cl", {"B": 2}, Prelude("uint32 sum", "#define T int"))
    assert one == same
    assert hash(one) == hash(same)
    assert len({plain, one, same, other}) == 3
    assert one.options == plain.options
    assert plain.label == "b[B=2]"
    assert one.label == "b[uint32 sum,B=2]"
    assert Specialisation.of("b.cl", {}, Prelude("mine", "")).label == "b[mine]"


def test_prelude_goes_before_the_file(file: Path) -> None:
    file.write_text("uint size = SIZE;\n")
    plain = Specialisation.of("some/file.cl", {})
    one = Specialisation.of("some/file.cl", {}, Prelude("mine", "// one\n#define SIZE 4"))
    assert plain.text.splitlines() == ['#line 1 "cl/some/file.cl"', "uint size = SIZE;"]
    assert one.text.splitlines() == [
        '#line 1 "mine"',
        "// one",
        "#define SIZE 4",
        '#line 1 "cl/some/file.cl"',
        "uint size = SIZE;",
    ]


def test_prelude_reaches_the_compiler(any_device: Device, file: Path) -> None:
    file.write_text("#ifdef RIGHT\nkernel void right(void) {}\n#endif\n")
    built = any_device.program("some/file.cl", Prelude("mine", "#define RIGHT"))
    assert built.specialisation.prelude == Prelude("mine", "#define RIGHT")
    assert built.kernel("right", ()).function_name == "right"


def test_device_keeps_one_program_a_prelude(any_device: Device, file: Path) -> None:
    """Whatever the order in which macros are given."""
    file.write_text("kernel void same(void) {}\n")
    device = Device(any_device.cl_device)
    preludes = Prelude("mine", ""), Prelude("mine", "#define RIGHT"), None
    first, second, third = (device.program("some/file.cl", p, A=1, B=2) for p in preludes)
    assert len({id(first), id(second), id(third)}) == 3
    again = device.program("some/file.cl", Prelude("mine", ""), A=1, B=2)
    assert again is first


@pytest.mark.parametrize("place", ["prelude", "file"])
def test_messages_count_the_lines_of_each(device: Device, file: Path, place: str) -> None:
    """A caller looks for a fault in their own text, and not behind ours."""
    fault = "kernel void wrong(void) { undeclared_thing = 1; }"
    file.write_text(f"\n\n{fault if place == 'file' else ''}\n")
    prelude = Prelude("my operator", f"// one\n{fault if place == 'prelude' else ''}\n// three")
    with pytest.raises(KernelBuildError) as caught:
        device.program("some/file.cl", prelude)
    where = {"prelude": "my operator:2:", "file": "cl/some/file.cl:3:"}[place]
    assert where in caught.value.log
    assert caught.value.label.startswith("file[my operator,")


def test_threads_build_a_program_once(any_device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else each thread would wait for its own, and silence warnings for the others."""
    device = Device(any_device.cl_device)
    device.check_usable()
    builds: list[str] = []
    build = program.build

    def counted(
        context: object, cl_device: object, specialisation: Specialisation, **options: bool
    ) -> object:
        builds.append(specialisation.label)
        time.sleep(0.05)
        return build(context, cl_device, specialisation, **options)

    monkeypatch.setattr(program, "build", counted)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: device.program("device/trial.cl", UNHEARD_OF=2), range(8)))
    assert len(builds) == 1
    assert len(set(map(id, found))) == 1
