"""The command, run in this process, and a graph small enough to solve by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clmst.cli import main
from tests.cli.results import Run


@pytest.fixture
def run() -> Run:
    """Run the command with arguments; whatever has gone wrong is in the result."""

    def run_command(*arguments: object, **environment: str) -> Result:
        return CliRunner().invoke(main, [str(a) for a in arguments], env=environment)

    return run_command


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """Return an edge list of a triangle with weights 4, 1, 2, an edge of 7 and a lone vertex.

    6 vertices, 4 edges, 3 components; the forests weigh 1 + 2 + 7 = 10 and 4 + 2 + 7 = 13.
    """
    path = tmp_path / "sample.txt"
    path.write_text("0 1 4\n1 2 1\n0 2 2\n3 4 7\n5 5 0\n")
    return path
