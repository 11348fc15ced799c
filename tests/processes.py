"""Processes of a test's own, and what a machine may lack for a test."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest


def run_python(
    *arguments: str, environment: dict[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run Python from the root of the tree; raise unless it ends well."""
    done = subprocess.run(
        [sys.executable, *arguments], env={**os.environ, **(environment or {})},
        cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False,
        **{"timeout": 300, **options},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def printed(*arguments: str, **environment: str) -> Any:
    """Run Python; return what it prints as JSON, behind what a driver may have printed."""
    said = run_python(*arguments, environment=environment).stdout
    return json.loads(re.split(r"^(?=[\[{])", said, maxsplit=1, flags=re.MULTILINE)[-1])


def lacks(what: str) -> NoReturn:
    """Skip a test for which the machine lacks something; fail on CI, which must have it."""
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)
