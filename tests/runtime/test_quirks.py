"""Drivers' faults: what their entries point to is there."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from clmst.runtime.quirks import builds_grid_barriers, fitting_work_items
from clmst.runtime.specialisation import Specialisation

ROOT = Path(__file__).parents[2]


# An entry: its name, where it was seen in brackets, and the rest up to the next entry.
ENTRY = re.compile(
    r"^(?:// )?([a-z0-9-]+) \(.*?(?=\n(?:// )?[^ /]|\n(?://)?\n)", re.DOTALL | re.MULTILINE
)
ENTRIES = [
    (found[1], found[0])
    for name in ("clmst/runtime/quirks.py", "cl/device/quirks.cl")
    for found in ENTRY.finditer((ROOT / name).read_text(encoding="utf-8"))
]
QUIRKS = dict(ENTRIES)


def test_each_stands_once() -> None:
    assert len(QUIRKS) == len(ENTRIES) >= 28


@pytest.mark.parametrize("name", QUIRKS)
def test_where_it_is_avoided_and_tested(name: str) -> None:
    """Each file that a quirk names mentions the quirk, and the named tests exist."""
    for path, _, test in re.findall(r"\b([a-z_/]+[.](?:py|cl))(::(\w+))?", QUIRKS[name]):
        text = (ROOT / path).read_text(encoding="utf-8")
        assert f"def {test}" in text if path.startswith("tests/") else f"quirk: {name}" in text


@pytest.mark.parametrize("suffix", ["py", "cl"])
def test_no_file_names_another(suffix: str) -> None:
    for path in ((ROOT / "clmst"), (ROOT / "cl")):
        for file in path.rglob(f"*.{suffix}"):
            for part in file.read_text(encoding="utf-8").split("quirk: ")[1:]:
                assert part.split()[0].rstrip('.,);"') in QUIRKS, file


@pytest.mark.parametrize(
    ("platform", "builds"), [("Portable Computing Language", False), ("NVIDIA CUDA", True)]
)
def test_grid_barriers(platform: str, builds: bool) -> None:
    """A build of such a kernel by PoCL would end the process."""
    assert builds_grid_barriers(SimpleNamespace(platform=SimpleNamespace(name=platform))) is builds


@pytest.mark.parametrize(("registers", "fitting"), [(40, 1024), (64, 1024), (80, 819)])
def test_work_items_by_registers(registers: int, fitting: int) -> None:
    device = SimpleNamespace(registers_per_block_nv=65536, max_work_group_size=1024)
    assert fitting_work_items(device, registers) == fitting


@pytest.mark.parametrize(
    ("macros", "built"),
    [
        ({"WG_SIZE": 512, "LANES_IMPL": 2}, {"WG_SIZE": 256, "DECLARED_WORK_GROUP": 1}),
        ({"WG_SIZE": 256, "LANES_IMPL": 2}, {}),
        ({"WG_SIZE": 512, "LANES_IMPL": 1}, {}),
        ({"WG_SIZE": 512, "LANES_IMPL": 2, "MAX_REGISTERS": 64}, {}),
    ],
)
def test_no_larger_work_group_is_tried_where_the_answer_is_known(
    macros: dict[str, int], built: dict[str, int]
) -> None:
    """Each try is a build of half a second."""
    wanted = Specialisation.of("primitives/split.cl", macros)
    assert wanted.within_said_limit() == Specialisation.of(wanted.source, macros | built)
