"""Which shape a device gets: the order of the tables, a bad one, and the user's own."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from clmst import Device, FileFormatError, InvalidArgumentError, __version__
from clmst.core.machine import cache_folder
from clmst.runtime import policy, tuning, tuning_file
from clmst.runtime.policy import PARAMETERS
from clmst.runtime.tuning import Identity, TuningWarning, look_up, shipped
from clmst.runtime.tuning_file import FORMAT, user_path
from clmst.runtime.tuning_table import SHIPPED, Entry
from tests.runtime.test_policy import CAPABILITIES
from tests.variants import GPU_SHAPE

GPU = CAPABILITIES["gpu"]
CARD = Identity(device="Card 7", platform="Cards", vendor="Cards Inc.", driver="1.0")
ENTRY: dict[str, Any] = {
    "device": "Card 7",
    "platform": "Cards",
    "driver": "1.0",
    "clmst": __version__,
    "values": {"hub_row": 96},
}


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test an empty cache, and warnings that nobody has seen yet."""
    monkeypatch.setenv("CLMST_CACHE", str(tmp_path))
    tuning._tell.cache_clear()
    yield
    tuning._tell.cache_clear()


def save(*entries: Any, **changed: Any) -> None:
    content = {"format": FORMAT, "entries": list(entries), **changed}
    user_path().write_text(json.dumps(content))


def quietly(identity: Identity = CARD) -> tuning.Tuning:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return look_up(identity, GPU)


# ---------------------------------------------------------------------------- order


def test_unknown_device_gets_the_values_of_its_kind() -> None:
    found = quietly()
    assert (found.source, found.policy) == ("default", policy.choose(GPU))


def test_shipped_levels_win_field_by_field() -> None:
    table = (
        Entry(device="Card 7", measured="m7", values={"hub_row": 64}),
        Entry(
            vendor="Cards Inc.", kind="gpu", measured="", values={"hub_row": 512, "radix_bits": 7}
        ),
        Entry(vendor="Cards Inc.", kind="cpu", measured="", values={"bytes_per_item": 16}),
        Entry(device="Card 8", measured="", values={"bytes_per_item": 32}),
    )  # fmt: skip
    found = shipped(CARD, GPU, table)
    default = policy.choose(GPU)
    assert (found.source, found.title, found.measured) == ("device", "Card 7", "m7")
    assert (found.policy.hub_row, found.policy.radix_bits) == (64, 7)
    assert found.policy.bytes_per_item == default.bytes_per_item
    of_vendor = shipped(CARD, GPU, table[1:])
    assert (of_vendor.source, of_vendor.title) == ("vendor", "Cards Inc., gpu")
    assert of_vendor.policy.hub_row == 512
    assert shipped(CARD, GPU, table[2:]).source == "default"


@pytest.mark.parametrize("entry", SHIPPED, ids=[entry.title for entry in SHIPPED])
def test_shipped_entry_is_sound(entry: Entry) -> None:
    """It is for something, has legal values, and says on what and when they were measured.

    A value that is its kind's stands in one place.
    """
    assert entry.device or (entry.vendor and entry.kind)
    for name, value in entry.values.items():
        assert PARAMETERS[name].allows(value), name
        assert value != getattr(policy.choose(CAPABILITIES[entry.kind or "gpu"]), name), name
    assert re.search(r"driver \S+.*, 20\d\d-\d\d-\d\d: ", entry.measured)


@pytest.mark.parametrize(
    ("vendor", "kind", "values"),
    [
        (
            "NVIDIA Corporation", "gpu",
            {"resident_groups_per_compute_unit": 4, "work_group_size": 256, "edges_per_item": 1},
        ),
        ("Intel(R) Corporation", "cpu", {"work_group_size": 1}),
        ("The pocl project", "cpu", {"work_group_size": 1}),
    ],
)  # fmt: skip
def test_vendors_in_the_shipped_table(vendor: str, kind: str, values: dict[str, int]) -> None:
    """Whatever the device is called; another kind of the same vendor has nothing from there."""
    one = Identity(device="Some device", platform="Some platform", vendor=vendor, driver="1")
    found = look_up(one, CAPABILITIES[kind])
    assert (found.source, found.title) == ("vendor", f"{vendor}, {kind}")
    assert asdict(found.policy) | values == asdict(found.policy)
    assert look_up(one, CAPABILITIES["gpu" if kind == "cpu" else "cpu"]).source == "default"


@pytest.mark.parametrize(
    ("entries", "source", "note"),
    [
        ([{"device": "Card 8", "values": {"hub_row": 48}}, {}], "user", ""),
        ([{}, {"driver": "0.9", "values": {"hub_row": 48}}], "user", ""),
        ([{"device": "another"}], "default", ""),
        ([{"platform": "another"}], "default", ""),
        ([{"driver": "another"}], "default", "your own is of driver another"),
    ],
)
def test_own_table_is_for_that_device_and_driver_only(
    entries: list[dict[str, Any]], source: str, note: str
) -> None:
    """There it wins, field by field."""
    save(*({**ENTRY, **changed} for changed in entries))
    found = quietly()
    expected = replace(policy.choose(GPU), **({"hub_row": 96} if source == "user" else {}))
    assert (found.source, found.policy, found.note) == (source, expected, note)


def test_device_looks_when_it_is_first_asked(any_device: Device) -> None:
    """What is in the table then counts, and a device that was given a shape keeps it."""
    device = Device(any_device.cl_device)
    named = {"device": device.name, "platform": device.platform, "driver": device.driver}
    save({**ENTRY, **named, "values": {"radix_bits": 3}})
    assert (device.tuning.source, device.policy.radix_bits) == ("user", 3)
    assert device.forcing_off("lanes").policy.radix_bits == 3
    given = device.with_policy(GPU_SHAPE)
    assert (given.tuning.source, given.policy) == ("given", GPU_SHAPE)


# ----------------------------------------------------------------------- bad tables


def assert_warns_once(*words: str) -> tuning.Tuning:
    """Assert that a look-up warns, with all `words` in one message, and a second one does not."""
    with pytest.warns(TuningWarning) as caught:
        found = look_up(CARD, GPU)
    assert len(caught) == 1
    for word in (str(user_path()), "ignored", *words):
        assert word in str(caught[0].message)
    assert quietly() == found
    return found


@pytest.mark.parametrize(
    ("entry", "source", "words"),
    [
        (
            {"values": {"hub_row": 96, "warp_factor": 9, "radix_bits": 12, "bytes_per_item": "64"}},
            "user",
            (
                f"clmst {__version__}", "warp_factor, which this version does not know",
                "radix_bits to 12; it must be an integer from 1 to 8", "bytes_per_item to '64'",
            ),
        ),
        ({"values": {"warp_factor": 9}}, "default", ("warp_factor",)),
        (
            {"values": {"work_group_size": 512, "stage_capacity": 256}}, "default",
            ("Card 7", "stage_capacity is at least work_group_size"),
        ),
        # Kernels of other versions were others, so what was quickest says nothing of these.
        *(
            (
                {"clmst": version}, "default",
                ("Card 7", f"are of clmst {written}", f"this is {__version__}"),
            )
            for version, written in (("9.9", "9.9"), ("0.0.9", "0.0.9"), (0, "an unknown version"))
        ),
    ],
)  # fmt: skip
def test_values_that_cannot_be_used(
    entry: dict[str, Any], source: str, words: tuple[str, ...]
) -> None:
    """They are ignored one by one, or all if they do not go together."""
    save({**ENTRY, **entry})
    found = assert_warns_once(*words)
    expected = replace(policy.choose(GPU), **({"hub_row": 96} if source == "user" else {}))
    assert (found.source, found.policy) == (source, expected)


@pytest.mark.parametrize(
    ("entry", "fact"),
    [
        ([], "entry 1 is no object"),
        ({**ENTRY, "driver": 1}, "entry 1 does not say its driver"),
        ({**ENTRY, "values": [1]}, f"entry 1 (Card 7, clmst {__version__}) has no values"),
    ],
)
def test_malformed_entry_does_not_spoil_the_next(entry: Any, fact: str) -> None:
    save(entry, ENTRY)
    assert assert_warns_once(fact).policy.hub_row == 96


@pytest.mark.parametrize(
    ("content", "fact"),
    [
        (b'{"format": ', "is no JSON"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "has the format None"),
        (b'{"format": "clmst tuning 2", "entries": []}', "'clmst tuning 2'"),
        (b'{"format": "clmst tuning 1"}', "no list of entries"),
        (None, "cannot be read"),  # a folder
    ],
)
def test_broken_table_is_ignored_whole(content: bytes | None, fact: str) -> None:
    user_path().mkdir() if content is None else user_path().write_bytes(content)
    assert assert_warns_once(fact).source == "default"


# --------------------------------------------------------------------------- writing

SEARCHED = Entry(
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
    assert tuning_file.read(path) == ([], [])
    tuning_file.check_writable(path)
    tuning_file.write(SEARCHED, path)
    assert tuning_file.read(path) == ([SEARCHED], [])
    assert [p.name for p in path.parent.iterdir()] == ["t.json"]


OTHERS = [{"device": "Card 8"}, {"platform": "Else"}, {"driver": "2.0"}]
ANOTHER: dict[str, Any] = {"measured": "another day", "figures": {}}
OF_ANOTHER_VERSION = {**ANOTHER, "clmst": "9.9", "values": {"bytes_per_item": 32}}


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        *(({}, other, [{}, other]) for other in OTHERS),
        # What another version of clmst found goes, and what was searched again.
        ({}, OF_ANOTHER_VERSION, [OF_ANOTHER_VERSION]),
        ({}, {"values": (same := {"hub_row": 5, "radix_bits": 5})}, [{"values": same}]),
        # What was tuned before stays where a search was for something else.
        (
            {}, {**ANOTHER, "values": {"radix_bits": 6, "bytes_per_item": 32}},
            [{
                "values": {"hub_row": 96, "radix_bits": 6, "bytes_per_item": 32},
                "measured": f"another day; before that, {SEARCHED.measured}",
            }],
        ),
    ],
)  # fmt: skip
def test_an_entry_is_put_beside_those_of_others(
    tmp_path: Path, before: dict[str, Any], after: dict[str, Any], kept: list[dict[str, Any]]
) -> None:
    for entry in (before, after):
        tuning_file.write(replace(SEARCHED, **entry), tmp_path / "t.json")
    found, _ = tuning_file.read(tmp_path / "t.json")
    assert found == [replace(SEARCHED, **entry) for entry in kept]


def test_files_that_are_not_ours_are_not_overwritten(tmp_path: Path) -> None:
    (path := tmp_path / "notes.txt").write_text("0 1 2\n")
    for refuses in (tuning_file.check_writable, lambda p: tuning_file.write(SEARCHED, p)):
        with pytest.raises(FileFormatError, match=r"notes\.txt"):
            refuses(path)
    assert path.read_text() == "0 1 2\n"
    with pytest.raises(InvalidArgumentError, match="is a directory"):
        tuning_file.check_writable(tmp_path)
    with pytest.raises(InvalidArgumentError, match="takes no files"):
        tuning_file.check_writable(path / "t.json")


def test_folder_is_the_users_own_unless_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert user_path() == tmp_path / "tuning.json"
    monkeypatch.delenv("CLMST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder().name == "clmst"
    assert cache_folder() != tmp_path
