"""Element types: which dtypes kernels have, and what they call them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, UnsupportedDeviceError
from clmst.primitives import reduce
from clmst.primitives.compact import compact
from clmst.primitives.element import check_supported, element_of, pair_of
from clmst.primitives.function import Predicate
from clmst.primitives.map import Map
from clmst.primitives.map import map as map_
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import exclusive_scan
from clmst.primitives.sort import sort
from clmst.runtime.array import DeviceArray
from tests.helpers.capabilities import with_capabilities
from tests.primitives.shapes import each_compiler

SCALARS = {
    "u1": "uchar",
    "i1": "char",
    "u2": "ushort",
    "i2": "short",
    "u4": "uint",
    "i4": "int",
    "f4": "float",
    "u8": "ulong",
    "i8": "long",
    "f8": "double",
}


def structure(*codes: str, **options: Any) -> np.dtype[Any]:
    return np.dtype([(f"s{k}", code) for k, code in enumerate(codes)], **options)


@pytest.mark.parametrize(("code", "name"), SCALARS.items())
def test_scalars_and_vectors(code: str, name: str) -> None:
    assert element_of(np.dtype(code)).type == name
    for length in (2, 4, 8, 16):
        if length * np.dtype(code).itemsize <= 64:
            element = element_of(structure(*[code] * length))
            assert (element.is_struct, element.type) == (False, f"{name}{length}")


def test_structure_of_one_field_is_a_scalar() -> None:
    element = element_of(structure("f4"))
    assert (element.is_struct, element.type) == (False, "float")


def test_pair_of() -> None:
    assert pair_of("f4", "u4") == np.dtype([("key", "f4"), ("index", "u4")])
    assert pair_of("u8") == np.dtype([("key", "u8"), ("index", "u8")])
    assert pair_of("i4", names=("low", "high")).names == ("low", "high")
    assert element_of(pair_of("i8", "u8")).is_struct


WRONG: Any = [
    np.dtype(code)
    for code in ("bool", ">u2", ">i2", "f2", "c8", "c16", "S4", "U1", "M8[s]", "m8[s]", "V4", "O")
]
WRONG = dict.fromkeys(WRONG, "")
WRONG |= {
    np.dtype([]): "",
    structure("u4", ">u4"): ", whose field 's1' is of >u4",
    structure("u4", "f2"): ", whose field 's1' is of float16",
    structure("u4", "?"): ", whose field 's1' is of bool",
    structure("u4", "S4"): ", whose field 's1' is of |S4",
    structure(*["u4"] * 17): ", of 68 bytes",
    structure(*["u8"] * 16): ", of 128 bytes",
    structure(*["u2"] * 9): ", of 18 bytes",
    np.dtype([("rows", "u4", (2,))]): ", whose field 'rows' is of ('<u4', (2,))",
    np.dtype([("pair", "u4,u4")]): ", whose field 'pair' is of [('f0', '<u4'), ('f1', '<u4')]",
    np.dtype({"names": ["a", "b"], "formats": ["u4"] * 2, "offsets": [0, 0], "itemsize": 8}):
        ", whose fields 'a' and 'b' overlap",
    np.dtype({"names": ["a", "b"], "formats": ["u4", "f8"], "offsets": [4, 0]}):
        ", whose fields 'b' and 'a' overlap",
}  # fmt: skip


@pytest.mark.parametrize(("dtype", "why"), WRONG.items(), ids=str)
def test_elements_that_kernels_do_not_have(dtype: np.dtype[Any], why: str) -> None:
    """Each would be read as something that it is not."""
    with pytest.raises(InvalidArgumentError) as caught:
        Map(dtype=dtype, result=np.dtype("u4"), expression="1")
    assert str(caught.value) == (
        f"elements are {dtype}{why}; they must be (u)int8, 16, 32 or 64, float32 or float64, in "
        "the machine's byte order, or a structure of such fields, which do not overlap, of 1 to 16 "
        "bytes, or a multiple of 4 up to 64"
    )


@each_compiler
def test_fields_are_components_in_order(plain: Device) -> None:
    """An operator that changes only one component changes the right one."""
    dtype = structure("u4", "f4", "i4", "u4")
    last = Monoid(
        dtype=dtype,
        combine="record(a.s0, a.s1 + b.s1, b.s2, a.s3 + b.s3)",
        identity="record(0, 0, 0, 0)",
        name="each component by itself",
    )
    values = np.array([(7, 0.5, -1, 1), (8, 0.25, -2, 2), (9, 2.0, -3, 3)], dtype)
    found = exclusive_scan(DeviceArray.from_host(values, plain), monoid=last).to_host()
    assert found.tolist() == [(0, 0, 0, 0), (0, 0.5, -1, 1), (0, 0.75, -2, 3)]


@each_compiler
def test_fields_have_types_of_their_own(plain: Device) -> None:
    """A float is compared as a float and a signed integer as a signed one, beside other fields."""
    edges = np.array(
        [(0.75, 1), (0.25, 2), (-3, 3), (0.5, 4)], pair_of("f4", "u4", ("weight", "id"))
    )
    given = DeviceArray.from_host(edges, plain)
    light, count = compact(
        given, predicate=Predicate(dtype=edges.dtype, expression="x.weight < 0.5f")
    )
    assert light.to_host()[: count.to_host()[0]].tolist() == [(0.25, 2), (-3, 3)]
    weights = map_(given, Map(dtype=edges.dtype, result=np.dtype("f4"), expression="x.weight"))
    assert weights.to_host().tolist() == [0.75, 0.25, -3, 0.5]
    lightest = Monoid(
        dtype=edges.dtype,
        combine="a.weight < b.weight ? a : b",
        identity="record(INFINITY, 0)",
        commutative=True,
        name="lightest",
    )
    assert reduce(given, monoid=lightest).to_host().tolist() == [(-3, 3)]
    assert sort(given, key="weight").to_host()["id"].tolist() == [3, 2, 4, 1]
    keys = np.zeros(296, pair_of("i4", "u4"))
    keys["key"] = np.arange(-148, 148)
    rest = Map(dtype=keys.dtype, result=np.dtype("i4"), expression="x.key % 11")
    found = map_(DeviceArray.from_host(keys, plain), rest).to_host()
    np.testing.assert_array_equal(found, np.fmod(keys["key"], 11))


def test_doubles_need_a_device_that_has_them(any_device: Device) -> None:
    """Words of 64 bits do not, nor does a device that computes with doubles refuse them."""
    device = with_capabilities(any_device, doubles=False)
    for dtype in (np.dtype("f8"), structure("f8", "f8"), pair_of("f8", "u8")):
        with pytest.raises(UnsupportedDeviceError) as caught:
            check_supported(dtype, device)
        assert str(caught.value) == (
            f"{device.description} has no arithmetic on doubles, which elements of {dtype} need"
        )
        check_supported(dtype, with_capabilities(any_device, doubles=True))
    for dtype in (np.dtype("u8"), np.dtype("f4"), pair_of("f4", "u8")):
        check_supported(dtype, device)
    with pytest.raises(UnsupportedDeviceError, match=r"no arithmetic on doubles, .* float64 need"):
        reduce(DeviceArray.from_host(np.ones(3), device))
