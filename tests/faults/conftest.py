"""What the tests of drivers' faults may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from clmst.runtime import binary_cache
from tests.faults.users import Users


@pytest.fixture
def users(tmp_path: Path) -> Users:
    """Return processes whose cache is empty, but for programs that any test has compiled."""
    (tmp_path / "cache" / "clmst").mkdir(parents=True)
    (tmp_path / "cache" / "clmst" / "binaries").symlink_to(binary_cache.folder().resolve())
    return Users(folder=tmp_path)
