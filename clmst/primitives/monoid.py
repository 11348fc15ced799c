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
from clmst.primitives.element import element_type, pair_of
from clmst.primitives.expression import check_expression, check_functions, check_title
from clmst.runtime.specialisation import Prelude

# The least and the greatest value of each scalar type.
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
# What tells that an operator on integers computes with other numbers.
_FLOATING = re.compile(
    r"float|double|as_|FLT_|DBL_|INFINITY|NAN|MAXFLOAT|M_PI|M_E|\d\.|(?<!\w)\.\d|\b\d+[eE]"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monoid:
    """An associative operator with its identity, in OpenCL C.

    Ready-made ones: :meth:`sum`, :meth:`product`, :meth:`minimum`, :meth:`maximum`,
    :meth:`bitwise_and`, :meth:`bitwise_or`, :meth:`bitwise_xor`, :meth:`minimum_by_key`.

    Attributes
    ----------
    dtype : numpy.dtype
        Of the elements: (u)int8, 16, 32, 64, float32, float64; or a structured dtype of 2, 4, 8 or
        16 such fields of one width, which OpenCL C sees as a vector (``uint2`` with ``.x``,
        ``.y``).
    combine : str
        Expression for the combination of the elements `a` and `b`, `a` being the left one. Must be
        associative; floating-point sums are associative except for rounding.
    identity : str
        Expression e with combine(e, x) == combine(x, e) == x.
    commutative : bool
        Whether combine(a, b) == combine(b, a); such operators are somewhat quicker.
    exact : bool, optional
        Whether a result is the same, bit for bit, however consecutive elements are grouped. Then a
        scan may take one pass, in which the grouping depends on timing. By default it is so if all
        fields are integers and no text mentions a floating-point type or number.
    preamble : str
        Functions that the expressions call, each made of declarations, assignments and a return.
    name : str
        Its name in errors and compilers' messages.
    prelude : Prelude
        The text that precedes a kernel file: the macros of ``cl/device/monoid.cl``.

    Raises
    ------
    InvalidArgumentError
        Kernels have no such elements; or a text breaks the grammar of
        :mod:`clmst.primitives.expression`, which has expressions of `a`, `b`, numbers, operators
        and built-in functions only.

    Examples
    --------
    Composition of affine maps x -> p * x + q, which does not commute:

    >>> affine = Monoid(
    ...     dtype=np.dtype([("p", "u4"), ("q", "u4")]),
    ...     combine="(uint2)(a.x * b.x, a.y * b.x + b.y)",
    ...     identity="(uint2)(1, 0)",
    ...     name="affine map",
    ... )
    >>> affine.commutative
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
        element_type(self.dtype)
        check_bool("commutative", self.commutative)
        preamble, functions = check_functions("preamble", self.preamble)
        texts = {
            "preamble": preamble,
            "combine": check_expression("combine", self.combine, {"a", "b"}, functions),
            "identity": check_expression("identity", self.identity, set(), functions),
            "name": check_title("name", self.name),
        }
        for attribute, text in texts.items():
            object.__setattr__(self, attribute, text)
        if self.exact is None:
            object.__setattr__(self, "exact", self._is_of_integers())
        check_bool("exact", self.exact)
        macros = {
            "T": element_type(self.dtype),
            "T_BYTES": self.dtype.itemsize,
            "IDENTITY": f"((T)({self.identity}))",
            "COMBINE(a, b)": f"({self.combine})",
            "COMMUTATIVE": int(self.commutative),
        }
        object.__setattr__(self, "prelude", Prelude.of(self.name, preamble, functions, macros))

    def _is_of_integers(self) -> bool:
        fields = [self.dtype[name] for name in self.dtype.names or ()] or [self.dtype]
        are_integers = all(field.kind in "iu" for field in fields)
        return are_integers and not _FLOATING.search(f"{self.preamble} {self.combine}")

    # ---------------------------------------------------------------- ready-made

    @classmethod
    def sum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Sum; of integers modulo two to the power of their width."""
        return _commutative(dtype, "sum", "(a) + (b)", "0")

    @classmethod
    def product(cls, dtype: npt.DTypeLike) -> Monoid:
        """Product; of integers modulo two to the power of their width."""
        return _commutative(dtype, "product", "(a) * (b)", "1")

    @classmethod
    def minimum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Minimum; a NaN counts as absent."""
        return _extreme(dtype, "minimum", 1)

    @classmethod
    def maximum(cls, dtype: npt.DTypeLike) -> Monoid:
        """Maximum; a NaN counts as absent."""
        return _extreme(dtype, "maximum", 0)

    @classmethod
    def bitwise_and(cls, dtype: npt.DTypeLike) -> Monoid:
        """Bitwise conjunction of integers."""
        return _commutative(_integer(dtype), "and", "(a) & (b)", "-1")

    @classmethod
    def bitwise_or(cls, dtype: npt.DTypeLike) -> Monoid:
        """Bitwise disjunction of integers."""
        return _commutative(_integer(dtype), "or", "(a) | (b)", "0")

    @classmethod
    def bitwise_xor(cls, dtype: npt.DTypeLike) -> Monoid:
        """Bitwise exclusive disjunction of integers."""
        return _commutative(_integer(dtype), "xor", "(a) ^ (b)", "0")

    @classmethod
    def minimum_by_key(cls, key: Any) -> Monoid:
        """Minimum of (key, index) pairs: the least key, and among equal keys the least index.

        Elements are ``pair_of(key, index)``: fields "key", of the dtype given, and "index", an
        unsigned integer of the same width. A NaN must not be among the keys.
        """
        key = check_dtype("key", key)
        scalar, word = _scalar(key), np.dtype(f"u{key.itemsize}")
        if scalar == "uint":  # one word of 64 bits orders like the pair, without a branch
            pair = "min(upsample((a).x, (a).y), upsample((b).x, (b).y))"
            return cls(
                dtype=pair_of(key, word),
                combine=f"(uint2)((uint)({pair} >> 32), (uint)({pair}))",
                identity="(uint2)(UINT_MAX, UINT_MAX)",
                commutative=True,
                exact=True,
                name=f"{key} minimum by key",
            )
        read = "" if scalar.startswith("u") else f"as_{scalar}"
        vector = f"{_scalar(word)}2"
        left, right = f"{read}((a).x)", f"{read}((b).x)"
        is_less = f"{right} < {left} || ({right} == {left} && (b).y < (a).y)"
        greatest = unsigned_greatest = _EXTREMES[_scalar(word)][1]
        if read:
            greatest = f"as_{_scalar(word)}(({scalar}){_EXTREMES[scalar][1]})"
        return cls(
            dtype=pair_of(key, word),
            combine=f"({is_less}) ? (b) : (a)",
            identity=f"({vector})({greatest}, {unsigned_greatest})",
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
            f"elements are {dtype}; the {name} is of fields of one dtype (for others, give a "
            "Monoid that says what becomes of each)"
        )
    return _kept(dtype, name, combine, identity, exact)


# A call that names no operator gets the sum anew each time; the grammar reads it only once.
@lru_cache(maxsize=128)
def _kept(
    dtype: np.dtype[Any], name: str, combine: str, identity: str, exact: bool | None
) -> Monoid:
    name = f"{element_type(dtype) if dtype.names else dtype} {name}"
    return Monoid(
        dtype=dtype, combine=combine, identity=identity, commutative=True, exact=exact, name=name
    )


def _scalar(dtype: npt.DTypeLike) -> str:
    dtype = check_dtype("dtype", dtype)
    name = element_type(dtype)
    if name not in _EXTREMES:
        raise InvalidArgumentError(f"elements are {dtype}; this monoid takes scalars")
    return name


def _integer(dtype: npt.DTypeLike) -> np.dtype[Any]:
    integer = check_dtype("dtype", dtype)
    if integer.kind not in "iu":
        raise InvalidArgumentError(f"elements are {integer}; bitwise operators take integers")
    return integer
