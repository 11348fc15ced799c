"""The embedded default device: Intel's CPU runtime for OpenCL, which ``pip`` installs.

The packages of the extra ``cpu`` put the driver's libraries into a folder of the environment:
``lib`` on Linux, ``Library/bin`` on Windows. Neither the OpenCL loader nor the dynamic linker looks
there. So this module loads the libraries that the driver needs by their full paths.

The loader enumerates its platforms once per process. While it does, an environment variable leads
it to the driver:

* On Linux, ``OCL_ICD_VENDORS`` points at a folder that lists this driver, and the drivers of the
  system and of a conda environment, because the loader that comes with PyOpenCL's wheel looks in
  neither place. If the user has set the variable, the user has chosen the drivers, and
  nothing is changed.
* On Windows, ``OCL_ICD_FILENAMES`` names the driver's library, in addition to those that the user
  has put there. The loader also finds the drivers of the registry. It does not read the variable in
  a process with the rights of an administrator.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import sys
import sysconfig
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from clmst.core.atomic_file import write_text
from clmst.core.errors import ClmstError, pip_install
from clmst.core.machine import cache_folder

VENDORS_VARIABLE = "OCL_ICD_VENDORS"

FILENAMES_VARIABLE = "OCL_ICD_FILENAMES"


class Layout(NamedTuple):
    """Where ``pip install clmst[cpu]`` puts the CPU driver for OpenCL on one operating system."""

    folder: str  # below the root folder of the environment
    driver: str  # the file name of the driver's library
    # The libraries that the driver links to. Each library comes after the libraries that it
    # needs itself.
    needed: tuple[str, ...]


# The layouts by the value of `sys.platform`. Further systems do not have an embedded driver.
LAYOUTS = {
    "linux": Layout(
        folder="lib",
        driver="libintelocl.so",
        needed=("libintlc.so.5", "libirng.so", "libimf.so", "libsvml.so", "libtbb.so.12"),
    ),
    "win32": Layout(
        folder="Library/bin",
        driver="intelocl64.dll",
        needed=("tbb12.dll", "common_clang64.dll"),
    ),
}
_SYSTEM_VENDORS = Path("/etc/OpenCL/vendors")


def find_driver() -> Path | None:
    """Return the path of Intel's CPU driver that ``pip`` installed.

    Returns None if the driver or a library that it needs is missing.
    """
    layout = LAYOUTS.get(sys.platform)
    if layout is None:
        return None
    for root in dict.fromkeys([sys.prefix, sysconfig.get_path("data"), sys.base_prefix]):
        folder = Path(root) / layout.folder
        if all((folder / name).exists() for name in (layout.driver, *layout.needed)):
            return folder / layout.driver
    return None


def has_driver() -> bool:
    """Return whether a driver of OpenCL seems to be installed, without loading it.

    Only on Linux this is known without the loader. On other systems the result is True. If the user
    has set ``OCL_ICD_VENDORS``, only the user's drivers count.
    """
    if sys.platform != "linux" or installed_icds():
        return True
    return VENDORS_VARIABLE not in os.environ and find_driver() is not None


@contextmanager
def offered_to_loader(without: Collection[Path] = ()) -> Iterator[None]:
    """Let the OpenCL loader find the embedded driver and the installed ones inside the ``with``.

    Yields None. `without` holds paths of .icd files that the loader must not see. If the user has
    set ``OCL_ICD_VENDORS``, only the user's drivers are offered. Windows does not have .icd files,
    so neither `without` nor that variable has an effect there.
    """
    if sys.platform == "win32":
        driver = _loaded_driver()
        before = os.environ.get(FILENAMES_VARIABLE)
        names = [*([before] if before else []), *([str(driver)] if driver else [])]
        with _environment(FILENAMES_VARIABLE, ";".join(names) or None):
            yield
        return
    is_chosen = VENDORS_VARIABLE in os.environ
    driver = None if is_chosen else _loaded_driver()
    if driver is None and not without and (is_chosen or not _icds_of_conda()):
        yield
        return
    offered = [path for path in installed_icds() if path not in without]
    with (
        folder_of_icds(offered, driver) as folder,
        _environment(VENDORS_VARIABLE, str(folder)),
    ):
        yield


@contextmanager
def _environment(variable: str, value: str | None) -> Iterator[None]:
    """Set an environment variable inside the ``with``, unless `value` is None."""
    before = os.environ.get(variable)
    if value is not None:
        os.environ[variable] = value
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = before


def what_to_install() -> str:
    """Describe which OpenCL drivers can be installed on this system."""
    commands: list[str] = []
    if sys.platform in LAYOUTS and platform.machine() in ("x86_64", "AMD64"):
        commands.append(pip_install("cpu"))
    if sys.platform == "linux":
        commands.append("apt install pocl-opencl-icd (Debian, Ubuntu)")
    commands.append("conda install -c conda-forge pocl (in a conda environment)")
    return f"install a GPU driver with OpenCL, or a CPU runtime: {', or '.join(commands)}"


def _loaded_driver() -> Path | None:
    """Load the libraries that the embedded driver needs, and return the driver's path.

    Returns None if the driver is not installed, or its libraries cannot be loaded.
    """
    driver = find_driver()
    if driver is None:
        return None
    try:
        for name in LAYOUTS[sys.platform].needed:
            ctypes.CDLL(str(driver.with_name(name)), mode=ctypes.RTLD_GLOBAL)
    except OSError:
        return None  # its libraries do not load on this system, so the driver would not either
    return driver


@contextmanager
def folder_of_icds(paths: Iterable[Path], driver: Path | None = None) -> Iterator[Path]:
    """Yield a folder with links to the .icd files in `paths`, for the loader to read.

    If `driver`, the path of a driver's library, is given, the folder also has an .icd file for it.
    The folder is in clmst's cache and stays there for later processes, so a process that is killed
    leaves nothing in the folder for temporary files. Only if the cache cannot be written, the
    folder is a temporary one.
    """
    listed = {path.name: path for path in paths}
    contents = "\n".join(map(str, [*sorted(listed.values()), driver]))
    folder = cache_folder() / "drivers" / hashlib.sha256(contents.encode()).hexdigest()[:16]
    try:
        _fill(folder, listed, driver)
    except (OSError, ClmstError):
        with tempfile.TemporaryDirectory(prefix="clmst-icd-") as name:
            _fill(Path(name), listed, driver)
            yield Path(name)
        return
    yield folder


def _fill(folder: Path, paths: dict[str, Path], driver: Path | None) -> None:
    """Put the files of :func:`folder_of_icds` into `folder`, unless another process has.

    `paths` has the path of each .icd file, by its name.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in paths.items():
        with suppress(FileExistsError):
            (folder / name).symlink_to(path)
    own = folder / "clmst-embedded.icd"
    if driver is not None and not own.exists():
        write_text(own, f"{driver}\n", durable=False)


def installed_icds() -> list[Path]:
    """Return the .icd files of the installed drivers.

    The files come from PyOpenCL's wheel, the system and a conda environment. If two have the same
    file name, the later one of these places counts. If the user has set ``OCL_ICD_VENDORS``, the
    files come from there alone.
    """
    if (chosen := os.environ.get(VENDORS_VARIABLE)) is not None:
        path = Path(chosen)
        return [path] if path.is_file() else sorted(path.glob("*.icd"))
    wheels = Path(sysconfig.get_path("platlib")) / "pyopencl" / ".libs"
    found = [*wheels.glob("*.icd"), *_SYSTEM_VENDORS.glob("*.icd"), *_icds_of_conda()]
    return list({path.name: path for path in found}.values())


def _icds_of_conda() -> list[Path]:
    """Return the .icd files of a conda environment.

    The list is empty in environments of other tools, because Intel's wheels leave broken .icd files
    there.
    """
    root = Path(sys.prefix)
    return sorted(root.glob("etc/OpenCL/vendors/*.icd")) if (root / "conda-meta").is_dir() else []
