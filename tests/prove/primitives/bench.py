"""Arrays of a case on its device: placed anywhere in a larger one, of which nothing may change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np

from clmst import Device, DeviceArray
from clmst.core.weight_keys import Array
from tests.prove.draws import Draws

_MOST_BEHIND = 70  # bytes behind an array that are not its own


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Memory for an output, with bytes before and behind it that are not its own."""

    array: DeviceArray  # what a primitive is given
    whole: DeviceArray  # all of the memory, as bytes
    before: Array  # its contents beforehand
    begin: int  # the first byte of the array

    def wrong(self, name: str, expected: Array) -> str | None:
        """Return the first difference from `expected`, or a changed byte outside it, or None.

        Parameters
        ----------
        name : str
            Of the output, in the answer.
        expected : ndarray
            The first elements of the array.
        """
        right = self.before.copy()
        right[self.begin : self.begin + expected.nbytes] = bytes_of(expected)
        found = self.whole.to_host()
        places = np.flatnonzero(found != right)
        if not places.size:
            return None
        place = int(places[0]) - self.begin
        item = self.array.dtype.itemsize
        if not 0 <= place < expected.nbytes:
            return f"{name}: byte {place} of {self.array.nbytes} was written, which must not be"
        k = place // item
        values = (one[self.begin + k * item :][:item].tobytes().hex() for one in (found, right))
        has, must = values
        return f"{name}[{k}] of {expected.size} has bytes {has}; they must be {must}"


class Bench:
    """Where the arrays of a case are put, as its draws say."""

    def __init__(
        self, device: Device, draws: Draws, length: int, *, has_views: bool = True
    ) -> None:
        self.device, self.draws, self.length = device, draws, length
        self.has_views = has_views

    def put(self, host: Array) -> DeviceArray:
        """Return a copy of a host array, as a view of a larger one now and then."""
        return self._placed(host.dtype, bytes_of(host)).array

    def target(self, dtype: Any, size: int) -> Target:
        """Return memory for an output of at least `size` elements."""
        dtype = np.dtype(dtype)
        longer = self.draws.choice((0, 0, 1, 5))
        return self._placed(dtype, self.bytes((size + longer) * dtype.itemsize))

    def in_place(self, host: Array) -> Target:
        """Return memory that holds a host array, and is an output as well."""
        return self._placed(host.dtype, bytes_of(host))

    def _placed(self, dtype: np.dtype[Any], own: Array) -> Target:
        draws, alignment = self.draws, self.device.capabilities.buffer_alignment
        step = alignment * dtype.itemsize // gcd(alignment, dtype.itemsize)
        begin = step if self.has_views and own.size and draws.one_in(3) else 0
        behind = draws.below(_MOST_BEHIND)
        before = np.concatenate([self.bytes(begin), own, self.bytes(behind)])
        whole = DeviceArray.from_host(before, self.device)
        array = whole[begin : begin + own.size].view(dtype)
        return Target(array=array, whole=whole, before=before, begin=begin)

    # ------------------------------------------------------------------------- data

    def bytes(self, count: int) -> Array:
        """Return random bytes."""
        return self.draws.words(-(-count // 8)).view(np.uint8)[:count]

    def records(self, dtype: Any, size: int | None = None) -> Array:
        """Return elements with random bits. Half of the time only few of them differ."""
        dtype, size = np.dtype(dtype), self.length if size is None else size
        if not self.draws.one_in(2):
            return self.bytes(size * dtype.itemsize).view(dtype)
        few = self.bytes((1 + self.draws.below(9)) * dtype.itemsize).view(dtype)
        return self.draws.pick(few, size)

    def numbers(self, dtype: Any) -> Array:
        """Return numbers of any bits: of floats with zeros of both signs, infinities and NaNs."""
        found = self.records(dtype)
        if found.dtype.kind == "f" and found.size and self.draws.one_in(2):
            odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0], found.dtype)
            places = self.draws.integers(3, found.size) == 0
            found = np.where(places, self.draws.pick(odd, found.size), found)
        return found

    def offsets(self) -> Array:
        """Return the offsets of segments, some of which are empty.

        Half of the time there are many segments.
        """
        draws, n = self.draws, self.length
        inner = draws.integers(n + 1, draws.below(n // 2 + 3))
        if draws.one_in(2):
            inner = np.where(
                draws.integers(2, inner.size) == 0, inner, draws.choice((0, n, n // 2))
            )
        return np.concatenate([[0], np.sort(inner), [n]]).astype(np.uint32)

    def heads_of(self, offsets: Array) -> Array:
        """Return the flags of the segments that have elements."""
        heads = np.zeros(self.length, np.uint8)
        heads[offsets[:-1][offsets[:-1] < self.length]] = 1
        return heads

    def flags(self) -> Array:
        """Return bytes, those that are set being any but 0."""
        draws, n = self.draws, self.length
        kinds: dict[str, Callable[[], Array]] = {
            "none": lambda: np.zeros(n, bool),
            "all": lambda: np.ones(n, bool),
            "half": lambda: draws.integers(2, n) == 0,
            "few": lambda: draws.integers(50, n) == 0,
            "clustered": lambda: np.repeat(draws.integers(3, n // 100 + 1) == 0, 100)[:n],
            "last": lambda: np.arange(n) == n - 1,
        }
        chosen = kinds[draws.choice(("half", *kinds))]()
        value = np.where(draws.integers(2, n) == 0, 1, 1 + draws.integers(255, n))
        flags: Array = (chosen * value).astype(np.uint8)
        return flags


def bytes_of(host: Array) -> Array:
    """Return the bytes of an array."""
    return np.frombuffer(np.ascontiguousarray(host).tobytes(), np.uint8)


def cleaned(values: Array) -> Array:
    """Return records with zeros between their fields, where NumPy leaves anything."""
    if not values.dtype.names:
        return values
    found = np.zeros(values.size, f"V{values.dtype.itemsize}").view(values.dtype)
    for name in values.dtype.names:
        found[name] = values[name]
    return found


def together(*parts: Array) -> Array:
    """Concatenate arrays and keep their dtype.

    NumPy's own function would remove the gaps of a structure.
    """
    dtype = parts[0].dtype
    raw = [np.ascontiguousarray(part).view(f"V{dtype.itemsize}") for part in parts]
    return np.concatenate(raw).view(dtype) if dtype.names else np.concatenate(parts)


def rows_of(host: Array) -> Array:
    """Return the bytes of each element, a row an element."""
    return bytes_of(host).reshape(host.size, host.dtype.itemsize)
