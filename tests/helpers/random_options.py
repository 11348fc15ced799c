"""Solve with random options, and count the self-tests that this costs.

A device passes a self-test for each program, not for each number that a program gets as an
argument. ``python -m tests.helpers.random_options --draws 2000`` solves a small graph with random
options of all algorithms, in a cache of its own, and prints how many self-tests ran and how many
files hold their verdicts. It compares every forest with the oracle's.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from unittest.mock import patch

import numpy as np

import clmst
from clmst import ClmstError, Device, Graph
from clmst.algorithms.registry import ALGORITHMS
from clmst.core.known_graphs import weights_of
from clmst.core.machine import cache_folder
from clmst.runtime.specialisation import Specialisation
from clmst.runtime.trust import Trust

DTYPES = tuple(map(np.dtype, ("u4", "f4", "f8", "i8", "u1", "i2", "f2", "u8")))


def random_options(rng: np.random.Generator, kind: type[Any]) -> Any:
    """Return random options of a class, by the types of its fields.

    Returns None if the class refuses the values, because they contradict one another.
    """
    hints = get_type_hints(kind)
    values = {one.name: _value(rng, hints[one.name], one.name) for one in fields(kind)}
    try:
        return kind(**values)
    except clmst.InvalidArgumentError:
        return None


def _value(rng: np.random.Generator, kind: Any, name: str) -> Any:
    if get_origin(kind) in (Union, UnionType):
        if rng.random() < 0.3:
            return None
        (kind,) = (one for one in get_args(kind) if one is not NoneType)
    if get_origin(kind) is Literal:
        return str(rng.choice(get_args(kind)))
    if get_origin(kind) is tuple:
        return tuple(np.sort(rng.random(rng.integers(4)) * 4 + 0.01).tolist())
    if kind is bool:
        return bool(rng.random() < 0.7)
    if kind is float:
        return float(rng.uniform(2, 4))
    high = {"seed": 1 << 32, "samples": 4096, "rounds": 6}.get(name, 300)
    return int(rng.integers(2, high)) if kind is int else random_options(rng, kind)


@dataclass
class Price:
    """What a run of random options has cost."""

    tested: Counter[str] = field(default_factory=Counter)  # self-tests by family
    solved: Counter[str] = field(default_factory=Counter)  # solves by algorithm
    refused: Counter[str] = field(default_factory=Counter)  # solves by the beginning of the error
    untested: set[str] = field(default_factory=set)  # programs that a solve alone has built
    for_numbers: int = 0  # self-tests for options that differ from earlier ones in numbers alone
    wrong: int = 0


@contextmanager
def counted(price: Price) -> Iterator[set[Specialisation]]:
    """Count self-tests for a while; the set that is yielded has the programs asked for in them."""
    in_tests: set[Specialisation] = set()
    run, build = Trust.run, Device._tried_and_built
    depth = 0

    def counting(trust: Trust, family: Any, case: Any) -> Any:
        nonlocal depth
        price.tested[family.name] += 1
        depth += 1
        try:
            return run(trust, family, case)
        finally:
            depth -= 1

    def noting(device: Device, key: Specialisation) -> Any:
        if depth:
            in_tests.add(key)
        elif key not in in_tests:
            price.untested.add(key.label)
        return build(device, key)

    with patch.object(Trust, "run", counting), patch.object(Device, "_tried_and_built", noting):
        yield in_tests


def solve_by_random_options(
    device: Device, draws: int, *, seed: int = 0, anew_each: int = 50,
    dtypes: tuple[np.dtype[Any], ...] = DTYPES, until: float = float("inf"),
) -> Price:  # fmt: skip
    """Solve with random options, with a new `Device` every `anew_each` draws, as in a new process.

    Stops early at the time `until` of `time.monotonic`. Returns the counts.
    """
    rng, price = np.random.default_rng(seed), Price()
    ends = rng.integers(0, 300, (2, 1500))
    ranks = rng.integers(0, 100, 1500)
    graphs = {}
    with counted(price):
        for number in range(draws):
            if time.monotonic() > until:
                break
            if number % anew_each == 0:
                device = Device(
                    device.cl_device, without=device.without, _optimised=device.is_optimised
                )
            name, dtype = str(rng.choice(list(ALGORITHMS))), dtypes[rng.integers(len(dtypes))]
            options, maximum = random_options(rng, ALGORITHMS[name].options), bool(rng.integers(2))
            if options is None:
                continue
            if dtype not in graphs:
                graphs[dtype] = Graph.from_edges(ends[0], ends[1], weights_of(ranks, dtype))
            solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
            expected = clmst.kruskal(graphs[dtype], maximum=maximum)
            for given in (options, other_numbers(rng, options)):
                before = sum(price.tested.values())
                try:
                    forest = solve(graphs[dtype], options=given, device=device)
                except ClmstError as error:
                    price.refused[f"{name}: {type(error).__name__} {str(error)[:90]}"] += 1
                    break
                if given is not options:
                    price.for_numbers += sum(price.tested.values()) - before
                price.solved[name] += 1
                price.wrong += not np.array_equal(forest.edge_ids, expected.edge_ids)
    return price


def other_numbers(rng: np.random.Generator, options: Any) -> Any:
    """Return options that differ only in seeds, counts and thresholds."""
    drawn: Any = None
    while drawn is None:
        drawn = random_options(rng, type(options))
    numbers = {
        one.name: getattr(drawn, one.name)
        for one in fields(options)
        if isinstance(getattr(drawn, one.name), int | float)
        and not isinstance(getattr(drawn, one.name), bool)
    }
    if targets := getattr(options, "targets", None):
        numbers["targets"] = tuple(1.5 * one for one in targets)
    return replace(options, **numbers)


def verdict_files() -> list[Path]:
    """Return all files of verdicts and markers in the current cache."""
    return [path for path in (cache_folder() / "trust").rglob("*") if path.is_file()]


def main() -> None:
    """Solve with random options, and print what that has cost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=60.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, CLMST_CACHE=folder):
        device = Device(clmst.get_device().cl_device, _optimised=False)
        until = time.monotonic() + 60 * given.minutes
        price = solve_by_random_options(device, given.draws, seed=given.seed, until=until)
        files = verdict_files()
        print(json.dumps({
            "solves": sum(price.solved.values()), "wrong": price.wrong,
            "self-tests": sum(price.tested.values()), "by family": dict(price.tested),
            "self-tests for numbers": price.for_numbers,
            "files": len(files), "bytes": sum(one.stat().st_size for one in files),
            "programs that no self-test built": sorted(price.untested),
            "refused": dict(price.refused),
        }, indent=1))  # fmt: skip


if __name__ == "__main__":
    main()
