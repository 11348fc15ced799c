"""Selections of records: which records are kept, what is written, and how kernels are launched.

:mod:`clmst.primitives.compact` has the public functions. The kernels are in ``compact.cl``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from clmst import route
from clmst.core.arguments import check_integer, check_kind
from clmst.core.errors import InvalidArgumentError
from clmst.primitives import chain
from clmst.primitives.chain import chain_work_group, cleared_states
from clmst.primitives.checks import (
    check_apart,
    check_array,
    check_flags,
    check_length,
    launcher_for,
    output_for,
)
from clmst.primitives.element import NO_WORDS, WORD_BYTES, RecordWords, record_words, words_of
from clmst.primitives.function import Predicate
from clmst.primitives.shares import Shares, check_strategy, shape_defines
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.device import Device
from clmst.runtime.handles import Memory
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Constant, Policy
from clmst.runtime.program import Program

_WORD = np.dtype(np.uint32)
SOURCE = "primitives/compact.cl"
CHAIN_SOURCE = "primitives/compact_chain.cl"

# _ROWS is the macro ROWS of cl/primitives/compact_masks.cl, the number of records that each
# work-item takes from a tile. _MOST_LANES is the maximum number of work-items in a lane group,
# which select records together.
_ROWS, _MOST_LANES = 16, 32
# Number of bytes of records and values that a work-item loads at once. _BYTES_ALONE is for
# work-groups of one work-item. An H200 selects the first element of each run among 2**28 uint32 in
# 0.960 ms with 32 bytes, in 1.077 ms with 64 bytes and in 1.017 ms with 16 bytes.
BYTES_PER_ITEM = Constant("selection.BYTES_PER_ITEM", 32)
_BYTES_ALONE = 64


# In a selection in a single pass, each lane group (work-items that run in lockstep) processes a
# section of a tile, in this number of parts, one after the other (benchmarks/log.md).
_SECTION_PARTS = 4


class Keep(IntEnum):
    """The rule for which records a selection keeps: KEEP_... of ``cl/primitives/compact_rule.cl``.

    FLAGGED keeps records with a nonzero flag. HOLDING keeps records that satisfy the predicate.
    HEADS keeps records that differ from the record before them.
    """

    FLAGGED = 0
    HOLDING = 1
    HEADS = 2


class Write(IntEnum):
    """The rule for what a selection writes: WRITE_... of ``cl/primitives/compact_rule.cl``.

    KEPT writes the kept records. ALL writes the kept records, followed by all other records.
    POSITIONS writes the positions of the kept records.
    """

    KEPT = 0
    ALL = 1
    POSITIONS = 2


def divide(
    device: Device, length: int, strategy: str = "parallel", *, work_group: int | None = None
) -> Shares:
    """Divide `length` records into contiguous ranges, one for each lane group of the work-groups.

    A lane group is a set of work-items that select records together (``compact_masks.cl``). With
    the `strategy` "sequential" there is one work-group of one work-item. Otherwise the number of
    work-groups is at most the number that the device runs at the same time. `work_group` is the
    size of a work-group. None stands for the device's usual size.
    """
    tuning = device.policy
    work_group = 1 if strategy == "sequential" else work_group or tuning.work_group_size
    lane_group = 1 if work_group == 1 else min(device.capabilities.lane_width, _MOST_LANES)
    lane_groups, tile = work_group // lane_group, _ROWS * lane_group
    n_tiles = max(-(-length // tile), 1)
    if strategy == "sequential" or route.selected_in_one_launch(length, work_group):
        share = -(-n_tiles // lane_groups) * tile
        return Shares(groups=1, lane_groups=lane_groups, share=share, alone=True)
    resident = device.capabilities.compute_units * tuning.compact_shares_per_compute_unit
    return Shares.spread(n_tiles, tile=tile, lane_groups=lane_groups, most_groups=resident)


def bytes_per_item(tuning: Policy) -> int:
    """Return the bytes of records and values that a work-item loads at once.

    `tuning` has the device's settings of kernels, such as the size of a work-group.
    """
    return _BYTES_ALONE if tuning.work_group_size == 1 else BYTES_PER_ITEM.under(tuning)


def selection_defines(
    keep: Keep, write: Write, *, record: RecordWords, value: RecordWords, bytes_per_item: int
) -> dict[str, int]:
    """Return the macros that specialise ``compact.cl`` for a kind of selection.

    `keep` says which records are selected, and `write` what is written: the records or their
    positions. A record is an element of the input, and may have a value, which is selected with it.
    `record` and `value` are the sizes of a record and of a value in words. `bytes_per_item` is the
    number of bytes that a work-item loads at once.
    """
    return {
        "KEEP": keep,
        "WRITE": write,
        **record.defines("RECORD"),
        **value.defines("VALUE"),
        "BYTES_PER_ITEM": bytes_per_item,
    }


def chain_defines(capabilities: Capabilities, tuning: Policy) -> dict[str, int]:
    """Return the macros of ``compact_chain.cl`` that :func:`selection_defines` does not return.

    The file has the kernel that selects in a single pass. `capabilities` and `tuning` are the
    properties and the settings of the device.
    """
    work_group = chain_work_group(capabilities, tuning)
    return {"WG_SIZE": work_group, "SECTION_PARTS": _SECTION_PARTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """A selection of records: what is selected and written, and the arrays.

    :meth:`of` checks the arrays, and allocates outputs that are not given.
    """

    keep: Keep
    write: Write
    # The array with one entry per record: the records, or the flags if only positions are wanted.
    source: DeviceArray
    records: DeviceArray | None
    flags: DeviceArray | None
    predicate: Predicate | None
    values: DeviceArray | None
    out: DeviceArray
    values_out: DeviceArray | None
    count: DeviceArray
    bound: int  # the maximum number of elements of `out` and `values_out` that may be written

    @classmethod
    def of(
        cls,
        records: DeviceArray | None,
        flags: DeviceArray | None,
        *,
        keep: Keep,
        write: Write = Write.KEPT,
        predicate: Predicate | None = None,
        values: DeviceArray | None = None,
        out: DeviceArray | None = None,
        values_out: DeviceArray | None = None,
        at_most: int | None = None,
        count: DeviceArray | None = None,
        name: str = "records",
    ) -> Selection:
        """Check all arguments, allocate the outputs that are None, and return the selection.

        The arguments are explained in :func:`clmst.primitives.compact.compact`. `name` is the name
        of `records` in messages.
        """
        source = _checked_source(name, records, flags, predicate, write)
        if values is not None:
            check_array("values", values, like=source)
            check_length("values", values, source.size)
            record_words("values", values.dtype)
        elif values_out is not None:
            raise InvalidArgumentError("values_out is given without values; give both or neither")
        bound = source.size
        if at_most is not None:
            bound = min(bound, check_integer("at_most", at_most, low=0))
        dtype = source.dtype if records is not None else np.dtype(np.uint32)
        out = output_for("out", out, dtype, bound, like=source)
        if values is not None:
            values_out = output_for("values_out", values_out, values.dtype, bound, like=source)
        count = output_for("count", count, np.uint32, 1, like=source)
        read = {name: records, "flags": flags, "values": values}
        check_apart("out", out, **read)
        check_apart("count", count, **read, out=out, values_out=values_out)
        if values_out is not None:
            check_apart("values_out", values_out, **read, out=out)
        if predicate is not None:
            predicate.check_for(source, out=out, values_out=values_out, count=count)
        return cls(
            keep=keep, write=write, source=source, records=records, flags=flags,
            predicate=predicate, values=values, out=out, values_out=values_out, count=count,
            bound=bound,
        )  # fmt: skip

    def enqueue(self, strategy: str, launch: Launcher | None) -> tuple[DeviceArray, ...]:
        """Enqueue the selection, on the queue of the device if `launch` is None.

        Returns the outputs: the selected records, their values if there are values, and the count.
        `strategy` is "parallel" or "sequential".
        """
        check_strategy(strategy)
        self.launch(launcher_for(self.source, launch), strategy)
        out, count = self.out[: self.bound], self.count[:1]
        if self.values_out is None:
            return out, count
        return out, self.values_out[: self.bound], count

    def launch(self, launch: Launcher, strategy: str = "parallel") -> None:
        """Enqueue the selection by a strategy without checking arguments.

        The queue of `launch` must be in the OpenCL context of the arrays.
        """
        device = self.source.device
        suits_chain = self.write != Write.ALL and self.source.size > 0
        if strategy == "parallel" and suits_chain and chain.is_taken(device, "selection"):
            # A single pass is used for few records, too, so that a solve needs only one program.
            self.launch_chain(launch)
            return
        program = self._program(SOURCE, shape_defines(strategy))
        size = program.work_group_size
        shares = divide(device, self.source.size, strategy, work_group=size)
        groups, extent = shares.groups, (self.source.size, np.uint64(shares.share))
        given = () if self.predicate is None else self.predicate.kernel_arguments
        read = _memory(self.records), _memory(self.flags)
        values, written = _memory(self.values), (self.out.memory, _memory(self.values_out))
        count, bound = self.count.memory, self.bound
        if shares.alone:
            arguments = (*read, values, *written, count, *extent, bound, *given)
            launch(program, "compact_select_one_group", 1, *arguments)
            return
        counts = device.allocate(4 * (groups + 1 + groups * shares.lane_groups))
        launch(program, "compact_count_ranges", groups, *read, counts, *extent, *given)
        launch(program, "compact_scan_counts", 1, counts, count, groups)
        launch(
            program, "compact_write_ranges", groups, *read, values, counts, *written, *extent,
            bound, *given,
        )  # fmt: skip

    def launch_chain(self, launch: Launcher) -> None:
        """Enqueue the selection as a single pass over the records.

        There must be at least one record, and `write` must not be Write.ALL.
        """
        program = self._chain_program
        n_tiles = -(-self.source.size // self._tile_of(program))
        launch(
            program, "compact_chain_select", n_tiles, _memory(self.records), _memory(self.flags),
            _memory(self.values), cleared_states(launch, n_tiles, 2), self.out.memory,
            _memory(self.values_out), self.count.memory, self.source.size, self.bound,
            *(() if self.predicate is None else self.predicate.kernel_arguments),
        )  # fmt: skip

    @property
    def chain_tile(self) -> int:
        """Number of records that a work-group processes in a single pass."""
        return self._tile_of(self._chain_program)

    def _tile_of(self, chain: Program) -> int:
        tuning, rows = self.source.device.policy, _ROWS
        if self.keep != Keep.FLAGGED:  # BATCH of compact_masks.cl
            words = sum(words.count for words in self._words)
            fit = max(bytes_per_item(tuning) // (WORD_BYTES * words), 1)
            rows = min(1 << fit.bit_length() - 1, _ROWS)
        return chain.work_group_size * rows * _SECTION_PARTS

    @property
    def _words(self) -> tuple[RecordWords, RecordWords]:
        """The sizes in words of an element of the output and of a value."""
        value = NO_WORDS if self.values is None else words_of(self.values.dtype.itemsize)
        return words_of(self.out.dtype.itemsize), value

    @property
    def _chain_program(self) -> Program:
        device = self.source.device
        return self._program(CHAIN_SOURCE, chain_defines(device.capabilities, device.policy))

    def _program(self, source: str, more: dict[str, int]) -> Program:
        record, value = self._words
        common = selection_defines(
            self.keep,
            self.write,
            record=record,
            value=value,
            bytes_per_item=bytes_per_item(self.source.device.policy),
        )
        prelude = None if self.predicate is None else self.predicate.prelude
        return self.source.device.program(source, prelude, **{**common, **more})


def positions_of(
    flags: DeviceArray, *, at_most: int, launch: Launcher
) -> tuple[DeviceArray, DeviceArray]:
    """Find the positions of nonzero flags, without checking arguments and without waiting.

    :func:`clmst.primitives.positions` does the same with checks. `at_most` is an upper bound on the
    number of nonzero flags. Returns the positions, and an array of one element with the count.
    """
    device = flags.device
    found, number = device.allocate_all(4 * at_most, 4)
    slots = DeviceArray.unchecked(at_most, _WORD, device, found)
    count = DeviceArray.unchecked(1, _WORD, device, number)
    Selection(
        keep=Keep.FLAGGED, write=Write.POSITIONS, source=flags, records=None, flags=flags,
        predicate=None, values=None, out=slots, values_out=None, count=count, bound=at_most,
    ).launch(launch)  # fmt: skip
    return slots, count


def _checked_source(
    name: str,
    records: DeviceArray | None,
    flags: DeviceArray | None,
    predicate: Predicate | None,
    write: Write,
) -> DeviceArray:
    """Check the inputs of a selection, and return the array that has an element for each record.

    This is `records`, or `flags` if only positions of flags are selected, in which case `records`
    and `predicate` are None. `write` says what is written. `name` is the name of `records` in
    messages.
    """
    if records is None and predicate is None and write == Write.POSITIONS:
        check_flags(flags)
        assert flags is not None
        return flags
    check_array(name, records)
    assert records is not None, "that was checked"
    record_words(name, records.dtype)
    if flags is not None:
        check_flags(flags, records)
    if predicate is not None:
        check_kind("predicate", predicate, Predicate)
    return records


def _memory(array: DeviceArray | None) -> Memory | None:
    """Return the kernel argument of an array. None becomes a null pointer."""
    return None if array is None else array.memory
