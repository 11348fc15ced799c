"""Selection: compaction, positions, partition, heads of runs; host side of ``compact.cl``.

All are stable, and leave the count on the device.
"""

from __future__ import annotations

from clmst.core.errors import InvalidArgumentError
from clmst.primitives.function import Predicate
from clmst.primitives.selection import Keep, Selection, Write
from clmst.primitives.shares import Strategy
from clmst.runtime.array import DeviceArray
from clmst.runtime.failures import guarded
from clmst.runtime.launcher import Launcher


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
    flags : DeviceArray of uint8 or bool, shape (n,), optional
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
        The queue to work in; by default the device's own. Finish another one before a result is
        read: :meth:`DeviceArray.to_host` waits for the device's own.

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
    flags : DeviceArray of uint8 or bool, shape (n,)
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
        at_most=at_most, count=count, name="keys",
    )  # fmt: skip
    return selection.enqueue(strategy, launch)


def _rule(flags: DeviceArray | None, predicate: Predicate | None) -> Keep:
    """Return the flags' or the predicate's rule; exactly one of them must be given."""
    if flags is None and predicate is None:
        raise InvalidArgumentError("neither flags nor a predicate is given; one of them selects")
    if flags is not None and predicate is not None:
        raise InvalidArgumentError("both flags and a predicate are given; one of them selects")
    return Keep.FLAGGED if predicate is None else Keep.HOLDING
