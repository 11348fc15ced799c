"""Every access of every kernel, checked by an interpreter.

Oclgrind reports accesses outside a buffer, uses of memory that was never written, barriers that not
all work-items of a group reach, and data races. Of the first three there must be none; races only
where two functions are known to race, and say in ``cl/`` why that is benign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from clmst.runtime import source
from tests.helpers.oclgrind import simulate

FINDING = {
    "wi_find_racing",
    "wi_find_halving",
    "wi_find_halving_exchanging",
    "wi_find_compressing_exchanging",
    "wi_unite",
}
# The functions that race by design, in groups that touch the same memory.
BY_DESIGN = (
    FINDING,
    {
        "atomic_min_u32", "atomic_min_u64", "reservation_lower_u32", "reservation_first",
        "reservation_enter_later", "reservation_lower_tied", "held_is_lowered",
    },
    {"reservation_clear", "reservation_id", "reservation_reset"},
    {"lock_try", "lock_release"},
    {"wi_find_halving", "wi_unite_alone"},
    {"round_follow"},
    {"filter_boruvka_cpu_follow"},
    {"forest_mark"},
    {"filter_find_components", "link_of"},
    {"link_of", "link_supervertex", "round_load_contracted", "filter_find_ends"},
    {"worker_claim", "wi_is_free", "wi_leads_out"},
    {"atomic_min_u32", "atomic_min_u64", "reserve_words", "winner_word"},
    {"grid_dense_jump_pointers"},
    {"degree_is_above", "degree_lower"},
    {"sensitivity_raise_farthest"},
    {"atomic_min_u32", "atomic_min_u64", "least_is_lowered"},
    {"atomic_min_u32", "best_offer", "best_lower", "best_reset_behind"},
    {"is_lesser_of_pair", "edge_stream_passes_break_cycles"},
    {"edge_stream_passes_jump_pointers"},
    {"proof_tree_jump"},
    {"pairs_append", "pairs_overflow"},
    {"wi_dendrogram_jump"},
    {"grid_condense_clusters"},
    {"grid_condense_points"},
    {"bvh_boruvka_jump"},
    {"sensitivity_flag_violation"},
    {"flag_component"},
)  # fmt: skip

PLACE = re.compile(r"At line (\d+) \(column \d+\) of cl/(\S+):")


@cache
def functions_of(file: str) -> list[str]:
    """Return the function that each line of a kernel file lies in, empty where in none.

    Of a function that a macro makes, the line that uses the macro: by its name in lower case.
    """
    lines = (source.root() / file).read_text(encoding="utf-8").splitlines()
    functions, current = [], ""
    for line in lines:
        if match := re.match(r"(?:static inline|kernel) [\w *]*?(\w+)\(", line):
            current = match[1]
        made = re.match(r"([A-Z_]+)\(\w+\)$", line)
        functions.append(made[1].lower() if made else current)
        if line.startswith("}"):
            current = ""
    return functions


def racing_functions(race: str) -> set[str]:
    """Return the functions in which the two work-items of a race are, if both are in ``cl/``."""
    places = PLACE.findall(race)
    if len(places) != 2:
        return {"unknown"}
    return {functions_of(file)[int(line) - 1] for line, file in places}


def is_by_design(race: str) -> bool:
    return any(racing_functions(race) <= group for group in BY_DESIGN)


def _runs() -> Iterator[object]:
    """Yield a shape, what else the simulator is told, and whether it looks at unwritten memory.

    The standard run takes two brief ones: work-groups of many work-items, and those of one, in
    which unwritten memory is looked for, too.
    """
    for shape, finds_uninitialized in (("gpu-shape", False), ("cpu", True)):
        yield pytest.param(shape, ("brief",), finds_uninitialized, id=f"brief-{shape}")
    without: tuple[str, ...]
    for shape, without, finds_uninitialized in (
        ("gpu", (), False),  # differs from the next in its work-groups' size alone
        ("gpu-shape", (), True),
        # Without 64-bit atomics the shape `cpu` takes the same functions, in less time.
        ("gpu-shape", ("int64-atomics",), False),
        ("cpu", (), True),
        ("cpu", ("int64-atomics",), True),
    ):
        name = "-".join([shape, *(f"no-{one}" for one in without)])
        marks = pytest.mark.exhaustive
        yield pytest.param(shape, without, finds_uninitialized, id=name, marks=marks)


@pytest.mark.timeout(1600)
@pytest.mark.external
@pytest.mark.slow
@pytest.mark.parametrize(("shape", "without", "finds_uninitialized"), [*_runs()])
def test_no_access_is_wrong(
    tmp_path: Path, shape: str, without: tuple[str, ...], finds_uninitialized: bool
) -> None:
    outcome = simulate(
        tmp_path,
        "tests.helpers.simulated",
        shape,
        *without,
        finds_uninitialized=finds_uninitialized,
    )
    assert json.loads(outcome.printed) == []
    assert outcome.faults == []
    unexpected = [race for race in outcome.races if not is_by_design(race)]
    assert unexpected == []
    # A check that sees no race at all, where there are some, sees nothing.
    assert any(racing_functions(race) <= FINDING for race in outcome.races)


def test_faults_would_be_seen(tmp_path: Path) -> None:
    """The test above would pass for ever if Oclgrind were not asked, or not understood."""
    outcome = simulate(tmp_path, "tests.helpers.simulated", "faults")
    facts = "\n".join(report.splitlines()[0] for report in outcome.faults)
    for words in ("Invalid write of size 4", "Controlflow depends on uninitialized", "divergence"):
        assert words in facts
    assert outcome.races
    assert not any(is_by_design(race) for race in outcome.races)
