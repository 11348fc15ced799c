"""A device earns each family of kernels: the rule by which it is trusted with one.

A family is a set of kernels that answer together: an algorithm, a kind of primitive. Before it
first answers on a device it solves problems there whose answers are known. The verdict is kept
(:mod:`clmst.runtime.verdicts`), so that is paid once. What the problems are is the business of the
layer that the family belongs to; nothing here knows of graphs.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from clmst.core.errors import (
    DeviceError,
    DeviceLostError,
    InvalidArgumentError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.runtime import failures
from clmst.runtime.refusal import refusal
from clmst.runtime.verdicts import CRASHED, Verdict, VerdictStore

if TYPE_CHECKING:
    from clmst.runtime.device import Device

# The one case of a family that has no other.
ONLY: Hashable = ""


class NoFamilyLeftError(UnsupportedDeviceError):
    """A device was refused for every family that could have done the work.

    Parameters
    ----------
    device : Device
    reason : str
    """

    def __init__(self, device: Device, reason: str) -> None:
        super().__init__(f"{device.description} cannot be used: {reason}")
        self.device, self.reason = device, reason


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelFamily:
    """Kernels that answer together, and how a device shows that their answers are right.

    Attributes
    ----------
    name : str
        As :class:`~clmst.runtime.verdicts.Verdict` has it.
    what : str
        What answers by these kernels, for tables.
    test : callable
        Solves known problems on a device in a case; returns None if every answer was right, else
        what was wrong, in one line.
    cases : tuple
        The cases that stand for all, where nobody has a problem of his own.
    """

    name: str
    what: str
    test: Callable[[Device, Any], str | None]
    cases: tuple[Hashable, ...] = (ONLY,)


@dataclass(slots=True)
class TrustRecord:
    """What is known of a device in this process.

    Attributes
    ----------
    given : bool
        Whether it is trusted with everything: for tests, which compare every answer themselves.
    """

    given: bool
    earned: set[tuple[str, Hashable]] = field(default_factory=set)
    refused: dict[tuple[str, Hashable], str] = field(default_factory=dict)
    lost: set[tuple[str, Hashable]] = field(default_factory=set)
    is_testing: bool = False
    store: VerdictStore | None = None


class Trust:
    """What a device has proved.

    A device makes one whenever it is asked for its trust, and keeps only the record: were this
    object kept, device and trust would be a cycle, and the device's context would live on.

    Parameters
    ----------
    device : Device
    record : TrustRecord
    """

    __slots__ = ("_device", "_record")

    def __init__(self, device: Device, record: TrustRecord) -> None:
        self._device, self._record = device, record

    @property
    def given(self) -> bool:
        """Whether the device is trusted with everything."""
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

    def require(self, family: KernelFamily, case: Hashable = ONLY) -> None:
        """Raise :class:`UnsupportedDeviceError` unless the device has earned a family.

        The first time that nobody knows, it is tested.
        """
        if self.given or (family.name, case) in self._record.earned:
            return
        reason = self.refusal(family, case)
        if reason is not None:
            raise UnsupportedDeviceError(
                f"{self._device.description} is not trusted with {family.name}: {reason}; "
                "'clmst devices --test' tries again"
            )

    def refusal(self, family: KernelFamily, case: Hashable = ONLY) -> str | None:
        """Return why the device is not trusted with a family, or None if it is."""
        key = (family.name, case)
        if self.given or key in self._record.earned:
            return None
        with self._device.lock:  # other threads wait for the verdict
            if self._record.is_testing or key in self._record.earned:
                return None  # a test of one family may use others
            if key not in self._record.refused:
                verdict = self.store.find(family.name, str(case))
                self._note(key, verdict or self._tested(family, case))
            return self._record.refused.get(key)

    def test(self, family: KernelFamily, case: Hashable = ONLY) -> Verdict:
        """Test a family anew, whatever was known."""
        with self._device.lock:
            self.store.forget(family.name, str(case))
            key = (family.name, case)
            self._record.earned.discard(key)
            self._record.refused.pop(key, None)
            verdict = self._tested(family, case)
            self._note(key, verdict)
            return verdict

    def verdicts(self) -> list[Verdict]:
        """Return what is known of the device, by family and case; tests nothing."""
        return self.store.every()

    # ------------------------------------------------------------------------ testing

    def _note(self, key: tuple[str, Hashable], verdict: Verdict) -> None:
        if verdict.reason is None:
            self._record.earned.add(key)
        else:
            self._record.refused[key] = verdict.reason

    def _tested(self, family: KernelFamily, case: Hashable) -> Verdict:
        """Test a family, and keep the verdict.

        What a device refuses to build or to run it may do another time, when there is room on the
        disk, say: such a verdict holds for this process only.
        """
        name, case_name = family.name, str(case)
        began = time.perf_counter()
        with self.store.testing(name, case_name) as was_left, self._testing():
            if was_left:
                verdict = Verdict(family=name, case=case_name, reason=CRASHED)
                self.store.keep(verdict)
                return verdict
            reason, lasts = self._outcome(family, case)
        seconds = round(time.perf_counter() - began, 4)
        verdict = Verdict(family=name, case=case_name, reason=reason, seconds=seconds)
        if lasts:
            self.store.keep(verdict)
        return verdict

    def _outcome(self, family: KernelFamily, case: Hashable) -> tuple[str | None, bool]:
        """Return what a test says, and whether that is so for good.

        A device that is lost in the middle tells nothing of the kernels the first time.
        """
        try:
            return family.test(self._device, case), True
        except (InvalidArgumentError, OutOfDeviceMemoryError):
            raise  # nothing that tells of the kernels
        except Exception as error:
            key = (family.name, case)
            was_lost = isinstance(error, DeviceLostError) or failures.is_lost(self._device, error)
            if was_lost and key not in self._record.lost:
                self._record.lost.add(key)
                raise
            reason = refusal(error)
            if reason is not None:  # rounds without an end are kernels' fault, whoever tells
                return reason, isinstance(error, DeviceError) and error.__cause__ is None
            if isinstance(error, MemoryError):
                raise
            words = (str(error).splitlines() or [""])[0]
            return f"fails on a known problem: {type(error).__name__}: {words}", True

    @contextmanager
    def _testing(self) -> Iterator[None]:
        self._record.is_testing = True
        try:
            yield
        finally:
            self._record.is_testing = False
            with suppress(Exception):  # of a device that is lost, say
                self._device.queue.finish()  # before its memory is anybody else's
