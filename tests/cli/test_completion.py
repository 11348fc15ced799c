"""What a shell offers when Tab is pressed, as click's script for bash asks for it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from clmst.algorithms import ALGORITHMS
from clmst.io import FORMATS


def offered(words: str) -> list[str]:
    """Return what is offered for the last of some words."""
    asked = {"_CLMST_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment = os.environ | asked | {"COMP_CWORD": str(words.count(" "))}
    program = "from clmst.cli import main; main(prog_name='clmst')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("clmst conv", ["plain,convert"]),
        ("clmst solve --algorithm ", [f"plain,{name}" for name in ("auto", *ALGORITHMS)]),
        ("clmst tune --algorithm pm", ["plain,pma"]),
        ("clmst verify --forest-format ", [f"plain,{one.name}" for one in FORMATS]),
        ("clmst bench rmat", ["plain,rmat16", "plain,rmat22", "file,rmat"]),
        ("clmst solve roads", ["file,roads"]),
    ],
)
def test_values_are_completed(words: str, values: list[str]) -> None:
    assert offered(words) == values
