"""What callers give to a solver: checked, and brought to the device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from clmst.algorithms.repeated import Given, Rounds
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
class Ids:
    """The edges that a change names; those from the host are known to be some."""

    on_device: DeviceArray
    on_host: Array | None

    def name(self, place: int) -> int:
        """Return the edge named in a place."""
        named = self.on_device.to_host() if self.on_host is None else self.on_host
        return int(named[place])


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
        _check_count(array.dtype, (array.size,), rounds.edges.n_input)
        encoding = Encoding(dtype=array.dtype, stored=array.dtype)
        return Given(memory=array.memory, encoding=encoding, is_checked=False)
    values = as_weights(weights)
    _check_count(values.dtype, values.shape, rounds.edges.n_input)
    # What narrows 64-bit weights takes no NaN.
    is_checked = values.size < DEVICE_CHECKS_FROM or values.dtype.itemsize == 8
    if is_checked and (nan := first_nan(values)) is not None:
        raise nan_error(nan)
    encoded = encode(values)
    words = encoded.bits
    if keeps and rounds.works_in_place and np.may_share_memory(words, values):
        words = words.copy()
    return rounds.bring(words, encoded.encoding, queue, is_checked=is_checked)


def ids_of(edge_ids: Any, rounds: Rounds) -> Ids:
    """Return the edges that a change names, on the device."""
    n_edges = rounds.edges.n_input
    array = DeviceArray.in_context(edge_ids, rounds.device)
    if array is not None:
        if array.dtype not in (np.uint32, np.int32):
            raise InvalidArgumentError(
                f"edge_ids have dtype {array.dtype}; on the device they must be (u)int32"
            )
        return Ids(on_device=array.view(np.uint32), on_host=None)
    ids = np.asarray(edge_ids)
    if ids.size == 0:
        ids = ids.astype(np.uint32)  # an empty list has no dtype of its own
    if ids.ndim != 1 or ids.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"edge_ids are {ids.ndim}-dimensional of dtype {ids.dtype}; they must be "
            "one-dimensional of an integer dtype"
        )
    unknown = (ids < 0) | (ids >= n_edges)
    if unknown.any():
        place = int(np.argmax(unknown))
        raise unknown_error(int(ids[place]), place, n_edges)
    words = DeviceArray.from_host(ids.astype(np.uint32), rounds.device)
    return Ids(on_device=words, on_host=ids)


def words_of(weights: Any, ids: Ids, rounds: Rounds, launch: Launcher) -> DeviceArray:
    """Return new weights of some edges as words like the present ones, on the device."""
    assert rounds.present is not None
    dtype = rounds.present.encoding.dtype
    array = DeviceArray.in_context(weights, rounds.device)
    if array is None:
        values = as_weights(weights)
        _check_one_each(values.shape, ids)
        return _words_of_host(_in_dtype(values, dtype, ids), rounds, launch)
    _check_one_each((array.size,), ids)
    if array.dtype != dtype:
        raise InvalidArgumentError(
            f"weights have dtype {array.dtype} where the present ones have {dtype}; "
            "on the device they must be of the same"
        )
    return array.view(rounds.widen(launch).word)


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


def _check_count(dtype: np.dtype[Any], shape: tuple[int, ...], n_edges: int) -> None:
    """Raise unless there is one weight an edge, of a dtype that kernels know."""
    check_dtype(dtype)
    if shape != (n_edges,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {n_edges} edges; there must be one for each row of "
            "solver.edges"
        )


def _check_one_each(shape: tuple[int, ...], ids: Ids) -> None:
    if shape != (ids.on_device.size,):
        raise InvalidArgumentError(
            f"weights have shape {shape} for {ids.on_device.size} edge_ids; there must be one for "
            "each"
        )


def _words_of_host(values: Array, rounds: Rounds, launch: Launcher) -> DeviceArray:
    """Return weights as words like the present ones, which are widened if there is no room."""
    assert rounds.present is not None
    words = rounds.present.encoding.encode(values)
    if words is None:
        words = rounds.widen(launch).encode(values)
    assert words is not None, "wide words hold all weights"
    return DeviceArray.from_host(words, rounds.device)


def _in_dtype(values: Array, dtype: np.dtype[Any], ids: Ids) -> Array:
    """Return weights in another dtype, or raise if that would change one."""
    if (nan := first_nan(values)) is not None:
        raise nan_error(ids.name(nan))
    converted, changed = convert(values, dtype)
    if changed is not None:
        raise InvalidArgumentError(
            f"weights[{changed}] is {values[changed]}, which {dtype}, the dtype of the present "
            "weights, does not hold exactly; solve() takes all weights in another one"
        )
    return converted
