"""Compiled programs on disk: damaged, full, in the way, shared by processes, too large."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from clmst.core import atomic_file
from clmst.core.errors import CacheWarning, FileWriteError
from clmst.runtime import binary_cache
from clmst.runtime.device import Device
from clmst.runtime.discovery import get_device


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache of this test's own."""
    get_device()  # whose trial would leave a binary there
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    monkeypatch.setattr(binary_cache, "_warned", set())
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


@pytest.mark.parametrize("reason", ["a file in its place", "no space"])
def test_a_folder_that_takes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reason: str
) -> None:
    """Work goes on, and is told once what it misses."""

    def full(*arguments: Any, **named: Any) -> None:
        raise FileWriteError("no space")

    (tmp_path / "file").touch()
    place = tmp_path / ("empty" if reason == "no space" else "file")
    monkeypatch.setenv("CLMST_CACHE", str(place))
    monkeypatch.setattr(binary_cache, "_warned", set())
    if reason == "no space":
        monkeypatch.setattr(atomic_file, "write_bytes", full)
    words = "cannot be kept, so every process compiles"
    words += ".*no space" if reason == "no space" else ""
    with pytest.warns(CacheWarning, match=words):
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
    monkeypatch.setattr(binary_cache, "LIMIT_BYTES", 10_000)
    for number in range(9):
        binary_cache.write(f"{number}", b"x" * 1000)
        os.utime(cache / f"{number}", (number, number))
    assert binary_cache.read("0") is not None
    binary_cache.write("last", b"x" * 1000)
    assert {path.name for path in cache.iterdir()} == {"0", "7", "8", "last"}


def test_another_process_renames_its_file_meanwhile(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A temporary file of another process may be gone between the listing and the look at it."""
    scandir = os.scandir

    def listing(where: Path) -> Any:
        passing = cache / ".program.0123.part"
        passing.write_bytes(b"")
        entries = scandir(where)
        listed = list(entries)
        entries.close()
        passing.unlink()
        return nullcontext(listed)

    monkeypatch.setattr(os, "scandir", listing)
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
for algorithm in ("filter-boruvka", "prim"):
    assert clmst.minimum_spanning_forest(graph, algorithm=algorithm).total_weight == 5
"""
    for _ in range(2):  # both cold, then both warm
        both = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
        assert [one.wait(120) for one in both] == [0, 0]
    if cache.exists():  # the device may leave it to its driver
        assert all(binary_cache.read(path.name) for path in cache.iterdir())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            binary_cache.write("after", b"binary")
