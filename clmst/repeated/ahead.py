"""Solves one after the other, while what comes next is on its way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class _Failure:
    """An error in the place of weights: the source's own, or what is wrong with them."""

    error: Exception
    is_refusal: bool


class Weights(Protocol):
    """Weights that have been checked, and are where devices get at them."""

    @property
    def is_on_device(self) -> bool:
        """Whether they are in a buffer of the caller's."""


# What a source of weights gives: the next ones, an error in their place, or nothing more.
_Next: TypeAlias = Weights | _Failure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Steps:
    """What is done with each of several weights.

    Attributes
    ----------
    give : callable
        Check weights, and bring them to the device, while another thread solves; waits.
    solve : callable
        Return the forest under weights given.
    put_back : callable
        Let go of weights given that nobody will solve.
    forget : callable
        Have no weights, as after any others that cannot be solved.
    """

    give: Callable[[Any], Any]
    solve: Callable[[Any], Any]
    put_back: Callable[[Any], None]
    forget: Callable[[], None]


def solve_ahead(
    source: Iterator[Any], steps: Steps, told: Callable[[int], object]
) -> Iterator[Any]:
    """Yield the forests under weights from a source, in order.

    The source is asked in the thread that iterates, one ahead of the solve, which is in a thread of
    its own. Weights that are on the device are not asked for ahead: there is nothing to overlap,
    and whoever makes them has one buffer for all.

    Parameters
    ----------
    source : iterator of weights
    steps : Steps
    told : callable
        Called with the number of forests, before each is yielded.
    """
    done = 0
    with ThreadPoolExecutor(1, thread_name_prefix="clmst-solve") as worker:
        ahead = _next(source, steps)
        while ahead is not None and not isinstance(ahead, _Failure):
            present, ahead = ahead, None
            solve = worker.submit(steps.solve, present)
            try:
                if not present.is_on_device:
                    ahead = _next(source, steps)
                forest = solve.result()
                done += 1
                told(done)
                yield forest
            except BaseException:
                if ahead is not None and not isinstance(ahead, _Failure):
                    steps.put_back(ahead)
                raise
            del forest, solve  # or they would keep its memory during the next solve
            if present.is_on_device:
                ahead = _next(source, steps)
    if isinstance(ahead, _Failure):
        if ahead.is_refusal:
            steps.forget()
        raise ahead.error


def _next(source: Iterator[Any], steps: Steps) -> _Next:
    """Return what comes next; errors are kept, to be raised in their turn."""
    try:
        weights = next(source)
    except StopIteration:
        return None
    except Exception as error:
        return _Failure(error, is_refusal=False)
    try:
        given: Weights = steps.give(weights)
    except Exception as error:
        return _Failure(error, is_refusal=True)
    return given
