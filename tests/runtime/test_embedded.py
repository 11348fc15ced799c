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
from clmst.runtime import embedded
from clmst.runtime.embedded import VENDORS_VARIABLE, find_driver, offered_to_loader
from tests.helpers.processes import lacks

LIBRARIES = (embedded._DRIVER, *embedded._NEEDED)


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


def install(root: Path, *names: str, loads: bool = False) -> Path:
    """Install libraries that do or do not load; return the path of the driver."""
    (root / "lib").mkdir(parents=True, exist_ok=True)
    for name in names:
        if loads:
            (root / "lib" / name).symlink_to(_cl.__file__)
        else:
            (root / "lib" / name).write_bytes(b"")
    return root / "lib" / LIBRARIES[0]


# ------------------------------------------------------------------------------ found


def test_found_where_it_is_installed() -> None:
    if not is_installed():
        lacks("the packages of the extra 'cpu' are not installed")
    driver = find_driver()
    assert driver is not None
    assert driver.is_file()
    assert driver.name == "libintelocl.so"


@pytest.mark.parametrize("place", [".", "data", "base"])
def test_every_folder_that_pip_installs_to(environment: Path, place: str) -> None:
    assert find_driver() is None
    driver = install(environment / place, *LIBRARIES)
    found = find_driver()
    assert found is not None
    assert found.samefile(driver)


@pytest.mark.parametrize(
    ("missing", "platform"),
    [*((name, "linux") for name in LIBRARIES), (None, "darwin"), (None, "win32")],
)
def test_half_installed_or_elsewhere(
    environment: Path, monkeypatch: pytest.MonkeyPatch, missing: str | None, platform: str
) -> None:
    """The driver without what it links to would bring the loader down."""
    install(environment, *(name for name in LIBRARIES if name != missing))
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
    return install(environment, *LIBRARIES, loads=True)


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
        driver = install(environment, *LIBRARIES, loads=True)
        expected["clmst-embedded.icd"] = f"{driver}\n"
    with offered_to_loader():
        assert offered() == (expected if is_conda or has_driver else None)
        folder = os.environ.get(VENDORS_VARIABLE, "none")
    assert VENDORS_VARIABLE not in os.environ
    assert not Path(folder).exists()
    assert (environment / "vendors" / "a.icd").exists()


@pytest.mark.parametrize(
    ("system", "machine", "named", "not_named"),
    [
        ("linux", "x86_64", [pip_install("cpu"), "apt install", "conda"], []),
        ("linux", "aarch64", ["apt install", "conda"], ["pip"]),
        ("darwin", "arm64", ["conda"], ["pip", "apt"]),
        ("win32", "AMD64", ["your CPU's vendor"], ["pip", "apt", "conda"]),
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


@pytest.mark.parametrize("libraries", [(), LIBRARIES])
def test_nothing_to_offer(environment: Path, libraries: tuple[str, ...]) -> None:
    """There are no libraries, or they do not load because they are for another system.

    The driver would not load either.
    """
    install(environment, *libraries)
    with offered_to_loader():
        assert offered() is None
