"""Seeded cases through every algorithm, option, input form and variant, compared with an oracle.

    python -m tests.prove --device intel --minutes 10 --json intel.json
    python -m tests.prove --device gpu --subject primitives --cases 100000 --workers 16
    python -m tests.prove --device gpu --subject rest --cases 100000 --workers 16
    python -m tests.prove --device intel --cases 500000 --json intel.json    (goes on)
    python -m tests.prove --device intel --seed 1 --case 4711
    python -m tests.prove --reproduce FILE
    python -m tests.prove --shrink FILE
    python -m tests.prove --report FILE...

A case is a solve by default; other subjects are calls of primitives, and the rest: rounds of one
graph, streams, proofs, core numbers, dendrograms and points, in turn or one alone.

A run goes on where the file given with --json stands. Failures are written beside it, each with as
few edges or elements as still fail. Exit status 1 if any answer was wrong, if anything but a
refusal was raised, or a process ended or hung. A device that is not usable is refused, with the
reason, and nothing is run.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.prove import failures
from tests.prove.cases import SUBJECTS, DeviceVariants, Outcome, Plan
from tests.prove.cases import run as run_case
from tests.prove.plants import FAULTS
from tests.prove.run import Run, child_on, outcome_in
from tests.prove.state import FAILURES, State, table

_SHRUNK = 5  # failures that a run shrinks


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        prog="python -m tests.prove",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--device", help="as of clmst.get_device: intel, pocl, rusticl, nvidia, ...")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--subject", choices=SUBJECTS, default="solves", help="(default: solves)")
    made.add_argument(
        "--block", type=int, help="cases that a process runs in a row (2000; 512 of others)"
    )
    made.add_argument("--cases", type=int, help="stop after this number in all")
    made.add_argument("--minutes", type=float, help="stop after these minutes")
    made.add_argument("--workers", type=int, default=1, help="processes (default: 1)")
    made.add_argument("--time-limit", type=float, default=300.0, help="seconds of one case")
    made.add_argument("--json", type=Path, help="where the run is kept (prove-SUBJECT.json)")
    made.add_argument("--case", type=int, help="run this case alone")
    made.add_argument("--reproduce", type=Path, metavar="FILE", help="run a failure again")
    made.add_argument("--shrink", type=Path, metavar="FILE", help="make a failure smaller")
    made.add_argument("--shrink-seconds", type=float, default=120.0, help="time for one failure")
    made.add_argument("--report", type=Path, nargs="+", metavar="FILE", help="print the table")
    made.add_argument("--plant", choices=FAULTS, help=argparse.SUPPRESS)  # by tests
    return made


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says."""
    given = parser().parse_args(arguments)
    is_of_solves = given.subject == "solves"
    given.block = given.block or (2000 if is_of_solves else 512)
    given.json = given.json or Path("prove.json" if is_of_solves else f"prove-{given.subject}.json")
    # Mesa shows its OpenCL devices only where it is asked to; children are asked with this process.
    if any(name in (given.device or "").lower() for name in ("rusticl", "llvmpipe")):
        os.environ["RUSTICL_ENABLE"] = "llvmpipe"
    if given.report:
        print(table([State.load(path) for path in given.report]))
        return 0
    if given.reproduce:
        return _reproduce(given)
    if given.shrink:
        _shrink(given.shrink, given)
        return 0
    if given.case is not None:
        return _one(given)
    return _run(given)


def _plan(given: argparse.Namespace) -> Plan:
    return Plan(seed=given.seed, block=given.block, subject=given.subject)


def _reproduce(given: argparse.Namespace) -> int:
    case, record = failures.read(given.reproduce)
    with child_on(record["device"], given.plant) as child:
        return _tell(outcome_in(child, case, given.time_limit))


def _tell(outcome: Outcome) -> int:
    print(f"{outcome.verdict}: {outcome.detail.splitlines()[0] if outcome.detail else ''}")
    return int(outcome.verdict in FAILURES)


def _one(given: argparse.Namespace) -> int:
    plan = _plan(given)
    case = plan.case(given.case)
    print(case)
    if doubt := plan.doubts(given.case, case):
        print(doubt)
    return _tell(run_case(case, DeviceVariants(given.device))) or int(doubt is not None)


def _run(given: argparse.Namespace) -> int:
    path = given.json
    state = State(plan=_plan(given), device=given.device)
    if path.exists():
        state = State.load(path)
        if state.plan.subject != given.subject:
            print(f"{path} is a run of {state.plan.subject}; name another file with --json")
            return 2
    known = len(state.failures)
    refused = Run(
        state,
        path=path,
        workers=given.workers,
        until_cases=given.cases,
        minutes=given.minutes,
        time_limit=given.time_limit,
        fault=given.plant,
    )()
    if refused is not None:
        print(f"refused: {refused}")
    print(f"{state.cases:,} cases: {state.tally.table('verdict')}")
    for subject, count in state.tally.table("subject").items():
        print(f"  {subject}: {count:,}")
    files = _write_failures(state, path, state.failures[known:])
    for file in files:
        _shrink(file, given)
        print(f"seed {state.plan.seed}, {failures.read(file)[0]}")
        print(f"python -m tests.prove --reproduce {file}")
    return int(bool(state.failures))


def _write_failures(state: State, path: Path, found: Iterable[dict[str, Any]]) -> list[Path]:
    """Write a file for each of the first failures, no two of the same verdict and option."""
    files: dict[tuple[str, str], Path] = {}
    for failure in found:
        number, verdict = failure["number"], failure["verdict"]
        case = state.plan.case(number)
        if (verdict, case.named) in files or len(files) == _SHRUNK or verdict not in FAILURES:
            continue
        file = path.parent / f"{path.stem}-failures" / f"case-{number}.json"
        more = {"seed": state.plan.seed, "number": number, "detail": failure["detail"]}
        failures.write(file, case, device=state.device, verdict=verdict, **more)
        files[verdict, case.named] = file
    return list(files.values())


def _shrink(file: Path, given: argparse.Namespace) -> None:
    with child_on(failures.read(file)[1]["device"], given.plant) as child:
        child.ask(None, given.time_limit)  # its start does not count as time of shrinking
        until = time.monotonic() + given.shrink_seconds
        failures.shrink_file(file, child, until=until, limit=given.time_limit)


if __name__ == "__main__":
    sys.exit(main())
