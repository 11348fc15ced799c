"""Processor, cores, memory and packages of the machine; the folder for files of later processes."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

CACHE_VARIABLE = "CLMST_CACHE"


def processor() -> str:
    """Return the name of the host's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def usable_cores() -> int:
    """Return how many cores this process may use; on a shared machine these are not all."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def physical_memory() -> int | None:
    """Return the bytes of memory of this machine, or None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def version_of(name: str) -> str | None:
    """Return the version of an installed package, or None."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def cache_folder() -> Path:
    """Return the folder, which may not exist yet: ``CLMST_CACHE``, else the user's own."""
    if named := os.environ.get(CACHE_VARIABLE):
        return Path(named)
    from platformdirs import user_cache_path

    return user_cache_path("clmst", appauthor=False)
