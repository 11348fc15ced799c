"""``run.py``, the file that sets everything up, and what it runs for newcomers and releases."""

from __future__ import annotations

from pathlib import Path

import pytest

import run
from tests.helpers import first_time


def test_what_is_left_out_exists() -> None:
    """Pytest takes no notice of a path that is not there."""
    left_out = (*run.NOT_IN_CHECK, *run.NOT_AGAIN)
    assert [path for path in left_out if not (run.ROOT / path).exists()] == []


def test_a_first_time_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    """The page has at most eight commands, an index takes the clone's place, and all are timed."""
    seen = list[str]()

    def noted(lines: list[str], home: Path, *_: object) -> float:
        seen[:] = lines
        assert (home / "points.csv").read_text().count("\n") == 1201
        return 1.0

    first_time.main([], noted, Path.exists)
    assert seen == first_time.commands()
    assert len(seen) <= first_time.MOST_COMMANDS
    assert sum(line.startswith(first_time.FROM_CLONE) for line in seen) == 1
    first_time.main(["https://index"], noted, Path.exists)
    assert sum(line.startswith(first_time.FROM_INDEX) for line in seen) == 1
    assert not any("~/clmst" in line for line in seen)
    assert f"{len(seen)} commands, 1 s" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="more than 8 commands or 120 s"):
        first_time.main([], lambda *_: 121.0, Path.exists)


def test_a_first_time_that_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A failed command stops it; a table without three clusters is not taken for one with them."""
    said = ["echo first", "cd nowhere", "echo never"]
    with pytest.raises(SystemExit, match="the last command failed"):
        first_time.run(said, tmp_path, tmp_path, None)
    out = capsys.readouterr().out
    assert "$ echo first\nfirst\n    [0." in out
    assert "$ cd nowhere" in out
    assert "never" not in out
    (tmp_path / "clusters.png").write_bytes(b"\x89PNG")
    rows = "".join(f"{k},0,{k % 2}\n" for k in range(1200))
    (tmp_path / "clustered.csv").write_text("x,y,cluster\n" + rows)
    with pytest.raises(SystemExit, match=r"1200 rows of x,y,cluster, in the clusters \{'[01]'"):
        first_time.check(tmp_path)
