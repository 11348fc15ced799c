"""Time single calls, and list the times of compared programs (contestants) by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from clmst.bench.harness import CLOCKS, Contestant, Harness, Times

T = TypeVar("T")


def by_name(every: Sequence[Times[Any]]) -> dict[str, list[float]]:
    """Return the milliseconds of every repetition, by the name of the compared program."""
    return {times.name: times.milliseconds for times in every}


def seconds_of(call: Callable[[], object]) -> float:
    """Return the seconds of a single call, without a warm-up."""
    times: Times[object] = Times(contestant=Contestant(name="", call=call))
    return Harness(repetitions=1).clocked(times)[0]


def wall_and_processor_seconds(call: Callable[[], T]) -> tuple[T, float, float]:
    """Call a function once, without a warm-up.

    Returns (result, wall seconds, processor seconds).
    """
    wall, processor = CLOCKS["wall"], CLOCKS["cpu"]
    begun, used = wall(), processor()
    result = call()
    return result, wall() - begun, processor() - used
