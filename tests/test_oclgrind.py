"""Every access of every kernel, checked by an interpreter.

Oclgrind reports accesses outside a buffer, uses of memory that was never written, barriers that not
all work-items of a group reach, and data races. Of the first three there must be none; races only
where two functions are known to race, and say in ``cl/`` why that is benign.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from clmst.runtime import source

LIBRARIES = [
    Path(folder) / "oclgrind" / "liboclgrind-rt-icd.so"
    for folder in ("/usr/lib", "/usr/local/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu")
]

# The functions that race by design, in groups that touch the same memory.
RESERVING = {
    "atomic_min_u32",
    "atomic_min_u64",
    "reservation_lower_u32",
    "reservation_lower_first",
    "reservation_is_beaten",
    "reservation_enter_later",
}
CLEARING = {"reservation_clear", "reservation_reset"}
FINDING = {"wi_find_racing", "wi_find_halving", "wi_unite"}

RACE = re.compile(r"(Read-write|Write-write) data race at global memory address")
PLACE = re.compile(r"At line (\d+) \(column \d+\) of cl/(\S+):")


class Outcome(NamedTuple):
    """What a process printed, and what Oclgrind reported."""

    printed: str
    reports: list[str]

    @property
    def races(self) -> list[str]:
        return [report for report in self.reports if RACE.match(report)]

    @property
    def faults(self) -> list[str]:
        return [report for report in self.reports if not RACE.match(report)]


@pytest.fixture(scope="module")
def library() -> Path:
    """Return the path of Oclgrind's driver."""
    found = next((path for path in LIBRARIES if path.exists()), None)
    if found is None:
        message = "Oclgrind is not installed; on Debian: apt install oclgrind"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


def simulate(library: Path, folder: Path, *arguments: str) -> Outcome:
    """Run ``tests/simulated.py`` where Oclgrind is the only driver."""
    (folder / "oclgrind.icd").write_text(f"{library}\n", encoding="utf-8")
    log = folder / "log"
    settings = {
        "OCL_ICD_VENDORS": str(folder),
        "OCLGRIND_LOG": str(log),
        "OCLGRIND_MAX_ERRORS": "1000000",
        "OCLGRIND_UNINITIALIZED": "1",
        "OCLGRIND_DATA_RACES": "1",
        # Its check of uninitialised memory takes the vectors of optimised code for such, and dies.
        "OCLGRIND_BUILD_OPTIONS": "-cl-opt-disable",
        "PYOPENCL_NO_CACHE": "1",  # which does not know of those options
    }
    unset = ("CLMST_DEVICE", "CLMST_WITHOUT")
    inherited = {name: value for name, value in os.environ.items() if name not in unset}
    done = subprocess.run(
        [sys.executable, "-m", "tests.simulated", *arguments],
        cwd=Path(__file__).parents[1],
        env=inherited | settings,
        capture_output=True,
        text=True,
        check=False,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    text = log.read_text(encoding="utf-8", errors="replace")
    return Outcome(done.stdout, [part for part in re.split(r"\n(?=\S)", text) if part.strip()])


@cache
def functions_of(file: str) -> list[str]:
    """Return the function that each line of a kernel file lies in, empty where in none."""
    lines = (source.root() / file).read_text(encoding="utf-8").splitlines()
    functions, current = [], ""
    for line in lines:
        if match := re.match(r"(?:static inline|kernel) [\w *]*?(\w+)\(", line):
            current = match[1]
        functions.append(current)
        if line.startswith("}"):
            current = ""
    return functions


def racing_functions(race: str) -> set[str]:
    """Return the functions in which the two work-items of a race are, if both are in ``cl/``."""
    places = PLACE.findall(race)
    if len(places) != 2:
        return {"unknown"}
    return {functions_of(file)[int(line) - 1] for line, file in places}


def is_by_design(race: str) -> bool:
    return any(racing_functions(race) <= group for group in (RESERVING, CLEARING, FINDING))


@pytest.mark.parametrize("without", [(), ("int64-atomics",)], ids=["", "no-int64-atomics"])
@pytest.mark.parametrize("shape", ["gpu", "gpu-shape", "cpu"])
def test_no_access_is_wrong(
    library: Path, tmp_path: Path, shape: str, without: tuple[str, ...]
) -> None:
    outcome = simulate(library, tmp_path, shape, *without)
    assert json.loads(outcome.printed) == []
    assert outcome.faults == []
    unexpected = [race for race in outcome.races if not is_by_design(race)]
    assert unexpected == []
    # A check that sees no race at all, where there are some, sees nothing.
    assert any(racing_functions(race) <= FINDING for race in outcome.races)


def test_faults_would_be_seen(library: Path, tmp_path: Path) -> None:
    """The test above would pass for ever if Oclgrind were not asked, or not understood."""
    outcome = simulate(library, tmp_path, "faults")
    facts = "\n".join(report.splitlines()[0] for report in outcome.faults)
    for words in ("Invalid write of size 4", "Controlflow depends on uninitialized", "divergence"):
        assert words in facts
    assert outcome.races
    assert not any(is_by_design(race) for race in outcome.races)
