"""What clmst reads of graphs of igraph and rustworkx, which need not be installed."""

from __future__ import annotations

from typing import Any


class LooksLikeIgraph:
    """What is read of an ``igraph.Graph``, of any values."""

    def __init__(
        self, edges: Any, weights: Any, *, names: Any = None, n: Any, directed: Any = False
    ) -> None:
        self._edges, self._n, self._directed = edges, n, directed
        self.es = Attributes(weight=weights)
        self.vs = Attributes(**({} if names is None else {"name": names}))

    def is_directed(self) -> Any:
        return self._directed

    def vcount(self) -> Any:
        return self._n

    def get_edgelist(self) -> Any:
        return self._edges


class Attributes:
    """Attributes of edges or vertices, by name."""

    def __init__(self, **columns: Any) -> None:
        self._columns = columns

    def attributes(self) -> list[str]:
        return list(self._columns)

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]


class LooksLikeRustworkx:
    """What is read of a ``rustworkx.PyGraph``, of any values."""

    def __init__(self, edges: Any, data: Any, *, nodes: Any, edge_indices: Any) -> None:
        self._edges, self._data, self._nodes, self._ids = edges, data, nodes, edge_indices

    def node_indices(self) -> Any:
        return self._nodes

    def edge_indices(self) -> Any:
        return self._ids

    def edge_list(self) -> Any:
        return self._edges

    def edges(self) -> Any:
        return self._data

    def weighted_edge_list(self) -> Any:
        """By which clmst knows a graph of rustworkx; it reads the data from `edges`."""
        raise AssertionError
