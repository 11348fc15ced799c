"""The embedded driver: found whole or not at all, and offered without a trace."""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib import metadata
from pathlib import Path

import pytest
from pyopencl import _cl

from clmst.core.errors import pip_install
from clmst.core.machine import cache_folder
from clmst.runtime import embedded
from clmst.runtime.embedded import (
    FILENAMES_VARIABLE,
    LAYOUTS,
    VENDORS_VARIABLE,
    find_driver,
    offered_to_loader,
)
from tests.helpers.processes import lacks

LIBRARIES = {name: (one.driver, *one.needed) for name, one in LAYOUTS.items()}


def is_installed() -> bool:
    try:
        return bool(metadata.version("intel-opencl-rt") and metadata.version("intel-cmplr-lib-rt"))
    except metadata.PackageNotFoundError:
        return False


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the empty folder of a Python environment, with system drivers of its own."""
    monkeypatch.delenv(VENDORS_VARIABLE, raising=False)
    places = {"prefix": str(tmp_path), "base_prefix": str(tmp_path / "base")}
    for name, value in ({"platform": "linux"} | places).items():
        monkeypatch.setattr(sys, name, value)
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / name))
    monkeypatch.setattr(embedded, "_SYSTEM_VENDORS", tmp_path / "vendors")
    return tmp_path


def install(root: Path, *names: str, loads: bool = False, system: str = "linux") -> Path:
    """Install libraries that do or do not load; return the path of the driver."""
    folder = root / LAYOUTS[system].folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if loads:
            (folder / name).symlink_to(_cl.__file__)
        else:
            (folder / name).write_bytes(b"")
    return folder / LAYOUTS[system].driver


# ------------------------------------------------------------------------------ found


def test_found_where_it_is_installed() -> None:
    if not is_installed():
        lacks("the packages of the extra 'cpu' are not installed")
    driver = find_driver()
    assert driver is not None
    assert driver.is_file()
    assert driver.name == "libintelocl.so"


@pytest.mark.parametrize("system", LAYOUTS)
@pytest.mark.parametrize("place", [".", "data", "base"])
def test_every_folder_that_pip_installs_to(
    environment: Path, monkeypatch: pytest.MonkeyPatch, place: str, system: str
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    assert find_driver() is None
    driver = install(environment / place, *LIBRARIES[system], system=system)
    found = find_driver()
    assert found is not None
    assert found.samefile(driver)


@pytest.mark.parametrize(
    ("missing", "installed", "platform"),
    [
        *((name, system, system) for system in LAYOUTS for name in LIBRARIES[system]),
        (None, "linux", "darwin"), (None, "linux", "win32"), (None, "win32", "linux"),
    ],
)  # fmt: skip
def test_half_installed_or_elsewhere(
    environment: Path, monkeypatch: pytest.MonkeyPatch, missing: str | None, installed: str,
    platform: str,
) -> None:  # fmt: skip
    """The driver without what it links to would bring the loader down."""
    names = (name for name in LIBRARIES[installed] if name != missing)
    install(environment, *names, system=installed)
    monkeypatch.setattr(sys, "platform", platform)
    assert find_driver() is None


# ---------------------------------------------------------------------------- offered


def offered() -> dict[str, str] | None:
    """Return the .icd files that the loader is shown, or None if it looks where it always does."""
    if VENDORS_VARIABLE not in os.environ:
        return None
    return {path.name: path.read_text() for path in Path(os.environ[VENDORS_VARIABLE]).iterdir()}


@pytest.fixture
def driver(environment: Path) -> Path:
    """Return the path of an embedded driver with all libraries that it needs."""
    return install(environment, *LIBRARIES["linux"], loads=True)


@pytest.mark.parametrize("has_driver", [True, False])
@pytest.mark.parametrize("is_conda", [True, False])
def test_offered_beside_the_systems(environment: Path, has_driver: bool, is_conda: bool) -> None:
    """And the drivers of a conda environment, where PyOpenCL's own loader does not look."""
    wheel, own = "platlib/pyopencl/.libs", "etc/OpenCL/vendors"
    for folder, names in ((wheel, "bc"), ("vendors", "abx"), (own, "b")):
        (environment / folder).mkdir(parents=True, exist_ok=True)
        for name in names:
            suffix = "txt" if name == "x" else "icd"
            (environment / folder / f"{name}.{suffix}").write_text(folder)
    expected = {"a.icd": "vendors", "b.icd": own if is_conda else "vendors", "c.icd": wheel}
    if is_conda:
        (environment / "conda-meta").mkdir()
    if has_driver:
        driver = install(environment, *LIBRARIES["linux"], loads=True)
        expected["clmst-embedded.icd"] = f"{driver}\n"
    with offered_to_loader():
        assert offered() == (expected if is_conda or has_driver else None)
        folder = os.environ.get(VENDORS_VARIABLE, "none")
    assert VENDORS_VARIABLE not in os.environ
    assert folder == "none" or cache_folder() in Path(folder).parents
    assert (environment / "vendors" / "a.icd").exists()


@pytest.mark.parametrize("is_writable", [True, False])
def test_no_temporary_folder_is_left(
    driver: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_writable: bool
) -> None:
    """Not even by a process that is killed meanwhile, because the folder is one in the cache.

    Later processes use it again. If the cache cannot be written, the folder is temporary, and a
    process that is not killed removes it.
    """
    (temporary := tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    if not is_writable:
        (tmp_path / "cache").touch()
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path / "cache"))
    folders = set()
    for _ in range(2):
        with offered_to_loader():
            assert offered() == {"clmst-embedded.icd": f"{driver}\n"}
            folders.add(os.environ[VENDORS_VARIABLE])
            assert bool([*temporary.iterdir()]) != is_writable
    assert [*temporary.iterdir()] == []
    assert len(folders) == (1 if is_writable else 2)


@pytest.mark.parametrize(
    ("system", "machine", "named", "not_named"),
    [
        ("linux", "x86_64", [pip_install("cpu"), "apt install", "conda"], []),
        ("linux", "aarch64", ["apt install", "conda"], ["pip"]),
        ("darwin", "arm64", ["conda"], ["pip", "apt"]),
        ("win32", "AMD64", [pip_install("cpu"), "conda"], ["apt"]),
        ("win32", "ARM64", ["conda"], ["pip", "apt"]),
    ],
)
def test_advice_is_for_the_system(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, named: list[str],
    not_named: list[str],
) -> None:  # fmt: skip
    """What cannot be installed there is not named."""
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    advice = embedded.what_to_install()
    assert [word for word in named if word not in advice] == []
    assert [word for word in not_named if word in advice] == []


def test_withdrawn_after_an_error(driver: Path) -> None:
    def enumerate_badly() -> None:
        with offered_to_loader():
            assert offered() == {"clmst-embedded.icd": f"{driver}\n"}
            raise KeyError

    with pytest.raises(KeyError):
        enumerate_badly()
    assert VENDORS_VARIABLE not in os.environ


@pytest.mark.parametrize("value", ["", "/somewhere", "/somewhere/one.icd"])
def test_users_variable_is_left_alone(
    driver: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv(VENDORS_VARIABLE, value)
    with offered_to_loader():
        assert os.environ[VENDORS_VARIABLE] == value
    assert os.environ[VENDORS_VARIABLE] == value


@pytest.mark.parametrize("libraries", [(), LIBRARIES["linux"]])
def test_nothing_to_offer(environment: Path, libraries: tuple[str, ...]) -> None:
    """There are no libraries, or they do not load because they are for another system.

    The driver would not load either.
    """
    install(environment, *libraries)
    with offered_to_loader():
        assert offered() is None


# ---------------------------------------------------------------------------- on Windows


@pytest.fixture
def on_windows(environment: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of the embedded driver in an environment laid out as on Windows."""
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.delenv(FILENAMES_VARIABLE, raising=False)
    return install(environment, *LIBRARIES["win32"], loads=True, system="win32")


@pytest.mark.parametrize("before", [None, "", "C:/other.dll"])
def test_named_to_the_loader_of_windows(
    on_windows: Path, monkeypatch: pytest.MonkeyPatch, before: str | None
) -> None:
    """After the libraries that the user has named; and the libraries it needs are loaded first."""
    loaded: list[str] = []
    monkeypatch.setattr("ctypes.CDLL", lambda path, mode: loaded.append(path))
    if before is not None:
        monkeypatch.setenv(FILENAMES_VARIABLE, before)
    with offered_to_loader():
        named = os.environ[FILENAMES_VARIABLE].split(";")
        assert VENDORS_VARIABLE not in os.environ
    assert named == [*filter(None, [before]), str(on_windows)]
    assert os.environ.get(FILENAMES_VARIABLE) == before
    folder = on_windows.parent
    assert loaded == [str(folder / name) for name in LAYOUTS["win32"].needed]


def test_no_driver_on_windows(on_windows: Path) -> None:
    on_windows.unlink()
    with offered_to_loader():
        assert FILENAMES_VARIABLE not in os.environ
