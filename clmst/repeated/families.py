"""The families of kernels for repeated solves, each of which a device must pass (``trust.py``)."""

from __future__ import annotations

from clmst.algorithms.families import with_options
from clmst.algorithms.shared.self_test_cases import DIRECTED
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Case, KernelFamily, case_of

_SELF_TEST = "clmst.repeated.self_test"
ROUNDS = KernelFamily(
    name="repeated", test=f"{_SELF_TEST}:rounds", cases=DIRECTED,
    what="solves and updates of a RepeatedSolver",
)  # fmt: skip
SERIES = KernelFamily(
    name="series-contraction", test=f"{_SELF_TEST}:series",
    cases=(Case(maximum=False, algorithm="filter-boruvka"),),
    what="what topology settles of rounds by 'filter-boruvka' on GPUs; else rounds do without",
)  # fmt: skip
WARM_START = KernelFamily(
    name="warm-start", test=f"{_SELF_TEST}:warm_starts", cases=DIRECTED,
    what="rounds that begin with what earlier ones settled; else each begins anew",
)  # fmt: skip
FAMILIES = (ROUNDS, SERIES, WARM_START)


def require_rounds(graph: DeviceGraph, algorithm: str, *, maximum: bool, options: object) -> None:
    """Raise :class:`UnsupportedDeviceError` unless the device passed rounds by an algorithm."""
    case = case_of(graph.encoded.encoding.stored, maximum=maximum, algorithm=algorithm)
    graph.device.trust.require(ROUNDS, with_options(case, options))


def is_trusted(family: KernelFamily, graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether rounds may use a family; else they do without."""
    case = case_of(graph.encoded.encoding.stored, maximum=maximum)
    return graph.device.trust.refusal(family, case) is None
