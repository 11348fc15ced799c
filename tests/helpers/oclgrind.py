"""Run a module of these tests inside Oclgrind, and read what Oclgrind reports.

Oclgrind interprets kernels, and reports accesses outside a buffer, uses of memory that was never
written, barriers that not all work-items of a group reach, and data races.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyopencl as cl

from clmst import Device
from clmst.runtime import discovery, policy
from clmst.runtime.launcher import Launcher
from tests.helpers.processes import lacks, run_python
from tests.helpers.variants import GPU_SHAPE
from tests.runtime.test_policy import CAPABILITIES

LIBRARIES = [
    Path(folder) / "oclgrind" / "liboclgrind-rt-icd.so"
    for folder in ("/usr/lib", "/usr/local/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu")
]

RACE = re.compile(r"(Read-write|Write-write) data race at global memory address")


class Outcome(NamedTuple):
    """The output of a process, and the reports of Oclgrind."""

    printed: str
    reports: list[str]

    @property
    def races(self) -> list[str]:
        return [report for report in self.reports if RACE.match(report)]

    @property
    def faults(self) -> list[str]:
        return [report for report in self.reports if not RACE.match(report)]


def find_library() -> Path:
    """Return the path of Oclgrind's driver. If it is missing, skip the test, or fail on CI."""
    found = next((path for path in LIBRARIES if path.exists()), None)
    if found is None:
        lacks("Oclgrind is not installed; on Debian: apt install oclgrind")
    return found


def simulate(
    folder: Path, module: str, *arguments: str, finds_uninitialized: bool = True
) -> Outcome:
    """Run a module (``"tests.helpers.simulated"``) in a process where Oclgrind is the only driver.

    Parameters
    ----------
    folder : Path
        An empty folder to work in.
    module : str
        The name of the module.
    *arguments : str
        Arguments of its command line.
    finds_uninitialized : bool
        Whether uses of memory that was never written are reported. That takes twice the time of
        everything else.
    """
    (folder / "oclgrind.icd").write_text(f"{find_library()}\n", encoding="utf-8")
    log = folder / "log"
    settings = {
        "OCL_ICD_VENDORS": str(folder),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_MAX_ERRORS": "1000000",
        "OCLGRIND_UNINITIALIZED": str(int(finds_uninitialized)),
        "OCLGRIND_DATA_RACES": "1",
        # Oclgrind's check of uninitialised memory misreads the vectors in optimised code, and then
        # crashes.
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "PYOPENCL_NO_CACHE": "1",  # the cache does not take these options into account
        "CLMST_IN_SELF_TEST": "1",  # so that no child process writes to this log
        "CLMST_DEVICE": "",
        "CLMST_WITHOUT": "",
    }
    done = run_python("-m", module, *arguments, environment=settings, timeout=1500)
    text = log.read_text(encoding="utf-8", errors="replace")
    return Outcome(done.stdout, [part for part in re.split(r"\n(?=\S)", text) if part.strip()])


# ------------------------------------------------------------- inside that process

POLICIES = {
    "gpu": policy.choose(CAPABILITIES["gpu"]),
    "gpu-shape": GPU_SHAPE,
    "cpu": policy.choose(CAPABILITIES["cpu"]),
}

_kept: list[Any] = []


def allocate_exactly(device: Device, n_bytes: int, *, is_list: bool = False) -> Any:
    """Allocate a buffer like `Device.allocate`, but not from the pool.

    Buffers of the pool are larger than asked for, and reused. Nothing is released, because Oclgrind
    remembers by address which bytes are initialised, and reuses addresses.
    """
    _kept.append(cl.Buffer(device.context, cl.mem_flags.READ_WRITE, max(n_bytes, 4)))
    return _kept[-1]


def allocate_all_exactly(device: Device, *sizes: int) -> list[Any]:
    return [allocate_exactly(device, size) for size in sizes]


def large_buffers(most: int = 1 << 20) -> list[str]:
    """Describe the buffers larger than `most` bytes, since each slows all later launches."""
    sizes = [one.size for one in _kept if one.size > most]
    return [f"buffers of {sizes} bytes; they must be smaller"] if sizes else []


def fill_by_copying(
    launch: Launcher, buffer: Any, value: int, count: int, dtype: Any = np.uint32
) -> None:
    """Fill a buffer as `Launcher.fill` does, but so that Oclgrind sees initialised memory."""
    launch.write(buffer, np.full(count, value, dtype))


_COPY = """
kernel void copy(const global uchar *source, global uchar *target, ulong offset) {
  target[offset + get_global_id(0)] = source[get_global_id(0)];
}
"""


def copy_by_kernel(
    launch: Launcher, source: Any, target: Any, n_bytes: int, offset: int = 0
) -> None:
    """Copy like `Launcher.copy`, after which Oclgrind knows nothing of the rest of the target."""
    if n_bytes:
        program: Any = cl.Program(launch.device.context, _COPY).build()
        program.copy(launch.queue, (n_bytes,), None, source, target, np.uint64(offset))


def only_device() -> Device:
    """Return the only device, Oclgrind's, after working around Oclgrind's mistakes."""
    # The types differ because `guarded` wraps these functions.
    Device.allocate = allocate_exactly  # type: ignore[method-assign, assignment]
    Device.allocate_all = allocate_all_exactly  # type: ignore[method-assign, assignment]
    Launcher.fill = fill_by_copying  # type: ignore[method-assign, assignment]
    Launcher.copy = copy_by_kernel  # type: ignore[method-assign, assignment]
    (simulator,) = discovery.enumerate_devices()
    assert simulator.platform == "Oclgrind"
    return simulator
