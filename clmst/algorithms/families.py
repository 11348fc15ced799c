"""The families of kernels of all algorithms, and the checks that a device is trusted with them.

A family is a set of kernels that compute one result together and have a common self-test. The
module with a self-test is imported when the test has to run (``runtime/kernel_family.py``). Each
family is tested in several cases. A :class:`~clmst.runtime.kernel_family.Case` holds the facts that
decide which kernels of the family run, such as the width of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.algorithms.dense import DenseOptions
from clmst.algorithms.dense.workspace import fits_one_work_group
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import as_tested
from clmst.algorithms.shared.self_test_cases import (
    APART,
    DIRECTED,
    FEW_POINTS,
    FEW_VERTICES,
    KEYS,
    MANY_VERTICES,
    PACKED,
    RANKS,
    USUAL,
    WORDS,
)
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix, dimension_class
from clmst.runtime.kernel_family import ONLY, Case, KernelFamily, case_of

if TYPE_CHECKING:
    from clmst.core.points import Metric


def _takes_arrays(*ways: str) -> Callable[[Device], bool]:
    """Return a function that says whether a device can read the host's arrays in place.

    `ways` are accepted values of ``device.capabilities.host_arrays``. The function returns True for
    a device that has one of these values and whose work-groups have one work-item, as on a CPU.
    """
    return lambda device: (
        device.policy.work_group_size == 1 and device.capabilities.host_arrays in ways
    )


def _points(*, metric: Metric = "euclidean", **facts: Any) -> Case:
    """Return the self-test case for points with a metric, whose distances are float64.

    A case says which kernels of a family are tested. `facts` are further fields of the case.
    """
    return Case(64, "float", maximum=False, metric=metric, **facts)


def _family(name: str, test: str, what: str, *cases: Hashable, **more: Any) -> KernelFamily:
    """Build the record of a family: kernels that compute one result and share a self-test.

    `test` names the self-test in ``clmst.algorithms``, as "module:function". `what` says in words
    what the kernels compute. The test is run once with each of `cases` as its argument, or once
    with None if `cases` is empty. `more` are further fields of :class:`KernelFamily`.
    """
    return KernelFamily(
        name=name, what=what, test=f"clmst.algorithms.{test}", cases=cases or (ONLY,), **more
    )


# A family is a group of kernels that compute one result together and share a self-test. Each has a
# name, the function of its self-test, a description of what its kernels compute (for tables of
# devices), and the cases that are tested.
COMPLETE = _family(
    "dense-complete", "points_self_test:complete",
    "spanning trees of complete graphs: matrices and points; core distances of few points",
    *DIRECTED, _points(core=True, dimension_class=2, variant=FEW_VERTICES),
)  # fmt: skip
TILES = _family(
    "dense-tiles", "points_self_test:tiles",
    "trees and core distances of points by tiles of pairs; where it is refused, by rows",
    _points(), _points(metric="manhattan", core=True), _points(neighbours=1),
    _points(metric="minkowski", power=3.0, core=True), _points(metric="jaccard", core=True),
    _points(core=True, products=True), _points(neighbours=1, products=True),
)  # fmt: skip
POINTS = _family(
    "bvh-boruvka", "points_self_test:hierarchies",
    "spanning trees and core distances of points; where it is refused, dense or the host",
    _points(dimension_class=2), _points(dimension_class=3), _points(core=True, variant=FEW_POINTS),
    _points(metric="minkowski", power=3.0, dimension_class=2),
)  # fmt: skip
CORE_NUMBERS = _family("core-numbers", "self_test:core_numbers", "core numbers of vertices")
DENDROGRAM = _family(
    "dendrogram", "self_test:dendrograms", "dendrograms of forests", FEW_VERTICES, MANY_VERTICES
)
CSR_VALIDATION = _family(
    "csr-check", "matrix_self_test:validation",
    "the check of a large SciPy matrix; where it is refused, the host checks", *KEYS,
)  # fmt: skip
CANONICAL_CSR = _family(
    "canonical-csr", "matrix_self_test:canonical_order",
    "edges of arrays and matrices in canonical order; where it is refused, by the host",
    Case(32, "unsigned", variant=PACKED), Case(64, "float", variant=APART),
    Case(64, "float", variant=RANKS),
)  # fmt: skip
SMALL_MATRIX = _family(
    "small-matrix", "matrix_self_test:small",
    "small SciPy matrices on CPUs; where it is refused, they go the usual way", *DIRECTED,
    suits=_takes_arrays("shared", "wrapped"),
)  # fmt: skip
EQUAL_WEIGHTS = _family(
    "equal-weights", "matrix_self_test:equal_weights",
    "SciPy matrices of equal weights on CPUs; where it is refused, they go the usual way",
    suits=_takes_arrays("shared"),
)  # fmt: skip
CHANGES = _family(
    "kept-forest", "changes.self_test:known_changes",
    "changes of a forest whose edges stay on a GPU; where it is refused, edges are uploaded",
    Case(32, "unsigned", maximum=False), Case(64, "float", maximum=False),
    suits=lambda device: device.policy.work_group_size > 1,
)  # fmt: skip
PROOF = _family(
    "proof", "proof.self_test:known_graphs",
    "proofs of forests; where it is refused, the host proves", *USUAL,
)  # fmt: skip
COMPLETE_PROOF = _family(
    "proof-complete", "proof.self_test:complete_graphs",
    "proofs of spanning trees of complete graphs; else the host proves", *DIRECTED,
)  # fmt: skip
EDGE_STREAM = _family(
    "edge-stream", "edge_stream.self_test:reductions",
    "streams of edges that the device generates or filters", *DIRECTED,
)  # fmt: skip
EDGE_PASSES = _family(
    "edge-passes", "edge_stream.self_test:passes", "forests by passes over a stream of edges",
    *DIRECTED,
)  # fmt: skip
PARTS = _family(
    "parts", "parts.self_test:parts", "parts of a graph on several devices", *WORDS
)  # fmt: skip


@cache
def family_of(algorithm: str) -> KernelFamily:
    """Return the family of kernels of an algorithm, which have one self-test.

    The family includes the kernels that gather the forest after the solve.
    """

    def test(device: Device, case: Case) -> Any:
        from clmst.algorithms import self_test

        return self_test.forests(algorithm, device, case)

    what = f"minimum and maximum spanning forests by {algorithm!r}"
    return KernelFamily(name=algorithm, what=what, test=test, cases=USUAL)


FAMILIES = (
    *map(family_of, sorted(ALGORITHMS)), COMPLETE, TILES, POINTS, CORE_NUMBERS, DENDROGRAM,
    CSR_VALIDATION, CANONICAL_CSR, SMALL_MATRIX, EQUAL_WEIGHTS, CHANGES, PROOF, COMPLETE_PROOF,
    EDGE_STREAM, EDGE_PASSES, PARTS,
)  # fmt: skip


@lru_cache(maxsize=256)
def tested_options(options: Hashable) -> tuple[str, object]:
    """Return the options with which a device is tested before a solve with `options`.

    Only options that change the compiled programs matter to a test, so all others get their
    defaults (:func:`as_tested`). Returns the resulting options twice, as a text and as an object,
    or ("", None) if all of them are defaults. `options` must be valid.
    """
    tested = None if options is None else as_tested(options)
    usual = tested is None or tested == type(tested)()
    return ("", None) if usual else (repr(tested), tested)


def with_options(case: Case, options: Any) -> Case:
    """Return a copy of a self-test case in which the test runs with an algorithm's options."""
    text, tested = tested_options(options)
    return replace(case, option_text=text, options=tested) if text else case


def _graph_case(graph: DeviceGraph, by: str, *, maximum: bool, options: Any = None) -> Case:
    """Return the self-test case for kernels that solve a graph or prove a forest.

    A case says which kernels of a family are tested. `by` is the name of the algorithm, or "" for
    kernels that do not depend on an algorithm, such as the kernels of a proof. `maximum` asks for
    the maximum forest, and `options` are the options of the algorithm, or None.
    """
    facts: dict[str, Any] = {"maximum": maximum, "symmetric": graph.graph.is_symmetric}
    is_usual = by and not tested_options(options)[0]
    find = ALGORITHMS[by].variant_of if is_usual else None
    if find and (variant := find(graph)):
        facts["variant"], facts["options"] = variant
    return with_options(case_of(graph.encoded.encoding.stored, **facts), options)


def words_case(word: np.dtype[Any]) -> Case:
    """Return the self-test case for kernels that only copy weights.

    A case says which kernels of a family are tested. `word` is the dtype in which the weights are
    stored.
    """
    return Case(8 * word.itemsize, None)


def matrix_case(matrix: DeviceMatrix, **facts: Any) -> Case:
    """Return the self-test case for kernels that solve a complete graph.

    A case says which kernels of a family are tested. `matrix` has the points, or the matrix of
    weights, on the device. `facts` are further fields of the
    :class:`~clmst.runtime.kernel_family.Case`, and override the fields that follow from `matrix`.
    """
    from clmst.core.points import Points

    facts.setdefault("maximum", False)
    if isinstance(points := matrix.graph, Points):
        facts["metric"], facts["power"] = points.compared_as, points.p or 0.0
        facts.setdefault("core", matrix.has_core_distances)
        facts.setdefault("dimension_class", dimension_class(matrix.dimensions))
    return Case(matrix.bits, matrix.kind, **facts)


def require(algorithm: str, graph: DeviceGraph, *, maximum: bool, options: object) -> None:
    """Raise UnsupportedDeviceError unless a graph's device passes an algorithm's self-test.

    The test is run with the dtype of the graph's weights, for minimum or maximum forests as
    `maximum` says, and with the same `options` as the coming solve.
    """
    case = _graph_case(graph, algorithm, maximum=maximum, options=options)
    graph.device.trust.require(family_of(algorithm), case)


def refusal(algorithm: str, graph: DeviceGraph, *, maximum: bool) -> str | None:
    """Return the reason why a graph's device is not trusted with an algorithm.

    A device may use an algorithm if it has passed the algorithm's self-test. The result is None if
    it has, and otherwise the reason of the failure. Each dtype of weights is tested by itself, and
    so are minimum and maximum forests. `graph` and `maximum` say which of these tests counts.
    """
    case = _graph_case(graph, algorithm, maximum=maximum)
    return graph.device.trust.refusal(family_of(algorithm), case)


def require_complete(matrix: DeviceMatrix, *, maximum: bool, options: object) -> None:
    """Raise UnsupportedDeviceError unless the device is trusted to solve a complete graph.

    `matrix` has the graph, and `maximum` asks for the maximum forest. The check is skipped for
    options of an algorithm other than "dense", which raise an error later.
    """
    if options is None or isinstance(options, DenseOptions):
        variant = FEW_VERTICES if fits_one_work_group(matrix, options) else ""
        case = with_options(matrix_case(matrix, maximum=maximum, variant=variant), options)
        matrix.device.trust.require(COMPLETE, case)


def one_group_core_refusal(matrix: DeviceMatrix) -> str | None:
    """Return the reason against core distances of few points in one work-group, or None.

    A device may use kernels only if it has passed their self-test. The result is the reason why it
    has failed, or None if it has passed. `matrix` has the points.
    """
    case = matrix_case(matrix, core=True, variant=FEW_VERTICES)
    return matrix.device.trust.refusal(COMPLETE, case)


def points_refusal(
    matrix: DeviceMatrix, neighbours: int = 0, *, by_prim: bool = False
) -> str | None:
    """Return the reason against kernels for points on a device, or None if it is trusted with them.

    `matrix` has the points. By default the kernels compute spanning trees with a tree of bounding
    boxes. If `neighbours` is not 0, they find that number of nearest points of each point. If
    `by_prim` is true, they compute spanning trees of few points by Prim's algorithm, without
    bounding boxes.
    """
    facts: dict[str, Any] = {"variant": FEW_POINTS} if by_prim else {"neighbours": neighbours}
    return matrix.device.trust.refusal(POINTS, matrix_case(matrix, **facts))


def tiles_refusal(
    matrix: DeviceMatrix, *, neighbours: bool = False, products: bool = False
) -> str | None:
    """Return the reason against tile kernels on a device, or None if it is trusted with them.

    The tile kernels compare all pairs of points in `matrix`. A tile is a block of the matrix of
    distances that a work-group computes. The kernels compute spanning trees, or, if `neighbours` is
    true, distances to nearest points. If `products` is true, they compute squared distances from
    inner products.
    """
    facts = {"neighbours": int(neighbours), "products": products}
    # The dimension class says for which number of dimensions kernels are built: 2, 3, or 0 for any
    # number. The kernels that compute distances tile by tile are built for any number.
    case = matrix_case(matrix, dimension_class=0, **facts)
    return matrix.device.trust.refusal(TILES, case)


def proof_refusal(graph: DeviceGraph | DeviceMatrix, *, maximum: bool) -> str | None:
    """Return the reason why a device may not prove that forests of a graph are right.

    It may if it has passed the self-test of the kernels for proofs. The result is None in this
    case, and otherwise the reason why it has failed. `maximum` says whether the forests are maximum
    ones.
    """
    if isinstance(graph, DeviceMatrix):
        return graph.device.trust.refusal(COMPLETE_PROOF, matrix_case(graph, maximum=maximum))
    return graph.device.trust.refusal(PROOF, _graph_case(graph, "", maximum=maximum))
