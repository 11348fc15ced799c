"""Implementations of OpenCL that a machine can get beside its own, and how each is set up.

Nothing of the machine is changed: packages of PyPI go into folders of their own, packages of Debian
into a root of their own. A process sees one implementation alone, since the loader is told where to
look.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".implementations"

DEBIAN = "trixie"  # Debian 13
_DEBIAN_PYTHON = "3.13"
_DEBIAN_PACKAGES = (
    "python3", "ocl-icd-libopencl1", "pocl-opencl-icd", "mesa-opencl-icd", "mesa-vulkan-drivers",
)  # fmt: skip
# The processes below see the machine's own /proc, /dev and /sys there, and this clone where it is.
# The mounts belong to the process and go with it.
_ENTER = """
set -e
for one in proc dev sys; do mount --rbind /$one "$0/$one"; done
mkdir -p "$0$1"; mount --bind "$1" "$0$1"
cd "$0"; shift
exec chroot "$0" "$@"
"""


class NotHereError(Exception):
    """An implementation cannot be set up on this machine; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Implementation:
    """One implementation."""

    name: str
    title: str
    packages: tuple[str, ...] = ()  # of PyPI; none: it is in Debian's root
    driver: str = ""  # the library, below its folder or in Debian's list of drivers
    libraries: tuple[str, ...] = ("lib",)  # folders of libraries that it needs
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where it is, and what its processes keep."""
        return FOLDER / self.name

    def set_up(self) -> None:
        """Install it, unless that was done before."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if not self.packages:
            debian_root()
        elif not (self.folder / self.driver).exists():
            install_python_packages(self.folder, *self.packages)
        if self.packages:
            (self.folder / "vendors").mkdir(exist_ok=True)
            (self.folder / "vendors" / "one.icd").write_text(f"{self.folder / self.driver}\n")
        # Intel's runtimes read their settings in the current folder, of whatever version they are.
        settings, nearby = self.folder / "lib" / "cl.cfg", self.folder / "cl.cfg"
        if settings.exists() and not nearby.exists():
            nearby.symlink_to(settings)

    def command(self, *arguments: str | Path, **more: str) -> list[str]:
        """Return the command that runs Python on it, from its own folder.

        Debian's root has only the variables of :meth:`environment` and `more`.
        """
        given = [str(part) for part in arguments]
        if self.packages:
            return [sys.executable, *given]
        variables = [f"{name}={value}" for name, value in (self.environment() | more).items()]
        inside = ["env", "-i", "-C", str(self.folder), *variables, "/usr/bin/python3", *given]
        return [*in_debian(ROOT), *inside]

    def environment(self) -> dict[str, str]:
        """Return the environment of its processes, in which nothing is cached elsewhere."""
        cache = self.folder / "cache"
        kept = {
            "CLMST_CACHE": str(cache / "clmst"),
            "XDG_CACHE_HOME": str(cache),
            "POCL_CACHE_DIR": str(cache / "pocl"),
            "PYTHONPYCACHEPREFIX": str(FOLDER / "pycache"),
            "PYTHONPATH": str(ROOT),
            "OCL_ICD_VENDORS": str(self.folder / "vendors"),
            "OPENBLAS_NUM_THREADS": "1",
            **self.variables,
        }
        if self.packages:
            inherited = (os.environ.get("LD_LIBRARY_PATH"),)
            libraries = [str(self.folder / one) for one in self.libraries]
            kept["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, (*libraries, *inherited)))
            return {**os.environ, **kept}
        kept["PYTHONPATH"] = os.pathsep.join((str(ROOT), str(_debian_python_packages())))
        kept["OCL_ICD_VENDORS"] = f"/etc/OpenCL/vendors/{self.driver}"
        return {
            "HOME": "/root",
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8",
            **kept,
        }


def _intel(version: str, title: str) -> Implementation:
    return Implementation(
        name=f"intel-{version}", title=title, driver="lib/libintelocl.so",
        packages=(f"intel-opencl-rt=={version}", f"intel-cmplr-lib-rt=={version}"),
    )  # fmt: skip


_LLVMPIPE = {"RUSTICL_ENABLE": "llvmpipe"}
_LAVAPIPE = "/usr/share/vulkan/icd.d/lvp_icd.json"

IMPLEMENTATIONS = (
    Implementation(name="pocl-6", title="PoCL, Debian 13", driver="pocl.icd"),
    Implementation(
        name="llvmpipe", title="rusticl on llvmpipe, Debian 13", driver="rusticl.icd",
        variables=_LLVMPIPE,
    ),
    Implementation(
        name="zink", title="rusticl on zink on lavapipe, Debian 13", driver="rusticl.icd",
        variables={
            "RUSTICL_ENABLE": "llvmpipe,zink", "GALLIUM_DRIVER": "zink",
            "LIBGL_ALWAYS_SOFTWARE": "1", "VK_DRIVER_FILES": _LAVAPIPE,
        },
    ),
    Implementation(
        name="intel-fpga-emulator", title="Intel FPGA emulator", driver="lib/libintelocl_emu.so",
        packages=(
            "intel-opencl-fpga-emu-rt==2025.0.5", "intel-opencl-rt==2025.0.5",
            "intel-cmplr-lib-rt==2025.0.5",
        ),
    ),
    _intel("2021.4.0", "Intel CPU runtime of 2021"),
    _intel("2023.2.4", "Intel CPU runtime of 2023"),
    _intel("2025.0.5", "Intel CPU runtime of 2025"),
    Implementation(
        name="pocl-3", title="PoCL, PyPI", driver="pyopencl/.libs/libpocl-21062cec.so",
        packages=("pocl-binary-distribution==3.0",),
        libraries=("pocl_binary_distribution/.libs",),
    ),
)  # fmt: skip


def install_python_packages(folder: Path, *packages: str, options: tuple[str, ...] = ()) -> None:
    """Install packages of PyPI into a folder of no environment."""
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        raise NotHereError(f"{uv} is not there; run.py installs it")
    command = [str(uv), "pip", "install", "--quiet", "--python", sys.executable, *options]
    _run(*command, "--target", str(folder), *packages)


def in_debian(beside: Path) -> list[str]:
    """Return the beginning of a command that runs in Debian's root, where `beside` is, too."""
    enter = ["unshare", "--mount", "--propagation", "private", "sh", "-c", _ENTER]
    return [*enter, str(FOLDER / "debian-13"), str(beside)]


def debian_root() -> None:
    """Make the root, with the drivers and what the tests need of Python, unless it is there."""
    root, stamp = FOLDER / "debian-13", FOLDER / "debian-13-made"
    if not stamp.exists():
        if os.geteuid() != 0:
            raise NotHereError("the user is not root; Debian 13's root is made by root alone")
        if shutil.which("unshare") is None or shutil.which("apt-get") is None:
            raise NotHereError("this is no Debian; Debian 13's root is made on one")
        if shutil.which("debootstrap") is None:
            _run("apt-get", "update", "-qq")
            _run("apt-get", "install", "-qq", "--yes", "debootstrap")
        if not (root / "usr/bin/apt-get").exists():
            _run("debootstrap", "--variant=minbase", DEBIAN, str(root))
        shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
        apt = ["env", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C", "apt-get", "-qq", "--yes"]
        _run(*in_debian(ROOT), *apt, "update")
        _run(*in_debian(ROOT), *apt, "install", "--no-install-recommends", *_DEBIAN_PACKAGES)
        options = ("--python-version", _DEBIAN_PYTHON, "--only-binary", ":all:")
        install_python_packages(_debian_python_packages(), *_python_requirements(), options=options)
        stamp.touch()


def _debian_python_packages() -> Path:
    return FOLDER / f"python-{_DEBIAN_PYTHON}"


def _python_requirements() -> Iterator[str]:
    """Yield what clmst and its contract suite import, as pyproject.toml has it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield from project["dependencies"]
    yield from (one for one in project["optional-dependencies"]["test"] if "clmst" not in one)


def _run(*command: str) -> None:
    shown = command[len(in_debian(ROOT)) :] if command[0] == "unshare" else command
    print("$ in Debian's root:" if command[0] == "unshare" else "$", *shown, flush=True)
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        said = done.stdout.decode(errors="replace").strip().splitlines()[-5:]
        raise NotHereError(f"{command[0]} ended with {done.returncode}: {' / '.join(said)}")
