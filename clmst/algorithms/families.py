"""The families of kernels of algorithms, and the cases of their self-tests (``runtime/trust.py``).

The tests themselves (:mod:`clmst.algorithms.self_test`) are loaded when one has to run: they take
what most solves do not need.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from clmst.algorithms.dense.options import DenseOptions
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.weight_keys import WeightKind
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix, dimension_class
from clmst.runtime.trust import KernelFamily

if TYPE_CHECKING:
    from clmst.core.points import Metric


@dataclass(frozen=True, slots=True)
class Case:
    """What decides which kernels of an algorithm run.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    maximum : bool
    symmetric : bool
        Whether both directions of edges are stored.
    variant : str
        Which of its kernels, where graphs have different ones; see ``AlgorithmRecord.variant_of``.
    option_text : str
        The algorithm's own options, written out; empty for the usual ones.
    options : object
        These options, or those of the variant.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    maximum: bool = False
    symmetric: bool = False
    variant: str = ""
    option_text: str = ""
    options: object = field(default=None, compare=False)

    def __str__(self) -> str:
        direction = "maximum" if self.maximum else "minimum"
        layout = "both directions" if self.symmetric else "each edge once"
        text = f"{self.bits}-bit {self.kind} weights, {direction}, {layout}"
        return ", ".join(filter(None, (text, self.variant, self.option_text)))


# The cases that stand for all others before a graph is known: widths, directions, kinds of word.
USUAL = (
    Case(),
    Case(32, "float", symmetric=True),
    Case(64, "float", maximum=True),
    Case(64, "signed", symmetric=True),
)


@cache
def family_of(algorithm: str) -> KernelFamily:
    """Return the family of an algorithm's kernels, those that gather its result included."""

    def test(device: Device, case: Case) -> str | None:
        from clmst.algorithms import self_test

        return self_test.algorithm_failure(algorithm, device, case)

    what = f"minimum and maximum spanning forests by {algorithm!r}"
    return KernelFamily(name=algorithm, what=what, test=test, cases=USUAL)


def case_of(graph: DeviceGraph, by: str, *, maximum: bool, options: object = None) -> Case:
    """Return what decides which kernels solve a graph by an algorithm; "": by any."""
    encoding, text = graph.encoded.encoding, option_text(options)
    find = ALGORITHMS[by].variant_of if by and not text else None
    words = 8 * encoding.word.itemsize, encoding.kind, maximum, graph.graph.is_symmetric
    case = _usual_case(*words, find(graph) if find else None)
    return replace(case, option_text=text, options=options) if text else case


@cache
def _usual_case(
    bits: int, kind: WeightKind, maximum: bool, symmetric: bool, variant: tuple[str, object] | None
) -> Case:
    """Return the case of a graph that is solved by the usual options: made once, found fast."""
    name, options = variant or ("", None)
    return Case(bits, kind, maximum, symmetric, name, options=options)


def option_text(options: object) -> str:
    """Return options in words: nothing if they are those that hold where none are given."""
    return "" if options is None or options == type(options)() else repr(options)


def _test(home: str, name: str) -> Callable[[Device, Any], str | None]:
    """Return a self-test of the folder `home`; the module is loaded when it runs."""

    def test(device: Device, case: Any) -> str | None:
        module = import_module(f"clmst.algorithms.{home}self_test")
        reason: str | None = getattr(module, name)(device, case)
        return reason

    return test


CORE_NUMBERS = KernelFamily(
    name="core-numbers", what="core numbers of vertices", test=_test("", "core_numbers_failure")
)


FEW_VERTICES, MANY_VERTICES = "few vertices", "many vertices"
DENDROGRAM = KernelFamily(
    name="dendrogram",
    what="dendrograms of forests",
    test=_test("dendrogram.", "dendrogram_failure"),
    cases=(FEW_VERTICES, MANY_VERTICES),
)


@dataclass(frozen=True, slots=True)
class CsrValidationCase:
    """What decides which kernels check a matrix.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"

    def __str__(self) -> str:
        return f"{self.bits}-bit {self.kind} weights"


CSR_VALIDATION = KernelFamily(
    name="csr-check",
    what="the check of a large SciPy matrix; where it is refused, the host checks",
    test=_test("", "csr_validation_failure"),
    cases=(CsrValidationCase(), CsrValidationCase(64, "float")),
)


@dataclass(frozen=True, slots=True)
class CompleteCase:
    """What decides which kernels of `dense`, or of hierarchies, run on a complete graph.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    metric : str
        Of points; empty for a matrix.
    dimension_class : int
        Of points, as kernels are built for them: 2, 3, or 0 for all others.
    core : bool
        Whether points have core distances.
    neighbours : int
        Of lists of near points, where these are asked for: as kernels are built for them.
    products : bool
        Whether tiles have squares of distances by products.
    maximum : bool
    option_text, options
        As of :class:`Case`.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    metric: Metric | Literal[""] = ""
    dimension_class: int = 0
    core: bool = False
    neighbours: int = 0
    products: bool = False
    maximum: bool = False
    option_text: str = ""
    options: object = field(default=None, compare=False)

    def __str__(self) -> str:
        what = f"{self.bits}-bit {self.kind} weights"
        if self.metric:
            what = f"points, {self.metric}, {self.dimension_class or 'more'} dimensions"
            what += ", core distances" if self.core else ""
            what += f", {self.neighbours} neighbours" if self.neighbours else ""
            what += ", by products" if self.products else ""
        text = f"{what}, {'maximum' if self.maximum else 'minimum'}"
        return f"{text}, {self.option_text}" if self.option_text else text


def complete_case_of(
    matrix: DeviceMatrix, *, maximum: bool, options: object = None
) -> CompleteCase:
    """Return what decides which kernels solve a complete graph."""
    from clmst.core.points import Points

    points = matrix.graph if isinstance(matrix.graph, Points) else None
    return CompleteCase(
        bits=matrix.bits,
        kind=matrix.kind,
        metric="" if points is None else points.compared_as,
        dimension_class=dimension_class(matrix.dimensions),
        core=points is not None and points.core_distances is not None,
        maximum=maximum,
        option_text=option_text(options),
        options=options,
    )


COMPLETE = KernelFamily(
    name="dense-complete",
    what="spanning trees of complete graphs: matrices and points",
    test=_test("", "complete_failure"),
    cases=(CompleteCase(), CompleteCase(64, "float", maximum=True)),
)


TILES = KernelFamily(
    name="dense-tiles",
    what="trees and core distances of points by tiles of pairs; where it is refused, by rows",
    test=_test("", "tiles_failure"),
    cases=(
        CompleteCase(64, "float", "euclidean"),
        CompleteCase(64, "float", "manhattan", core=True),
        CompleteCase(64, "float", "euclidean", neighbours=1),
        CompleteCase(64, "float", "euclidean", core=True, products=True),
        CompleteCase(64, "float", "euclidean", neighbours=1, products=True),
    ),
)


POINTS = KernelFamily(
    name="bvh-boruvka",
    what="spanning trees and core distances of points; where it is refused, dense or the host",
    test=_test("", "points_failure"),
    cases=(CompleteCase(64, "float", "euclidean", 2), CompleteCase(64, "float", "euclidean", 3)),
)


PROOF = KernelFamily(
    name="proof",
    what="proofs of forests; where it is refused, the host proves",
    test=_test("proof.", "proof_failure"),
    cases=USUAL,
)
COMPLETE_PROOF = KernelFamily(
    name="proof-complete",
    what="proofs of spanning trees of complete graphs; else the host proves",
    test=_test("proof.", "complete_proof_failure"),
    cases=COMPLETE.cases,
)


def require(algorithm: str, graph: DeviceGraph, *, maximum: bool, options: object) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a graph's device passes the self-test."""
    trust = graph.device.trust
    if not trust.given:
        case = case_of(graph, algorithm, maximum=maximum, options=options)
        trust.require(family_of(algorithm), case)


def refusal(algorithm: str, graph: DeviceGraph, *, maximum: bool) -> str | None:
    """Return why a graph's device is not trusted with an algorithm; None if it is."""
    trust = graph.device.trust
    if trust.given:
        return None
    return trust.refusal(family_of(algorithm), case_of(graph, algorithm, maximum=maximum))


def require_complete(matrix: DeviceMatrix, *, maximum: bool, options: object) -> None:
    """Raise :class:`UnsupportedDeviceError` unless its device may solve a complete graph."""
    trust = matrix.device.trust
    if not trust.given and (options is None or isinstance(options, DenseOptions)):
        case = complete_case_of(matrix, maximum=maximum, options=options)
        trust.require(COMPLETE, case)


def points_refusal(matrix: DeviceMatrix, neighbours: int = 0) -> str | None:
    """Return why a device is not trusted with hierarchies of points; None if it is.

    For trees or, with `neighbours`, for lists of near points that kernels are built for.
    """
    trust = matrix.device.trust
    case = replace(complete_case_of(matrix, maximum=False), neighbours=neighbours)
    return None if trust.given else trust.refusal(POINTS, case)


def tiles_refusal(
    matrix: DeviceMatrix, *, neighbours: bool = False, products: bool = False
) -> str | None:
    """Return why a device is not trusted with trees of points by tiles of pairs; None if it is.

    With `neighbours`, with the distances to near points instead.
    """
    trust = matrix.device.trust
    if trust.given:
        return None
    case = complete_case_of(matrix, maximum=False)  # kernels are the same in all dimensions
    case = replace(case, dimension_class=0, neighbours=int(neighbours), products=products)
    return trust.refusal(TILES, case)


def proof_refusal(graph: DeviceGraph | DeviceMatrix, *, maximum: bool) -> str | None:
    """Return why a graph's device is not trusted with proofs of its forests; None if it is."""
    trust = graph.device.trust
    if trust.given:
        return None
    if isinstance(graph, DeviceMatrix):
        return trust.refusal(COMPLETE_PROOF, complete_case_of(graph, maximum=maximum))
    return trust.refusal(PROOF, case_of(graph, "", maximum=maximum))


def require_core_numbers(device: Device) -> None:
    """Raise :class:`UnsupportedDeviceError` unless a device passes that of core numbers."""
    if not device.trust.given:
        device.trust.require(CORE_NUMBERS)


def require_dendrogram(device: Device, *, few: bool) -> None:
    """Raise unless a device passes that of dendrograms, of `few` or of many vertices."""
    if not device.trust.given:
        device.trust.require(DENDROGRAM, FEW_VERTICES if few else MANY_VERTICES)
