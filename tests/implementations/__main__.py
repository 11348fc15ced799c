"""Other implementations of OpenCL, set up and run in turn: PoCL, Mesa's rusticl, Intel's runtimes.

    python3 run.py implementations                      all of them
    python3 run.py implementations zink pocl-6          these
    python3 run.py implementations --minutes 1 --quick  a share, in minutes

Each is put to the self-tests of all families, default solves by a process that knows nothing yet,
the contract suite, and the proof by volume. The table goes to the screen and, with ``--write``,
into docs/portability.md. Exit status 1 if any answer was wrong, or the process of a first use
ended.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from tests.implementations import report
from tests.implementations.catalogue import (
    FOLDER,
    IMPLEMENTATIONS,
    ROOT,
    Implementation,
    NotHereError,
)
from tests.implementations.report import Outcome

_LIMIT = 3600.0  # seconds of a step beside what is asked for
_QUICK = {"CLMST_TESTED_DEVICES": "chosen", "HYPOTHESIS_PROFILE": "quick"}


class Steps:
    """What is run on an implementation, a process each."""

    def __init__(self, implementation: Implementation, *, limit: float) -> None:
        self.implementation, self.limit = implementation, limit
        self.ended = list[str]()
        self.scratch = implementation.folder / "scratch"
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    def run(self, step: str, *arguments: str | Path, **variables: str) -> str:
        """Run Python; return what it printed, whatever became of it."""
        began = time.monotonic()
        log = self.scratch / f"{step.replace(' ', '_')}.log"
        with log.open("w") as complaints, subprocess.Popen(
            self.implementation.command(*arguments, **variables),
            env=self.implementation.environment() | variables, text=True,
            cwd=self.implementation.folder,
            stdout=subprocess.PIPE, stderr=complaints, start_new_session=True,
        ) as process:  # fmt: skip
            try:
                printed, _ = process.communicate(timeout=self.limit)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                printed, _ = process.communicate()
                self.ended.append(step)
        status = process.returncode
        log.with_suffix(".out").write_text(printed)
        if step not in self.ended and (status < 0 or status > 128):  # by a signal, or its shell's
            self.ended.append(step)
        seconds = time.monotonic() - began
        print(f"  {step}: status {status} after {seconds:.0f} s", flush=True)
        return printed

    def json(self, step: str, *arguments: str | Path, **variables: str) -> Any:
        """Run Python; return what it printed as JSON behind a driver's words, None if nothing."""
        printed = self.run(step, *arguments, **variables)
        for begin in [0, *(k + 1 for k, one in enumerate(printed) if one == "\n")]:
            if printed[begin : begin + 1] in ("[", "{"):
                try:
                    return json.loads(printed[begin:])
                except json.JSONDecodeError:
                    continue
        return None


def run_all(implementation: Implementation, given: argparse.Namespace) -> Outcome:
    """Set an implementation up, and return what came of it."""
    implementation.set_up()
    steps = Steps(implementation, limit=_LIMIT + 60 * given.minutes)
    shutil.rmtree(implementation.folder / "cache", ignore_errors=True)
    solved = steps.json("first use", "-m", "tests.implementations.first_use") or {}
    listed = steps.json("self-tests", "-m", "clmst", "devices", "--test", "--json") or [{}]
    families = listed[0].get("families", [])
    described = (listed[0].get("platform", "no device"), listed[0].get("driver", ""))
    contract, failed = _contract(steps, given)
    return Outcome(
        title=implementation.title, date=time.strftime("%Y-%m-%d"),
        device=" ".join(described).strip(),
        refused={one["family"]: one["reason"] for one in families if one["state"] == "refused"},
        unusable=listed[0].get("reason") or "",
        passed=sum(one["state"] == "passed" for one in families),
        answers=solved.get("answers", {}), over_scipy=solved.get("over_scipy"),
        contract=contract, failed=failed, proof=_proof(steps, given), ended=steps.ended,
        share=_share(given),
    )  # fmt: skip


def _share(given: argparse.Namespace) -> str:
    """Describe in words how much of the tests is run."""
    chosen = f" ({given.contract})" if given.contract else ""
    return f"{'quick' if given.quick else 'whole'}{chosen}, {given.minutes:g} min"


def _contract(steps: Steps, given: argparse.Namespace) -> tuple[dict[str, int], list[str]]:
    """Run the contract suite, in a process that may end: another takes its place."""
    if given.contract == "none":
        return {}, []
    xml = steps.scratch / "contract.xml"
    chosen = ("-k", given.contract) if given.contract else ()
    steps.run(
        "contract suite", "-m", "pytest", ROOT / "tests/whole/test_contract.py", *chosen,
        "-q", "-n", "1",
        "-c", ROOT / "pyproject.toml", "--rootdir", ROOT, f"--junitxml={xml}",
        "-p", "no:cacheprovider", **(_QUICK if given.quick else {}),
    )  # fmt: skip
    if not xml.exists():
        return {}, []
    counted, failed = {"passed": 0, "failed": 0, "ended the process": 0}, []
    for case in ET.parse(xml).iter("testcase"):
        faults = [*case.iter("failure"), *case.iter("error")]
        if any("crashed" in fault.get("message", "") for fault in faults):
            counted["ended the process"] += 1
        elif faults:
            counted["failed"] += 1
        elif case.find("skipped") is None:
            counted["passed"] += 1
        failed += [case.get("name", "")] if faults else []
    return counted, failed


def _proof(steps: Steps, given: argparse.Namespace) -> dict[str, int]:
    """Run the proof by volume for some minutes."""
    if not given.minutes:
        return {}
    kept: Path = steps.scratch / "proof.json"
    arguments = ("--minutes", str(given.minutes), "--json", kept, "--shrink-seconds", "1")
    steps.run("proof by volume", "-m", "tests.prove", *arguments)
    if not kept.exists():
        return {}
    counts = json.loads(kept.read_text(encoding="utf-8"))["counts"].items()
    return {key.partition("/")[2]: n for key, n in counts if key.startswith("verdict/")}


def main(arguments: list[str]) -> int:
    """Do what the command line says."""
    names = [one.name for one in IMPLEMENTATIONS]
    made = argparse.ArgumentParser(
        prog="run.py implementations", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    made.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    made.add_argument("--minutes", type=float, default=10, help="of the proof (default: 10)")
    made.add_argument("--contract", default="", help="pytest's -k for the contract suite, or none")
    made.add_argument("--quick", action="store_true", help="no variants, few random examples")
    made.add_argument("--write", action="store_true", help="write docs/portability.md")
    given = made.parse_args(arguments)
    if unknown := set(given.names) - set(names):
        made.error(f"no implementation is called {', '.join(unknown)}; there are {names}")
    (FOLDER / "outcomes").mkdir(parents=True, exist_ok=True)
    found = []
    for one in IMPLEMENTATIONS:
        if given.names and one.name not in given.names:
            continue
        print(f"{one.title} ({one.name})", flush=True)
        try:
            outcome = run_all(one, given)
        except NotHereError as error:
            print(f"  not here: {error}", flush=True)
            continue
        outcome.save(FOLDER / "outcomes" / f"{one.name}.json")
        found.append(outcome)
    print(report.table(found), report.notes(found), sep="\n\n")
    if given.write:
        report.write_page(report.table(report.outcomes()))
    return int(not all(one.is_sound for one in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
