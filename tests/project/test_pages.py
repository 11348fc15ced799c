"""The runner of pages outside a clone: it must see each error of a page."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers import pages

RIGHT = """
```python
import clmst
print(clmst.generate("path", n=3).n_edges)  # 2
```

```sh
clmst --version
clmst bench --minutes 9        # takes minutes, and is not run
```
"""


def outcome(*texts: str, folder: Path) -> tuple[int, str]:
    """Run pages of these texts as ``run.py fresh`` does."""
    files = [folder / f"page{number}.md" for number in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
    command = [sys.executable, pages.__file__, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout


def test_all_that_is_wrong_is_told(tmp_path: Path) -> None:
    """One page does not hide the next one; a wrong output and a failed command both count."""
    wrong = RIGHT.replace("# 2", "# 3").replace("--version", "no-such-command")
    status, said = outcome(wrong, RIGHT, folder=tmp_path)
    assert status == 1
    assert "page0.md" in said
    assert ", 2 wrong" in said
    assert "no-such-command" in said
    assert "page1.md" in said
    assert ", 0 wrong" in said


@pytest.mark.parametrize(
    ("line", "slow"),
    [
        ("bench -x", True),
        ("devices --test", True),
        ("warm", True),
        ("devices", False),
        ("solve a", False),
    ],
)
def test_commands_that_take_minutes(line: str, slow: bool) -> None:
    assert pages.takes_minutes(line.split()) is slow
