"""The table of drivers' faults: what it points to is there."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from clmst.runtime.quirks import QUIRKS, Quirk, builds_grid_barriers, fitting_work_items
from clmst.runtime.specialisation import Specialisation

ROOT = Path(__file__).parents[2]


def test_names_are_distinct() -> None:
    assert len({quirk.name for quirk in QUIRKS}) == len(QUIRKS)


@pytest.mark.parametrize("quirk", QUIRKS, ids=[quirk.name for quirk in QUIRKS])
def test_where_it_is_avoided_and_tested(quirk: Quirk) -> None:
    """The file says the quirk's name, and the test of that name exists."""
    if quirk.where:
        folder = "cl" if quirk.where.endswith(".cl") else "clmst"
        assert f"quirk: {quirk.name}" in (ROOT / folder / quirk.where).read_text(encoding="utf-8")
    path, _, name = quirk.test.partition("::")
    if path:
        assert f"def {name}" in (ROOT / path).read_text(encoding="utf-8")


def test_kernels_have_a_rule_for_each() -> None:
    """What a writer of kernels must know is in one file of theirs."""
    text = (ROOT / "cl/device/quirks.cl").read_text(encoding="utf-8")
    # Names, several of one rule after commas, and the rule behind two blanks.
    named = re.findall(r"quirk: ([a-z0-9, -]*?)(?:  |$)", text, re.MULTILINE)
    rules = {name for names in named for name in names.split(", ")}
    assert rules == {one.name for one in QUIRKS if not one.where.endswith(".py")}


@pytest.mark.parametrize("suffix", ["py", "cl"])
def test_no_file_names_another(suffix: str) -> None:
    names = {quirk.name for quirk in QUIRKS}
    for path in ((ROOT / "clmst"), (ROOT / "cl")):
        for file in path.rglob(f"*.{suffix}"):
            for part in file.read_text(encoding="utf-8").split("quirk: ")[1:]:
                assert part.split()[0].rstrip('.,);"') in names, file


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
