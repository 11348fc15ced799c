"""Monoids: an associative operator together with its identity, on elements of one type."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from clmst.core.arguments import check_bool, check_dtype
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.element import ElementTypes, element_of, pair_of
from clmst.primitives.expression import (
    RecordType,
    check_expression,
    check_functions,
    check_title,
)
from clmst.runtime.specialisation import Prelude

# The smallest and the largest value of each scalar type, as identities of maximum and minimum.
_EXTREMES = {
    "uchar": ("0", "UCHAR_MAX"),
    "char": ("SCHAR_MIN", "SCHAR_MAX"),
    "ushort": ("0", "USHRT_MAX"),
    "short": ("SHRT_MIN", "SHRT_MAX"),
    "uint": ("0", "UINT_MAX"),
    "int": ("INT_MIN", "INT_MAX"),
    "float": ("-INFINITY", "INFINITY"),
    "ulong": ("0", "ULONG_MAX"),
    "long": ("LONG_MIN", "LONG_MAX"),
    "double": ("-INFINITY", "INFINITY"),
}
# Text in an expression that shows that it computes with floating-point numbers.
_FLOATING = re.compile(
    r"float|double|as_|FLT_|DBL_|INFINITY|NAN|MAXFLOAT|M_PI|M_E|\d\.|(?<!\w)\.\d|\b\d+[eE]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monoid:
    """An associative operator with its identity, written in OpenCL C.

    Common operators are ready-made: :meth:`sum`, :meth:`product`, :meth:`minimum`, :meth:`maximum`,
    :meth:`bitwise_and`, :meth:`bitwise_or`, :meth:`bitwise_xor`, :meth:`minimum_by_key`.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype of the elements. See :class:`Predicate` for the dtypes allowed.
    combine : str
        An expression that combines the elements `a` and `b`, where `a` comes first. It must be
        associative. Floating-point sums may be used, although their rounding depends on the
        grouping. Fields of records are written by their names, ``a.weight``, and ``record(...)``
        creates a record from a value for each field, in order.
    identity : str
        An expression for the element e with combine(e, x) == combine(x, e) == x.
    commutative : bool
        Whether combine(a, b) == combine(b, a). Commutative operators are somewhat faster.
    exact : bool, optional
        Whether results are bit for bit equal however consecutive elements are grouped. If
        so, a scan may take a single pass, in which the grouping depends on timing. By default it is
        True if all fields are integers and neither `combine` nor `preamble` mentions a
        floating-point type or number.
    preamble : str
        Functions that the expressions call. Each consists of declarations, assignments and a
        return.
    name : str
        Its name in errors and in compilers' messages.
    prelude : Prelude
        The text placed before a kernel file: the macros of ``cl/device/monoid.cl``. It is computed
        from the other attributes.

    Raises
    ------
    InvalidArgumentError
        Kernels do not support the dtype, or a text breaks the grammar of
        :mod:`clmst.primitives.expression`. In a monoid, only expressions of `a`, `b`, numbers,
        operators and functions are allowed.

    Examples
    --------
    Composition of affine maps x -> p * x + q, which does not commute:

    >>> affine = Monoid(
    ...     dtype=np.dtype([("p", "u4"), ("q", "u4")]),
    ...     combine="record(a.p * b.p, a.q * b.p + b.q)",
    ...     identity="record(1, 0)",
    ...     name="affine map",
    ... )
    >>> affine.commutative
    False

    The lightest edge, and the sum of all weights beside it:

    >>> totals = Monoid(
    ...     dtype=np.dtype([("least", "f4"), ("edge", "u4"), ("total", "f8")]),
    ...     combine="record(min(a.least, b.least), b.least < a.least ? b.edge : a.edge,"
    ...     " a.total + b.total)",
    ...     identity="record(INFINITY, UINT_MAX, 0)",
    ...     name="lightest and total",
    ... )
    >>> totals.exact
    False
    """

    dtype: np.dtype[Any]
    combine: str
    identity: str
    commutative: bool = False
    exact: bool | None = None
    preamble: str = ""
    name: str = "operator"
    prelude: Prelude = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", check_dtype("dtype", self.dtype))
        check_bool("commutative", self.commutative)
        types, element = ElementTypes(), element_of(self.dtype)
        name = types.of(self.dtype, "Record")
        words = {"record": RecordType(self.dtype, name)} if self.dtype.names else {}
        functions = check_functions("preamble", self.preamble, words)
        pair = dict.fromkeys(("a", "b"), self.dtype)
        combine, identity = (
            check_expression(
                what, getattr(self, what), names, functions, types=words, value=self.dtype
            )
            for what, names in (("combine", pair), ("identity", {}))
        )
        texts = {
            "preamble": functions.text,
            "combine": combine.text,
            "identity": identity.text,
            "name": check_title("name", self.name),
        }
        for attribute, text in texts.items():
            object.__setattr__(self, attribute, text)
        if self.exact is None:
            object.__setattr__(self, "exact", self._is_of_integers())
        check_bool("exact", self.exact)
        macros: dict[str, object] = {"T": element.held_type, "T_BYTES": element.held_bytes}
        if element.is_struct:
            macros |= {"T_RECORD": name, "T_MEMORY_BYTES": self.dtype.itemsize}
            macros |= {"RECORD_IDENTITY": f"({identity.code})"}
        else:
            macros |= {"IDENTITY": f"((T)({identity.code}))"}
        macros |= {"COMBINE(a, b)": f"({combine.code})", "COMMUTATIVE": int(self.commutative)}
        if element.is_struct and combine.choice is not None:
            condition, *chosen = combine.choice
            yes, no = ({"a": "Left", "b": "Right"}[one] for one in chosen)
            macros |= {"CHOICE(a, b, Left, Right)": f"(({condition}) ? {yes} : {no})"}
        prelude = Prelude.of(self.name, functions.code, functions.values, macros, types.definitions)
        object.__setattr__(self, "prelude", prelude)

    @property
    def held_bytes(self) -> int:
        """Number of bytes of an element in a kernel: its size, rounded up to a power of two."""
        return element_of(self.dtype).held_bytes

    def _is_of_integers(self) -> bool:
        fields = [self.dtype[name] for name in self.dtype.names or ()] or [self.dtype]
        are_integers = all(field.kind in "iu" for field in fields)
        return are_integers and not _FLOATING.search(f"{self.preamble} {self.combine}")

    # ---------------------------------------------------------------- ready-made

    @classmethod
    def sum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the sum of elements of `dtype`.

        Integers wrap around modulo 2**b, where b is the number of bits of the integer type.

        Examples
        --------
        >>> import clmst
        >>> from clmst.primitives import inclusive_scan
        >>> values = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.uint32))
        >>> inclusive_scan(values, monoid=Monoid.sum("u4")).to_host().tolist()
        [3, 4, 6]
        """
        return _commutative(dtype, "sum", "(a) + (b)", "0")

    @classmethod
    def product(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the product of elements of `dtype`.

        Integers wrap around modulo 2**b, where b is the number of bits of the integer type.
        """
        return _commutative(dtype, "product", "(a) * (b)", "1")

    @classmethod
    def minimum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the minimum of elements of `dtype`. NaNs are ignored."""
        return _extreme(dtype, "minimum", 1)

    @classmethod
    def maximum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the maximum of elements of `dtype`. NaNs are ignored."""
        return _extreme(dtype, "maximum", 0)

    @classmethod
    def bitwise_and(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the bitwise AND of integers of `dtype`."""
        return _commutative(_integer(dtype), "and", "(a) & (b)", "-1")

    @classmethod
    def bitwise_or(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the bitwise OR of integers of `dtype`."""
        return _commutative(_integer(dtype), "or", "(a) | (b)", "0")

    @classmethod
    def bitwise_xor(cls, dtype: npt.DTypeLike) -> Monoid:
        """Create the bitwise exclusive OR of integers of `dtype`."""
        return _commutative(_integer(dtype), "xor", "(a) ^ (b)", "0")

    @classmethod
    def minimum_by_key(cls, key: Any) -> Monoid:
        """Create the minimum of (key, index) pairs: the smallest key, then the smallest index.

        Elements are records of the dtype ``pair_of(key, index)``. Their field "key" has the dtype
        `key`, and their field "index" is an unsigned integer of the same width. The keys must not
        contain a NaN.
        """
        key = check_dtype("key", key)
        scalar, word = _scalar(key), np.dtype(f"u{key.itemsize}")
        combine = "b.key < a.key || (b.key == a.key && b.index < a.index) ? b : a"
        # A 64-bit word with the key above the index has the same order as the pair, so a minimum of
        # words gives the minimum pair without a branch.
        if scalar == "uint":
            pair = "min(upsample(a.key, a.index), upsample(b.key, b.index))"
            combine = f"record((uint)({pair} >> 32), (uint)({pair}))"
        return cls(
            dtype=pair_of(key, word),
            combine=combine,
            identity=f"record({_EXTREMES[scalar][1]}, {_EXTREMES[_scalar(word)][1]})",
            commutative=True,
            exact=True,
            name=f"{key} minimum by key",
        )


def _extreme(dtype: npt.DTypeLike, name: str, identity: int) -> Monoid:
    scalar = _scalar(dtype)
    function = ("f" if scalar in ("float", "double") else "") + name[:3]
    return _commutative(dtype, name, f"{function}(a, b)", _EXTREMES[scalar][identity], exact=True)


def _commutative(
    dtype: npt.DTypeLike, name: str, combine: str, identity: str, *, exact: bool | None = None
) -> Monoid:
    dtype = check_dtype("dtype", dtype)
    if len({dtype[field] for field in dtype.names or ()}) > 1:
        raise InvalidArgumentError(
            f"elements are {dtype}; the {name} needs fields of one dtype (for other structures, "
            "give a Monoid that combines each field)"
        )
    if element_of(dtype).is_struct:  # because vectors cannot have this number of fields
        fields = dtype.names or ()
        each = (combine.replace("(a)", f"a.{one}").replace("(b)", f"b.{one}") for one in fields)
        combine = f"record({', '.join(each)})"
        identity = f"record({', '.join([identity] * len(fields))})"
    return _kept(dtype, name, combine, identity, exact)


# Monoids are cached, because parsing takes long and many calls use the default sum.
@lru_cache(maxsize=128)
def _kept(
    dtype: np.dtype[Any], name: str, combine: str, identity: str, exact: bool | None
) -> Monoid:
    name = f"{_named(dtype) if dtype.names else dtype} {name}"
    return Monoid(
        dtype=dtype, combine=combine, identity=identity, commutative=True, exact=exact, name=name
    )


def _named(dtype: np.dtype[Any]) -> str:
    """Describe a structured dtype, for the name of an operator.

    The description is the OpenCL C vector type, such as "uint2", or the number and type of fields,
    such as "3 uint".
    """
    element = element_of(dtype)
    first = element.fields[0].type
    return f"{len(element.fields)} {first}" if element.is_struct else element.type


def _scalar(dtype: npt.DTypeLike) -> str:
    dtype = check_dtype("dtype", dtype)
    element = element_of(dtype)
    name = "" if element.is_struct else element.type
    if name not in _EXTREMES:
        raise InvalidArgumentError(f"elements are {dtype}; this monoid takes scalars")
    return name


def _integer(dtype: npt.DTypeLike) -> np.dtype[Any]:
    integer = check_dtype("dtype", dtype)
    if integer.kind not in "iu":
        raise InvalidArgumentError(f"elements are {integer}; bitwise operators take integers")
    return integer
