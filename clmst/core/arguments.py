"""Checks of arguments of public functions. Each check returns the value or raises a clear error.

The value may be any object, even one whose own methods raise. An exception from the object becomes
the cause of a :class:`ClmstError`. Code below the public functions trusts values that have been
checked; :func:`unchecked` builds objects without checks.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from operator import index
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, get_args, get_origin

import numpy as np
import numpy.typing as npt

from clmst.core.errors import ClmstError, InvalidArgumentError, InvalidGraphError

T = TypeVar("T")
Kind = TypeVar("Kind")

_LONGEST = 80  # maximum number of characters of a value in a message


def shown(value: object) -> str:
    """Format a value for an error message: short, on one line, even if its ``repr`` raises."""
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def has(value: object, *names: str) -> bool:
    """Return whether the object `value` has all the attributes that `names` lists.

    Return False if reading one of them raises an exception.
    """
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:
        return False


def is_sparse(value: object) -> bool:
    """Return whether a value is a sparse matrix or a sparse array of SciPy.

    SciPy is not loaded for this, because that takes a quarter of a second. If it has not been
    loaded, no object can be one of its matrices.
    """
    # Another thread may be loading the module at present. Then it has no such function yet.
    is_one: Any = getattr(sys.modules.get("scipy.sparse"), "issparse", None)
    return is_one is not None and bool(is_one(value))


def is_array(value: object) -> bool:
    """Return whether a value is an array of any library. NumPy scalars are not arrays."""
    return has(value, "ndim", "shape") and not isinstance(value, np.generic)


def check_has(method: str, given: object, takes: str, *names: str) -> None:
    """Raise InvalidGraphError unless `given` has all the attributes that `names` lists.

    `method` is the name of the method to which the object was given, and `takes` describes in words
    what the method takes. Both are for the message.
    """
    if not has(given, *names):
        raise InvalidGraphError(f"{method} was given {type(given).__name__}; it takes {takes}")


def is_of_system(error: BaseException) -> bool:
    """Return whether an error comes from the operating system, for example because a disk fails.

    Decoders of file formats also raise OSError for damaged data, but without an error number.
    EINVAL does not count as an error of the system either, because damaged data can make a decoder
    seek before the first byte of a file.
    """
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


@contextmanager
def errors_as(made: Callable[[Exception], ClmstError], *passed: type[Exception]) -> Iterator[None]:
    """Replace exceptions that are raised inside the ``with`` by errors of clmst.

    It is for code that uses a caller's object or another library. `made` receives the exception and
    returns the error to raise. Errors of clmst, memory errors, errors of the operating system, and
    the types in `passed` are raised unchanged. Yields None.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (ClmstError, MemoryError, *passed)) or is_of_system(error):
            raise
        raise made(error) from error


def reading(given: object, rule: str) -> AbstractContextManager[None]:
    """Create a context manager that replaces any exception inside it by InvalidGraphError.

    Inside, the object `given` is read as a graph of another library. This fails if the object has
    the attributes of that library's graphs, but is something else. The message shows the class of
    the object, and ends with `rule`, which says what the object must be.
    """
    return errors_as(lambda error: InvalidGraphError(
        f"the graph of class {type(given).__name__} cannot be read ({type(error).__name__}: "
        f"{shown(error)}); it must be {rule}"
    ))  # fmt: skip


def check_kind(name: str, value: object, kind: type[Kind], *, rule: str | None = None) -> Kind:
    """Return `value` if it is an instance of `kind`. Raise InvalidArgumentError otherwise.

    `name` is the name of the argument, with which the message begins. `rule` is the end of the
    message. If `rule` is None, the message names the class.
    """
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        wanted = rule or f"it must be {article} {kind.__name__}"
        raise InvalidArgumentError(f"{name} is {shown(value)}; {wanted}")
    return value


def items_of(values: Any) -> list[Any]:
    """Return the items of the iterable `values` as a list.

    Raise TypeError for a SciPy sparse matrix, because iterating over a damaged one can crash SciPy.
    """
    if has(values, "tocsr"):
        raise TypeError("a sparse matrix is not a sequence")
    return list(values)


def check_mapping(name: str, value: object) -> None:
    """Raise InvalidArgumentError unless `value`, the argument called `name`, is a mapping."""
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a mapping")


def check_dict(name: str, value: object) -> None:
    """Raise InvalidArgumentError unless `value`, the argument called `name`, is a dict.

    SciPy's "dok" matrices are also refused, although their class is derived from dict.
    """
    if not isinstance(value, dict) or hasattr(value, "tocsr"):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a dict")


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool. Raise InvalidArgumentError unless it is True or False.

    NumPy's booleans are accepted, the numbers 0 and 1 are not. `name` is the name of the argument,
    for the message.
    """
    if isinstance(value, bool):
        return value
    if not isinstance(value, np.bool_):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be True or False")
    return bool(value)


def check_bools(**values: object) -> None:
    """Raise InvalidArgumentError unless each argument, given by its name, is True or False."""
    for name, value in values.items():
        if type(value) is not bool:  # a call would take longer than this check
            check_bool(name, value)


def check_integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int. Raise InvalidArgumentError unless `low` <= `value` <= `high`.

    Booleans and floats are refused. None as a bound means no bound. `name` is the name of the
    argument, for the message.
    """
    try:
        given: Any = None if isinstance(value, bool | np.bool_) else value
        number = index(given)
    except Exception as error:
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be an integer") from error
    if (low is not None and number < low) or (high is not None and number > high):
        raise InvalidArgumentError(f"{name} is {shown(number)}; it must {_range(low, high)}")
    return number


def check_number(name: str, value: float, *, low: float, high: float) -> None:
    """Raise InvalidArgumentError unless `value` is a number and `low` <= `value` <= `high`.

    `name` is the name of the argument, for the message.
    """
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number")
    if not low <= value <= high:
        raise InvalidArgumentError(f"{name} is {value}; it must be {low} to {high}")


def _range(low: int | None, high: int | None) -> str:
    """Return the end of an error message that states the bounds of an integer.

    `low` and `high` are the least and the greatest allowed value. None means no bound. At least one
    of them must be given.
    """
    if high is None:
        return "not be negative" if low == 0 else f"be at least {low}"
    return f"be at most {high}" if low is None else f"be {low} to {high}"


def check_text(name: str, value: object) -> str:
    """Return `value` as a plain str. Raise InvalidArgumentError unless `value` is a string.

    `name` is the name of the argument, for the message.
    """
    return str.__str__(check_kind(name, value, str, rule="it must be a string"))


def check_texts(name: str, value: object) -> tuple[str, ...]:
    """Return `value`, the argument called `name`, as a tuple of plain str.

    Raise InvalidArgumentError unless `value` is a tuple of strings.
    """
    texts = check_kind(name, value, tuple, rule="it must be a tuple of strings")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a tuple of strings")
    return tuple(map(str.__str__, texts))


def check_choice(name: str, value: object, known: Iterable[str], *, fact: str = "") -> str:
    """Return `value` as a plain str. Raise InvalidArgumentError unless it is in `known`.

    The message begins with `fact` and then lists the known values. Without a `fact`, the message
    begins with `name`, the name of the argument, and the value.
    """
    known = tuple(known)
    text = str.__str__(value) if isinstance(value, str) else None
    if text not in known:
        fact = fact or f"{name} is {shown(value)}; it must be one of"
        raise InvalidArgumentError(f"{fact} {', '.join(map(repr, known))}")
    return text


_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def from_text(text: str, kind: Any) -> Any:
    """Convert a text of the command line to the type `kind`.

    `kind` is bool, int, float, str, or a tuple of numbers such as ``tuple[int, ...]``.

    Raises
    ------
    ValueError
        The text cannot be converted to `kind`.
    """
    if kind is bool:
        try:
            return _BOOLEANS[text.strip().lower()]
        except KeyError as error:
            raise ValueError(text) from error
    if get_origin(kind) is tuple:
        one = get_args(kind)[0]
        return tuple(one(part) for part in text.split(","))
    return kind(text)


def check_path(name: str, value: Any) -> Path:
    """Return `value` as a path. Raise InvalidArgumentError unless it is a str or a path of str.

    `name` is the name of the argument, for the message.
    """
    try:
        given: object = os.fspath(value)
    except Exception as error:
        raise _no_path(name, value) from error
    if not isinstance(given, str):
        raise _no_path(name, value)
    if "\0" in given:
        raise InvalidArgumentError(f"{name} is {shown(given)}; a path must not contain a zero byte")
    return Path(given)


def check_file(name: str, value: Any, method: str) -> Path | BinaryIO:
    """Return `value`, the argument called `name`, as a path or as an open binary file.

    An object with the attribute `method`, which is "read" or "write", is taken for an open file and
    returned unchanged. Any other value becomes a path. Raise InvalidArgumentError for a text file,
    or if the value cannot be a path.
    """
    if isinstance(value, str | os.PathLike) or not has(value, method):
        return check_path(name, value)
    if isinstance(value, io.TextIOBase):
        raise InvalidArgumentError(
            f"{name} is {shown(value)}, a file of text; it must be binary (sys.stdin.buffer, "
            "open(path, 'rb'))"
        )
    opened: BinaryIO = value
    return opened


def _no_path(name: str, value: object) -> InvalidArgumentError:
    """Create the error for a `value` of the argument `name` that is not a path."""
    return InvalidArgumentError(f"{name} is {shown(value)}; it must be a string or a path")


def check_dtype(name: str, value: Any) -> np.dtype[Any]:
    """Return `value` as a NumPy dtype. Raise InvalidArgumentError if NumPy cannot convert `value`.

    None is also refused, although NumPy takes it for float64. `name` is the name of the argument,
    for the message.
    """
    if isinstance(value, np.dtype):
        return value
    try:
        dtype: np.dtype[Any] = np.dtype("None" if value is None else value)
    except Exception as error:
        raise InvalidArgumentError(
            f"{name} is {shown(value)}; it must be a NumPy dtype, or something that NumPy "
            "converts to one"
        ) from error
    return dtype


def has_numbers(value: object) -> bool:
    """Return whether NumPy can convert `value`, such as a tensor, to an array of numbers."""
    return isinstance(value, np.ndarray) or has(value, "__array__") or has(value, "__dlpack__")


def as_array(
    name: str, values: Any, *, error: type[ClmstError] = InvalidArgumentError
) -> npt.NDArray[Any]:
    """Convert `values` to a NumPy array, without a copy if NumPy can use their memory.

    An object that supports only `__dlpack__` must be in host memory. Raises an exception of the
    class `error` if NumPy cannot convert the values, or if an element of a masked array is masked.
    `name` is the name of the argument, for the message.
    """
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        raise error(f"{name} is a masked array with masked elements; none may be masked")
    try:
        if has(values, "__dlpack__") and not has(values, "__array__"):
            return np.from_dlpack(values)
        return np.asarray(values)
    except (ClmstError, MemoryError):
        raise
    except Exception as cause:
        raise error(
            f"{name} is {shown(values)}, which NumPy cannot convert to an array "
            f"({_said(cause)}); it must be an array, or lists of equal lengths"
        ) from cause


def check_row(
    name: str, array: npt.NDArray[Any], *, error: type[ClmstError] = InvalidGraphError
) -> None:
    """Raise an exception of the class `error` unless `array` is a one-dimensional integer array.

    `name` is the name of the array, for the message.
    """
    if array.ndim != 1:
        raise error(f"{name} has {array.ndim} dimensions; it must have one")
    if array.dtype.kind not in "iu":
        raise error(f"{name} has dtype {array.dtype}; it must have an integer dtype")


def as_reals(name: str, values: Any) -> npt.NDArray[np.float64]:
    """Convert `values` to a float64 array.

    Raises InvalidGraphError unless they are booleans, integers or floats. `name` is the name of the
    argument, for the message.
    """
    array = as_array(name, values, error=InvalidGraphError)
    if array.dtype.kind not in "biuf":
        raise InvalidGraphError(f"{name} have dtype {array.dtype}; they must be real numbers")
    with np.errstate(invalid="ignore"):  # for a signalling NaN, which callers refuse like any NaN
        return array.astype(np.float64, copy=False)


def _said(error: Exception) -> str:
    """Return the first line of an error's message.

    If the message is empty, return the error's class.
    """
    try:
        return str(error).strip().partition("\n")[0][:200] or type(error).__name__
    except Exception:
        return type(error).__name__


def unchecked(kind: type[T], **attributes: Any) -> T:
    """Create an instance of the frozen dataclass `kind` without running the checks of the class.

    All attributes must be given, under the names under which the instance stores them.
    """
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
