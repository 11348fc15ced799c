"""Discovery: which devices there are, which is best, and which one is meant."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

import clmst
from clmst import Device, InvalidArgumentError, OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.core.errors import pip_install
from clmst.runtime.embedded import VENDORS_VARIABLE
from tests.faults.injection import inject
from tests.helpers.caches import resolving_anew
from tests.helpers.forests import assert_same_forest
from tests.helpers.processes import lacks, printed
from tests.runtime.test_capabilities import INT64, described

KINDS = {
    "gpu": cl.device_type.GPU,
    "cpu": cl.device_type.CPU,
    "accelerator": cl.device_type.ACCELERATOR,
}

# (name, platform, vendor, kind, compute units), in no order.
MACHINE = (
    ("pthread-zen", "Portable Computing Language", "AuthenticAMD", "cpu", 64),
    ("UHD Graphics", "Intel(R) OpenCL Graphics", "Intel(R) Corporation", "gpu", 24),
    ("AMD EPYC", "Intel(R) OpenCL", "Intel(R) Corporation", "cpu", 32),
    ("Oclgrind Simulator", "Oclgrind", "University of Bristol", "gpu", 1024),
    ("PAC Card", "Altera SDK", "Altera", "accelerator", 500),
    ("gfx1100", "AMD Accelerated Parallel Processing", "Advanced Micro Devices", "gpu", 96),
)
# Software that plays a device, more of it than there is hardware.
SOFTWARE = (
    ("Intel(R) FPGA Emulation Device", "Intel(R) FPGA Emulation Platform for OpenCL(TM)",
     "Intel(R) Corporation", "accelerator", 2000),
    ("llvmpipe (LLVM 15.0.6, 256 bits)", "rusticl", "Mesa/X.org", "cpu", 3000),
    ("zink Vulkan 1.3(llvmpipe (LLVM 19.1.7, 256 bits))", "rusticl", "Mesa", "gpu", 4000),
    ("SwiftShader Device (LLVM 16.0.0)", "clvk", "Google Inc.", "gpu", 1500),
)  # fmt: skip
BEST_FIRST = [
    "gfx1100",
    "UHD Graphics",
    "PAC Card",
    "AMD EPYC",
    "pthread-zen",
    "Oclgrind Simulator",
]

Machine = Callable[..., None]


def fake(name: str, platform: str, vendor: str, kind: str, units: int) -> Any:
    return described(
        name=name, platform=SimpleNamespace(name=platform, vendor=vendor), vendor=vendor,
        kind=KINDS[kind], extensions=INT64, max_compute_units=units,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _no_choice(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever the caller of the tests has chosen, and what was resolved before, is forgotten."""
    monkeypatch.delenv("CLMST_DEVICE", raising=False)
    monkeypatch.delenv("CLMST_WITHOUT", raising=False)
    with resolving_anew():
        yield


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    """Return a function that puts other devices in place of the machine's own.

    All pass their trial, but for those named in `failures`. Platforms may be `more`.
    """
    with ExitStack() as stack:

        def put(
            *rows: tuple[str, str, str, str, int],
            failures: Mapping[str, str] = MappingProxyType({}),
            more: tuple[Any, ...] = (),
        ) -> None:
            platforms = [SimpleNamespace(get_devices=lambda row=row: [fake(*row)]) for row in rows]
            monkeypatch.setattr(cl, "get_platforms", lambda: [*more, *platforms])
            stack.enter_context(resolving_anew())
            trial = property(lambda device: failures.get(device.name))
            monkeypatch.setattr(Device, "trial_failure", trial)

        yield put


# --------------------------------------------------------------------- what there is


@pytest.mark.parametrize(
    ("platform", "package"),
    [
        ("Intel(R) OpenCL", "pip: clmst[cpu]"),
        ("Portable Computing Language", "Debian: pocl-opencl-icd"),
    ],
)
def test_cpu_runtimes_are_tested(platform: str, package: str) -> None:
    """Else the whole suite would pass on CI because it tested nothing."""
    usable = {entry.device.platform for entry in clmst.devices() if entry.usable}
    if platform in usable:
        return
    lacks(f"{platform} is not among the usable devices ({package}); there are {sorted(usable)}")


def test_real_devices_are_listed_best_first(any_device: Device) -> None:
    listed = clmst.devices()
    (best,) = [entry for entry in listed if entry.chosen]
    assert best is next(entry for entry in listed if entry.usable)
    assert best.device.description == any_device.description
    for entry in listed:
        assert entry.usable == (entry.reason is None)


def chosen() -> list[str]:
    return [entry.device.name for entry in clmst.devices() if entry.chosen]


@pytest.mark.parametrize("order", [1, -1])
def test_ranking(machine: Machine, order: int) -> None:
    """GPUs, other accelerators, CPUs with Intel's first, software by its kind; the larger first.

    Software shares the CPU, and is slower, whatever kind it says it is, and however many units.
    """
    last = [SOFTWARE[place][0] for place in (2, 1, 3, 0)]  # rasterisers by size, the emulator
    cpus = [row for row in MACHINE if row[3] == "cpu"]
    for rows, best_first in (
        (MACHINE, BEST_FIRST),
        ((*SOFTWARE, *MACHINE), [*BEST_FIRST[:-1], *last, BEST_FIRST[-1]]),
        ((*SOFTWARE, *cpus), ["AMD EPYC", "pthread-zen", *last]),
        ((*SOFTWARE, *cpus[:1]), ["pthread-zen", *last]),
        (SOFTWARE, last),
    ):
        machine(*rows[::order])
        assert [entry.device.name for entry in clmst.devices()] == best_first
        assert chosen() == best_first[:1] == [clmst.get_device().name]
    machine(*SOFTWARE, *cpus)
    for name, meant in (("intel", "AMD EPYC"), ("cpu", "AMD EPYC"), ("fpga", last[3]),
                        ("zink", last[0])):  # fmt: skip
        assert clmst.get_device(name).name == meant
    with pytest.raises(InvalidArgumentError, match="no device matches 'gpu'; there are: AMD EPYC"):
        clmst.get_device("gpu")


def test_device_that_fails_its_trial(machine: Machine) -> None:
    """It is listed with its reason, and the next one is chosen."""
    reason = "cannot build a kernel: unknown target CPU 'generic'"
    machine(*MACHINE, failures={"gfx1100": reason, "AMD EPYC": reason})
    listed = {entry.device.name: entry for entry in clmst.devices()}
    assert list(listed) == BEST_FIRST
    assert (listed["gfx1100"].usable, listed["gfx1100"].reason) == (False, reason)
    assert [name for name, entry in listed.items() if entry.chosen] == ["UHD Graphics"]
    assert clmst.get_device().name == "UHD Graphics"
    assert clmst.get_device("cpu").name == "pthread-zen"
    with pytest.raises(UnsupportedDeviceError, match=r"gfx1100 \(AMD.*unknown target.*; install"):
        clmst.get_device("gfx1100")
    with pytest.raises(UnsupportedDeviceError, match="unknown target"):
        clmst.get_device(listed["gfx1100"].device)


def test_no_device_passes_its_trial(machine: Machine) -> None:
    machine(*MACHINE[:2], failures={"pthread-zen": "is broken", "UHD Graphics": "is too"})
    with pytest.raises(UnsupportedDeviceError) as caught:
        clmst.get_device()
    for words in ("no usable", "pthread-zen (Portable", "is broken", "is too", "pip install"):
        assert words in str(caught.value)
    assert not any(entry.chosen for entry in clmst.devices())


def test_platform_without_devices(machine: Machine) -> None:
    """It says so by an error, which must not hide the others'."""

    def none() -> None:
        raise cl.LogicError("clGetDeviceIDs failed: DEVICE_NOT_FOUND")

    machine(*MACHINE[:1], more=(SimpleNamespace(get_devices=none),))
    assert [entry.device.name for entry in clmst.devices()] == ["pthread-zen"]


def test_machine_without_any_device(tmp_path: Path) -> None:
    """A loader that finds no driver is an error of its own, in a process that has not begun."""
    code = """
import clmst, json
try:
    clmst.get_device()
except clmst.UnsupportedDeviceError as error:
    print(json.dumps([str(error), len(clmst.devices())]))
"""
    message, n_devices = printed("-c", code, **{VENDORS_VARIABLE: str(tmp_path)})
    assert n_devices == 0
    assert message.startswith("no OpenCL device was found where OCL_ICD_VENDORS leads, '")
    for words in ("; unset that, or install a GPU driver", pip_install("cpu"), "apt install"):
        assert words in message


# -------------------------------------------------------------------- which is meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("gpu", "gfx1100"),
        ("GPU", "gfx1100"),
        ("cpu", "AMD EPYC"),
        (" cpu ", "AMD EPYC"),
        ("uhd", "UHD Graphics"),  # part of the device's name
        ("portable", "pthread-zen"),  # of the platform's
        ("pocl", "pthread-zen"),  # what everybody calls that platform
        ("altera", "PAC Card"),  # of the vendor's
        ("intel", "UHD Graphics"),  # the best of several
        ("oclgrind", "Oclgrind Simulator"),
    ],
)
def test_names(machine: Machine, monkeypatch: pytest.MonkeyPatch, name: str, meant: str) -> None:
    """By argument and by variable; and what is listed as chosen is what is used."""
    machine(*MACHINE)
    device = clmst.get_device(name)
    assert device.name == meant
    assert clmst.get_device(device.name) is device  # one object, its memory and its programs
    monkeypatch.setenv("CLMST_DEVICE", name)
    assert clmst.get_device() is device
    assert chosen() == [meant]
    assert clmst.get_device("zen").name == "pthread-zen"  # an argument wins


def test_several_devices_of_a_name(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A number tells devices apart that report the same, in the order in which they are listed."""
    twins = [("H200", "NVIDIA CUDA", "NVIDIA Corporation", "gpu", units) for units in (9, 7, 8)]
    machine(*MACHINE, *twins)

    def units_of(name: str | None) -> int:
        return int(clmst.get_device(name).cl_device.max_compute_units)

    listed = [d.device.cl_device.max_compute_units for d in clmst.devices()]
    for number, units in enumerate((9, 8, 7)):
        assert units in listed
        assert units_of(f"nvidia:{number}") == units
        assert units_of(f"H200 : {number}") == units
    assert clmst.get_device("gpu:0").name == "gfx1100"
    assert units_of("gpu:4") == 7
    assert units_of("nvidia") == 9
    with pytest.raises(InvalidArgumentError, match="no device matches 'nvidia:3'; there are"):
        clmst.get_device("nvidia:3")
    monkeypatch.setenv("CLMST_DEVICE", "nvidia:2")
    assert units_of(None) == 7
    assert [d.device.cl_device.max_compute_units for d in clmst.devices() if d.chosen] == [7]


def test_unknown_name_lists_what_there_is(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By argument and by variable."""
    machine(*MACHINE)
    monkeypatch.setenv("CLMST_DEVICE", "abacus")
    for name in ("abacus", None):
        with pytest.raises(InvalidArgumentError) as caught:
            clmst.get_device(name)
        assert str(caught.value).startswith("no device matches 'abacus'; there are: gfx1100 (AMD ")
        for device, platform, *_ in MACHINE:
            assert f"{device} ({platform})" in str(caught.value)


@pytest.mark.parametrize("wrong", [3, b"gpu", object(), [], SimpleNamespace(device=1)])
def test_device_of_another_type(wrong: object) -> None:
    with pytest.raises(InvalidArgumentError, match=re.escape(f"{wrong}; it must be None, a")):
        clmst.get_device(wrong)


def test_same_name_gives_the_same_device(any_device: Device) -> None:
    """Its programs are built once, for all its names, and for all threads."""
    begin = threading.Barrier(4)

    def first(_: int) -> Device:
        begin.wait()
        return clmst.get_device()

    with ThreadPoolExecutor(4) as threads:
        (device,) = set(threads.map(first, range(4)))
    assert clmst.get_device() is device is clmst.get_device(device.name)
    assert clmst.get_device(any_device.name) is clmst.get_device(any_device.name)
    assert clmst.get_device(any_device) is any_device


@pytest.mark.parametrize(
    ("value", "off"),
    [
        ("", ()),
        (" , ", ()),
        ("lanes", ("lanes",)),
        (" int64-atomics , lanes ", ("int64-atomics", "lanes")),
    ],
)
def test_capabilities_off_by_variable(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, value: str, off: tuple[str, ...]
) -> None:
    """Also after the same device was resolved with other ones."""
    machine(*MACHINE)
    assert clmst.get_device().without == ()
    monkeypatch.setenv("CLMST_WITHOUT", value)
    for device in (clmst.get_device(), clmst.get_device("zen"), clmst.devices()[0].device):
        assert device.without == off
        assert device.capabilities.int64_atomics == ("int64-atomics" not in off)


def test_unknown_capability_in_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLMST_WITHOUT", "lanes,speed")
    with pytest.raises(InvalidArgumentError, match="CLMST_WITHOUT names 'speed'; it takes int64"):
        clmst.get_device()


# ----------------------------------------------------------------------------- queues


@pytest.mark.parametrize("profile", [False, True])
def test_callers_queue(device: Device, profile: bool) -> None:
    """The work goes to the caller's queue, in the caller's context, and a forest stays there."""
    context = cl.Context([device.cl_device])  # kept: queues of Intel's runtime do not hold theirs
    queue = cl.CommandQueue(context)
    mine = clmst.get_device(queue)
    assert mine.queue is queue
    assert mine.context == context
    graph = clmst.generate("random", n=500, seed=2)
    expected = clmst.kruskal(graph)
    forest = clmst.minimum_spanning_forest(graph, device=queue, profile=profile)
    assert_same_forest(forest, expected)
    assert forest.stats["device"] == device.description
    kept = clmst.minimum_spanning_forest(graph, device=queue, keep_on_device=True)
    slots = np.empty(kept.n_edges, np.uint32)
    copy: Any = cl.enqueue_copy  # whose stub wants one kind of memory
    copy(queue, slots, kept.slots)
    np.testing.assert_array_equal(slots, expected.edge_ids)


def test_queue_of_a_device_without_a_capability(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLMST_WITHOUT", "int64-atomics")
    device = clmst.get_device(cl.CommandQueue(any_device.context))
    expected = any_device.capabilities.without(("int64-atomics",))
    assert asdict(device.capabilities) == asdict(expected)


def test_memory_that_others_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """NVIDIA's driver blames the host if a GPU lacks memory for another context."""
    full = "no memory left for a context .*OUT_OF_HOST"
    with monkeypatch.context() as patch:
        inject(patch, "context").let_fail()
        with pytest.raises(OutOfDeviceMemoryError, match=full):
            clmst.get_device()
        listed = clmst.devices()
    assert listed
    assert not any(entry.usable for entry in listed)
    assert all("no memory left for a context" in str(entry.reason) for entry in listed)
    assert clmst.get_device().trial_failure is None  # nothing of it is kept
