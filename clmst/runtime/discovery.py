"""The devices of the machine, their order of preference, and which device a name means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clmst import route
from clmst.core.arguments import shown
from clmst.core.errors import (
    DeviceWarning,
    InvalidArgumentError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
    logger,
    warn_of_fallback,
)
from clmst.core.forest import Forest, routed
from clmst.runtime import ahead, embedded, forking, listing
from clmst.runtime.capabilities import OPTIONAL
from clmst.runtime.device import Device
from clmst.runtime.handles import Queue
from clmst.runtime.listing import has_pyopencl, opencl_devices
from clmst.runtime.trust import NoFamilyLeftError
from clmst.runtime.verdicts import Verdict

T = TypeVar("T")

DEVICE_VARIABLE = "CLMST_DEVICE"
WITHOUT_VARIABLE = "CLMST_WITHOUT"

# The usual names of OpenCL implementations that report themselves under another name.
_ALIASES = {"Portable Computing Language": "PoCL"}

_MOST_DIGITS = 10  # a number after a device's name must have fewer digits

# Kinds of hardware in the order of preference. Some devices are software that runs on the CPU,
# whatever kind they report: rasterisers (zink reports the driver that it runs on), emulators and
# simulators. They are recognised by words in their names, and come after all hardware, because the
# CPU's own runtimes are faster.
_HARDWARE = ("gpu", "accelerator", "cpu")
_SOFTWARE = (
    ("llvmpipe", "lavapipe", "softpipe", "swrast", "swiftshader"),
    ("emulat",),
    ("oclgrind", "simulat"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One device of the machine, and whether it can be used.

    Attributes
    ----------
    device : Device
        The device.
    usable : bool
        Whether it has passed its trial, that is, has run two or three small kernels correctly.
    reason : str or None
        Why the device cannot be used, or None if it can.
    chosen : bool
        Whether it is the default device.
    verdicts : tuple of Verdict
        The results of its self-tests so far. A kernel family that is missing has not been tested.
        Each family is tested before its first use.
    """

    device: Device
    usable: bool
    reason: str | None
    chosen: bool
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)


def enumerate_devices() -> list[Device]:
    """Create a Device for each OpenCL device, best first, without testing whether it works."""
    found, without = opencl_devices(), _forced_off()
    return sorted((Device(one, without=without) for one in found), key=_rank)


def devices() -> list[Listing]:
    """List the devices of this machine, best first, after a small test (a trial) of each.

    GPUs come first, then other accelerators, then CPUs. Among CPU runtimes, Intel's comes first.
    Software that acts as a device comes last: rasterisers such as Mesa's llvmpipe, emulators of
    FPGAs, the simulator Oclgrind. Devices of one class are sorted by their number of compute units,
    largest first.

    Returns
    -------
    list of Listing
        One entry per device. `usable` says whether the device passed its trial, and `reason` why it
        did not. `chosen` marks the default device.

    Examples
    --------
    >>> import clmst
    >>> for entry in clmst.devices():
    ...     print(entry.device.name, entry.usable)  # doctest: +SKIP
    """
    every = enumerate_devices()
    meant = matching(every, os.environ.get(DEVICE_VARIABLE))
    best = next((d for d in meant if _failure_now(d) is None), None)
    return [
        Listing(
            device=d,
            usable=(reason := _failure_now(d)) is None,
            reason=reason,
            chosen=d is best,
            verdicts=tuple(d.trust.verdicts()),
        )
        for d in every
    ]


# The device that was found for each name and set of forced-off capabilities. If several names mean
# one device, they give the same object, since the object holds programs and memory.
_resolved: dict[tuple[str | None, tuple[str, ...]], Device] = {}


def get_device(device: Any = None) -> Device:
    """Return the device that an argument `device` names.

    Parameters
    ----------
    device : None, str, Device or pyopencl.CommandQueue
        One of:

        * None: the device that ``CLMST_DEVICE`` names, or else the best usable one in the order of
          :func:`devices`;
        * "gpu" or "cpu". A GPU must be hardware;
        * part of the name of a device, a platform or a vendor, in upper or lower case;
        * one of these names with ":" and a number, such as "nvidia:1". The number selects among the
          devices that match, from 0 on, in the order of :func:`devices`;
        * a :class:`Device`;
        * a queue of PyOpenCL that executes in order. Work is then done in that queue.

    Returns
    -------
    Device
        The device. Equal names give the same object.

    Raises
    ------
    UnsupportedDeviceError
        No device is usable, or the named device failed its trial. The message says what to
        install.
    OutOfDeviceMemoryError
        Other processes use all memory of the device. No other device is taken instead.
    InvalidArgumentError
        No device matches the name. The message lists the devices.

    Examples
    --------
    >>> import clmst
    >>> device = clmst.get_device()
    >>> clmst.get_device(device) is device
    True
    """
    forking.check()
    if isinstance(device, Device):
        device.check_usable()
        return device
    if device is None:
        return _of_name(os.environ.get(DEVICE_VARIABLE), _forced_off())
    if isinstance(device, str):
        return _of_name(str.__str__(device), _forced_off())
    return _from_queue(device)


def _of_name(name: str | None, off: tuple[str, ...]) -> Device:
    """Return the device that a name stands for, with the capabilities `off` switched off.

    None as the name means the best usable device. Equal arguments give the same object.
    """
    key = (name, off)
    if key not in _resolved:
        with listing.lock:
            found = _resolved.get(key) or first_usable(name)
            alike = (one for one in _resolved.values() if _is_same(one, found))
            _resolved[key] = next(alike, found)
    return _resolved[key]


# A warning that the host computes, because there is no device, is given once for each set of
# switched-off capabilities. These are the sets for which it was given.
_hosts: set[tuple[str, ...]] = set()


def is_named() -> bool:
    """Return whether the environment variable ``CLMST_DEVICE`` names a device."""
    return bool(os.environ.get(DEVICE_VARIABLE))


def default_device() -> Device | None:
    """Return the default device, or None if there is none and the host must compute.

    A warning is given when None is first returned in a process. If ``CLMST_DEVICE`` names a device
    that cannot be used, the error of :func:`get_device` is raised instead.
    """
    return _default(os.environ.get(DEVICE_VARIABLE), _forced_off())


def _default(name: str | None, off: tuple[str, ...]) -> Device | None:
    """Return the default device as :func:`default_device`, without reading the environment.

    `name` is the value of ``CLMST_DEVICE``, and `off` has the capabilities that are switched off.
    """
    forking.check()
    if off in _hosts:
        return None
    try:
        return _of_name(name, off)
    except UnsupportedDeviceError as error:
        if name:
            raise
        _hosts.add(off)
        warn_of_fallback(
            f"{error}. Until then the host computes: the same results, more slowly", DeviceWarning
        )
        return None


# All devices that a name may stand for, the best first, by the set of capabilities that are
# switched off.
_in_order: dict[tuple[str, ...], list[Device]] = {}
# The sets of switched-off capabilities for which a warning has said that a later device, or the
# host, computes what a device cannot.
_passed_on: set[tuple[str, ...]] = set()


class DevicesInTurn:
    """The devices that may compute something, the best first, and at last the host.

    A device that lacks something, such as doubles or memory, is followed by the next one in the
    order of :func:`devices`, and the last one by the host. When that first happens in a process, a
    DeviceWarning says which device was skipped, and why.

    Devices are not skipped if the argument `device` or ``CLMST_DEVICE`` names a device, or if
    `may_pass` is False, because the call needs a device. Then the host never computes, and only a
    device that was refused for every algorithm is left out.

    If `host_first` is given and returns True, the host computes while the kernels that a device
    needs for its first call are built in other processes. The device then computes later calls. If
    no device was opened before, another process opens the default device, and does the work of the
    call there by the function `rehearsed`, which gets the device as its only argument. The function
    must be picklable with the arguments that are bound to it. None means that only the device is
    opened.

    The work of a device is done inside of ``with turns:``.

    Attributes
    ----------
    found : Device or None
        The device whose turn it is, or None if it is the host's turn.
    may_pass : bool
        Whether the next device, or the host, may compute what a device cannot. This is the argument
        `may_pass`, but False if a device is named.
    """

    __slots__ = ("_asked", "_host_first", "_outer", "_passed", "_while_built", "found", "may_pass")

    def __init__(
        self,
        device: Any,
        *,
        may_pass: bool = True,
        host_first: Callable[[], bool] | None = None,
        rehearsed: Callable[[Device], object] | None = None,
    ) -> None:
        self._asked = device
        self._passed: list[tuple[str, str]] = []
        name = os.environ.get(DEVICE_VARIABLE) if device is None else None
        self.may_pass = may_pass and device is None and not name
        self._host_first = host_first if self.may_pass else None
        self._while_built: route.Way | None = None
        self.found: Device | None
        if not self.may_pass:
            self.found = get_device(device)
            return
        off = _forced_off()
        self.found = _resolved.get((name, off))  # mostly the device is open already
        if self.found is not None:
            forking.check()
        elif self._host_first is not None and _is_opening(self._host_first, rehearsed, off):
            self._while_built = route.way_while_opened()
        else:
            self.found = _default(name, off)

    def __enter__(self) -> None:
        waiting = ahead.waiting
        self._outer, waiting.host_answers = waiting.host_answers, self._host_first

    def __exit__(self, *_: object) -> None:
        ahead.waiting.host_answers = self._outer

    def skip(self, error: Exception) -> None:
        """Go on to the next device, or to the host, because the present device has raised `error`.

        `error` is one of :data:`INABILITIES`. It is raised again if no other device may be used.
        """
        failed = self.found
        assert failed is not None, "the host does not fail for a device's reasons"
        if isinstance(error, ahead.NotBuiltError):
            self._while_built = route.way_while_built(failed.description, error.n_left)
            logger.info("the host computes, since %s", self._while_built.because)
            self.found = None
            return
        if not self.may_pass:
            if not (isinstance(error, NoFamilyLeftError) and pass_over(self._asked, error)):
                raise error
            self.found = get_device(self._asked)
            return
        if isinstance(error, NoFamilyLeftError):
            pass_over(None, error)
        reason = error.reason if isinstance(error, NoFamilyLeftError) else _reason(failed, error)
        self._passed.append((failed.description, reason))
        self.found = _following(failed)
        _warn_of_passing(self._passed[-1], self.found)

    def with_skipped(self, result: T) -> T:
        """Add the skipped devices to ``stats["route"]`` of a result, if it is a forest.

        Returns `result`, which is changed.
        """
        if self._passed and isinstance(result, Forest):
            way = route.Way(**result.stats["route"], asks="")
            routed(result, route.after(self._passed, way))
        return result

    @property
    def waits(self) -> bool:
        """Whether the host computes only until the kernels of a device are built."""
        return self._while_built is not None

    @property
    def way_of_host(self) -> route.Way:
        """A record that the host computes, with the reasons why devices were skipped."""
        return self._while_built or route.way_of_host(self._passed)


def _is_opening(
    host_first: Callable[[], bool],
    rehearsed: Callable[[Device], object] | None,
    off: tuple[str, ...],
) -> bool:
    """Return whether the host computes while a helper process opens the default device.

    `host_first` says whether the host may, and `off` has the capabilities that are switched off.
    `rehearsed` does the work of the call on the device that the helper has opened. A device that
    this process has opened needs no helper.
    """
    is_open = (None, off) in _resolved or off in _hosts
    return not is_open and ahead.is_opening(host_first, rehearsed)


# The errors that are raised if a device cannot do what it was asked for.
INABILITIES = (UnsupportedDeviceError, OutOfDeviceMemoryError, ahead.NotBuiltError)


def on_device_or_host(
    device: Any,
    call: Callable[[Device], T],
    on_host: Callable[[route.Way], T],
    *,
    host_first: Callable[[], bool] | None = None,
    rehearsed: Callable[[Device], object] | None = None,
) -> T:
    """Compute something on the first device that can do the work, or else on the host.

    `device` is the argument that the caller of clmst gave. `call` is called with one device after
    the other, in the order of :class:`DevicesInTurn`, until a call does not raise. If no device is
    left, `on_host` is called with a record of the reasons why each device was skipped. If
    `host_first` is given and returns True, the host also computes while the kernels that the device
    needs first are being built. `rehearsed`, by default `call`, is the function by which another
    process does the work on a device ahead of that, as explained at :class:`DevicesInTurn`.
    """
    turns = DevicesInTurn(device, host_first=host_first, rehearsed=rehearsed or call)
    while turns.found is not None:
        try:
            with turns:
                return turns.with_skipped(call(turns.found))
        except INABILITIES as error:
            turns.skip(error)
    return on_host(turns.way_of_host)


def _reason(device: Device, error: Exception) -> str:
    """Return the message of an error, without the device's name at the beginning."""
    return str(error).removeprefix(device.description).strip(" :")


def _following(device: Device) -> Device | None:
    """Return the best usable device that comes after `device` in the order of preference.

    Return None if there is none.
    """
    key = _forced_off()
    if key not in _in_order:
        with listing.lock:
            known = list(_resolved.values())
            _in_order[key] = [
                next((one for one in known if _is_same(one, found)), found)
                for found in enumerate_devices()
            ]
    every = _in_order[key]
    places = [place for place, one in enumerate(every) if _is_same(one, device)]
    rest = every[places[0] + 1 :] if places else []
    return next((one for one in rest if _failure_now(one) is None), None)


def _warn_of_passing(passed: tuple[str, str], following: Device | None) -> None:
    """Warn, once in a process, that a device is skipped because it cannot do the work.

    `passed` has the name of that device and the reason. `following` is the other device, or None
    for the host.
    """
    name, reason = passed
    then = "the host" if following is None else following.description
    message = f"{name} cannot do this: {reason}. {then} does it instead, with the same results"
    if _forced_off() in _passed_on:
        logger.info("%s", message)
        return
    _passed_on.add(_forced_off())
    warn_of_fallback(f"{message}; the argument device names another one", DeviceWarning)


# Devices that were refused for every algorithm, with the reason. :func:`get_device` no longer
# chooses one of them by name.
_passed_over: list[tuple[Device, str]] = []


def pass_over(device: Any, error: NoFamilyLeftError) -> bool:
    """Exclude a device whose kernels failed the self-tests of every algorithm.

    `error` names the device that has failed. `device` is the argument by which the caller chose it.
    If the argument is a name or None, :func:`get_device` finds the next matching device from now
    on, and the result is True. Otherwise nothing is excluded, and the result is False.
    """
    if device is not None and not isinstance(device, str):
        return False
    _passed_over.append((error.device, error.reason))
    logger.info("%s; the next device is tried", error)
    for key in [key for key, found in _resolved.items() if found is error.device]:
        del _resolved[key]
    return True


def on_trusted_device(device: Any, call: Callable[[Device], T]) -> T:
    """Call `call` with the device that the argument `device` names, and return the result.

    If no algorithm passes its self-test on that device, and `device` is a name or None, the call is
    repeated with the next device that matches. If `device` is a Device, NoFamilyLeftError is raised
    instead.
    """
    while True:
        found = get_device(device)
        try:
            return call(found)
        except NoFamilyLeftError as error:
            if not pass_over(device, error):
                raise


def _failure(device: Device) -> str | None:
    """Return the reason why a device cannot be used, or None if it can.

    There are two reasons. The device may fail its trial, which is a first test with a few small
    kernels. Or it has failed the self-tests of every algorithm before.
    """
    reasons = [reason for other, reason in _passed_over if _is_same(other, device)]
    return f"cannot be used: {reasons[0]}" if reasons else device.trial_failure


def _is_same(one: Device, other: Device) -> bool:
    """Return whether two devices are the same hardware with the same capabilities switched off."""
    return (one.cl_device, one.without) == (other.cl_device, other.without)


def _failure_now(device: Device) -> str | None:
    """Return the reason why a device cannot be used now, or None if the device can be used.

    Unlike :func:`_failure`, this returns a reason if other processes use all of the device's
    memory.
    """
    try:
        return _failure(device)
    except OutOfDeviceMemoryError as error:
        return str(error)


def _from_queue(queue: Queue) -> Device:
    if not has_pyopencl():
        raise UnsupportedDeviceError(_lacking())
    import pyopencl as cl

    if not isinstance(queue, cl.CommandQueue):
        raise InvalidArgumentError(
            f"device is {shown(queue)}; it must be None, a name, a clmst.Device or a "
            "pyopencl.CommandQueue"
        )
    if queue.properties & cl.command_queue_properties.OUT_OF_ORDER_EXEC_MODE_ENABLE:
        raise InvalidArgumentError(
            "the queue executes out of order; kernels follow one another, so it must be in order"
        )
    device = Device(queue.device, queue=queue, without=_forced_off())
    device.check_usable()
    return device


def _lacking() -> str:
    """Describe what is missing on a machine without any device, and what to install."""
    rule = embedded.what_to_install()
    if not has_pyopencl():
        return f"PyOpenCL is not installed; pip install pyopencl, and {rule}"
    fact, led = "no OpenCL device was found", os.environ.get(embedded.VENDORS_VARIABLE)
    if led is not None:
        fact += f" where {embedded.VENDORS_VARIABLE} leads, {shown(led)}"
        rule = f"unset that, or {rule}"
    return f"{fact}{_left_out()}; {rule}"


def _left_out() -> str:
    return "".join(f" ({name} is left out: {why})" for name, why in listing.left_out().items())


def first_usable(name: str | None) -> Device:
    """Return the best device that matches a name and passes its trial, which runs now.

    None as `name` stands for every device. Raises an error as :func:`get_device` does.
    """
    if (name or "gpu").strip().lower() in ("gpu", "nvidia"):
        ahead.prepare()
    every = enumerate_devices()
    if not every:
        raise UnsupportedDeviceError(_lacking())
    meant = matching(every, name)
    if not meant:
        known = "; ".join(d.description for d in every)
        raise InvalidArgumentError(f"no device matches {name!r}; there are: {known}{_left_out()}")
    for device in meant:
        if (reason := _failure(device)) is None:
            logger.debug("device %s, since %s was asked for", device.description, name or "none")
            return device
        logger.info("%s %s; the next device is tried", device.description, reason)
    reasons = "; ".join(f"{d.description} {_failure(d)}" for d in meant)
    raise UnsupportedDeviceError(
        f"no usable OpenCL device: {reasons}; {embedded.what_to_install()}"
    )


def matching(every: list[Device], name: str | None) -> list[Device]:
    """Return the devices of `every` that match a name, in the given order.

    If `name` is None, return all of them.
    """
    words, colon, number = (name or "").rpartition(":")
    if colon and number.strip().isdecimal() and len(number) < _MOST_DIGITS:
        return [d for d in every if _matches(d, words)][int(number) :][:1]
    return [d for d in every if _matches(d, name or "")]  # the empty string matches every device


def _matches(device: Device, name: str) -> bool:
    wanted = name.strip().lower()
    if wanted == "gpu":  # a GPU that software emulates does not match
        return _class(device) == _HARDWARE.index("gpu")
    if wanted == "cpu":
        return device.capabilities.kind == wanted
    words = [device.name, device.platform, str(device.cl_device.vendor)]
    words += [alias for platform, alias in _ALIASES.items() if platform in device.platform]
    return any(wanted in word.lower() for word in words)


def _class(device: Device) -> int:
    """Return the class of a device by its kind, as an index: 0 is preferred most.

    The kinds of hardware come first, then software that acts as a device, such as emulators.
    """
    said = f"{device.name} {device.platform}".lower()
    for place, words in enumerate(_SOFTWARE, len(_HARDWARE)):
        if any(word in said for word in words):
            return place
    return _HARDWARE.index(device.capabilities.kind)


def _rank(device: Device) -> tuple[int, int, int]:
    """Return the sort key by which devices are ordered, the best device first.

    The first part is the class of the device, such as GPU or CPU. Among CPU runtimes, Intel's comes
    first, because it was 1.16 times as fast as PoCL in the mean of four graphs
    (docs/experiments.md). The last part is the number of compute units.
    """
    place = _class(device)
    later = place == _HARDWARE.index("cpu") and "intel" not in device.platform.lower()
    return place, later, -device.capabilities.compute_units


def _forced_off() -> tuple[str, ...]:
    said = os.environ.get(WITHOUT_VARIABLE)
    if not said:
        return ()
    names = tuple(n.strip() for n in said.split(",") if n.strip())
    unknown = [name for name in names if name not in OPTIONAL]
    if unknown:
        raise InvalidArgumentError(
            f"{WITHOUT_VARIABLE} names {unknown[0]!r}; it takes {', '.join(OPTIONAL)}"
        )
    return names
