"""Which shape a device gets: the order of the tables, and what a bad one does."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clmst import Device, __version__
from clmst.runtime import policy, tuning
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


@pytest.mark.parametrize("name", ["NVIDIA H200", "NVIDIA H100 80GB HBM3", "Card 7"])
def test_nvidia_gpus_are_in_the_shipped_table(name: str) -> None:
    vendor = "NVIDIA Corporation"
    card = Identity(device=name, platform="NVIDIA CUDA", vendor=vendor, driver="580")
    found = quietly(card)
    assert found.source == "vendor"
    assert "H200" in found.measured
    assert found.policy.resident_groups_per_compute_unit == 4
    assert (found.policy.work_group_size, found.policy.edges_per_item) == (256, 1)


@pytest.mark.parametrize("entry", SHIPPED, ids=[entry.title for entry in SHIPPED])
def test_shipped_entry_is_sound(entry: Entry) -> None:
    """It is for something, has legal values, and says on what and when they were measured."""
    assert entry.device or (entry.vendor and entry.kind)
    for name, value in entry.values.items():
        assert PARAMETERS[name].allows(value), name
    assert entry.figures.keys() <= entry.values.keys()
    for name, figures in entry.figures.items():
        assert str(entry.values[name]) not in figures
    assert re.search(r"driver \S+.*, 20\d\d-\d\d-\d\d: ", entry.measured)


@pytest.mark.parametrize(
    ("platform", "vendor"),
    [
        ("Intel(R) OpenCL", "Intel(R) Corporation"),
        ("Portable Computing Language", "The pocl project"),
    ],
)
def test_cpu_runtimes_are_in_the_shipped_table(platform: str, vendor: str) -> None:
    """Whatever the CPU is called; a GPU of the same vendor has nothing from there."""
    one = Identity(device="Some CPU", platform=platform, vendor=vendor, driver="1")
    found = look_up(one, CAPABILITIES["cpu"])
    assert (found.source, found.title) == ("vendor", f"{vendor}, cpu")
    assert found.policy.work_group_size == 1
    assert look_up(one, GPU).source == "default"


def test_own_table_wins() -> None:
    save({**ENTRY, "device": "Card 8", "values": {"hub_row": 48}}, ENTRY)
    found = quietly()
    assert (found.source, found.policy.hub_row) == ("user", 96)
    assert found.policy.radix_bits == policy.choose(GPU).radix_bits


@pytest.mark.parametrize("name", ["device", "platform", "driver"])
def test_own_table_is_for_that_device_and_driver_only(name: str) -> None:
    save({**ENTRY, name: "another"})
    found = quietly()
    assert (found.source, found.policy) == ("default", policy.choose(GPU))
    assert found.note == ("your own is of driver another" if name == "driver" else "")


def test_entry_of_this_driver_hides_that_of_another() -> None:
    save(ENTRY, {**ENTRY, "driver": "0.9", "values": {"hub_row": 48}})
    assert (quietly().policy.hub_row, quietly().note) == (96, "")


def test_device_looks_when_it_is_first_asked(any_device: Device) -> None:
    """What is in the table then counts, and a device that was given a shape keeps it."""
    device = Device(any_device.cl_device)
    identity = Identity.of(any_device.cl_device)
    save(
        {
            "device": identity.device,
            "platform": identity.platform,
            "driver": identity.driver,
            "clmst": __version__,
            "values": {"radix_bits": 3},
        }
    )
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


def test_unknown_and_illegal_fields_are_ignored_one_by_one() -> None:
    values = {"hub_row": 96, "warp_factor": 9, "radix_bits": 12, "bytes_per_item": "64"}
    save({**ENTRY, "values": values})
    found = assert_warns_once(
        f"clmst {__version__}",
        "warp_factor, which this version does not know",
        "radix_bits to 12; it must be an integer from 1 to 8",
        "bytes_per_item to '64'",
    )
    assert (found.source, found.policy.hub_row) == ("user", 96)
    assert found.policy.radix_bits == policy.choose(GPU).radix_bits


@pytest.mark.parametrize("version", ["9.9", "0.0.9", None])
def test_entries_of_other_versions_are_ignored(version: str | None) -> None:
    """Their kernels were others, so what was quickest says nothing of these."""
    written = version or "an unknown version"
    entry = {name: value for name, value in ENTRY.items() if name != "clmst"}
    save(entry | ({"clmst": version} if version else {}))
    found = assert_warns_once("Card 7", f"are of clmst {written}", f"this is {__version__}")
    assert (found.source, found.policy) == ("default", policy.choose(GPU))


def test_entry_of_nothing_usable_is_not_used() -> None:
    save({**ENTRY, "values": {"warp_factor": 9}})
    assert assert_warns_once("warp_factor").source == "default"


def test_values_that_do_not_go_together() -> None:
    save({**ENTRY, "values": {"work_group_size": 512, "stage_capacity": 256}})
    found = assert_warns_once("Card 7", "stage_capacity is at least work_group_size")
    assert (found.source, found.policy) == ("default", policy.choose(GPU))


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
    ],
)
def test_broken_table_is_ignored_whole(content: bytes, fact: str) -> None:
    user_path().write_bytes(content)
    assert assert_warns_once(fact).source == "default"


def test_folder_in_place_of_the_table() -> None:
    user_path().mkdir()
    assert assert_warns_once("cannot be read").source == "default"
