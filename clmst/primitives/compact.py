"""Selection: compaction, positions, partition, heads of runs; host side of ``compact.cl``.

All are stable, and leave the count on the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.element import NO_WORDS, RecordWords
from clmst.primitives.function import Predicate
from clmst.primitives.selection import (
    CHAIN_SOURCE,
    SOURCE,
    Keep,
    Selection,
    Write,
    chain_defines,
    selection_defines,
)
from clmst.primitives.shares import Strategy
from clmst.runtime.array import DeviceArray
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher
from clmst.runtime.policy import Policy
from clmst.runtime.specialisation import Prelude

# A representative of all predicates.
_BELOW = Predicate(
    dtype=np.dtype("u4"), expression="x < limit || chosen[i] != 0", scalars={"limit": "u4"},
    arrays={"chosen": "u1"}, name="below a limit",
)  # fmt: skip


@guarded
def compact(
    records: DeviceArray,
    flags: DeviceArray | None = None,
    *,
    predicate: Predicate | None = None,
    values: DeviceArray | None = None,
    out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    at_most: int | None = None,
    count: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, ...]:
    """Select the records that have a flag, or that satisfy a predicate, in order.

    Parameters
    ----------
    records : DeviceArray, shape (n,)
        Of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes, 64 at most; with a predicate,
        of its dtype.
    flags : DeviceArray of uint8, shape (n,), optional
        Not 0 for each selected record.
    predicate : Predicate, optional
        The condition for selected records, with its arguments if it has any: ``below(limit=3)``.
        Either this or `flags` must be given.
    values : DeviceArray, shape (n,), optional
        A value for each record, of any dtype as of `records`.
    out, values_out : DeviceArray, shape (n,) or more, optional
        Outputs for the selected records and values. They overlap neither each other nor an input.
    at_most : int, optional
        An upper bound on the number of selected records, declared by the caller. `out` and
        `values_out` then need only this length. If more records are selected, those beyond the
        bound are not written; `count` is the full number.
    count : DeviceArray of uint32, shape (1,) or more, optional
        Output for the number of selected records.
    strategy : {"parallel", "sequential"}
        "sequential": by a single work-item, for debugging.
    launch : Launcher, optional
        The queue to work in; by default the device's own.

    Returns
    -------
    out : DeviceArray, shape (n,) or (at_most,), whichever is less
        The selected records first. The rest is not written, so it is undefined in a new array. Not
        waited for.
    values_out : DeviceArray of the same shape
        What goes along with them; only if there are `values`.
    count : DeviceArray of uint32, shape (1,)
        How many are selected.

    Raises
    ------
    InvalidArgumentError
        Both or neither of flags and predicate; a wrong dtype, length or device; an output that is
        too short; an output that overlaps another array.
    KernelBuildError
        The predicate does not compile; with the compiler's log.

    Notes
    -----
    One launch on devices whose work-groups have lanes, by decoupled look-back and fallback
    (Merrill, Garland 2016; Smith, Levien, Owens 2025): reads the flags, or the records if there is
    a predicate, once, and those that are selected again while they are in the cache. Else
    reduce-then-scan (Merrill, Grimshaw 2009): three launches for any length, one for short arrays;
    reads the flags or records twice. GPUs read only the selected ones of records with flags, and of
    values. O(work-groups) extra memory, or 8 bytes a tile.
    """
    selection = Selection.of(
        records, flags, keep=_rule(flags, predicate), predicate=predicate, values=values, out=out,
        values_out=values_out, at_most=at_most, count=count,
    )  # fmt: skip
    return selection.enqueue(strategy, launch)


@guarded
def positions(
    flags: DeviceArray,
    *,
    out: DeviceArray | None = None,
    at_most: int | None = None,
    count: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, DeviceArray]:
    """Find the positions of set flags; else as :func:`compact`.

    Parameters
    ----------
    flags : DeviceArray of uint8, shape (n,)
    out : DeviceArray of uint32, shape (n,) or more, optional
    at_most, count, strategy, launch
        As of :func:`compact`.

    Returns
    -------
    out : DeviceArray of uint32, shape (n,) or (at_most,), whichever is less
        The positions of the flags that are not 0, rising; the rest is not written.
    count : DeviceArray of uint32, shape (1,)
        How many there are.
    """
    selection = Selection.of(
        None, flags, keep=Keep.FLAGGED, write=Write.POSITIONS, out=out, at_most=at_most, count=count
    )
    found, total = selection.enqueue(strategy, launch)
    return found, total


@guarded
def partition(
    records: DeviceArray,
    flags: DeviceArray | None = None,
    *,
    predicate: Predicate | None = None,
    values: DeviceArray | None = None,
    out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    count: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, ...]:
    """Put the selected records first and the others after them, both in order.

    Parameters
    ----------
    records, flags, predicate, values, out, values_out, count, strategy, launch
        As of :func:`compact`.

    Returns
    -------
    out : DeviceArray, shape (n,)
        ``out[:k]`` are the selected records, ``out[k:]`` the others, k being the count.
    values_out : DeviceArray, shape (n,)
        What goes along with them; only if there are `values`.
    count : DeviceArray of uint32, shape (1,)
        How many are selected.

    Raises
    ------
    InvalidArgumentError, KernelBuildError
        As of :func:`compact`.

    Notes
    -----
    Reduce-then-scan as of :func:`compact`, but all records are read and written.
    """
    selection = Selection.of(
        records, flags, keep=_rule(flags, predicate), write=Write.ALL, predicate=predicate,
        values=values, out=out, values_out=values_out, count=count,
    )  # fmt: skip
    return selection.enqueue(strategy, launch)


@guarded
def unique_by_key(
    keys: DeviceArray,
    values: DeviceArray | None = None,
    *,
    out: DeviceArray | None = None,
    values_out: DeviceArray | None = None,
    at_most: int | None = None,
    count: DeviceArray | None = None,
    strategy: Strategy = "parallel",
    launch: Launcher | None = None,
) -> tuple[DeviceArray, ...]:
    """Select the first of each run of equal consecutive keys.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes, 64 at most; compared bit by bit,
        so that 0.0 and -0.0 differ and a NaN equals itself.
    values : DeviceArray, shape (n,), optional
        A value for each key.
    out, values_out, at_most, count, strategy, launch
        As of :func:`compact`.

    Returns
    -------
    out : DeviceArray, shape (n,) or (at_most,), whichever is less
        The first key of each run; the rest is not written.
    values_out : DeviceArray of the same shape
        What goes along with them; only if there are `values`.
    count : DeviceArray of uint32, shape (1,)
        How many runs there are.

    Raises
    ------
    InvalidArgumentError
        As of :func:`compact`.

    Notes
    -----
    Costs as of :func:`compact` with a predicate.
    """
    selection = Selection.of(
        keys, None, keep=Keep.HEADS, values=values, out=out, values_out=values_out,
        at_most=at_most, count=count,
    )  # fmt: skip
    return selection.enqueue(strategy, launch)


def _rule(flags: DeviceArray | None, predicate: Predicate | None) -> Keep:
    """Return the flags' or the predicate's rule; exactly one of them must be given."""
    if flags is None and predicate is None:
        raise InvalidArgumentError("neither flags nor a predicate is given; one of them selects")
    if flags is not None and predicate is not None:
        raise InvalidArgumentError("both flags and a predicate are given; one of them selects")
    return Keep.FLAGGED if predicate is None else Keep.HOLDING


def representatives(
    capabilities: Capabilities, tuning: Policy
) -> Iterator[tuple[str, Prelude | None, dict[str, int]]]:
    """Yield source, prelude and macros of representatives of all selections on a device."""
    sizes = (
        *((RecordWords(w), RecordWords(v)) for w, v in ((1, 0), (1, 1), (2, 4), (3, 16), (16, 3))),
        (RecordWords(1, 1), RecordWords(1, 2)),
        (RecordWords(3, 2), NO_WORDS),
    )
    bytes_per_item = tuning.compact_bytes_per_item
    for keep, write, (record, value) in product(Keep, Write, sizes):
        if write == Write.POSITIONS and (keep != Keep.FLAGGED or (record, value) != sizes[0]):
            continue  # of flags only, and without values
        if write == Write.ALL and keep == Keep.HEADS:
            continue  # not used
        if keep == Keep.HOLDING and record != RecordWords(1):
            continue  # the predicate takes one word
        defines = selection_defines(
            keep,
            write,
            record=record,
            value=value,
            bytes_per_item=bytes_per_item,
        )
        prelude = _BELOW.prelude if keep == Keep.HOLDING else None
        yield SOURCE, prelude, defines
        chain = chain_defines(capabilities, tuning)
        if write != Write.ALL and chain["WG_SIZE"] > 1 and record.count < 3:
            yield CHAIN_SOURCE, prelude, {**defines, **chain}
