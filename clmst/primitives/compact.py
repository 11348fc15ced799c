"""Selection of records: compact, positions, partition, unique_by_key.

The kernels are in ``cl/primitives/compact.cl``. All these functions keep the order of the records,
and leave the number of selected records on the device.
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
    """Select the records that have a flag, or that satisfy a predicate, and keep their order.

    Parameters
    ----------
    records : DeviceArray, shape (n,)
        Records of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64. With a
        predicate, they must have the predicate's dtype.
    flags : DeviceArray of uint8 or bool, shape (n,), optional
        Nonzero for each record to select.
    predicate : Predicate, optional
        The condition that selected records satisfy. If it has arguments, give them by a call:
        ``below(limit=3)``. Either `predicate` or `flags` must be given.
    values : DeviceArray, shape (n,), optional
        A value for each record, which is selected together with the record. The dtypes allowed are
        those allowed for `records`.
    out, values_out : DeviceArray, shape (n,) or more, optional
        Outputs for the selected records and values. They must not overlap each other or an input.
        By default they are allocated.
    at_most : int, optional
        An upper bound on the number of selected records. `out` and `values_out` then need only this
        length. If more records are selected, those beyond the bound are not written, and `count` is
        the full number.
    count : DeviceArray of uint32, shape (1,) or more, optional
        Output for the number of selected records.
    strategy : {"parallel", "sequential"}
        "sequential" runs on a single work-item, for debugging.
    launch : Launcher, optional
        The queue to use. By default it is the device's own. With another queue, call its
        ``finish()`` before a result is read, because :meth:`DeviceArray.to_host` waits only for the
        device's own queue.

    Returns
    -------
    out : DeviceArray, shape (n,) or (at_most,), whichever is less
        The selected records. Elements after them are not written, so they are undefined in a new
        array. The call returns without waiting for the device.
    values_out : DeviceArray, shape of `out`
        The values of the selected records. Returned only if `values` are given.
    count : DeviceArray of uint32, shape (1,)
        The number of selected records.

    Raises
    ------
    InvalidArgumentError
        Both or neither of `flags` and `predicate` are given; an array has a wrong dtype, length or
        device; an output is too short, or overlaps another array.
    KernelBuildError
        The predicate does not compile. The error holds the compiler's log.

    Notes
    -----
    On devices whose work-groups have lanes (work-items of a sub-group, such as a warp), the
    selection takes one launch: a single pass with decoupled look-back and fallback (Merrill,
    Garland 2016; Smith, Levien, Owens 2025). It reads the flags once, or the records if there is a
    predicate, and reads the selected records again while they are in the cache.

    On other devices the method is reduce-then-scan (Merrill, Grimshaw 2009), in three launches for
    any length, or one for short arrays. It reads the flags, or the records, twice.

    On GPUs, values, and records that have flags, are read only if they are selected. The extra
    memory is O(work-groups). In a single pass it is 8 bytes for each tile, which is the range of
    records that a work-group processes.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> records = clmst.DeviceArray.from_host(np.array([5, 6, 7, 8], np.uint32))
    >>> flags = clmst.DeviceArray.from_host(np.array([1, 0, 0, 1], np.uint8))
    >>> out, count = compact(records, flags)
    >>> out.to_host()[: count.to_host()[0]].tolist()
    [5, 8]
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
    """Find the positions of the nonzero flags, in ascending order.

    Parameters
    ----------
    flags : DeviceArray of uint8 or bool, shape (n,)
        The flags.
    out : DeviceArray of uint32, shape (n,) or more, optional
        Output for the positions. It must not overlap `flags`.
    at_most, count, strategy, launch
        See :func:`compact`.

    Returns
    -------
    out : DeviceArray of uint32, shape (n,) or (at_most,), whichever is less
        The positions of the nonzero flags. Elements after them are not written. The call returns
        without waiting for the device.
    count : DeviceArray of uint32, shape (1,)
        The number of nonzero flags.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype, length or device, or two arrays overlap.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> flags = clmst.DeviceArray.from_host(np.array([0, 1, 1, 0], np.uint8))
    >>> out, count = positions(flags)
    >>> out.to_host()[: count.to_host()[0]].tolist()
    [1, 2]
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
    """Put the selected records first and all other records after them, each in their order.

    Parameters
    ----------
    records, flags, predicate, values, out, values_out, count, strategy, launch
        See :func:`compact`.

    Returns
    -------
    out : DeviceArray, shape (n,)
        ``out[:k]`` are the selected records and ``out[k:]`` all other records, where k is the
        count. The call returns without waiting for the device.
    values_out : DeviceArray, shape (n,)
        The values in the order of their records. Returned only if `values` are given.
    count : DeviceArray of uint32, shape (1,)
        The number of selected records, k.

    Raises
    ------
    InvalidArgumentError, KernelBuildError
        For the reasons that :func:`compact` gives.

    Notes
    -----
    The method is reduce-then-scan, as explained at :func:`compact`. All records are read and
    written.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> records = clmst.DeviceArray.from_host(np.array([5, 6, 7, 8], np.uint32))
    >>> odd = Predicate(dtype=np.dtype("u4"), expression="x & 1")
    >>> out, count = partition(records, predicate=odd)
    >>> out.to_host().tolist(), count.to_host().tolist()
    ([5, 7, 6, 8], [2])
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
    """Select the first key of each run of equal consecutive keys.

    Parameters
    ----------
    keys : DeviceArray, shape (n,)
        Keys of any dtype of 1 to 16 bytes, or of a multiple of 4 bytes up to 64. They are compared
        bit by bit, so 0.0 and -0.0 differ, and a NaN equals a NaN of the same bits.
    values : DeviceArray, shape (n,), optional
        A value for each key. The value of the first key of a run is selected.
    out, values_out, at_most, count, strategy, launch
        See :func:`compact`.

    Returns
    -------
    out : DeviceArray, shape (n,) or (at_most,), whichever is less
        The first key of each run. Elements after them are not written. The call returns without
        waiting for the device.
    values_out : DeviceArray, shape of `out`
        The values of these keys. Returned only if `values` are given.
    count : DeviceArray of uint32, shape (1,)
        The number of runs.

    Raises
    ------
    InvalidArgumentError
        An array has a wrong dtype, length or device; an output is too short, or overlaps another
        array.

    Notes
    -----
    It takes the time of :func:`compact` with a predicate.

    Examples
    --------
    >>> import clmst
    >>> import numpy as np
    >>> keys = clmst.DeviceArray.from_host(np.array([4, 4, 9, 4], np.uint32))
    >>> out, count = unique_by_key(keys)
    >>> out.to_host()[: count.to_host()[0]].tolist()
    [4, 9, 4]
    """
    selection = Selection.of(
        keys, None, keep=Keep.HEADS, values=values, out=out, values_out=values_out,
        at_most=at_most, count=count, name="keys",
    )  # fmt: skip
    return selection.enqueue(strategy, launch)


def _rule(flags: DeviceArray | None, predicate: Predicate | None) -> Keep:
    """Return the rule by which records are selected: by flags or by a predicate.

    One of the arguments must be None. Raises InvalidArgumentError if both or none are given.
    """
    if flags is None and predicate is None:
        raise InvalidArgumentError(
            "neither flags nor a predicate is given; one of them must select"
        )
    if flags is not None and predicate is not None:
        raise InvalidArgumentError(
            "both flags and a predicate are given; only one of them may select"
        )
    return Keep.FLAGGED if predicate is None else Keep.HOLDING
