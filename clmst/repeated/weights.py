"""Weights that are uploaded to devices: all weights of a solve, or new weights of some edges."""

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
    """The checked weights of one solve, one per edge, on the host or on a device.

    A device stores weights as words, which are unsigned integers. `encoding` says how weights are
    converted to words.
    """

    encoding: Encoding
    words: Array  # words on the host; if `array` is given, only what other devices need of them
    is_checked: bool  # True if none of the weights is NaN; False if that is not known yet
    array: DeviceArray | None = None  # the caller's array, if the weights are on a device
    # The uploaded weights of each part of the graph, by the number of the part.
    parts: dict[int, DeviceWeights] = field(default_factory=dict)

    @property
    def is_on_device(self) -> bool:
        """Whether the weights are in a buffer of the caller on a device."""
        return self.array is not None

    def upload(self, graph: ReweightedGraph, queue: Queue) -> DeviceWeights:
        """Enqueue, in `queue`, the upload of the weights that one device needs for its edges.

        `graph` has the device and its part of the edges. Weights that are on the device already are
        not copied.
        """
        first, last = graph.span
        array = self.array
        if array is not None and array.device is graph.device:
            part = array if last - first == array.size else array[first:last]
            return DeviceWeights(memory=part.memory, encoding=self.encoding, is_checked=False)
        words = self.words[first:last]
        return graph.bring(words, self.encoding, queue, is_checked=self.is_checked)


def bring(staged: StagedWeights, graphs: Sequence[ReweightedGraph], queue: Queue) -> None:
    """Enqueue, in `queue`, the upload of those weights in `staged` that a device still lacks.

    `graphs` are the parts of the graph on this device. Parts that need the same range of weights
    share one upload.
    """
    parts = staged.parts
    found = {one.span: parts[one.number] for one in graphs if one.number in parts}
    for one in graphs:
        if one.span not in found:
            found[one.span] = staged.upload(one, queue)
        parts[one.number] = found[one.span]


def stage(
    weights: Any, edges: Graph, devices: Sequence[Device], *, keeps: bool, as_given: bool = False
) -> StagedWeights:
    """Check the weights for one solve, one per edge, and encode weights that are on the host.

    `keeps` is True if the caller may change an array on the host before the solve has ended. The
    array is then copied, unless every device copies it anyway. If `as_given` is True, weights of 64
    bits are not converted to 32 bits, and kernels check the weights for NaN.

    Raises InvalidArgumentError if there is not one weight per edge, or if an array is on another
    OpenCL context. Raises InvalidGraphError if the dtype is not supported, or if this function
    finds a NaN. Long arrays of weights are not checked for NaN here, but by kernels, unless their
    weights of 64 bits are all converted to 32 bits, which no NaN is.
    """
    is_plain = type(weights) is np.ndarray  # any other object may be an array on a device
    array = None if is_plain else device_array(weights, devices)
    if array is not None:
        encoding, nothing = _of_device(array.dtype)
        _check_count((array.size,), edges.n_input)
        return StagedWeights(encoding=encoding, words=nothing, is_checked=False, array=array)
    if not is_plain and has(weights, "tocsr"):
        raise InvalidArgumentError(
            "weights are a sparse matrix; they must be an array, which solver.weights_of(matrix) "
            "makes"
        )
    values = as_weights(weights)
    _check_dtype(values.dtype)
    _check_count(values.shape, edges.n_input)
    # Kernels do not read the weights of self-loops and of edges that were merged into others. If
    # kernels alone check short arrays and there are such edges, all weights are checked here.
    has_others = edges.n_slots < edges.n_input
    is_checked = has_others if as_given else route.checks_on_host(values.size)
    if is_checked and (nan := first_nan(values)) is not None:
        raise nan_error(nan, edges)
    if as_given:
        encoding = Encoding(dtype=values.dtype, stored=values.dtype)
        words = np.ascontiguousarray(values).view(encoding.word)
    else:
        encoded = encode(values)
        words, encoding = encoded.bits, encoded.encoding
        is_checked |= encoding.stored != values.dtype  # no NaN is narrowed
    is_callers = bool(np.may_share_memory(words, values))
    if is_callers and keeps and any(d.capabilities.host_arrays != "copied" for d in devices):
        words = words.copy()
    return StagedWeights(encoding=encoding, words=words, is_checked=is_checked)


def device_array(values: Any, devices: Sequence[Device]) -> DeviceArray | None:
    """Return `values` as a DeviceArray of one of `devices`, or None if it is not on a device.

    Raises InvalidArgumentError if `values` is in another OpenCL context.
    """
    for device in devices:
        try:
            array = DeviceArray.in_context(values, device)
        except InvalidArgumentError:
            if device is devices[-1]:
                raise
            continue
        if array is None or array.device is device:
            return array
        # An OpenCL context may have several devices, which can use the same buffer. The returned
        # array has the caller's memory, but belongs to a device in `devices`.
        return DeviceArray(
            device=device, dtype=array.dtype, size=array.size, memory=array.memory,
            base=array.base, offset=array.offset,
        )  # fmt: skip
    return None


def closed_error() -> InvalidArgumentError:
    """Return the error for a call on a closed solver."""
    return InvalidArgumentError("the solver is closed; make another one to solve again")


def nan_error(edge: int, edges: Graph) -> InvalidGraphError:
    """Return the error for a weight that is NaN.

    The message names the edge, and the ends of the edge if vertices have labels.
    """
    return weight_keys.nan_error(f"edge {edge}{named_ends(edges, edge)}")


@cache
def _of_device(dtype: np.dtype[Any]) -> tuple[Encoding, Array]:
    """Return the encoding of weights of a dtype that are on a device already.

    The second result is the array of the weights' words on the host. (Words are the unsigned
    integers as which a device stores weights.) It is empty, because weights on a device are used
    without a change. The pair is cached by dtype, because every solve with weights of the dtype
    needs it. Raises InvalidGraphError if the dtype is not supported.
    """
    _check_dtype(dtype)
    encoding = Encoding(dtype=dtype, stored=dtype)
    return encoding, np.empty(0, encoding.word)


def _check_dtype(dtype: np.dtype[Any]) -> None:
    """Raise InvalidGraphError unless kernels support weights of this dtype."""
    check_dtype(dtype)
    if not dtype.isnative:
        raise InvalidGraphError(
            f"weights on the device have dtype {dtype}; they must be in native byte order"
        )


def _check_count(shape: tuple[int, ...], n_edges: int) -> None:
    """Raise InvalidArgumentError unless an array of this shape has one weight per edge."""
    if shape != (n_edges,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {n_edges} edges; there must be one for each row of "
            "solver.edges"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """New weights of some edges.

    `ids` are edge ids, which are indices into the solver's list of edges, and `values` are the new
    weights of these edges. Each of the two arrays is on the host or on a device.
    """

    ids: Array | DeviceArray
    values: Array | DeviceArray

    @classmethod
    def of(
        cls, edge_ids: Any, weights: Any, edges: Graph, *,
        dtype: np.dtype[Any], devices: Sequence[Device],
    ) -> Changes:  # fmt: skip
        """Check new weights of the edges `edge_ids`, and return ids and weights as Changes.

        Arrays on the host are checked here. The contents of arrays on one of `devices` are checked
        later, by the kernels that change the weights. `dtype` is the dtype of the current weights.

        Raises InvalidArgumentError if an edge id is out of range, if there is not one weight per
        edge id, or if an array on a device has the wrong dtype. Raises InvalidGraphError if a
        weight is NaN.
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
        """Whether all ids and weights have been checked, which is so if both are on the host."""
        return isinstance(self.ids, np.ndarray) and isinstance(self.values, np.ndarray)

    def edge_at(self, index: int) -> int:
        """Return the edge id at `index` of the ids.

        If the ids are on a device, blocks until they are copied to the host.
        """
        return int((self.ids if isinstance(self.ids, np.ndarray) else self.ids.to_host())[index])

    def converted(self, dtype: np.dtype[Any]) -> Array:
        """Convert the new weights to `dtype`, the dtype of the current weights.

        The new weights must be on the host. Raises InvalidArgumentError if a weight would change by
        the conversion.
        """
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
        """Convert the new weights to words, the unsigned integers that a device stores.

        The new weights must be on the host. `encoding` says how the current weights are converted.
        Weights of 64 bits may have become words of 32 bits, which cannot represent every weight. If
        they cannot represent one of the new weights, `widen` is called. It converts the current
        words to 64 bits, and returns their new encoding. Returns the words of the new weights, and
        the encoding of these words.
        """
        converted = self.converted(encoding.dtype)
        words = encoding.encode(converted)
        if words is None:
            encoding = widen()
            words = encoding.encode(converted)
        assert words is not None, "wide words hold all weights"
        return words, encoding

    def upload(self, rounds: ReweightedGraph, launch: Launcher) -> tuple[DeviceArray, DeviceArray]:
        """Upload the edge ids, and the words of the new weights, to the device of `rounds`.

        Words are the unsigned integers as which the device stores weights. If its current words
        have 32 bits and cannot represent a new weight, they are first converted to 64 bits.
        """
        assert rounds.present is not None
        ids, widen = self.ids, partial(rounds.widen, launch)
        if isinstance(ids, np.ndarray):
            ids = _in_place(ids.astype(np.uint32, copy=False), rounds.device)
        if not isinstance(self.values, np.ndarray):
            return ids, self.values.view(widen().word)
        words, _ = self.encoded(rounds.present.encoding, widen)
        return ids, _in_place(words, rounds.device)


def _in_place(array: Array, device: Device) -> DeviceArray:
    """Return an array on the device with the values of `array`, which is on the host.

    If the device shares the memory of the host, the values are not copied.
    """
    array = np.ascontiguousarray(array)
    return DeviceArray.unchecked(array.size, array.dtype, device, device.upload(array))


def unknown_error(edge: int, index: int, n_edges: int) -> InvalidArgumentError:
    """Return the error for `edge`, the id at `index` of the edge ids, which is out of range."""
    return InvalidArgumentError(
        f"edge_ids[{index}] is {edge} where there are {n_edges} edges; "
        f"edge ids are rows of solver.edges, so they must be from 0 to below {n_edges}"
    )


def _host_ids(edge_ids: Any, n_edges: int) -> Array:
    """Convert edge ids on the host to an array.

    Raises InvalidArgumentError if an id is not from 0 to below `n_edges`.
    """
    ids = as_array("edge_ids", edge_ids)
    if ids.size == 0:
        ids = np.zeros(ids.shape, np.uint32)  # as_array makes an empty list float64
    check_row("edge_ids", ids, error=InvalidArgumentError)
    if ids.size and (ids.min() < 0 or ids.max() >= n_edges):
        index = int(np.argmax((ids < 0) | (ids >= n_edges)))
        raise unknown_error(int(ids[index]), index, n_edges)
    return ids
