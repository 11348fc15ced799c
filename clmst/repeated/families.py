"""The families of kernels for repeated solves, each of which a device must pass (``trust.py``).

The tests themselves are loaded when one is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from clmst.algorithms import families as of_algorithms
from clmst.algorithms.families import option_text
from clmst.core.weight_keys import WeightKind
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.trust import KernelFamily


@dataclass(frozen=True, slots=True)
class RoundCase:
    """The facts that decide which kernels run in a round.

    Attributes
    ----------
    algorithm : str
        Empty if it does not matter.
    bits, kind : int, str
        Width and kind of the key words.
    maximum : bool
    option_text, options
        As of :class:`clmst.algorithms.self_test.Case`.
    """

    algorithm: str = ""
    bits: int = 32
    kind: WeightKind = "unsigned"
    maximum: bool = False
    option_text: str = ""
    options: object = field(default=None, compare=False)

    def __str__(self) -> str:
        direction = "maximum" if self.maximum else "minimum"
        words = (self.algorithm, f"{self.bits}-bit {self.kind} weights", direction)
        return ", ".join(word for word in (*words, self.option_text) if word)


def case_of(
    graph: DeviceGraph, algorithm: str, *, maximum: bool, options: object = None
) -> RoundCase:
    """Return the facts that decide which kernels solve a round's graph."""
    encoding = graph.encoded.encoding
    case = _usual_case(algorithm, 8 * encoding.word.itemsize, encoding.kind, maximum)
    text = option_text(options)
    return replace(case, option_text=text, options=options) if text else case


@cache
def _usual_case(algorithm: str, bits: int, kind: WeightKind, maximum: bool) -> RoundCase:
    """Return the case of a graph that is solved by the usual options: made once, found fast."""
    return RoundCase(algorithm=algorithm, bits=bits, kind=kind, maximum=maximum)


def _test(name: str) -> Callable[[Device, Any], str | None]:
    """Return a test of ``self_test.py``; the module is loaded when the test runs."""

    def test(device: Device, case: Any) -> str | None:
        from clmst.repeated import self_test

        reason: str | None = getattr(self_test, name)(device, case)
        return reason

    return test


_USUAL = (RoundCase(), RoundCase(bits=64, kind="float", maximum=True))

ROUNDS = KernelFamily(
    name="repeated",
    what="solves and updates of a RepeatedSolver",
    test=_test("rounds_failure"),
    cases=_USUAL,
)
SERIES = KernelFamily(
    name="series-contraction",
    what="what topology settles of rounds by 'filter-boruvka' on GPUs; else rounds do without",
    test=_test("series_failure"),
    cases=(RoundCase(algorithm="filter-boruvka"),),
)
WARM_START = KernelFamily(
    name="warm-start",
    what="rounds that begin with what earlier ones settled; else each begins anew",
    test=_test("warm_start_failure"),
    cases=_USUAL,
)
MOVED = KernelFamily(
    name="moved-points",
    what="trees of points that have moved a little; else each begins anew",
    test=_test("moved_failure"),
    cases=of_algorithms.POINTS.cases,
)


def require_rounds(graph: DeviceGraph, algorithm: str, *, maximum: bool, options: object) -> None:
    """Raise :class:`UnsupportedDeviceError` unless the device passed rounds by an algorithm."""
    trust = graph.device.trust
    if not trust.given:
        case = case_of(graph, algorithm, maximum=maximum, options=options)
        trust.require(ROUNDS, case)


def has_series(graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether series contraction may be used; else rounds solve without it."""
    return _may_use(SERIES, graph, maximum=maximum)


def has_warm_starts(graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether warm starts may be used; else each round solves from scratch."""
    return _may_use(WARM_START, graph, maximum=maximum)


def has_moved_points(matrix: DeviceMatrix) -> bool:
    """Return whether solves may use what earlier ones found of the same points elsewhere."""
    trust = matrix.device.trust
    case = of_algorithms.complete_case_of(matrix, maximum=False)
    return trust.given or trust.refusal(MOVED, case) is None


def _may_use(family: KernelFamily, graph: DeviceGraph, *, maximum: bool) -> bool:
    trust = graph.device.trust
    return trust.given or trust.refusal(family, case_of(graph, "", maximum=maximum)) is None
