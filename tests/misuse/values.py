"""Values that do not belong where they are given: wrong types, wrong arrays, broken objects."""

from __future__ import annotations

import datetime
import decimal
import fractions
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import networkx as nx
import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
from scipy import sparse

import clmst
from clmst.core.from_scipy import SparseFormat
from tests.misuse.world import World


class ExplodingError(RuntimeError):
    """What broken objects raise."""


def _explode(*_: Any, **__: Any) -> Any:
    raise ExplodingError("this object is broken")


def broken(*names: str) -> Callable[[World], Any]:
    """Return a maker of objects of a class, some methods of which raise."""
    return lambda _: type("Broken", (), dict.fromkeys(names, _explode))()


def giving(value: Any, *names: str) -> Callable[[World], Any]:
    """Return a maker of objects, some methods of which return what they must not."""
    return lambda _: type("Lying", (), {name: lambda *_, **__: value for name in names})()


def _attributes_explode(_: World) -> Any:
    return type("Broken", (), {"__getattr__": _explode})()


def broken_matrix(kind: SparseFormat, **changes: Any) -> Any:
    """Return a sparse matrix, some arrays of which were exchanged behind SciPy's back."""
    matrix: Any = sparse.random_array((20, 20), density=0.3, random_state=1).asformat(kind)
    for name, value in changes.items():
        setattr(matrix, name, value)
    return matrix


def _plain() -> dict[str, Any]:
    return {
        "None": None,
        "NotImplemented": NotImplemented,
        "...": ...,
        "object": object(),
        "''": "",
        "'x'": "x",
        "'1'": "1",
        "text with newline": "a\nb",
        "text with quote": 'a"b',
        "text with NUL": "a\0b",
        "long text": "x" * 5000,
        "b''": b"",
        "bytes": b"x",
        "bytearray": bytearray(3),
        "memoryview": memoryview(b"abc"),
        "-1": -1,
        "0": 0,
        "1": 1,
        "7": 7,
        "2**40": 2**40,
        "2**70": 2**70,
        "-2**70": -(2**70),
        "1.5": 1.5,
        "-0.0": -0.0,
        "nan": math.nan,
        "inf": math.inf,
        "-inf": -math.inf,
        "True": True,
        "False": False,
        "1j": 1j,
        "int64": np.int64(3),
        "uint8": np.uint8(3),
        "float32": np.float32(2.5),
        "bool_": np.bool_(True),
        "str_": np.str_("x"),
        "datetime64": np.datetime64("2020-01-01"),
        "date": datetime.date(2020, 1, 1),
        "Decimal": decimal.Decimal("1.5"),
        "Fraction": fractions.Fraction(3, 2),
        "[]": [],
        "()": (),
        "{}": {},
        "set": {1, 2},
        "frozenset": frozenset(),
        "ragged": [1, [2, 3]],
        "['a']": ["a"],
        "[None]": [None],
        "[[]]": [[]],
        "[2**70]": [2**70],
        "[nan]": [math.nan],
        "list with a list": [[0, 1], [1, 2]],
        "range": range(3),
        "slice": slice(None),
        "function": lambda *_: None,
        "type": int,
        "module": math,
        "exception": ValueError("x"),
        "directory": Path("."),
        "missing file": Path("no such folder/no such file.gr"),
        "name of a missing file": "missing.npz",
    }


def _arrays() -> dict[str, Any]:
    read_only = np.arange(3, dtype=np.int8)
    read_only.flags.writeable = False
    return {
        "float64 array": np.array([1.0, 2.0, 3.0]),
        "empty array": np.zeros(0, np.int32),
        "0-d array": np.array(3),
        "2-d array": np.zeros((3, 3), np.int32),
        "2-d unsymmetric": np.arange(9.0).reshape(3, 3),
        "2-d oblong": np.zeros((2, 3)),
        "2-d with nan": np.full((3, 3), math.nan),
        "3-d array": np.zeros((2, 2, 2)),
        "big-endian int32": np.arange(3, dtype=">i4"),
        "big-endian float64": np.arange(3, dtype=">f8"),
        "object array": np.array([None, "x", 3], object),
        "object array 2-d": np.array([[None, 1], [1, None]], object),
        "str array": np.array(["a", "b", "c"]),
        "bytes array": np.array([b"a", b"b", b"c"]),
        "structured array": np.zeros(3, [("a", "u4"), ("b", "u4")]),
        "void array": np.zeros(3, "V4"),
        "datetime array": np.array(["2020-01-01"] * 3, "M8[D]"),
        "timedelta array": np.zeros(3, "m8[s]"),
        "complex array": np.zeros(3, complex),
        "bool array": np.ones(3, bool),
        "float16 array": np.ones(3, np.float16),
        "longdouble array": np.ones(3, np.longdouble),
        "read-only int8": read_only,
        "strided array": np.arange(6)[::-2],
        "negative array": np.array([-1, -2, -3]),
        "huge numbers": np.array([2**40, 1, 2]),
        "array with nan": np.array([1.0, math.nan, 2.0]),
        "masked array": np.ma.array([1, 2, 3], mask=[False, True, False]),
        "masked matrix": np.ma.array(np.ones((3, 3)), mask=np.triu(np.ones((3, 3), bool))),
        "masked text": np.ma.array([["a", "b"], ["b", "a"]], mask=[[False, True], [True, False]]),
        "np.matrix": np.asmatrix(np.zeros((3, 3))),
        "record array": np.rec.array([(1, 2)], dtype=[("a", "u4"), ("b", "u4")]),
    }


def _matrices() -> dict[str, Any]:
    fall = np.r_[0, 10**7, np.zeros(18, int), 3].astype(np.int32)
    far = np.full(120, 10**7, np.int32)
    return {
        "complex matrix": sparse.eye_array(3, dtype=complex),
        "oblong matrix": sparse.random_array((3, 4), density=0.5, random_state=0),
        "1-d sparse": sparse.coo_array([1, 2, 3]),
        "matrix with nan": sparse.csr_array([[0, math.nan], [math.nan, 0]]),
        "empty matrix": sparse.csr_array((0, 0)),
        "csr, indptr falls": broken_matrix("csr", indptr=fall),
        "csc, indptr falls": broken_matrix("csc", indptr=fall),
        "csc, far indices": broken_matrix("csc", indices=far),
        "csr, indices None": broken_matrix("csr", indices=None),
        "csc, data short": broken_matrix("csc", data=np.ones(3)),
        "bsr, indptr falls": broken_matrix("bsr", indptr=fall),
        "bsr, far indices": broken_matrix("bsr", indices=far),
        "coo, far coordinates": broken_matrix("coo", coords=(far, far)),
        "coo, short coordinates": broken_matrix("coo", coords=(far[:3], far[:2])),
        "dia, offsets text": broken_matrix("dia", offsets=np.array(["a"])),
        "dia, offsets far": broken_matrix("dia", offsets=np.full(30, 10**7)),
        "dia, data flat": broken_matrix("dia", data=np.ones(3)),
        "lil, rows None": broken_matrix("lil", rows=None),
        "lil, rows broken": broken_matrix("lil", rows=np.array([None] * 20, object)),
        "lil, rows far": broken_matrix("lil", rows=np.array([[10**7]] * 20 + [0], object)[:20]),
        "dok, keys broken": broken_matrix("dok", _dict={(10**7, 10**7): 1.0}),
        "dok, dict None": broken_matrix("dok", _dict=None),
        "DiGraph": nx.DiGraph([(0, 1)]),
        "Graph with odd weights": nx.Graph([(0, 1, {"weight": "heavy"})]),
    }


_BROKEN: dict[str, Callable[[World], Any]] = {
    "__array__ raises": broken("__array__"),
    "__array__ gives text": giving("x", "__array__"),
    "__array_interface__ is wrong": lambda _: type("Lying", (), {"__array_interface__": 3})(),
    "__len__ raises": broken("__len__", "__getitem__"),
    "__len__ is negative": giving(-1, "__len__", "__getitem__"),
    "__iter__ raises": broken("__iter__"),
    "__repr__ raises": broken("__repr__", "__str__", "__format__"),
    "__eq__ raises": broken("__eq__", "__ne__", "__hash__"),
    "__hash__ raises": broken("__hash__"),
    "__bool__ raises": broken("__bool__"),
    "__index__ raises": broken("__index__", "__int__", "__float__"),
    "__lt__ raises": broken("__lt__", "__gt__", "__le__", "__ge__"),
    "__fspath__ raises": broken("__fspath__"),
    "__fspath__ gives a number": giving(3, "__fspath__"),
    "attributes raise": _attributes_explode,
    "every attribute": lambda _: MagicMock(),
    "generator": lambda _: (k for k in range(3)),
    "int subclass": lambda _: type("Int", (int,), {})(3),
    "str subclass": lambda _: type("Str", (str,), {"__eq__": _explode, "__hash__": _explode})("x"),
    "array subclass": lambda _: np.zeros(3).view(type("Sub", (np.ndarray,), {})),
}

_OF_CLMST: dict[str, Callable[[World], Any]] = {
    "DeviceArray uint32": lambda w: w.on_device(np.arange(3, dtype=np.uint32)),
    "DeviceArray uint8": lambda w: w.on_device(np.ones(3, np.uint8)),
    "DeviceArray float64": lambda w: w.on_device(np.ones(3)),
    "DeviceArray empty": lambda w: w.on_device(np.zeros(0, np.uint32)),
    "DeviceArray long": lambda w: w.on_device(np.zeros(99, np.uint32)),
    "DeviceArray pairs": lambda w: w.on_device(np.zeros(3, [("a", "u4"), ("b", "u4")])),
    "DeviceArray elsewhere": lambda w: clmst.DeviceArray.from_host(
        np.arange(3, dtype=np.uint32), w.other_device
    ),
    "cl.Buffer": lambda w: cl.Buffer(w.device.context, cl.mem_flags.READ_WRITE, 64),
    "cl Array": lambda w: cl_array.to_device(w.device.queue, np.arange(3, dtype=np.uint32)),
    "cl.Context": lambda w: w.device.context,
    "cl.Device": lambda w: w.device.cl_device,
    "Device": lambda w: w.device,
    "Graph": lambda w: w.graph,
    "Forest": lambda w: w.forest,
    "Points": lambda _: clmst.Points([[0, 0], [1, 1], [2, 0]]),
    "DenseGraph": lambda _: clmst.DenseGraph(np.ones((3, 3))),
    "DeviceGraph": lambda w: w.device_graph,
    "Monoid": lambda _: clmst.primitives.Monoid.sum("f8"),
    "EclOptions": lambda _: clmst.EclOptions(),
    "DenseOptions": lambda _: clmst.DenseOptions(),
}


def _one_of(values: dict[str, Any], name: str, _: World) -> Any:
    return values[name]


def odd_values() -> dict[str, Callable[[World], Any]]:
    """Return makers of the values, by name."""

    def of(table: Callable[[], dict[str, Any]]) -> dict[str, Callable[[World], Any]]:
        values = table()
        return {name: partial(_one_of, values, name) for name in values}

    return {**of(_plain), **of(_arrays), **of(_matrices), **_BROKEN, **_OF_CLMST}
