"""Selections beside NumPy: compact, partition, unique_by_key, positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clmst import primitives
from clmst.core.weight_keys import Array
from tests.prove.primitives.bench import Bench, Target, rows_of
from tests.prove.primitives.kinds import NUMBERS, Kind, by_turns, pairs

_PREDICATE = "by a predicate"
# What holds of some numbers, in OpenCL C and in NumPy; `limit` is a number, `chosen` an array.
_INTEGERS = "(x & 3) < limit || chosen[i] != 0"
_FLOATS = "x < limit || chosen[i] != 0"

KINDS = by_turns(
    [
        *(
            Kind(primitive=name, dtype=dtype, value=value)
            for name in ("compact", "partition", "unique_by_key")
            for dtype, value in pairs(every=name == "compact")
        ),
        *(
            Kind(primitive=name, dtype=dtype, value=value, how=_PREDICATE)
            for name in ("compact", "partition")
            for dtype in NUMBERS
            for value in ("", "u4", "V16", "V3")
        ),
        Kind(primitive="positions", dtype="u1"),
    ]
)


def run(kind: Kind, bench: Bench) -> str | None:
    """Return a description of the error in a selection, or None if it is right."""
    hosts, mask, rule = _drawn(kind, bench)
    given, n, draws = bench.put(hosts[0]), bench.length, bench.draws
    if kind.primitive == "positions":
        given, hosts = bench.put(mask), [np.arange(n, dtype=np.uint32)]
    elif kind.value:
        hosts.append(bench.records(kind.value))
        rule["values"] = bench.put(hosts[1])
    bound = n
    if kind.primitive != "partition" and draws.one_in(3):
        k = int(np.count_nonzero(mask))  # what is promised fits, be it exactly, or does not
        rule["at_most"] = draws.choice((0, max(k - 1, 0), k, k + 1, draws.below(n + 2), n + 9))
        bound = min(rule["at_most"], n)
    targets = {
        name: bench.target(host.dtype, bound)
        for name, host in zip(("out", "values_out"), hosts, strict=False)
        if draws.one_in(2)
    }
    if draws.one_in(2):
        targets["count"] = bench.target(np.uint32, 1)
    outputs = {name: target.array for name, target in targets.items()}
    function: Callable[..., Any] = getattr(primitives, kind.primitive)
    *found, count = function(given, strategy=kind.strategy, **rule, **outputs)
    expected = [host[mask != 0] for host in hosts]
    if kind.primitive == "partition":
        expected = [np.concatenate([host[mask != 0], host[mask == 0]]) for host in hosts]
    total = np.array([np.count_nonzero(mask)], np.uint32)
    if found[0].size != bound:
        return f"out has {found[0].size} elements; it must have {bound}"
    return _compare([*found, count], [*(one[:bound] for one in expected), total], targets)


def _compare(found: list[Any], expected: list[Array], targets: dict[str, Target]) -> str | None:
    """Compare outputs, values or not, and the count, which comes last."""
    names = ("out", "values_out", "count") if len(found) == 3 else ("out", "count")
    for name, array, right in zip(names, found, expected, strict=True):
        if name in targets:
            wrong = targets[name].wrong(name, right)
        else:
            same = array.to_host()[: right.size].tobytes() == right.tobytes()
            wrong = None if same else f"{name} differs from NumPy's"
        if wrong:
            return wrong
    return None


def _drawn(kind: Kind, bench: Bench) -> tuple[list[Array], Array, dict[str, Any]]:
    """Return the records, which of them are selected, and the rule that says so."""
    if kind.primitive == "positions":
        mask = bench.flags()
        return [mask], mask, {}
    if kind.primitive == "unique_by_key":
        keys = bench.records(kind.dtype)
        if bench.draws.one_in(2) and keys.size:  # in runs
            keys = keys[np.sort(bench.draws.integers(keys.size // 2 + 1, keys.size))]
        rows = rows_of(keys)
        heads = np.ones(keys.size, bool)
        heads[1:] = (rows[1:] != rows[:-1]).any(axis=1)
        return [keys], heads, {}
    flags = bench.flags()
    if kind.how != _PREDICATE:
        return [bench.records(kind.dtype)], flags, {"flags": bench.put(flags)}
    x = bench.numbers(kind.dtype)
    limit = bench.draws.below(4)
    is_float = x.dtype.kind == "f"
    predicate = primitives.Predicate(
        dtype=x.dtype,
        expression=_FLOATS if is_float else _INTEGERS,
        scalars={"limit": kind.dtype},
        arrays={"chosen": "u1"},
        name=f"some {x.dtype}",
    )
    with np.errstate(invalid="ignore"):
        holds = x < limit if is_float else (x & x.dtype.type(3)) < limit
    return [x], holds | (flags != 0), {"predicate": predicate(limit=limit, chosen=bench.put(flags))}
