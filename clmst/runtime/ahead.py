"""OpenCL programs that helper processes build before they are needed, several at the same time.

The first call on a device needs up to twenty programs, which take 0.1 to 3 s each to build. A
driver builds one program at a time in a process, whatever the number of threads. A call runs
self-tests of the kernels that it will use. When its first self-test begins, helper processes begin
to build all programs that a call with this self-test needs, into a cache on disk: the driver's, or
clmst's own. This process loads them from there. If it needs a program that a helper is still
building, it waits for that helper.

If the host can do the work in the meantime, it does (`waiting`), and the device takes over once the
programs are built. A call that is long for the host waits for the programs instead. If no device
was used before, the host answers even before one is opened: a helper opens the default device,
while this process neither imports PyOpenCL nor lists devices (`is_opening`). Then the helper makes
the same call on the device, with a copy of the arguments. So the kernels that the call needs are
built and tested even if the user's process makes no second call for a while.

``programs.json`` has lists of programs. The first key of a list is the device's policy, which is
the set of values that adapt kernels to a device, such as the size of a work-group. The second key
is the first self-test of the call. The file was recorded from calls (``python -m benchmarks
programs_of_calls``). A list is only a guess. A program that is not listed is built when it is
needed, as are all programs on devices of other policies. A listed program that is not needed costs
a helper's time.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Container, Hashable, Iterable, Iterator
from concurrent.futures import Future
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmst.core.errors import ClmstError
from clmst.core.machine import may_start, physical_memory, usable_cores
from clmst.runtime import embedded, policy, program
from clmst.runtime.child import helpers
from clmst.runtime.kernel_family import TRIAL_NAME
from clmst.runtime.specialisation import Prelude, Specialisation, specialise
from clmst.runtime.verdicts import verdicts_folder, was_opened

if TYPE_CHECKING:
    from clmst.runtime.device import Device

VARIABLE = "CLMST_HELPERS"  # the environment variable with the maximum number of helpers
# Maximum number of helpers, which are processes that build kernels before a first call needs them.
# They open a GPU one after the other, each in 0.15 s, so a ninth would begin when most programs are
# built (benchmarks/log.md, "First calls with helpers").
MOST_HELPERS = 8
# Number of helpers that start before this process has found its devices. The others start when it
# is known that programs have to be built. Before, Python's imports in eight of them would slow down
# those of this process.
_FIRST_HELPERS = 4
_BYTES_OF_HELPER = 2 << 30  # memory of the machine, and of a GPU, that a helper needs

_NVIDIA = Path("/dev/nvidiactl")  # exists on Linux if there is a driver of NVIDIA's

# If building each program has taken less than this number of seconds, all programs came from a
# cache. On an H200 a small program takes 0.08 to 0.15 s to build, and 0.003 s to load from a cache.
_BUILT_SECONDS = 0.04

_NAME_LENGTH = 24  # number of hexadecimal digits of the name by which a build is recorded

# What a helper is asked for: a program, or a self-test, by the name of its family of kernels and
# its case. It runs the self-test if ``programs.json`` does not list the programs of the test.
Key = Specialisation | tuple[str, Hashable]
# For each program that a helper is building or has built, a future that ends with the build.
Builds = dict[Key, "Future[object]"]


class NotBuiltError(ClmstError):
    """Helper processes are still building the programs of a call that the host may answer instead.

    No user sees this error. The code that lets the host answer (`waiting`) catches it. `n_left` is
    the number of programs that are not built yet, or None if the number is not known.
    """

    def __init__(self, n_left: int | None) -> None:
        super().__init__(n_left)  # the arguments are those of the constructor, for pickle
        self.n_left = n_left

    def __str__(self) -> str:
        return f"{self.n_left or 'some'} programs are being built"


class _Waiting(threading.local):
    """Whether the host may answer the present call of this thread while programs are built.

    `host_answers` is a function that returns the answer, or None if the host may not. It is called
    only if programs have to be built.
    """

    host_answers: Callable[[], bool] | None = None

    def has_answer(self) -> bool:
        """Return whether the host answers the present call of this thread."""
        return self.host_answers is not None and self.host_answers()


waiting = _Waiting()


def n_helpers(device: Device) -> int:
    """Return the maximum number of helper processes that build kernels for a device.

    The environment variable ``CLMST_HELPERS`` sets the number. By default a GPU has half as many
    helpers as there are cores, at most 8, and at most one for each 2 GiB of memory of the machine
    and of the GPU. Any other device has one helper if the host answers the call in the meantime,
    and none otherwise. The result is 0 if helpers cannot be started or would not save time: on two
    cores, starting them takes as long as they save.
    """
    if not may_start() or not program.is_shared(device.cl_device):
        return 0
    if (given := _given()) is not None:
        return given
    if device.capabilities.kind != "gpu":
        return int(usable_cores() > 1 and waiting.has_answer())
    return _most_helpers(min(physical_memory() or 0, device.capabilities.global_memory))


def _given() -> int | None:
    """Return the number in the environment variable ``CLMST_HELPERS``, or None if there is none."""
    given = os.environ.get(VARIABLE, "")
    return int(given) if given.isdecimal() else None


def _most_helpers(memory: int) -> int:
    """Return the maximum number of helper processes, or 0 if there is space for one at most.

    `memory` is the number of bytes that are available to all helpers together.
    """
    n = min(usable_cores() // 2, MOST_HELPERS, memory // _BYTES_OF_HELPER)
    return n if n > 1 else 0


def prepare() -> None:
    """Start a few helper processes if this user seems to use an NVIDIA GPU for the first time.

    The sign of a first use is that no folder with results of self-tests exists. The imports of a
    helper take half a second, so helpers start before this process has found its devices. The
    helpers do not open a device yet.
    """
    if may_start() and _NVIDIA.exists() and not verdicts_folder().exists():
        given = _given()
        n = _most_helpers(physical_memory() or 0) if given is None else given
        helpers.start(min(n, _FIRST_HELPERS))


def is_opening(
    host_answers: Callable[[], bool], call: Callable[[Device], object] | None = None
) -> bool:
    """Return whether the host answers while a helper process opens the default device.

    That is so if no process has looked for a device before, and `host_answers` returns True, until
    the helper has opened the device, or has found that none can be used. The first call starts the
    helper. The call does not wait, and this process does not open a device. Afterwards a helper
    calls the function `call` with the device that it has opened, unless `call` is None. The
    function must be picklable, and does the work of the present call (`Helpers.rehearse`).
    """
    if not helpers.have_opened and not was_opened() and _has_opencl() and host_answers():
        given = _given()
        if n := int(may_start() and usable_cores() > 1) if given is None else given:
            prepare()
            helpers.start(n)
            helpers.open_default()
    if not (helpers.are_opening and host_answers()):
        return False
    if call is not None:
        helpers.rehearse(call)
    return True


def _has_opencl() -> bool:
    """Return whether PyOpenCL and a driver seem to be installed. Neither is loaded."""
    return find_spec("pyopencl") is not None and embedded.has_driver()


def open_helpers(device: Device) -> None:
    """Let helper processes open a GPU if this user seems to use it for the first time.

    The sign of a first use is that no results of self-tests are stored for the GPU. A few helpers
    begin when this process has opened it, before it is known whether programs have to be built: the
    driver's own cache may have them (`note_trial`). Does not wait.
    """
    is_gpu, is_first = device.capabilities.kind == "gpu", not device.trust.store.folder.exists()
    if is_gpu and is_first and _listed(device):
        helpers.open(device, min(n_helpers(device), _FIRST_HELPERS))


def note_trial(device: Device) -> None:
    """Take note of whether the kernels of a device's trial had to be compiled.

    The trial is a first small test of a device. If its kernels were compiled, no cache has them, so
    other programs have to be compiled, too. That is recorded for later processes (`_compiles`), and
    all helpers open a GPU. Otherwise the helpers are not needed.
    """
    if not seems_built(device.longest_build):
        helpers.stop_opening()
    elif not device.trust.store.built():
        device.trust.store.note_built(TRIAL_NAME)
        if device.capabilities.kind == "gpu" and _listed(device):
            helpers.open(device, n_helpers(device))


def begin(device: Device, family: str, case: Hashable) -> None:
    """Let helper processes begin to build the programs that the present call is going to need.

    `family` and `case` name the first self-test of the call, by which ``programs.json`` lists the
    programs. The programs that take longest to build are begun first. If the test is not listed,
    and the host may answer the call (`waiting`), a helper runs the test, which builds its programs.
    Does not wait. Raises NotBuiltError if the helpers have not finished yet, and the host may
    answer the call instead.
    """
    listed = _listed(device).get(f"{family}: {case}")
    if listed:
        device.expected.update(listed)
    if not _compiles(device) or not (n := n_helpers(device)):
        return
    if not listed and not waiting.has_answer():
        return
    known = device.trust.store.built()
    keys: Iterable[Key] = _specialisations(device, listed) if listed else [(family, case)]
    missing = [one for one in dict.fromkeys(keys) if _name_of(one) not in known]
    if new := [one for one in missing if one not in device.builds]:
        helpers.open(device, n)
        device.builds.update(zip(new, helpers.build(device, new), strict=True))
    n_left = sum(not device.builds[one].done() for one in missing)
    if n_left and is_building(device) and waiting.has_answer():
        raise NotBuiltError(n_left if listed else None)


def _compiles(device: Device) -> bool:
    """Guess whether the programs of a device must be compiled, since no cache has them.

    The sign is that its trial, a first small test, was compiled, by this process or by an earlier
    one. The driver may have a cache of its own, which has the programs even if the cache of clmst
    is empty.
    """
    return seems_built(device.longest_build) or bool(device.trust.store.built())


def note_built(device: Device, key: Key) -> None:
    """Record, for later processes, that a helper has built what it was asked for.

    A process may end before its helpers have built all programs of a call. The next one then asks
    only for the rest.
    """
    device.trust.store.note_built(_name_of(key))


def _name_of(key: Key) -> str:
    text = f"{key[0]}: {key[1]}" if isinstance(key, tuple) else repr(key)
    return hashlib.sha256(text.encode()).hexdigest()[:_NAME_LENGTH]


def is_building(device: Device) -> bool:
    """Return whether helper processes are building programs for a device.

    If this process has not asked for any, the result is True while they make calls of this process
    on the default device.
    """
    if not device.builds:
        return helpers.are_rehearsing
    return helpers.are_running and not all(one.done() for one in [*device.builds.values()])


def wait(device: Device, wanted: Specialisation) -> bool:
    """Wait for a helper process that is building a program, and return whether one has built it.

    `wanted` is the program. If no helper has begun to build the program, the result is False, and
    this process has to build it.
    """
    build = device.builds.get(wanted)
    if build is None or build.cancel():
        return False
    build.result()
    return True


def seems_built(seconds: float) -> bool:
    """Guess from the seconds of a build whether the program was really compiled.

    A program that the driver loads from its cache takes less time.
    """
    return seconds > _BUILT_SECONDS


def progress(device: Device, building: Specialisation) -> str:
    """Describe how many programs of a first call remain to be built.

    `building` is the program that is being built now. The table ``programs.json`` may list more
    programs than the call needs, so the text says "at most". If the table does not list `building`,
    the text says how many programs this process has built so far.
    """
    left = {*_specialisations(device, [*device.expected])} - device.built.keys()
    if building in left:
        return f"at most {len(left)} {'program' if len(left) == 1 else 'programs'} left"
    n_built = sum(device.built.values())
    return f"{n_built} built so far" if n_built else ""


def specialisations(device: Device, families: Container[str]) -> list[Specialisation]:
    """Return the programs that the first calls of some kernel families build, each program once.

    `families` holds the names of the families. A call belongs to the family of its first self-test.
    The table ``programs.json`` lists the programs of each call.
    """
    calls = _listed(device).items()
    numbers = (number for test, listed in calls if test.split(": ")[0] in families
               for number in listed)  # fmt: skip
    return [*_specialisations(device, list(dict.fromkeys(numbers)))]


def _specialisations(device: Device, listed: list[int]) -> Iterator[Specialisation]:
    programs = _table()["programs"]
    for number in listed:
        source, prelude, defines = programs[number]
        own = None if prelude is None else Prelude(*prelude)
        made = specialise(source, device.capabilities, device.policy, own, **defines)
        yield made.within_said_limit()


def _listed(device: Device) -> dict[str, list[int]]:
    """Return which programs the first calls on a device need, from ``programs.json``.

    A key names a call by the first self-test that it runs, as "family: case": a set of kernels, and
    what they are tested with. The value lists the indices of the call's programs in the table. The
    dictionary is empty if the table does not list the device's policy, which is the sizes of
    work-groups and launches.
    """
    name = policy.name_of(device.policy)
    found: dict[str, list[int]] = _table()["calls"].get(name, {})
    return found


@cache
def _table() -> dict[str, Any]:
    text = files("clmst.runtime").joinpath("programs.json").read_text(encoding="utf-8")
    table: dict[str, Any] = json.loads(text)
    return table
