"""The folder in which clmst keeps results and files for later processes."""

from __future__ import annotations

import os
from pathlib import Path

CACHE_VARIABLE = "CLMST_CACHE"


def cache_folder() -> Path:
    """Return the folder, which may not exist yet: ``CLMST_CACHE``, else the user's own."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("clmst", appauthor=False)
