"""What a device has to earn before it solves the same graph again; the rule is ``trust.py``.

The tests themselves are loaded when one is needed.
"""

from __future__ import annotations

from typing import Any

from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph


def require_rounds(graph: DeviceGraph, algorithm: str, *, maximum: bool, options: Any) -> None:
    """Raise :class:`UnsupportedDeviceError` unless rounds by an algorithm are earned."""
    trust = graph.device.trust
    if not trust.given:
        from clmst.repeated import self_test

        case = self_test.case_of(graph, algorithm, maximum=maximum, options=options)
        trust.require(self_test.ROUNDS, case)


def has_chains(graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether what topology settles may be used; else rounds do without."""
    trust = graph.device.trust
    if trust.given:
        return True
    from clmst.repeated import self_test

    case = self_test.case_of(graph, "", maximum=maximum)
    return trust.refusal(self_test.CHAINS, case) is None


def has_warm_starts(graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether what earlier rounds settle may be used; else each begins anew."""
    trust = graph.device.trust
    if trust.given:
        return True
    from clmst.repeated import self_test

    case = self_test.case_of(graph, "", maximum=maximum)
    return trust.refusal(self_test.WARM_START, case) is None


def require_union(device: Device, bits: int) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a device may put forests of parts together."""
    if not device.trust.given:
        from clmst.repeated import self_test

        device.trust.require(self_test.UNION, self_test.UnionCase(bits))
