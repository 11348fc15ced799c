"""Radix sort with one launch, a single pass over the records, for each digit of the key.

The kernels are in ``split_chain.cl``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.primitives import chain
from clmst.primitives.chain import LOOK_WORDS
from clmst.primitives.element import WORD_BYTES
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy

if TYPE_CHECKING:
    from clmst.primitives.radix import Key, Shape

SOURCE = "primitives/split_chain.cl"

# Each tile publishes one word, its state, for later tiles. Two bits of the word say what it means,
# and the other 30 bits are a count of records. So there may be at most this number of records.
_MOST_RECORDS = 2**30 - 1
# Maximum number of words in a record. For longer records, registers spill on AMD's CDNA 2.
MOST_WORDS = 8
# CHAIN_DIGITS of cl/primitives/split_chain.cl: the number of digits that a launch counts.
_DIGITS_AT_ONCE = 4
# Number of work-groups per compute unit that count digits.
_COUNTING_GROUPS = 4


def suits(shape: Shape, device: Device, length: int, record_words: int = 1) -> bool:
    """Return whether a sort with a single pass per digit is correct and is expected to be fastest.

    `shape` says how the sort is divided among work-groups, `length` is the number of records, and
    `record_words` the number of words in a record.
    """
    is_right = not shape.is_serial and record_words <= MOST_WORDS and length <= _MOST_RECORDS
    return is_right and chain.is_taken(device, "sort", lambda: -(-length // shape.tile))


def chain_defines(
    shape: Shape, key: Key, words: tuple[int, int], tuning: Policy
) -> dict[str, int | bool]:
    """Return the macros with which ``split_chain.cl`` is compiled.

    `shape` says how the sort is divided among work-groups, and `key` by which bits records are
    sorted. `words` are the numbers of words of a record and of a value. `tuning` has the device's
    settings of kernels.
    """
    defines = shape.defines(key, *words)
    del defines["STAGED"]  # this macro is for work-groups of one work-item
    return {**defines, "MAX_REGISTERS": chain.REGISTERS}


def enqueue(
    launch: Launcher,
    moves: list[tuple[Any, ...]],
    *,
    shape: Shape,
    key: Key,
    words: tuple[int, int],
    length: int,
) -> None:
    """Enqueue a radix sort: a count of all digits of the keys, and then one pass for each digit.

    A pass sorts the records by one digit. `moves` has a tuple for each pass: the memory from which
    it reads the records, to which it writes the records, and the same for the values. `shape` says
    how the sort is divided among work-groups, and `key` by which bits records are sorted. `words`
    are the numbers of words of a record and of a value. `length` is the number of records, from 1
    to 2**30 - 1.
    """
    device = launch.device
    program = device.program(SOURCE, **chain_defines(shape, key, words, device.policy))
    shape = shape.of(program)
    n_tiles, n_digits = -(-length // shape.tile), len(moves)
    stride = LOOK_WORDS + -(-(n_tiles + 1 << shape.radix_bits) // LOOK_WORDS) * LOOK_WORDS
    states = device.allocate(WORD_BYTES * stride * n_digits)
    launch.fill(states, 0, stride * n_digits)
    groups = min(n_tiles, device.capabilities.compute_units * _COUNTING_GROUPS)
    for first in range(0, n_digits, _DIGITS_AT_ONCE):
        launch(
            program, "split_chain_count", groups, moves[0][0], states, np.uint32(length),
            np.uint64(stride), np.uint32(key.start_bit), np.uint32(key.bits),
            np.uint32(n_digits), np.uint32(first),
        )  # fmt: skip
    launch(program, "split_chain_start", n_digits, states, np.uint64(stride))
    digits = key.digits(shape.radix_bits)
    for k, (move, (shift, bits)) in enumerate(zip(moves, digits, strict=True)):
        launch(
            program, "split_chain_scatter", n_tiles, *move, states, np.uint32(length),
            np.uint64(k * stride), np.uint32(shift), np.uint32((1 << bits) - 1),
        )  # fmt: skip
