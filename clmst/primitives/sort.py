"""Stable radix sort of numbers, or of records by one of their fields, with or without values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import numpy as np

from clmst.core.arguments import check_bool, check_integer, shown
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import check_apart, check_array, launcher_for, output_for
from clmst.primitives.element import record_words
from clmst.primitives.permute import number
from clmst.primitives.radix import KEY_KINDS, Key, KeyKind, check_field, plan_moves
from clmst.primitives.shares import Strategy, check_strategy
from clmst.primitives.widen import order
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher


@guarded
def sort(
    keys: DeviceArray,
    *,
    key: str | None = None,
    descending: bool = False,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Sort numbers, or records by one of their fields.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Numbers of (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64. With `key`, records of
        a structured dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    key : str, optional
        The name of the field by which records are sorted. The field is a number of one of these
        dtypes, at any byte of the record. Other fields may have any dtype. Whole records are moved.
    descending : bool
        Whether the largest number comes first.
    out : DeviceArray, shape (n,) or more, optional
        Output of the dtype of `keys`. It may be `keys` itself.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        The sorted elements. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device; `key` is not a field of the records; `out` is too
        short, or overlaps `keys` without being `keys` itself.

    Notes
    -----
    The sort is stable: elements with equal keys keep their order. -0.0 equals 0.0. All NaNs are
    equal and larger than every number, so they come last, or first if `descending`. To sort by two
    fields, sort by the second field first, and then by the first. Doubles can be sorted even on
    devices without arithmetic on doubles. The cost is explained at
    :func:`~clmst.primitives.split.split`, with as many key bits as a number has.

    Examples
    --------
    >>> import clmst
    >>> edges = np.array([(0.5, 7), (-1, 8), (0.25, 9)], [("weight", "f4"), ("edge", "u4")])
    >>> sort(clmst.DeviceArray.from_host(edges), key="weight").to_host()["edge"].tolist()
    [8, 9, 7]
    """
    number_key = _number_key(keys, key, descending=descending)
    check_strategy(strategy)
    moved, _ = plan_moves(keys, out, None, None, ("keys", "out"))
    order(number_key, moved, None, strategy, launch)
    return moved.result


@guarded
def sort_by_key(
    keys: DeviceArray,
    values: DeviceArray,
    *,
    key: str | None = None,
    key_bits: int | None = None,
    start_bit: int = 0,
    descending: bool = False,
    keys_out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, DeviceArray]:
    """Sort numbers, or records by one of their fields, and move values along with them.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Numbers of (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64. With `key`, records of
        a structured dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    values : DeviceArray, shape (n,)
        Values of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    key : str, optional
        The name of the field by which records are sorted; see :func:`sort`.
    key_bits, start_bit : int, optional
        Sort only by `key_bits` bits of the number, beginning at bit `start_bit`. Signed and
        floating-point numbers are first converted to unsigned integers of the same order. By
        default the key has all bits from `start_bit` up.
    descending : bool
        Whether the largest number comes first.
    keys_out, values_out : DeviceArray, shape (n,) or more, optional
        Outputs of the dtypes of `keys` and `values`. They may be `keys` and `values` themselves.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    keys, values : DeviceArray, shape (n,)
        The sorted keys, and the values in their order. The call returns without waiting for the
        device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype, length or device; the bits are not within the number; an output
        is too short, or overlaps another array without being its own input.

    Notes
    -----
    The order is explained at :func:`sort`, and the cost at :func:`~clmst.primitives.split.split`.
    The sort is stable.

    Examples
    --------
    >>> import clmst
    >>> keys = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.int32))
    >>> values = clmst.DeviceArray.from_host(np.array([10, 11, 12], np.uint32))
    >>> sorted_keys, moved = sort_by_key(keys, values)
    >>> moved.to_host().tolist()
    [11, 12, 10]
    """
    whole = _number_key(keys, key, descending=descending)
    start_bit = check_integer("start_bit", start_bit)
    bits = whole.bits - start_bit if key_bits is None else key_bits
    subject = "keys has elements" if key is None else f"the field {key} is"
    start_bit, bits = check_field(subject, whole.bits, start_bit, bits)
    check_array("values", values)
    check_strategy(strategy)
    number_key = replace(whole, start_bit=start_bit, bits=bits)
    moved, moved_values = plan_moves(keys, keys_out, values, values_out, ("keys", "keys_out"))
    assert moved_values is not None, "there are values"
    order(number_key, moved, moved_values, strategy, launch)
    return moved.result, moved_values.result


@guarded
def argsort(
    keys: DeviceArray,
    *,
    key: str | None = None,
    descending: bool = False,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Find the indices that sort an array, as ``numpy.argsort`` does.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Numbers, or records if `key` is given; see :func:`sort`. They are not changed.
    key : str, optional
        The name of the field by which records are sorted; see :func:`sort`.
    descending : bool
        Whether the largest number comes first.
    out : DeviceArray of uint32, shape (n,) or more, optional
        Output. It must not overlap `keys`.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint32, shape (n,)
        The indices of the keys in sorted order, so that ``gather(keys, indices)`` is sorted. Equal
        keys keep their order. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype or device, or `out` is too short or overlaps `keys`.

    Notes
    -----
    It is a :func:`sort_by_key` of the keys with their indices as values.

    Examples
    --------
    >>> import clmst
    >>> keys = clmst.DeviceArray.from_host(np.array([3, 1, 2], np.int32))
    >>> argsort(keys).to_host().tolist()
    [1, 2, 0]
    """
    _number_key(keys, key, descending=descending)
    check_strategy(strategy)
    indices = output_for("out", out, np.uint32, keys.size, like=keys)[: keys.size]
    check_apart("out", indices, keys=keys)
    launch = launcher_for(keys, launch)
    number(launch, indices)
    sort_by_key(
        keys, indices, key=key, descending=descending, values_out=indices, strategy=strategy,
        launch=launch,
    )  # fmt: skip
    return indices


def bits_of(n: int) -> int:
    """Return the number of bits that integers from 0 to n - 1 need, which is at least 1."""
    return max((n - 1).bit_length(), 1)


def _number_key(keys: DeviceArray, key: str | None, *, descending: bool) -> Key:
    """Check the keys of a sort, and return the description of the sort key.

    `keys` must be numbers, with `key` None, or records with a field called `key` that is a number.
    The sort key has all bits of the number. With `descending` the greatest number comes first.
    Raises InvalidArgumentError for other keys.
    """
    check_array("keys", keys)
    check_bool("descending", descending)
    dtype, offset, what = keys.dtype, 0, "keys are"
    if key is not None:
        fields: Any = keys.dtype.fields or {}
        names = keys.dtype.names or ()
        if not isinstance(key, str) or key not in names:
            known = f"its fields are {', '.join(names)}" if names else "records have such fields"
            raise InvalidArgumentError(
                f"key is {shown(key)}, which is not a field of {keys.dtype}; {known}"
            )
        record_words("keys", keys.dtype)
        (dtype, offset), what = fields[key][:2], f"the field {key} is"
    size, kinds = dtype.itemsize, {kind: kind for kind in KEY_KINDS}
    kind = kinds.get(cast("KeyKind", dtype.kind))
    if kind is None or (kind, size) == ("f", 2) or size > 8 or not dtype.isnative:
        hint = "; for records, name the field to sort by: key=..." if keys.dtype.names else ""
        raise InvalidArgumentError(
            f"{what} of {dtype}; they must be of (u)int8, 16, 32 or 64, float32 or float64, "
            f"in the machine's byte order{hint}"
        )
    return Key(
        start_bit=0, bits=8 * size, width=8 * size, number_bit=8 * offset, kind=kind,
        descending=descending,
    )  # fmt: skip
