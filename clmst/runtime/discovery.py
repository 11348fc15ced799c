"""The devices of the machine, their order, and the one that a caller means."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from clmst.core.arguments import shown
from clmst.core.errors import (
    DeviceWarning,
    InvalidArgumentError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
    logger,
    warn_of_fallback,
)
from clmst.runtime import embedded, forking, listing
from clmst.runtime.capabilities import OPTIONAL
from clmst.runtime.device import Device
from clmst.runtime.handles import Queue
from clmst.runtime.listing import has_pyopencl, opencl_devices
from clmst.runtime.trust import NoFamilyLeftError
from clmst.runtime.verdicts import Verdict

T = TypeVar("T")

DEVICE_VARIABLE = "CLMST_DEVICE"
WITHOUT_VARIABLE = "CLMST_WITHOUT"

# Implementations whose usual names are not in what they report.
_ALIASES = {"Portable Computing Language": "PoCL"}

_MOST_DIGITS = 10  # of the number after a device's name

# The kinds of hardware in the order of choice, then words in the names of software that plays a
# device on the CPU, whatever kind it says it is: rasterisers (zink names the driver below it),
# emulators, simulators. Each comes after the CPU's own runtimes, which are quicker.
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
    usable : bool
        Whether it built and ran a kernel.
    reason : str or None
        Why not, if not.
    chosen : bool
        Whether it is the one that is used when none is asked for.
    verdicts : tuple of Verdict
        The results of its self-tests so far. Families that are missing were not tested yet; each is
        tested before its first use.
    """

    device: Device
    usable: bool
    reason: str | None
    chosen: bool
    verdicts: tuple[Verdict, ...] = field(default=(), repr=False)


def enumerate_devices() -> list[Device]:
    """Return every device of every platform, best first, without a trial."""
    found, without = opencl_devices(), _forced_off()
    return sorted((Device(one, without=without) for one in found), key=_rank)


def devices() -> list[Listing]:
    """List the devices of this machine, best first, each tried.

    GPUs come first, then other accelerators, then CPUs, Intel's runtime before others. Software
    that plays a device comes last: rasterisers such as Mesa's llvmpipe, emulators of FPGAs, the
    simulator Oclgrind. Among equals, that with more compute units comes first.

    Returns
    -------
    list of Listing
        One a device; `usable` tells whether it built and ran a kernel, `reason` why not, and
        `chosen` marks the one that is used when none is asked for.

    Examples
    --------
    >>> import clmst
    >>> for entry in clmst.devices():
    ...     print(entry.device.name, entry.usable)  # doctest: +SKIP
    """
    every = enumerate_devices()
    meant = matching(every, _said(DEVICE_VARIABLE))
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


# The device of each name; of names for the same one object, since it holds programs and memory.
_resolved: dict[tuple[str | None, tuple[str, ...]], Device] = {}


def get_device(device: Any = None) -> Device:
    """Return the device that `device` means.

    Parameters
    ----------
    device : None, str, Device or pyopencl.CommandQueue
        None: what ``CLMST_DEVICE`` names, else the best usable one, as :func:`devices` lists them;
        "gpu" or "cpu", where a GPU is one of hardware; part of a device's or platform's name, in
        any case; one of these with ":" and a number, which counts what it means from 0 on, in the
        order of :func:`devices`, as in "nvidia:1"; a :class:`Device`; or a queue, to work in it.

    Raises
    ------
    UnsupportedDeviceError
        There is no usable device, or the one named failed its trial; the message says what to
        install.
    OutOfDeviceMemoryError
        Other processes use all memory of the device; clmst does not take another device instead.
    InvalidArgumentError
        Nothing matches the name; the message lists the devices.
    """
    forking.check()
    if isinstance(device, Device):
        device.check_usable()
        return device
    if device is None or isinstance(device, str):
        name = _said(DEVICE_VARIABLE) if device is None else str.__str__(device)
        key = (name, _forced_off())
        if key not in _resolved:
            with listing.lock:
                found = _resolved.get(key) or _first_usable(name)
                alike = (one for one in _resolved.values() if _is_same(one, found))
                _resolved[key] = next(alike, found)
        return _resolved[key]
    return _from_queue(device)


# The sets of features forced off for which there is no device, of which a warning has said so.
_hosts: set[tuple[str, ...]] = set()


def is_named() -> bool:
    """Return whether ``CLMST_DEVICE`` names a device."""
    return bool(_said(DEVICE_VARIABLE))


def default_device() -> Device | None:
    """Return the device that is used where none is named; None if the host has to do without one.

    A warning says so, once a process. Where ``CLMST_DEVICE`` names a device, its absence is an
    error, as of :func:`get_device`.
    """
    if _hosts and _forced_off() in _hosts:
        forking.check()
        return None
    try:
        return get_device()
    except UnsupportedDeviceError as error:
        if is_named():
            raise
        _hosts.add(_forced_off())
        warn_of_fallback(
            f"{error}. Until then the host solves, by one thread: the same forests, more slowly",
            DeviceWarning,
        )
        return None


# Devices that were refused for every algorithm, and why; names resolve to others from then on.
_passed_over: list[tuple[Device, str]] = []


def pass_over(device: Any, error: NoFamilyLeftError) -> bool:
    """Resolve a name to the next device, after an error of the last; return whether it is one."""
    if device is not None and not isinstance(device, str):
        return False
    _passed_over.append((error.device, error.reason))
    logger.info("%s; the next device is tried", error)
    for key in [key for key, found in _resolved.items() if found is error.device]:
        del _resolved[key]
    return True


def on_trusted_device(device: Any, call: Callable[[Device], T]) -> T:
    """Return what `call` does on the device that is meant, or on the next one that is trusted."""
    while True:
        found = get_device(device)
        try:
            return call(found)
        except NoFamilyLeftError as error:
            if not pass_over(device, error):
                raise


def _failure(device: Device) -> str | None:
    """Return why a name must not resolve to a device, or None."""
    reasons = [reason for other, reason in _passed_over if _is_same(other, device)]
    return f"cannot be used: {reasons[0]}" if reasons else device.trial_failure


def _is_same(one: Device, other: Device) -> bool:
    """Return whether two names mean the same device, with the same features forced off."""
    return (one.cl_device, one.without) == (other.cl_device, other.without)


def _failure_now(device: Device) -> str | None:
    """Return the same, or that other processes use all of the device's memory."""
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
    """Return what a machine without any device lacks."""
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


def _first_usable(name: str | None) -> Device:
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
    """Return the devices that a name matches, in their order; all if there is no name."""
    words, colon, number = (name or "").rpartition(":")
    if colon and number.strip().isdecimal() and len(number) < _MOST_DIGITS:
        return [d for d in every if _matches(d, words)][int(number) :][:1]
    return [d for d in every if _matches(d, name or "")]  # which is part of all names


def _matches(device: Device, name: str) -> bool:
    wanted = name.strip().lower()
    if wanted == "gpu":  # one of hardware
        return _class(device) == _HARDWARE.index("gpu")
    if wanted == "cpu":
        return device.capabilities.kind == wanted
    words = [device.name, device.platform, str(device.cl_device.vendor)]
    words += [alias for platform, alias in _ALIASES.items() if platform in device.platform]
    return any(wanted in word.lower() for word in words)


def _class(device: Device) -> int:
    """Return the place of a device's kind in the order of choice."""
    said = f"{device.name} {device.platform}".lower()
    for place, words in enumerate(_SOFTWARE, len(_HARDWARE)):
        if any(word in said for word in words):
            return place
    return _HARDWARE.index(device.capabilities.kind)


def _rank(device: Device) -> tuple[int, int, int]:
    """Order devices by class, then by size: hardware first, then software that plays a device.

    Of two CPU implementations Intel's goes first: 1.16 times as fast as PoCL in the mean of four
    graphs (docs/experiments.md).
    """
    place = _class(device)
    later = place == _HARDWARE.index("cpu") and "intel" not in device.platform.lower()
    return place, later, -device.capabilities.compute_units


def _said(variable: str) -> str | None:
    """Return what an environment variable says: each call asks several times, mostly in vain.

    ``os.environ.get`` takes 2 us for a variable that is not set, a third of which is its lookup.
    """
    if variable not in os.environ:
        return None
    return os.environ[variable]


def _forced_off() -> tuple[str, ...]:
    said = _said(WITHOUT_VARIABLE)
    if not said:
        return ()
    names = tuple(n.strip() for n in said.split(",") if n.strip())
    unknown = [name for name in names if name not in OPTIONAL]
    if unknown:
        raise InvalidArgumentError(
            f"{WITHOUT_VARIABLE} names {unknown[0]!r}; it takes {', '.join(OPTIONAL)}"
        )
    return names
