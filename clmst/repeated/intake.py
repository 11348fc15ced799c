"""What callers give to a solver: checked, and brought to the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.reweighting.repeated import Given, Rounds
from clmst.core.arguments import as_array
from clmst.core.errors import InvalidArgumentError, InvalidGraphError
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
from clmst.runtime.launcher import Launcher

# Host arrays of fewer weights are looked through for NaN by the host, before the device has them.
DEVICE_CHECKS_FROM = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """New weights of some edges, on the device.

    Attributes
    ----------
    ids : DeviceArray of uint32, shape (k,)
    words : DeviceArray of words like the present ones, shape (k,)
    ids_on_host : ndarray of int, shape (k,), or None
        The edges as they were given, if from the host.
    is_checked : bool
        Whether all of these are edges, and no weight is NaN.
    """

    ids: DeviceArray
    words: DeviceArray
    ids_on_host: Array | None
    is_checked: bool

    def edge_in(self, place: int) -> int:
        """Return the edge that is named in a place."""
        return _edge_in(place, self.ids, self.ids_on_host)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostWords:
    """Weights by edge, on the host, as words for devices.

    Attributes
    ----------
    words : ndarray of `encoding.word`, shape (n_edges,)
    encoding : Encoding
    is_checked : bool
        Whether none of them is known to be NaN.
    is_callers : bool
        Whether they are in the caller's own array, which may change.
    """

    words: Array
    encoding: Encoding
    is_checked: bool
    is_callers: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HostChange:
    """New weights of some edges, on the host, checked but for the present dtype.

    Attributes
    ----------
    ids : ndarray of int, shape (k,)
    values : ndarray of any supported dtype, shape (k,)
    """

    ids: Array
    values: Array

    @classmethod
    def of(cls, edge_ids: Any, weights: Any, n_edges: int) -> HostChange:
        """Check edges and weights that are on the host."""
        ids, values = _host_ids(edge_ids, n_edges), as_weights(weights)
        _check_one_each(values.shape, ids.size)
        if (nan := first_nan(values)) is not None:
            raise nan_error(int(ids[nan]))
        return cls(ids=ids, values=values)

    def converted(self, dtype: np.dtype[Any]) -> Array:
        """Return the weights in the dtype of the present ones, or raise if that is not exact."""
        return _converted(self.values, dtype)


def give(weights: Any, rounds: Rounds, queue: Any, *, keeps: bool = False) -> Given:
    """Check weights by edge, and let the device have them.

    Parameters
    ----------
    weights : array, DeviceArray or pyopencl.array.Array
    rounds : Rounds
    queue : pyopencl.CommandQueue
        What an upload goes to.
    keeps : bool
        Whether a host array may change before the solve is done.
    """
    array = DeviceArray.in_context(weights, rounds.device)
    if array is not None:
        check_count(array.dtype, (array.size,), rounds.edges.n_input)
        encoding = Encoding(dtype=array.dtype, stored=array.dtype)
        return Given(memory=array.memory, encoding=encoding, is_checked=False)
    found = words_of_host(weights, rounds.edges.n_input, keeps=keeps and rounds.works_in_place)
    return rounds.bring(found.words, found.encoding, queue, is_checked=found.is_checked)


def words_of_host(weights: Any, n_edges: int, *, keeps: bool) -> HostWords:
    """Check weights by edge that are on the host, and encode them.

    Parameters
    ----------
    weights : array
    n_edges : int
        How many there must be.
    keeps : bool
        Whether the caller's array may change before the words are done with.
    """
    values = as_weights(weights)
    check_count(values.dtype, values.shape, n_edges)
    # What narrows 64-bit weights takes no NaN.
    is_checked = values.size < DEVICE_CHECKS_FROM or values.dtype.itemsize == 8
    if is_checked and (nan := first_nan(values)) is not None:
        raise nan_error(nan)
    encoded = encode(values)
    words = encoded.bits
    is_callers = bool(np.may_share_memory(words, values))
    if keeps and is_callers:
        words, is_callers = words.copy(), False
    return HostWords(
        words=words, encoding=encoded.encoding, is_checked=is_checked, is_callers=is_callers
    )


def change_of(edge_ids: Any, weights: Any, rounds: Rounds, launch: Launcher) -> Change:
    """Check new weights of some edges, and let the device have them.

    What is on the host is checked here; what is on the device, when the change is made.

    Parameters
    ----------
    edge_ids : array of int, DeviceArray or pyopencl.array.Array of (u)int32
    weights : array, DeviceArray or pyopencl.array.Array
    rounds : Rounds
        With present weights.
    launch : Launcher
    """
    ids, on_host = _ids(edge_ids, rounds)
    array = DeviceArray.in_context(weights, rounds.device)
    if array is None:
        values = as_weights(weights)
        _check_one_each(values.shape, ids.size)
        if (nan := first_nan(values)) is not None:
            raise nan_error(_edge_in(nan, ids, on_host))
        words = _words_of_host(values, rounds, launch)
    else:
        _check_one_each((array.size,), ids.size)
        words = _words_of_device(array, rounds, launch)
    is_checked = on_host is not None and array is None
    return Change(ids=ids, words=words, ids_on_host=on_host, is_checked=is_checked)


def check_ids_dtype(ids: DeviceArray) -> None:
    """Raise unless edges on a device are integers of 32 bits."""
    if ids.dtype not in (np.uint32, np.int32):
        raise InvalidArgumentError(
            f"edge_ids have dtype {ids.dtype}; on the device they must be (u)int32"
        )


def check_present_dtype(array: DeviceArray, dtype: np.dtype[Any]) -> None:
    """Raise unless new weights on a device are of the dtype of the present ones."""
    if array.dtype != dtype:
        raise InvalidArgumentError(
            f"weights have dtype {array.dtype} where the present ones have {dtype}; "
            "on the device they must be of the same"
        )


def nan_error(edge: int) -> InvalidGraphError:
    """Return the error that says which weight is NaN."""
    return InvalidGraphError(
        f"the weight of edge {edge} is NaN; weights must be ordered, "
        "and infinities are the only special values allowed"
    )


def unknown_error(edge: int, place: int, n_edges: int) -> InvalidArgumentError:
    """Return the error that says which edge there is not."""
    return InvalidArgumentError(
        f"edge_ids[{place}] is {edge} where there are {n_edges} edges; "
        f"edge ids are rows of solver.edges, so they must be from 0 to below {n_edges}"
    )


def check_count(dtype: np.dtype[Any], shape: tuple[int, ...], n_edges: int) -> None:
    """Raise unless there is one weight an edge, of a dtype that kernels know."""
    check_dtype(dtype)
    if not dtype.isnative:
        raise InvalidGraphError(
            f"weights on the device have dtype {dtype}; they must be in native byte order"
        )
    if shape != (n_edges,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {n_edges} edges; there must be one for each row of "
            "solver.edges"
        )


def _check_one_each(shape: tuple[int, ...], n_ids: int) -> None:
    if shape != (n_ids,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {n_ids} edge_ids; there must be one for each"
        )


def _edge_in(place: int, ids: DeviceArray, on_host: Array | None) -> int:
    """Return the edge that is named in a place."""
    return int((ids.to_host() if on_host is None else on_host)[place])


def _ids(edge_ids: Any, rounds: Rounds) -> tuple[DeviceArray, Array | None]:
    """Return edges on the device, and on the host if they are from there."""
    array, n_edges = DeviceArray.in_context(edge_ids, rounds.device), rounds.edges.n_input
    if array is not None:
        check_ids_dtype(array)
        return array.view(np.uint32), None
    ids = _host_ids(edge_ids, n_edges)
    return DeviceArray.from_host(ids.astype(np.uint32), rounds.device), ids


def _host_ids(edge_ids: Any, n_edges: int) -> Array:
    """Return edges that are on the host as an array, or raise if there is not one of them."""
    ids = as_array("edge_ids", edge_ids)
    if ids.size == 0:
        ids = np.zeros(ids.shape, np.uint32)  # an empty list has no dtype of its own
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"edge_ids are {ids.ndim}-dimensional of dtype {ids.dtype}; they must be "
            "one-dimensional of an integer dtype"
        )
    if ids.size and (ids.min() < 0 or ids.max() >= n_edges):
        place = int(np.argmax((ids < 0) | (ids >= n_edges)))
        raise unknown_error(int(ids[place]), place, n_edges)
    return ids


def _converted(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return weights in the dtype of the present ones, or raise if that is not exact."""
    converted, changed = convert(values, dtype)
    if changed is not None:
        raise InvalidArgumentError(
            f"weights[{changed}] is {values[changed]}, which {dtype}, the dtype of the "
            "present weights, does not hold exactly; solve() takes all weights in another one"
        )
    return converted


def _words_of_host(values: Array, rounds: Rounds, launch: Launcher) -> DeviceArray:
    """Return weights as words like the present ones, which are widened if there is no room."""
    assert rounds.present is not None
    encoding = rounds.present.encoding
    converted = _converted(values, encoding.dtype)
    words = encoding.encode(converted)
    if words is None:
        words = rounds.widen(launch).encode(converted)
    assert words is not None, "wide words hold all weights"
    return DeviceArray.from_host(words, rounds.device)


def _words_of_device(array: DeviceArray, rounds: Rounds, launch: Launcher) -> DeviceArray:
    """Return weights of the present dtype as words."""
    assert rounds.present is not None
    dtype = rounds.present.encoding.dtype
    check_present_dtype(array, dtype)
    return array.view(rounds.widen(launch).word)
