"""Seeded graphs through every algorithm, option, way in and guise, compared with the oracle.

    python -m benchmarks.prove --device intel --minutes 10 --json intel.json
    python -m benchmarks.prove --device intel --cases 500000 --json intel.json   (goes on)
    python -m benchmarks.prove --seed 1 --case 4711 --device intel
    python -m benchmarks.prove --reproduce FILE
    python -m benchmarks.prove --report FILE...

Exit status 1 if any answer was wrong, if anything but a refusal was raised, or a process ended or
hung.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.prove.cases import Plan
from benchmarks.prove.run import Run
from benchmarks.prove.state import State


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    made = argparse.ArgumentParser(
        prog="python -m benchmarks.prove",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--device", help="as of clmst.get_device: intel, pocl, rusticl, nvidia, ...")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--block", type=int, default=2000, help="cases of one dtype and guise")
    made.add_argument("--cases", type=int, help="stop when so many have been run in all")
    made.add_argument("--minutes", type=float, help="stop after so long")
    made.add_argument("--workers", type=int, default=1, help="processes")
    made.add_argument("--time-limit", type=float, default=300.0, help="seconds of one case")
    made.add_argument("--json", type=Path, help="keep the state here; go on where it stands")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Do what the command line says."""
    given = parser().parse_args(arguments)
    return _run(given)


def _run(given: argparse.Namespace) -> int:
    path = given.json or Path("prove.json")
    state = State(plan=Plan(seed=given.seed, block=given.block), device=given.device)
    if path.exists():
        state = State.load(path)
    run = Run(
        state,
        path=path,
        workers=given.workers,
        until_cases=given.cases,
        minutes=given.minutes,
        time_limit=given.time_limit,
    )
    run()
    print(f"{state.cases:,} cases: {state.tally.table('verdict')}")
    return 1 if state.failures else 0


if __name__ == "__main__":
    sys.exit(main())
