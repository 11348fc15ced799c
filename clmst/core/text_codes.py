"""Replace strings by integer codes, with the fastest library that is available."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from clmst.core.weight_keys import Array

# Minimum number of strings for which importing a library and using it is faster than a Python dict.
_MANY = 1 << 21


def codes_of_text(strings: Array) -> tuple[Array, list[str]] | None:
    """Return the code of each string, and the distinct strings in order of first appearance.

    A code is the string's index among the distinct strings. `strings` is an array of objects.
    Return None if one of them is not a string. The strings are hashed by pyarrow, pandas or polars
    if one of these has been imported, or if it is installed and there are many strings. Otherwise a
    dict is used. O(m).
    """
    for name, encode in _LIBRARIES.items():
        if name in sys.modules or (strings.size >= _MANY and find_spec(name) is not None):
            try:
                codes, distinct = encode(import_module(name), strings)
            except Exception:  # a value is not a string, or not valid Unicode
                break
            return _checked(codes, distinct)
    known: dict[str, int] = {}
    try:
        codes = np.fromiter(
            (known.setdefault(one, len(known)) for one in strings.tolist()), np.int64, strings.size
        )
    except TypeError:  # a value cannot be hashed
        return None
    return _checked(codes, list(known))


def _checked(codes: Array, distinct: list[Any]) -> tuple[Array, list[str]] | None:
    """Check codes of texts, and return them together with the list of distinct texts.

    A code is an index into `distinct`. In the returned list, the values of `distinct` are plain
    str. Returns None if a code is negative, which stands for a missing value, or if a value in
    `distinct` is not a string.
    """
    if codes.size and int(codes.min()) < 0:
        return None
    if set(map(type, distinct)) == {str}:
        return codes, distinct
    if all(isinstance(one, str) for one in distinct):  # subclasses of str
        return codes, list(map(str.__str__, distinct))
    return None


def _by_pandas(pandas: Any, strings: Array) -> tuple[Array, list[Any]]:
    """Return the code of each string and the distinct strings, found by a hash table of pandas."""
    codes, distinct = pandas.factorize(strings)
    return codes, distinct.tolist()


def _by_arrow(pyarrow: Any, strings: Array) -> tuple[Array, list[Any]]:
    """Return the code of each string and the distinct strings, found by pyarrow.

    All codes are -1 if a string is missing.
    """
    encoded = pyarrow.array(strings, pyarrow.large_string()).dictionary_encode()
    if encoded.null_count:
        return np.full(strings.size, -1), []
    return encoded.indices.to_numpy(), encoded.dictionary.to_pylist()


def _by_polars(polars: Any, strings: Array) -> tuple[Array, list[Any]]:
    """Return the code of each string and the distinct strings, found by polars.

    All codes are -1 if a string is missing.
    """
    series = polars.Series(strings.tolist(), dtype=polars.String, strict=True)
    if series.null_count():
        return np.full(strings.size, -1), []
    distinct = series.unique(maintain_order=True)
    return series.cast(polars.Enum(distinct)).to_physical().to_numpy(), distinct.to_list()


_LIBRARIES: dict[str, Callable[[Any, Array], tuple[Array, list[Any]]]] = {
    "pyarrow": _by_arrow,
    "pandas": _by_pandas,
    "polars": _by_polars,
}
