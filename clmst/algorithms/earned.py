"""Which algorithms a device is trusted with; the rule is ``clmst/runtime/trust.py``.

The tests themselves are loaded when one is needed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from clmst.algorithms.dense_options import DenseOptions
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.trust import NoFamilyLeftError


def require(algorithm: str, graph: DeviceGraph, *, maximum: bool, options: Any) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a graph's device has earned an algorithm."""
    trust = graph.device.trust
    if not trust.given:
        from clmst.algorithms import self_test

        case = self_test.case_of(graph, maximum=maximum, options=options)
        trust.require(self_test.family_of(algorithm), case)


def first_trusted(graph: DeviceGraph, names: Iterable[str], *, maximum: bool) -> str:
    """Return the first of some algorithms that a graph's device is trusted with.

    Raises
    ------
    NoFamilyLeftError
        There is none.
    """
    from clmst.algorithms import self_test

    trust = graph.device.trust
    case = self_test.case_of(graph, maximum=maximum)
    reasons = []
    for name in names:
        reason = trust.refusal(self_test.family_of(name), case)
        if reason is None:
            return name
        reasons.append(f"{name}: {reason}")
    raise NoFamilyLeftError(
        graph.device, f"no algorithm passed its self-test ({'; '.join(reasons)})"
    )


def require_complete(matrix: DeviceMatrix, *, maximum: bool, options: Any) -> None:
    """Raise :class:`UnsupportedDeviceError` unless its device may solve a complete graph."""
    trust = matrix.device.trust
    if not trust.given and (options is None or isinstance(options, DenseOptions)):
        from clmst.algorithms import self_test

        case = self_test.complete_case_of(matrix, maximum=maximum, options=options)
        trust.require(self_test.COMPLETE, case)


def require_core_numbers(device: Device) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a device has earned core numbers."""
    if not device.trust.given:
        from clmst.algorithms import self_test

        device.trust.require(self_test.CORE_NUMBERS)
