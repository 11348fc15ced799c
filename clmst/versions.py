"""Print versions, drivers, devices, caches and settings, for bug reports."""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clmst
from clmst.core.arguments import check_bool
from clmst.core.errors import ClmstError
from clmst.core.machine import cache_folder, physical_memory, processor, usable_cores, version_of
from clmst.runtime import discovery, embedded
from clmst.runtime.discovery import Listing

_PACKAGES = (
    "numpy", "scipy", "pyopencl", "platformdirs", "click", "rich", "intel-opencl-rt",
    "intel-cmplr-lib-rt", "matplotlib", "networkx", "scikit-learn", "pandas", "pyarrow", "dask",
    "distributed", "ray",
)  # fmt: skip
# Environment variables whose names begin with these texts change which drivers are found, or how
# clmst, PyOpenCL or the drivers behave.
_SETTINGS = ("CLMST_", "OCL_", "OPENCL_", "PYOPENCL_", "POCL_", "RUSTICL_", "CUDA_", "CL_CONFIG_")


def show_versions(*, as_json: bool = False) -> None:
    """Print the environment in which clmst runs, for a bug report.

    The report lists the system, the versions of packages, the OpenCL drivers, each device with the
    results of its self-tests so far, the caches, and the settings from environment variables. As in
    :func:`clmst.devices`, each device runs two small kernels to show that it is usable. No other
    tests are run. The command ``clmst --versions`` prints the same report.

    Parameters
    ----------
    as_json : bool
        Print a JSON object instead of text.

    Raises
    ------
    InvalidArgumentError
        `as_json` is not True or False.

    Examples
    --------
    >>> import clmst
    >>> clmst.show_versions()  # doctest: +SKIP
    """
    check_bool("as_json", as_json)
    found = versions()
    print(json.dumps(found, indent=2) if as_json else "\n".join(_lines(found)))


def versions() -> dict[str, Any]:
    """Return the content of the report of :func:`show_versions` as a dict of JSON types."""
    return {
        "system": _system(),
        "packages": {name: version_of(name) for name in _PACKAGES},
        "drivers": {
            "embedded": str(embedded.find_driver() or "none"),
            "files": [str(path) for path in embedded.installed_icds()],
        },
        "devices": _devices(),
        "caches": _caches(),
        "settings": {k: v for k, v in sorted(os.environ.items()) if k.startswith(_SETTINGS)},
    }


def _system() -> dict[str, Any]:
    """Describe the machine and the Python that runs."""
    memory = physical_memory()
    return {
        "clmst": clmst.__version__,
        "place": str(Path(clmst.__file__).parent),
        "python": platform.python_version(),
        "executable": sys.executable,
        "system": platform.platform(),
        "processor": processor(),
        "cores": usable_cores(),
        "memory": "unknown" if memory is None else f"{memory / 2**30:.1f} GiB",
    }


def _devices() -> list[dict[str, Any]] | str:
    """Return a description of each device, or a text that says why there is none."""
    try:
        listings = discovery.devices()
    except ClmstError as error:  # an environment variable has an invalid value
        return str(error)
    if not listings:
        return f"none: the host solves; {embedded.what_to_install()}"
    return [_of_device(one) for one in listings]


def _of_device(listing: Listing) -> dict[str, Any]:
    """Describe a device: its driver, whether it is usable, and its self-tests so far."""
    device = listing.device
    usable = "usable, and chosen" if listing.chosen else "usable"
    return {
        "device": device.description,
        "driver": device.driver,
        "version": str(device.cl_device.version).strip(),
        "status": usable if listing.usable else str(listing.reason),
        "passed": sorted({one.family for one in listing.verdicts if one.passed}),
        "refused": {
            f"{one.family} {one.case}".strip(): one.reason
            for one in listing.verdicts
            if not one.passed
        },
    }


def _caches() -> dict[str, str]:
    """Describe the cache folder and the sizes of the folder's parts."""
    folder = cache_folder()
    return {
        "folder": str(folder),
        "compiled kernels": _content_of(folder / "binaries"),
        "self-tests": _content_of(folder / "trust"),
    }


def _content_of(folder: Path) -> str:
    """Return the size and the number of files of a folder, in words.

    A file that another process removes meanwhile is skipped.
    """
    n_files = n_bytes = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                n_bytes += os.stat(os.path.join(place, name)).st_size
            except OSError:
                continue
            n_files += 1
    return f"{n_bytes / 1e6:.1f} MB, {n_files} file{'s' * (n_files != 1)}"


def _lines(found: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the report `found` as text, each part below its title."""
    for title, part in found.items():
        yield title
        devices = part if isinstance(part, list) else [part]
        for one in devices:
            rows = one if isinstance(one, dict) else {"": one}
            width = max(map(len, rows), default=0)
            for name, value in rows.items():
                yield f"  {name:<{width}}  {_in_words(value)}".rstrip()
            if one is not devices[-1]:
                yield ""
        yield ""


def _in_words(value: Any) -> str:
    """Format one value of the report as text."""
    if isinstance(value, dict):
        value = [f"{name}: {reason}" for name, reason in value.items()]
    if isinstance(value, list):
        return "; ".join(value) or "none"
    return "not installed" if value is None else str(value)
