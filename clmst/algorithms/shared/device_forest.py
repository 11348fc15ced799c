"""A forest whose edges are on a device, and its copy to the host."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from clmst.algorithms.shared import read_back
from clmst.algorithms.shared.read_back import (
    callers_ids,
    forest_of_arrays,
    forest_on_host,
    gather_words,
    signed,
)
from clmst.core import pairs
from clmst.core.arguments import (
    check_bool,
    check_integer,
    check_kind,
    check_mapping,
    shown,
)
from clmst.core.dense_graph import DenseGraph
from clmst.core.errors import InvalidArgumentError
from clmst.core.forest import Forest
from clmst.core.graph import Graph
from clmst.core.lazy import LazyField, known
from clmst.core.points import Points
from clmst.core.weight_keys import Array, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.device_matrix import DeviceMatrix
from clmst.runtime.device_memory import check_capacity, check_is_memory
from clmst.runtime.failures import Guard, check_memory
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.transfer import Transfer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ForestWeights:
    """The weights of a forest's edges on a device: one word for each edge, and their encoding."""

    words: DeviceArray
    encoding: Encoding


@dataclass(frozen=True, kw_only=True, eq=False)
class DeviceForest:
    """A forest whose edges are in a device's memory, in the graph's canonical order.

    Solves that leave their result on the device return this object. :meth:`to_host` copies the
    forest to the host.

    Attributes
    ----------
    graph : DeviceGraph or DeviceMatrix
        The graph that the forest spans.
    n_edges : int
        Number of edges of the forest, k.
    slots : device buffer of uint32, shape (k,), or None
        The slot of each edge, which is its position among the entries of the graph's CSR, in
        ascending order. None if the graph is a matrix or points, which do not have slots.
    edges : device buffer of uint32, shape (k, 2)
        Endpoints of each edge, the lesser first. If the graph is prepared for many solves, the
        endpoints are looked up when they are first used.
    maximum : bool
        Whether it is a maximum spanning forest.
    stats : mapping
        Statistics of the solve, like ``stats`` of :class:`clmst.Forest`.
    weights : ForestWeights, optional
        The weights of the edges, if the graph gets other weights in the next solve, or if the
        device has computed them from points.
    pairs : ndarray of uint32, shape (k, 2), optional
        Endpoints of each edge on the host, if the host has them, too.

    Examples
    --------
    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> stored = clmst.to_device(graph)
    >>> forest = clmst.minimum_spanning_forest(stored, keep_on_device=True)
    >>> forest.n_edges, forest.n_components
    (2, 1)
    >>> forest.edges_array().to_host().tolist()
    [0, 2, 1, 2]
    >>> forest.to_host().total_weight
    3
    """

    graph: DeviceGraph | DeviceMatrix
    n_edges: int
    slots: Memory | None
    edges: LazyField[Memory] = LazyField(check_is_memory)
    maximum: bool
    stats: Mapping[str, Any] = field(default_factory=dict)
    weights: ForestWeights | None = None
    pairs: Array | None = None

    def __post_init__(self) -> None:
        """Check the types, and that buffers have the capacity for the edges.

        The contents of the buffers are not checked.
        """
        if not isinstance(self.graph, DeviceGraph | DeviceMatrix):
            raise InvalidArgumentError(
                f"graph is {shown(self.graph)}; it must be a DeviceGraph or DeviceMatrix"
            )
        device, most = self.graph.device, max(self.graph.n_vertices - 1, 0)
        k = check_integer("n_edges", self.n_edges, low=0, high=most)
        object.__setattr__(self, "n_edges", k)
        check_bool("maximum", self.maximum)
        check_mapping("stats", self.stats)
        if isinstance(self.graph, DeviceGraph):
            check_capacity("slots", self.slots, 4 * k, device)
        if (edges := known(self, "edges")) is not None:
            check_capacity("edges", edges, 8 * k, device)
        if self.weights is not None:
            check_kind("weights", self.weights, ForestWeights)

    @property
    def n_components(self) -> int:
        """Number of trees; an isolated vertex is a tree."""
        return self.graph.n_vertices - self.n_edges

    def __repr__(self) -> str:
        kind = "maximum" if self.maximum else "minimum"
        return (
            f"DeviceForest({kind}, n_vertices={self.graph.n_vertices}, n_edges={self.n_edges}, "
            f"n_components={self.n_components}, on {self.graph.device.description})"
        )

    def with_stats(self, stats: Mapping[str, Any]) -> DeviceForest:
        """Return a copy of the forest with the statistics `stats` in place of the present ones.

        If endpoints have not been looked up yet, they are not looked up now.
        """
        check_mapping("stats", stats)
        other = copy(self)
        object.__setattr__(other, "stats", stats)
        return other

    def edges_array(self) -> DeviceArray:
        """Return the endpoints of all edges as an array on the device.

        Returns
        -------
        DeviceArray of uint32, shape (2 k,)
            The two ends of each edge, the lesser first.
        """
        return self._array(self.edges, 2 * self.n_edges)

    def slots_array(self) -> DeviceArray:
        """Return the slot of each edge, which is its position among the entries of the graph's CSR.

        Returns
        -------
        DeviceArray of uint32, shape (k,)
            The slots, in ascending order.

        Raises
        ------
        InvalidArgumentError
            The graph is a matrix or points, which do not have slots.
        """
        if self.slots is None:
            raise InvalidArgumentError(
                "the graph is a complete one, whose edges are not stored; "
                "only a stored graph has slots"
            )
        return self._array(self.slots, self.n_edges)

    def weights_array(self) -> DeviceArray:
        """Return the weight of each edge as an array on the device.

        The call waits for the device.

        Returns
        -------
        DeviceArray, shape (k,)
            Weights in the dtype of the graph's weights.

        Notes
        -----
        In some cases the host looks up the weights and uploads them: if the device stores each
        weight in fewer bits than the graph's dtype has, if the device works in the host's memory,
        and if the graph is a matrix or points.
        """
        graph, device = self.graph, self.graph.device
        if isinstance(graph, DeviceGraph) and self.weights is None:
            with device.lock, Guard(device):
                launch = Launcher(device, device.queue)
                gathered = self._gather_weights(graph, launch)
                device.queue.finish()
            if gathered is not None:
                dtype = graph.graph.weight_dtype
                return self._array(gathered, self.n_edges, dtype)
        return DeviceArray.from_host(self.to_host().weights, device)

    def _array(self, memory: Memory, size: int, dtype: Any = np.uint32) -> DeviceArray:
        device = self.graph.device
        check_memory(device, memory)
        return DeviceArray(
            device=device, dtype=np.dtype(dtype), size=size, memory=memory, base=memory, offset=0
        )

    def to_host(self, *, look_up: bool = False) -> Forest:
        """Copy the forest to the host.

        The call waits for the device. It takes O(k) time for k edges in the forest.

        Parameters
        ----------
        look_up : bool
            Whether the host looks up the weights of the edges in its own copy of the graph. By
            default a kernel does, and no other code checks its result. The argument is ignored if
            the forest already has `weights`, which a solve of points or of a matrix may have
            stored.

        Returns
        -------
        Forest
        """
        device = self.graph.device
        with Guard(device):
            memory = known(self, "edges") if self.slots is None else self.slots
            if memory is not None:
                check_memory(device, memory)
            return self.copied(Launcher(device, device.queue), look_up=look_up)

    def copied(self, launch: Launcher, *, look_up: bool = False) -> Forest:
        """Copy the forest to the host as :meth:`to_host` does, by the queue of `launch`.

        `look_up` makes the host look up the weights, even if the device has them.
        """
        if self.slots is None:
            return self._of_matrix(launch, look_up=look_up)
        stored = self.graph
        assert isinstance(stored, DeviceGraph)
        found, k = None, self.n_edges
        if self.weights is None and k and not look_up:
            is_deferred = known(self, "edges") is None and stored.rows is None
            if read_back.can_pack(stored, k):
                found, _ = read_back.read_packed(stored, self.slots, None, k, launch)
            elif is_deferred and read_back.can_write_out(stored.device):
                found = read_back.write_out(stored, self.slots, k, launch)
        if found is None:
            return self._of_graph(stored, launch, look_up=look_up)
        return forest_on_host(stored, found, maximum=self.maximum, stats=self.stats)

    def _of_graph(self, stored: DeviceGraph, launch: Launcher, *, look_up: bool) -> Forest:
        """Copy the forest of a graph with a CSR to the host.

        `stored` is the graph. For a matrix or points, :meth:`_of_matrix` copies the forest.

        The CSR entry of each edge, or the caller's id of the edge, is copied. Endpoints are copied
        unless the host knows the row of each entry. Weights are copied if the forest has `weights`.
        Otherwise a kernel looks them up in the device's graph, and they are copied, too, except in
        two cases: if `look_up` is True, or if :meth:`_gather_weights` returns None. The host then
        looks them up in its own copy of the graph.
        """
        graph: Graph = stored.graph
        slots = np.empty(self.n_edges, np.uint32)
        own = self.weights
        weights = np.empty(self.n_edges, own.words.dtype if own else graph.weight_dtype)
        gathered = own.words.memory if own else None
        if own is None and not look_up:
            gathered = self._gather_weights(stored, launch)
        # Read the host's weights now, before threads use them. Reading them may wait for the
        # device's lock, which threads cannot share.
        looked_up = graph.weights if gathered is None else weights
        assert self.slots is not None
        found_ids = self._gather_ids(stored, launch)
        own_ids = None if found_ids is not None else graph.edge_ids
        ids = slots if own_ids is None else np.empty(self.n_edges, own_ids.dtype)
        knows_rows = stored.rows is not None  # if so, the host knows the rows, too
        edges = None if knows_rows else np.empty((self.n_edges, 2), np.uint32)

        def endpoints() -> Array:
            pairs = np.column_stack((graph.rows[slots], graph.indices[slots]))
            return signed(pairs, graph.n_vertices)

        def take(begin: int, end: int) -> None:
            """Look up weights and ids in the host's graph, for the CSR entries that have arrived.

            Their bytes in the array `slots` are those from `begin` to ``end - 1``.
            """
            part = slice(begin // slots.itemsize, end // slots.itemsize)
            if gathered is None:
                np.take(looked_up, slots[part], out=weights[part], mode="clip")
            if own_ids is not None:
                np.take(own_ids, slots[part], out=ids[part], mode="clip")

        transfers = [Transfer(buffer=self.slots, array=slots, then=take)]
        if found_ids is not None:
            ids = np.empty(self.n_edges, slots.dtype)
            of_ids = Transfer(buffer=found_ids, array=ids)
            transfers = [of_ids] if gathered is not None else [*transfers, of_ids]
        if edges is not None:  # copied after the slots, since the host still works with the slots
            transfers.append(Transfer(buffer=self.edges, array=edges))
        if gathered is not None:
            transfers.append(Transfer(buffer=gathered, array=weights.view(np.uint8)))
        n_bytes = sum(one.array.nbytes for one in transfers)
        if n_bytes >= launch.device.staging.shape.from_bytes:
            launch.read_all(*transfers)
        elif self.n_edges:
            for one in transfers:
                launch.read(one.buffer, one.array)
                one.done(0, one.array.nbytes)
        return forest_of_arrays(
            graph,
            endpoints if edges is None else edges,
            own.encoding.decode(weights) if own else weights,
            ids if own_ids is not None else callers_ids(stored, ids),
            maximum=self.maximum,
            stats=self.stats,
        )

    def _gather_ids(self, graph: DeviceGraph, launch: Launcher) -> Memory | None:
        """Enqueue a kernel that looks up the caller's edge ids, and return the buffer of ids.

        The call does not wait for the device. Returns None if the host looks up the ids.
        """
        if graph.edge_ids is None or self.slots is None:
            return None
        word = np.dtype(np.uint32)
        return gather_words(graph.edge_ids, word, self.slots, self.n_edges, launch).memory

    def _gather_weights(self, graph: DeviceGraph, launch: Launcher) -> Memory | None:
        """Enqueue a kernel that looks up the edges' weights, and return the buffer of weights.

        The call does not wait for the device. Returns None for a forest without edges, or if the
        host should look up the weights. It should if the device works in the host's memory, or if
        the device stores each weight in fewer bits than the dtype of the weights has.
        """
        if self.n_edges == 0 or not read_back.can_gather(graph):
            return None
        assert self.slots is not None
        word = graph.encoded.encoding.word
        return gather_words(graph.weights, word, self.slots, self.n_edges, launch).memory

    def _of_matrix(self, launch: Launcher, *, look_up: bool) -> Forest:
        """Copy the tree of a complete graph to the host.

        The endpoints are copied, and so are the weights if the device has them. If it does not, or
        if `look_up` is True, the host computes the weights.
        """
        matrix: Any = self.graph
        graph: DenseGraph | Points = matrix.graph
        if self.pairs is not None:
            edges = self.pairs.copy()
        else:
            edges = np.empty((self.n_edges, 2), np.uint32)
            if self.n_edges:
                launch.read(self.edges, edges)
        u, v = edges.T
        own = None if look_up else self.weights
        if own is None:
            weights = graph.weights_of(u, v)
        else:
            assert isinstance(graph, Points), "weights are computed from points alone"
            weights = graph.multiplied(self._own_weights(own, launch))
        ids = partial(pairs.position, graph.n_vertices, u, v)
        how = {"maximum": self.maximum, "stats": self.stats}
        return forest_of_arrays(graph, edges, weights, ids, **how)

    def _own_weights(self, own: ForestWeights, launch: Launcher) -> Array:
        words = np.empty(self.n_edges, own.words.dtype)
        if self.n_edges:
            launch.read(own.words.memory, words)
        return own.encoding.decode(words)
