"""``run.py``, the file that sets everything up."""

from __future__ import annotations

import run


def test_what_check_leaves_out_exists() -> None:
    """Pytest takes no notice of a path that is not there."""
    assert [path for path in run.NOT_IN_CHECK if not (run.ROOT / path).exists()] == []
