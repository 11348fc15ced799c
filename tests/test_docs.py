"""The examples of the pages: each block runs, and prints what its comments say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^ *print\(.*\) +# (.*)$", re.MULTILINE)


@pytest.mark.parametrize("page", ["primitives.md", "repeated.md"])
@pytest.mark.skipif(not DOCS.exists(), reason="installed without the pages")
def test_examples_print_what_they_say(page: str) -> None:
    """The blocks of the page run one after the other, as a reader would."""
    names: dict[str, object] = {}
    blocks = BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    assert len(blocks) >= 5
    for block in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block, page, "exec"), names)
        said = [re.sub(r": .*$", "", words) for words in PRINTED.findall(block)]
        assert printed.getvalue().splitlines() == said
