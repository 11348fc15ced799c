"""The user's own table: what is written is read again, and nothing else is destroyed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clmst import FileFormatError, InvalidArgumentError
from clmst.core.machine import cache_folder
from clmst.runtime.tuning_file import check_writable, read, user_path, write
from clmst.runtime.tuning_table import Entry

ENTRY = Entry(
    device="Card 7",
    platform="Cards",
    driver="1.0",
    clmst="0.1.0",
    measured="2026-11-22: ecl on a grid",
    values={"hub_row": 96, "radix_bits": 7},
    figures={"hub_row": {"64": 1.25}},
)


def test_round_trip(tmp_path: Path) -> None:
    """Into folders that are not there yet, and nothing but the table stays behind."""
    path = tmp_path / "a" / "b" / "t.json"
    assert read(path).entries == ()
    check_writable(path)
    write(ENTRY, path)
    assert read(path).entries == (ENTRY,)
    assert read(path).problems == ()
    assert [p.name for p in path.parent.iterdir()] == ["t.json"]


def test_entries_of_other_devices_and_drivers_stay(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    others = [
        replace(ENTRY, device="Card 8"),
        replace(ENTRY, platform="Else"),
        replace(ENTRY, driver="2.0"),
    ]
    for entry in (*others, ENTRY):
        write(entry, path)
    assert read(path).entries == (*others, ENTRY)


def test_a_search_forgets_what_another_version_found(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    write(ENTRY, path)
    other = replace(ENTRY, clmst="9.9", values={"bytes_per_item": 32}, figures={})
    write(other, path)
    assert read(path).entries == (other,)


def test_second_search_adds_to_the_first(tmp_path: Path) -> None:
    """Tuning another parameter must not forget the one that was tuned before."""
    path = tmp_path / "t.json"
    write(ENTRY, path)
    write(
        replace(
            ENTRY,
            measured="another day",
            values={"radix_bits": 6, "bytes_per_item": 32},
            figures={},
        ),
        path,
    )
    (entry,) = read(path).entries
    assert entry.values == {"hub_row": 96, "radix_bits": 6, "bytes_per_item": 32}
    assert entry.figures == ENTRY.figures
    assert entry.measured == f"another day; before that, {ENTRY.measured}"


def test_second_search_of_the_same_replaces_the_first(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    again = replace(ENTRY, measured="another day", values=dict.fromkeys(ENTRY.values, 5))
    for entry in (ENTRY, again, again):
        write(entry, path)
    assert read(path).entries == (again,)


def test_files_that_are_not_ours_are_not_overwritten(tmp_path: Path) -> None:
    (path := tmp_path / "notes.txt").write_text("0 1 2\n")
    for refuses in (check_writable, lambda p: write(ENTRY, p)):
        with pytest.raises(FileFormatError, match=r"notes\.txt"):
            refuses(path)
    assert path.read_text() == "0 1 2\n"


def test_folders_that_take_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="is a directory"):
        check_writable(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(InvalidArgumentError, match="takes no files"):
        check_writable(tmp_path / "file" / "t.json")


def test_folder_is_the_users_own_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    assert user_path() == tmp_path / "tuning.json"
    monkeypatch.delenv("CLMST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "clmst"
    assert cache_folder() != tmp_path
