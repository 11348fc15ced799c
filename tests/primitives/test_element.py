"""Element types: which dtypes kernels have, and what they call them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from clmst import Device, InvalidArgumentError, UnsupportedDeviceError
from clmst.primitives import reduce
from clmst.primitives.element import check_supported, element_type, pair_of
from clmst.primitives.monoid import Monoid
from clmst.primitives.scan import exclusive_scan
from clmst.runtime.array import DeviceArray
from tests.capabilities import with_capabilities
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
    assert element_type(np.dtype(code)) == name
    for length in (2, 4, 8, 16):
        if length * np.dtype(code).itemsize <= 64:
            assert element_type(structure(*[code] * length)) == f"{name}{length}"


@pytest.mark.parametrize(
    ("codes", "name"),
    [(("f4", "u4"), "uint2"), (("i8", "f8"), "ulong2"), (("u4", "i4", "f4", "f4"), "uint4")],
)
def test_fields_of_several_kinds_are_words(codes: tuple[str, ...], name: str) -> None:
    assert element_type(structure(*codes)) == name


def test_structure_of_one_field_is_a_scalar() -> None:
    assert element_type(structure("f4")) == "float"


def test_pair_of() -> None:
    assert pair_of("f4", "u4") == np.dtype([("key", "f4"), ("index", "u4")])
    assert pair_of("u8") == np.dtype([("key", "u8"), ("index", "u8")])
    assert pair_of("i4", names=("low", "high")).names == ("low", "high")
    assert element_type(pair_of("i8", "u8")) == "ulong2"


WRONG = [
    np.dtype(code)
    for code in ("bool", ">u2", ">i2", "f2", "c8", "c16", "S4", "U1", "M8[s]", "m8[s]", "V4", "O")
]
WRONG += [
    np.dtype(">u4"),
    np.dtype(">f8"),
    np.dtype([]),
    structure("u4", ">u4"),
    structure("u4", "u8"),  # of two widths
    structure("u8", "u4", align=True),  # padded behind
    structure(*["u4"] * 3),
    structure(*["u4"] * 5),
    structure(*["u4"] * 32),
    structure(*["u8"] * 16),  # 128 bytes
    np.dtype([("rows", "u4", (2,))]),
    np.dtype([("pair", "u4,u4")]),
    np.dtype({"names": ["a", "b"], "formats": ["u4"] * 2, "itemsize": 12}),
    np.dtype({"names": ["a", "b"], "formats": ["u4"] * 2, "offsets": [0, 8]}),
    np.dtype({"names": ["a", "b"], "formats": ["u4"] * 2, "offsets": [4, 0]}),  # .x is b
    np.dtype({"names": ["a", "b"], "formats": ["u4"] * 2, "offsets": [0, 0], "itemsize": 8}),
]


@pytest.mark.parametrize("dtype", WRONG, ids=str)
def test_elements_that_kernels_do_not_have(dtype: np.dtype[Any]) -> None:
    """Each would be read as something that it is not."""
    with pytest.raises(InvalidArgumentError) as caught:
        element_type(dtype)
    assert str(caught.value) == (
        f"elements are {dtype}; they must be (u)int8, 16, 32 or 64, float32, float64, or a "
        "structure of 2, 4, 8 or 16 of these of one width, in sequence, without padding, of "
        "64 bytes at most"
    )


@each_compiler
def test_fields_are_components_in_order(plain: Device) -> None:
    """An operator that keeps its left element but for one component finds the right one."""
    dtype = structure("u4", "f4", "i4", "u4")
    last = Monoid(
        dtype=dtype,
        combine="(uint4)(a.x, as_uint(as_float(a.y) + as_float(b.y)), b.z, a.w + b.w)",
        identity="(uint4)(0)",
        name="each component by itself",
    )
    values = np.array([(7, 0.5, -1, 1), (8, 0.25, -2, 2), (9, 2.0, -3, 3)], dtype)
    found = exclusive_scan(DeviceArray.from_host(values, plain), monoid=last).to_host()
    assert found.tolist() == [(0, 0, 0, 0), (0, 0.5, -1, 1), (0, 0.75, -2, 3)]


def test_doubles_need_a_device_that_has_them(any_device: Device) -> None:
    """Words of 64 bits do not, nor does a device that computes with doubles refuse them."""
    device = with_capabilities(any_device, doubles=False)
    for dtype in (np.dtype("f8"), structure("f8", "f8")):
        with pytest.raises(UnsupportedDeviceError) as caught:
            check_supported(dtype, device)
        assert str(caught.value) == (
            f"{device.description} has no arithmetic on doubles, which elements of {dtype} need"
        )
        check_supported(dtype, with_capabilities(any_device, doubles=True))
    for dtype in (np.dtype("u8"), np.dtype("f4"), pair_of("f8", "u8")):
        check_supported(dtype, device)
    with pytest.raises(UnsupportedDeviceError, match=r"no arithmetic on doubles, .* float64 need"):
        reduce(DeviceArray.from_host(np.ones(3), device))
