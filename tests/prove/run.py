"""Runs of cases in processes that are watched: a driver's fault ends one of them, not the run."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from clmst import UnsupportedDeviceError
from clmst.bench.results import machine_facts
from tests.helpers.processes import Child, LostError
from tests.prove.cases import DeviceVariants, Outcome, Plan
from tests.prove.cases import run as run_case
from tests.prove.plants import plant
from tests.prove.state import FAILURES, State, Tally, sources

_SAVE_EVERY = 10.0  # seconds
_MOST_FAULTS = 50  # processes lost in one run, after which it ends
# Blocks that a process runs before another takes its place: programs stay in memory until then.
_BLOCKS_A_PROCESS = 10


def child_on(device: str | None, fault: str | None) -> Child:
    """Return a child that runs cases on a device.

    Asked for None it tells facts of the machine, for a case its outcome, and for a plan and a
    number what came of that case.
    """
    return Child(_begin, device, fault)


def outcome_in(child: Child, case: Any, seconds: float) -> Outcome:
    """Run a case in a child, which may end or hang."""
    try:
        outcome = child.ask(case, seconds)
    except LostError as lost:
        return Outcome(verdict=lost.verdict, detail=lost.detail)
    assert isinstance(outcome, Outcome)
    return outcome


def _begin(device: str | None, fault: str | None) -> Callable[[Any], Any]:
    plant(fault)
    variants = DeviceVariants(device)

    def answer(question: Any) -> Any:
        if question is None:
            return machine_facts(variants.device)
        if isinstance(question, tuple):
            plan, number = question
            return _report(plan, number, variants)
        return run_case(question, variants)

    return answer


Report = tuple[Tally, list[dict[str, Any]]]  # counts, and failures


def _report(plan: Plan, number: int, variants: DeviceVariants) -> Report:
    """Run the case of a number."""
    tally, failures = Tally(), []
    case = plan.case(number)
    known = {"number": number, "named": case.named, "variant": case.variant, "case": str(case)}
    doubt = plan.doubts(number, case)
    outcome = run_case(case, variants)
    tally.note(case, outcome, oracle_checked=plan.checks_oracle(number))
    if doubt is not None:
        failures.append({**known, "verdict": "wrong oracle", "detail": doubt})
    if outcome.verdict in FAILURES:
        failures.append({**known, "verdict": outcome.verdict, "detail": outcome.detail})
    return tally, failures


class Run:
    """One run: some processes, until there are cases enough or the time is over."""

    def __init__(
        self,
        state: State,
        *,
        path: Path,
        workers: int = 1,
        until_cases: int | None = None,
        minutes: float | None = None,
        time_limit: float = 300.0,
        fault: str | None = None,
    ) -> None:
        self.state, self._path = state, path
        self._n_workers, self._time_limit, self._fault = workers, time_limit, fault
        self._left = 1 << 62 if until_cases is None else until_cases - state.cases
        self._until = time.time() + 60 * minutes if minutes is not None else 1e300
        self._blocks = state.blocks()
        self._lost = 0
        self._lock = threading.Lock()
        self._began = self._saved = time.monotonic()
        self._record: dict[str, Any] = {"seconds": 0.0, "cases": 0}

    def __call__(self) -> str | None:
        """Run; the state is kept in its file all along. Return why the device is not usable."""
        self._record |= {"began": time.strftime("%Y-%m-%d %H:%M"), "workers": self._n_workers}
        self._record |= sources()
        self.state.runs.append(self._record)
        try:
            with ThreadPoolExecutor(self._n_workers) as pool:
                try:
                    list(pool.map(self._work, range(self._n_workers)))
                finally:
                    self._until = 0.0  # for the other threads, if one fails
        finally:
            self.state.save(self._path)
        return self._record.get("refused")

    def _work(self, _: int) -> None:
        """Run blocks in one process after another, as long as there are cases and time."""
        while self._takes_case(count=0):
            with child_on(self.state.device, self._fault) as child:
                try:
                    facts = child.ask(None, self._time_limit)
                except UnsupportedDeviceError as error:
                    self._record["refused"] = str(error)
                    return
                self._record["machine"] = facts | {"command": sys.argv[1:]}
                for _ in range(_BLOCKS_A_PROCESS):
                    with self._lock:
                        (block,) = islice(self._blocks, 1)
                    self.run_block(child, *block)

    def run_block(self, child: Child, block: int, first: int, end: int) -> None:
        """Run the cases of a block in a child, as long as there are cases and time."""
        for number in range(first, end):
            if not self._takes_case():
                return
            try:
                tally, failures = child.ask((self.state.plan, number), self._time_limit)
            except LostError as lost:
                self._lost += 1
                tally = Tally([f"verdict/{lost.verdict}", "total/cases"])
                failures = [{"number": number, "verdict": lost.verdict, "detail": lost.detail}]
            with self._lock:
                self._note(tally, failures)
                self.state.done[block] = number + 1

    def _takes_case(self, *, count: int = 1) -> bool:
        """Return whether another case may begin. If so, it is counted as taken."""
        with self._lock:
            may_begin = self._left > 0 and time.time() < self._until and self._lost < _MOST_FAULTS
            self._left -= count if may_begin else 0
            return may_begin

    def _note(self, tally: Tally, failures: list[dict[str, Any]]) -> None:
        self.state.tally.update(tally)
        for failure in failures:
            if self.state.fail(failure):
                print(f"case {failure['number']}: {failure['verdict']}: {failure['detail'][:400]}")
        self._record["cases"] += tally["total/cases"]
        self._record["seconds"] = round(time.monotonic() - self._began, 1)
        if time.monotonic() - self._saved > _SAVE_EVERY:
            self.state.save(self._path)
            self._saved = time.monotonic()
