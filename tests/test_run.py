"""``run.py``, the file that sets everything up."""

from __future__ import annotations

import run


def test_what_is_left_out_exists() -> None:
    """Pytest takes no notice of a path that is not there."""
    left_out = (*run.NOT_IN_CHECK, *run.NOT_AGAIN)
    assert [path for path in left_out if not (run.ROOT / path).exists()] == []
