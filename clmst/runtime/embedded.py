"""The embedded default device: Intel's CPU runtime for OpenCL, installed by ``pip``.

The packages (extra ``cpu``) put the driver's libraries into the environment's ``lib`` folder, where
neither the OpenCL loader nor the dynamic linker looks. So the libraries that the driver needs are
loaded here by their full paths, and while the loader enumerates its platforms, which it does once a
process, ``OCL_ICD_VENDORS`` points at a temporary folder that names this driver beside those of the
system. A user who has set the variable has chosen the drivers, and nothing is changed.
"""

from __future__ import annotations

import ctypes
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

VENDORS_VARIABLE = "OCL_ICD_VENDORS"

_DRIVER = "libintelocl.so"
# What the driver links to, in the order in which these need one another.
_NEEDED = ("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libtbb.so.12")
_SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def find_driver() -> Path | None:
    """Return the path of the embedded driver, or None if a file of it is missing."""
    if not sys.platform.startswith("linux"):
        return None
    for root in dict.fromkeys([sys.prefix, sysconfig.get_path("data"), sys.base_prefix]):
        lib = Path(root) / "lib"
        if all((lib / name).exists() for name in (_DRIVER, *_NEEDED)):
            return lib / _DRIVER
    return None


@contextmanager
def offered_to_loader() -> Iterator[None]:
    """Let the OpenCL loader find the embedded driver beside the system's inside the ``with``."""
    driver = find_driver()
    if driver is None or VENDORS_VARIABLE in os.environ:
        yield
        return
    try:
        for name in _NEEDED:
            ctypes.CDLL(str(driver.parent / name), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        yield  # the libraries do not load on this system: the driver would not either
        return
    with tempfile.TemporaryDirectory(prefix="clmst-icd-") as folder:
        for icd in _installed_icds():
            (Path(folder) / icd.name).symlink_to(icd)
        (Path(folder) / "clmst-embedded.icd").write_text(f"{driver}\n")
        os.environ[VENDORS_VARIABLE] = folder
        try:
            yield
        finally:
            del os.environ[VENDORS_VARIABLE]


def _installed_icds() -> list[Path]:
    """Return the .icd files that the loader would have read by itself."""
    icds = {path.name: path for path in sorted(_SYSTEM_VENDORS.glob("*.icd"))}
    wheels = Path(sysconfig.get_path("platlib")) / "pyopencl" / ".libs"
    return [*icds.values(), *(p for p in sorted(wheels.glob("*.icd")) if p.name not in icds)]
