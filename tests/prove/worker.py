"""A process that runs blocks of cases as its parent tells it, and reports lines of JSON.

A driver's fault ends this process, not the run. Before each case its number goes into a file that
parent and child share, so that the parent knows which one it was.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import traceback
from importlib import import_module
from typing import Any

import numpy as np

from clmst import UnsupportedDeviceError
from clmst.bench import machine
from tests.prove.cases import DeviceVariants, Plan, run
from tests.prove.tally import FAILURES, Tally

UNIT, UNIT_SECONDS = 200, 5.0  # cases and seconds between two reports, at most


def main() -> None:
    """Read tasks from standard input, a line each; end with it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--block", type=int, required=True)
    parser.add_argument("--subject", default="solves")
    parser.add_argument("--device", default=None)
    parser.add_argument("--progress", required=True)
    parser.add_argument("--plant", default=None)
    given = parser.parse_args()
    # Drivers write to standard output now and then; reports have a channel of their own.
    reports = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if given.plant:
        import_module(given.plant)  # tests plant faults so
    try:
        variants = DeviceVariants(given.device)
    except UnsupportedDeviceError as error:
        _report(reports, refused=str(error))
        return
    _report(reports, ready=machine.facts(variants.device))
    progress = np.memmap(given.progress, np.int64, "r+", shape=(1,))
    plan = Plan(seed=given.seed, block=given.block, subject=given.subject)
    for line in sys.stdin:
        task = json.loads(line)
        done = task["first"]
        while done < task["end"] and time.time() < task["until"]:
            numbers = range(done, task["end"])
            until = min(time.time() + UNIT_SECONDS, task["until"])
            done, tally, failures = run_unit(
                plan, variants, progress, numbers, skip=task["skip"], until=until
            )
            _report(reports, done=done, tally=tally.counts, failures=failures)
        _report(reports, finished=True)


def run_unit(
    plan: Plan,
    variants: DeviceVariants,
    progress: Any,
    numbers: range,
    *,
    skip: list[int],
    until: float,
) -> tuple[int, Tally, list[dict[str, Any]]]:
    """Run some cases, at least one; return the next, and what came of them.

    Parameters
    ----------
    plan : Plan
    variants : DeviceVariants
    progress : ndarray of int64, shape (1,)
        Where the number of the present case goes, -1 at the end.
    numbers : range
    skip : list of int
        Cases that have ended a process before.
    until : float
        When to stop, as of :func:`time.time`.
    """
    tally, failures = Tally(), []
    done = numbers.start
    for number in numbers[:UNIT]:
        if number > numbers.start and time.time() >= until:
            break
        done = number + 1
        if number in skip:
            continue
        progress[0] = number
        case = plan.case(number)
        doubt = plan.doubts(number, case)
        outcome = run(case, variants)
        tally.note(case, outcome, oracle_checked=plan.checks_oracle(number))
        known = {
            "number": number,
            "named": case.named,
            "variant": case.variant,
            "case": str(case),
        }
        if doubt is not None:
            failures.append({**known, "verdict": "wrong oracle", "detail": doubt})
        if outcome.verdict in FAILURES:
            failures.append({**known, "verdict": outcome.verdict, "detail": outcome.detail})
    progress[0] = -1
    return done, tally, failures


def _report(reports: Any, **what: Any) -> None:
    reports.write(json.dumps(what) + "\n")
    reports.flush()


if __name__ == "__main__":
    try:
        main()
    except Exception:
        traceback.print_exc()
        raise SystemExit(70) from None
