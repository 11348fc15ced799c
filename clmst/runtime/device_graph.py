"""A graph whose CSR arrays are on a device."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clmst.core.arguments import check_bool, check_dict, check_kind, shown, unchecked
from clmst.core.csr import index_dtype
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import DeferredGraph, Graph
from clmst.core.weight_keys import WEIGHT_KINDS, Array, EncodedWeights, Encoding, WeightKind, encode
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_memory import check_capacity
from clmst.runtime.handles import Memory

_WORD = np.dtype(np.uint32)
_KINDS = {kind: number for number, kind in enumerate(WEIGHT_KINDS)}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DeviceGraph:
    """A graph on a device, for any number of solves, as :func:`clmst.to_device` creates it.

    A *slot* is an entry of the CSR arrays, that is, a directed edge.

    Attributes
    ----------
    graph : Graph
        The graph on the host. It maps results back to the caller's input.
    device : Device
        The device that has the arrays.
    indptr, indices : device buffer of uint32
        The row pointers, shape (n + 1,), and the column of each slot, shape (n_slots,).
    weights : device buffer
        One word per slot, of the dtype `encoded.encoding.word`.
    encoded : EncodedWeights
        How the words encode the weights, and how sort keys are computed from them.
    rows : device buffer of uint32, optional
        The row of each slot, if an algorithm has stored it.
    edge_ids : device buffer of uint32, optional
        The position in the caller's input of each slot's edge, if the device has sorted the edges.
    plans : dict
        Memory, and data that depend on the topology only, which algorithms keep for the next solve.
        Keys are algorithms with their options. A graph with other weights of the same word width
        and kind may use them, too.
    derived : dict
        Data that depend on the weights, which algorithms keep for the next solve.

    Examples
    --------
    Two solves of one copy of the graph:

    >>> import clmst
    >>> graph = clmst.Graph.from_edges([0, 1, 0], [1, 2, 2], [3, 1, 2])
    >>> stored = clmst.to_device(graph)
    >>> stored.n_vertices
    3
    >>> clmst.minimum_spanning_forest(stored).total_weight
    3
    >>> clmst.maximum_spanning_forest(stored).total_weight
    5
    """

    graph: Graph
    device: Device
    indptr: Memory
    indices: Memory
    weights: Memory
    encoded: EncodedWeights
    rows: Memory | None = None
    edge_ids: Memory | None = None
    plans: dict[Hashable, Any] = field(default_factory=dict)
    derived: dict[Hashable, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the types of the attributes, and that each buffer is large enough for its array.

        The contents of the buffers are not checked.
        """
        check_kind("graph", self.graph, Graph)
        check_kind("device", self.device, Device)
        encoded: Any = self.encoded
        if not isinstance(encoded, EncodedWeights):
            raise InvalidArgumentError(f"encoded is {shown(encoded)}; it must be made by encode()")
        n_slots = self.n_slots
        needed = {"indptr": 4 * (self.n_vertices + 1), "indices": 4 * n_slots}
        needed["weights"] = encoded.encoding.word.itemsize * n_slots
        for name, n_bytes in needed.items():
            check_capacity(name, getattr(self, name), n_bytes, self.device)
        for name in ("rows", "edge_ids"):
            if getattr(self, name) is not None:
                check_capacity(name, getattr(self, name), 4 * n_slots, self.device)
        check_dict("plans", self.plans)
        check_dict("derived", self.derived)

    def __repr__(self) -> str:
        return (
            f"DeviceGraph(n_vertices={self.n_vertices}, n_slots={self.n_slots}, "
            f"weights={self.encoded.encoding.dtype}, on {self.device.description})"
        )

    @classmethod
    def upload(cls, graph: Graph, device: Device, *, wait: bool = True) -> DeviceGraph:
        """Copy `graph` to `device`, or use it in place if the device works in the host's memory.

        With ``wait=False`` copies may still be running when the call returns. Commands in the
        device's own queue wait for them automatically, so a solve can be enqueued there at once.
        """
        check_kind("graph", graph, Graph)
        check_kind("device", device, Device)
        check_bool("wait", wait)
        return cls.of_keys(graph, encode(graph.weights), device, wait=wait)

    @classmethod
    def of_keys(
        cls, graph: Graph, encoded: EncodedWeights, device: Device, *, wait: bool
    ) -> DeviceGraph:
        """Upload a graph whose weights have been encoded already, as the words in `encoded`.

        `wait` is as in :meth:`upload`.
        """
        indptr, indices, weights = device.upload_all(
            graph.indptr, graph.indices, encoded.bits, wait=wait
        )
        return cls.unchecked(
            graph=graph, device=device, indptr=indptr, indices=indices, weights=weights,
            encoded=encoded,
        )  # fmt: skip

    @classmethod
    def unchecked(cls, **attributes: Any) -> DeviceGraph:
        """Create a graph from the attributes of this class without checking them.

        Attributes that have defaults may be omitted.
        """
        usual: dict[str, Any] = {"rows": None, "edge_ids": None, "plans": {}, "derived": {}}
        return unchecked(cls, **(usual | attributes))

    @classmethod
    def from_arrays(
        cls, indptr: Any, indices: Any, weights: Any, device: Any = None
    ) -> DeviceGraph:
        """Create a graph from CSR arrays that are on a device already, without a copy.

        Parameters
        ----------
        indptr : DeviceArray or pyopencl.array.Array of int32 or uint32, shape (n + 1,)
            The row pointers.
        indices : DeviceArray or pyopencl.array.Array of int32 or uint32, shape (n_slots,)
            The column of each slot. Columns must increase strictly within a row.
        weights : DeviceArray or pyopencl.array.Array of a supported dtype, shape (n_slots,)
            The weight of each slot.
        device : None, str, Device or pyopencl.CommandQueue
            A device in the context of the arrays. By default it is the device of `indptr`, or of
            the queue of `indptr`.

        Returns
        -------
        DeviceGraph
            The edge ids of its forests are slots. The memory stays the caller's: do not change the
            arrays while the graph is used.

        Raises
        ------
        InvalidGraphError
            The arrays are not a valid CSR (see :meth:`clmst.Graph.from_csr`), or they would have to
            be rearranged: columns must increase strictly within each row, and the matrix must be
            symmetric or upper triangular.
        InvalidArgumentError
            An array is not on the device.

        Notes
        -----
        The device checks the arrays in O(n + n_slots). The arrays are copied to the host in three
        cases: if there are fewer than 2**14 slots, because the host checks these faster; if they
        are refused, to name the fault; and if an algorithm needs both directions of each edge of an
        upper triangle.

        Examples
        --------
        The path 0 - 1 - 2, with weights 5 and 3:

        >>> import clmst
        >>> import numpy as np
        >>> arrays = [[0, 1, 2, 2], [1, 2], [5, 3]]
        >>> indptr, indices, weights = (
        ...     clmst.DeviceArray.from_host(np.array(one, np.uint32)) for one in arrays
        ... )
        >>> graph = clmst.DeviceGraph.from_arrays(indptr, indices, weights)
        >>> clmst.minimum_spanning_forest(graph).total_weight
        8
        """
        from clmst.algorithms.csr_validation.device_arrays import graph_of

        return graph_of(indptr, indices, weights, device)

    def replace_unchecked(self, **changes: Any) -> DeviceGraph:
        """Return a copy with some attributes replaced by unchecked values.

        In the copy, `plans` and `derived` are empty. Algorithms keep data there for later solves,
        which may depend on what is replaced.
        """
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        fields |= {"plans": {}, "derived": {}}
        return unchecked(DeviceGraph, **(fields | changes))

    @property
    def caches(self) -> list[dict[Hashable, Any]]:
        """The dictionaries that must be emptied when a solve fails."""
        return [self.plans, self.derived]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.graph.n_vertices

    @property
    def n_slots(self) -> int:
        """Number of slots, that is, of entries in the CSR arrays."""
        return self.graph.n_slots

    @property
    def edge_bound(self) -> int:
        """An upper bound on the number of edges, found without reading the arrays of the graph."""
        return self.n_slots // 2 if self.graph.is_symmetric else self.n_slots

    @property
    def average_degree(self) -> float:
        """Average number of neighbours of a vertex. Each edge is counted at both of the ends."""
        return 2 * self.edge_bound / max(self.n_vertices, 1)

    def weight_defines(self, *, maximum: bool) -> dict[str, int]:
        """Return the macros by which kernels read this graph's weights.

        `maximum` says whether a maximum spanning forest is wanted.
        """
        check_bool("maximum", maximum)
        bits = 8 * self.encoded.encoding.word.itemsize
        return weight_defines(bits, self.encoded.kind, maximum=maximum)


def weight_defines(bits: int, kind: WeightKind, *, maximum: bool) -> dict[str, int]:
    """Return the macros by which kernels convert weights to sort keys (cl/device/weight_key.cl).

    A weight has `bits` bits, and `kind` says whether it is an unsigned or a signed integer or a
    float. `maximum` says whether heavier weights come first.
    """
    return {"WEIGHT_BITS": bits, "WEIGHT_KIND": _KINDS[kind], "WEIGHT_DESCENDING": int(maximum)}


# ------------------------------------------------------ graphs whose arrays only a device has


def deferred_graph(
    indptr: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    is_symmetric: bool,
    edge_ids: DeviceArray | None = None,
    n_input: int | None = None,
    **attributes: Any,
) -> DeferredGraph:
    """Create a host graph whose arrays are read from a device when they are first used.

    `indptr`, `indices`, `weights` and `edge_ids` must be a canonical CSR, with rows sorted by
    column, which is not checked. None as `edge_ids` means that the id of an edge is the index of
    its CSR entry. `is_symmetric` says whether every edge is stored in both directions. `n_input` is
    the number of edges in the caller's input; None means the number of CSR entries. `attributes`
    are further attributes of the graph.
    """
    arrays = {"indptr": indptr, "indices": indices, "weights": weights}
    given: dict[str, Any] = {"edge_ids": None}
    if edge_ids is not None:
        arrays, given = arrays | {"edge_ids": edge_ids}, {}

    def read(name: str) -> dict[str, Array]:
        values = arrays[name].to_host()
        if name == "edge_ids":
            return {name: values.astype(index_dtype(indptr.size - 1, n_input or 0), copy=False)}
        return {name: values if name == "weights" else values.view(_WORD)}

    return DeferredGraph.of(
        frozenset(arrays), read, n_vertices=indptr.size - 1, n_slots=indices.size,
        weight_dtype=weights.dtype, is_symmetric=is_symmetric,
        n_input=indices.size if n_input is None else n_input, **given, **attributes,
    )  # fmt: skip


def graph_on_device(
    indptr: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    is_symmetric: bool,
    encoding: Encoding | None = None,
    device: Device | None = None,
    edge_ids: DeviceArray | None = None,
    **attributes: Any,
) -> DeviceGraph:
    """Create the graph of a canonical CSR that is on a device. Nothing is checked.

    `indptr`, `indices`, `weights`, `is_symmetric` and `edge_ids` are as in :func:`deferred_graph`.
    If `encoding` is None, the words of `weights` are the weights themselves. `device` may be
    another device in the same context. None means the device of `indptr`. `attributes` are further
    attributes of :class:`Graph`, all of which have defaults.
    """
    graph = deferred_graph(
        indptr, indices, weights, is_symmetric=is_symmetric, edge_ids=edge_ids, **attributes
    )
    encoding = encoding or Encoding(dtype=weights.dtype, stored=weights.dtype)

    def read_words(at: Array | None) -> Array:
        words: Array = weights.to_host().view(encoding.word)
        return words if at is None else words[at]

    return DeviceGraph(
        graph=graph,
        device=device or indptr.device,
        indptr=indptr.memory,
        indices=indices.memory,
        weights=weights.memory,
        encoded=EncodedWeights(encoding=encoding, source=read_words),
        edge_ids=None if edge_ids is None else edge_ids.memory,
    )
