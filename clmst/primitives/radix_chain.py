"""Radix sort with a single sweep for each digit. The kernels are in ``split_chain.cl``."""

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

# Each tile publishes a state, which is one word. Two of its bits say of what kind it is, and the
# other 30 bits are a count of records.
_MOST_RECORDS = 2**30 - 1
# Maximum number of words in a record. For longer records, registers spill on AMD's CDNA 2.
MOST_WORDS = 8
# CHAIN_DIGITS of cl/primitives/split_chain.cl
_DIGITS_AT_ONCE = 4
# Number of work-groups per compute unit that count digits.
_COUNTING_GROUPS = 4


def suits(shape: Shape, device: Device, length: int, record_words: int = 1) -> bool:
    """Return whether a single sweep per digit is correct and, as the router decides, fastest.

    `shape` says how the sort is divided, `length` is the number of records, and `record_words` the
    number of words in a record.
    """
    is_right = not shape.is_serial and record_words <= MOST_WORDS and length <= _MOST_RECORDS
    return is_right and chain.is_taken(device, "sort", lambda: -(-length // shape.tile))


def chain_defines(
    shape: Shape, key: Key, words: tuple[int, int], tuning: Policy
) -> dict[str, int | bool]:
    """Return the macros of ``split_chain.cl``.

    The program sorts by `key` as `shape` says. `words` are the words of a record and of a value.
    `tuning` is the policy of the device.
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
    """Enqueue a count of all digits, and a sweep for each digit.

    For each pass, `moves` holds the records read and written, and the values read and written.
    `shape` says how the sort is divided, and `key` which bits are sorted by. `words` are the words
    of a record and of a value. `length` is the number of records, from 1 to 2**30 - 1.
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
