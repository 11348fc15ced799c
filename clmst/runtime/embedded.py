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
from collections.abc import Collection, Iterable, Iterator
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
def offered_to_loader(without: Collection[Path] = ()) -> Iterator[None]:
    """Let the OpenCL loader find the embedded driver beside the system's inside the ``with``.

    But for those that `without` names, of the system's or of the user's choice.
    """
    driver = None if VENDORS_VARIABLE in os.environ else find_driver()
    if driver is not None and not _loads_needed(driver.parent):
        driver = None
    if driver is None and not without:
        yield
        return
    before = os.environ.get(VENDORS_VARIABLE)
    with folder_of_icds(path for path in installed_icds() if path not in without) as folder:
        if driver is not None:
            (folder / "clmst-embedded.icd").write_text(f"{driver}\n")
        os.environ[VENDORS_VARIABLE] = str(folder)
        try:
            yield
        finally:
            if before is None:
                del os.environ[VENDORS_VARIABLE]
            else:
                os.environ[VENDORS_VARIABLE] = before


def _loads_needed(folder: Path) -> bool:
    """Load what the driver links to; return False if it does not load: nor would the driver."""
    try:
        for name in _NEEDED:
            ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return False
    return True


@contextmanager
def folder_of_icds(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield a folder with some .icd files, to which the loader can be led."""
    with tempfile.TemporaryDirectory(prefix="clmst-icd-") as folder:
        for path in paths:
            (Path(folder) / path.name).symlink_to(path)
        yield Path(folder)


def installed_icds() -> list[Path]:
    """Return the .icd files that the loader reads by itself, or that the user leads it to."""
    if (chosen := os.environ.get(VENDORS_VARIABLE)) is not None:
        path = Path(chosen)
        return [path] if path.is_file() else sorted(path.glob("*.icd"))
    icds = {path.name: path for path in sorted(_SYSTEM_VENDORS.glob("*.icd"))}
    wheels = Path(sysconfig.get_path("platlib")) / "pyopencl" / ".libs"
    return [*icds.values(), *(p for p in sorted(wheels.glob("*.icd")) if p.name not in icds)]
