"""Generated edges: what callers may write, and what a device makes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import GeneratedEdges, InvalidArgumentError
from clmst.core.errors import KernelBuildError
from clmst.runtime.array import DeviceArray
from clmst.runtime.device import Device

RING: dict[str, Any] = {
    "n_vertices": 10, "n_edges": 10, "u": "id", "v": "(id + 1) % 10", "weight": "id * id",
    "weight_dtype": "uint32",
}  # fmt: skip


def made(**changed: Any) -> GeneratedEdges:
    return GeneratedEdges(**{**RING, **changed})


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"])
def test_edges_of_every_dtype(any_device: Device, dtype: str) -> None:
    if dtype == "f8" and not any_device.capabilities.doubles:
        pytest.skip("no arithmetic on doubles")
    edges = made(
        weight="(char)(5 - (long)id)" if dtype != "f4" else "0.5f * id", weight_dtype=dtype
    )
    u, v, weights = edges.edges(device=any_device)
    ids = np.arange(10)
    assert [one.dtype for one in (u, v, weights)] == ["uint32", "uint32", dtype]
    np.testing.assert_array_equal(u, ids)
    np.testing.assert_array_equal(v, (ids + 1) % 10)
    expected = 0.5 * ids if dtype == "f4" else (5 - ids).astype(dtype)
    np.testing.assert_array_equal(weights, expected)


def test_some_edges(any_device: Device) -> None:
    whole, some = made().edges(device=any_device), made().edges(3, 4, device=any_device)
    for one, other in zip(whole, some, strict=True):
        np.testing.assert_array_equal(one[3:7], other)
    assert made().edges(10, device=any_device)[0].size == 0


def test_ids_beyond_32_bits(any_device: Device) -> None:
    edges = made(n_edges=1 << 62, u="id >> 60", v="0", weight="id", weight_dtype="uint64")
    u, _, weights = edges.edges((1 << 61) + 5, 2, device=any_device)
    assert u.tolist() == [2, 2]
    assert weights.tolist() == [(1 << 61) + 5, (1 << 61) + 6]


def test_arguments(any_device: Device) -> None:
    edges = made(
        u="from[id]", v="to", weight="twice(id) + offset", scalars={"to": "u4", "offset": "i4"},
        arrays={"from": "u2"}, preamble="ulong twice(ulong x) { return 2 * x; }",
        weight_dtype="int32",
    )  # fmt: skip
    starts = np.arange(10, dtype=np.uint16)[::-1].copy()
    given = edges(to=3, offset=-5, **{"from": DeviceArray.from_host(starts, any_device)})
    u, v, weights = given.edges(device=any_device)
    np.testing.assert_array_equal(u, starts)
    assert set(v.tolist()) == {3}
    np.testing.assert_array_equal(weights, 2 * np.arange(10) - 5)
    again = edges(to=3, offset=-5, **{"from": DeviceArray.from_host(starts, any_device)})
    other = edges(to=3, offset=-4, **{"from": DeviceArray.from_host(starts, any_device)})
    assert given.checksums == again.checksums != other.checksums
    starts[0] = 1
    other = edges(to=3, offset=-5, **{"from": DeviceArray.from_host(starts, any_device)})
    assert given.checksums != other.checksums


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_vertices": -1}, r"n_vertices is -1; it must"),
        ({"n_vertices": 1 << 32}, r"n_vertices is 4294967296"),
        ({"n_edges": 1 << 63}, r"n_edges is 9223372036854775808"),
        ({"n_edges": 2.5}, r"n_edges is 2.5; it must be an integer"),
        ({"u": "x"}, r"u is 'x'; at column 1 it has 'x'"),
        ({"v": "id; id"}, r"v is 'id; id'; at column 3"),
        ({"weight": 3}, r"weight is 3; it must be a string"),
        ({"weight_dtype": "f2"}, r"float16"),
        ({"weight_dtype": "U3"}, r"U3"),
        ({"preamble": "int f() {}"}, r"preamble is"),
        ({"scalars": {"id": "u4"}}, r"scalars has 'id', which is something else already"),
        ({"name": ""}, r"name is ''"),
    ],
)
def test_bad_edges_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        made(**changed)


def test_missing_arguments_are_named(any_device: Device) -> None:
    edges = made(scalars={"seed": "u4"}, weight="id + seed")
    with pytest.raises(InvalidArgumentError, match="is given none; its arguments are seed"):
        edges.edges(device=any_device)
    with pytest.raises(InvalidArgumentError, match="is given none; its arguments are seed"):
        clmst.stream_minimum_spanning_forest(edges, device=any_device)


def test_wrong_expression_has_the_compilers_log(any_device: Device) -> None:
    with pytest.raises(KernelBuildError, match="generated edges"):
        made(u="sqrt(id, id)").edges(device=any_device)


def test_range_of_edges(any_device: Device) -> None:
    for first, count in ((11, None), (-1, None), (5, 6)):
        with pytest.raises(InvalidArgumentError):
            made().edges(first, count, device=any_device)
