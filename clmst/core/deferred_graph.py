"""A graph whose sizes are known, and whose arrays are made when they are first read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clmst.core.edge_list import EdgeList
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array

Read = Callable[[str], Mapping[str, Array]]


class DeferredGraph(Graph):
    """A graph whose arrays are made, or copied from a device, when the host first reads them.

    Two threads that read one first at the same time may both make it.
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
    ) -> DeferredGraph:
        """Return a graph; nothing is checked.

        Parameters
        ----------
        deferred : set of str
            Names of arrays that are not there yet.
        read : callable
            Given one of these names, returns arrays by name, that one among them.
        n_vertices : int
        n_slots : int or None
            None if only the arrays tell.
        weight_dtype : numpy.dtype
        edge_list : EdgeList, optional
            The edges that the arrays are made of.
        **attributes
            All others of a graph.
        """
        graph = object.__new__(cls)
        vars(graph).update({"vertex_labels": None, "coordinates": None} | attributes)
        vars(graph).update(
            _read=read, _deferred=deferred, _n_vertices=n_vertices, _n_slots=n_slots,
            _weight_dtype=weight_dtype, _edge_list=edge_list,
        )  # fmt: skip
        return graph

    @classmethod
    def of_edges(cls, edges: EdgeList, **attributes: Any) -> DeferredGraph:
        """Return the graph of a list of edges, which is brought into canonical order later."""
        return cls.of(
            frozenset(("indptr", "indices", "weights", "edge_ids")), lambda _: edges.canonical,
            n_vertices=edges.n_vertices, n_slots=None, weight_dtype=edges.weights.dtype,
            edge_list=edges, is_symmetric=False, n_input=edges.size, **attributes,
        )  # fmt: skip

    def __getattr__(self, name: str) -> Any:
        """Make an array that has not been read before."""
        if name.startswith("_") or name not in self._deferred:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        for other, array in self._read(name).items():
            vars(self).setdefault(other, array)  # which may have been replaced
        return vars(self)[name]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._n_vertices

    @property
    def n_slots(self) -> int:
        """Number of stored slots: both directions and self-loops included."""
        return self.indices.size if self._n_slots is None else self._n_slots

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """Of the weights."""
        weights: Array | None = vars(self).get("weights")
        return self._weight_dtype if weights is None else weights.dtype

    @property
    def weights_at_hand(self) -> bool:
        """Whether the host has the weights."""
        return "weights" in vars(self)

    @property
    def edge_list(self) -> EdgeList | None:
        """The edges as the caller gave them, if nothing has been made of them yet."""
        return None if "indices" in vars(self) else self._edge_list

    def replace_unchecked(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed; what is not on the host stays so."""
        if changes.keys() & {"indptr", "indices"}:
            return super().replace_unchecked(**changes)
        graph = object.__new__(type(self))
        kept = {name: vars(self)[name] for name in vars(self) if name in _KEPT}
        vars(graph).update(kept | changes)
        if changes.keys() & self._deferred:
            vars(graph).update(_edge_list=None)
        return graph

    def __reduce__(self) -> Any:
        """Pickle as a graph of the host."""
        return _restored, ({name: getattr(self, name) for name in self.__dataclass_fields__},)


# What a copy of a graph has, too; other properties that have been computed may not hold for it.
_KEPT = frozenset(DeferredGraph.__annotations__) | frozenset(Graph.__dataclass_fields__)


def _restored(attributes: dict[str, Any]) -> Graph:
    return Graph.unchecked(**attributes)
