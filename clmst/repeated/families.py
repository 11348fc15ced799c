"""The families of kernels for repeated solves.

A family is a set of kernels that are tested together. A device must pass its self-test before
clmst uses these kernels.
"""

from __future__ import annotations

from clmst.algorithms.families import CHANGES, SMALL_MATRIX, with_options
from clmst.algorithms.shared.self_test_cases import DIRECTED
from clmst.core.weight_keys import Encoding
from clmst.runtime.device import Device
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
SERIAL = KernelFamily(
    name="serial-rounds", test=f"{_SELF_TEST}:serial", cases=DIRECTED,
    what="rounds by one work-item on CPUs; where it is refused, they are solved step by step",
    suits=SMALL_MATRIX.suits,
)  # fmt: skip
KEPT = KernelFamily(
    name="kept-rounds", test=f"{_SELF_TEST}:kept", cases=DIRECTED,
    what="rounds with few new weights on GPUs; where it is refused, they are solved anew",
    suits=CHANGES.suits,
)  # fmt: skip
FAMILIES = (ROUNDS, SERIES, WARM_START, SERIAL, KEPT)


def require_rounds(graph: DeviceGraph, algorithm: str, *, maximum: bool, options: object) -> None:
    """Raise UnsupportedDeviceError unless a graph's device passes the self-test of repeated solves.

    The test is run now, unless it has been run before for weights of this dtype and for this
    `algorithm`, `maximum` and `options`. `maximum` asks for maximum forests.
    """
    case = case_of(graph.encoded.encoding.stored, maximum=maximum, algorithm=algorithm)
    graph.device.trust.require(ROUNDS, with_options(case, options))


def is_trusted(family: KernelFamily, graph: DeviceGraph, *, maximum: bool) -> bool:
    """Return whether a graph's device passes the self-test of a family of kernels.

    Only then may repeated solves use these kernels. Without them they give the same forests, but
    may take longer. The test is for weights like the graph's, and for maximum forests if `maximum`
    is true.
    """
    case = case_of(graph.encoded.encoding.stored, maximum=maximum)
    return graph.device.trust.refusal(family, case) is None


def is_serial_trusted(device: Device, encoding: Encoding, *, maximum: bool) -> bool:
    """Return whether the device passes the self-test of solves by a single work-item.

    `encoding` says how weights are stored, and `maximum` asks for the maximum forest.
    """
    return device.trust.refusal(SERIAL, case_of(encoding.stored, maximum=maximum)) is None
