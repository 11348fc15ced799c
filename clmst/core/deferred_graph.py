"""Graphs whose arrays are computed when they are first read, such as graphs of lists of edges."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from clmst.core import csr
from clmst.core.arguments import check_bool, check_integer, shown
from clmst.core.canonical import attributes_of, sort_upper, upper_from_edges
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph_checks import check_coordinates, check_implied, check_size, check_weights
from clmst.core.lazy import LazyProperty
from clmst.core.vertex_names import first_name, renumbered
from clmst.core.weight_keys import Array, as_weights

Read = Callable[[str], Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeList:
    """A checked list of edges in the caller's order. The arrays may be the caller's own."""

    u: Array
    v: Array
    weights: Array
    n_vertices: int
    merge_parallel: bool  # whether only the lightest of parallel edges is kept
    # A lock that is held by the thread that computes the canonical arrays.
    lock: Any = field(default_factory=threading.RLock, repr=False)

    def __reduce__(self) -> Any:
        """Pickle the list without its lock, and without what was computed from it."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "lock"}
        return partial(EdgeList, **fields), ()

    @property
    def size(self) -> int:
        """Number of edges."""
        return self.u.size

    @LazyProperty
    def canonical(self) -> dict[str, Any]:
        """The attributes of the graph whose edges are in canonical order, as a dict.

        The dict is computed by two counting sorts when it is first read, in O(n + m) time.

        Raises :class:`InvalidGraphError` if the caller has changed an end to an invalid number
        since the list was checked.
        """
        csr.check_range(self.u, self.n_vertices, "u")
        csr.check_range(self.v, self.n_vertices, "v")
        upper = upper_from_edges(self.n_vertices, self.u, self.v)
        return attributes_of(upper, self.weights, lightest=self.merge_parallel)


class DeferredArrays:
    """Base class of :class:`~clmst.core.graph.DeferredGraph`: loads arrays on their first use.

    Two threads that first read an array at the same time may both compute it.
    """

    _read: Read
    _deferred: frozenset[str]
    _n_vertices: int
    _n_slots: int | None
    _weight_dtype: np.dtype[Any]
    _edge_list: EdgeList | None

    @classmethod
    def of(
        cls,
        deferred: frozenset[str],
        read: Read,
        *,
        n_vertices: int,
        n_slots: int | None,
        weight_dtype: np.dtype[Any],
        edge_list: EdgeList | None = None,
        **attributes: Any,
    ) -> Self:
        """Create a graph, without validation, whose `deferred` arrays are loaded on first use.

        Parameters
        ----------
        deferred : frozenset of str
            The names of the arrays that do not exist yet.
        read : callable
            Called with one of these names. It returns a mapping of arrays by name that contains
            this array and perhaps others.
        n_vertices : int
            The number of vertices.
        n_slots : int or None
            The number of stored entries, or None if it is only known once the arrays are.
        weight_dtype : dtype
            The dtype of the weights.
        edge_list : EdgeList, optional
            The list from which the arrays are computed.
        **attributes
            All other attributes of a :class:`Graph`.
        """
        graph = object.__new__(cls)
        vars(graph).update({"vertex_labels": None, "coordinates": None} | attributes)
        vars(graph).update(
            _read=read, _deferred=deferred, _n_vertices=n_vertices, _n_slots=n_slots,
            _weight_dtype=weight_dtype, _edge_list=edge_list,
        )  # fmt: skip
        return graph

    @classmethod
    def of_edges(cls, edges: EdgeList, **attributes: Any) -> Self:
        """Create the graph of a list of edges, which is put into canonical order on first use."""
        return cls.of(
            frozenset(("indptr", "indices", "weights", "edge_ids")), lambda _: edges.canonical,
            n_vertices=edges.n_vertices, n_slots=None, weight_dtype=edges.weights.dtype,
            edge_list=edges, is_symmetric=False, n_input=edges.size, **attributes,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        """Load the array `name`. Python calls this only if the graph does not have it yet."""
        if name.startswith("_") or name not in self._deferred:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        for other, array in self._read(name).items():
            vars(self).setdefault(other, array)  # keeps an array that the caller has replaced
        return vars(self)[name]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._n_vertices

    @property
    def n_slots(self) -> int:
        """Number of CSR entries, both directions and self-loops included. May load the arrays."""
        return self.indices.size if self._n_slots is None else self._n_slots

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The dtype of the weights."""
        weights: Array | None = vars(self).get("weights")
        return self._weight_dtype if weights is None else weights.dtype

    @property
    def edge_list(self) -> EdgeList | None:
        """The edges as the caller gave them. None once the canonical arrays have been loaded."""
        return None if "indices" in vars(self) else self._edge_list


def checked_edges(
    u: Any,
    v: Any,
    w: Any,
    n_vertices: int | None,
    *,
    merge_parallel: bool,
    relabel: bool,
    coordinates: Any,
) -> tuple[EdgeList, dict[str, Any]]:
    """Check the arguments of :meth:`clmst.Graph.from_edges`, which have the same names there.

    Return the checked edges, and a dict with the graph's attributes `vertex_labels` and
    `coordinates`. If `n_vertices` is None, the greatest vertex number determines the number of
    vertices.
    """
    check_bool("merge_parallel", merge_parallel)
    if check_bool("relabel", relabel) and n_vertices is not None:
        raise InvalidArgumentError(
            f"relabel is True and n_vertices is {n_vertices}; relabelling counts the vertices "
            "that occur, so leave n_vertices out"
        )
    if n_vertices is not None:
        n_vertices = check_integer("n_vertices", n_vertices)
        check_size(n_vertices, 0)
    labels = None
    if relabel:
        u, v, labels = renumbered(u, v)
        n_vertices = len(labels)
    else:
        for name, ends in (("u", u), ("v", v)):
            if (first := first_name(name, ends)) is not None:
                raise InvalidGraphError(
                    f"{name}[0] is {shown(first)}, a name; ends must be vertex numbers, and "
                    "relabel=True takes names"
                )
        u, v = csr.check_pairs(u, v)
        greatest = max(csr.check_range(u, n_vertices, "u"), csr.check_range(v, n_vertices, "v"))
    m = u.size
    w = np.ones(m, np.uint8) if w is None else as_weights(w)
    if w.shape != (m,):
        raise InvalidGraphError(
            f"u and v have {m} entries but w has shape {w.shape}; there must be one weight an edge"
        )
    if n_vertices is None:
        n_vertices = 1 + greatest
        check_implied(n_vertices, m)
    check_size(n_vertices, m)
    check_weights(w, lambda e: (int(u[e]), int(v[e])), labels)
    edges = EdgeList(u=u, v=v, weights=w, n_vertices=n_vertices, merge_parallel=merge_parallel)
    coordinates = check_coordinates(coordinates, n_vertices)
    return edges, {"vertex_labels": labels, "coordinates": coordinates}


def of_owned(arrays: list[Any], n_vertices: int) -> dict[str, Any]:
    """Return the attributes of the :class:`Graph` of edges from a file, merging parallel edges.

    `arrays` contains the ends u and v, as uint32 or int64, and the weights. None as weights gives
    every edge the weight 1. The arrays must have been checked and belong to the caller alone: they
    are removed from the list and overwritten, to save memory for large files. `n_vertices` is the
    number of vertices.
    """
    w, v, u = (arrays.pop() for _ in range(3))
    m = u.size
    check_size(n_vertices, m)
    w = np.ones(m, np.uint8) if w is None else w
    greater = np.maximum(u, v)
    ends = [np.minimum(u, v, out=u if u.dtype == v.dtype else None), greater]
    del u, v, greater
    return attributes_of(sort_upper(n_vertices, ends), w, lightest=True)
