"""The examples of the pages: each block runs, and prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[1] / "docs" / "primitives.md"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\) +# (.*)$", re.MULTILINE)


@pytest.mark.skipif(not PAGE.exists(), reason="installed without the pages")
def test_examples_print_what_they_say() -> None:
    """The blocks of the page run one after the other, as a reader would."""
    names: dict[str, object] = {}
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 5
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, str(PAGE), "exec"), names)
        said = [re.sub(r": .*$", "", words) for words in PRINTED.findall(block)]
        assert printed.getvalue().splitlines() == said
