"""A device, with everything that belongs to it: context, queue, programs, memory."""

from __future__ import annotations

import threading
from typing import Any, cast

from clmst.core.arguments import check_bool, check_integer, check_kind, check_texts
from clmst.core.errors import OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.core.lazy import LazyProperty
from clmst.core.weight_keys import Array
from clmst.runtime import device_memory, failures, forking, policy, program, trial
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

    Get one from :func:`clmst.devices` or :func:`clmst.get_device`; context, queue, programs and
    memory pool are made when first needed, belong to this object and go with it.

    Parameters
    ----------
    cl_device : pyopencl.Device
    queue : pyopencl.CommandQueue, optional
        The caller's own queue to work in.
    without : tuple of str
        Capabilities to force off: "int64-atomics", "lanes".
    tuning : Policy, optional
        The shape of kernels; by default that of its kind and vendor.
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
        self.is_optimised = _optimised  # whether the compiler may optimise its programs
        self.lock = threading.RLock()
        self._caller_queue = queue
        self._programs: dict[tuple[Any, ...], Program] = {}
        self._advised: set[int] = set()
        self._trust_record = TrustRecord(given=_trusted)
        self.times_renewed = 0
        self.groups_may_wait = True  # for one another; False once they did so for too long
        forking.replace_locks(self, "lock")

    @property
    def name(self) -> str:
        """The device's own name."""
        return str(self.cl_device.name).strip()

    @property
    def platform(self) -> str:
        """The name of its platform, that is, of the implementation."""
        return str(self.cl_device.platform.name).strip()

    @property
    def driver(self) -> str:
        """The driver's version."""
        return str(self.cl_device.driver_version).strip()

    @LazyProperty
    def description(self) -> str:
        """Name and platform in one."""
        return f"{self.name} ({self.platform})"

    def __repr__(self) -> str:
        off = f", without={self.without}" if self.without else ""
        return f"Device({self.name!r}, platform={self.platform!r}{off})"

    def forcing_off(self, *names: str) -> Device:
        """Return the same device with capabilities ("int64-atomics", "lanes") forced off."""
        return self._like(self._tuning, self._caller_queue, *names)

    def with_policy(self, tuning: Policy) -> Device:
        """Return the same device with another policy; results stay the same."""
        check_kind("tuning", tuning, Policy)
        other = self._like(tuning, self._caller_queue)
        most = self.capabilities.max_work_group_size
        if self.policy.work_group_size == 1 < tuning.work_group_size <= most:
            _ = other.trial_failure  # only now are there lanes to try
        return other

    def twin(self) -> Device:
        """Return the same device, with a context of its own, for callers that check all answers."""
        other = self._like(self.policy, None)
        other.trust.given = True
        return other

    def _like(self, tuning: Policy | None, queue: Queue | None, *names: str) -> Device:
        other = Device(
            self.cl_device, queue=queue, without=(*self.without, *names), tuning=tuning,
            _trusted=self.trust.given, _optimised=self.is_optimised,
        )  # fmt: skip
        other.capabilities = self.capabilities.without(names)  # without what its trial found wrong
        return other

    @LazyProperty
    def policy(self) -> Policy:
        """The shape of its kernels."""
        if self._tuning is not None:
            return self._tuning
        policy.warn_of_old_table()
        return policy.choose(self.capabilities, str(self.cl_device.platform.vendor).strip())

    @property
    def trust(self) -> Trust:
        """The results of its self-tests."""
        return Trust(self, self._trust_record)

    @LazyProperty
    def context(self) -> Context:
        """The ``pyopencl.Context`` of this device's queue."""
        if self._caller_queue is not None:
            return self._caller_queue.context
        return failures.new_context(self.cl_device, self.description)

    @LazyProperty
    def queue(self) -> Queue:
        """The ``pyopencl.CommandQueue`` that the work goes to."""
        return self._caller_queue or self.new_queue()

    @LazyProperty
    def profiling_queue(self) -> Queue:
        """A queue of the same context that times what runs in it."""
        import pyopencl as cl

        profiling = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.context, self.cl_device, properties=profiling)

    def new_queue(self) -> Queue:
        """Return another queue of the same context, for transfers beside a solve."""
        import pyopencl as cl

        return cl.CommandQueue(self.context, self.cl_device)

    @LazyProperty
    def _pool(self) -> Pool:
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        return cast(Pool, MemoryPool(ImmediateAllocator(self.queue)))

    def allocate(self, n_bytes: int, *, is_list: bool = False) -> Buffer:
        """Return a device buffer of at least `n_bytes` from the pool; contents undefined.

        A list is seldom full: in the host's memory it gets no huge pages, which would hold little.

        Raises
        ------
        OutOfDeviceMemoryError
            The device does not have that much, or not in one piece.
        DeviceError
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
            with self.lock:  # a new buffer is a command in the queue; raises in a forked child
                buffer = self._pool.allocate(n_bytes)
        except cl.Error as error:
            if not failures.is_out_of_memory(error):
                raise failures.explained(self, error) from error
        if buffer is None:
            buffer = device_memory.allocate_again(self, self._pool, n_bytes)
        is_large = n_bytes >= device_memory.HUGE_PAGES_FROM
        if is_large and not is_list and self.capabilities.host_arrays != "copied":
            with self.lock:
                if buffer.int_ptr not in self._advised:  # else it has been in use before
                    self._advised.add(buffer.int_ptr)
                    device_memory.advise_huge_pages(self.queue, buffer, n_bytes)
        return buffer

    def allocate_all(self, *sizes: int) -> list[Buffer]:
        """Return a buffer of each size as :meth:`allocate` does, of sizes that need no checks."""
        if max(sizes) >= min(device_memory.HUGE_PAGES_FROM, self.capabilities.max_allocation):
            return [self.allocate(size) for size in sizes]
        return device_memory.allocate_small(self, self._pool, sizes)

    def memory_in_words(self) -> str:
        """Return how much memory the device has, and how much of it clmst uses."""
        used = 0 if (pool := Device._pool.made(self)) is None else pool.active_bytes
        return f"it has {self.capabilities.global_memory} bytes in all, of which clmst uses {used}"

    def upload(self, array: Array) -> Memory:
        """Return a read-only kernel argument with the contents of `array`.

        On a device that works in the host's memory it is the array itself: keep that alive and
        unchanged.
        """
        return self.upload_all(array)[0]

    def upload_all(self, *arrays: Array, wait: bool = True) -> list[Memory]:
        """Upload several arrays at once, which is quicker; else as :meth:`upload`.

        Without `wait`, copies may still be running. Only this device's own queue waits for them by
        itself. The caller may change the arrays in either case.
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
        """Copy host arrays into buffers, as :meth:`upload_all` does."""
        with self.lock, failures.Guard(self):  # see Launcher
            if (other := Device.profiling_queue.made(self)) is not None:
                other.finish()  # its kernels may still read what the pool has given out again
            self.staging.send(self.queue, transfers)
            if wait:
                self.queue.finish()

    @LazyProperty
    def staging(self) -> Staging:
        """Pinned memory for large transfers, made at the first; none in the host's own memory."""
        return Staging(self.queue, pinned=self.capabilities.host_arrays == "copied")

    @property
    def is_callers(self) -> bool:
        """Whether its queue is the caller's own."""
        return self._caller_queue is not None

    def queues_in_use(self) -> list[Queue]:
        """Return those of its queues that were made already."""
        return list(filter(None, (Device.queue.made(self), Device.profiling_queue.made(self))))

    def renew(self) -> None:
        """Drop a context that does not answer; the next call that needs one makes another.

        Objects in the memory of the old one keep it, but are of no more use. A caller's queue is
        not replaced.
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
        """Free the pool's unused buffers, and pinned memory."""
        forking.check()
        self.hold_at_most(0)
        self.staging.free()

    def hold_at_most(self, n_bytes: int) -> None:
        """Free the pool's unused buffers if it has more than `n_bytes` in all."""
        if self._pool.managed_bytes > n_bytes:
            self._pool.free_held()
            self._advised.clear()

    def build(self, key: Specialisation) -> Any:
        """Build a program, which is not kept."""
        return program.build(self.context, self.cl_device, key, optimised=self.is_optimised)

    def program(
        self, source_name: str, prelude: Prelude | None = None, /, **defines: int | bool
    ) -> Program:
        """Return the program of a file below ``cl/``, specialised by `specialise`.

        Work-groups are smaller than asked for where no larger ones fit (`program.fitting`): divide
        work by the program's `work_group_size`.

        Raises
        ------
        KernelBuildError
        """
        asked = (source_name, prelude, *defines.items())  # quicker made than a specialisation
        try:
            return self._programs[asked]
        except Exception:  # not in the cache
            defines = check_request(source_name, prelude, defines)
            asked = (source_name, prelude, *defines.items())
        key = specialise(source_name, self.capabilities, self.policy, prelude, **defines)
        # Threads that want the same program wait for the one that builds it.
        with self.lock, failures.Guard(self):
            if asked not in self._programs:
                self._programs[asked] = program.fitting(self._tried_and_built, key)
        return self._programs[asked]

    def _tried_and_built(self, key: Specialisation) -> Any:
        self.trust.require_build(key)
        return self.build(key)

    @LazyProperty
    def trial_failure(self) -> str | None:
        """Why this device cannot be used; None if it can, without lanes if only they are wrong."""
        return trial.failure(self)

    def check_usable(self) -> None:
        """Raise :class:`UnsupportedDeviceError` unless this device passed its trial."""
        if self.trial_failure is not None:
            raise UnsupportedDeviceError(f"{self.description} {self.trial_failure}")
