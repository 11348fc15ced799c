"""Trust: a device must pass a self-test of each family of kernels before it uses the family.

A family is the set of kernels that compute a result together: an algorithm, a kind of primitive.
Before its first use on a device, it solves problems with known answers there. The verdict is kept
(:mod:`clmst.runtime.verdicts`), so this happens once. The layer of the family chooses the problems;
this module knows no graphs.

Built-in functions may be wrong or missing as well (quirk: rusticl-libclc). A self-test calls those
that its family calls. A driver that is not proven (``quirks.py``) is tested in a child process
(``child.py``), and so is one of which a process has ended in the middle of a test.
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
from clmst.runtime import failures
from clmst.runtime.kernel_family import ONLY, KernelFamily, SelfTestResult, survived
from clmst.runtime.quirks import is_proven
from clmst.runtime.verdicts import Verdict, VerdictStore

if TYPE_CHECKING:
    from clmst.runtime.device import Device
    from clmst.runtime.specialisation import Specialisation

# Processes that may end in the middle of a test, where no child can be started, before it is no
# longer tried: one may have been ended from outside.
_MOST_ENDED = 2
_ENDED = "processes ended in the middle of its self-test, and none can be started to find out why"

# Why a family is refused that a device never uses; no such verdict is kept.
_UNSUITED = "its kernels are not for such a device"


class NoFamilyLeftError(UnsupportedDeviceError):
    """A device failed the self-tests of all families that could do the work."""

    def __init__(self, device: Device, reason: str) -> None:
        super().__init__(f"{device.description} cannot be used: {reason}")
        self.device, self.reason = device, reason

    def __reduce__(self) -> Any:
        """Pickle as the error that it is to users: a device does not leave its process."""
        attributes = {name: value for name, value in vars(self).items() if name != "device"}
        return UnsupportedDeviceError, self.args, attributes


# Not in the table of families: the builds of all programs, each of which is a case.
BUILD = KernelFamily(
    name="build", what="builds of programs", test=survived(lambda device, case: device.build(case))
)


@dataclass(slots=True)
class TrustRecord:
    """The verdicts of this process on a device."""

    # Whether it is trusted without self-tests: for tests, which compare every answer themselves.
    given: bool
    # The reason of each refusal by family and case; None where the device passed.
    reasons: dict[tuple[str, Hashable], str | None] = field(default_factory=dict)
    lost: set[tuple[str, Hashable]] = field(default_factory=set)
    is_testing: bool = False
    store: VerdictStore | None = None


class Trust:
    """The self-tests of a device, and their verdicts.

    A device makes this object each time its trust is asked for, and keeps only the record. If it
    kept the object, both would be a reference cycle, and the device's context would live on.
    """

    __slots__ = ("_device", "_record")

    def __init__(self, device: Device, record: TrustRecord) -> None:
        self._device, self._record = device, record

    @property
    def given(self) -> bool:
        """Whether the device is trusted without self-tests."""
        return self._record.given

    @given.setter
    def given(self, value: bool) -> None:
        self._record.given = value

    @property
    def store(self) -> VerdictStore:
        """The verdicts that are kept."""
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
        """Whether the driver is known not to end processes."""
        device = self._device
        return is_proven(device.platform, device.name, device.driver)

    def renew(self) -> None:
        """Forget what this process knows: the device is used otherwise from now on."""
        self._record.store = None
        self._record.reasons.clear()

    def require(self, family: KernelFamily, case: Hashable = ONLY) -> None:
        """Raise :class:`UnsupportedDeviceError` unless the device passed a family's self-test.

        If there is no verdict yet, the family is tested.
        """
        if (reason := self.refusal(family, case)) is not None:
            raise UnsupportedDeviceError(
                f"{self._device.description} is not trusted with {family.name}: {reason}; "
                "'clmst devices --test' tries again"
            )

    def refusal(self, family: KernelFamily, case: Hashable = ONLY) -> str | None:
        """Return why the device is not trusted with a family, or None if it is."""
        key, reasons = (family.name, case), self._record.reasons
        if self._record.given or reasons.get(key, _UNSUITED) is None:
            return None
        if not family.suits(self._device):
            return _UNSUITED
        with self._device.lock:  # other threads wait for the verdict
            if self._record.is_testing:
                return None  # a test of one family may use others
            if key not in reasons:
                verdict = self.store.find(family.name, str(case))
                self._note(key, verdict or self._tested(family, case))
            return reasons[key]

    def require_build(self, program: Specialisation) -> None:
        """Raise :class:`KernelBuildError` if the build of a program ends processes.

        Self-tests build most programs; this is for their variants, and for operators of users.
        """
        if self.given or self.is_proven:
            return
        reason = self.refusal(BUILD, program)
        if reason is not None:
            raise KernelBuildError(program.label, self._device.name, reason)

    def test(self, family: KernelFamily, case: Hashable = ONLY, *, apart: bool = False) -> Verdict:
        """Test a family again, even if there is a verdict; `apart`: in a child process.

        One that does not suit the device is not tested.
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
        """Return the verdicts so far but those on builds, by family and case; tests nothing."""
        return [one for one in self.store.every() if one.family != BUILD.name]

    # ------------------------------------------------------------------------ testing

    def _note(self, key: tuple[str, Hashable], verdict: Verdict) -> None:
        self._record.reasons[key] = verdict.reason
        if verdict.reason is not None:
            logger.info(
                "%s is not used for %s: %s", self._device.description, key[0], verdict.reason
            )

    def _tested(self, family: KernelFamily, case: Hashable, *, apart: bool = False) -> Verdict:
        """Test a family, and keep the verdict.

        A build or run that fails may work another time, for example when the disk is no longer
        full. Such a verdict holds for this process only.
        """
        name, case_name = family.name, str(case)
        work = timed_step(f"compiling and testing kernels ({name}), once for {self._device.name}")
        with work, self.store.testing(name, case_name) as marker, self._testing():
            marker.stays = marker.left > 0
            outcome: SelfTestResult | None = None
            if apart or marker.left or not self.is_proven:
                from clmst.runtime import child

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
        """Run a test in this process.

        An answer that is wrong is the device's fault, and so is what OpenCL or the runtime reports
        of it. Any other error is raised: it is a fault of clmst or of this process, and says
        nothing about the device. So does a first loss of the device.
        """
        began, lasts = time.perf_counter(), True
        try:
            reason = family.failure(self._device, case)
        except OutOfDeviceMemoryError:
            raise  # says nothing about the kernels
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
            # Rounds without an end are the kernels' fault.
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
                with suppress(Exception):  # such as a lost device
                    queue.finish()  # before its memory has a new owner
