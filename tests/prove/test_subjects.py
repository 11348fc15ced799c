"""Subjects other than solves: every kind is drawn, right kernels pass, and a wrong one is found."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from clmst import Device, Graph, kruskal, primitives
from tests.helpers.caches import use_own_cache
from tests.helpers.cores import core_numbers
from tests.helpers.kernel_sources import changed
from tests.helpers.strategies import EXHAUSTIVE
from tests.helpers.variants import unoptimised
from tests.prove import __main__ as command
from tests.prove import cases, failures
from tests.prove.cases import REST, SUBJECTS, Case, DeviceVariants, Plan
from tests.prove.draws import Draws
from tests.prove.plain import labels_at, merges
from tests.prove.primitives import bench as benches
from tests.prove.primitives.case import PER_KIND, PrimitiveCase, kinds
from tests.prove.primitives.kinds import SIZES
from tests.prove.primitives.operators import NAMES, operator, reduced, scanned
from tests.prove.state import Tally
from tests.whole.test_families import MUTATIONS

SEED, BLOCK = 5, 32


@pytest.fixture
def variants(any_device: Device) -> DeviceVariants:
    """Return variants that need no self-tests and are built quickly, with no program yet."""
    found = DeviceVariants(None)
    found.device = unoptimised(any_device).twin()
    return found


def one_of(subject: str, primitive: str = "", variant: str = "native") -> list[int]:
    """Return the numbers of some cases of a subject that take the same programs."""
    plan, number = Plan(seed=SEED, block=BLOCK, subject=subject), 0
    while not _suits(plan.case(number), primitive, variant):
        number += PER_KIND if subject == "primitives" else BLOCK
    return [*range(number, number + PER_KIND)]


def _suits(case: Case | PrimitiveCase, primitive: str, variant: str) -> bool:
    usual = (f"{primitive}: parallel", f"{primitive}: auto")
    named = case.named in usual if primitive else True
    return named and case.variant == variant


# ------------------------------------------------------------------------------- cases


@pytest.mark.parametrize("subject", SUBJECTS)
def test_case_is_a_function_of_its_number(subject: str, tmp_path: Path) -> None:
    """Else a case could not be run alone, whatever ran before it; nor from its file."""
    plan, numbers = Plan(seed=SEED, block=BLOCK, subject=subject), (0, BLOCK - 1, BLOCK, 4711)
    first = [plan.case(number) for number in numbers]
    for number, case in reversed(list(zip(numbers, first, strict=True))):
        cases.sample_of.cache_clear()
        cases.points_of.cache_clear()
        again = plan.case(number)
        texts = []
        for k, one in enumerate((case, again)):
            failures.write(tmp_path / f"{k}.json", one, device=None, verdict="wrong")
            texts.append((tmp_path / f"{k}.json").read_text())
        assert (str(again), texts[0]) == (str(case), texts[1])
        assert again is not case
        assert case.subject == subject or (subject == "rest" and case.subject in REST)


def test_the_rest_takes_turns() -> None:
    plan = Plan(seed=SEED, block=8, subject="rest")
    found = [plan.case(8 * block).subject for block in range(2 * len(REST))]
    assert found == [*REST, *REST]


def test_every_kind_has_its_turn() -> None:
    """In 120,000 cases: all sizes of records and values, each with all for compact."""
    plan, n_kinds = Plan(seed=SEED, block=512, subject="primitives"), len(kinds())
    assert n_kinds == len(set(kinds()))
    assert n_kinds * PER_KIND <= 120_000
    drawn = [plan.case(number) for number in range(0, n_kinds * PER_KIND, PER_KIND)]
    assert {one.kind for one in drawn if isinstance(one, PrimitiveCase)} == set(kinds())
    assert {one.kind.primitive.split()[0] for one in drawn if isinstance(one, PrimitiveCase)} == {
        name for name in primitives.__all__ if name[0].islower() and name != "pair_of"
    }
    pairs = {(one.dtype, one.value) for one in kinds() if one.primitive == "compact"}
    assert {(f"V{a}", f"V{b}" if b else "") for a, b in product(SIZES, (0, *SIZES))} <= pairs
    for name in ("partition", "unique_by_key", "split"):
        found = [one for one in kinds() if one.primitive == name]
        assert {f"V{size}" for size in SIZES} <= {one.dtype for one in found}
        assert {f"V{size}" for size in SIZES} <= {one.value for one in found}


def test_lengths_are_around_tiles() -> None:
    plan = Plan(seed=SEED, block=512, subject="primitives")
    drawn = (plan.case(number) for number in range(20_000))
    lengths = {one.length for one in drawn if isinstance(one, PrimitiveCase)}
    for tile in (16, 64, 256, 512, 1024, 2048, 3072, 4096):
        assert {tile - 1, tile, tile + 1} <= lengths
    assert {0, 1, 2} <= lengths
    assert max(lengths) > 1 << 16


# ----------------------------------------------------------------- what they are held to


@pytest.mark.parametrize("name", NAMES)
def test_operators_are_associative_on_what_is_drawn(name: str, any_device: Device) -> None:
    """Else a right device could be found wrong."""
    one, bench = operator(name), benches.Bench(any_device, Draws(3), 60)
    a, b, c = (one.values_of(bench.records(one.dtype)) for _ in range(3))
    left = one.combine(one.combine(a, b), c)
    assert left.tobytes() == one.combine(a, one.combine(b, c)).tobytes()
    same = np.repeat(one.identity, a.size)
    assert one.combine(same, a).tobytes() == a.tobytes() == one.combine(a, same).tobytes()
    heads = np.arange(a.size) % 11 == 3
    for flags in (None, heads):
        run, before, until = one.identity, [], []
        for k, value in enumerate(a.reshape(-1, 1)):
            run = one.identity if flags is not None and flags[k] else run
            before.append(run)
            run = one.combine(run, value)
            until.append(run)
        exclusive, inclusive = (scanned(one, a, flags, exclusive=x) for x in (True, False))
        # NumPy's concatenate would leave out the bytes between fields.
        assert exclusive.tobytes() == b"".join(part.tobytes() for part in before)
        assert inclusive.tobytes() == b"".join(part.tobytes() for part in until)
    assert reduced(one, a).tobytes() == scanned(one, a, None, exclusive=False)[-1:].tobytes()
    assert reduced(one, a[:0]).tobytes() == one.identity.tobytes()


def test_plain_answers() -> None:
    """Two triangles that share a vertex, a tail, a loop and a vertex alone."""
    u, v = np.array([[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [2, 4], [4, 5], [5, 5]]).T
    drawn = replace(Plan(seed=1, block=8).case(0).sample, n=7, u=u, v=v, w=np.arange(8.0))
    assert core_numbers(7, u, v).tolist() == [2, 2, 2, 2, 2, 1, 0]
    forest = kruskal(Graph.from_edges(u, v, drawn.w, n_vertices=7))
    assert labels_at(forest, forest.weights <= 3).tolist() == [0, 0, 0, 0, 1, 2, 3]
    rows = merges(forest).linkage().tolist()
    assert rows[:2] == [[0, 1, 0, 2], [2, 7, 1, 3]]
    assert rows[-1] == [6, 11, np.inf, 7]


def test_what_is_written_beside_an_output_is_reported(any_device: Device) -> None:
    bench = benches.Bench(any_device, Draws(8), 100)
    while (target := bench.target(np.uint32, 100)).begin == 0 or target.array.size == 100:
        pass
    right = np.arange(100, dtype=np.uint32)
    own = target.before.copy()
    place = slice(target.begin, target.begin + 400)
    own[place] = benches.bytes_of(right)
    target.whole.write(own)
    assert target.wrong("out", right) is None
    for byte in (0, target.begin - 1, target.begin + 400, own.size - 1):
        other = own.copy()
        other[byte] ^= 1
        target.whole.write(other)
        assert "must not be" in str(target.wrong("out", right))
    own[target.begin + 4] ^= 1
    target.whole.write(own)
    assert str(target.wrong("out", right)).startswith("out[1] of 100 has bytes 00000000")


# ---------------------------------------------------------------------- right, and wrong


@pytest.mark.parametrize(
    ("subject", "primitive", "variant"),
    [
        *((subject, "", "native") for subject in REST),
        ("primitives", "compact", "native"),
        ("primitives", "unique_by_key", "gpu-shape"),
        ("primitives", "sort_by_key", "no-lanes"),
        ("primitives", "inclusive_scan", "native"),
        ("primitives", "histogram", "native"),
    ],
)
def test_a_slice_is_right(
    subject: str, primitive: str, variant: str, variants: DeviceVariants
) -> None:
    """The standard run takes a third of the cases that share programs."""
    plan, tally = Plan(seed=SEED, block=BLOCK, subject=subject), Tally()
    numbers = one_of(subject, primitive, variant)[:: 1 if EXHAUSTIVE else 3]
    for number in numbers:
        case = plan.case(number)
        outcome = cases.run(case, variants)
        assert (str(case), plan.doubts(number, case), outcome.detail) == (str(case), None, "")
        tally.note(case, outcome, oracle_checked=False)
    assert tally.table("subject") == {f"{subject}: right": len(numbers)}
    compared = "results" if subject == "primitives" else "forests"
    assert tally[f"total/{compared} compared"] >= len(numbers)


# Each subject, or primitive, and the family whose mutation it must find.
WRONG = {
    "compact": "compact", "split": "split", "gather": "permute", "segmented_scan": "scan",
    "map": "map", "repeated": "repeated", "streams": "edge-passes", "proofs": "proof",
    "cores": "core-numbers", "dendrograms": "dendrogram", "points": "bvh-boruvka",
}  # fmt: skip


@pytest.fixture
def mutated(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let a kernel of a family be wrong."""
    use_own_cache(monkeypatch, tmp_path / "cache")
    last = [one for one in MUTATIONS if one.family == family][-1]
    with changed(tmp_path, (last.old, last.new), file=last.file):
        yield


@pytest.mark.usefixtures("mutated")
@pytest.mark.parametrize(("name", "family"), WRONG.items())
def test_wrong_kernel_is_found_and_shrunk(
    name: str, family: str, tmp_path: Path, variants: DeviceVariants
) -> None:
    """Else the subject would be right whatever its kernels do."""
    if variants.device.policy.work_group_size > 1:
        pytest.skip("the table is of kernels of single work-items")
    subject, primitive = (name, "") if name in REST else ("primitives", name)
    plan = Plan(seed=SEED, block=BLOCK, subject=subject)
    outcomes = {
        number: cases.run(plan.case(number), variants) for number in one_of(subject, primitive)
    }
    failed = [number for number, one in outcomes.items() if one.verdict in ("wrong", "error")]
    assert failed
    case, verdict = plan.case(failed[0]), outcomes[failed[0]].verdict
    path = tmp_path / "case.json"
    failures.write(path, case, device=None, verdict=verdict)
    read, record = failures.read(path)
    assert (str(read), read.key, record["verdict"]) == (str(case), case.key, verdict)
    assert cases.run(read, variants).verdict == verdict
    least = failures.shrink(
        read,
        lambda one: cases.run(one, variants).verdict == verdict,
        time.monotonic() + (2 if EXHAUSTIVE else 0.2),
        lambda _: None,
    )
    assert max(least.sizes.values()) <= max(case.sizes.values())
    assert cases.run(least, variants).verdict == verdict


# ------------------------------------------------------------------------------- command


@pytest.mark.exhaustive
@pytest.mark.slow
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Counts by subject; a file of one subject does not go on as another's."""
    path = tmp_path / "run.json"
    given = ["--json", str(path), "--block", "1", "--cases"]
    assert command.main(["--subject", "rest", *given, str(len(REST))]) == 0
    printed = capsys.readouterr().out
    for subject in REST:
        assert f"  {subject}: " in printed
    assert json.loads(path.read_text())["subject"] == "rest"
    assert command.main(["--subject", "cores", *given, "30"]) == 2
    assert "is a run of rest" in capsys.readouterr().out
    assert command.main(["--report", str(path)]) == 0
    assert "| rest |" in capsys.readouterr().out
