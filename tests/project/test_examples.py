"""Each file of examples/ runs as it is, and prints what its first lines say."""

from __future__ import annotations

import re
import runpy
import textwrap
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
EXAMPLES = sorted(FOLDER.glob("*.py"))
PROMISE = re.compile(r"^Prints::\n\n(.*)\Z", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="installed without the examples")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_it_prints_what_it_says(example: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(example), run_name="__main__")
    promised = PROMISE.search(names["__doc__"])
    assert promised is not None
    assert capsys.readouterr().out.strip() == textwrap.dedent(promised[1]).strip()
