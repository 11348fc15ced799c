"""Weights on their way to devices: all of a round, or new ones of some edges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from clmst import route
from clmst.algorithms.reweighting.repeated import DeviceWeights, ReweightedGraph
from clmst.core import weight_keys
from clmst.core.arguments import as_array, check_row, has
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
from clmst.core.graph import Graph
from clmst.core.topology import named_ends
from clmst.core.weight_keys import (
    Array,
    Encoding,
    as_weights,
    check_dtype,
    convert,
    encode,
    first_nan,
)
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device
from clmst.runtime.handles import Queue
from clmst.runtime.launcher import Launcher


@dataclass(slots=True, kw_only=True)
class StagedWeights:
    """Weights by edge, on the host, on one device, or uploaded to several."""

    encoding: Encoding
    words: Array  # on the host; if there is an `array`, only the ranges that other devices take
    is_checked: bool  # whether it is known that none is NaN
    array: DeviceArray | None = None  # the weights, if they are on a device
    # The kernel arguments, by the number of a part of the graph.
    parts: dict[int, DeviceWeights] = field(default_factory=dict)

    @property
    def is_on_device(self) -> bool:
        """Whether they are in a caller's buffer."""
        return self.array is not None

    def upload(self, graph: ReweightedGraph, queue: Queue) -> DeviceWeights:
        """Upload the range of a part of the graph; no copy if it is on its device already."""
        first, last = graph.span
        array = self.array
        if array is not None and array.device is graph.device:
            part = array if last - first == array.size else array[first:last]
            return DeviceWeights(memory=part.memory, encoding=self.encoding, is_checked=False)
        words = self.words[first:last]
        return graph.bring(words, self.encoding, queue, is_checked=self.is_checked)


def bring(staged: StagedWeights, graphs: Sequence[ReweightedGraph], queue: Queue) -> None:
    """Upload the weights of a device's parts that are not there yet; equal ranges once."""
    parts = staged.parts
    found = {one.span: parts[one.number] for one in graphs if one.number in parts}
    for one in graphs:
        if one.span not in found:
            found[one.span] = staged.upload(one, queue)
        parts[one.number] = found[one.span]


def stage(weights: Any, edges: Graph, devices: Sequence[Device], *, keeps: bool) -> StagedWeights:
    """Check weights by edge, and encode those that are on the host.

    `keeps`: whether a host array may change before the end of the solve on these devices.
    """
    array = device_array(weights, devices)
    if array is not None:
        encoding, nothing = _of_device(array.dtype)
        _check_count((array.size,), edges.n_input)
        return StagedWeights(encoding=encoding, words=nothing, is_checked=False, array=array)
    if has(weights, "tocsr"):
        raise InvalidArgumentError(
            "weights are a sparse matrix; they must be an array, which solver.weights_of(matrix) "
            "makes"
        )
    values = as_weights(weights)
    _check_dtype(values.dtype)
    _check_count(values.shape, edges.n_input)
    # What narrows 64-bit weights takes no NaN.
    is_checked = route.checks_on_host(values.size) or values.dtype.itemsize == 8
    if is_checked and (nan := first_nan(values)) is not None:
        raise nan_error(nan, edges)
    encoded = encode(values)
    words = encoded.bits
    is_callers = bool(np.may_share_memory(words, values))
    if is_callers and keeps and any(d.capabilities.host_arrays != "copied" for d in devices):
        words = words.copy()
    return StagedWeights(encoding=encoded.encoding, words=words, is_checked=is_checked)


def device_array(values: Any, devices: Sequence[Device]) -> DeviceArray | None:
    """Return an array of one of the devices, None for a host array; raise for another context's."""
    for device in devices:
        try:
            array = DeviceArray.in_context(values, device)
        except InvalidArgumentError:
            if device is devices[-1]:
                raise
            continue
        if array is None or array.device is device:
            return array
        # A view for this device: a context may have several.
        return DeviceArray(
            device=device, dtype=array.dtype, size=array.size, memory=array.memory,
            base=array.base, offset=array.offset,
        )  # fmt: skip
    return None


def closed_error() -> InvalidArgumentError:
    """Return the error for a call on a closed solver."""
    return InvalidArgumentError("the solver is closed; make another one to solve again")


def nan_error(edge: int, edges: Graph) -> InvalidGraphError:
    """Return the error that names a NaN weight, and the ends of its edge if those have names."""
    return weight_keys.nan_error(f"edge {edge}{named_ends(edges, edge)}")


@cache
def _of_device(dtype: np.dtype[Any]) -> tuple[Encoding, Array]:
    """Return the encoding of weights of a dtype on a device, and no words: of all rounds alike."""
    _check_dtype(dtype)
    encoding = Encoding(dtype=dtype, stored=dtype)
    return encoding, np.empty(0, encoding.word)


def _check_dtype(dtype: np.dtype[Any]) -> None:
    check_dtype(dtype)
    if not dtype.isnative:
        raise InvalidGraphError(
            f"weights on the device have dtype {dtype}; they must be in native byte order"
        )


def _check_count(shape: tuple[int, ...], n_edges: int) -> None:
    if shape != (n_edges,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {n_edges} edges; there must be one for each row of "
            "solver.edges"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """New weights of some edges; each of the two arrays is on the host or on a device."""

    ids: Array | DeviceArray
    values: Array | DeviceArray

    @classmethod
    def of(
        cls, edge_ids: Any, weights: Any, edges: Graph, *,
        dtype: np.dtype[Any], devices: Sequence[Device],
    ) -> Changes:  # fmt: skip
        """Check edges and weights: those on the host here, those on a device during the change.

        The present weights have the `dtype`; one of the devices may have the arrays.
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

    def encoded(self, encoding: Encoding, widen: Callable[[], Encoding]) -> tuple[Array, Encoding]:
        """Return words of host weights, and the present encoding, which may have to get wider."""
        converted = self.converted(encoding.dtype)
        words = encoding.encode(converted)
        if words is None:
            encoding = widen()
            words = encoding.encode(converted)
        assert words is not None, "wide words hold all weights"
        return words, encoding

    def upload(self, rounds: ReweightedGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray]:
        """Return edges and words on the device; present words are widened if too narrow."""
        assert rounds.present is not None
        ids, widen = self.ids, partial(rounds.widen, launch)
        if isinstance(ids, np.ndarray):
            ids = DeviceArray.from_host(ids.astype(np.uint32), rounds.device)
        if not isinstance(self.values, np.ndarray):
            return ids, self.values.view(widen().word)
        words, _ = self.encoded(rounds.present.encoding, widen)
        return ids, DeviceArray.from_host(words, rounds.device)


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
    check_row("edge_ids", ids, error=InvalidArgumentError)
    if ids.size and (ids.min() < 0 or ids.max() >= n_edges):
        index = int(np.argmax((ids < 0) | (ids >= n_edges)))
        raise unknown_error(int(ids[index]), index, n_edges)
    return ids
