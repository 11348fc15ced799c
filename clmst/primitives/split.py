"""Split: the stable sort of records by some of their bits."""

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
    """Sort records stably by some of their bits, read as an unsigned integer.

    Parameters
    ----------
    records : DeviceArray, shape (n,)
        Records of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64.
    key_bits : int
        The number of bits of the key, from 1 to 64. To sort by a field that is a signed or
        floating-point number, use :func:`~clmst.primitives.sort.sort` with ``key=``.
    start_bit : int
        The lowest bit of the key. Bit 0 is the lowest bit of a record's first 32-bit word, and bit
        32 is the lowest bit of its second word.
    values : DeviceArray, shape (n,), optional
        A value for each record, which is moved with it. The dtypes allowed are those allowed for
        `records`.
    out, values_out : DeviceArray, shape (n,) or more, optional
        Outputs of the dtypes of `records` and `values`. They may be `records` and `values`
        themselves.
    strategy, launch
        See :func:`~clmst.primitives.compact.compact`.

    Returns
    -------
    DeviceArray, shape (n,); or, with values, two of them
        The sorted records. If `values` are given, a tuple of the records and the values in their
        order. The call returns without waiting for the device.

    Raises
    ------
    InvalidArgumentError
        The key is empty, has more than 64 bits, or is not within the record; an array has a wrong
        dtype, length or device; an output is too short, or overlaps another array without being its
        own input.

    Notes
    -----
    The sort is a sequence of passes over digits of up to 8 bits, or 4 bits on GPUs without
    NVIDIA's warp instructions. All digits are about equally wide.

    On devices whose work-groups have lanes (work-items of a sub-group, such as a warp), and for
    fewer than 2**30 records, two launches count all digits, and then each digit takes one launch
    that reads and writes all records and values once. Otherwise each digit takes three launches,
    which read records twice, or one launch if a work-group can hold all records.

    The extra memory is a copy of records and values, unless a single pass writes to other arrays,
    and counters of 4 bytes. For digits of b bits, there are O(2**b) counters for each work-group,
    or, if a digit takes one launch, for each tile and digit. In place, an odd number of passes
    takes one more copy. Records and values whose size is not a multiple of 4 bytes are widened
    before the first pass, and narrowed after the last.

    Source: Patidar, Narayanan 2009. Reduce-then-scan follows Merrill, Grimshaw 2010, 2011. A single
    launch per digit follows Adinets, Merrill 2022; Smith, Levien, Owens 2025.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> records = clmst.DeviceArray.from_host(np.array([0b110, 0b001, 0b010], np.uint32))
    >>> split(records, key_bits=2).to_host().tolist()
    [1, 6, 2]
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
