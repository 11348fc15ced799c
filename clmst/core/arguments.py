"""Checks of the arguments of public calls: each returns the value, or raises a clear error.

A value may be anything, also an object whose own methods raise. What it raises becomes the cause of
a :class:`ClmstError`. What has been checked once is trusted below: :func:`unchecked`.
"""

from __future__ import annotations

import errno
import io
import os
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

_LONGEST = 80  # characters of a value in a message


def shown(value: object) -> str:
    """Return a value for messages: short, on one line, even if its ``repr`` fails."""
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:
        text = f"a {type(value).__name__}"
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def has(value: object, *names: str) -> bool:
    """Return whether an object has these attributes; False if reading them raises."""
    try:
        return all(hasattr(value, name) for name in names)
    except Exception:
        return False


def is_array(value: object) -> bool:
    """Return whether a value is an array, of any library; NumPy's scalars are none."""
    return has(value, "ndim", "shape") and not isinstance(value, np.generic)


def check_has(method: str, given: object, takes: str, *names: str) -> None:
    """Raise unless what is given to a method has these attributes."""
    if not has(given, *names):
        raise InvalidGraphError(f"{method} was given {type(given).__name__}; it takes {takes}")


def is_of_system(error: BaseException) -> bool:
    """Return whether the system failed, as when a disk breaks, rather than a decoder.

    Decoders raise OSError for damaged data, too, but without a number. EINVAL is not the system's
    fault: it comes from damaged data that send a reader to a byte before the first one.
    """
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


@contextmanager
def errors_as(made: Callable[[Exception], ClmstError], *passed: type[Exception]) -> Iterator[None]:
    """Turn errors of a caller's object, or of another library, into those that `made` returns.

    Errors of clmst, those of memory, those of the system, and those `passed` stay as they are.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (ClmstError, MemoryError, *passed)) or is_of_system(error):
            raise
        raise made(error) from error


def reading(given: object, rule: str) -> AbstractContextManager[None]:
    """Raise :class:`InvalidGraphError` where an object only looks like another library's graph."""
    return errors_as(lambda error: InvalidGraphError(
        f"the graph of class {type(given).__name__} cannot be read ({type(error).__name__}: "
        f"{shown(error)}); it must be {rule}"
    ))  # fmt: skip


def check_kind(name: str, value: object, kind: type[Kind], *, rule: str | None = None) -> Kind:
    """Return `value`, or raise unless it is a `kind`; `rule` says what it must be."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        wanted = rule or f"it must be {article} {kind.__name__}"
        raise InvalidArgumentError(f"{name} is {shown(value)}; {wanted}")
    return value


def items_of(values: Any) -> list[Any]:
    """Return what a sequence has; raise for a sparse matrix, whose damaged rows crash SciPy."""
    if has(values, "tocsr"):
        raise TypeError("a sparse matrix is no sequence")
    return list(values)


def check_mapping(name: str, value: object) -> None:
    """Raise unless `value` is a mapping."""
    if not isinstance(value, Mapping):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a mapping")


def check_dict(name: str, value: object) -> None:
    """Raise unless `value` is a dict; SciPy has matrices that are dicts as well."""
    if not isinstance(value, dict) or hasattr(value, "tocsr"):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a dict")


def check_bool(name: str, value: object) -> bool:
    """Return `value` as a bool, or raise unless it is True or False."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, np.bool_):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be True or False")
    return bool(value)


def check_bools(**values: object) -> None:
    """Raise unless each value is True or False."""
    for name, value in values.items():
        check_bool(name, value)


def check_integer(name: str, value: Any, *, low: int | None = None, high: int | None = None) -> int:
    """Return `value` as an int, or raise unless it is an integer from `low` to `high`."""
    try:
        given: Any = None if isinstance(value, bool | np.bool_) else value
        number = index(given)
    except Exception as error:
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be an integer") from error
    if (low is not None and number < low) or (high is not None and number > high):
        raise InvalidArgumentError(f"{name} is {shown(number)}; it must {_range(low, high)}")
    return number


def check_number(name: str, value: float, *, low: float, high: float) -> None:
    """Raise unless `value` is a number from low to high."""
    if not isinstance(value, int | float | np.integer | np.floating) or isinstance(value, bool):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a number")
    if not low <= value <= high:
        raise InvalidArgumentError(f"{name} is {value}; it must be {low} to {high}")


def _range(low: int | None, high: int | None) -> str:
    if high is None:
        return "not be negative" if low == 0 else f"be at least {low}"
    return f"be at most {high}" if low is None else f"be {low} to {high}"


def check_text(name: str, value: object) -> str:
    """Return `value` as a plain str, or raise unless it is text."""
    return str.__str__(check_kind(name, value, str, rule="it must be a string"))


def check_texts(name: str, value: object) -> tuple[str, ...]:
    """Return `value`, or raise unless it is a tuple of strings."""
    texts = check_kind(name, value, tuple, rule="it must be a tuple of strings")
    if not all(isinstance(text, str) for text in texts):
        raise InvalidArgumentError(f"{name} is {shown(value)}; it must be a tuple of strings")
    return tuple(map(str.__str__, texts))


def check_choice(name: str, value: object, known: Iterable[str], *, fact: str = "") -> str:
    """Return `value`, or raise unless it is one of `known`; `fact` begins the message."""
    known = tuple(known)
    text = str.__str__(value) if isinstance(value, str) else None
    if text not in known:
        fact = fact or f"{name} is {shown(value)}; it must be one of"
        raise InvalidArgumentError(f"{fact} {', '.join(map(repr, known))}")
    return text


_BOOLEANS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def from_text(text: str, kind: Any) -> Any:
    """Return what a text on a command line means as a bool, int, float, str or tuple of numbers.

    Raises
    ------
    ValueError
        The text names no value of the kind.
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
    """Return `value` as a path, or raise unless it is the name of a file."""
    try:
        given: object = os.fspath(value)
    except Exception as error:
        raise _no_path(name, value) from error
    if not isinstance(given, str):
        raise _no_path(name, value)
    if "\0" in given:
        raise InvalidArgumentError(f"{name} is {shown(given)}; a path has no zero byte")
    return Path(given)


def check_file(name: str, value: Any, method: str) -> Path | BinaryIO:
    """Return `value` as a path or an open binary file, which has a `method`: read or write."""
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
    return InvalidArgumentError(f"{name} is {shown(value)}; it must be a string or a path")


def check_dtype(name: str, value: Any) -> np.dtype[Any]:
    """Return the value as a NumPy dtype, or raise; None is refused, too."""
    if isinstance(value, np.dtype):
        return value
    try:
        dtype: np.dtype[Any] = np.dtype("None" if value is None else value)
    except Exception as error:
        raise InvalidArgumentError(
            f"{name} is {shown(value)}; it must be a NumPy dtype or what NumPy makes one of"
        ) from error
    return dtype


def has_numbers(value: object) -> bool:
    """Return whether an object gives NumPy its numbers, as arrays and tensors do."""
    return isinstance(value, np.ndarray) or has(value, "__array__") or has(value, "__dlpack__")


def as_array(
    name: str, values: Any, *, error: type[ClmstError] = InvalidArgumentError
) -> npt.NDArray[Any]:
    """Return values as a NumPy array, or raise; no element may be masked.

    What has only `__dlpack__` is taken if its memory is the host's.
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
            f"{name} is {shown(values)}, of which NumPy makes no array ({_said(cause)}); "
            "it must be an array, or a list that is one"
        ) from cause


def check_row(
    name: str, array: npt.NDArray[Any], *, error: type[ClmstError] = InvalidGraphError
) -> None:
    """Raise unless an array has one dimension and integers."""
    if array.ndim != 1:
        raise error(f"{name} has {array.ndim} dimensions; it must have one")
    if array.dtype.kind not in "iu":
        raise error(f"{name} has dtype {array.dtype}; it must have an integer dtype")


def as_reals(name: str, values: Any) -> npt.NDArray[np.float64]:
    """Return real numbers as an array of float64, or raise."""
    array = as_array(name, values, error=InvalidGraphError)
    if array.dtype.kind not in "biuf":
        raise InvalidGraphError(f"{name} have dtype {array.dtype}; they must be real numbers")
    with np.errstate(invalid="ignore"):  # of a signalling NaN, which callers refuse like any other
        return array.astype(np.float64, copy=False)


def _said(error: Exception) -> str:
    try:
        return str(error).strip().partition("\n")[0][:200] or type(error).__name__
    except Exception:
        return type(error).__name__


def unchecked(kind: type[T], **attributes: Any) -> T:
    """Return a new frozen dataclass with all its attributes given, without its checks."""
    made = object.__new__(kind)
    for name, value in attributes.items():
        object.__setattr__(made, name, value)
    return made
