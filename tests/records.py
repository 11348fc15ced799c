"""Algorithms that are registered for a test: other facts of one, or another solve."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any
from unittest.mock import patch

from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

Solve = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class WrappedRecord(AlgorithmRecord):
    """The record of an algorithm whose solve is wrapped."""

    wrap: Callable[[Solve], Solve]

    @property
    def solve(self) -> Solve:
        """What solves by it."""
        return self.wrap(AlgorithmRecord.solve.__get__(self))


def registered(
    *names: str, wrap: Callable[[Solve], Solve] = lambda solve: solve, **changes: Any
) -> AbstractContextManager[Any]:
    """Let algorithms have other facts in their records, and a solve that is wrapped."""
    changed = {}
    for name in names:
        facts = {
            one.name: getattr(ALGORITHMS[name], one.name)
            for one in fields(AlgorithmRecord)
            if one.init
        }
        changed[name] = WrappedRecord(wrap=wrap, **(facts | changes))
    return patch.dict(ALGORITHMS, changed)
