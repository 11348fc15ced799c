"""Solve graphs directly from the caller's arrays, without uploading them to a device first.

These are small graphs, matrices of equal weights, and graphs that the host solves. The router
(``clmst/route``) decides. This module reads the facts that the router asks for, one by one, from
the caller's graph, and solves the graph in the way that the router has chosen.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.equal_weights import solve as equal_weights
from clmst.algorithms.families import EQUAL_WEIGHTS, SMALL_MATRIX
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.core.arguments import is_sparse
from clmst.core.dense_graph import DenseGraph
from clmst.core.forest import Forest, routed
from clmst.core.from_scipy import as_csr, is_csr, is_plain, seems_canonical
from clmst.core.graph import DeferredGraph, Graph
from clmst.core.kruskal import entries_of_matrix, forest_of_matrix, kruskal
from clmst.core.weight_keys import Array
from clmst.route import Form, SparseFacts, Way
from clmst.runtime.device import Device
from clmst.runtime.kernel_family import Case, case_of

_PROBES = 64  # number of weights of a sample, which says whether all weights may be equal


def forest_of(graph: Any, device: Device, *, maximum: bool, host_allowed: bool) -> Forest | None:
    """Solve a graph without uploading it to a device, if the router decides so.

    Parameters
    ----------
    graph : Graph, DenseGraph, sparse matrix or anything else
        The graph, which may be malformed.
    device : Device
        The device that solves unless the host does.
    maximum : bool
        Whether the maximum spanning forest is wanted.
    host_allowed : bool
        Whether the host may solve although there is a device. It may not if the caller has named a
        device.

    Returns
    -------
    Forest or None
        None if the graph has to be uploaded to a device and solved there by an algorithm, or if it
        is malformed.
    """
    graph, facts = _with_facts(graph, device, maximum=maximum, host_allowed=host_allowed)
    if facts is None:
        return None
    while True:
        way, facts = _decide(facts, graph, device, maximum=maximum)
        if way.record == route.STEPS:
            return None
        found: Forest | None
        if way.record == route.EQUAL:
            found = equal_weights.solve(graph, device, maximum=maximum)
            if found is None:  # the entries of some row are far from sorted
                facts = facts._replace(refused=facts.refused | {route.EQUAL})
                continue
        elif way.record == route.SMALL:
            found = _in_one_launch(facts, graph, device, maximum=maximum)
        elif isinstance(graph, Graph):
            found = kruskal(graph, maximum=maximum)
        else:
            found = forest_of_matrix(graph, maximum=maximum)
        return None if found is None else routed(found, way)


def decided(
    graph: Any, device: Device | None, *, maximum: bool, host_allowed: bool
) -> tuple[Way, SparseFacts] | None:
    """Return the way in which :func:`forest_of` would solve a graph, and the facts that decide it.

    The arguments are explained in :func:`forest_of`, except that None as the device means the host
    alone. The first result names the chosen kernels, or the host, with the reason. Returns None if
    graphs of this kind are always uploaded to a device and solved there by an algorithm.
    """
    graph, facts = _with_facts(graph, device, maximum=maximum, host_allowed=host_allowed)
    return None if facts is None else _decide(facts, graph, device, maximum=maximum)


def _in_one_launch(
    facts: SparseFacts, graph: Any, device: Device, *, maximum: bool
) -> Forest | None:
    """Solve a small graph with one launch of one kernel.

    `facts` are the facts about the graph by which this was chosen. `maximum` asks for the maximum
    spanning forest. Returns None if the graph is malformed, or if its CSR turns out to have more
    entries than :mod:`clmst.route` allows for one launch.
    """
    case = _small_case(graph, maximum=maximum)
    if facts.form == "list":
        return small_matrix.solve_list(graph, device, case)
    if facts.form == "matrix":
        return small_matrix.solve_matrix(graph, device, case)
    listed = graph.to_graph() if isinstance(graph, DenseGraph) else graph
    if (facts.form, facts.n_entries) != ("graph", listed.indices.size):  # else decided already
        counted = facts._replace(form="graph", n_entries=listed.indices.size)
        if route.way_of_sparse(counted).record != route.SMALL:
            return None
    arrays = SimpleNamespace(indptr=listed.indptr, indices=listed.indices, data=listed.weights)
    return small_matrix.solve_matrix(arrays, device, case, by_slot=True, graph=listed)


def entries_of(matrix: Any, device: Device | None) -> Array | None:
    """Find a matrix's minimum spanning forest, as ascending indices of the entries in its arrays.

    Among equal weights, the entry that is stored first is preferred, as in SciPy's function. None
    as the device means the host. Returns None if the matrix has to be uploaded to a device and
    solved there by an algorithm, or if it is malformed.
    """
    facts = _facts_of(matrix, device, maximum=False, host_allowed=True)
    if facts is None:
        return None
    facts = facts._replace(by_entry=True)
    while True:
        way, facts = _decide(facts, matrix, device, maximum=False)
        if way.record == route.HOST:
            return entries_of_matrix(matrix)
        if device is None or way.record == route.STEPS:
            return None
        if way.record == route.SMALL:
            case = case_of(matrix.data.dtype, maximum=False)
            found = small_matrix.solve_matrix(matrix, device, case, by_slot=True)
            return None if found is None else found.edge_ids
        entries = equal_weights.entries(matrix, device)
        if entries is not None:
            return entries
        facts = facts._replace(refused=facts.refused | {route.EQUAL})


def _with_facts(
    graph: Any, device: Device | None, *, maximum: bool, host_allowed: bool
) -> tuple[Any, SparseFacts | None]:
    """Return a graph, converted to CSR form if the host should do that, and the facts about it.

    The arguments and the facts are explained in :func:`_facts_of`.
    """
    facts = _facts_of(graph, device, maximum=maximum, host_allowed=host_allowed)
    if facts is None and device is not None:
        converted = _in_csr_form(graph, device)
        if converted is not graph:
            graph = converted
            facts = _facts_of(graph, device, maximum=maximum, host_allowed=host_allowed)
    return graph, facts


def _facts_of(
    graph: Any, device: Device | None, *, maximum: bool, host_allowed: bool
) -> SparseFacts | None:
    """Collect the facts about a graph by which :mod:`clmst.route` decides how to solve it.

    Facts that take time to find out are added later, when they are asked for. `maximum` asks for
    the maximum spanning forest, and `host_allowed` says whether the host may solve. None as the
    device means the host. Returns None for kinds of graphs that are always uploaded to a device and
    solved there by an algorithm.
    """
    place = None if device is None else device.facts
    form: Form
    equal = None
    if is_plain(graph):
        form, n, m = "matrix", graph.shape[0], graph.indices.size
        if not _seem_equal(graph.data):
            equal = False  # so that the router need not ask for it, which takes longer
    elif isinstance(graph, DeferredGraph) and _is_usable_list(graph, maximum=maximum):
        form, n, m = "list", graph.n_vertices, graph.n_input
    elif isinstance(graph, Graph):
        form, n, m = "graph", graph.n_vertices, graph.n_input
    elif isinstance(graph, DenseGraph):
        form, n, m = "complete", graph.n_vertices, graph.weights.size
    else:
        return None
    return SparseFacts(
        form=form, n_vertices=n, n_entries=m, device=place, host_allowed=host_allowed, equal=equal
    )


def _seem_equal(weights: Array) -> bool:
    """Return whether a sample of the weights has only one value.

    The result is False if `weights` is empty.
    """
    return weights.size > 0 and _are_equal(weights[:: weights.size // _PROBES + 1])


def _are_equal(weights: Array) -> bool:
    """Return whether all weights are equal. A NaN is not equal to itself."""
    return bool(weights[0] == weights[-1]) and bool((weights == weights[0]).all())


def _is_usable_list(graph: DeferredGraph, *, maximum: bool) -> bool:
    """Return whether a graph is still a list of edges, and its forest can be found from it.

    A graph from a list of edges can be solved before it is a CSR. If parallel edges are to be
    merged, only the lightest of them may be used, so the maximum forest cannot be found from the
    list.
    """
    edges = graph.edge_list
    return edges is not None and not (maximum and edges.merge_parallel)


def _decide(
    facts: SparseFacts, graph: Any, device: Device | None, *, maximum: bool
) -> tuple[Way, SparseFacts]:
    """Let the router, :mod:`clmst.route`, choose how to solve a graph.

    `facts` are the facts about the graph so far. `maximum` asks for the maximum spanning forest.
    None as the device means the host. If the device has failed the self-test of the chosen kernels,
    the router is asked again without these kernels. Returns the way, which names the kernels and
    the reason for them, and the facts with those that the router has asked for.
    """
    while True:
        way = route.way_of_sparse(facts)
        if way.asks == "equal":
            facts = facts._replace(equal=_are_equal(graph.data))
        elif way.asks == "canonical":
            facts = facts._replace(canonical=seems_canonical(graph))
        elif device is not None and _is_refused(way, graph, device, maximum=maximum):
            facts = facts._replace(refused=facts.refused | {way.record})
        else:
            return way, facts


def _is_refused(way: Way, graph: Any, device: Device, *, maximum: bool) -> bool:
    """Return whether the device has failed the self-test of the kernels that `way` names.

    :mod:`clmst.route` has chosen the way. Kernels are tested separately for each dtype of weights
    and for minimum and maximum forests, so `graph` and `maximum` say which test counts.
    """
    if way.record == route.EQUAL:
        return device.trust.refusal(EQUAL_WEIGHTS) is not None
    if way.record == route.SMALL:
        case = _small_case(graph, maximum=maximum)
        return device.trust.refusal(SMALL_MATRIX, case) is not None
    return False


def _small_case(graph: Any, *, maximum: bool) -> Case:
    """Return the self-test case for kernels that solve a small graph in one launch.

    A case says which of the kernels are tested. It depends on the dtype of the weights, and on
    `maximum`, which asks for the maximum spanning forest.
    """
    if isinstance(graph, Graph):
        return case_of(graph.weight_dtype, maximum=maximum)
    weights = graph.weights if isinstance(graph, DenseGraph) else graph.data
    return case_of(weights.dtype, maximum=maximum)


def _in_csr_form(graph: Any, device: Device) -> Any:
    """Convert a COO or CSC matrix to CSR form, if the host should do that for the device.

    The rules of :mod:`clmst.route` decide by the number of entries and the device. Any other graph
    is returned unchanged.
    """
    if is_csr(graph) or not is_sparse(graph) or graph.format not in {"coo", "csc"}:
        return graph
    weights = graph.data
    equal = np.ndim(weights) == 1 and _seem_equal(np.asarray(weights))
    is_converted = route.converts_on_host(np.size(weights), device.facts, equal=equal)
    return as_csr(graph) if is_converted else graph
