"""The table of other implementations: what a row says, and where it goes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.implementations import report
from tests.implementations.catalogue import IMPLEMENTATIONS, ROOT
from tests.implementations.report import Outcome

SOUND = Outcome(
    title="PoCL", date="2026-11-26", device="Portable Computing Language 6.0", passed=30,
    refused={"pma": "5 of 9 edges came out wrong"}, share="whole, 10 min", over_scipy=0.5,
    answers={"path": "right, by ecl on PoCL", "star": "right, by kruskal on host"},
    contract={"passed": 9, "failed": 0}, proof={"right": 1200, "refused": 3},
)  # fmt: skip


def outcome(**changed: object) -> Outcome:
    return Outcome(**{**{name: getattr(SOUND, name) for name in Outcome.__slots__}, **changed})


def test_row_and_notes() -> None:
    assert SOUND.row() == [
        "PoCL", "Portable Computing Language 6.0", "30 of 31", "2 of 2 right, some by the host",
        "0.50", "9 passed", "1,200 right, 3 refused", "whole, 10 min",
    ]  # fmt: skip
    assert report.notes([SOUND]) == "* PoCL: pma: 5 of 9 edges came out wrong"
    unusable = outcome(unusable="cannot build a kernel")
    assert unusable.row()[2] == "none, refused"
    assert report.notes([unusable]) == "* PoCL: cannot build a kernel"
    lines = report.table([SOUND, SOUND]).splitlines()
    assert len(lines) == 4
    assert len({line.count("|") for line in lines}) == 1


@pytest.mark.parametrize(
    "changed",
    [
        {"answers": {"path": "wrong, by ecl on PoCL"}},
        {"proof": {"wrong": 1}},
        {"ended": ["first use"]},
    ],
)
def test_what_is_not_sound(changed: dict[str, object]) -> None:
    assert SOUND.is_sound
    assert not outcome(**changed).is_sound
    assert outcome(ended=["contract suite"]).is_sound


def test_outcome_is_kept(tmp_path: Path) -> None:
    SOUND.save(tmp_path / "pocl.json")
    assert Outcome.load(tmp_path / "pocl.json") == SOUND


def test_table_goes_between_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{report.BEGIN}\nold\n{report.END}\n\nafter\n")
    for _ in range(2):
        report.write_page("new", page)
        assert page.read_text() == f"before\n\n{report.BEGIN}\n\nnew\n\n{report.END}\n\nafter\n"
    page.write_text("before\n")
    with pytest.raises(ValueError, match="the table goes between"):
        report.write_page("new", page)


def test_page_has_all_implementations() -> None:
    """As they were measured."""
    text = report.PAGE.read_text(encoding="utf-8")
    table = text.partition(report.BEGIN)[2].partition(report.END)[0]
    titles = [line.split("|")[1].strip() for line in table.strip().splitlines()[2:]]
    assert titles == [one.title for one in IMPLEMENTATIONS]


def test_a_process_sees_one_implementation_alone() -> None:
    """And keeps nothing where the user's own is."""
    for one in IMPLEMENTATIONS:
        seen = one.environment()
        assert seen["OCL_ICD_VENDORS"] != ""
        kept = [seen[name] for name in ("CLMST_CACHE", "XDG_CACHE_HOME", "POCL_CACHE_DIR")]
        assert all(Path(path).is_relative_to(one.folder) for path in kept)
        command = one.command("-c", "pass", MORE="1")
        if one.packages:
            assert command == [sys.executable, "-c", "pass"]
        else:
            assert command[0] == "unshare"
            assert {"MORE=1", f"PYTHONPATH={seen['PYTHONPATH']}"} <= set(command)
            assert str(ROOT) in command
