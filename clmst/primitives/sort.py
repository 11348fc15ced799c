"""Stable radix sort of numbers, with or without values."""

from __future__ import annotations

import numpy as np

from clmst.core.arguments import check_bool, check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.primitives.checks import check_apart, check_array, launcher_for, output_for
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
    descending: bool = False,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Sort numbers.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Of (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64.
    descending : bool
        The greatest first.
    out : DeviceArray, shape (n,) or more, optional
        Where the result goes; of the dtype of `keys`; may be `keys` itself.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,)
        Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, an `out` that is too short, or `out` overlaps `keys` without being
        equal.

    Notes
    -----
    -0.0 and 0.0 are equal and keep their order. NaNs keep their order too; they are above all
    numbers, so they come last, or first if `descending`. No device needs arithmetic on doubles for
    them. Costs as of :func:`~clmst.primitives.split.split` with as many key bits as a number has.
    """
    key = _whole_key(keys, descending=descending)
    check_strategy(strategy)
    moved, _ = plan_moves(keys, out, None, None, ("keys", "out"))
    order(key, moved, None, strategy, launch)
    return moved.result


@guarded
def sort_by_key(
    keys: DeviceArray,
    values: DeviceArray,
    *,
    key_bits: int | None = None,
    start_bit: int = 0,
    descending: bool = False,
    keys_out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, DeviceArray]:
    """Sort numbers together with values, stably.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Of (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64.
    values : DeviceArray, shape (n,)
        Of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes, 64 at most.
    key_bits, start_bit : int, optional
        Sort by the `key_bits` bits from `start_bit` up. The bits are those of unsigned keys; for
        other numbers, those of the unsigned integers that order like them. By default all bits from
        `start_bit` up.
    descending : bool
        The greatest first.
    keys_out, values_out : DeviceArray, shape (n,) or more, optional
        Where keys and values go; of their dtypes; may be `keys` and `values` themselves.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    keys, values : DeviceArray, shape (n,)
        Not waited for.

    Raises
    ------
    InvalidArgumentError
        As of :func:`~clmst.primitives.split.split`, or keys of a dtype that is no number's.

    Notes
    -----
    Order as of :func:`sort`, costs as of :func:`~clmst.primitives.split.split`.
    """
    whole = _whole_key(keys, descending=descending)
    start_bit = check_integer("start_bit", start_bit)
    bits = whole.bits - start_bit if key_bits is None else key_bits
    start_bit, bits = check_field("keys", keys, start_bit, bits)
    check_array("values", values)
    check_strategy(strategy)
    key = Key(start_bit=start_bit, bits=bits, kind=whole.kind, descending=descending)
    moved, moved_values = plan_moves(keys, keys_out, values, values_out, ("keys", "keys_out"))
    assert moved_values is not None, "there are values"
    order(key, moved, moved_values, strategy, launch)
    return moved.result, moved_values.result


@guarded
def argsort(
    keys: DeviceArray,
    *,
    descending: bool = False,
    out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray:
    """Find the order in which numbers are sorted, stably.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Of (u)int8, (u)int16, (u)int32, (u)int64, float32 or float64. They stay as they are.
    descending : bool
        The greatest first.
    out : DeviceArray of uint32, shape (n,) or more, optional
        Where the result goes; apart from `keys`.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray of uint32, shape (n,)
        The indices of the keys in sorted order: :func:`gather` by them sorts. Not waited for.

    Raises
    ------
    InvalidArgumentError
        A wrong dtype or device, an `out` that is too short, or `out` overlaps `keys`.

    Notes
    -----
    As :func:`sort_by_key` of the keys with their indices, in whose order it is.
    """
    _whole_key(keys, descending=descending)
    check_strategy(strategy)
    indices = output_for("out", out, np.uint32, keys.size, like=keys)[: keys.size]
    check_apart("out", indices, keys=keys)
    launch = launcher_for(keys, launch)
    number(launch, indices)
    sort_by_key(
        keys, indices, descending=descending, values_out=indices, strategy=strategy, launch=launch
    )
    return indices


def bits_of(n: int) -> int:
    """Return the number of bits of numbers below n: their `key_bits`."""
    return max((n - 1).bit_length(), 1)


def _whole_key(keys: DeviceArray, *, descending: bool) -> Key:
    """Return the key that has all bits of a number, after checking that `keys` are numbers."""
    check_array("keys", keys)
    check_bool("descending", descending)
    kind, size = keys.dtype.kind, keys.dtype.itemsize
    kinds: dict[str, KeyKind] = {kind: kind for kind in KEY_KINDS}
    if kind not in kinds or (kind, size) == ("f", 2) or size > 8 or not keys.dtype.isnative:
        raise InvalidArgumentError(
            f"keys are of {keys.dtype}; they must be of (u)int8, 16, 32 or 64, float32 or float64, "
            "in the machine's byte order"
        )
    return Key(start_bit=0, bits=8 * size, kind=kinds[kind], descending=descending)
