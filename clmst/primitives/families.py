"""Self-tests of the public primitives, such as scans and sorts, which run before the first use.

Algorithms call the primitives without this check, because their own self-tests cover the primitives
that they use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from clmst.runtime.array import DeviceArray
from clmst.runtime.deferred_check import DeferredCheck
from clmst.runtime.kernel_family import KernelFamily

# For each family: a description of its kernels, and the public functions that launch them.
_TABLE = {
    "scan": (
        "scans and reductions, segmented or not",
        "exclusive_scan inclusive_scan reduce segmented_scan",
    ),
    "segments": (
        "flags of segments, reductions by segment",
        "head_flags end_flags segmented_reduce",
    ),
    "split": ("stable splits and sorts", "split sort sort_by_key argsort"),
    "compact": (
        "selections: compact, partition, positions, unique_by_key",
        "compact partition positions unique_by_key",
    ),
    "permute": ("gather and scatter", "gather scatter"),
    "map": ("maps and histograms", "map histogram"),
}
FAMILIES = tuple(
    KernelFamily(name=name, what=what, test=f"clmst.primitives.self_test:{name}_answers")
    for name, (what, _) in _TABLE.items()
)
FAMILY_OF = {
    function: family
    for family, (_, functions) in zip(FAMILIES, _TABLE.values(), strict=True)
    for function in functions.split()
}


def gated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a primitive so that it raises unless the device has passed a self-test of its kernels.

    `function` is the primitive. The device is the device of the first array among the arguments.

    Some checks of values are done on the device, and their errors are raised when a result is read.
    The results of a primitive inherit the pending checks of its arguments. For example, if the
    device finds a fault in the offsets from which flags are computed, every result that was
    computed with these flags raises the error when it is read.
    """
    family = FAMILY_OF[function.__name__]

    @wraps(function)
    def primitive(*arguments: Any, **named: Any) -> Any:
        arrays = [one for one in (*arguments, *named.values()) if isinstance(one, DeviceArray)]
        for one in arrays[:1]:
            one.device.trust.require(family)
        result = function(*arguments, **named)
        checks = tuple({check: None for one in arrays for check in one.checks})
        return _with_checks(result, checks) if checks else result

    return primitive


def _with_checks(result: Any, checks: tuple[DeferredCheck, ...]) -> Any:
    """Return the arrays in `result`, with `checks` added to the pending checks of each array.

    A pending check is done on the device. Its error is raised when the array is read.
    """
    if isinstance(result, tuple):
        return tuple(_with_checks(one, checks) for one in result)
    more = tuple(check for check in checks if check not in result.checks)
    return result.checked_by(more)
