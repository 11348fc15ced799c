"""Radix passes of one sweep each: host side of ``cl/primitives/split_chain.cl``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from clmst.primitives.chain import LOOK_WORDS, Hunger, chains_by_itself
from clmst.primitives.record import WORD_BYTES
from clmst.runtime.device import Device
from clmst.runtime.launcher import Launcher

if TYPE_CHECKING:
    from clmst.primitives.radix import Key, Shape

SOURCE = "primitives/split_chain.cl"

# A state is one word, two bits of which say what the others count.
_MOST_RECORDS = 2**30 - 1
# CHAIN_DIGITS of cl/primitives/split_chain.cl
_DIGITS_AT_ONCE = 4
# Work-groups for each compute unit that count digits.
_COUNTING_GROUPS = 4


def suits(shape: Shape, device: Device, length: int) -> bool:
    """Return whether passes of one sweep are the quickest."""
    is_chained = not shape.is_serial and chains_by_itself(device)
    return is_chained and shape.tile < length <= _MOST_RECORDS


def enqueue(
    launch: Launcher,
    shape: Shape,
    key: Key,
    length: int,
    moves: list[tuple[Any, ...]],
    words: tuple[int, int],
    hunger: Hunger,
) -> None:
    """Enqueue a count of all digits, and a sweep for each.

    Parameters
    ----------
    launch : Launcher
    shape : Shape
    key : Key
    length : int
        Records: 1 to 2**30 - 1.
    moves : list of (records, records written, values, values written)
        Of each pass.
    words : tuple of int
        Words of a record and of a value.
    hunger : Hunger
    """
    device, radix = launch.device, 1 << shape.radix_bits
    program = device.program(SOURCE, **shape.defines(key, *words), **hunger.defines)
    n_tiles, n_digits = -(-length // shape.tile), len(moves)
    stride = LOOK_WORDS * -(-(LOOK_WORDS + radix * (n_tiles + 1)) // LOOK_WORDS)
    states = device.allocate(WORD_BYTES * stride * n_digits)
    launch.fill(states, 0, stride * n_digits)
    groups = min(n_tiles, device.capabilities.compute_units * _COUNTING_GROUPS)
    for first in range(0, n_digits, _DIGITS_AT_ONCE):
        launch(
            program, "split_chain_count", groups, moves[0][0], states, np.uint32(length),
            np.uint64(stride), np.uint32(key.start_bit), np.uint32(key.bits), np.uint32(n_digits),
            np.uint32(first),
        )  # fmt: skip
    launch(program, "split_chain_start", n_digits, states, np.uint64(stride))
    for k, (move, (shift, bits)) in enumerate(zip(moves, key.digits(shape.radix_bits), strict=True)):
        launch(
            program, "split_chain_scatter", n_tiles, *move, states, np.uint32(length),
            np.uint64(k * stride), np.uint32(shift), np.uint32((1 << bits) - 1),
        )  # fmt: skip
