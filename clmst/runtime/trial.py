"""The trial: a few small kernels with known results, which every process runs on a new device.

The trial takes a millisecond or two, so its result is not stored. A device whose sub-group
operations (lanes) or 64-bit atomics are wrong, or whose compiler crashes on them, is used without
them (quirk: adreno-lane-sums, quirk: intel-split-result, quirk: apple-atomics). Only one fact is
stored: that a driver which is not yet known to be safe has completed a trial in a child process,
whatever the result. The kernels are in ``cl/device/trial.cl``.

A driver that is not yet known to be safe must also show that it computes with doubles, if it
reports that it can (quirk: apple-claimed-doubles). This is tested once, in the child process, and
the verdict is stored. The kernels are in ``cl/device/trial_doubles.cl``.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clmst.core.errors import (
    DeviceError,
    KernelBuildError,
    OutOfDeviceMemoryError,
    UnsupportedDeviceError,
)
from clmst.runtime import ahead
from clmst.runtime.kernel_family import ENDS_PROCESS, TRIAL_NAME, KernelFamily, survived
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.runtime.capabilities import Capabilities
    from clmst.runtime.device import Device

_SOURCE, _SOURCE_OF_DOUBLES = "device/trial.cl", "device/trial_doubles.cl"
_N_DOUBLES = 256  # number of pairs of doubles that are computed with
_LENGTH = 1000  # number of values of which the minimum is computed
# Length of the chain of pointers in a test of loops. One work-item follows the chain from each
# element to the end, which is 130,816 rounds of an inner loop. Mesa's llvmpipe leaves all loops of
# a work-item after 65,535 rounds in total, and continues without an error.
_LINKS = 512
# The functions of lanes.cl that the trial tests, in the order in which the kernel writes their
# results.
_FUNCTIONS = (
    "a shuffle", "a minimum", "a minimum of 64 bits", "a sum of lower lanes",
    "a maximum of lower lanes", "a ballot", "a broadcast", "a rank",
)  # fmt: skip


def failure(device: Device) -> str | None:
    """Run the trial of a device, and return the reason against using it, or None if it passes.

    A device that fails is tried again without sub-group operations (lanes), and then also without
    64-bit atomics. If it passes then, these capabilities stay off. Raises OutOfDeviceMemoryError if
    other processes use so much of the device's memory that no context can be created at present.
    """
    can, first = device.capabilities, None
    for names in _ways(device):
        if names:
            _use(device, device.capabilities.without(names))
        try:
            reason, is_final = _failure(device)
        except UnsupportedDeviceError:  # no work-group fits (quirk: apple-single-work-items)
            _use(device, replace(device.capabilities, max_work_group_size=1))
            reason, is_final = _failure(device)
        if reason is None:
            _try_doubles(device)
            return None
        first = first or reason
        if is_final:
            break
    device.capabilities = can
    return first


def _try_doubles(device: Device) -> None:
    """Switch doubles off if the driver says that it has them, but computes wrongly with them."""
    trust = device.trust
    if trust.given or trust.is_proven or not device.capabilities.doubles:
        return
    if trust.refusal(DOUBLES) is not None:
        _use(device, device.capabilities.without(("doubles",)))


def _ways(device: Device) -> list[tuple[str, ...]]:
    """Return the capabilities to switch off before each attempt of the trial.

    The trial is a first test with a few small kernels. There is a tuple for each attempt. The first
    tuple is empty. Capabilities that an earlier attempt has turned off stay off.
    """
    ways: list[tuple[str, ...]] = [()]
    can = device.capabilities
    ways += [("lanes",)] if _lanes(device) else []
    ways += [("int64-atomics",)] if can.int64_atomics else []
    return ways


def _use(device: Device, capabilities: Capabilities) -> None:
    """Change the capabilities of a device, and drop its programs and its results of self-tests."""
    device.capabilities = capabilities
    type(device).policy.forget(device)  # the policy depends on the capabilities
    device._programs.clear()
    device.trust.renew()


def _failure(device: Device) -> tuple[str | None, bool]:
    """Run the trial of a device once, with the capabilities that the device has at present.

    Returns the reason why the device fails, or None if it passes. The second result is True if the
    device would also fail with fewer capabilities, so that no further attempt is needed.
    """
    import pyopencl as cl

    trust = device.trust
    if not (trust.given or trust.is_proven):
        with suppress(OutOfDeviceMemoryError):  # the child lacked memory; this process may not
            if (reason := trust.refusal(TRIAL)) is not None:
                return f"cannot be tried: {reason}", not reason.startswith(ENDS_PROCESS)
    try:
        _ = device.queue  # raises if other processes use all the memory at present
    except cl.Error as error:
        return f"cannot be opened: {str(error).splitlines()[0]}", True
    ahead.open_helpers(device)
    return _failure_of_kernels(device), False


def _lanes(device: Device) -> int:
    """Return the number of work-items in a sub-group, or 0 if kernels do not use sub-groups."""
    can, alone = device.capabilities, device.policy.work_group_size == 1
    return 0 if can.lanes == "local" or alone else can.lane_width


def _failure_of_kernels(device: Device) -> str | None:
    import pyopencl as cl

    try:
        return _minimum_failure(device) or _loop_failure(device) or _lanes_failure(device)
    except KernelBuildError as error:
        lines = [line.strip() for line in error.log.splitlines()]
        lines = lines or ["the compiler gives no reason"]
        reason = next((x for x in lines if "error" in x.lower() or "unknown" in x), lines[0])
        return f"cannot build a kernel: {reason}"
    except (cl.Error, DeviceError, OutOfDeviceMemoryError) as error:
        return f"cannot run a kernel: {str(error).splitlines()[0]}"


TRIAL = KernelFamily(
    name=TRIAL_NAME, what="opening the device, and two kernels",
    test=survived(lambda device, _: failure(device)),
)  # fmt: skip


def _doubles_failure(device: Device, _: object) -> str | None:
    """Compute with doubles of all magnitudes, and return which operation is wrong, or None."""
    rng = np.random.default_rng(1)
    a, b = np.ldexp(rng.uniform(0.5, 1.0, (2, _N_DOUBLES)), rng.integers(-500, 500, _N_DOUBLES))
    b *= rng.choice([-1.0, 1.0, 1.5], _N_DOUBLES)
    a[:2] = np.ldexp([1.0, 3.0], -1074)  # denormal numbers
    positive = np.ldexp(rng.uniform(0.5, 1.0, _N_DOUBLES), rng.integers(-100, 33, _N_DOUBLES))
    for kernel, numbers, expected in (
        ("trial_doubles_compute", (a, b), results_of_doubles(a, b)),
        ("trial_doubles_convert", (positive,), conversions_of_doubles(positive)),
    ):
        found = compute_with_doubles(device, kernel, numbers, len(expected))
        for (what, right), computed in zip(expected.items(), found, strict=True):
            if not np.array_equal(computed, right):
                return f"computes wrongly: {what} of doubles"
    return None


def compute_with_doubles(
    device: Device, kernel: str, numbers: tuple[np.ndarray, ...], n_results: int,
    **defines: int,
) -> np.ndarray:  # fmt: skip
    """Run a kernel of ``cl/device/trial_doubles.cl`` on arrays of doubles of one length. Blocks.

    `numbers` are the arrays, and `n_results` is the number of results for each element. Macros in
    `defines` override the macros of the device. Returns the results, of shape (n_results, length).
    """
    length = numbers[0].size
    values = np.concatenate((*numbers, np.full(n_results * length, np.nan)))
    _run(device, kernel, 4, values, np.uint32(length), source=_SOURCE_OF_DOUBLES, **defines)
    return values[len(numbers) * length :].reshape(n_results, length)


def results_of_doubles(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    """Compute on the host the results that the kernel ``trial_doubles_compute`` must find.

    The kernel computes with pairs of doubles. `a` and `b` have the first and the second number of
    each pair. The result maps the name of each operation to an array with an element for each pair.
    Its keys are in the order in which the kernel stores the results of the operations.
    """
    return {
        "a sum": a + b, "a difference": a - b, "a product": a * b,
        "a product with a sum": a * b + a, "a quotient": a / b,
        "a square root": np.sqrt(np.abs(a)), "a comparison": (a < b).astype(np.float64),
        "a comparison (<=)": (a <= b).astype(np.float64),
        "a comparison (==)": (a == b).astype(np.float64),
        "a maximum": np.fmax(a, b), "a minimum": np.fmin(a, b),
    }  # fmt: skip


def conversions_of_doubles(a: np.ndarray) -> dict[str, np.ndarray]:
    """Compute on the host the results that the kernel ``trial_doubles_convert`` must find.

    `a` has the doubles that the kernel converts. The result maps the name of each conversion to an
    array with an element for each double. Its keys are in the order in which the kernel stores the
    results of the conversions.
    """
    halves = np.ascontiguousarray(a).view(np.uint32).reshape(-1, 2).astype(np.float64)
    return {
        "a float": a.astype(np.float32).astype(np.float64), "an integer": np.trunc(a),
        "a sum of integers": halves.sum(axis=1),
    }  # fmt: skip


DOUBLES = KernelFamily(
    name="doubles", what="arithmetic on doubles",
    test=_doubles_failure, suits=lambda device: device.capabilities.doubles,
)  # fmt: skip


def _minimum_failure(device: Device) -> str | None:
    words = np.full(2, 0xFFFFFFFF, np.uint32)
    _run(device, "trial_take_minimum", 4, words, np.uint32(_LENGTH))
    if words.tolist() != [_LENGTH - 1, 1]:
        return f"computes wrongly: a minimum came out as {words.tolist()}"
    return None


def _loop_failure(device: Device) -> str | None:
    """Test nested loops whose lengths depend on data, and return what is wrong, or None.

    Each loop follows pointers to the end of a chain.
    """
    words = np.arange(1, _LINKS + 2, dtype=np.uint32)
    words[_LINKS - 1 :] = [_LINKS - 1, 0]  # the last pointer points to itself; the counter is 0
    _run(device, "trial_jump_pointers", 1, words, np.uint32(_LINKS))
    rounds, expected = int(words[_LINKS]), _LINKS * (_LINKS - 1) // 2
    if rounds != expected or (words[:_LINKS] != _LINKS - 1).any():
        return f"computes wrongly: loops of {expected} rounds ended after {rounds}"
    return None


def _lanes_failure(device: Device) -> str | None:
    """Test the sub-group operations, and return which operation is wrong, or None if all are right.

    Only every second sub-group of a work-group takes part.
    """
    lanes, size = _lanes(device), device.policy.work_group_size
    if not lanes:
        return None
    groups = size // lanes
    takes_part = np.arange(groups, 0, -1, dtype=np.uint32) % np.uint32(2)  # also the last group
    values = np.arange(size, dtype=np.uint32) * np.uint32(2654435761)
    nothing = np.full(len(_FUNCTIONS) * size, 0xFFFFFFFF, np.uint32)
    words = np.concatenate((nothing[: 2 * groups], takes_part, values, nothing))
    _run(device, "trial_exchange", 1, words, np.uint32(groups))
    expected, least = _exchanged(values.reshape(groups, lanes))
    expected[:, takes_part == 0] = 0xFFFFFFFF
    least[takes_part == 0] = 0xFFFFFFFFFFFFFFFF
    found = words[3 * groups + size :].reshape(expected.shape)
    wrong = (found != expected).any(axis=(1, 2))
    if wrong.any():
        return f"computes wrongly: {_FUNCTIONS[int(wrong.argmax())]} of lanes"
    if device.capabilities.int64_atomics and (words[: 2 * groups].view(np.uint64) != least).any():
        return "computes wrongly: a minimum of 64 bits beside a shuffle of lanes"
    return None


def _exchanged(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute on the host the results that the kernel ``trial_exchange`` must have.

    The kernel tests sub-group operations. `values` are its inputs, of shape (groups, lanes).
    Returns the results of all operations, of shape (len(_FUNCTIONS), groups, lanes), and the 64-bit
    minimum of each sub-group, of shape (groups,).
    """
    lanes, half = values.shape[1], np.uint64(32)
    lane = np.arange(lanes, dtype=np.uint32)
    shuffled = values[:, (lane * 5 + 1) % lanes]
    least = (shuffled.astype(np.uint64) << half | values).min(axis=1)
    second = ((values % 4).astype(np.uint64) << half | ~values).min(axis=1, keepdims=True)
    flags = values >> np.uint32(9) & np.uint32(1)
    total = flags.sum(axis=1, keepdims=True, dtype=np.uint32)
    bits = (values >> np.uint32(8) & np.uint32(1)) << lane
    before = np.maximum.accumulate(values, axis=1)[:, :-1]
    every = (
        shuffled,
        values.min(axis=1, keepdims=True),
        second.astype(np.uint32),
        values.cumsum(axis=1, dtype=np.uint32) - values,
        np.pad(before, ((0, 0), (1, 0))),
        bits.sum(axis=1, keepdims=True, dtype=np.uint32),
        values[:, 3 % lanes, None],
        flags.cumsum(axis=1, dtype=np.uint32) - flags | total << np.uint32(16),
    )
    return np.array([np.broadcast_to(one, values.shape) for one in every]), least


def _run(
    device: Device, kernel: str, groups: int, words: np.ndarray, length: np.uint32, *,
    source: str = _SOURCE, **defines: int,
) -> None:  # fmt: skip
    """Run a kernel that changes an array, and overwrite `words` with the result. Blocks.

    `words` is the array on the host, the first argument of the kernel. `length` is its second
    argument. There are `groups` work-groups. `source` is the file with the kernel, below ``cl/``.
    Macros in `defines` override the macros of the device.
    """
    launch = Launcher(device, device.queue)
    buffer = device.allocate(words.nbytes)
    launch.write(buffer, words)
    launch(device.program(source, **defines), kernel, groups, buffer, length)
    launch.read(buffer, words)
