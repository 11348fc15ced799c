"""A device with its context, queue, programs and memory pool."""

from __future__ import annotations

import threading
import time
from typing import Any, cast

from clmst.core.arguments import check_bool, check_integer, check_kind, check_texts
from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.core.lazy import LazyProperty
from clmst.core.weight_keys import Array
from clmst.route import DeviceFacts
from clmst.runtime import ahead, device_memory, failures, forking, policy, program, trial
from clmst.runtime.capabilities import Capabilities, check_queue, detect
from clmst.runtime.device_memory import check_uploaded, in_place
from clmst.runtime.handles import Buffer, Context, Memory, Pool, Queue
from clmst.runtime.policy import Policy
from clmst.runtime.program import Program
from clmst.runtime.specialisation import Prelude, Specialisation, check_request, specialise
from clmst.runtime.transfer import Staging, Transfer
from clmst.runtime.trust import Trust, TrustRecord


class Device(forking.OfOneProcess):
    """An OpenCL device as clmst uses it.

    :func:`clmst.devices` and :func:`clmst.get_device` return devices. Context, queue, programs and
    memory pool are created when they are first needed. They belong to this object and are freed
    with it.

    Parameters
    ----------
    cl_device : pyopencl.Device
        The device of PyOpenCL.
    queue : pyopencl.CommandQueue, optional
        A queue of the caller in which all work is done. By default the device creates its own.
    without : tuple of str
        Capabilities to force off: "int64-atomics", "lanes".
    tuning : Policy, optional
        The sizes of work-groups, tiles and launches. By default it is chosen by the kind and the
        vendor of the device.

    Examples
    --------
    >>> import clmst
    >>> device = clmst.get_device()
    >>> print(device.name, "of", device.platform, device.driver)  # doctest: +SKIP
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> clmst.minimum_spanning_forest(graph, device=device).total_weight
    3
    """

    def __init__(
        self,
        cl_device: Any,
        *,
        queue: Queue | None = None,
        without: tuple[str, ...] = (),
        tuning: Policy | None = None,
        _trusted: bool = False,
        _optimised: bool = True,
    ) -> None:
        forking.opening()
        if queue is not None:
            check_queue(queue, cl_device)
        if tuning is not None:
            check_kind("tuning", tuning, Policy)
        self.cl_device = cl_device
        self.without = without = check_texts("without", without)
        self.capabilities: Capabilities = detect(cl_device).without(without)
        self._tuning = tuning
        self.is_optimised = _optimised  # whether the compiler may optimise programs for the device
        self.lock = threading.RLock()
        self._caller_queue = queue
        self._programs: dict[tuple[Any, ...], Program] = {}
        self.builds: ahead.Builds = {}  # for each program that a helper builds, the build's future
        # For each program that this process has asked for: whether it was compiled now (True) or
        # loaded from a cache (False).
        self.built: dict[Specialisation, bool] = {}
        self.notes_builds = False  # whether each build is recorded on disk (`ahead.note_built`)
        # ``programs.json`` lists the programs that usual calls need. This set has the indices in
        # that list of all programs that the calls of this process are expected to need.
        self.expected: set[int] = set()
        self.longest_build = 0.0  # longest time, in seconds, of building or loading a program here
        self._advised: set[int] = set()
        self._trust_record = TrustRecord(given=_trusted)
        self.times_renewed = 0
        # Whether work-groups may wait for one another. False once a wait has taken too long.
        self.groups_may_wait = True
        forking.replace_locks(self, "lock")

    @property
    def name(self) -> str:
        """The name of the device, as the driver reports the name."""
        return str(self.cl_device.name).strip()

    @property
    def platform(self) -> str:
        """The name of the device's platform, that is, of the OpenCL implementation."""
        return str(self.cl_device.platform.name).strip()

    @property
    def driver(self) -> str:
        """The version of the driver."""
        return str(self.cl_device.driver_version).strip()

    @LazyProperty
    def description(self) -> str:
        """The name of the device, followed by the name of the platform in parentheses."""
        return f"{self.name} ({self.platform})"

    @property
    def facts(self) -> DeviceFacts:
        """The facts about the device by which :mod:`clmst.route` chooses an algorithm."""
        capabilities = self.capabilities
        return DeviceFacts(
            alone=self.policy.work_group_size == 1,
            compute_units=capabilities.compute_units,
            host_arrays=capabilities.host_arrays,
        )

    def __repr__(self) -> str:
        off = f", without={self.without}" if self.without else ""
        return f"Device({self.name!r}, platform={self.platform!r}{off})"

    def forcing_off(self, *names: str) -> Device:
        """Return another Device of this hardware with some capabilities switched off.

        `names` may be "int64-atomics", for 64-bit atomics, and "lanes", for sub-group operations.
        """
        return self._like(self._tuning, self._caller_queue, *names)

    def with_policy(self, tuning: Policy) -> Device:
        """Return another Device of this hardware with other sizes of work-groups and tiles.

        `tuning` has these sizes. Both devices give equal results.
        """
        check_kind("tuning", tuning, Policy)
        other = self._like(tuning, self._caller_queue)
        most = self.capabilities.max_work_group_size
        if self.policy.work_group_size == 1 < tuning.work_group_size <= most:
            # Every device is tried with small kernels before use. The kernels of `self` have
            # work-groups of one work-item, so its trial did not cover lanes (work-items that run in
            # lockstep). The kernels of `other` use lanes, so `other` needs its own trial.
            _ = other.trial_failure
        return other

    def twin(self) -> Device:
        """Return another Device of this hardware with a context of its own.

        The twin runs all kernels without self-tests, for callers that check every answer
        themselves.
        """
        other = self._like(self.policy, None)
        other.trust.given = True
        return other

    def _like(self, tuning: Policy | None, queue: Queue | None, *names: str) -> Device:
        other = Device(
            self.cl_device, queue=queue, without=(*self.without, *names), tuning=tuning,
            _trusted=self.trust.given, _optimised=self.is_optimised,
        )  # fmt: skip
        other.capabilities = self.capabilities.without(names)  # keeps what the trial has turned off
        return other

    @LazyProperty
    def policy(self) -> Policy:
        """The sizes of work-groups, tiles and launches on this device."""
        if self._tuning is not None:
            return self._tuning
        policy.warn_of_old_table()
        return policy.choose(self.capabilities, str(self.cl_device.platform.vendor).strip())

    @property
    def trust(self) -> Trust:
        """The self-tests of the device, and the results of those that have run."""
        return Trust(self, self._trust_record)

    @LazyProperty
    def context(self) -> Context:
        """The ``pyopencl.Context`` of this device's queue."""
        if self._caller_queue is not None:
            return self._caller_queue.context
        return failures.new_context(self.cl_device, self.description)

    @LazyProperty
    def queue(self) -> Queue:
        """The ``pyopencl.CommandQueue`` in which the device does all work."""
        return self._caller_queue or self.new_queue()

    @LazyProperty
    def profiling_queue(self) -> Queue:
        """A second queue in the same context, which records the times of the commands in it."""
        import pyopencl as cl

        profiling = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.context, self.cl_device, properties=profiling)

    def new_queue(self) -> Queue:
        """Create another queue in the same context, for transfers that run beside a solve."""
        import pyopencl as cl

        return cl.CommandQueue(self.context, self.cl_device)

    @LazyProperty
    def _pool(self) -> Pool:
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        return cast(Pool, MemoryPool(ImmediateAllocator(self.queue)))

    def allocate(self, n_bytes: int, *, is_list: bool = False) -> Buffer:
        """Allocate a buffer of at least `n_bytes` from the pool, with undefined contents.

        If the device works in the host's memory, a large buffer gets huge pages. `is_list` says
        that the buffer is for a list, which is seldom full, so that huge pages would waste memory.

        Raises
        ------
        OutOfDeviceMemoryError
            The device does not have that much memory, or not in one piece.
        DeviceError
            OpenCL reports another error.
        """
        import pyopencl as cl

        if type(n_bytes) is not int or n_bytes < 0:
            n_bytes = check_integer("n_bytes", n_bytes, low=0)
        if n_bytes > (limit := self.capabilities.max_allocation):
            raise OutOfDeviceMemoryError(
                f"a buffer of {n_bytes} bytes is needed; {self.description} allocates "
                f"at most {limit} in one piece"
            )
        n_bytes, buffer = n_bytes if n_bytes > 16 else 16, None
        try:
            # Creating a buffer is a command to the queue, so the device's lock is needed. In a
            # forked process, taking the lock raises an error.
            with self.lock:
                buffer = self._pool.allocate(n_bytes)
        except cl.Error as error:
            if not failures.is_out_of_memory(error):
                raise failures.explained(self, error) from error
        if buffer is None:
            buffer = device_memory.allocate_again(self, self._pool, n_bytes)
        is_large = n_bytes >= device_memory.HUGE_PAGES_FROM
        if is_large and not is_list and self.capabilities.host_arrays != "copied":
            with self.lock:
                # Huge pages are advised once for each buffer. If the buffer's address is in the
                # set, the pool has given out this buffer before, and the advice was given then.
                if buffer.int_ptr not in self._advised:
                    self._advised.add(buffer.int_ptr)
                    device_memory.advise_huge_pages(self.queue, buffer, n_bytes)
        return buffer

    def allocate_all(self, *sizes: int) -> list[Buffer]:
        """Allocate a buffer of each size, as :meth:`allocate` does, without checking the sizes."""
        if max(sizes) >= min(device_memory.HUGE_PAGES_FROM, self.capabilities.max_allocation):
            return [self.allocate(size) for size in sizes]
        return device_memory.allocate_small(self, self._pool, sizes)

    def memory_in_words(self) -> str:
        """Describe in words how much memory the device has, and how much of that clmst uses."""
        used = 0 if (pool := Device._pool.made(self)) is None else pool.active_bytes
        return f"it has {self.capabilities.global_memory} bytes in all, of which clmst uses {used}"

    def upload(self, array: Array) -> Memory:
        """Make a host array available to kernels, and return it as a read-only kernel argument.

        Blocks until the contents are on the device. If the device works in the host's memory, the
        argument may be the array itself: keep the array alive and unchanged while kernels use it.
        """
        return self.upload_all(array)[0]

    def upload_all(self, *arrays: Array, wait: bool = True) -> list[Memory]:
        """Upload several arrays together, which is faster than one after the other.

        See :meth:`upload`. With ``wait=False`` copies may still be running when the call returns.
        Only commands in this device's own queue wait for them automatically. The caller may change
        copied arrays as soon as the call returns, with or without `wait`.
        """
        check_bool("wait", wait)
        found: list[Memory] = []
        transfers: list[Transfer] = []
        for array in arrays:
            check_uploaded(array)
            if (memory := in_place(self, array)) is None:
                memory = self.allocate(array.nbytes)
                transfers += [Transfer(buffer=memory, array=array)] if array.nbytes else []
            found.append(memory)
        if transfers:
            self.send(transfers, wait=wait)
        return found

    def send(self, transfers: list[Transfer], *, wait: bool = True) -> None:
        """Copy host arrays into buffers of the device, as `transfers` list them.

        With `wait`, block until the device has the data.
        """
        with self.lock, failures.Guard(self):  # only one thread may use a queue; see Launcher
            if (other := Device.profiling_queue.made(self)) is not None:
                other.finish()  # its kernels may still read memory that the pool has lent out again
            self.staging.send(self.queue, transfers)
            if wait:
                self.queue.finish()

    @LazyProperty
    def staging(self) -> Staging:
        """The pinned memory for large transfers, allocated at the first one.

        A device that works in the host's memory does not allocate any.
        """
        return Staging(self.queue, pinned=self.capabilities.host_arrays == "copied")

    @property
    def is_callers(self) -> bool:
        """Whether the device works in a queue that the caller has given."""
        return self._caller_queue is not None

    def queues_in_use(self) -> list[Queue]:
        """Return the device's queues that have been created so far."""
        return list(filter(None, (Device.queue.made(self), Device.profiling_queue.made(self))))

    def renew(self) -> None:
        """Drop a context that no longer answers.

        The next call that needs a context creates a new one. Objects in the memory of the old
        context keep that memory, but cannot be used any more. If the queue is the caller's, nothing
        is dropped.
        """
        if self.is_callers:
            return
        with self.lock:
            for made in ("context", "queue", "profiling_queue", "_pool", "staging"):
                getattr(Device, made).forget(self)
            self._programs.clear()
            self._advised.clear()
            self.times_renewed += 1

    def release_memory(self) -> None:
        """Free the pool's unused buffers and the pinned memory."""
        forking.check()
        self.hold_at_most(0)
        self.staging.free()

    def hold_at_most(self, n_bytes: int) -> None:
        """Free the pool's unused buffers if all buffers of the pool take more than `n_bytes`."""
        if self._pool.managed_bytes > n_bytes:
            self._pool.free_held()
            self._advised.clear()

    def build(self, key: Specialisation) -> Any:
        """Build a program from `key`, which specifies it, without storing the program."""
        by_helper, began = ahead.wait(self, key), time.perf_counter()
        made = program.build(
            self.context, self.cl_device, key, optimised=self.is_optimised,
            done=lambda: ahead.progress(self, key),
        )  # fmt: skip
        seconds = time.perf_counter() - began
        self.longest_build = max(self.longest_build, seconds)
        is_new = ahead.seems_built(seconds) if made.is_new is None else made.is_new
        self.built[key] = self.built.get(key, False) or by_helper or is_new
        if self.notes_builds:
            ahead.note_built(self, key)
        return made.program

    def program(
        self, source_name: str, prelude: Prelude | None = None, /, **defines: int | bool
    ) -> Program:
        """Return the program of a file below ``cl/``, built for this device on first use and kept.

        `prelude` is code that is put before the file, or None. The program is compiled with the
        macros `defines` and those that `specialise` adds for the device. If a kernel cannot run in
        work-groups of the requested size, the program is built for smaller ones
        (`program.fitting`). So divide work by the program's own `work_group_size`.

        Raises
        ------
        KernelBuildError
            The compiler refuses the source. The error holds the compiler's log.
        """
        asked = (source_name, prelude, *defines.items())  # cheaper to create than a specialisation
        try:
            return self._programs[asked]
        except Exception:  # the program has not been built yet, or the request is not hashable
            defines = check_request(source_name, prelude, defines)
            asked = (source_name, prelude, *defines.items())
        key = specialise(source_name, self.capabilities, self.policy, prelude, **defines)
        # The lock is held while the program is built. So other threads that want the same program
        # wait for this build.
        with self.lock, failures.Guard(self):
            if asked not in self._programs:
                self._programs[asked] = program.fitting(self._tried_and_built, key)
        return self._programs[asked]

    def _tried_and_built(self, key: Specialisation) -> Any:
        self.trust.require_build(key)
        return self.build(key)

    @LazyProperty
    def trial_failure(self) -> str | None:
        """The reason why this device cannot be used, or None if the device can be used.

        A trial, two or three small kernels with known results, decides. It runs when this property
        is first read. If only lanes or 64-bit atomics are wrong, they are turned off and the device
        can be used.
        """
        reason = trial.failure(self)
        if reason is None:
            ahead.note_trial(self)
        return reason

    def check_usable(self) -> None:
        """Raise :class:`UnsupportedDeviceError` if the device fails the trial.

        The trial, two or three small kernels with known results, runs at the first call.
        """
        if self.trial_failure is not None:
            raise UnsupportedDeviceError(f"{self.description} {self.trial_failure}")
