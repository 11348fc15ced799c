"""Calls of primitives with one mistake each: the error names it, and nothing has been written.

What any array or option may have wrong is tried on each argument of a call; what concerns one
primitive alone is in the second table. Values of other types are the business of ``tests/misuse``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from clmst import Device, DeviceArray, InvalidArgumentError
from clmst import primitives as p
from clmst.primitives import Map, Monoid, Predicate
from clmst.runtime.launcher import Launcher

N, U4 = 1024, np.dtype(np.uint32)
ABOVE, NEXT = Predicate(dtype=U4, expression="x > 3"), Map(dtype=U4, expression="x + 1")
NO_ARRAY = (
    "primitives work on device arrays: make one with clmst.DeviceArray.from_host or from_pyopencl"
)
WRITTEN = ("out", "total", "count", "keys_out", "values_out")


@dataclass(frozen=True, slots=True)
class Call:
    """A call that is right: dtypes of arrays of `N` elements by their names, and other arguments.

    `sized` are inputs that must be as long as the first; `in_place` pairs of an output and an
    input that may be one array.
    """

    function: Callable[..., Any]
    arrays: dict[str, str]
    options: dict[str, Any]
    sized: tuple[str, ...] = ()
    in_place: tuple[tuple[str, str], ...] = ()

    def made(self, device: Device, **lengths: int) -> dict[str, Any]:
        """Return its arguments."""
        made = {name: new(device, one, lengths.get(name, N)) for name, one in self.arrays.items()}
        return made | self.options


def new(device: Device, dtype: Any, length: int = N) -> DeviceArray:
    return DeviceArray.from_host(np.zeros(length, dtype), device)


SCAN = {"values": "u4", "out": "u4"}
FLAGS, SELECTED = {"flags": "u1"}, {"values": "V8", "out": "u4", "values_out": "V8", "count": "u4"}
OWN = ("out", "values")
SPLIT = (("values_out", "values"), ("out", "records"), ("keys_out", "keys"), ("out", "keys"))
CALLS = {
    "reduce": Call(p.reduce, SCAN, {}),
    "exclusive_scan": Call(p.exclusive_scan, SCAN | {"total": "u4"}, {}, in_place=(OWN,)),
    "inclusive_scan": Call(p.inclusive_scan, SCAN | {"total": "u4"}, {}, in_place=(OWN,)),
    "segmented_scan": Call(p.segmented_scan, SCAN | FLAGS, {}, ("flags",), (OWN,)),
    "segmented_reduce": Call(p.segmented_reduce, SCAN | FLAGS, {}, ("flags",)),
    "by offsets": Call(p.segmented_reduce, SCAN | {"offsets": "u4"}, {}),
    "head_flags": Call(p.head_flags, {"offsets": "u4", "out": "u1"}, {"length": N}),
    "end_flags": Call(p.end_flags, FLAGS | {"out": "u1"}, {}),
    "compact": Call(
        p.compact, {"records": "u4"} | FLAGS | SELECTED, {}, ("flags", "values")
    ),
    "by predicate": Call(
        p.compact, {"records": "u4"} | SELECTED, {"predicate": ABOVE}, ("values",)
    ),
    "partition": Call(
        p.partition, {"records": "u4"} | FLAGS | SELECTED, {}, ("flags", "values")
    ),
    "positions": Call(p.positions, FLAGS | {"out": "u4", "count": "u4"}, {}),
    "unique_by_key": Call(p.unique_by_key, {"keys": "u4"} | SELECTED, {}, ("values",)),
    "gather": Call(p.gather, SCAN | {"indices": "u4"}, {}),
    "scatter": Call(p.scatter, SCAN | {"indices": "u4"}, {}, ("indices",)),
    "split": Call(
        p.split, {"records": "u4", "values": "V8", "out": "u4", "values_out": "V8"},
        {"key_bits": 5}, ("values",), SPLIT,
    ),
    "sort": Call(p.sort, {"keys": "u4", "out": "u4"}, {}, in_place=SPLIT),
    "sort_by_key": Call(
        p.sort_by_key, {"keys": "u4", "values": "V8", "keys_out": "u4", "values_out": "V8"}, {},
        ("values",), SPLIT,
    ),
    "argsort": Call(p.argsort, {"keys": "i4", "out": "u4"}, {}),
    "map": Call(p.map, SCAN, {"function": NEXT}, in_place=(OWN,)),
    "histogram": Call(p.histogram, SCAN, {"n_bins": N}),
}  # fmt: skip
# Inputs whose dtype is given by the primitive.
FIXED = {"flags", "indices", "offsets"}
# Outputs for one element.
SINGLE = {("reduce", "out"), ("exclusive_scan", "total"), ("inclusive_scan", "total")}


def refused(call: Call, given: dict[str, Any], message: str) -> None:
    """Assert that a call is refused, launches nothing and changes no array."""
    arrays = [one for one in given.values() if isinstance(one, DeviceArray)]
    launch = Launcher(arrays[0].device, arrays[0].device.queue)
    before = [one.to_host().tobytes() for one in arrays]
    with pytest.raises(InvalidArgumentError) as caught:
        call.function(**{"launch": launch, **given})
    assert message in str(caught.value)
    assert launch.launches == 0, message
    assert [one.to_host().tobytes() for one in arrays] == before, message


def of_every_array(name: str, call: Call, device: Device) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield wrong values for each array, with the message of the error."""
    first, other = next(iter(call.arrays)), Device(device.cl_device)  # of another context
    for array, dtype in call.arrays.items():
        yield {array: np.zeros(N, dtype)}, f"{array} is a ndarray; {NO_ARRAY}"
        if array != first:
            yield (
                {array: new(other, dtype)},
                f"{array} is on {other!r}, another array on {device!r}",
            )
        if array in FIXED or array in WRITTEN:
            wrong = f"{array} is of int16; it must be of {np.dtype(dtype)}"
            yield {array: new(device, "i2")}, wrong
        if array in call.sized:
            for length in (0, N - 1, N + 1):
                wrong = f"{array} has {length} elements; it must have {N}"
                yield {array: new(device, dtype, length)}, wrong
        if array in WRITTEN:
            least = 1 if array == "count" or (name, array) in SINGLE else N - (name == "by offsets")
            wrong = f"{array} has {least - 1} elements; it must have at least {least}"
            yield {array: new(device, dtype, least - 1)}, wrong


def of_overlaps(call: Call, device: Device) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each output over each other array, in part or as a whole."""
    step = max(device.capabilities.buffer_alignment, 512)  # as some GPUs want it
    assert step < N, "the shorter of two arrays must reach into the other"
    for out in [name for name in call.arrays if name in WRITTEN]:
        for other in [name for name in call.arrays if name != out]:
            sizes = [N * np.dtype(call.arrays[name]).itemsize for name in (out, other)]
            for shift in (0, step):
                whole = new(device, "u1", shift + max(sizes))
                one = whole[shift : shift + sizes[0]].view(call.arrays[out])
                two = whole[: sizes[1]].view(call.arrays[other])
                if shift or (out, other) not in call.in_place:
                    yield {out: one, other: two}, " overlap"


@pytest.mark.parametrize("name", CALLS)
def test_arrays(any_device: Device, name: str) -> None:
    """Each is looked at, before anything is launched; the right call goes through."""
    call = CALLS[name]
    call.function(**call.made(any_device))
    for wrong, message in of_every_array(name, call, any_device):
        refused(call, call.made(any_device) | wrong, message)
    other = Device(any_device.cl_device)  # of another context
    for device, of_queue in ((any_device, other), (other, any_device), (other, other)):
        launch = Launcher(device, of_queue.queue)
        message = f"launch has {device!r} and a queue, the arrays are on {any_device!r}; all must"
        refused(call, call.made(any_device) | {"launch": launch}, message)
        assert launch.launches == 0
    for wrong, message in of_overlaps(call, any_device):
        refused(call, call.made(any_device) | wrong, message)


WRONG_MONOID = (
    {"monoid": Monoid.sum("f4")},
    "the monoid is of float32, values are of uint32; they",
)
ODD_SIZES = "bytes each; they must have 1 to 16 bytes, or a multiple of 4 up to 64"
ODD_KEYS = "they must be of (u)int8, 16, 32 or 64, float32 or float64"
NO_FLAGS = "flags are packed into the top bits of unsigned integers only"
SHORT_MAP = Map(dtype=U4, result=np.dtype("u2"), expression="x")
ADD = Map(dtype=U4, expression="x + other[i]", arrays={"other": "u4"})
ONE_WAY = "segments are given one way"
# What is wrong, the message, and dtypes of arrays that are other ones.
OWN_MISTAKES: dict[str, list[tuple[Any, ...]]] = {
    "reduce": [WRONG_MONOID],
    "exclusive_scan": [
        WRONG_MONOID,
        ({"strategy": "scan-then-propagate"}, "scan-then-propagate does not compute a total; "
                                        "leave `tot"),
        ({"strategy": "quick"}, "there are 'auto', 'reduce-then-scan', 'scan-then-propagate', 's"),
        ({}, "elements are float16; they must be (u)int8,", {"values": "f2"}),
    ],
    "segmented_scan": [
        WRONG_MONOID,
        ({"strategy": "scan-then-propagate"}, "are 'parallel', 'reduce-then-scan', 'sequential'"),
        *(({"flags": None}, NO_FLAGS, {"values": dtype, "out": dtype})
          for dtype in ("i4", "f4", "i8", "f8", Monoid.minimum_by_key("u4").dtype)),
    ],
    "segmented_reduce": [({"flags": None}, ONE_WAY)],
    "by offsets": [
        ({}, ONE_WAY, {"flags": "u1"}),
        ({}, "there must be one more than there are segments", {}, {"offsets": 0}),
    ],
    "head_flags": [({}, "there must be one more than there are segments", {}, {"offsets": 0})],
    "compact": [
        ({"flags": None}, "neither flags nor a predicate"),
        ({"predicate": ABOVE}, "both flags and a predicate"),
        ({"values": None}, "values_out is given without values; give both or neither"),
        ({"at_most": -1}, "at_most is -1"),
        *(({}, ODD_SIZES, {name: size}) for name in ("records", "values")
          for size in ("V17", "V68")),
    ],
    "by predicate": [
        ({"predicate": "x > 3"}, "predicate is 'x > 3'; it must be a Predicate"),
        ({}, "the predicate is of uint32, the elements are of float32",
         {"records": "f4", "out": "f4"}),
    ],
    "gather": [({}, f"there are {N} indices, but values is empty", {}, {"values": 0})],
    "split": [
        ({"key_bits": 0}, "key_bits is 0; a key has 1 to 64 bits"),
        ({"key_bits": 65}, "key_bits is 65; a key has 1 to 64 bits"),
        ({"start_bit": -1}, "the key goes from bit -1 to bit 4; records has elements of 32 bits"),
        ({"start_bit": 30}, "the key goes from bit 30 to bit 35; records has elements of 32 bits"),
        ({"values": None}, "values_out is given without values; give both"),
        ({}, ODD_SIZES, {"records": "V18"}), ({}, ODD_SIZES, {"values": "V68"}),
    ],
    "sort": [({}, ODD_KEYS, {"keys": dtype})
             for dtype in ("V1", ">i2", "f2", ">u4", "?", "V4", [("a", "u4")])],
    "sort_by_key": [
        ({}, ODD_KEYS, {"keys": "f2"}), ({}, ODD_SIZES, {"values": "V17"}),
        ({"values": None}, "values is a NoneType"),
        ({"start_bit": 32}, "key_bits is 0; a key has 1 to 64 bits"),
        ({"start_bit": 1, "key_bits": 32}, "the key goes from bit 1 to bit 33; keys has"),
    ],
    "map": [
        ({"function": None}, "function is None; it must be a Map"),
        ({"function": Map(dtype=np.dtype("f4"), result=U4, expression="x")}, "must agree"),
        ({"function": ADD}, "its arguments are other"),
    ],
    "histogram": [
        ({}, "values are of int32; unless bin_of tells their bins", {"values": "i4"}),
        ({"n_bins": -1}, "n_bins is -1"),
        ({"bin_of": "x"}, "bin_of is 'x'; it must be a Map"),
        ({"bin_of": SHORT_MAP}, "bin_of has a result of uint16; the number of a bin"),
    ],
}  # fmt: skip
OWN_MISTAKES["gather"] += [({}, ODD_SIZES, {"values": n, "out": n}) for n in ("V17", "V68")]
OWN_MISTAKES["scatter"] = OWN_MISTAKES["gather"][1:]
QUICK = ({"strategy": "quick"}, "no strategy is called 'quick'; there are ")


@pytest.mark.parametrize("name", CALLS)
def test_own_mistakes(any_device: Device, name: str) -> None:
    call = CALLS[name]
    named = "strategy" in call.function.__annotations__
    for wrong, message, *changed in [*OWN_MISTAKES.get(name, []), *([QUICK] if named else [])]:
        dtypes, lengths = (*changed, {}, {})[:2]
        arrays = {name: new(any_device, dtype) for name, dtype in dtypes.items()}
        refused(call, call.made(any_device, **lengths) | arrays | wrong, message)


def test_arrays_of_a_function(any_device: Device) -> None:
    """What a map or predicate reads must not be written, and in place sizes must agree."""
    call = CALLS["map"]
    given = call.made(any_device)
    values = given["values"]
    refused(call, given | {"function": ADD(other=values), "out": values}, "out and other overlap")
    both = {"function": SHORT_MAP, "out": values.view("u2")}
    refused(call, given | both, "in place both must have one size")


@pytest.mark.parametrize(
    ("offsets", "fault"),
    [
        ([0, 5, 3, 10], "offsets[1] is 5 and offsets[2] is 3"),
        ([0, 5, 11], "offsets[1] is 5 and offsets[2] is 11"),
        ([2**32 - 1, 10], "offsets[0] is 4294967295 and offsets[1] is 10"),
        ([0, 2**31, 3], "offsets[0] is 0 and offsets[1] is 2147483648"),
    ],
)
def test_offsets_that_fall_or_pass_the_end(
    any_device: Device, offsets: list[int], fault: str
) -> None:
    """The result, its parts and what is computed with it raise when they are read."""
    values = DeviceArray.from_host(np.arange(10, dtype="u4"), any_device)
    given = DeviceArray.from_host(np.array(offsets, "u4"), any_device)
    message = f"{fault}; offsets must not fall, nor exceed the number of elements, 10"
    flags = p.head_flags(given, 10)
    sums = p.segmented_reduce(values, offsets=given)
    _, count = p.compact(values, flags)
    for one in (sums, flags, sums[:1], flags.view("i1"), p.segmented_scan(values, flags), count):
        with pytest.raises(InvalidArgumentError) as caught:
            one.to_host()
        assert str(caught.value) == message
    given.write(np.zeros(len(offsets), "u4"))
    with pytest.raises(InvalidArgumentError, match=r"was wrong when it was used; offsets must not"):
        sums.to_host()


def test_offsets_of_some_elements(any_device: Device) -> None:
    """What comes before the first offset or behind the last one is in no segment."""
    values = DeviceArray.from_host(np.arange(10, dtype="u4"), any_device)
    for offsets in ([2, 4, 4, 9], [0, 4], [10, 10], [0]):
        given = DeviceArray.from_host(np.array(offsets, "u4"), any_device)
        expected = [sum(range(a, b)) for a, b in pairwise(offsets)]
        assert p.segmented_reduce(values, offsets=given).to_host().tolist() == expected
