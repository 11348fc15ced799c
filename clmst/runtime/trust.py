"""Self-tests: before a device uses a family of kernels, it must pass the family's self-test.

A family is a set of kernels that compute a result together, such as an algorithm or a kind of
primitive. Before its first use on a device, the family solves problems with known answers there.
The verdict is stored (:mod:`clmst.runtime.verdicts`), so this happens once. The module that defines
a family also defines the problems of its self-test. This module knows nothing about graphs.

Built-in functions of OpenCL may be wrong or missing as well (quirk: rusticl-libclc). A self-test
calls the built-in functions that its family calls. A program may even build without one of its
kernels (quirk: apple-missing-kernels). If a driver is not proven (``quirks.py``), or if a process
has ended in the middle of the test before, the test runs in a child process (``child.py``).
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from clmst.core.errors import (
    DeviceError,
    DeviceLostError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
    logger,
)
from clmst.core.long_work import timed_step
from clmst.runtime import ahead, child, failures
from clmst.runtime.kernel_family import (
    BUILD_NAME,
    ONLY,
    KernelFamily,
    SelfTestResult,
    survived,
)
from clmst.runtime.quirks import is_proven
from clmst.runtime.verdicts import Verdict, VerdictStore

if TYPE_CHECKING:
    from clmst.runtime.device import Device
    from clmst.runtime.specialisation import Specialisation

# Maximum number of processes that may end in the middle of a test before the test is no longer run.
# It matters only if no child process can be started, so that tests run in the process itself. The
# number is more than one, because a process may have been killed from outside.
_MOST_ENDED = 2
_ENDED = "processes ended in the middle of its self-test, and none can be started to find out why"

# The reason for refusing a family of kernels that cannot run on a device at all. It is not stored,
# because it needs no test.
_UNSUITED = "its kernels are not for such a device"


class NoFamilyLeftError(UnsupportedDeviceError):
    """A device has failed the self-tests of all families of kernels that could do the work."""

    def __init__(self, device: Device, reason: str) -> None:
        super().__init__(f"{device.description} cannot be used: {reason}")
        self.device, self.reason = device, reason

    def __reduce__(self) -> Any:
        """Pickle as an :class:`UnsupportedDeviceError`, because a device cannot be pickled."""
        attributes = {name: value for name, value in vars(self).items() if name != "device"}
        return UnsupportedDeviceError, self.args, attributes


# The builds of programs are treated as a family of kernels, so that they are tested like one: on
# drivers that may crash, a child process builds each program first. Each program is a case of this
# family. The case None only opens the device. The family is not in the table `FAMILIES`, because it
# does not compute anything.
BUILD = KernelFamily(
    name=BUILD_NAME,
    what="builds of programs",
    test=survived(lambda device, case: case and device.build(case)),
)


@dataclass(slots=True)
class TrustRecord:
    """Results of self-tests on a device that this process has computed or read from the disk."""

    # Whether the device may run all kernels without self-tests. Only tests of clmst set this,
    # because they compare every answer themselves.
    given: bool
    # For each family of kernels and case that was tested: the reason why it is refused, or None if
    # it passed.
    reasons: dict[tuple[str, Hashable], str | None] = field(default_factory=dict)
    lost: set[tuple[str, Hashable]] = field(default_factory=set)
    is_testing: bool = False
    store: VerdictStore | None = None


class Trust:
    """The self-tests of a device, and their results, which are called verdicts.

    A device creates this object each time its attribute `trust` is read, and keeps only `record`,
    which holds the results. If it kept the object itself, the two would form a reference cycle,
    which would keep the device's context alive.
    """

    __slots__ = ("_device", "_record")

    def __init__(self, device: Device, record: TrustRecord) -> None:
        self._device, self._record = device, record

    @property
    def given(self) -> bool:
        """Whether the device may run all kernels without self-tests."""
        return self._record.given

    @given.setter
    def given(self, value: bool) -> None:
        self._record.given = value

    @property
    def store(self) -> VerdictStore:
        """The results of self-tests on disk, for this device, its driver and its settings."""
        if self._record.store is None:
            device = self._device
            self._record.store = VerdictStore(
                {
                    "device": device.name,
                    "platform": device.platform,
                    "version": str(device.cl_device.version),
                    "driver": device.driver,
                    "capabilities": repr(asdict(device.capabilities)),
                    "without": repr(device.without),
                    "policy": repr(asdict(device.policy)),
                }
            )
        return self._record.store

    @property
    def is_proven(self) -> bool:
        """Whether the driver is known not to crash the process."""
        device = self._device
        return is_proven(device.platform, device.name, device.driver)

    def renew(self) -> None:
        """Forget the results of self-tests, because the device's capabilities have changed."""
        self._record.store = None
        self._record.reasons.clear()

    def require(self, family: KernelFamily, case: Hashable = ONLY) -> None:
        """Raise :class:`UnsupportedDeviceError` if the device fails the self-test of some kernels.

        `family` is the group of kernels, and `case` the case of its self-test, which runs now
        unless it has run before.
        """
        if (reason := self.refusal(family, case)) is not None:
            raise UnsupportedDeviceError(
                f"{self._device.description} is not trusted with {family.name}: {reason}; "
                "'clmst devices --test' tries again"
            )

    def refusal(self, family: KernelFamily, case: Hashable = ONLY) -> str | None:
        """Return the reason why the device may not use a family of kernels, or None if it may.

        `case` is the case of the self-test, which runs now unless it has run before. While a
        self-test runs, the result is always None, since the test of one family may use kernels of
        another.
        """
        key, reasons = (family.name, case), self._record.reasons
        if self._record.given or reasons.get(key, _UNSUITED) is None:
            return None
        if not family.suits(self._device):
            return _UNSUITED
        with self._device.lock:  # other threads that need the verdict wait here
            if self._record.is_testing:
                return None  # a running test of one family may use the kernels of others
            if key not in reasons:
                verdict = self.store.find(family.name, str(case))
                if verdict is None:
                    ahead.begin(self._device, family.name, case)
                    verdict = self._tested(family, case)
                self._note(key, verdict)
            return reasons[key]

    def require_build(self, program: Specialisation) -> None:
        """Raise :class:`KernelBuildError` if building a program would crash the process.

        On drivers that may crash, a child process builds the program first. Self-tests build most
        programs in a child anyway. This check is needed for programs with other macros, and for
        those that contain operators of users.
        """
        if self.given or self.is_proven:
            return
        reason = self.refusal(BUILD, program)
        if reason is not None:
            raise KernelBuildError(program.label, self._device.name, reason)

    def test(self, family: KernelFamily, case: Hashable = ONLY, *, apart: bool = False) -> Verdict:
        """Run a self-test, even if there is a result already, and return the new result.

        `family` is the group of kernels to test, and `case` the case of its self-test, such as a
        dtype of weights. With `apart` the test runs in a child process. Kernels that cannot run on
        the device are not tested, and the result says so.
        """
        if not family.suits(self._device):
            return Verdict(family=family.name, case=str(case), reason=_UNSUITED)
        with self._device.lock:
            self.store.forget(family.name, str(case))
            self._record.reasons.pop((family.name, case), None)
            verdict = self._tested(family, case, apart=apart)
            self._note((family.name, case), verdict)
            return verdict

    def verdicts(self) -> list[Verdict]:
        """Return the results of self-tests so far, sorted by kernel family and case.

        A family is a set of kernels, which is tested in several cases, such as dtypes of weights.
        No tests are run. Results about builds of programs are left out.
        """
        return [one for one in self.store.every() if one.family != BUILD.name]

    # ------------------------------------------------------------------------ testing

    def _note(self, key: tuple[str, Hashable], verdict: Verdict) -> None:
        self._record.reasons[key] = verdict.reason
        if verdict.reason is not None:
            logger.info(
                "%s is not used for %s: %s", self._device.description, key[0], verdict.reason
            )

    def _tested(self, family: KernelFamily, case: Hashable, *, apart: bool = False) -> Verdict:
        """Run the self-test of a family of kernels, and return its result.

        `case` is the case of the self-test, such as a dtype of weights. With `apart` the test runs
        in a child process, even if the driver is known not to crash. The result is stored unless
        another attempt could have another result. For example, a build may fail because the disk is
        full. A result that is not stored counts in this process only.
        """
        name, case_name = family.name, str(case)
        work = timed_step(f"compiling and testing kernels ({name}), once for {self._device.name}")
        with work, self.store.testing(name, case_name) as marker, self._testing():
            marker.stays = marker.left > 0
            outcome: SelfTestResult | None = None
            if apart or marker.left or not self.is_proven:
                outcome = child.tested(self._device, family, case)
            if outcome is None and marker.left >= _MOST_ENDED:
                outcome = SelfTestResult(_ENDED, lasts=False)
            if outcome is None:
                marker.stays = False
                outcome = self.run(family, case)
            marker.stays &= not outcome.lasts
        verdict = Verdict(
            family=name, case=case_name, reason=outcome.reason, seconds=outcome.seconds
        )
        if outcome.lasts:
            self.store.keep(verdict)
        return verdict

    def run(self, family: KernelFamily, case: Hashable) -> SelfTestResult:
        """Run the self-test of a family of kernels in a case, in this process.

        A case is what the family is tested with, such as a dtype of weights. A wrong answer, or an
        error that OpenCL or clmst's runtime reports, counts against the device. Any other error is
        raised, because it is a fault of clmst or of this process. If the device stops answering,
        the error is raised the first time, and counts against the device the second time.
        """
        began, lasts = time.perf_counter(), True
        try:
            reason = family.failure(self._device, case)
        except OutOfDeviceMemoryError:
            raise  # the error says nothing about the kernels
        except Exception as error:
            key = (family.name, case)
            was_lost = isinstance(error, DeviceLostError) or failures.is_lost(self._device, error)
            if was_lost and key not in self._record.lost:
                self._record.lost.add(key)
                raise
            reason = failures.refusal(error)
            if reason is None:
                error.add_note(f"in the self-test of {family.name} on {self._device.description}")
                raise
            # The reason is stored for later processes if it is certainly a fault of the kernels.
            # This is only certain if clmst itself has raised the DeviceError, for example because a
            # solve took too many rounds.
            lasts = isinstance(error, DeviceError) and error.__cause__ is None
        return SelfTestResult(reason, lasts, round(time.perf_counter() - began, 4))

    @contextmanager
    def _testing(self) -> Iterator[None]:
        self._record.is_testing = True
        try:
            yield
        finally:
            self._record.is_testing = False
            for queue in self._device.queues_in_use():
                with suppress(Exception):  # the device may be lost
                    queue.finish()  # before the test's memory goes back to the pool
