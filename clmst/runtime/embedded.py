"""The embedded default device: Intel's CPU runtime for OpenCL, installed by ``pip``.

The packages (extra ``cpu``) put the driver's libraries into the environment's ``lib`` folder, where
neither the OpenCL loader nor the dynamic linker looks. So the libraries that the driver needs are
loaded here by their full paths, and while the loader enumerates its platforms, which it does once a
process, ``OCL_ICD_VENDORS`` points at a temporary folder that names this driver beside those of the
system and of a conda environment: PyOpenCL's own loader, which pip installs, looks for these in
neither. A user who has set the variable has chosen the drivers, and nothing is changed.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import sysconfig
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clmst.core.errors import pip_install

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
    is_chosen = VENDORS_VARIABLE in os.environ
    driver = None if is_chosen else _loaded_driver()
    if driver is None and not without and (is_chosen or not _icds_of_conda()):
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


def what_to_install() -> str:
    """Return which drivers there are for this system."""
    ways = []
    if sys.platform == "linux":
        if platform.machine() == "x86_64":
            ways.append(pip_install("cpu"))
        ways.append("apt install pocl-opencl-icd (Debian, Ubuntu)")
    if sys.platform != "win32":
        ways.append("conda install -c conda-forge pocl (in a conda environment)")
    runtimes = f", or a CPU runtime: {', or '.join(ways)}" if ways else " or of your CPU's vendor"
    return f"install a GPU driver with OpenCL{runtimes}"


def _loaded_driver() -> Path | None:
    """Return the embedded driver, the libraries that it needs loaded; None if there is none."""
    driver = find_driver()
    if driver is None:
        return None
    try:
        for name in _NEEDED:
            ctypes.CDLL(str(driver.with_name(name)), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return None  # they do not load on this system: the driver would not either
    return driver


@contextmanager
def folder_of_icds(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield a folder with some .icd files, to which the loader can be led."""
    with tempfile.TemporaryDirectory(prefix="clmst-icd-") as folder:
        for path in paths:
            (Path(folder) / path.name).symlink_to(path)
        yield Path(folder)


def installed_icds() -> list[Path]:
    """Return the .icd files of PyOpenCL's wheel, the system and conda; of one name the last one.

    Or those that the user leads the loader to.
    """
    if (chosen := os.environ.get(VENDORS_VARIABLE)) is not None:
        path = Path(chosen)
        return [path] if path.is_file() else sorted(path.glob("*.icd"))
    wheels = Path(sysconfig.get_path("platlib")) / "pyopencl" / ".libs"
    found = [*wheels.glob("*.icd"), *_SYSTEM_VENDORS.glob("*.icd"), *_icds_of_conda()]
    return list({path.name: path for path in found}.values())


def _icds_of_conda() -> list[Path]:
    """Return the .icd files of a conda environment; in others, Intel's wheels leave broken ones."""
    root = Path(sys.prefix)
    return sorted(root.glob("etc/OpenCL/vendors/*.icd")) if (root / "conda-meta").is_dir() else []
