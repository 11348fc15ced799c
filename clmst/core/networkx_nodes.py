"""Nodes of a NetworkX graph as labels, and forests as NetworkX graphs with its attributes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from clmst.core.arguments import check_text, shown
from clmst.core.columns import WEIGHT
from clmst.core.errors import InvalidArgumentError, optional_import
from clmst.core.vertex_names import hashable_labels

if TYPE_CHECKING:
    from clmst.core.forest import Forest


class NetworkxNodes(list[Hashable]):
    """The nodes of a NetworkX graph, which know the graph itself: its attributes are not copied.

    A pickled or copied one is a plain list.
    """

    def __init__(self, nodes: Iterable[Hashable], graph: Any, weight: str | None) -> None:
        super().__init__(nodes)
        self.graph, self.weight = graph, weight

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (list(self),)


def to_networkx(self: Forest, weight: str | None = None) -> Any:
    """Return a ``networkx.Graph`` of all vertices, with the caller's names if any.

    Of a forest of a NetworkX graph it has the attributes that the graph has now, those of nodes
    and edges too, as ``networkx.minimum_spanning_tree`` has. Names that are arrays, or lists,
    become tuples.

    Parameters
    ----------
    weight : str, optional
        The edge attribute that holds the weight; by default the one that it was in, or
        "weight".

    Raises
    ------
    InvalidArgumentError
        A name is not hashable, two vertices have the same, or the NetworkX graph has lost a
        node or an edge since.
    InvalidForestError
        As :meth:`to_scipy`.
    MissingDependencyError
        NetworkX is not installed.

    Notes
    -----
    A pickled forest has the names of nodes, but not the graph with its attributes.
    """
    if weight is not None:
        weight = check_text("weight", weight)
    nx = optional_import("networkx", extra="networkx")
    names = hashable_labels(self.vertex_labels, self.n_vertices)
    ends, weights = self.checked_edges().tolist(), self.weights.tolist()
    rows = ((names[u], names[v], w) for (u, v), w in zip(ends, weights, strict=True))
    tree = nx.Graph()
    if not isinstance(self.vertex_labels, NetworkxNodes):
        tree.add_nodes_from(names)
        tree.add_weighted_edges_from(rows, weight=weight or WEIGHT)
        return tree
    G, own = self.vertex_labels.graph, self.vertex_labels.weight
    tree.graph.update(G.graph)
    try:
        tree.add_nodes_from((name, G.nodes[name]) for name in names)
        data = _edge_data(G, self, names)
        tree.add_edges_from(
            (a, b, _weighted(found, w, weight, own))
            for (a, b, w), found in zip(rows, data, strict=True)
        )
    except KeyError as error:
        raise InvalidArgumentError(
            f"the NetworkX graph has no {shown(error.args[0])} any more, which is in the forest; "
            "it must keep the nodes and edges that it had"
        ) from error
    return tree


def _edge_data(G: Any, forest: Forest, names: Any) -> Iterator[dict[Any, Any]]:
    """Yield the attributes of each edge of a forest: the graph's own dictionaries.

    Raises
    ------
    KeyError
        Of an edge that is not there any more.
    """
    pairs = [(names[u], names[v]) for u, v in forest.edges.tolist()]
    if not G.is_multigraph():
        for a, b in pairs:
            if not G.has_edge(a, b):
                raise KeyError((a, b))
            yield G.get_edge_data(a, b)
        return
    wanted = {edge_id: k for k, edge_id in enumerate(forest.edge_ids.tolist())}
    found = dict[int, dict[Any, Any]]()
    for edge_id, (a, b, data) in enumerate(islice(G.edges(data=True), max(wanted, default=-1) + 1)):
        if edge_id in wanted and {a, b} == set(pairs[wanted[edge_id]]):
            found[wanted[edge_id]] = data
    for k, pair in enumerate(pairs):
        if k not in found:
            raise KeyError(pair)
        yield found[k]


def _weighted(data: dict[Any, Any], w: Any, weight: str | None, own: str | None) -> dict[Any, Any]:
    """Return attributes with the weight among them; the graph's own value stays as it is."""
    name = own if weight is None else weight
    if name is None or (name == own and name in data):
        return data
    return {**data, name: w}
