"""Time exclusive scans (prefix sums) of many sizes, as Figures 5 to 9 of Sun and Skadron do.

Both the kernels alone and whole calls, with transfers, are timed. The paper's scan works in place,
in one buffer. The paper says that it is faster than a library's scan with two buffers because it
allocates less. Therefore scans with one buffer and with two are timed here, both with buffers that
are kept and with buffers that each call allocates. Figure 9 shows the time of transfers alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.case import same_values
from benchmarks.cases.inputs import host_empty, random_words
from benchmarks.cases.scans import numpy_scan
from benchmarks.runner import Row
from benchmarks.timing import seconds_of
from benchmarks.workspace import Workspace
from clmst.bench.harness import Contestant, Harness, Times
from clmst.core.weight_keys import Array
from clmst.primitives import scan
from clmst.runtime.array import DeviceArray
from clmst.runtime.launcher import Launcher, Profile

LARGEST_MIB = 512  # as in the paper, whose sizes are the powers of two from 1 MB to 512 MB

NUMPY = "NumPy, one thread"
TO_DEVICE, FROM_DEVICE = "transfer to the device", "transfer from the device"
LIMIT = "two reads and a write at the bandwidth of a copy"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrays:
    """The arrays that all compared scans (contestants) use, on the host and on the device.

    The input is `x` on the host and `values` on the device. The result is `out` on the device and
    `y` on the host.
    """

    x: Array
    values: DeviceArray
    out: DeviceArray
    y: Array


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scanner:
    """One of the compared exclusive scans, with two functions that are timed.

    `total` is the whole call: it uploads a host array, scans it, and reads the result back.
    `kernel_ms` scans on the device and returns the milliseconds of the kernels alone.
    """

    name: str
    total: Callable[[], object]
    kernel_ms: Callable[[], float]


def measure(space: Workspace, largest: int, repetitions: int) -> Iterator[Row]:
    """Time scans of all sizes from 1 MiB to `largest` MiB in turns, and yield rows of the table.

    Raises
    ------
    ValueError
        A result was wrong.
    """
    mib = 1
    while mib <= largest:
        yield from _at(space, mib, repetitions)
        space.release()
        mib *= 2


def _at(space: Workspace, mib: int, repetitions: int) -> Iterator[Row]:
    """Time scans of `mib` MiB, and yield a row for each scan, then rows for plain copies."""
    x = random_words(space, mib * 2**18)
    values, out = (space.empty(x.size, x.dtype) for _ in range(2))
    arrays = _Arrays(x=x, values=values, out=out, y=host_empty(x.size, x.dtype))
    scanners = list(_scanners(space, arrays))
    _verify(space, arrays, scanners)
    kernels: list[list[float]] = [[] for _ in scanners]
    harness = Harness(repetitions=repetitions, settle=space.finish)
    totals = [
        Times(contestant=Contestant(name=one.name, call=one.total, wait=space.finish))
        for one in scanners
    ]
    copies = []
    for _ in range(repetitions):
        copies.append(1.5 * _copy_ms(space, arrays))
        for scanner, kernel_ms, total in zip(scanners, kernels, totals, strict=True):
            harness.time(total)
            kernel_ms.append(scanner.kernel_ms())
    for scanner, kernel_ms, total in zip(scanners, kernels, totals, strict=True):
        row = {"MiB": mib, "way": scanner.name, "kernel ms": kernel_ms}
        yield row | {"total ms": total.milliseconds}
    yield {"MiB": mib, "way": LIMIT, "kernel ms": copies, "total ms": ""}
    yield from _transfers(space, mib, arrays, repetitions)


def _transfers(space: Workspace, mib: int, arrays: _Arrays, repetitions: int) -> Iterator[Row]:
    """Time copies between the device and ordinary host memory, and yield a row per direction.

    The host memory is pageable, that is, not pinned. `mib` is the size of the arrays in MiB.
    """
    launch = Launcher(space.device, space.device.queue)

    def to_device() -> None:
        arrays.values.write(arrays.x)
        space.finish()

    def from_device() -> None:
        launch.read(arrays.values.memory, arrays.y)

    for name, transfer in ((TO_DEVICE, to_device), (FROM_DEVICE, from_device)):
        transfer()
        times = [1e3 * seconds_of(transfer) for _ in range(repetitions)]
        yield {"MiB": mib, "way": name, "kernel ms": "", "total ms": times}


def can_use_pyopencl() -> bool:
    """Return whether PyOpenCL's scans can be used, which need the package Mako."""
    return find_spec("mako") is not None


def _scanners(space: Workspace, arrays: _Arrays) -> Iterator[_Scanner]:
    """Yield all scans to compare: clmst's, PyOpenCL's if its scan can be used, and NumPy's.

    clmst's scans differ in the strategy, in whether they work in place, and in whether their
    buffers are kept or allocated in each call.
    """
    yield _by_clmst(space, arrays, "reduce-then-scan")
    yield _by_clmst(space, arrays, "reduce-then-scan", buffers=1)
    yield from (_by_clmst(space, arrays, name) for name in ("scan-then-propagate", "auto"))
    yield from (_allocating(space, arrays, buffers) for buffers in (1, 2))
    if can_use_pyopencl():
        yield _by_pyopencl(space, arrays)
    yield _by_numpy(arrays)


def _verify(space: Workspace, arrays: _Arrays, scanners: Sequence[_Scanner]) -> None:
    """Call every scan once, to verify its result and to warm it up.

    Raises ValueError if a result is wrong.
    """
    expected = np.empty_like(arrays.x)
    numpy_scan(arrays.x, expected, exclusive=True)
    for scanner in scanners:
        arrays.y.fill(0xA5A5A5A5)
        space.overwrite([arrays.values, arrays.out])
        scanner.total()
        if difference := same_values([expected], [arrays.y]):
            raise ValueError(f"{scanner.name}, {arrays.x.nbytes} bytes: {difference}")
        scanner.kernel_ms()


def _allocating(space: Workspace, arrays: _Arrays, buffers: int) -> _Scanner:
    """Return a scan by clmst that allocates its buffers from the driver in each call.

    The buffers are freed before the call ends. If `buffers` is 1 the scan works in place. If it is
    2 the result is written to another buffer.
    """
    device, n, dtype = space.device, arrays.x.size, arrays.x.dtype
    launch = Launcher(device, device.queue)

    def total() -> None:
        values = DeviceArray.from_host(arrays.x, device)
        out = values if buffers == 1 else DeviceArray.empty(n, dtype, device)
        scan.exclusive_scan(values, out=out, strategy="reduce-then-scan", launch=launch)
        launch.read(out.memory, arrays.y)
        del values, out
        device.release_memory()

    kept = _by_clmst(space, arrays, "reduce-then-scan", buffers=buffers)
    many = "1 buffer" if buffers == 1 else f"{buffers} buffers"
    return replace(kept, name=f"clmst, {many} allocated", total=total)


def _by_clmst(space: Workspace, arrays: _Arrays, strategy: Any, *, buffers: int = 2) -> _Scanner:
    device, values = space.device, arrays.values
    out = values if buffers == 1 else arrays.out
    launch = Launcher(device, device.queue)

    def total() -> None:
        values.write(arrays.x)
        scan.exclusive_scan(values, out=out, strategy=strategy, launch=launch)
        launch.read(out.memory, arrays.y)

    def kernel_ms() -> float:
        profile = Profile()
        profiled = Launcher(device, device.profiling_queue, profile)
        scan.exclusive_scan(values, out=out, strategy=strategy, launch=profiled)
        profiled.queue.finish()
        return sum(kernel.milliseconds for kernel in profile.summary().values())

    name = f"clmst {strategy}" + (", in place" if buffers == 1 else "")
    return _Scanner(name=name, total=total, kernel_ms=kernel_ms)


def _by_pyopencl(space: Workspace, arrays: _Arrays) -> _Scanner:
    from pyopencl.scan import ExclusiveScanKernel

    kernel = ExclusiveScanKernel(space.device.context, arrays.x.dtype, "a+b", neutral="0")
    source, target = space.theirs(arrays.values), space.theirs(arrays.out)
    events = _recording(kernel)
    queue = space.device.profiling_queue

    def total() -> None:
        source.set(arrays.x)
        kernel(source, target)
        target.get(ary=arrays.y)

    def kernel_ms() -> float:
        events.clear()
        kernel(source, target, queue=queue)
        queue.finish()
        nanoseconds: int = sum(event.profile.end - event.profile.start for event in events)
        return nanoseconds * 1e-6

    return _Scanner(name="pyopencl", total=total, kernel_ms=kernel_ms)


def _recording(kernel: Any) -> list[Any]:
    """Return a list to which a PyOpenCL scan appends the events of all its launches from now on.

    For this, the launching functions of `kernel` are replaced. The scan itself returns only the
    event of its last launch.
    """
    events: list[Any] = []

    def recorded(launch: Callable[..., Any]) -> Callable[..., Any]:
        def launch_and_note(*arguments: Any, **options: Any) -> Any:
            events.append(launch(*arguments, **options))
            return events[-1]

        return launch_and_note

    for stage in ("first_level_scan_info", "second_level_scan_info", "final_update_info"):
        built = getattr(kernel, stage)
        setattr(kernel, stage, replace(built, kernel=recorded(built.kernel)))
    return events


def _by_numpy(arrays: _Arrays) -> _Scanner:
    def total() -> None:
        numpy_scan(arrays.x, arrays.y, exclusive=True)

    return _Scanner(name=NUMPY, total=total, kernel_ms=lambda: 1e3 * seconds_of(total))


def _copy_ms(space: Workspace, arrays: _Arrays) -> float:
    """Copy the buffer `out` to `values`, and return the milliseconds by the device's own clock."""
    import pyopencl as cl

    copy: Any = cl.enqueue_copy  # whose stub wants one kind of memory
    ends = arrays.out.memory, arrays.values.memory
    event = copy(space.device.profiling_queue, *ends, byte_count=arrays.x.nbytes)
    event.wait()
    return float(event.profile.end - event.profile.start) * 1e-6
