"""New weights of some edges, as `update` takes them: checked, and uploaded to a device."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.reweighting.repeated import ReweightedGraph
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidArgumentError
from clmst.core.graph import Graph
from clmst.core.weight_keys import Array, as_weights, convert, first_nan
from clmst.repeated.staged import device_array, nan_error
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """New weights of some edges; each of the two arrays is on the host or on a device.

    Attributes
    ----------
    ids : ndarray of int, or DeviceArray of uint32, shape (k,)
    values : ndarray or DeviceArray, shape (k,)
    """

    ids: Array | DeviceArray
    values: Array | DeviceArray

    @classmethod
    def of(
        cls, edge_ids: Any, weights: Any, edges: Graph, *,
        dtype: np.dtype[Any], devices: Sequence[Device],
    ) -> Changes:  # fmt: skip
        """Check edges and weights: those on the host here, those on a device during the change.

        Parameters
        ----------
        edge_ids : array of int, DeviceArray or pyopencl.array.Array of (u)int32
        weights : array, DeviceArray or pyopencl.array.Array
        edges : Graph
            As of :func:`clmst.core.topology.edges_once`.
        dtype : numpy.dtype
            Of the present weights.
        devices : sequence of Device
            The devices that may have the arrays.
        """
        ids = device_array(edge_ids, devices)
        if ids is not None and ids.dtype not in (np.uint32, np.int32):
            raise InvalidArgumentError(
                f"edge_ids have dtype {ids.dtype}; on the device they must be (u)int32"
            )
        found = _host_ids(edge_ids, edges.n_input) if ids is None else ids.view(np.uint32)
        array = device_array(weights, devices)
        values = as_weights(weights) if array is None else array
        shape = values.shape if isinstance(values, np.ndarray) else (values.size,)
        if shape != (found.size,):
            raise InvalidArgumentError(
                f"weights have shape {shape} for {found.size} edge_ids; there must be one for each"
            )
        changes = cls(ids=found, values=values)
        if isinstance(values, np.ndarray):
            if (nan := first_nan(values)) is not None:
                raise nan_error(changes.edge_at(nan), edges)
        elif values.dtype != dtype:
            raise InvalidArgumentError(
                f"weights have dtype {values.dtype} where the present ones have {dtype}; "
                "on the device they must be of the same"
            )
        return changes

    @property
    def is_checked(self) -> bool:
        """Whether all of these are edges, and no weight is NaN."""
        return isinstance(self.ids, np.ndarray) and isinstance(self.values, np.ndarray)

    def edge_at(self, index: int) -> int:
        """Return the edge at an index; reads it if it is on a device."""
        return int((self.ids if isinstance(self.ids, np.ndarray) else self.ids.to_host())[index])

    def converted(self, dtype: np.dtype[Any]) -> Array:
        """Return host weights in the dtype of the present ones, or raise if inexact."""
        values = self.values
        assert isinstance(values, np.ndarray)
        converted, changed = convert(values, dtype)
        if changed is not None:
            raise InvalidArgumentError(
                f"weights[{changed}] is {values[changed]}, which {dtype}, the dtype of the "
                "present weights, does not hold exactly; solve() takes all weights in another one"
            )
        return converted

    def upload(self, rounds: ReweightedGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray]:
        """Return edges and words on the device; present words are widened if they are too narrow.

        Parameters
        ----------
        rounds : ReweightedGraph
            With present weights.
        launch : Launcher
        """
        assert rounds.present is not None
        ids, device, encoding = self.ids, rounds.device, rounds.present.encoding
        if isinstance(ids, np.ndarray):
            ids = DeviceArray.from_host(ids.astype(np.uint32), device)
        if not isinstance(self.values, np.ndarray):
            return ids, self.values.view(rounds.widen(launch).word)
        converted = self.converted(encoding.dtype)
        words = encoding.encode(converted)
        if words is None:
            words = rounds.widen(launch).encode(converted)
        assert words is not None, "wide words hold all weights"
        return ids, DeviceArray.from_host(words, device)


def unknown_error(edge: int, index: int, n_edges: int) -> InvalidArgumentError:
    """Return the error that names an edge id out of range."""
    return InvalidArgumentError(
        f"edge_ids[{index}] is {edge} where there are {n_edges} edges; "
        f"edge ids are rows of solver.edges, so they must be from 0 to below {n_edges}"
    )


def _host_ids(edge_ids: Any, n_edges: int) -> Array:
    """Return edge ids of the host as an array, or raise if one is out of range."""
    ids = as_array("edge_ids", edge_ids)
    if ids.size == 0:
        ids = np.zeros(ids.shape, np.uint32)  # an empty list has no dtype of its own
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"edge_ids are {ids.ndim}-dimensional of dtype {ids.dtype}; they must be "
            "one-dimensional of an integer dtype"
        )
    if ids.size and (ids.min() < 0 or ids.max() >= n_edges):
        index = int(np.argmax((ids < 0) | (ids >= n_edges)))
        raise unknown_error(int(ids[index]), index, n_edges)
    return ids
