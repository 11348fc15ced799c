"""Compiled programs on disk: damaged, full, in the way, shared by processes, too large."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clmst.core.errors import CacheWarning
from clmst.runtime import binary_cache
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device
from tests.faults.injection import opencl_error


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of this test's own."""
    get_device()  # whose trial would leave a binary there
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    return binary_cache.folder()


def halve(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-len(content) // 3] ^= 4
    path.write_bytes(content)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def swap(path: Path) -> None:
    """Let it be the whole file of another program."""
    key = "0" * 64
    binary_cache.write(key, b"another")
    path.with_name(key).replace(path)


DAMAGES = [halve, flip, empty, swap]


def of_its_own(monkeypatch: pytest.MonkeyPatch) -> Device:
    """Return a device whose driver leaves caching to clmst, whatever it is."""
    import pyopencl.characterize as traits

    monkeypatch.setattr(traits, "has_src_build_cache", lambda device: False)
    return get_device().forcing_off()


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_device_is_given_no_damaged_binary(
    cache: Path,
    damage: Callable[[Path], None],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """It is compiled anew, and the file is whole again."""
    caplog.set_level(logging.INFO, "clmst")
    for _ in range(2):
        of_its_own(monkeypatch).program("device/fill.cl")
    assert caplog.text.count("compiling kernels (fill)") == 1
    (file,) = cache.iterdir()
    damage(file)
    for _ in range(2):
        of_its_own(monkeypatch).program("device/fill.cl")
    assert caplog.text.count("compiling kernels (fill)") == 2
    assert [one.name for one in cache.iterdir()] == [file.name]
    assert binary_cache.read(file.name) is not None


def test_a_driver_that_refuses_its_own_binary(
    cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As Apple's after an update of the system: the program is compiled anew, and kept."""
    import pyopencl as cl

    caplog.set_level(logging.INFO, "clmst")
    of_its_own(monkeypatch).program("device/fill.cl")
    (file,) = cache.iterdir()
    before = file.stat().st_mtime_ns
    create, n_refused = cl.Program.__init__, 0

    def created(self: Any, context: Any, *given: Any) -> None:
        nonlocal n_refused
        if len(given) == 2:  # devices, and a binary for each
            n_refused += 1
            raise opencl_error(-30, "clCreateProgramWithBinary")
        create(self, context, *given)

    with monkeypatch.context() as patch:
        patch.setattr(cl.Program, "__init__", created)
        of_its_own(monkeypatch).program("device/fill.cl")
    assert n_refused == 1
    assert caplog.text.count("compiling kernels (fill)") == 2
    assert file.stat().st_mtime_ns > before


@pytest.mark.parametrize("at_the_place_of", ["the folder", "the file"])
def test_a_folder_that_takes_no_file(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_the_place_of: str
) -> None:
    """Work goes on, and is told once what it misses."""
    place = tmp_path / "other"
    if at_the_place_of == "the folder":
        place.touch()
    else:
        of_its_own(monkeypatch).program("device/fill.cl")
        (file,) = cache.iterdir()
        (place / cache.name / file.name / "in the way").mkdir(parents=True)
    monkeypatch.setenv("CLMST_CACHE", str(place))
    with pytest.warns(CacheWarning, match="cannot be kept, so every process compiles"):
        of_its_own(monkeypatch).program("device/fill.cl")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CacheWarning)
        of_its_own(monkeypatch).program("device/fill.cl")
    assert not [path for path in place.rglob("*") if path.is_file()]


def test_what_a_binary_depends_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts and options that read the same in a row are not the same."""
    device = get_device().cl_device
    keys = {
        binary_cache.key_of(device, *arguments)
        for arguments in [("a", ["b"]), ("ab", []), ("a", ["b", ""]), ("", ["a", "b"])]
    }
    assert len(keys) == 4


def test_it_is_cut_back(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was not used for longest goes first; use is reading."""
    monkeypatch.setattr(binary_cache, "LOOK_AFTER_BYTES", 0)  # other processes write, too
    binary_cache.write("0", b"x")
    for number in range(9):
        with open(cache / f"{number}", "ab") as file:
            if number:  # holes take no space
                file.truncate(binary_cache.LIMIT_BYTES // 8)
        os.utime(cache / f"{number}", (number, number))
    assert binary_cache.read("0") is not None
    binary_cache.write("last", b"x")
    assert {path.name for path in cache.iterdir()} == {"0", "6", "7", "8", "last"}


def test_files_are_listed_seldom(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At each write of thousands it would take longer than the writes. The limit is kept still."""
    listed = []

    def listing(folder: Path) -> Any:
        listed.append(folder)
        return scandir(folder)

    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", listing)
    monkeypatch.setattr(binary_cache, "LIMIT_BYTES", 10_000)
    monkeypatch.setattr(binary_cache, "LOOK_AFTER_BYTES", 1_000)
    written = most = 0
    for number in range(200):
        binary_cache.write(str(number), bytes(100))
        written += (cache / str(number)).stat().st_size
        most = max(most, sum((cache / name).stat().st_size for name in os.listdir(cache)))
    assert 1 < len(listed) <= 1 + written / 1_000
    assert 10_000 < most <= 10_000 + 1_000 + 200


def test_another_process_renames_its_file_meanwhile(cache: Path) -> None:
    """A temporary file of another process may be gone between the listing and the look at it."""
    cache.mkdir(parents=True)
    (cache / ".program.0123.part").symlink_to("gone")  # is listed, and is not there
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        binary_cache.write("program", b"binary")
    assert binary_cache.read("program") == b"binary"


def test_two_processes_at_once(cache: Path) -> None:
    """Neither waits for the other, nor reads half of what it writes."""
    code = """
import clmst, warnings
warnings.simplefilter("error")
graph = clmst.Graph.from_edges([0, 0, 1], [1, 2, 2], [2, 3, 4])
assert clmst.minimum_spanning_forest(graph, algorithm="prim").total_weight == 5
"""
    for _ in range(2):  # both cold, then both warm
        both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
        assert [one.wait(120) for one in both] == [0, 0]
    if cache.exists():  # the device may leave it to its driver
        assert all(binary_cache.read(path.name) for path in cache.iterdir())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            binary_cache.write("after", b"binary")
