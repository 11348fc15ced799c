"""The radix sort behind :mod:`~clmst.primitives.split` and :mod:`~clmst.primitives.sort`.

It consists of passes. A pass sorts records stably by one digit of their keys, which is a few bits.
Passes over all digits, the lowest digit first, sort records by the whole key.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np

from clmst.core.arguments import check_integer
from clmst.core.errors import InvalidArgumentError
from clmst.primitives import radix_chain
from clmst.primitives.checks import (
    check_apart,
    check_array,
    check_fits,
    check_in_place,
    check_length,
)
from clmst.primitives.element import WORD_BYTES, record_words
from clmst.primitives.shares import Shares
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant, Policy
from clmst.runtime.program import Program

SOURCE = "primitives/split.cl"

KeyKind: TypeAlias = Literal["u", "i", "f"]
KEY_KINDS: tuple[KeyKind, ...] = ("u", "i", "f")  # in the order of WEIGHT_KIND

_MAX_KEY_BITS = 64

# Number of bits of a digit. Each pass of a sort handles one digit of the key, so with more bits
# there are fewer passes. This number is for devices on which the work-items of a sub-group (lanes)
# find the places of records together, or on which work-groups have one work-item. On all other
# devices a digit has _COUNTERS_RADIX_BITS bits. All times on an H200 were measured with 8 bits.
RADIX_BITS = Constant("radix.RADIX_BITS", 8)
# Number of work-items in a work-group. With 512, an H200 sorts 2**26 pairs of uint32 in 2.24 ms.
# With 384 work-items that take more records each, it takes 2.21 ms.
WORK_ITEMS = Constant("radix.WORK_ITEMS", 512)

# The values of the macro RANK_BY of cl/device/rank.cl, which says how the kernels find the places
# of records among those with the same digit: by counters in local memory, or by ballots of lanes.
_BY_COUNTERS, _BY_BALLOTS = 0, 1
# The kinds of sub-groups (lanes) that find the places of records together, by ballots. The kind
# "khr" could do so, too, as tests show, but it has not been measured whether that is faster.
RANKING_LANES = frozenset({"ptx"})
# If lanes do not find the places of records, counters in local memory do. Then a digit has this
# number of bits, and work-groups have at most this size. The counters take 512 bytes of local
# memory per value of a digit.
_COUNTERS_RADIX_BITS = 4
_COUNTERS_MAX_WORK_GROUP_SIZE = 256
# Maximum number of bytes of records per work-item. With more, Intel's compiler runs out of
# registers.
_COUNTERS_MAX_BYTES_PER_ITEM = 32
# The maximum number of records for which one CPU core sorts faster than several, which need more
# launches of kernels.
_SERIAL_TILE = 16384


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """The key by which records are sorted."""

    # The key consists of `bits` bits from `start_bit` on. They are bits of the record, or, if the
    # key is a number, bits of the unsigned integer that sorts as the number does.
    start_bit: int
    bits: int
    # If the key is a number, which is the record itself or one of its fields: its number of bits. 0
    # means that the key is not a number, and the records are sorted as unsigned integers.
    width: int = 0
    number_bit: int = 0  # the bit of the record at which the number begins
    kind: KeyKind = "u"  # the dtype kind of the number
    descending: bool = False  # whether the largest key comes first

    def digits(self, radix_bits: int) -> list[tuple[int, int]]:
        """Return the digits of the key as (shift, bits), the lowest digit first.

        There are as few digits as possible, and their widths differ by at most one bit.
        """
        n_digits = -(-self.bits // radix_bits)
        ends = [self.bits * k // n_digits for k in range(n_digits + 1)]
        return [(self.start_bit + begin, end - begin) for begin, end in pairwise(ends)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """An array whose elements are sorted, and the array that gets the sorted elements."""

    source: DeviceArray
    target: DeviceArray  # may be the source itself
    spare: DeviceArray | None = None  # the array for intermediate passes; by default a new one

    @property
    def words(self) -> int:
        """Number of 32-bit words in an element."""
        return self.source.dtype.itemsize // WORD_BYTES

    @property
    def result(self) -> DeviceArray:
        """The part of the target that is written."""
        return self.target[: self.source.size]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """The division of a radix sort: the sizes of work-groups, of digits, and of tiles.

    A digit is some bits of the key, by which one pass sorts. A tile is the number of records that a
    work-group takes at a time. The best values depend on the device and on the size of the
    elements.
    """

    # The following fields are macros of the kernels with the same names in capitals, except that
    # the first one is called WG_SIZE there.
    work_group_size: int
    radix_bits: int
    rank_by: int
    tile_items: int
    staged: bool
    max_groups: int  # the maximum number of work-groups among which records are divided

    @classmethod
    def choose(
        cls, capabilities: Capabilities, tuning: Policy, words: int, strategy: str = "parallel"
    ) -> Shape:
        """Choose how kernels divide a sort of elements of at most `words` words.

        `capabilities` and `tuning` are the properties and the settings of the device. With the
        `strategy` "sequential" one work-item does all the work.
        """
        max_groups = capabilities.compute_units * tuning.split_shares_per_compute_unit
        if strategy == "sequential" or 1 in (tuning.work_group_size, WORK_ITEMS.under(tuning)):
            return cls(
                work_group_size=1,
                radix_bits=RADIX_BITS.under(tuning),
                rank_by=_BY_COUNTERS,
                tile_items=1,
                staged=capabilities.kind == "cpu",
                max_groups=1 if strategy == "sequential" else max_groups,
            )
        work_group_size = min(WORK_ITEMS.under(tuning), capabilities.max_work_group_size)
        bytes_per_item = tuning.split_bytes_per_item
        has_ballots = capabilities.lanes in RANKING_LANES
        if not has_ballots:
            work_group_size = min(work_group_size, _COUNTERS_MAX_WORK_GROUP_SIZE)
            bytes_per_item = min(bytes_per_item, _COUNTERS_MAX_BYTES_PER_ITEM)
        return cls(
            work_group_size=work_group_size,
            radix_bits=RADIX_BITS.under(tuning) if has_ballots else _COUNTERS_RADIX_BITS,
            rank_by=_BY_BALLOTS if has_ballots else _BY_COUNTERS,
            tile_items=max(bytes_per_item // (WORD_BYTES * words), 1),
            staged=False,
            max_groups=max_groups,
        )

    @property
    def is_serial(self) -> bool:
        """Whether work-groups have one work-item."""
        return self.work_group_size == 1

    @property
    def tile(self) -> int:
        """Number of records in a tile, which a work-group takes at a time."""
        return _SERIAL_TILE if self.is_serial else self.work_group_size * self.tile_items

    def of(self, program: Program) -> Shape:
        """Return a copy with the work-group size of a program, which may be smaller."""
        return replace(self, work_group_size=program.work_group_size)

    def divide(self, length: int) -> tuple[int, int]:
        """Divide `length` records. Return the number of work-groups, and of records for each."""
        n_tiles = -(-length // self.tile)
        shares = Shares.spread(n_tiles, tile=self.tile, lane_groups=1, most_groups=self.max_groups)
        return shares.groups, shares.share

    def defines(self, key: Key, record_words: int, value_words: int) -> dict[str, int | bool]:
        """Return the macros with which the kernels are compiled for a key.

        `record_words` and `value_words` are the sizes of a record and of its value in 32-bit words.
        """
        return {
            "WG_SIZE": self.work_group_size,
            "RADIX_BITS": self.radix_bits,
            "RANK_BY": self.rank_by,
            "TILE_ITEMS": self.tile_items,
            "STAGED": self.staged,
            "RECORD_WORDS": record_words,
            "VALUE_WORDS": value_words,
            "KEY_BIT": key.number_bit if key.width or record_words <= 2 else -1,
            "WEIGHT_BITS": key.width or (64 if record_words == 2 else 32),
            "WEIGHT_KIND": KEY_KINDS.index(key.kind),
            "WEIGHT_DESCENDING": key.descending,
        }


# ---------------------------------------------------------------------------- checks


def check_field(subject: str, width: int, start_bit: int, key_bits: int) -> tuple[int, int]:
    """Check that a key of `key_bits` bits from `start_bit` on lies within `width` bits.

    Returns `start_bit` and `key_bits` as integers. Raises InvalidArgumentError, with `subject` in
    the message: what has the `width` bits.
    """
    start_bit = check_integer("start_bit", start_bit)
    key_bits = check_integer("key_bits", key_bits)
    if not 1 <= key_bits <= _MAX_KEY_BITS:
        raise InvalidArgumentError(f"key_bits is {key_bits}; a key has 1 to {_MAX_KEY_BITS} bits")
    end = start_bit + key_bits
    if start_bit < 0 or end > width:
        raise InvalidArgumentError(
            f"the key goes from bit {start_bit} to bit {end}; {subject} of {width} bits, and it "
            "must lie within them"
        )
    return start_bit, key_bits


def plan_moves(
    records: DeviceArray,
    out: DeviceArray | None,
    values: DeviceArray | None,
    values_out: DeviceArray | None,
    names: tuple[str, str],
) -> tuple[Move, Move | None]:
    """Check the arrays of a sort, and return source and target of records and of values.

    If an output is None, a new array is allocated. `values` is None if records do not have values;
    the second result is then None, too. `names` are the names of `records` and `out` in messages.
    """
    name, out_name = names
    _check_target(name, records, out_name, out)
    if values is None:
        if values_out is not None:
            raise InvalidArgumentError("values_out is given without values; give both")
        return _move(records, out), None
    check_array("values", values, like=records)
    record_words("values", values.dtype)
    check_length("values", values, records.size)
    _check_target("values", values, "values_out", values_out)
    if out is not None:
        check_apart(out_name, out, values=values, values_out=values_out)
    if values_out is not None:
        check_apart("values_out", values_out, **{name: records})
    return _move(records, out), _move(values, values_out)


def _check_target(name: str, source: DeviceArray, out_name: str, out: DeviceArray | None) -> None:
    if out is not None:
        check_array(out_name, out, source.dtype, like=source)
        check_fits(out_name, out, source.size)
        check_in_place(out_name, out, name, source)


def _move(source: DeviceArray, out: DeviceArray | None) -> Move:
    target = DeviceArray.empty(source.size, source.dtype, source.device) if out is None else out
    return Move(source=source, target=target)


# -------------------------------------------------------------------------- launches


def order(key: Key, records: Move, values: Move | None, strategy: str, launch: Launcher) -> None:
    """Enqueue the launches that sort records, and the records' values, by a key.

    `records` and `values` each have a source array and the array that gets the sorted elements. If
    `values` is None, only the records are sorted. Elements must consist of whole 32-bit words.
    `strategy` is "parallel" or "sequential".
    """
    length, device = records.source.size, records.source.device
    if length == 0:
        return
    value_words = values.words if values else 0
    shape = Shape.choose(
        device.capabilities, device.policy, max(records.words, value_words), strategy
    )
    n_digits = len(key.digits(shape.radix_bits))
    defines = shape.defines(key, records.words, value_words)
    steps = _steps(launch, defines, records, n_digits)
    values_steps = _steps(launch, defines, values, n_digits)
    moves = [(*step, *other) for step, other in zip(steps, values_steps, strict=True)]
    if radix_chain.suits(shape, device, length, records.words):
        words = records.words, value_words
        radix_chain.enqueue(launch, moves, shape=shape, key=key, words=words, length=length)
    else:
        program = device.program(SOURCE, **defines)
        _enqueue_passes(launch, shape.of(program), key, length, moves, program=program)


def sort_over(
    key: Key, records: DeviceArray, values: DeviceArray | None, launch: Launcher
) -> tuple[DeviceArray, DeviceArray | None]:
    """Sort records and values by a key, without checks, overwriting the arrays.

    The elements of both arrays must consist of whole 32-bit words. If `values` is None, only the
    records are sorted. Passes alternate between each array and a new array. Returns the sorted
    records and the values in their order, or None in place of values. After an even number of
    passes, the results are in the arrays that were given, otherwise in the new ones.
    """
    arrays = [one for one in (records, values) if one is not None]
    words = max(one.dtype.itemsize // WORD_BYTES for one in arrays)
    shape = Shape.choose(launch.device.capabilities, launch.device.policy, words)
    is_even = len(key.digits(shape.radix_bits)) % 2 == 0
    moves = [_move_over(one, is_even=is_even) for one in arrays]
    order(key, moves[0], moves[1] if values is not None else None, "parallel", launch)
    return moves[0].target, moves[1].target if values is not None else None


def _move_over(array: DeviceArray, *, is_even: bool) -> Move:
    other = DeviceArray.unchecked(array.size, array.dtype, array.device)
    target, spare = (array, other) if is_even else (other, array)
    return Move(source=array, target=target, spare=spare)


def _enqueue_passes(
    launch: Launcher,
    shape: Shape,
    key: Key,
    length: int,
    moves: list[tuple[Any, ...]],
    *,
    program: Program,
) -> None:
    """Enqueue the passes of a radix sort, with up to three launches for each pass.

    A pass counts the digits of each work-group's records, scans the counts, and moves the records.
    `moves` has, for each pass, the memory that it reads and writes. `length` is the number of
    records, and `shape` says how the kernels of `program` divide them.
    """
    groups, share = shape.divide(length)
    radix = 1 << shape.radix_bits
    needs_no_counts = groups == 1 and (shape.is_serial or length <= shape.tile)
    counts = None if needs_no_counts else launch.device.allocate(WORD_BYTES * radix * (groups + 1))
    extent = np.uint32(length), np.uint64(share)
    for (shift, bits), move in zip(key.digits(shape.radix_bits), moves, strict=True):
        digit = np.uint32(shift), np.uint32((1 << bits) - 1)
        if counts is not None:
            launch(program, "split_count_digits", groups, move[0], counts, *extent, *digit)
            launch(program, "split_scan_counts", radix, counts, np.uint32(groups))
        launch(program, "split_scatter", groups, *move, counts, *extent, *digit)


def _steps(
    launch: Launcher, defines: dict[str, int | bool], move: Move | None, n_passes: int
) -> list[tuple[Any, Any]]:
    """Return the memory that each pass of a sort reads and writes, as (source, target).

    Passes alternate between two arrays, because a pass cannot work in place. `move` says where the
    elements are and where they go. If it is None, nothing is moved, and each pass gets (None,
    None). If the sort is in place and `n_passes` is odd, a copy of the elements is enqueued first,
    by a program with the macros `defines`.
    """
    if move is None:
        return [(None, None)] * n_passes
    source, target = move.source.memory, move.target.memory
    is_copied = move.source.is_at(move.target) and n_passes % 2 == 1
    if n_passes == 1 and not is_copied:
        return [(source, target)]
    own = move.spare
    spare = launch.device.allocate(move.source.nbytes) if own is None else own.memory
    if is_copied:
        n_words, program = move.source.size * move.words, launch.device.program(SOURCE, **defines)
        launch.for_each(program, "split_copy", n_words, source, spare, np.uint64(n_words))
        source = spare
    written = [target if (n_passes - k) % 2 else spare for k in range(n_passes)]
    return list(zip([source, *written[:-1]], written, strict=True))
