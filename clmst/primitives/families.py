"""The check in front of the public primitives: a device must pass a self-test of each family.

Algorithms call the functions without it; their own self-tests cover the primitives that they use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.trust import KernelFamily

# The family of each public function.
FAMILY_NAMES = {
    "exclusive_scan": "scan",
    "inclusive_scan": "scan",
    "reduce": "scan",
    "segmented_scan": "scan",
    "head_flags": "segments",
    "end_flags": "segments",
    "segmented_reduce": "segments",
    "split": "split",
    "sort": "split",
    "sort_by_key": "split",
    "argsort": "split",
    "compact": "compact",
    "partition": "compact",
    "positions": "compact",
    "unique_by_key": "compact",
    "gather": "permute",
    "scatter": "permute",
    "map": "map",
    "histogram": "map",
}


def _family(name: str, what: str) -> KernelFamily:
    def test(device: Device, case: object) -> str | None:
        from clmst.primitives import self_test

        return self_test.failure(name, device)

    return KernelFamily(name=name, what=what, test=test)


FAMILIES: dict[str, KernelFamily] = {
    one.name: one
    for one in (
        _family("scan", "scans and reductions, segmented or not"),
        _family("segments", "flags of segments, reductions by segment"),
        _family("split", "stable splits and sorts"),
        _family("compact", "selections: compact, partition, positions, unique_by_key"),
        _family("permute", "gather and scatter"),
        _family("map", "maps and histograms"),
    )
}


def gated(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a primitive that raises unless its arrays' device passed the family's self-test."""
    family_name = FAMILY_NAMES[function.__name__]

    @wraps(function)
    def primitive(*arguments: Any, **named: Any) -> Any:
        for one in (*arguments, *named.values()):
            if isinstance(one, DeviceArray):
                if not one.device.trust.given:
                    one.device.trust.require(FAMILIES[family_name])
                break
        return function(*arguments, **named)

    return primitive
