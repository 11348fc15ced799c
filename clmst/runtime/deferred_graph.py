"""A graph of which the host knows the sizes; a device has its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.canonical import index_dtype
from clmst.core.deferred_graph import DeferredGraph
from clmst.core.weight_keys import Array, EncodedWeights, Encoding
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph

_WORD = np.dtype(np.uint32)


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
