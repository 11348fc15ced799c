"""A driver with faults: installed in every Python process that a test starts.

It is OpenCL's own but for what a test asks for. The build of programs whose name has certain words
ends the process, never comes back, or fails; listing the devices does so; devices are of another
kind than they are, or take smaller work-groups; kernels cannot be created. All of that in the
user's process as in a child of it. Programs compile without optimisation.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pyopencl

from clmst.core.errors import KernelBuildError
from clmst.runtime import child, device, embedded, listing, program, trust
from clmst.runtime.capabilities import Capabilities, detect
from clmst.runtime.specialisation import Specialisation
from tests.faults.injection import opencl_error

_VARIABLE = "CLMST_TESTS_MOCK_DRIVER"
LAST_WORDS = "LLVM ERROR: cannot select"


@dataclass(frozen=True, slots=True, kw_only=True)
class MockDriver:
    """What a driver does."""

    log: str  # a file to which each process that it ends adds its number and its parent's
    builds: str = (
        ""  # words of the programs, as "filter_boruvka WEIGHT_BITS=64"; none: ends nothing
    )
    platform: str = ""  # a word of the platforms that do this
    how: str = "SIGSEGV"  # a signal, which ends the process; or "exit", "hang"; "error": no build
    words: str = LAST_WORDS  # what the driver says then
    # A word in the .icd file of the driver that does so when devices are listed; "any" needs none.
    lists: str = ""
    # What devices say of themselves beside what they do.
    capabilities: dict[str, Any] = field(default_factory=dict)
    missing: str = ""  # a word of the names of kernels that built programs do not have
    most_work_items: int = 0  # that a work-group of any kernel may have; 0: what the device says
    is_proven: bool = False  # whether drivers count as proven
    limit: float = child.LIMIT_SECONDS  # after which a child is late
    limit_of_listing: float = listing.LIMIT_SECONDS

    def environment(self, folder: Path) -> dict[str, str]:
        """Return the environment of processes that use the mock driver.

        A file for the loader is written into `folder`.
        """
        text = f"from {__name__} import install\ninstall()\n"
        (folder / "sitecustomize.py").write_text(text)
        paths = (str(folder), str(Path(__file__).parents[2]))
        return {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            _VARIABLE: json.dumps(asdict(self)),
        }

    def deaths(self) -> list[tuple[int, int]]:
        """Return the numbers of the processes that it has ended, each with its parent's."""
        log = Path(self.log)
        lines = log.read_text().splitlines() if log.exists() else []
        return [(int(own), int(parent)) for own, parent in map(str.split, lines)]

    def does_so(self, platform: str, label: str) -> bool:
        """Return whether it ends the process at a build."""
        words = self.builds.split()
        return bool(words) and self.platform in platform and all(word in label for word in words)

    def end_process(self) -> None:
        """End this process, or wait until somebody does."""
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"{os.getpid()} {os.getppid()}\n")
        print(self.words, file=sys.stderr, flush=True)
        if self.how == "exit":
            os._exit(3)
        if self.how == "hang":
            time.sleep(3600)
        number = signal.Signals[self.how]
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)  # Intel's runtime has a handler for its own
        os.kill(os.getpid(), number)
        time.sleep(3600)  # a signal may take a moment


def install() -> None:
    """Let this process have the driver that the environment describes."""
    mock = MockDriver(**json.loads(os.environ[_VARIABLE]))
    child.LIMIT_SECONDS = mock.limit
    vars(trust)["is_proven"] = lambda *_: mock.is_proven
    listing.LIMIT_SECONDS = mock.limit_of_listing
    build, get_platforms = program.build, pyopencl.get_platforms

    def mocked(context: Any, cl_device: Any, key: Specialisation, **named: Any) -> Any:
        if mock.does_so(cl_device.platform.name, f"{key.source} {key.label}"):
            if mock.how == "error":
                raise KernelBuildError(key.label, cl_device.name, mock.words)
            mock.end_process()
        return build(context, cl_device, key, **named | {"optimised": False})

    def detected(cl_device: Any) -> Capabilities:
        return replace(detect(cl_device), **mock.capabilities)

    @cache  # the loader asks drivers once
    def listed() -> Any:
        icds = (icd.read_text() for icd in embedded.installed_icds())
        if mock.lists == "any" or (mock.lists and any(mock.lists in text for text in icds)):
            mock.end_process()
        return get_platforms()

    if mock.missing:
        create = pyopencl.Kernel

        def created(of: Any, name: str) -> pyopencl.Kernel:
            if mock.missing in name:
                raise opencl_error(-48, "clCreateKernel")
            return create(of, name)

        vars(pyopencl)["Kernel"] = created
    vars(program)["build"] = mocked
    vars(device)["detect"] = detected
    vars(pyopencl)["get_platforms"] = listed
    if mock.most_work_items:
        vars(program)["Program"].work_group_limit = lambda *_: mock.most_work_items
