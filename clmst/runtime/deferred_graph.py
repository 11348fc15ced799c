"""A graph of which the host knows the sizes; a device has its arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, Encoding, KeyedWeights
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.device_graph import DeviceGraph

_WORD = np.dtype(np.uint32)


class DeferredGraph(Graph):
    """A graph whose arrays are on a device; each is copied when the host first reads it."""

    _on_device: dict[str, DeviceArray]

    @classmethod
    def of(
        cls, indptr: DeviceArray, indices: DeviceArray, weights: DeviceArray, *, is_symmetric: bool
    ) -> DeferredGraph:
        """Return the graph of a canonical CSR; nothing is checked."""
        graph = object.__new__(cls)
        vars(graph).update(
            _on_device={"indptr": indptr, "indices": indices, "weights": weights},
            is_symmetric=is_symmetric,
            edge_ids=None,
            n_input=indices.size,
            vertex_labels=None,
            coordinates=None,
        )
        return graph

    def __getattr__(self, name: str) -> Any:
        """Read an array that has not been read before."""
        if name not in ("indptr", "indices", "weights"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        values: Array = self._on_device[name].to_host()
        vars(self)[name] = values if name == "weights" else values.view(_WORD)
        return vars(self)[name]

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return self._on_device["indptr"].size - 1

    @property
    def n_slots(self) -> int:
        """Number of stored slots: both directions and self-loops included."""
        return self._on_device["indices"].size

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """Of the weights."""
        return self._on_device["weights"].dtype

    @property
    def weights_at_hand(self) -> bool:
        """Whether the host has the weights."""
        return "weights" in vars(self)

    def replace_unchecked(self, **changes: Any) -> Graph:
        """Return a copy with some attributes changed; what is not on the host stays so."""
        graph = object.__new__(type(self))
        vars(graph).update(vars(self) | changes)
        return graph

    def __reduce__(self) -> Any:
        """Pickle as a graph of the host."""
        return _restored, ({name: getattr(self, name) for name in self.__dataclass_fields__},)


def _restored(attributes: dict[str, Any]) -> Graph:
    return Graph.unchecked(**attributes)


class WordsOnDevice(KeyedWeights):
    """The weights of such a graph: by default its words are the weights themselves."""

    __slots__ = ("_array", "encoding")

    def __init__(self, array: DeviceArray, encoding: Encoding | None = None) -> None:
        self._array = array
        self.encoding = encoding or Encoding(dtype=array.dtype, stored=array.dtype)

    def words(self, at: Array | None = None) -> Array:
        """Return the words of some slots, or of all; copies all."""
        words: Array = self._array.to_host().view(self.encoding.word)
        return words if at is None else words[at]


def graph_on_device(
    indptr: DeviceArray,
    indices: DeviceArray,
    weights: DeviceArray,
    *,
    is_symmetric: bool,
    encoding: Encoding | None = None,
    device: Device | None = None,
) -> DeviceGraph:
    """Return the graph of a canonical CSR that a device has; nothing is checked.

    Without an `encoding` the words of `weights` are the weights themselves. The `device` is that of
    `indptr`, or another one of the same context.
    """
    return DeviceGraph(
        graph=DeferredGraph.of(indptr, indices, weights, is_symmetric=is_symmetric),
        device=device or indptr.device,
        indptr=indptr.memory,
        indices=indices.memory,
        weights=weights.memory,
        encoded=WordsOnDevice(weights, encoding),
    )
