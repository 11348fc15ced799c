"""Kernel launches and transfers in a queue, with their times if a profile is requested."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from clmst.core.errors import DeviceError
from clmst.core.weight_keys import Array
from clmst.runtime.handles import Event, Kernel, KernelArgument, Memory, Queue
from clmst.runtime.program import Program
from clmst.runtime.quirks import MOST_FILLED
from clmst.runtime.transfer import Transfer

if TYPE_CHECKING:
    from clmst.runtime.device import Device

_CLOCK_READINGS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTime:
    """Number of launches of a kernel, and the device time of all launches in milliseconds."""

    launches: int
    milliseconds: float


@dataclass(slots=True)
class Profile:
    """Collects the OpenCL events of a solve, from which the times of kernels are read.

    The times can be read after the queue of the solve has finished.
    """

    _events: list[tuple[str, str | None, Event]] = field(default_factory=list)

    def add(self, name: str, event: Event, phase: str | None = None) -> None:
        """Add the event of a kernel or transfer called `name`, and the phase of the event.

        None as `phase` means that the event is outside of all phases.
        """
        self._events.append((name, phase, event))

    def summary(self) -> dict[str, KernelTime]:
        """Return the number of launches and the device time of each kernel, longest time first.

        Transfers have names in parentheses.
        """
        times = _totals((name, event) for name, _, event in self._events)
        return dict(sorted(times.items(), key=lambda item: -item[1].milliseconds))

    def phases(self) -> dict[str, KernelTime]:
        """Return the launches and the device time of each phase, a step of the algorithm, by name.

        The phases are in the order in which they began.
        """
        return _totals((phase, event) for _, phase, event in self._events if phase is not None)

    def span(self) -> tuple[float, float] | None:
        """Return when the first recorded command began and when the last one ended.

        The two times are by the device's clock, and are in seconds. Returns None before the first
        event.
        """
        times = [(event.profile.start, event.profile.end) for _, _, event in self._events]
        if not times:
            return None
        return 1e-9 * min(start for start, _ in times), 1e-9 * max(end for _, end in times)


def _totals(events: Iterable[tuple[str, Event]]) -> dict[str, KernelTime]:
    totals: dict[str, KernelTime] = {}
    for name, event in events:
        before = totals.get(name, KernelTime(launches=0, milliseconds=0.0))
        spent = (event.profile.end - event.profile.start) * 1e-6
        totals[name] = KernelTime(
            launches=before.launches + 1, milliseconds=before.milliseconds + spent
        )
    return totals


class Launcher:
    """Enqueues kernels and transfers in a queue of a device, and records their times on request.

    Only one thread at a time may enqueue in a queue, or wait for it (quirk: nvidia-two-threads).
    """

    def __init__(self, device: Device, queue: Queue, profile: Profile | None = None) -> None:
        self.device = device
        self.queue = queue
        self.profile = profile
        self.launches = 0
        self._phase: str | None = None

    @classmethod
    def of(cls, device: Device, *, profile: bool) -> Launcher:
        """Create a launcher for the device's own queue, or with `profile` for its profiling queue.

        With `profile`, the call first waits until the device's own queue has finished.
        """
        if not profile:
            return cls(device, device.queue)
        with device.lock:
            device.queue.finish()
        return cls(device, device.profiling_queue, Profile())

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Let the profile count commands that are enqueued inside the ``with`` as a phase.

        A phase is a step of an algorithm, and `name` is its name. Yields None.
        """
        outer, self._phase = self._phase, name
        try:
            yield
        finally:
            self._phase = outer

    def _note(self, name: str, event: Event) -> Event:
        if self.profile is not None:
            self.profile.add(name, event, self._phase)
        return event

    def __call__(
        self, program: Program, name: str, groups: int, *arguments: KernelArgument
    ) -> Event:
        """Enqueue the kernel `name` on `groups` work-groups of the program's size, without waiting.

        `arguments` are the arguments of the kernel. Python integers are passed as 32-bit words. A
        DeviceArray must be given by its `memory`; :meth:`enqueue` converts it.
        """
        local = program.work_group_size
        with self.device.lock:  # arguments are set on the kernel object, which other threads share
            kernel: Any = program.kernel(name, arguments)  # its type stub does not know DeviceArray
            event: Event = kernel(self.queue, (groups * local,), (local,), *arguments)
        self.launches += 1
        return self._note(name, event)

    def enqueue(self, program: Program, name: str, groups: int, *arguments: KernelArgument) -> None:
        """Enqueue a kernel as :meth:`__call__` does, but also accept DeviceArrays as arguments.

        The kernel is the function `name` of `program`. It runs in `groups` work-groups.
        """
        self(program, name, groups, *map(_memory_of, arguments))

    def for_each(
        self, program: Program, name: str, n_items: int, *arguments: KernelArgument,
        alone: bool = False,
    ) -> None:  # fmt: skip
        """Enqueue a kernel that loops over `n_items` items, without waiting.

        The kernel is the function `name` of `program`. The macro GRID_FOR in it divides the items
        among the work-groups. With `alone`, one work-group processes all items. Nothing is enqueued
        if `n_items` is 0. `arguments` are passed as in :meth:`enqueue`.
        """
        if n_items:
            groups = 1 if alone else self.groups_for(-(-n_items // program.grid_tile))
            self(program, name, groups, *map(_memory_of, arguments))

    def preset(self, kernel: Kernel, name: str, groups: int, local: int) -> Event:
        """Enqueue a kernel whose arguments have been set already, by ``Program.preset``.

        There are `groups` work-groups of `local` work-items. `name` is for the profile.
        """
        import pyopencl as cl

        with self.device.lock:
            event = cl.enqueue_nd_range_kernel(self.queue, kernel, (groups * local,), (local,))
        self.launches += 1
        return self._note(name, event)

    def stats_with(self, stats: Mapping[str, Any], algorithm: str) -> Mapping[str, Any]:
        """Return the statistics of a result: algorithm, device, number of launches, and `stats`.

        If the launcher has a profile, the result includes the times by kernel and by phase.
        """
        merged = {
            "algorithm": algorithm,
            "device": self.device.description,
            "launches": self.launches,
            **stats,
        }
        if self.profile is not None:
            merged["profile"] = self.profile.summary()
            if phases := self.profile.phases():
                merged["phases"] = phases
        return merged

    def groups_for(self, n_items: int) -> int:
        """Return the number of work-groups to launch for `n_items` units of work, such as tiles.

        The number is at least 1, at most `n_items`, and at most the number of work-groups that the
        device runs at the same time.
        """
        tuning = self.device.policy
        resident = self.device.capabilities.compute_units * tuning.groups_per_compute_unit
        return max(1, min(resident, n_items))

    def read(self, buffer: Memory, out: Array, *, offset: int = 0) -> None:
        """Copy from `buffer`, beginning at byte `offset`, into the host array `out`. Blocks.

        Asynchronous reads are not faster (quirk: nvidia-asynchronous-read; benchmarks/log.md).
        """
        import pyopencl as cl

        if out.nbytes >= self.device.staging.shape.from_bytes:
            self.read_all(Transfer(buffer=buffer, array=out, offset=offset))
            return
        with self.device.lock:
            event = cl.enqueue_copy(self.queue, out, buffer, src_offset=offset, is_blocking=True)
            self._note("(read back)", event)

    def read_words(self, buffer: Memory, count: int, *, first: int = 0) -> list[int]:
        """Return `count` 32-bit words of `buffer`, beginning with word number `first`. Blocks."""
        words = np.empty(count, np.uint32)
        self.read(buffer, words, offset=4 * first)
        found: list[int] = words.tolist()
        return found

    def read_word(self, buffer: Memory) -> int:
        """Return the first 32-bit word of `buffer`. Blocks."""
        return self.read_words(buffer, 1)[0]

    def read_count(self, buffer: Memory, most: int) -> int:
        """Read a count that a kernel has stored as the first 32-bit word of `buffer`. Blocks.

        Raises DeviceError if the count is greater than `most`, the size of the array that is
        counted. Without this check, a kernel that processes the counted items would access memory
        beyond the array.
        """
        count = self.read_word(buffer)
        check_count(self.device, count, most)
        return count

    def read_all(self, *transfers: Transfer) -> None:
        """Copy from the device into host arrays, as `transfers` list them.

        Blocks until all copies are done.
        """
        with self.device.lock:
            self.device.staging.fetch(
                self.queue, transfers, lambda event: self._note("(read back)", event)
            )

    def fill(
        self, buffer: Memory, value: int, count: int, dtype: npt.DTypeLike = np.uint32
    ) -> None:
        """Set the first `count` integers of `buffer` to `value`, without waiting.

        `dtype` is the dtype of the integers, of 1, 2, 4 or 8 bytes.
        """
        import pyopencl as cl

        pattern = np.array([value], dtype)
        n_bytes = pattern.itemsize * count
        if n_bytes > MOST_FILLED:  # quirk: nvidia-large-fill
            eight_bytes = np.resize(pattern, 8 // pattern.itemsize).view(np.uint64)[0]
            program = self.device.program("device/fill.cl")
            n_words = -(-n_bytes // 8)
            self.for_each(program, "fill_bytes", n_words, buffer, eight_bytes, np.uint64(n_bytes))
        elif n_bytes:
            with self.device.lock:
                fill: Any = cl.enqueue_fill_buffer  # its type stub does not accept SVM
                event: Event = fill(self.queue, buffer, pattern, 0, n_bytes)
                self._note("(fill)", event)

    def write(self, buffer: Memory, array: Array) -> Event:
        """Copy the host array into `buffer`. Blocks."""
        import pyopencl as cl

        with self.device.lock:
            return cl.enqueue_copy(self.queue, buffer, array, is_blocking=True)

    def copy(self, source: Memory, target: Memory, n_bytes: int, offset: int = 0) -> None:
        """Enqueue a copy of the first `n_bytes` bytes of `source` to `target`, without waiting.

        The copy begins at byte `offset` of `target`.
        """
        import pyopencl as cl

        if n_bytes:
            with self.device.lock:
                enqueue: Any = cl.enqueue_copy  # its type stub does not accept SVM
                event: Event = enqueue(
                    self.queue, target, source, dst_offset=offset, byte_count=n_bytes
                )
                self._note("(copy)", event)

    def host_less_device(self) -> float:
        """Measure by how many seconds the host's clock is ahead of the device's clock. Blocks.

        The launcher must be for a profiling queue. The host's clock is ``time.perf_counter``. Every
        command starts after the host has enqueued it, and ends before the host sees its end, which
        bounds the difference from both sides. The tightest bounds of several commands differ by
        some ten microseconds, and their mean is returned.
        """
        import pyopencl as cl

        least, most = -math.inf, math.inf
        with self.device.lock:
            # The difference of the two clocks is measured by commands that fill one word. Markers
            # would do less, but some implementations of OpenCL do not give their times.
            word = self.device.allocate(4)
            for _ in range(_CLOCK_READINGS):
                before = time.perf_counter()
                event: Any = cl.enqueue_fill_buffer(self.queue, word, np.zeros(1, np.uint32), 0, 4)
                event.wait()
                after = time.perf_counter()
                least = max(least, before - 1e-9 * event.profile.start)
                most = min(most, after - 1e-9 * event.profile.end)
        return (least + most) / 2


def check_count(device: Device, count: int, most: int) -> None:
    """Raise DeviceError if `count`, a number that a kernel has computed, is greater than `most`.

    A number greater than `most` shows that the device, its driver or clmst is at fault.
    """
    if count > most:
        raise DeviceError(
            f"{device.description} has counted {count} of at most {most}; the device or its driver "
            "is at fault, or clmst is: please report it"
        )


def _memory_of(argument: KernelArgument) -> KernelArgument:
    """Return the memory of a :class:`DeviceArray`. Return any other argument unchanged."""
    return getattr(argument, "memory", argument)
