"""The search: coordinate descent over declared values, each step a race against the incumbent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from time import monotonic
from typing import Literal, TypeAlias

from clmst.bench.harness import WrongResultError
from clmst.core.errors import InvalidArgumentError
from clmst.runtime.policy import PARAMETERS, Number, Policy, TuningParameter
from clmst.runtime.tuning import changes, fitted
from clmst.tune.policy_benchmark import RefusedError

Verdict: TypeAlias = Literal["better", "same", "worse", "refused", "wrong"]
Ending: TypeAlias = Literal["complete", "budget", "interrupted"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A value of a parameter against the incumbent's, and what came of it.

    "better" and "worse" are by more than the margin. `ratio` is the time relative to the
    incumbent's, if there is one; `note` says why the value was refused, or what was wrong.
    """

    name: str
    value: Number
    against: Number
    verdict: Verdict
    ratio: float | None = None
    note: str = ""


@dataclass(slots=True, kw_only=True)
class SearchOutcome:
    """The findings of a search so far."""

    start: Policy
    best: Policy
    margin: float
    parameters: tuple[str, ...] = ()  # those whose values were raced to an end at least once
    steps: list[Step] = field(default_factory=list)
    # Complete: every parameter stands where no neighbour is better. Interrupted: by Ctrl-C.
    ending: Ending = "complete"
    # Time with `best` relative to `start`, measured at the end; the product of the steps' ratios if
    # there was no time for that.
    gain: float = 1.0
    # What was measured at the end if that was no gain, so that `best` is `start` again.
    undone: float | None = None

    @property
    def has_gained(self) -> bool:
        """Whether something quicker than the start was found, so that there is what to keep."""
        return self.best != self.start

    @property
    def values(self) -> dict[str, Number]:
        """The values for a table: of the parameters that were searched, and all that changed."""
        searched = {name: getattr(self.best, name) for name in self.parameters}
        return searched | changes(self.start, self.best)

    @property
    def figures(self) -> dict[str, dict[str, float]]:
        """The time with other values, by parameter, relative to the time with the one chosen."""
        found: dict[str, dict[Number, float]] = {}
        for step in self.steps:
            if step.ratio is None:
                continue
            times = found.setdefault(step.name, {})
            times.setdefault(step.against, 1.0)
            times[step.value] = step.ratio * times[step.against]
        figures = {}
        for name, times in found.items():
            chosen = getattr(self.best, name)
            others = {v: t / times.get(chosen, 1.0) for v, t in times.items() if v != chosen}
            figures[name] = {str(v): round(t, 3) for v, t in sorted(others.items())}
        return figures

    @property
    def wrong(self) -> list[Step]:
        """The candidates that gave another forest."""
        return [step for step in self.steps if step.verdict == "wrong"]


class _TimeIsUp(Exception):  # noqa: N818 - it ends a search, and is no error
    """The budget is spent."""


def chosen_parameters(
    names: Sequence[str], algorithms: Sequence[str], policy: Policy
) -> tuple[TuningParameter, ...]:
    """Return the parameters of these names, or all that matter to any of some algorithms."""
    matter = {
        n: p for n, p in PARAMETERS.items() if any(p.matters(one, policy) for one in algorithms)
    }
    for name in names:
        if name not in PARAMETERS:
            raise InvalidArgumentError(
                f"no parameter is called {name!r}; there are {', '.join(PARAMETERS)}"
            )
        if name not in matter:
            raise InvalidArgumentError(
                f"{name} makes no difference to {' and '.join(algorithms)} on this device as it is "
                f"tuned; what does is {', '.join(matter)}"
            )
    return tuple(p for n, p in matter.items() if not names or n in names)


def candidates(parameter: TuningParameter, policy: Policy) -> Iterator[list[Number]]:
    """Yield the values above the present one, the nearest first, then those below it."""
    present = getattr(policy, parameter.name)
    yield [value for value in parameter.tries if value > present]
    yield [value for value in reversed(parameter.tries) if value < present]


class Search:
    """A search from a policy on, by a margin that a candidate must win by, until seconds are over.

    `compare` returns the time of a candidate relative to an incumbent's (:class:`PolicyBenchmark`).
    `on_progress` is given the outcome so far, and the parameter and value that are tried next.
    """

    def __init__(
        self,
        compare: Callable[[Policy, Policy], float],
        start: Policy,
        parameters: Sequence[TuningParameter],
        *,
        margin: float = 0.02,
        budget: float = inf,
        clock: Callable[[], float] = monotonic,
        on_progress: Callable[[SearchOutcome, str, Number], None] | None = None,
    ) -> None:
        self.outcome = SearchOutcome(start=start, best=start, margin=margin)
        self._compare = compare
        self._parameters = tuple(parameters)
        self._clock, self._end = clock, clock() + budget
        self.on_progress = on_progress
        self._settled: dict[str, Policy] = {}  # where each parameter was last searched to an end

    def run(self) -> SearchOutcome:
        """Search until nothing is better, time is up or Ctrl-C is pressed."""
        outcome = self.outcome
        try:
            self._measure_noise()
            while any(self._is_open(parameter) for parameter in self._parameters):
                for parameter in filter(self._is_open, self._parameters):
                    self._settle(parameter)
            self._confirm()
        except _TimeIsUp:
            outcome.ending = "budget"
        except KeyboardInterrupt:
            outcome.ending = "interrupted"
        outcome.parameters = tuple(self._settled)
        return outcome

    def _is_open(self, parameter: TuningParameter) -> bool:
        """Return whether anything changed since the parameter was searched."""
        return self._settled.get(parameter.name) != self.outcome.best

    def _measure_noise(self) -> None:
        """Raise the margin to what the incumbent loses or wins against itself."""
        self._check_time()
        outcome = self.outcome
        noise = abs(self._compare(outcome.start, outcome.start) - 1)
        outcome.margin = max(outcome.margin, noise)

    def _settle(self, parameter: TuningParameter) -> None:
        """Go up, then down, as long as that does not lose; stay where it was quickest."""
        before = self.outcome.best
        for values in candidates(parameter, before):
            for value in values:
                verdict = self._race(parameter.name, value)
                if verdict not in ("better", "same"):
                    break
            if self.outcome.best != before:
                break
        self._settled[parameter.name] = self.outcome.best

    def _race(self, name: str, value: Number) -> Verdict:
        """Try a value; it takes the place of the incumbent's if it is better."""
        self._check_time()
        outcome, against = self.outcome, getattr(self.outcome.best, name)
        candidate = fitted(outcome.best, name, value)
        if getattr(candidate, name) != value:
            return "worse"  # what other fields need forbids it
        if self.on_progress is not None:
            self.on_progress(outcome, name, value)
        verdict, ratio, note = self._judged(candidate)
        outcome.steps.append(
            Step(name=name, value=value, against=against, verdict=verdict, ratio=ratio, note=note)
        )
        if verdict == "better" and ratio is not None:
            outcome.best = candidate
            outcome.gain *= ratio
        return verdict

    def _judged(self, candidate: Policy) -> tuple[Verdict, float | None, str]:
        """Return verdict, ratio and note; what seems better has to be so twice."""
        best, margin = self.outcome.best, self.outcome.margin
        try:
            ratio = self._compare(candidate, best)
            if ratio < 1 - margin:  # of many candidates one is lucky: it has to win again
                ratio = max(ratio, self._compare(candidate, best))
        except RefusedError as error:
            return "refused", None, str(error)
        except WrongResultError as error:
            return "wrong", None, str(error)
        if ratio < 1 - margin:
            return "better", ratio, ""
        return ("worse" if ratio > 1 + margin else "same"), ratio, ""

    def _confirm(self) -> None:
        """Measure what was gained in all; take it back if it does not show side by side."""
        outcome = self.outcome
        if outcome.best == outcome.start:
            return
        outcome.gain = self._compare(outcome.best, outcome.start)
        if outcome.gain >= 1 - outcome.margin:
            outcome.undone = outcome.gain
            outcome.best, outcome.gain = outcome.start, 1.0

    def _check_time(self) -> None:
        if self._clock() >= self._end:
            raise _TimeIsUp
