"""A graph whose arrays are on a device."""

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
    """A graph on a device, for any number of solves; made by :func:`clmst.to_device`.

    Attributes
    ----------
    graph : Graph
        The graph on the host, which maps the result back to the caller's input.
    device : Device
    indptr, indices : device buffer of uint32
        The graph's arrays.
    weights : device buffer
        One word of `encoded.encoding.word` a slot.
    encoded : EncodedWeights
        How keys are made of the words.
    rows : device buffer of uint32, optional
        The row of each slot, if an algorithm keeps it.
    edge_ids : device buffer of uint32, optional
        The caller's position of each slot's edge, if the device has brought edges into order.
    plans : dict
        What algorithms keep with the graph for the next solve, by algorithm and options: memory,
        and data that follows from the topology. Other weights of the same word width and kind can
        use it too.
    derived : dict
        The same, for data that follows from the weights.
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
        """Check that the memory is large enough; its contents are trusted."""
        check_kind("graph", self.graph, Graph)
        check_kind("device", self.device, Device)
        encoded: Any = self.encoded
        if not isinstance(encoded, EncodedWeights):
            raise InvalidArgumentError(f"encoded is {shown(encoded)}; encode() makes such")
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
        """Put `graph` on `device`; without a copy where the device shares the host's memory.

        Without `wait`, copies may still be running. Only the device's own queue waits for them by
        itself: a solve can be enqueued there at once.
        """
        check_kind("graph", graph, Graph)
        check_kind("device", device, Device)
        check_bool("wait", wait)
        return cls.of_keys(graph, encode(graph.weights), device, wait=wait)

    @classmethod
    def of_keys(
        cls, graph: Graph, encoded: EncodedWeights, device: Device, *, wait: bool
    ) -> DeviceGraph:
        """Put a graph on a device as :meth:`upload` does, the words of its weights at hand."""
        indptr, indices, weights = device.upload_all(
            graph.indptr, graph.indices, encoded.bits, wait=wait
        )
        return cls.unchecked(
            graph=graph, device=device, indptr=indptr, indices=indices, weights=weights,
            encoded=encoded,
        )  # fmt: skip

    @classmethod
    def unchecked(cls, **attributes: Any) -> DeviceGraph:
        """Return a graph of attributes that need no checks; those with defaults may be missing."""
        usual: dict[str, Any] = {"rows": None, "edge_ids": None, "plans": {}, "derived": {}}
        return unchecked(cls, **(usual | attributes))

    @classmethod
    def from_arrays(
        cls, indptr: Any, indices: Any, weights: Any, device: Any = None
    ) -> DeviceGraph:
        """Take the arrays of a CSR that are on a device already, without a copy.

        Parameters
        ----------
        indptr : DeviceArray or pyopencl.array.Array of int32 or uint32, shape (n + 1,)
        indices : the same, shape (n_slots,)
        weights : DeviceArray or pyopencl.array.Array of a supported dtype, shape (n_slots,)
        device : None, str, Device or pyopencl.CommandQueue
            In the context of the arrays; by default the device of `indptr`, or of its queue.

        Returns
        -------
        DeviceGraph
            Edge ids of its forests are slots. The memory is the caller's: while the graph is used,
            the arrays must stay as they are.

        Raises
        ------
        InvalidGraphError
            As :meth:`clmst.Graph.from_csr`; or the arrays need to be rearranged: rows must rise
            strictly, and the matrix be symmetric, or have nothing below its diagonal.
        InvalidArgumentError
            An array is not on the device.

        Notes
        -----
        The device checks the arrays, in O(n + n_slots). The host gets a copy of those with fewer
        than 2**14 slots, which it checks before a device has answered, of those that are
        refused, to say why, and where an algorithm needs it: for the other directions of an upper
        triangle.
        """
        from clmst.algorithms.csr_validation.device_arrays import graph_of

        return graph_of(indptr, indices, weights, device)

    def replace_unchecked(self, **changes: Any) -> DeviceGraph:
        """Return a copy with some attributes changed, which are not checked."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return unchecked(DeviceGraph, **(fields | changes))

    @property
    def caches(self) -> list[dict[Hashable, Any]]:
        """The caches to empty when a solve fails."""
        return [self.plans, self.derived]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self.graph.n_vertices

    @property
    def n_slots(self) -> int:
        """Number of stored slots."""
        return self.graph.n_slots

    @property
    def edge_bound(self) -> int:
        """An upper bound on the number of edges, known without looking at the slots."""
        return self.n_slots // 2 if self.graph.is_symmetric else self.n_slots

    @property
    def average_degree(self) -> float:
        """Slots a vertex, both directions counted."""
        return 2 * self.edge_bound / max(self.n_vertices, 1)

    def weight_defines(self, *, maximum: bool) -> dict[str, int]:
        """Return the macros that tell kernels how to read this graph's weights."""
        check_bool("maximum", maximum)
        bits = 8 * self.encoded.encoding.word.itemsize
        return weight_defines(bits, self.encoded.kind, maximum=maximum)


def weight_defines(bits: int, kind: WeightKind, *, maximum: bool) -> dict[str, int]:
    """Return the macros of ``cl/device/weight_key.cl``."""
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
    """Return the graph of a canonical CSR that a device has; nothing is checked."""
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
    """Return the graph of a canonical CSR that a device has; nothing is checked.

    Without an `encoding` the words of `weights` are the weights themselves. The `device` is that of
    `indptr`, or another one of the same context. Of the `attributes` of a :class:`Graph`, all have
    defaults.
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
