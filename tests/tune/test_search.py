"""The search, on a benchmark of known costs: where it ends, what it refuses, what it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import log2
from typing import Any

import pytest

from clmst import InvalidArgumentError
from clmst.bench.harness import WrongResultError
from clmst.runtime import policy
from clmst.runtime.policy import PARAMETERS, Policy
from clmst.tune.policy_benchmark import RefusedError
from clmst.tune.search import Search, SearchOutcome, candidates, chosen_parameters
from tests.runtime.test_policy import CAPABILITIES

START = replace(policy.choose(CAPABILITIES["gpu"]), edges_per_item=8, hub_row=128)
NAMES = ("edges_per_item", "hub_row")


def bowl(tuned: Policy) -> float:
    """Cost with its least value at 2 edges an item and hubs of 512 slots."""
    return 1 + 0.1 * abs(log2(tuned.edges_per_item / 2)) + 0.2 * abs(log2(tuned.hub_row / 512))


def run(
    cost: Callable[[Policy], float],
    names: Sequence[str] = NAMES,
    *,
    compare: Callable[[Policy, Policy], float | None] = lambda candidate, incumbent: None,
    **options: Any,
) -> SearchOutcome:
    """Search where times are given by a function, unless `compare` has another ratio of two."""

    def ratio(candidate: Policy, incumbent: Policy) -> float:
        return compare(candidate, incumbent) or cost(candidate) / cost(incumbent)

    return Search(ratio, START, [PARAMETERS[name] for name in names], **options).run()


def test_finds_the_bottom() -> None:
    """By way of each candidate that it reports."""
    reported: list[tuple[str, object]] = []
    outcome = run(bowl, on_progress=lambda _, name, value: reported.append((name, value)))
    assert outcome.ending == "complete"
    assert outcome.best == replace(START, edges_per_item=2, hub_row=512)
    assert outcome.gain == pytest.approx(bowl(outcome.best) / bowl(START))
    assert outcome.values == {"edges_per_item": 2, "hub_row": 512}
    assert set(outcome.parameters) == set(NAMES)
    assert reported == [(step.name, step.value) for step in outcome.steps]


def test_figures_are_relative_to_what_was_chosen() -> None:
    outcome = run(lambda p: 1 + 0.1 * abs(log2(p.edges_per_item / 2)))
    assert outcome.figures["edges_per_item"] == {"1": 1.1, "4": 1.1, "8": 1.2, "16": 1.3}


def test_every_value_stays_legal() -> None:
    def legal(candidate: Policy, _: Policy) -> None:
        for name, parameter in PARAMETERS.items():
            assert parameter.allows(getattr(candidate, name))

    run(bowl, list(PARAMETERS), compare=legal)


def test_gains_within_the_margin_are_not_taken() -> None:
    outcome = run(lambda p: 1 + 0.015 * abs(log2(p.hub_row / 256)))
    assert outcome.best == START
    assert {step.verdict for step in outcome.steps} <= {"same", "worse"}
    assert run(lambda p: 1 + 0.015 * abs(log2(p.hub_row / 256)), margin=0.01).best != START


def test_small_steps_that_add_up_are_taken() -> None:
    """A slope of less than the margin a step must not look like a plain."""
    outcome = run(lambda p: p.hub_row**-0.02)
    assert outcome.best.hub_row == PARAMETERS["hub_row"].tries[-1]


def test_noise_widens_the_margin() -> None:
    outcome = run(
        lambda p: 0.95 if p.hub_row > 128 else 1.0, ["hub_row"],
        compare=lambda one, other: 0.9 if one == other else None,
    )  # fmt: skip
    assert outcome.margin == pytest.approx(0.1)
    assert outcome.best == START


def test_lucky_candidate_has_to_win_twice() -> None:
    seen = [(START, START)]

    def lucky(*pair: Policy) -> float:
        seen.append((pair[0], pair[1]))
        return 1.0 if pair in seen[:-1] else 0.5

    outcome = run(bowl, ["hub_row"], compare=lucky)
    assert outcome.best == START
    assert {step.verdict for step in outcome.steps} == {"same"}


def test_gain_that_does_not_show_at_the_end_is_taken_back() -> None:
    def drifting(candidate: Policy, incumbent: Policy) -> float | None:
        return 1.01 if incumbent == START and candidate.edges_per_item == 2 else None

    outcome = run(bowl, ["edges_per_item"], compare=drifting)
    assert (outcome.best, outcome.gain, outcome.undone) == (START, 1.0, 1.01)
    assert outcome.values == {"edges_per_item": 8}


@pytest.mark.parametrize(
    ("error", "verdict"), [(RefusedError, "refused"), (WrongResultError, "wrong")]
)
def test_candidate_that_fails_is_passed_over(error: type[Exception], verdict: str) -> None:
    def cost(tuned: Policy) -> float:
        if tuned.hub_row > 128:
            raise error("it says why")
        return bowl(tuned)

    outcome = run(cost)
    assert outcome.best == replace(START, edges_per_item=2)
    failed = [step for step in outcome.steps if step.verdict == verdict]
    assert {(step.name, step.value, step.note) for step in failed} == {
        ("hub_row", 256, "it says why")
    }
    assert bool(outcome.wrong) == (verdict == "wrong")


def test_budget_ends_it() -> None:
    """The best so far is kept, and only what was searched to an end is claimed."""
    outcome = run(bowl, budget=4.5, clock=partial(next, iter(range(1000))))
    assert (outcome.ending, len(outcome.steps)) == ("budget", 3)
    assert outcome.best == replace(START, edges_per_item=2)
    assert outcome.parameters == ()
    assert outcome.values == {"edges_per_item": 2}
    assert outcome.gain == pytest.approx(bowl(outcome.best) / bowl(START))


def test_interrupt_keeps_the_best_so_far() -> None:
    def cost(tuned: Policy) -> float:
        if tuned.hub_row != START.hub_row:
            raise KeyboardInterrupt
        return bowl(tuned)

    outcome = run(cost)
    assert outcome.ending == "interrupted"
    assert outcome.best == replace(START, edges_per_item=2)
    assert outcome.parameters == ("edges_per_item",)


def test_candidates_are_the_neighbours_first() -> None:
    up, down = candidates(PARAMETERS["hub_row"], START)
    assert (up[0], down[0]) == (256, 64)
    up, down = candidates(PARAMETERS["hub_row"], replace(START, hub_row=100))
    assert (up[0], down[0]) == (128, 64)


def test_chosen_parameters() -> None:
    every = chosen_parameters((), ["ecl"], START)
    assert [p.name for p in every if p.name in NAMES] == list(NAMES)
    assert "radix_bits" not in [p.name for p in every]
    other = chosen_parameters((), ["boruvka"], START)
    both = chosen_parameters((), ["ecl", "boruvka"], START)
    assert {p.name for p in both} == {p.name for p in (*every, *other)}
    (only,) = chosen_parameters(["hub_row"], ["ecl"], START)
    assert only.name == "hub_row"
    with pytest.raises(InvalidArgumentError, match="no parameter is called 'warp'"):
        chosen_parameters(["warp"], ["ecl"], START)
    with pytest.raises(InvalidArgumentError, match="radix_bits makes no difference to ecl"):
        chosen_parameters(["radix_bits"], ["ecl"], START)
