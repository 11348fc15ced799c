"""Monoids: what the ready-made ones mean, by every pair of values that is easy to get wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyopencl as cl
import pytest

from clmst import Device, InvalidArgumentError
from clmst.primitives.element import element_of
from clmst.primitives.monoid import Monoid
from clmst.primitives.segments import segmented_reduce
from clmst.runtime.array import DeviceArray
from tests.helpers.strategies import EXHAUSTIVE, Array, special_weights
from tests.primitives.shapes import PLAIN, built, each_compiler

INTEGERS = ("u4", "i4", "u8", "i8")
FLOATS = ("f4", "f8")
SCALARS = (*INTEGERS, *FLOATS)

Meaning = Callable[[Array, Array], Array]
MEANINGS: dict[str, tuple[Callable[[Any], Monoid], Meaning, tuple[str, ...]]] = {
    "sum": (Monoid.sum, np.add, SCALARS),
    "product": (Monoid.product, np.multiply, SCALARS),
    "minimum": (Monoid.minimum, np.fmin, SCALARS),
    "maximum": (Monoid.maximum, np.fmax, SCALARS),
    "and": (Monoid.bitwise_and, np.bitwise_and, INTEGERS),
    "or": (Monoid.bitwise_or, np.bitwise_or, INTEGERS),
    "xor": (Monoid.bitwise_xor, np.bitwise_xor, INTEGERS),
}

F = "uint f(uint a, uint b) { return a; }\n"

KERNEL = """
kernel void evaluate_{type}(const global {type} *left, const global {type} *right,
                            global {type} *out, global {type} *identities) {{
  const size_t i = get_global_id(0), n = get_global_size(0);
  const {type} a = left[i], b = right[i];
{evaluations}
}}
"""
EVALUATION = "  out[{index} * n + i] = {combine}; identities[{index}] = ({type})({identity});"


class Calculator:
    """Evaluates monoids on a device, element by element: all of them in one program."""

    def __init__(self, device: Device, monoids: Iterable[Monoid]) -> None:
        self.device = device
        self.by_type: dict[str, list[Monoid]] = {}
        for monoid in monoids:
            self.by_type.setdefault(element_of(monoid.dtype).type, []).append(monoid)
        texts = []
        for type_, group in self.by_type.items():
            evaluations = [
                EVALUATION.format(index=k, type=type_, combine=m.combine, identity=m.identity)
                for k, m in enumerate(group)
            ]
            texts.append(KERNEL.format(type=type_, evaluations="\n".join(evaluations)))
        self.built = built(device, "".join(texts))

    def __call__(self, monoid: Monoid, left: Array, right: Array) -> tuple[Array, Array]:
        """Return the combination of two arrays, element by element, and the identity."""
        type_ = element_of(monoid.dtype).type
        group = self.by_type[type_]
        out = DeviceArray.empty(left.size * len(group), monoid.dtype, self.device)
        identities = DeviceArray.empty(len(group), monoid.dtype, self.device)
        given = [DeviceArray.from_host(array, self.device) for array in (left, right)]
        kernel = cl.Kernel(self.built, f"evaluate_{type_}")
        memory = [array.memory for array in (*given, out, identities)]
        kernel(self.device.queue, (left.size,), None, *memory)
        at = group.index(monoid)
        combined = out.to_host()[at * left.size :][: left.size]
        return combined, identities.to_host()[at : at + 1]


def combined_pairs(device: Device, monoid: Monoid, left: Array, right: Array) -> Array:
    """Return the combinations of two arrays, element by element, and then the identity."""
    offsets = np.append(np.arange(left.size + 1) * 2, 2 * left.size).astype(np.uint32)
    values = np.stack([left, right], axis=1).ravel()
    given = (DeviceArray.from_host(array, device) for array in (values, offsets))
    return segmented_reduce(next(given), offsets=next(given), monoid=monoid).to_host()


def assert_same(actual: Array, expected: Array) -> None:
    """Compare numbers: a NaN equals a NaN, and -0.0 equals 0.0."""
    np.testing.assert_array_equal(actual, expected)


def all_pairs(values: Array) -> tuple[Array, Array]:
    return np.repeat(values, values.size), np.tile(values, values.size)


@each_compiler
def test_scalars(plain: Device) -> None:
    """Extremes, zeros of both signs, subnormal numbers, infinities and NaN, all with all."""
    dtypes = [code for code in SCALARS if code != "f8" or plain.capabilities.doubles]
    monoids = {
        (name, code): make(code)
        for name, (make, _, codes) in MEANINGS.items()
        for code in codes
        if code in dtypes
    }
    calculate = Calculator(plain, monoids.values())
    for (name, code), monoid in monoids.items():
        values = special_weights(np.dtype(code))
        if name in ("minimum", "maximum") and code in FLOATS:
            values = np.append(values, np.array(np.nan, code))
        left, right = all_pairs(values)
        combined, identity = calculate(monoid, left, right)
        with np.errstate(all="ignore"):
            assert_same(combined, MEANINGS[name][1](left, right))
        # A NaN counts as absent: beside the identity, that is what is left.
        kept = np.where(np.isnan(values), identity, values) if code in FLOATS else values
        neutral = np.repeat(identity, values.size)
        assert_same(calculate(monoid, neutral, values)[0], kept)
        assert_same(calculate(monoid, values, neutral)[0], kept)


@each_compiler
def test_minimum_by_key(plain: Device) -> None:
    """The least key, and among equal keys the least index; -0.0 equals 0.0.

    The standard run takes all dtypes on the first driver, and every third one on the others.
    """
    dtypes = [code for code in SCALARS if code != "f8" or plain.capabilities.doubles]
    if not (EXHAUSTIVE or plain is PLAIN[0].device):
        dtypes = dtypes[::3]
    for code in dtypes:
        monoid = Monoid.minimum_by_key(code)
        keys = special_weights(np.dtype(code))
        most = np.iinfo(monoid.dtype["index"]).max
        pairs = np.zeros((keys.size, 4), monoid.dtype)
        pairs["key"], pairs["index"] = keys[:, None], [0, 1, most - 1, most]
        values = pairs.reshape(-1)
        left, right = all_pairs(values)
        less = (right["key"] < left["key"]) | (
            (right["key"] == left["key"]) & (right["index"] < left["index"])
        )
        combined = combined_pairs(plain, monoid, left, right)
        assert combined[:-1].tobytes() == np.where(less, right, left).tobytes()
        neutral = np.repeat(combined[-1:], values.size)
        for one, other in ((neutral, values), (values, neutral)):
            found = combined_pairs(plain, monoid, one, other)
            assert found[:-1].tobytes() == values.tobytes()


@each_compiler
def test_vectors_are_combined_field_by_field(plain: Device) -> None:
    dtype = np.dtype([(f"s{k}", "f4") for k in range(4)])
    total, product = Monoid.sum(dtype), Monoid.product(dtype)
    calculate = Calculator(plain, [total, product])
    left, right = (np.array([x], dtype) for x in ((1, 2, 3, 4), (5, 6, 7, 8)))
    for monoid, *expected in (
        (total, (6, 8, 10, 12), (0, 0, 0, 0)),
        (product, (5, 12, 21, 32), (1, 1, 1, 1)),
    ):
        assert [found.tolist()[0] for found in calculate(monoid, left, right)] == expected


# ----------------------------------------------------------------- names and preludes


def test_names_tell_the_type() -> None:
    """They are what errors and compilers call an operator."""
    assert Monoid.sum("u4").name == "uint32 sum"
    assert Monoid.bitwise_xor("i8").name == "int64 xor"
    assert Monoid.minimum_by_key("f8").name == "float64 minimum by key"
    assert Monoid.sum(np.dtype([("a", "i4"), ("b", "i4")])).name == "int2 sum"
    assert Monoid.sum(np.dtype([("a", "i4"), ("b", "i4"), ("c", "i4")])).name == "3 int sum"


def test_prelude() -> None:
    """The preamble first, so that its lines count from 1; its functions get names of their own."""
    monoid = Monoid(dtype=np.dtype("u4"), combine="f(a, b)", identity="7", preamble=F, name="mine")
    assert monoid.prelude.name == "mine"
    assert monoid.prelude.text.splitlines() == [
        F.strip().replace("f(", "f_("),
        "",
        "#define T uint",
        "#define T_BYTES 4",
        "#define IDENTITY ((T)(7))",
        "#define COMBINE(a, b) (f_(a, b))",
        "#define COMMUTATIVE 0",
    ]
    assert replace(monoid, commutative=True).prelude.text.endswith("COMMUTATIVE 1")
    assert replace(monoid, name="yours").prelude.name == "yours"


# ------------------------------------------------------------------------------- errors


PAIR, MIXED = np.dtype("u4,u4"), Monoid.minimum_by_key("f4").dtype
ONE_DTYPE = "(for other structures, give a Monoid that combines each field)"


@pytest.mark.parametrize(
    ("make", "dtype", "message"),
    [
        *((make, PAIR, f"elements are {PAIR}; this monoid takes scalars")
          for make in (Monoid.minimum, Monoid.maximum, Monoid.minimum_by_key)),
        *((make, "f4", "elements are float32; bitwise operators take integers")
          for make in (Monoid.bitwise_and, Monoid.bitwise_or, Monoid.bitwise_xor)),
        *((make, MIXED, f"elements are {MIXED}; the {name} needs fields of one dtype {ONE_DTYPE}")
          for make, name in ((Monoid.sum, "sum"), (Monoid.product, "product"))),
        (partial(Monoid, combine="a", identity="0"), "f2", "elements are float16; they must be"),
    ],
)  # fmt: skip
def test_elements_that_an_operator_does_not_take(make: Any, dtype: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        make(dtype=dtype) if isinstance(make, partial) else make(dtype)
    assert str(caught.value).startswith(message)


def test_ready_made_ones_are_made_once() -> None:
    """So that a call that names no operator has none to read."""
    assert Monoid.sum(np.uint32) is Monoid.sum("u4")
    assert Monoid.sum(np.uint32) != Monoid.sum(np.int32)
