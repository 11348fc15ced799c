"""A device, with everything that belongs to it: context, queue, programs, memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from clmst.core.errors import KernelBuildError, OutOfDeviceMemoryError, UnsupportedDeviceError
from clmst.core.weight_keys import Array
from clmst.runtime import program
from clmst.runtime.capabilities import Capabilities, detect
from clmst.runtime.policy import Policy
from clmst.runtime.profile import Profile
from clmst.runtime.tuning import Identity, Tuning, look_up


class Device:
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
        The shape of kernels; what the tables have for this device when left out.
    """

    def __init__(
        self,
        cl_device: Any,
        *,
        queue: Any = None,
        without: tuple[str, ...] = (),
        tuning: Policy | None = None,
    ) -> None:
        self.cl_device = cl_device
        self.without = without
        self.capabilities: Capabilities = detect(cl_device).without(without)
        self._tuning = tuning
        self.lock = threading.RLock()
        self._caller_queue = queue
        self._programs: dict[tuple[Any, ...], Program] = {}

    # ---------------------------------------------------------------- identity

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

    @property
    def description(self) -> str:
        """Name and platform in one."""
        return f"{self.name} ({self.platform})"

    def __repr__(self) -> str:
        off = f", without={self.without}" if self.without else ""
        return f"Device({self.name!r}, platform={self.platform!r}{off})"

    def forcing_off(self, *names: str) -> Device:
        """Return the same device with capabilities ("int64-atomics", "lanes") forced off."""
        return Device(
            self.cl_device,
            queue=self._caller_queue,
            without=(*self.without, *names),
            tuning=self._tuning,
        )

    def with_policy(self, tuning: Policy) -> Device:
        """Return the same device with kernels of another shape; results stay the same."""
        return Device(self.cl_device, queue=self._caller_queue, without=self.without, tuning=tuning)

    def beside(self, tuning: Policy) -> Device:
        """Return the same with kernels of another shape, on this one's queue, buffers and pool."""
        other = Device(self.cl_device, queue=self.queue, without=self.without, tuning=tuning)
        other._pool = self._pool
        return other

    @cached_property
    def tuning(self) -> Tuning:
        """The shape of its kernels, and where that comes from."""
        if self._tuning is not None:
            return Tuning(policy=self._tuning, source="given", title=self.name)
        return look_up(Identity.of(self.cl_device), self.capabilities)

    @cached_property
    def policy(self) -> Policy:
        """The shape of its kernels."""
        return self.tuning.policy

    # --------------------------------------------------------------- resources

    @cached_property
    def context(self) -> Any:
        """The ``pyopencl.Context`` of this device's queue."""
        import pyopencl as cl

        if self._caller_queue is not None:
            return self._caller_queue.context
        return cl.Context([self.cl_device])

    @cached_property
    def queue(self) -> Any:
        """The ``pyopencl.CommandQueue`` that the work goes to."""
        import pyopencl as cl

        return self._caller_queue or cl.CommandQueue(self.context)

    @cached_property
    def profiling_queue(self) -> Any:
        """A queue of the same context that times what runs in it."""
        import pyopencl as cl

        properties = cl.command_queue_properties.PROFILING_ENABLE
        return cl.CommandQueue(self.context, self.cl_device, properties=properties)

    @cached_property
    def _pool(self) -> Any:
        from pyopencl.tools import ImmediateAllocator, MemoryPool

        return MemoryPool(ImmediateAllocator(self.queue))

    def allocate(self, n_bytes: int) -> Any:
        """Return a device buffer of at least `n_bytes` from the pool; contents undefined.

        Raises
        ------
        OutOfDeviceMemoryError
            The device does not have that much, or not in one piece.
        """
        import pyopencl as cl

        limit = self.capabilities.max_allocation
        if n_bytes > limit:
            raise OutOfDeviceMemoryError(
                f"a buffer of {n_bytes} bytes is needed; {self.description} allocates "
                f"at most {limit} in one piece"
            )
        try:
            return self._pool.allocate(max(n_bytes, 16))
        except cl.MemoryError as error:
            raise OutOfDeviceMemoryError(
                f"{self.description} could not allocate {n_bytes} bytes more; "
                f"it has {self.capabilities.global_memory} in all"
            ) from error

    def upload(self, array: Array) -> Any:
        """Return what kernels take as a read-only buffer with the contents of `array`.

        On a device that works in the host's memory that is the array itself: keep it alive and
        unchanged.
        """
        import pyopencl as cl

        access = self.capabilities.host_arrays if array.nbytes else "copied"
        if access == "shared":
            return cl.SVM(array)
        if access == "wrapped":
            flags = cl.mem_flags.READ_ONLY | cl.mem_flags.USE_HOST_PTR
            return cl.Buffer(self.context, flags, hostbuf=array)
        buffer = self.allocate(array.nbytes)
        if array.nbytes:
            cl.enqueue_copy(self.queue, buffer, array, is_blocking=True)
        return buffer

    def release_memory(self) -> None:
        """Give buffers that the pool holds ready back to the device."""
        self._pool.free_held()

    # ----------------------------------------------------------------- kernels

    def program(
        self, source_name: str, prelude: program.Prelude | None = None, /, **defines: int | bool
    ) -> Program:
        """Return the program of a source file below ``cl/``, specialised by macros.

        See :func:`clmst.runtime.program.specialise`.

        Raises
        ------
        KernelBuildError
        """
        asked = (source_name, prelude, *defines.items())  # quicker made than a specialisation
        if asked in self._programs:
            return self._programs[asked]
        key = program.specialise(source_name, self.capabilities, self.policy, prelude, **defines)
        with self.lock:  # threads that want the same program wait for the one that builds it
            if asked not in self._programs:
                built = program.build(self.context, self.cl_device, key)
                self._programs[asked] = Program(built, key)
        return self._programs[asked]

    @cached_property
    def trial_failure(self) -> str | None:
        """Why this device cannot be used, or None if it built and ran a kernel rightly."""
        import pyopencl as cl

        length = 1000
        try:
            words = np.full(2, 0xFFFFFFFF, np.uint32)
            buffer = self.allocate(words.nbytes)
            cl.enqueue_copy(self.queue, buffer, words)
            trial = self.program("device/trial.cl")
            Launcher(self, self.queue)(trial, "trial_take_minimum", 4, buffer, np.uint32(length))
            cl.enqueue_copy(self.queue, words, buffer)
        except KernelBuildError as error:
            lines = [line.strip() for line in error.log.splitlines()]
            lines = lines or ["the compiler gives no reason"]
            reason = next((x for x in lines if "error" in x.lower() or "unknown" in x), lines[0])
            return f"cannot build a kernel: {reason}"
        except (cl.Error, OutOfDeviceMemoryError) as error:
            return f"cannot run a kernel: {str(error).splitlines()[0]}"
        if words.tolist() != [length - 1, 1]:
            return f"computes wrongly: a minimum came out as {words.tolist()}"
        return None

    def check_usable(self) -> None:
        """Raise :class:`UnsupportedDeviceError` unless this device passed its trial."""
        if self.trial_failure is not None:
            raise UnsupportedDeviceError(f"{self.description} {self.trial_failure}")


class Program:
    """A built program; its kernels are made once."""

    def __init__(self, built: Any, specialisation: program.Specialisation) -> None:
        self.specialisation = specialisation
        self.work_group_size = dict(specialisation.defines)["WG_SIZE"]
        self._built = built
        self._kernels: dict[str, Any] = {}

    @property
    def grid_tile(self) -> int:
        """Items that a work-group takes at a time: GRID_TILE of ``cl/device/work_group.cl``."""
        return 1024 if self.work_group_size == 1 else self.work_group_size

    def kernel(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Return the ``pyopencl.Kernel`` of this name, for arguments of these types.

        PyOpenCL sets arguments twenty times as fast once it knows which are scalars.
        """
        if name not in self._kernels:
            kernel = self.new_kernel(name)
            kernel.set_arg_types(
                [type(a) if isinstance(a, np.generic) else None for a in arguments]
            )
            self._kernels[name] = kernel
        return self._kernels[name]

    def new_kernel(self, name: str) -> Any:
        """Return a ``pyopencl.Kernel`` of this name that nobody else sets arguments of."""
        import pyopencl as cl

        return cl.Kernel(self._built, name)


class Prepared:
    """A kernel of its own, whose leading arguments are set once and for all.

    Parameters
    ----------
    program : Program
    name : str
    arguments : tuple
        Buffers and NumPy scalars; kept alive with the kernel.
    """

    def __init__(self, program: Program, name: str, arguments: tuple[Any, ...]) -> None:
        self.name = name
        self.work_group_size = program.work_group_size
        self.kernel = program.new_kernel(name)
        self._arguments = arguments
        self._rest: tuple[Any, ...] = ()
        for k, argument in enumerate(arguments):
            self.kernel.set_arg(k, argument)

    def set_rest(self, arguments: tuple[Any, ...]) -> None:
        """Set the arguments behind the leading ones."""
        if arguments == self._rest:
            return
        for k, argument in enumerate(arguments, len(self._arguments)):
            self.kernel.set_arg(k, argument)
        self._rest = arguments


_MAX_DRIVER_FILL = 1 << 30


class Launcher:
    """Enqueues kernels on a queue, and notes their events if a profile is wanted."""

    def __init__(self, device: Device, queue: Any, profile: Profile | None = None) -> None:
        self.device = device
        self.queue = queue
        self.profile = profile
        self.launches = 0
        self._phase: str | None = None

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Let what is enqueued within belong to a phase of an algorithm, in the profile."""
        outer, self._phase = self._phase, name
        try:
            yield
        finally:
            self._phase = outer

    def _note(self, name: str, event: Any) -> Any:
        if self.profile is not None:
            self.profile.add(name, event, self._phase)
        return event

    def __call__(self, program: Program, name: str, groups: int, *arguments: Any) -> Any:
        """Enqueue kernel `name` on `groups` work-groups of the program's size."""
        local = program.work_group_size
        with self.device.lock:  # a kernel carries its arguments from here until it is enqueued
            kernel = program.kernel(name, arguments)
            event = kernel(self.queue, (groups * local,), (local,), *arguments)
        self.launches += 1
        return self._note(name, event)

    def prepared(self, kernel: Prepared, groups: int, *rest: Any) -> Any:
        """Enqueue a prepared kernel, with the arguments behind those that are set."""
        import pyopencl as cl

        local = kernel.work_group_size
        with self.device.lock:
            kernel.set_rest(rest)
            event = cl.enqueue_nd_range_kernel(
                self.queue, kernel.kernel, (groups * local,), (local,)
            )
        self.launches += 1
        return self._note(kernel.name, event)

    def groups_for(self, n_items: int) -> int:
        """Return how many work-groups share `n_items` tiles or items: few enough to be resident."""
        tuning = self.device.policy
        resident = self.device.capabilities.compute_units * tuning.groups_per_compute_unit
        return max(1, min(resident, n_items))

    def read(self, buffer: Any, out: Array, *, offset: int = 0) -> None:
        """Copy from `buffer`, from byte `offset` on, into the host array `out`, and wait.

        Reading on while the device works is no gain: NVIDIA's driver takes three times as long for
        an asynchronous read into pageable memory as for a blocking one (docs/performance.md).
        """
        import pyopencl as cl

        event = cl.enqueue_copy(self.queue, out, buffer, src_offset=offset, is_blocking=True)
        self._note("(read back)", event)

    def fill(self, buffer: Any, value: int, count: int, dtype: Any = np.uint32) -> None:
        """Set the first `count` integers of `buffer`, of 1, 2, 4 or 8 bytes, to `value`.

        Large buffers by a kernel: NVIDIA's driver 580 never comes back from a fill of 2 GiB, nor
        does it survive one that begins behind so many.
        """
        import pyopencl as cl

        pattern = np.array([value], dtype)
        n_bytes = pattern.itemsize * count
        if n_bytes > _MAX_DRIVER_FILL:
            eight_bytes = np.resize(pattern, 8 // pattern.itemsize).view(np.uint64)[0]
            program = self.device.program("device/fill.cl")
            groups = self.groups_for(-(-n_bytes // (8 * program.grid_tile)))
            self(program, "fill_bytes", groups, buffer, eight_bytes, np.uint64(n_bytes))
        elif n_bytes:
            event = cl.enqueue_fill_buffer(self.queue, buffer, pattern, 0, n_bytes)
            self._note("(fill)", event)

    def write(self, buffer: Any, array: Array) -> Any:
        """Copy the host array into `buffer`, and wait."""
        import pyopencl as cl

        return cl.enqueue_copy(self.queue, buffer, array, is_blocking=True)
