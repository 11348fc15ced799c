"""What every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Real graphs with published answers; tests that need them skip where they are not."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real graphs is not beside this checkout")
    return SHARED_DATA
