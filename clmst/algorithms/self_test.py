"""What a device must show before it is trusted with the kernels of an algorithm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from clmst import algorithms
from clmst.algorithms import adoption, dense, k_core
from clmst.algorithms.solution import gather
from clmst.core.dense_graph import DenseGraph
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.known_graphs import KnownGraph, Size, dtype_of, known_graph, weights_of
from clmst.core.kruskal import kruskal
from clmst.core.points import Points
from clmst.core.weight_keys import WeightKind
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.launcher import Launcher
from clmst.runtime.trust import Family

# On GPUs a single work-item grows each tree of these, which takes a second on the large graph.
_SERIAL = ("prim",)

SIZES: tuple[Size, ...] = ("tiny", "small", "large")


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
    told_options : str
        The algorithm's own options, written out; empty for the usual ones.
    options : object
        These options.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    maximum: bool = False
    symmetric: bool = False
    told_options: str = ""
    options: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        direction = "maximum" if self.maximum else "minimum"
        layout = "both directions" if self.symmetric else "each edge once"
        told = f"{self.bits}-bit {self.kind} weights, {direction}, {layout}"
        return f"{told}, {self.told_options}" if self.told_options else told


# What stands for all cases where nobody has a problem of his own: both widths of keys, both
# directions, all kinds of word.
USUAL = (
    Case(),
    Case(32, "float", symmetric=True),
    Case(64, "float", maximum=True),
    Case(64, "signed", symmetric=True),
)


@cache
def family_of(algorithm: str) -> Family:
    """Return the family of an algorithm's kernels, those that gather its result included."""

    def test(device: Device, case: Case) -> str | None:
        for size in _sizes(algorithm, device, case):
            reason = _forest_failure(algorithm, known_graph(size), device, case)
            if reason is not None:
                return reason
        return None

    what = f"minimum and maximum spanning forests by {algorithm!r}"
    return Family(name=algorithm, what=what, test=test, cases=USUAL)


def case_of(graph: DeviceGraph, *, maximum: bool, options: Any = None) -> Case:
    """Return what decides which kernels solve a graph."""
    encoding = graph.encoded.encoding
    return Case(
        bits=8 * encoding.word.itemsize,
        kind=encoding.kind,
        maximum=maximum,
        symmetric=graph.graph.is_symmetric,
        told_options=told_options(options),
        options=options,
    )


def told_options(options: Any) -> str:
    """Return options in words: nothing if they are those that hold where none are given."""
    return "" if options is None or options == type(options)() else repr(options)


def _sizes(algorithm: str, device: Device, case: Case) -> Iterator[Size]:
    """Yield the sizes of graphs that are solved; other options may be slow on a large one."""
    yield "tiny"
    yield "small"
    serial = algorithm in _SERIAL and device.capabilities.kind != "cpu"
    if not case.told_options and algorithm != "dense" and not serial:
        yield "large"


def _forest_failure(algorithm: str, known: KnownGraph, device: Device, case: Case) -> str | None:
    graph = known.weighted(dtype_of(case.bits, case.kind), symmetric=case.symmetric)
    resident = DeviceGraph.upload(graph, device)
    launch = Launcher(device, device.queue)
    solve = algorithms.ALGORITHMS[algorithm]
    solution = solve(resident, launch, maximum=case.maximum, options=case.options)
    forest = gather(solution, launch, maximum=case.maximum).to_host()
    return difference(forest, known.forest(maximum=case.maximum), known)


def difference(forest: Forest, expected: Forest, known: KnownGraph) -> str | None:
    """Return in one line how a forest differs from the one expected, edge for edge."""
    if forest.n_edges != expected.n_edges:
        return (
            f"a forest of {forest.n_edges} edges came out for the known graph {known.name!r}, "
            f"which has {expected.n_edges}"
        )
    same = np.array_equal(forest.edge_ids, expected.edge_ids)
    if same and np.array_equal(forest.edges, expected.edges):
        return None
    wrong = np.setdiff1d(forest.edge_ids, expected.edge_ids).size
    return (
        f"{wrong} of {expected.n_edges} edges came out wrong for the known graph {known.name!r}"
        if wrong
        else f"the edges of the known graph {known.name!r} came out in another order"
    )


# ------------------------------------------------------------------- core numbers, CSR check


def _core_numbers_failure(device: Device, case: object) -> str | None:
    for size in SIZES:
        known = known_graph(size)
        for symmetric in (False, True):
            graph = known.weighted(np.dtype(np.uint8), symmetric=symmetric)
            resident = DeviceGraph.upload(graph, device)
            cores = k_core.core_numbers(resident, Launcher(device, device.queue)).numbers.to_host()
            wrong = int((cores != known.core_numbers).sum())
            if wrong:
                return f"{wrong} core numbers came out wrong for the known graph {size!r}"
    return None


CORE_NUMBERS = Family(
    name="core-numbers", what="core numbers of vertices", test=_core_numbers_failure
)


@dataclass(frozen=True, slots=True)
class AdoptionCase:
    """What decides which kernels check a matrix.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    cursors : bool
        Whether lone work-items go along with cursors: only where rows are long.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    cursors: bool = False

    def __str__(self) -> str:
        return f"{self.bits}-bit {self.kind} weights, {'long' if self.cursors else 'short'} rows"


def _adoption_failure(device: Device, case: AdoptionCase) -> str | None:
    """See that sound matrices are taken as they are, and that each fault is seen."""
    known = known_graph("heavy" if case.cursors else "large")
    dtype = dtype_of(case.bits, case.kind)
    for symmetric in (False, True):
        graph = known.simple(dtype, symmetric=symmetric)
        found = adoption.check(DeviceGraph.upload(graph, device))
        if found is None or found.graph.is_symmetric != symmetric:
            return "a sound matrix was found faulty"
    for name, faulty in _faulty(graph):
        if adoption.check(DeviceGraph.upload(faulty, device)) is not None:
            return f"a matrix with {name} was found sound"
    return None


def _faulty(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Yield copies of a symmetric matrix with one fault each."""
    for slot in (0, graph.n_slots - 1):
        weights = graph.weights.copy()
        weights[slot] = weights.max() if weights[slot] != weights.max() else weights.min()
        yield "another weight in one direction", graph.replace(weights=weights)
    columns = graph.indices.copy()
    columns[graph.n_slots // 2] = graph.n_vertices
    yield "a column outside", graph.replace(indices=columns)
    starts = graph.indptr.copy()
    starts[graph.n_vertices // 3] += 1
    yield "a slot in another row", graph.replace(indptr=starts)


ADOPTION = Family(
    name="csr-check",
    what="the check of a large SciPy matrix; where it is refused, the host checks",
    test=_adoption_failure,
    cases=(AdoptionCase(), AdoptionCase(64, "float", cursors=True)),
)


# ---------------------------------------------------------------------------- complete graphs


@dataclass(frozen=True, slots=True)
class CompleteCase:
    """What decides which kernels of `dense` run on a complete graph.

    Attributes
    ----------
    bits, kind : int, str
        Words of weights.
    metric : str
        Of points; empty for a matrix.
    dimensions : int
        Of points.
    maximum : bool
    told_options, options
        As of :class:`Case`.
    """

    bits: int = 32
    kind: WeightKind = "unsigned"
    metric: str = ""
    dimensions: int = 0
    maximum: bool = False
    told_options: str = ""
    options: Any = field(default=None, compare=False)

    def __str__(self) -> str:
        what = f"{self.bits}-bit {self.kind} weights"
        if self.metric:
            what = f"points, {self.metric}, {self.dimensions} dimensions"
        told = f"{what}, {'maximum' if self.maximum else 'minimum'}"
        return f"{told}, {self.told_options}" if self.told_options else told


def complete_case_of(matrix: DeviceMatrix, *, maximum: bool, options: Any = None) -> CompleteCase:
    """Return what decides which kernels solve a complete graph."""
    points = matrix.graph if isinstance(matrix.graph, Points) else None
    return CompleteCase(
        bits=matrix.bits,
        kind=matrix.kind,
        metric="" if points is None else points.metric,
        dimensions=0 if points is None else points.planes.shape[0],
        maximum=maximum,
        told_options=told_options(options),
        options=options,
    )


def _complete_failure(device: Device, case: CompleteCase) -> str | None:
    for n in (9, 600):
        graph = _complete_graph(n, case)
        expected = kruskal(graph.to_graph(), maximum=case.maximum)
        matrix = DeviceMatrix.upload(graph, device)
        launch = Launcher(device, device.queue)
        found = dense.solve_matrix(matrix, launch, maximum=case.maximum, options=case.options)
        if not np.array_equal(found.to_host().edges, expected.edges):
            return f"edges came out wrong for the known complete graph of {n} vertices"
    return None


def _complete_graph(n: int, case: CompleteCase) -> DenseGraph | Points:
    """Return a complete graph with equal weights among others."""
    rng = np.random.default_rng(n)
    if case.metric:
        at_most = 80 if case.metric == "great-circle" else 50  # degrees, and few distances
        return Points(rng.integers(0, at_most, (n, _coordinates(case))), metric=case.metric)  # type: ignore[arg-type]
    ranks = np.triu(rng.integers(0, 128, (n, n)), 1)
    return DenseGraph(weights_of(ranks + ranks.T, dtype_of(case.bits, case.kind)))


def _coordinates(case: CompleteCase) -> int:
    return 2 if case.metric == "great-circle" else case.dimensions


COMPLETE = Family(
    name="dense-complete",
    what="spanning trees of complete graphs: matrices and points",
    test=_complete_failure,
    cases=(CompleteCase(), CompleteCase(64, "float", maximum=True)),
)

# Each algorithm, then what stands beside them.
FAMILIES = (*map(family_of, sorted(algorithms.ALGORITHMS)), COMPLETE, CORE_NUMBERS, ADOPTION)
