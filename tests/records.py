"""Algorithms that are registered for a test: other facts of one, or another solve."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.shared.algorithm_record import AlgorithmRecord

Solve = Callable[..., Any]


@contextmanager
def registered(
    *names: str, wrap: Callable[[Solve], Solve] = lambda solve: solve, **changes: Any
) -> Iterator[None]:
    """Let algorithms have other facts in their records, and a solve that is wrapped."""
    own: Any = vars(AlgorithmRecord)["solve"].fget
    solve = property(lambda one: wrap(own(one)) if one.name in names else own(one))
    records = {name: replace(ALGORITHMS[name], **changes) for name in names}
    with patch.dict(ALGORITHMS, records), patch.object(AlgorithmRecord, "solve", solve):
        yield
