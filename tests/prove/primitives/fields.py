"""Records of mixed fields beside NumPy: filtered, mapped, counted and sorted by named fields."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from clmst.primitives import Map, Predicate
from tests.prove.primitives.bench import Bench, Target, cleaned
from tests.prove.primitives.kinds import RECORDS, Kind, by_turns

BY_FIELDS = "by fields of "
_DOWN = ", descending"
_NAMES = tuple(RECORDS)


def _kinds() -> list[Kind]:
    kinds = []
    for k, (name, dtype) in enumerate(RECORDS.items()):
        size, how = f"V{dtype.itemsize}", BY_FIELDS + name
        moved = ("", "u4")[k % 2]
        kinds += [
            Kind(primitive=primitive, dtype=size, value=value, how=how)
            for primitive, value in (
                ("compact", moved), ("partition", moved), ("map", ""), ("map", "u4"),
                ("histogram", ""),
            )
        ]  # fmt: skip
        for j, field in enumerate(dtype.names or ()):
            sort = ("sort", "argsort", "sort_by_key")[(j + k) % 3]
            by = f"{how}: {field}{_DOWN if (j + k) % 2 else ''}"
            kinds.append(Kind(primitive=sort, dtype=size, how=by))
    return by_turns(kinds)


KINDS = _kinds()


def run(kind: Kind, bench: Bench) -> str | None:
    """Return a description of the error in a result, or None if it is right."""
    name, _, by = kind.how.removeprefix(BY_FIELDS).partition(": ")
    runs: dict[str, Callable[[Kind, Bench, np.dtype[Any]], str | None]] = {
        "compact": _selected, "partition": _selected, "histogram": _counted,
        "map": _number if kind.value else _record,
    }  # fmt: skip
    if by:
        return _sorted(kind, bench, RECORDS[name], by)
    return runs[kind.primitive](kind, bench, RECORDS[name])


# ------------------------------------------------------------------------------ drawing


def drawn(bench: Bench, dtype: np.dtype[Any]) -> Array:
    """Return records with random bits. Floats include zeros of both signs, infinities and NaN."""
    values = bench.records(f"V{dtype.itemsize}").view(dtype).copy()
    for k, name in enumerate(dtype.names or ()):
        if dtype[name].kind == "f" and values.size:
            odd = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1.0], dtype[name])
            places = bench.draws.integers(k + 3, values.size) == 0
            values[name][places] = bench.draws.pick(odd, int(places.sum()))
    return values


def plain(bench: Bench, dtype: np.dtype[Any]) -> Array:
    """Return records whose floats are whole numbers, which no sum of them rounds."""
    values = drawn(bench, dtype)
    for name in dtype.names or ():
        if dtype[name].kind == "f":
            values[name] = (bench.draws.integers(2001, values.size) - 1000).astype(dtype[name])
    return values


def bytes_in(values: Array) -> Array:
    """Return records as bytes, which NumPy moves with all that lies between fields."""
    return values.view(f"V{values.dtype.itemsize}")


def _given(bench: Bench, values: Array) -> Any:
    return bench.put(bytes_in(values)).view(values.dtype)


# --------------------------------------------------------------------------- comparing


def _selected(kind: Kind, bench: Bench, dtype: np.dtype[Any]) -> str | None:
    """Compare what is selected by a comparison of every field."""
    values, names = drawn(bench, dtype), dtype.names or ()
    one = values[:1] if values.size else np.zeros(1, dtype)
    if values.size:
        one = values[bench.draws.below(values.size) :][:1]
    limits = {f"least_{k}": one[name][0] for k, name in enumerate(names)}
    tests = [f"(x.{name} < least_{k})" for k, name in enumerate(names)]
    predicate = Predicate(
        dtype=dtype,
        expression=f"({' ^ '.join(tests)}) != 0",
        scalars={f"least_{k}": dtype[name] for k, name in enumerate(names)},
        name="a comparison of each field",
    )
    with np.errstate(invalid="ignore"):
        tests_ = [values[name] < limits[f"least_{k}"] for k, name in enumerate(names)]
    mask = reduce(np.logical_xor, tests_)
    hosts = [bytes_in(values)]
    how: dict[str, Any] = {"predicate": predicate(**limits), "strategy": kind.strategy}
    if kind.value:
        hosts.append(bench.records(kind.value))
        how["values"] = bench.put(hosts[1])
    targets = [bench.target(host.dtype, values.size) for host in hosts]
    how["out"] = targets[0].array.view(dtype)
    if kind.value:
        how["values_out"] = targets[1].array
    *_, count = getattr(primitives, kind.primitive)(_given(bench, values), **how)
    if count.to_host().tolist() != [int(mask.sum())]:
        return f"count is {count.to_host().tolist()}; it must be [{int(mask.sum())}]"
    for name, target, host in zip(("out", "values_out"), targets, hosts, strict=False):
        right = host[mask]
        if kind.primitive == "partition":
            right = np.concatenate([right, host[~mask]])
        if wrong := target.wrong(name, right):
            return wrong
    return None


def _record(kind: Kind, bench: Bench, dtype: np.dtype[Any]) -> str | None:
    """Compare records that a map makes by changing fields or by combining two arrays."""
    names = dtype.names or ()
    result = RECORDS[_NAMES[(_NAMES.index(_named(kind)) + 1) % len(_NAMES)]]
    x, other = plain(bench, dtype), plain(bench, result)
    backwards = [
        (
            f"other[i].{to} - x.{name}"
            if result[to].kind == dtype[name].kind and result[to].itemsize >= dtype[name].itemsize
            else f"other[i].{to}"
        )
        for to, name in zip(result.names or (), _repeated(names[::-1], result), strict=True)
    ]
    function = Map(
        dtype=dtype, result=result, expression=f"result({', '.join(backwards)})",
        arrays={"other": result}, name="a record of another dtype",
    )  # fmt: skip
    right = cleaned(other)
    for to, name in zip(result.names or (), _repeated(names[::-1], result), strict=True):
        if result[to].kind == dtype[name].kind and result[to].itemsize >= dtype[name].itemsize:
            right[to] = other[to] - x[name].astype(result[to])
    target = bench.target(f"V{result.itemsize}", x.size)
    given = function(other=_given(bench, other))
    strategy: Any = kind.strategy
    out = target.array.view(result)
    primitives.map(_given(bench, x), given, out=out, strategy=strategy)
    return target.wrong("out", bytes_in(right))


def _named(kind: Kind) -> str:
    return kind.how.removeprefix(BY_FIELDS)


def _repeated(names: tuple[str, ...], result: np.dtype[Any]) -> tuple[str, ...]:
    """Return a name for each field of a result, over and over again."""
    length = len(result.names or ())
    return (names * length)[:length]


def _number(kind: Kind, bench: Bench, dtype: np.dtype[Any]) -> str | None:
    """Compare a number that a map makes of all fields."""
    x, names = plain(bench, dtype), dtype.names or ()
    terms = [f"convert_uint(x.{name} > 3) << {k}" for k, name in enumerate(names)]
    function = Map(dtype=dtype, result=np.dtype("u4"), expression=f"{' | '.join(terms)} | i << 20")
    right = (np.arange(x.size) << 20).astype("u4")
    for k, name in enumerate(names):
        right |= (x[name] > 3).astype("u4") << np.uint32(k)
    target = bench.target(np.uint32, x.size)
    strategy: Any = kind.strategy
    primitives.map(_given(bench, x), function, out=target.array, strategy=strategy)
    return target.wrong("out", right)


def _counted(kind: Kind, bench: Bench, dtype: np.dtype[Any]) -> str | None:
    """Compare a histogram whose bins are of the last field."""
    x, last = plain(bench, dtype), (dtype.names or ())[-1]
    function = Map(
        dtype=dtype,
        result=np.dtype("u4"),
        expression=f"x.{last} > 100 ? 1u : x.{last} < least ? 0u : 2u",
        scalars={"least": dtype[last]},
        name="bin",
    )
    right = np.where(x[last] > 100, 1, np.where(x[last] < 7, 0, 2))
    n_bins = bench.draws.choice((2, 3, 5000))
    target = bench.target(np.uint32, n_bins)
    strategy: Any = kind.strategy
    primitives.histogram(
        _given(bench, x), n_bins, bin_of=function(least=7), out=target.array, strategy=strategy
    )
    counts = np.bincount(right, minlength=n_bins)[:n_bins]
    return target.wrong("out", counts.astype(np.uint32))


def _sorted(kind: Kind, bench: Bench, dtype: np.dtype[Any], by: str) -> str | None:
    """Compare a stable sort by a field: NaNs above all numbers, zeros of both signs equal."""
    field, values = by.removesuffix(_DOWN), drawn(bench, dtype)
    how: dict[str, Any] = {"key": field, "descending": by.endswith(_DOWN)}
    how["strategy"] = kind.strategy
    _, ranks = np.unique(values[field], return_inverse=True)
    order = np.argsort(-ranks if how["descending"] else ranks, kind="stable")
    raw = bytes_in(values)
    in_place = bench.draws.one_in(2)
    target = bench.in_place(raw) if in_place else bench.target(raw.dtype, raw.size)
    given = target.array.view(dtype) if in_place else _given(bench, values)
    out, indices = target.array.view(dtype), order.astype(np.uint32)
    if kind.primitive == "argsort":
        found = primitives.argsort(given, **how)
        right = found.to_host().tobytes() == indices.tobytes()
        return None if right else "the order differs from NumPy's"
    if kind.primitive == "sort":
        primitives.sort(given, out=out, **how)
        return target.wrong("out", raw[order])
    moved: Target = bench.target(np.uint32, raw.size)
    numbers = bench.put(np.arange(raw.size, dtype=np.uint32))
    primitives.sort_by_key(given, numbers, keys_out=out, values_out=moved.array, **how)
    return target.wrong("keys_out", raw[order]) or moved.wrong("values_out", indices)
