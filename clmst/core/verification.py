"""Prove on the host that a forest is the minimum spanning forest of a graph, without solving it.

The method follows V. King, "A simpler minimum spanning tree verification algorithm", Algorithmica
18 (1997). It compares each edge with the heaviest edge of the forest's path between its ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_integer, check_texts
from clmst.core.coercion import as_listed, with_weight
from clmst.core.errors import InvalidArgumentError, InvalidForestError
from clmst.core.long_work import lasting
from clmst.core.paths import Hierarchy, RootedForest, components
from clmst.core.threads import in_threads

if TYPE_CHECKING:
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph
    from clmst.core.weight_keys import Array

# The result of a check: the positions of the items that are wrong, and a function that describes
# the fault at a position.
_Fault: TypeAlias = "tuple[Array, Callable[[int], str]]"

_HANDFUL = 5  # the number of problems that are described; further ones are only counted
# The number of edges that a thread compares at a time, whose data fit into the caches.
_RUN = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of :func:`clmst.verify`. It is true in a boolean context if the forest is right.

    Attributes
    ----------
    problems : tuple of str
        Descriptions of the first few problems, the most serious first.
    n_problems : int
        The number of problems that the last stage of the check found. 0 if the forest is right.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> maximum = clmst.maximum_spanning_forest(graph)
    >>> other = clmst.Forest(n_vertices=3, edges=maximum.edges, weights=maximum.weights,
    ...     edge_ids=maximum.edge_ids)
    >>> clmst.verify(graph, other).n_problems
    1
    """

    problems: tuple[str, ...] = ()
    n_problems: int = 0

    def __post_init__(self) -> None:
        """Raise InvalidArgumentError if the attributes contradict each other."""
        least = len(check_texts("problems", self.problems))
        count = check_integer("n_problems", self.n_problems, low=least)
        object.__setattr__(self, "n_problems", count)
        if self.n_problems and not self.problems:
            raise InvalidArgumentError(
                f"n_problems is {count}, but problems is empty; it must describe at least one"
            )

    @property
    def ok(self) -> bool:
        """Whether the forest is right."""
        return self.n_problems == 0

    def __bool__(self) -> bool:
        return self.ok

    def raise_if_invalid(self) -> None:
        """Raise :class:`InvalidForestError` with the first problem.

        Do nothing if the forest is right.

        Examples
        --------
        >>> import clmst
        >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
        >>> forest = clmst.minimum_spanning_forest(graph)
        >>> clmst.verify(graph, forest).raise_if_invalid()

        The forest is not the minimum spanning forest of a graph with other weights:

        >>> heavier = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 9])
        >>> try:
        ...     clmst.verify(heavier, forest).raise_if_invalid()
        ... except clmst.InvalidForestError as error:
        ...     print(error)
        edge id 2 (0, 2) weighs 9 in the graph but 2 in the forest; they must be equal
        """
        if not self.ok:
            rest = self.n_problems - 1
            raise InvalidForestError(self.problems[0] + (f" (and {rest} more)" if rest else ""))


@lasting("verifying a forest")
def verified(
    graph: Any, forest: Forest, *, symmetrize: bool, weight: Any, columns: Any
) -> Verification:
    """Check that `forest` is the minimum or maximum spanning forest of `graph`, on the host.

    :func:`clmst.verify` documents the arguments and the result. `symmetrize`, `weight` and
    `columns` say how to read `graph`.
    """
    listed = as_listed(with_weight(graph, weight, columns), symmetrize=symmetrize)
    for stage in _stages(listed, forest):
        texts, count = list[str](), 0
        for positions, describe in stage:
            count += positions.size
            texts += [describe(int(k)) for k in positions[: _HANDFUL - len(texts)]]
        if count:
            return Verification(problems=tuple(texts), n_problems=count)
    return Verification()


def _stages(graph: Graph, forest: Forest) -> Iterator[Iterator[_Fault]]:
    """Yield, for each stage of the check, an iterator over the faults that the stage finds.

    The caller must stop after the first stage that finds faults, because a later stage works only
    if the earlier ones found none.
    """
    yield _check_arrays(graph, forest)
    edges = _Edges(*graph.edges())
    number_of_id = np.full(graph.n_input, -1, np.int64)
    number_of_id[edges.ids] = np.arange(edges.ids.size)
    yield _check_ids(number_of_id, forest.edge_ids)
    tree = number_of_id[forest.edge_ids.astype(np.int64)]
    yield _check_edges(edges, tree, forest)
    yield _check_order(forest.edge_ids, tree)
    yield _check_spanning(graph.n_vertices, edges, tree)
    yield _check_minimality(graph.n_vertices, edges, tree, maximum=forest.maximum)


@dataclass(frozen=True, slots=True)
class _Edges:
    """The edges of a graph in canonical order. An edge's number is its position in the arrays."""

    u: Array
    v: Array
    weights: Array
    ids: Array

    def name(self, number: int) -> str:
        """Describe edge `number` by the id and the ends of the edge."""
        return f"edge id {self.ids[number]} ({self.u[number]}, {self.v[number]})"


# ----------------------------------------------- is the forest a set of edges of the graph?


def _whole(text: str) -> _Fault:
    """Return a fault that concerns the whole forest, not one edge. `text` describes the fault."""
    return np.zeros(1, np.int64), lambda _: text


def _check_arrays(graph: Graph, forest: Forest) -> Iterator[_Fault]:
    """Yield faults in the shapes and dtypes of the forest's arrays."""
    if forest.n_vertices != graph.n_vertices:
        yield _whole(
            f"the forest has {forest.n_vertices} vertices but the graph has {graph.n_vertices}; "
            "they must be equal"
        )
    shapes = forest.edges.shape, forest.weights.shape, forest.edge_ids.shape
    k = forest.edge_ids.size
    if shapes != ((k, 2), (k,), (k,)):
        yield _whole(
            "edges, weights and edge_ids have shapes {}, {} and {}; "
            "they must be (k, 2), (k,) and (k,)".format(*shapes)
        )
    for name, array in (("edges", forest.edges), ("edge_ids", forest.edge_ids)):
        if array.dtype.kind not in "iu":
            yield _whole(f"{name} has dtype {array.dtype}; it must be an integer dtype")
    if forest.weights.dtype != graph.weights.dtype:
        yield _whole(
            f"the weights of the forest have dtype {forest.weights.dtype} but those of the graph "
            f"{graph.weights.dtype}; they must be equal"
        )


def _check_ids(number_of_id: Array, ids: Array) -> Iterator[_Fault]:
    """Yield faults: edge ids of the forest that are out of range or do not belong to an edge.

    `ids` are the edge ids of the forest. `number_of_id` has, for each id, the position of the
    graph's edge with this id in canonical order, and -1 if there is none.
    """
    n_input = number_of_id.size
    outside = (ids < 0) | (ids >= n_input)
    yield (
        np.flatnonzero(outside),
        lambda k: f"edge_ids[{k}] is {ids[k]}; it must be at least 0 and below {n_input}",
    )
    inside = np.flatnonzero(~outside)
    yield (
        inside[number_of_id[ids[inside].astype(np.int64)] < 0],
        lambda k: (
            f"edge_ids[{k}] is {ids[k]}, which is no edge of the graph but a self-loop, a merged "
            "parallel edge or the second direction of an edge; an id must name an edge"
        ),
    )


def _check_edges(edges: _Edges, tree: Array, forest: Forest) -> Iterator[_Fault]:
    """Yield the edges of the forest whose ends or weight differ from the edge in the graph.

    `tree` has the number, among `edges`, of each edge of the forest.
    """
    u, v = forest.edges.T
    yield (
        np.flatnonzero((u != edges.u[tree]) | (v != edges.v[tree])),
        lambda k: (
            f"{edges.name(tree[k])} stands in the forest as ({u[k]}, {v[k]}); "
            "both must name the same endpoints, the lesser first"
        ),
    )
    yield (
        np.flatnonzero(~(forest.weights == edges.weights[tree])),  # NaN is not equal to anything
        lambda k: (
            f"{edges.name(tree[k])} weighs {edges.weights[tree[k]]} in the graph but "
            f"{forest.weights[k]} in the forest; they must be equal"
        ),
    )


def _check_order(ids: Array, tree: Array) -> Iterator[_Fault]:
    """Yield faults: edges of the forest that occur twice or are not in canonical order.

    `ids` has the id of each edge of the forest, and `tree` the edge's position among all edges of
    the graph in canonical order.
    """
    by_number = np.argsort(tree, kind="stable")
    again = by_number[1:][tree[by_number][1:] == tree[by_number][:-1]]
    yield (again, lambda k: f"edge id {ids[k]} stands in the forest twice; ids must be distinct")
    falls = 1 + np.flatnonzero(tree[1:] < tree[:-1])
    yield (
        falls,
        lambda k: (
            f"edge id {ids[k]} stands behind edge id {ids[k - 1]}; the edges of a forest must "
            "stand in the canonical order of the graph"
        ),
    )


# -------------------------------------------------------- is the set a spanning forest?


def _check_spanning(n: int, edges: _Edges, tree: Array) -> Iterator[_Fault]:
    """Yield faults: edges of the forest that close a cycle, edges of the graph that join two trees.

    `n` is the number of vertices. `tree` has the positions of the forest's edges in `edges`.
    """
    u, v = edges.u[tree].astype(np.int64), edges.v[tree].astype(np.int64)
    n_trees, labels = components(n, u, v)
    if n_trees != n - tree.size:
        yield (
            np.flatnonzero(_closes_cycle(n, u, v, labels)),
            lambda k: f"{edges.name(tree[k])} closes a cycle in the forest; a forest has none",
        )
    yield (
        np.flatnonzero(labels[edges.u] != labels[edges.v]),
        lambda e: (
            f"{edges.name(e)} of the graph joins two trees of the forest; "
            "a spanning forest has one tree for each component of the graph"
        ),
    )


def _closes_cycle(n: int, u: Array, v: Array, labels: Array) -> npt.NDArray[np.bool_]:
    """Return a mask of edges, each of which closes a cycle with the other given edges.

    The edges are (u[i], v[i]), in canonical order, among `n` vertices, and `labels` has the
    component of each vertex. The mask is True for the edges that a breadth-first search does not
    use.
    """
    parents = RootedForest.of(n, np.column_stack((u, v)), labels).parents
    outside: npt.NDArray[np.bool_] = (parents[u] != v) & (parents[v] != u)
    outside[1:] |= (u[1:] == u[:-1]) & (v[1:] == v[:-1])
    return outside


# ---------------------------------------------------------- is the forest the minimum?


def _check_minimality(n: int, edges: _Edges, tree: Array, *, maximum: bool) -> Iterator[_Fault]:
    """Yield the edges outside the forest that should replace an edge of the forest.

    Every edge outside the forest is compared with the heaviest edge on the forest's path between
    its two ends, that is, the last one in the order of weights and edge ids. `n` is the number of
    vertices, and `tree` has the positions, in `edges`, of the forest's edges. `maximum` says
    whether heavier edges come first.
    """
    by_rank = tree[_ranked(edges.weights[tree], maximum=maximum)]
    hierarchy = Hierarchy(n, edges.u[by_rank].astype(np.int64), edges.v[by_rank].astype(np.int64))
    left_out = np.ones(edges.ids.size, bool)
    left_out[tree] = False

    def faults(start: int) -> tuple[Array, Array]:
        """Return the edges that should be in the forest, and the edges that they should replace.

        Only the _RUN edges from position `start` on are examined.
        """
        others = start + np.flatnonzero(left_out[start : start + _RUN])
        u, v = edges.u[others], edges.v[others]
        bound = by_rank[np.maximum(hierarchy.reaches[u], hierarchy.reaches[v])]
        near = np.flatnonzero(_comes_before(edges, others, bound, maximum=maximum))
        others = others[near]
        last = by_rank[hierarchy.last_ranks(u[near], v[near])]
        wrong = np.flatnonzero(_comes_before(edges, others, last, maximum=maximum))
        return others[wrong], last[wrong]

    starts = range(0, edges.ids.size, _RUN)
    found = in_threads(faults, starts)
    others = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in found)])
    last = np.concatenate([np.zeros(0, np.int64), *(one for _, one in found)])
    yield from _describe_faults(edges, others, last, maximum=maximum)


def _comes_before(
    edges: _Edges, others: Array, bounds: Array, *, maximum: bool
) -> npt.NDArray[np.bool_]:
    """Return whether each edge in `others` precedes the edge in `bounds` in the total order.

    Lighter edges come first, or heavier ones if `maximum`.
    """
    ours, theirs = edges.weights[bounds], edges.weights[others]
    before: npt.NDArray[np.bool_] = theirs > ours if maximum else theirs < ours
    before |= (theirs == ours) & (others < bounds)
    return before


def _describe_faults(
    edges: _Edges, others: Array, last: Array, *, maximum: bool
) -> Iterator[_Fault]:
    """Yield faults: edges outside of the forest that should replace an edge of the forest.

    `others` and `last` are positions in `edges`: edge ``others[i]`` is outside of the forest, and
    should replace edge ``last[i]``. `maximum` says whether the forest is a maximum forest.
    """
    ours, theirs = edges.weights[last], edges.weights[others]
    yield (
        np.flatnonzero(theirs != ours),
        lambda k: (
            f"{edges.name(others[k])} of weight {theirs[k]} is left out but is "
            f"{'heavier' if maximum else 'lighter'} than {edges.name(last[k])} of weight {ours[k]} "
            "on the path between its ends; it must take the place of that edge"
        ),
    )
    yield (
        np.flatnonzero(theirs == ours),
        lambda k: (
            f"{edges.name(others[k])} is left out for {edges.name(last[k])} on the path between "
            f"its ends, and both weigh {ours[k]}; where weights tie, the edge first in "
            "canonical order must be taken: by lesser end, greater end, then position in the input"
        ),
    )


def _ranked(weights: Array, *, maximum: bool) -> npt.NDArray[np.int64]:
    """Return the indices that sort edges by weight and, among equal weights, by position.

    `weights` are in canonical order. If `maximum`, the heaviest edge comes first.
    """
    dense = np.unique(weights, return_inverse=True)[1].reshape(-1)
    return np.argsort(-dense if maximum else dense, kind="stable")
