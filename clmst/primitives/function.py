"""Functions of an element, written in OpenCL C, with arguments that are given at each call.

Predicates, maps and generated edges are built from these functions. Apart from operators
(:class:`Monoid`), this is the only way in which a caller's expression gets into a kernel. The
OpenCL C code for this is in ``cl/device/function.cl``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Self, cast

import numpy as np

from clmst.core.arguments import check_dtype, check_mapping, shown, unchecked
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import check_apart, check_array
from clmst.primitives.element import ElementTypes, check_supported, element_of
from clmst.primitives.expression import (
    ARRAY_READER,
    RecordType,
    Value,
    check_expression,
    check_functions,
    check_name,
    check_title,
)
from clmst.runtime.array import DeviceArray
from clmst.runtime.handles import KernelArgument
from clmst.runtime.specialisation import Prelude

ELEMENT, INDEX = "x", "i"


@dataclass(frozen=True, slots=True, kw_only=True)
class Parametric:
    """An OpenCL C expression of a caller with named arguments, whose values are given by a call."""

    # Arguments that are numbers: their names and dtypes.
    scalars: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # The names of the arguments that are arrays, with the dtypes of their elements. The expression
    # reads an element by ``name[index]``. The caller must guarantee that each index is below the
    # array's length. A larger index reads other memory or crashes.
    arrays: Mapping[str, Any] = field(default_factory=dict, hash=False)
    # The values of the arguments. The mapping is empty until a call gives the values.
    given: Mapping[str, Any] = field(init=False, repr=False, compare=False, default_factory=dict)

    @property
    def _kind(self) -> str:
        return type(self).__name__.lower()

    def _check_arguments(self, taken: set[str]) -> None:
        """Check the names and dtypes of the arguments, and add the names to `taken`.

        `taken` has the names that arguments must not have. Raises InvalidArgumentError.
        """
        scalars = _checked_arguments("scalars", self.scalars, taken)
        if vectors := [name for name, dtype in scalars.items() if dtype.names]:
            raise InvalidArgumentError(
                f"scalars has {shown(vectors[0])} of {scalars[vectors[0]]}; records are given in "
                "arrays"
            )
        object.__setattr__(self, "scalars", scalars)
        object.__setattr__(self, "arrays", _checked_arguments("arrays", self.arrays, taken))

    def _arguments_macro(self, types: ElementTypes) -> dict[str, str]:
        """Return the macros by which ``function.cl`` gets the arguments of the expression.

        The arguments are the numbers in `scalars` and the arrays in `arrays`. The macro ARGUMENTS
        lists the OpenCL C type and the name of each. For an array whose elements are OpenCL C
        structs, a further macro reads an element. These structs are added to `types`, which holds
        the types of the whole program.
        """
        known = [("SCALAR", self.scalars), ("ARRAY", self.arrays)]
        arguments = [
            f"{kind}({types.of(dtype, f'Element_of_{name}')}, {name})"
            for kind, named in known
            for name, dtype in named.items()
        ]
        readers = {
            f"{ARRAY_READER}{name}(at)": f"{types.of(dtype, '')}_AT({name}, at)"
            for name, dtype in self.arrays.items()
            if element_of(dtype).is_struct
        }
        return {"ARGUMENTS(SCALAR, ARRAY)": " ".join(arguments)} | readers

    def __call__(self, **arguments: Any) -> Self:
        """Return a copy with a value for each argument. The kernel is not compiled again.

        Raises InvalidArgumentError if a name is missing or unknown, if a number does not fit its
        dtype, or if an array is not a :class:`clmst.DeviceArray` of its dtype.
        """
        self._check_names(arguments)
        given = {name: _as_scalar(name, arguments[name], d) for name, d in self.scalars.items()}
        for name, dtype in self.arrays.items():
            check_array(name, arguments[name], dtype)
            given[name] = arguments[name]
        attributes = {one.name: getattr(self, one.name) for one in fields(self)}
        return unchecked(type(self), **(attributes | {"given": given}))

    def _check_names(self, arguments: Mapping[str, Any]) -> None:
        known = [*self.scalars, *self.arrays]
        if set(arguments) != set(known):
            raise InvalidArgumentError(
                f"the {self._kind} is given {_listed(arguments)}; its arguments are "
                f"{_listed(known)}"
            )

    def check_given(self) -> None:
        """Raise InvalidArgumentError if the function has arguments whose values were not given."""
        if not self.given:
            self._check_names({})

    @property
    def kernel_arguments(self) -> tuple[KernelArgument, ...]:
        """The values of this function's arguments, as arguments of a kernel.

        A kernel that applies the function takes these values after its own arguments.
        """
        scalars = (self.given[name] for name in self.scalars)
        return (*scalars, *(self.given[name].memory for name in self.arrays))


@dataclass(frozen=True, slots=True, kw_only=True)
class Function(Parametric):
    """A pure function of an element and its index; the base class of `Predicate` and `Map`."""

    dtype: np.dtype[Any]  # the dtype of the elements
    # An expression in the element `x`, its index `i` (a ``uint``), and the names of the arguments.
    expression: str
    # Functions that the expression calls. Each consists of declarations, assignments and a return.
    preamble: str = ""
    name: str = "function"  # its name in errors and in compilers' messages
    # The text placed before a kernel file: the macros of ``cl/device/function.cl``.
    prelude: Prelude = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_to = object.__setattr__
        set_to(self, "dtype", check_dtype("dtype", self.dtype))
        types = ElementTypes()
        element = types.of(self.dtype, "Record")
        result, value_type = self._value(types)
        words = {"record": RecordType(self.dtype, element)}
        if result is not None:
            words["result"] = RecordType(result, value_type)
        words = {word: one for word, one in words.items() if one.dtype.names}
        functions = check_functions("preamble", self.preamble, words)
        self._check_arguments({ELEMENT, INDEX, *functions.values})
        names: dict[str, Value] = {ELEMENT: self.dtype, INDEX: None}
        expression = check_expression(
            "expression", self.expression, names | dict.fromkeys(self.scalars), functions,
            arrays=self.arrays, types=words, value=result,
        )  # fmt: skip
        set_to(self, "preamble", functions.text)
        set_to(self, "expression", expression.text)
        set_to(self, "name", check_title("name", self.name))
        macros = {"T": element, "EXPRESSION": f"({expression.code})", "R": value_type}
        if element_of(self.dtype).is_struct:
            macros["T_AT(array, at)"] = f"{element}_AT(array, at)"
        if result is not None and element_of(result).is_struct:
            macros["R_PUT(array, at, value)"] = f"{value_type}_PUT(array, at, value)"
        macros |= self._arguments_macro(types)
        set_to(
            self,
            "prelude",
            Prelude.of(self.name, functions.code, functions.values, macros, types.definitions),
        )

    def _value(self, types: ElementTypes) -> tuple[np.dtype[Any] | None, str]:
        """Return the dtype and the OpenCL C type of the expression's value.

        The dtype is None for a truth value. `types` has the OpenCL C types of records. If the value
        is a record, its type is added.
        """
        raise NotImplementedError

    def check_for(self, elements: DeviceArray, **written: DeviceArray | None) -> None:
        """Raise InvalidArgumentError unless the function can be applied to `elements`.

        The function's dtype must equal the dtype of the elements, its arguments must be given, and
        none of them may overlap an output. `written` has the outputs by name. Raises
        UnsupportedDeviceError if the device cannot compute with one of the dtypes.
        """
        if self.dtype != elements.dtype:
            raise InvalidArgumentError(
                f"the {self._kind} is of {self.dtype}, the elements are of {elements.dtype}; they "
                "must agree"
            )
        self.check_given()
        for dtype in (self.dtype, *self.scalars.values(), *self.arrays.values()):
            check_supported(dtype, elements.device)
        for name in self.arrays:
            check_array(name, self.given[name], like=elements)
            for output, array in written.items():
                if array is not None:
                    check_apart(output, array, **{name: self.given[name]})


def _checked_arguments(what: str, named: Any, taken: set[str]) -> dict[str, np.dtype[Any]]:
    """Check a mapping of names of arguments to dtypes, and return it as a dict.

    `named` is the mapping, and `what` is its name in messages. The names are added to `taken`.
    Raises InvalidArgumentError if a name or a dtype is invalid, or if a name is in `taken` already.
    """
    check_mapping(what, named)
    try:
        items = list(named.items())
    except Exception as error:
        raise InvalidArgumentError(f"{what} is {shown(named)}, which cannot be read") from error
    checked = {}
    for name, dtype in items:
        check_name(f"a name in {what}", name)
        if name in taken:
            raise InvalidArgumentError(
                f"{what} has {shown(name)}, which is something else already; names must differ"
            )
        taken.add(name)
        checked[name] = check_dtype(f"{what}[{name!r}]", dtype)
        element_of(checked[name])
    return checked


def _as_scalar(name: str, value: Any, dtype: np.dtype[Any]) -> np.generic:
    """Convert the number `value` to `dtype`. Raise InvalidArgumentError if it does not fit.

    `name` is the name of the argument in messages.
    """
    try:
        array = np.asarray(value)
        is_number = array.ndim == 0 and array.dtype.kind in "biuf"
        with np.errstate(all="ignore"):
            number: Any = array.astype(dtype)[()] if is_number else None
    except Exception:
        number = None
    if number is None or not _fits(array, number):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number of {dtype}")
    return cast("np.generic", number)


def _fits(array: Any, number: Any) -> bool:
    """Return whether a number fits the dtype to which it was converted.

    `array` has the number before the conversion, and `number` is the result. A float fits unless
    the conversion has made a finite number infinite. An integer fits if its value is unchanged.
    """
    if number.dtype.kind == "f":
        return bool(np.isfinite(number) or not np.isfinite(array))
    return bool(np.isfinite(array)) and array.item() == number.item()


def _listed(names: Any) -> str:
    return ", ".join(sorted(names)) or "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate(Function):
    """A condition on a record, written in OpenCL C.

    Attributes
    ----------
    dtype : numpy.dtype
        The dtype of the records: a signed or unsigned integer of 8, 16, 32 or 64 bits, float32,
        float64, or a structured dtype of these. A structured dtype may be packed or aligned, and
        has 1 to 16 bytes, or a multiple of 4 bytes up to 64.
    expression : str
        An expression in the record `x`, its index `i` (a ``uint``) and the arguments by their
        names. Its value is nonzero for records that satisfy the condition. It must be a pure
        function of these. Fields are written by their names, ``x.weight``, and have their own
        types. If 2, 4, 8 or 16 fields of one type fill the record, the record is also a vector of
        OpenCL C (``uint2`` with ``.x``, ``.y``).
    preamble : str
        Functions that the expression calls. Each consists of declarations, assignments and a
        return. In the preamble, ``record`` is the type of `x`.
    name : str
        Its name in errors and in compilers' messages.
    scalars, arrays : mapping of str to dtype
        Names and dtypes of arguments whose values are given when a primitive is called: numbers,
        and arrays whose elements the expression reads as ``name[index]``. The caller must guarantee
        that each index is below the array's length. ``predicate(limit=3)`` returns a copy with
        values for the arguments. Nothing is compiled again.

    Raises
    ------
    InvalidArgumentError
        Kernels do not support the dtype, or a text breaks the grammar of
        :mod:`clmst.primitives.expression`.

    Examples
    --------
    Light edges that are not loops:

    >>> edge = np.dtype([("u", "u4"), ("v", "u4"), ("weight", "f4")])
    >>> light = Predicate(dtype=edge, expression="x.u != x.v && x.weight < 0.5f", name="light edge")
    >>> light.name
    'light edge'

    Numbers below a limit that is known when the primitive is called:

    >>> below = Predicate(dtype="u4", expression="x < limit", scalars={"limit": "u4"})
    >>> below(limit=3).given
    {'limit': np.uint32(3)}
    """

    name: str = "predicate"

    def _value(self, types: ElementTypes) -> tuple[np.dtype[Any] | None, str]:
        """Return None and ``bool``, because the value of a predicate is a truth value.

        `types` is not used.
        """
        return None, "bool"
