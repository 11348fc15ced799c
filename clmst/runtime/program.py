"""Compiled OpenCL programs: how they are built, and the kernels in them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np

from clmst.core.errors import KernelBuildError, UnsupportedDeviceError
from clmst.core.long_work import timed_step
from clmst.core.machine import may_write
from clmst.runtime import binary_cache, source
from clmst.runtime.handles import Kernel, KernelArgument
from clmst.runtime.quirks import fitting_work_items
from clmst.runtime.specialisation import Prelude, Specialisation


class Program:
    """A compiled OpenCL program and its kernels, each of which is created once."""

    def __init__(self, built: Any, specialisation: Specialisation) -> None:
        self.specialisation = specialisation
        defines = dict(specialisation.defines)
        self.work_group_size = defines["WG_SIZE"]
        # The number of items that a work-group takes at once in a loop over items. The kernels
        # compute the same number in cl/device/work_group.cl.
        usual = 1024 if self.work_group_size == 1 else self.work_group_size
        self.grid_tile = defines.get("GRID_TILE", usual)
        self._built = built
        self._kernels: dict[str, Kernel] = {}
        # Kernel objects that were created only to ask for limits, such as the size of work-groups.
        # Their argument types are not set.
        self._asked: dict[str, Kernel] = {}
        self._limits: dict[str, int] = {}
        self._local_memory: dict[str, int] = {}

    def kernel(self, name: str, arguments: tuple[KernelArgument, ...]) -> Kernel:
        """Return the kernel `name`, which is created once and has its argument types set.

        The types are the types of `arguments` at the first call. Setting them makes launches faster
        (quirk: pyopencl-argument-types).
        """
        if name not in self._kernels:
            kernel = self.new_kernel(name)
            kernel.set_arg_types(list(map(_type_of, arguments)))
            self._kernels[name] = kernel
        return self._kernels[name]

    def preset(self, name: str, arguments: tuple[KernelArgument, ...]) -> Kernel:
        """Create another object of the kernel `name` with its arguments set, for many launches.

        If a small solve launches a kernel several times with equal arguments, it is faster if the
        arguments are set only once. Creating a kernel takes as long as setting its arguments thirty
        times.
        """
        kernel = self.new_kernel(name)
        set_args: Any = kernel.set_args  # because its type stub does not know DeviceArray
        set_args(*(np.uint32(a) if isinstance(a, int) else a for a in arguments))
        return kernel

    def local_memory(self, name: str) -> int:
        """Return the bytes of local memory that a work-group of the kernel `name` uses."""
        import pyopencl as cl

        if name not in self._local_memory:
            asked = cl.kernel_work_group_info.LOCAL_MEM_SIZE
            self._local_memory[name] = self._work_group_info(name, asked)
        return self._local_memory[name]

    def work_group_limit(self, name: str) -> int:
        """Return the maximum number of work-items in a work-group of the kernel `name`.

        The limit depends on how the kernel was compiled, for example on its registers. If the
        compiler was given a limit of registers, more work-items may fit than the driver reports,
        and the larger number is returned (quirk: nvidia-undeclared-size).
        """
        import pyopencl as cl

        said = self._work_group_info(name, cl.kernel_work_group_info.WORK_GROUP_SIZE)
        if not (registers := self.specialisation.most_registers):
            return said
        return max(said, fitting_work_items(self._device, registers))

    def most_work_items(self) -> int:
        """Return the largest number of work-items in a work-group that all kernels allow."""
        import pyopencl as cl

        if self.work_group_size == 1:
            return 1
        names = str(self._built.get_info(cl.program_info.KERNEL_NAMES)).split(";")
        return min(self._limit(name) for name in names)

    def new_kernel(self, name: str) -> Kernel:
        """Create an object of the kernel `name`.

        Raises UnsupportedDeviceError if work-groups of the program's size need more registers or
        local memory than the device has.
        """
        import pyopencl as cl

        size = self.work_group_size
        if size > 1 and (limit := self._limit(name)) < size:
            raise UnsupportedDeviceError(
                f"{name} of {self.specialisation.label} has work-groups of {size} work-items; "
                f"{self._device.name.strip()} takes at most {limit} for this kernel, so {limit} or "
                "fewer would fit"
            )
        if size > 1 and (needed := self.local_memory(name)) > (has := self._device.local_mem_size):
            raise UnsupportedDeviceError(
                f"{name} of {self.specialisation.label} takes {needed} bytes of local memory; "
                f"{self._device.name.strip()} has {has}"
            )
        return self._asked.pop(name, None) or cl.Kernel(self._built, name)

    def _limit(self, name: str) -> int:
        if name not in self._limits:
            self._limits[name] = self.work_group_limit(name)
        return self._limits[name]

    @property
    def _device(self) -> Any:
        import pyopencl as cl

        (device,) = self._built.get_info(cl.program_info.DEVICES)
        return device

    def _work_group_info(self, name: str, asked: Any) -> int:
        import pyopencl as cl

        if name not in self._asked:
            self._asked[name] = cl.Kernel(self._built, name)
        kernel: Any = self._asked[name]  # because its type stub does not know the types of queries
        return int(kernel.get_work_group_info(asked, self._device))


def _type_of(argument: KernelArgument) -> type[np.generic] | None:
    """Return the NumPy type in which a kernel gets a scalar argument, or None for memory.

    Python integers are passed as 32-bit words.
    """
    if isinstance(argument, int):
        return np.uint32
    return type(argument) if isinstance(argument, np.generic) else None


def fitting(build: Callable[[Specialisation], Any], wanted: Specialisation) -> Program:
    """Build the program `wanted`, with smaller work-groups if its kernels need that.

    `build` compiles a specialisation, which is a source file with macros. If no work-group size
    fits all kernels, the program is returned nevertheless. Creating a kernel that does not fit then
    raises UnsupportedDeviceError.
    """
    wanted = wanted.within_said_limit()
    made = Program(build(wanted), wanted)
    while (most := made.most_work_items()) < made.work_group_size:
        smaller = made.specialisation.for_work_items(most)
        if smaller is None:
            break
        made = Program(build(smaller), smaller)
    return made


def is_shared(device: Any) -> bool:
    """Return whether other processes need not build a program that one process has built.

    The answer is True if the driver or clmst stores the program's binary in a cache on disk. All
    processes of the user then load it from there.
    """
    from pyopencl.characterize import has_src_build_cache

    if not has_src_build_cache(device):
        return binary_cache.is_writable()
    if "NVIDIA" not in device.platform.name:
        return True
    folder = os.environ.get("CUDA_CACHE_PATH") or Path.home() / ".nv" / "ComputeCache"
    return os.environ.get("CUDA_CACHE_DISABLE", "0") in ("", "0") and may_write(Path(folder))


class Built(NamedTuple):
    """A built program of OpenCL, and whether it was compiled or loaded from a cache."""

    program: Any
    # Whether the program was compiled in this process, not loaded from a cache. None if the driver
    # has a cache of its own, so that clmst cannot know.
    is_new: bool | None


def build(
    context: Any,
    device: Any,
    specialisation: Specialisation,
    *,
    optimised: bool = True,
    done: Callable[[], str] | None = None,
) -> Built:
    """Build a program, or load the binary of it from the user's cache.

    `context` and `device` are PyOpenCL's. `specialisation` names the source file and the macros.

    If `optimised` is False, the compiler does not optimise: a build takes a fifth of the time, and
    a solve several times as long. `done` returns a text about the progress of the call that needs
    the program, which a long build shows. None means that there is nothing to show. Raises
    :class:`KernelBuildError`, with the specialisation's label, the lines of the prelude and the
    compiler's log, if the source does not compile.
    """
    import pyopencl as cl
    from pyopencl.characterize import has_src_build_cache

    text, options = specialisation.text, specialisation.options
    if not optimised:
        options.append("-cl-opt-disable")
    if driver_caches := has_src_build_cache(device):
        key = ""
    else:
        key = binary_cache.key_of(device, text, options)
        if (binary := binary_cache.read(key)) is not None:
            # If the driver refuses its own binary, compile again (quirk: apple-binaries).
            with suppress(cl.Error):
                loaded = _build(cl.Program(context, [device], [binary]), options, device)
                return Built(loaded, is_new=False)
    try:
        name = PurePosixPath(specialisation.source).stem
        with timed_step(f"compiling kernels ({name}), once for {device.name.strip()}", done):
            program = _compile(context, device, text, options)
    except cl.Error as error:
        log = "\n".join((*_numbered(specialisation.prelude), source.name_places(str(error), text)))
        raise KernelBuildError(specialisation.label, device.name.strip(), log) from error
    if not driver_caches and (compiled := _binary_of(program, device)):
        binary_cache.write(key, compiled)
    return Built(program, is_new=None if driver_caches else True)


def _compile(context: Any, device: Any, text: str, options: list[str]) -> Any:
    """Compile the source `text` with these compiler options, without PyOpenCL's own caches."""
    import pyopencl as cl

    return _build(cl.Program(context, text), options, device, cache_dir=False)


def _build(program: Any, options: list[str], device: Any, **named: Any) -> Any:
    import pyopencl as cl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cl.CompilerWarning)
        return program.build(options=options, devices=[device], **named)


def _binary_of(program: Any, device: Any) -> bytes:
    """Return the binary of a built program for one device, or b"" if the driver provides none."""
    import pyopencl as cl

    try:
        devices = program.get_info(cl.program_info.DEVICES)
        binaries = program.get_info(cl.program_info.BINARIES)
    except cl.Error:
        return b""
    return bytes(binaries[devices.index(device)])


def _numbered(prelude: Prelude | None) -> list[str]:
    """Return the lines of a prelude with name and line number, or an empty list for None.

    The prelude is a caller's text before the program. Errors of a build list its lines, because
    NVIDIA's compiler does not show them itself.
    """
    if prelude is None:
        return []
    lines = enumerate(prelude.text.splitlines(), 1)
    return [f"{prelude.name}:{number}: {line}" for number, line in lines if line.strip()]
