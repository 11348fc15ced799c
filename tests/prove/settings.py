"""What a sample is solved by: algorithms with their options, and what is lowered for small graphs.

Every option of every algorithm has a name here, so that what was run can be counted.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any

from clmst import (
    BoruvkaOptions,
    DenseOptions,
    EclOptions,
    EdgeParallelOptions,
    FilterBoruvkaOptions,
    PmaOptions,
    PrimBoruvkaOptions,
    PrimOptions,
)
from tests.helpers.variants import VARIANTS
from tests.prove.draws import Draws
from tests.prove.weights import DTYPES

OPTIONS: dict[str, dict[str, Any]] = {
    "auto": {"default": None},
    "boruvka": {
        "default": None,
        "split numbering": BoruvkaOptions(numbering="split"),
        "duplicates by minimum": BoruvkaOptions(duplicates="minimum"),
        "duplicates by split": BoruvkaOptions(duplicates="split"),
        "duplicates kept": BoruvkaOptions(duplicates="keep"),
        "as in the paper": BoruvkaOptions(numbering="split", duplicates="split"),
    },
    "dense": {"default": None, "reread all": DenseOptions(reread="all")},
    "ecl": {
        **dict(EclOptions.ablation()),
        "8 samples": EclOptions(samples=8, seed=1),
    },
    "edge-parallel": {
        "default": None,
        "atomic-full": EdgeParallelOptions(union_find="atomic-full"),
        "locked": EdgeParallelOptions(union_find="locked"),
        "static": EdgeParallelOptions(schedule="static"),
        "dynamic": EdgeParallelOptions(schedule="dynamic"),
        "guided": EdgeParallelOptions(schedule="guided"),
    },
    "filter-boruvka": {
        "default": None,
        "one window": FilterBoruvkaOptions(targets=()),
        "two windows": FilterBoruvkaOptions(targets=(0.5,), seed=2),
        "four windows": FilterBoruvkaOptions(targets=(0.25, 0.5, 1.0)),
        "separate": FilterBoruvkaOptions(launches="separate"),
        "mixed": FilterBoruvkaOptions(launches="mixed", targets=(0.5,)),
        "resident": FilterBoruvkaOptions(launches="resident", targets=(0.5,)),
        "GPU shape": FilterBoruvkaOptions(shape="gpu"),
        "CPU shape": FilterBoruvkaOptions(shape="cpu"),
        "CPU shape, one window": FilterBoruvkaOptions(shape="cpu", targets=()),
        "CPU shape, two windows": FilterBoruvkaOptions(shape="cpu", targets=(0.5,), seed=2),
        "CPU shape, four windows": FilterBoruvkaOptions(shape="cpu", targets=(0.25, 0.5, 1.0)),
    },
    "pma": {
        "default": None,
        "min": PmaOptions(variant="min"),
        "hybrid": PmaOptions(variant="hybrid"),
        "gamma 2": PmaOptions(gamma=2),
        "min, gamma 5": PmaOptions(variant="min", gamma=5),
        "parallel kept": PmaOptions(remove_parallel=False),
        "items": PmaOptions(workers="items"),
        "lanes": PmaOptions(workers="lanes"),
    },
    "prim": {
        "default": None,
        "heap": PrimOptions(queue="heap"),
        "array": PrimOptions(queue="array"),
        "apart": PrimOptions(components="apart"),
        "together": PrimOptions(components="together"),
        "array, apart": PrimOptions(queue="array", components="apart"),
    },
    "prim-boruvka": {
        "default": None,
        "no round": PrimBoruvkaOptions(rounds=0),
        "one round": PrimBoruvkaOptions(rounds=1),
        "three rounds": PrimBoruvkaOptions(rounds=3),
        "array": PrimBoruvkaOptions(prim=PrimOptions(queue="array")),
    },
}

# Options that not every device takes: there a refusal does not count as a failure.
FOR_SOME_DEVICES = {
    ("edge-parallel", "locked"),
    ("filter-boruvka", "mixed"),
    ("filter-boruvka", "resident"),
    ("pma", "lanes"),
}

# In how many blocks of a dtype and variant all options of an algorithm have had their turn.
PARTS = 4
BLOCK_KINDS = tuple(product(DTYPES, VARIANTS))

# Bounds that keep some ways of solving from small graphs (tests/helpers/bounds.py), and lower ones.
LOWERED = {
    "arranged_from": 1,
    "small_slots": 0,
    "small_edges": 0,
    "checked_from": 1,
    "series_from": 1,
    "warm_from": 1,
    "warm_most_left": 100,
    "weights_checked_from": 0,
    "range_step": 64,
    "stream_rows_from": 1,
    "stream_opens_from": 8,
}


@lru_cache(maxsize=4)
def part_of(seed: int, block: int) -> tuple[str, str, bool, tuple[tuple[str, str], ...]]:
    """Return a block's dtype, variant, order of weights, and the algorithms that take turns in it.

    A process builds programs for one dtype, one variant and a quarter of the options in a block.
    Blocks go through all dtypes and variants in random order, then again with another quarter;
    after four times in the other order of weights. Each algorithm occurs in every block.
    """
    cycle, index = divmod(block, len(BLOCK_KINDS))
    dtype, variant = Draws(seed, 1, cycle).shuffled(BLOCK_KINDS)[index]
    part = (cycle + Draws(seed, 2).below(PARTS)) % PARTS
    maximum = (cycle // PARTS + BLOCK_KINDS.index((dtype, variant))) % 2 == 1
    turns = tuple(
        (algorithm, name)
        for algorithm, options in OPTIONS.items()
        for k, name in enumerate(options)
        if k % min(PARTS, len(options)) == part % min(PARTS, len(options))
    )
    return dtype, variant, maximum, turns


def combinations() -> list[tuple[str, str, str]]:
    """Return every (algorithm with option, dtype, variant) that there is."""
    named = [f"{algorithm}: {name}" for algorithm, options in OPTIONS.items() for name in options]
    return list(product(named, DTYPES, VARIANTS))
