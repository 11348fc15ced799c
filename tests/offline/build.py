"""Compiling specialisations of kernels for a target."""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import ModuleType

from clmst.runtime.specialisation import Specialisation
from tests.offline import clang, ocloc
from tests.offline.outcome import Kernel, Outcome
from tests.offline.targets import Compiler, Target

_JOBS = 2

COMPILERS: dict[Compiler, ModuleType] = {"clang": clang, "ocloc": ocloc}


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetBuild:
    """Specialisations of a target, compiled."""

    target: Target
    outcomes: dict[Specialisation, Outcome]
    seconds: float

    @property
    def kernels(self) -> list[tuple[Specialisation, Kernel]]:
        """Every kernel, after its specialisation."""
        return [(one, k) for one, outcome in self.outcomes.items() for k in outcome.kernels]

    @property
    def complaints(self) -> str:
        """What the compiler had to say, each piece after its specialisation's label."""
        return "\n\n".join(
            f"{one.label}\n{outcome.complaints}"
            for one, outcome in self.outcomes.items()
            if outcome.complaints
        )


def compile_for(target: Target, text: str, options: list[str]) -> Outcome:
    """Compile OpenCL C for a target."""
    outcome = COMPILERS[target.compiler].compile_text(target.architecture, text, options)
    assert isinstance(outcome, Outcome)
    return outcome


def build(target: Target, specialisations: Sequence[Specialisation]) -> TargetBuild:
    """Compile some of the specialisations of a target."""
    start = time.perf_counter()
    with ThreadPoolExecutor(_JOBS) as pool:  # it waits for processes, so threads will do
        outcomes = pool.map(
            lambda one: compile_for(target, one.text, one.options),
            specialisations,
        )
        by_specialisation = dict(zip(specialisations, outcomes, strict=True))
    return TargetBuild(
        target=target, outcomes=by_specialisation, seconds=time.perf_counter() - start
    )
