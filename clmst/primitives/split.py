"""Split: the stable partition of records by a field of their bits."""

from __future__ import annotations

from typing import overload

from clmst.primitives.checks import check_array
from clmst.primitives.element import record_words
from clmst.primitives.radix import Key, check_field, plan_moves
from clmst.primitives.shares import Strategy, check_strategy
from clmst.primitives.widen import order
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher


@overload
def split(
    records: DeviceArray,
    *,
    key_bits: int,
    start_bit: int = 0,
    values: None = None,
    out: DeviceArray | None = None,
    values_out: None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray: ...


@overload
def split(
    records: DeviceArray,
    *,
    key_bits: int,
    start_bit: int = 0,
    values: DeviceArray,
    out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, DeviceArray]: ...


@guarded
def split(
    records: DeviceArray,
    *,
    key_bits: int,
    start_bit: int = 0,
    values: DeviceArray | None = None,
    out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> DeviceArray | tuple[DeviceArray, DeviceArray]:
    """Sort records stably by a field of their bits.

    Parameters
    ----------
    records : DeviceArray, shape (n,)
        Of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes, 64 at most.
    key_bits : int
        Width of the field, an unsigned integer: 1 to 64. Fields of structured records that are
        signed or floating-point numbers are the business of :func:`~clmst.primitives.sort.sort`,
        by ``key=``.
    start_bit : int
        Where it begins: bit 0 is the lowest one of a record's first 32-bit word, bit 32 that of its
        second.
    values : DeviceArray, shape (n,), optional
        A value for each record; of any such dtype.
    out, values_out : DeviceArray, shape (n,) or more, optional
        Where records and values go; of their dtypes; may be `records` and `values` themselves.
    strategy, launch
        As of :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,); or, with values, two of them
        Records, and values. Not waited for.

    Raises
    ------
    InvalidArgumentError
        The field is empty, too wide or not within the record; elements of another size; values of
        another length; another device; an output that is too short, or that overlaps another array
        without being equal.

    Notes
    -----
    Passes over digits of 8 bits, or 4 on GPUs without NVIDIA's lanes, evenly wide. On devices whose
    work-groups have lanes, and for less than 2**30 records, one sweep a digit: two launches that
    count all digits, and one for each; a pass reads records and values once and writes both once.
    Else three launches a digit (one for what a work-group holds), which read records twice. Extra
    memory: records and values once more, unless one pass writes to other arrays, and O(work-groups
    x 2**digit bits), or as many words for each tile and digit. In place, an odd number of passes
    costs one more copy. Records and values that are no whole words are copied to whole ones before,
    and back after.

    Source: Patidar, Narayanan 2009; reduce-then-scan after Merrill, Grimshaw 2010, 2011; one sweep
    after Adinets, Merrill 2022; Smith, Levien, Owens 2025.
    """
    check_array("records", records)
    record_words("records", records.dtype)
    start_bit, key_bits = check_field(
        "records has elements", 8 * records.dtype.itemsize, start_bit, key_bits
    )
    check_strategy(strategy)
    moved, moved_values = plan_moves(records, out, values, values_out, ("records", "out"))
    order(Key(start_bit=start_bit, bits=key_bits), moved, moved_values, strategy, launch)
    return moved.result if moved_values is None else (moved.result, moved_values.result)
