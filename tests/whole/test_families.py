"""Self-tests can fail: a device with a kernel that is made wrong on purpose is refused.

In each kernel of the table one comparison, or one constant, is changed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from clmst import Device
from clmst.algorithms.registry import ALGORITHMS
from clmst.families import BY_NAME, FAMILIES
from clmst.runtime.kernel_family import Case, KernelFamily
from tests.helpers.caches import use_own_cache, with_compiled_programs
from tests.helpers.kernel_sources import changed
from tests.helpers.variants import (
    GPU_SHAPE,
    Variant,
    optimised_variants,
    variants,
)

FLOAT, WIDE = Case(32, "float", False, True), Case(64, "float", True, False)


class Mutation(NamedTuple):
    """A change of a kernel, and the family that must be refused for it.

    Every one of them ends: none lets vertices hook in a ring.
    """

    family: str
    file: str
    old: str
    new: str
    case: object = None


LESSER_KEY = ("device/reservation.cl", "(ulong)edge.key << 32", "(ulong)(edge.key >> 1) << 32")
FEWER_EDGES = (
    "algorithms/shared/contraction.cl",
    "indices[slot] > rows[slot]",
    "indices[slot] > 9 + rows[slot]",
)
MUTATIONS = [
    Mutation("filter-boruvka", "algorithms/filter_boruvka/cpu.cl", "edge.x != edge.y;",
             "edge.x < edge.y;"),
    Mutation("filter-boruvka", "algorithms/filter_boruvka/cpu_block.cl",
             "n_picked += (key < high_key)", "n_picked += (key > high_key)", WIDE),
    Mutation("filter-boruvka", "device/weight_key.cl", "bits = 0;  // -0.0", ";", FLOAT),
    Mutation("ecl", "device/reservation.cl", "c], edge.id)", "c], ~edge.id)", WIDE),
    Mutation("edge-parallel", *LESSER_KEY),
    Mutation("filter-boruvka", *LESSER_KEY),
    Mutation("boruvka", *FEWER_EDGES),
    Mutation("pma", *FEWER_EDGES),
    Mutation("prim", "algorithms/prim/tree.cl", "low_a < low_b :", "low_a > low_b :"),
    Mutation("prim-boruvka", "algorithms/prim/tree.cl", "return key_a < key_b", "return a < b"),
    Mutation("dense", "algorithms/dense/build.cl", "least = min(least", "least = max(least"),
    Mutation("dense-complete", "algorithms/dense/cells.cl", "LESS(measure, best->measure) || b",
             "LESS(best->measure, measure) || b"),
    Mutation("dense-complete", "algorithms/dense/core.cl", "|| key >= best.key",
             "|| key > best.key", case=BY_NAME["dense-complete"].cases[-1]),
    Mutation("dense-complete", "algorithms/dense/one_group.cl", "word = pass_words;", "word = 9;",
             case=BY_NAME["dense-complete"].cases[-1]),
    Mutation("dense-tiles", "algorithms/dense/filter.cl", "REAL(0x1.01p-23, 0x3e8",
             "REAL(-0x1.01p-2, 0xbfd"),
    Mutation("core-numbers", "algorithms/k_core/k_core.cl", "+= own > level;",
             "+= own > level + 1;"),
    Mutation("dendrogram", "algorithms/dendrogram/condense_steps.cl", "order[run->m - 1 - l",
             "order[l"),
    Mutation("dendrogram", "algorithms/dendrogram/serial.cl", "= min(one.node, other.node);",
             "= max(one.node, other.node);"),
    Mutation("csr-check", "algorithms/csr_validation/fingerprint.cl", "^ secret.weights", "* 0"),
    Mutation("canonical-csr", "algorithms/canonical_csr/canonical_csr.cl",
             "stays[j] = other < least;", "stays[j] = other <= least;"),
    Mutation("equal-weights", "algorithms/equal_weights/equal_weights.cl",
             "rank += entries[k] < entries[i]", "rank += entries[k] > entries[i]"),
    Mutation("small-matrix", "algorithms/small_matrix/rounds.cl", "wins = choice < best;",
             "wins = (choice > best) | (best == CHOICE_NONE);"),
    Mutation("small-matrix", "algorithms/small_matrix/rounds.cl", "wins = (key < lightest)",
             "wins = (key > lightest)", WIDE),
    Mutation("small-matrix", "algorithms/small_matrix/small_matrix.cl", "work.all.in_order = 0;",
             "work.all.in_order = 1;"),
    Mutation("serial-rounds", "algorithms/small_matrix/again.cl", "&& after > before",
             "&& after < before"),
    Mutation("serial-rounds", "algorithms/small_matrix/anew.cl", "== MARK_INSIDE;",
             "!= MARK_INSIDE;"),
    Mutation("serial-rounds", "algorithms/small_matrix/changes.cl", "if (other > key ||",
             "if (other < key ||"),
    Mutation("kept-forest", "algorithms/changes/state.cl", "return one < other;",
             "return one > other;"),
    Mutation("kept-rounds", "algorithms/changes/weights.cl", "is_inside && after > before)",
             "is_inside && after < before)"),
    Mutation("proof", "algorithms/proof/tree.cl", "0) : max(orders", "0) : min(orders"),
    Mutation("proof", "algorithms/proof/edges.cl", "greatest = max(", "greatest = min("),
    Mutation("proof-complete", "algorithms/proof/matrix.cl", "return key < other;",
             "return false;"),
    Mutation("edge-stream", "algorithms/edge_stream/edge_stream.cl", "> max(limits[a], limits[b])",
             "> min(limits[a], limits[b])"),
    Mutation("edge-passes", "algorithms/edge_stream/passes.cl", "return word <= before;",
             "return word > before;"),
    Mutation("repeated", "algorithms/reweighting/repeated.cl", "claims[edge] != base",
             "claims[edge] == base"),
    Mutation("series-contraction", "algorithms/reweighting/series.cl", "degrees[v] > 2;",
             "degrees[v] > 3;"),
    Mutation("warm-start", "algorithms/reweighting/sensitivity.cl", "floor, m) > slack)",
             "floor, m) > ~0u)"),
    Mutation("parts", "device/rows.cl", "slots[middle] < slot)", "slots[middle] + 1 < slot)"),
    Mutation("parts", "algorithms/parts/parts.cl", "before + low;", "low;"),
    Mutation("parts", "algorithms/parts/parts.cl", "before + low - first;", "low - first;"),
    Mutation("parts", "algorithms/parts/parts.cl", "numbered ? numbers[slot]", "numbered ? slot"),
    Mutation("bvh-boruvka", "algorithms/bvh_boruvka/walk.cl",
             "x_upper), real_subtract(x, upper)", "x_upper), real_subtract(x, lower)"),
    Mutation("bvh-boruvka", "algorithms/bvh_boruvka/leaf_lanes.cl", "(pairs < *edges)",
             "(pairs > *edges)",
             case=BY_NAME["bvh-boruvka"].cases[-1]),
    Mutation("scan", "primitives/scan_element.cl", "flags[i] != 0;", "flags[i] > 1;"),
    Mutation("segments", "primitives/segments.cl", "heads[i + 1] != 0;", "heads[i] != 0;"),
    Mutation("split", "primitives/split_serial.cl", "first); i < end;", "first); i + 1 < end;"),
    Mutation("compact", "primitives/compact_serial.cl", "flags[i] != 0;", "flags[i] == 0;"),
    Mutation("permute", "primitives/permute.cl", "indices[i], out", "indices[i] & ~1u, out"),
    Mutation("map", "primitives/map.cl", "T_AT(in, i), (uint)i,", "T_AT(in, i), (uint)i | 1,"),
]  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an empty cache."""
    use_own_cache(monkeypatch, tmp_path / "cache")
    return tmp_path


@pytest.fixture
def serial() -> Device:
    """Return a new device object of work-groups of one work-item: the kernels of the table."""
    shaped = (one.device for one in variants() if one.device.policy.work_group_size == 1)
    device = next(shaped, None)
    if device is None:
        pytest.skip("no device has work-groups of one work-item; the table is of their kernels")
    return Device(device.cl_device)


_SELF_TESTS = """
import sys
from clmst import Device
from clmst.families import FAMILIES
from clmst.runtime import discovery, program
from tests.helpers.capabilities import with_capabilities
from tests.helpers.programs import programs

asked, fitting = [], program.fitting

def noted(build, wanted):  # which is built of smaller work-groups where no larger ones fit
    asked.append(wanted)
    return fitting(build, wanted)

program.fitting = noted

def shape(one):
    # Of the primitives there are representatives only.
    names = frozenset(dict(one.defines))
    return one.source, names if one.source.startswith("primitives/") else one.defines

chosen = Device(discovery.get_device().cl_device, _optimised=False)
device = with_capabilities(chosen, host_arrays="copied")
for family in FAMILIES:
    if not family.suits(device):
        print(family.name, "is not used")
        continue
    if not device.trust.test(family, family.cases[0]).passed:
        print(family.name, "is refused")
known = {shape(one) for one in programs(device.capabilities, device.policy)}
built = {shape(one) for one in asked}
print("many" if len(built) > 40 else len(built), "built; unknown to the table:", built - known)
print("whole", device.trust.given)
"""


@pytest.mark.exhaustive
def test_self_tests_where_arrays_are_copied(any_device: Device, tmp_path: Path) -> None:
    """As on every GPU and accelerator; a null pointer in a kernel would end the process.

    No verdict is in the cache, so that all families are tested.
    """
    cache = with_compiled_programs(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", _SELF_TESTS],
        env={**os.environ, "CLMST_CACHE": str(cache), "CLMST_DEVICE": any_device.name},
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout.splitlines()
    assert said[-1:] == ["whole False"], f"the process ended by {done.returncode}: {said}"
    assert said[-2] == "many built; unknown to the table: set()"
    suited = any_device.policy.work_group_size == 1
    serial = ("small-matrix", "equal-weights", "kept-forest", "serial-rounds", "kept-rounds")
    unused = [f"{name} is not used" for name in serial]
    assert said[:-2] == unused or not suited, said


def _optimised() -> Iterator[object]:
    """Yield a variant and a family of kernels for each self-test of optimised kernels."""
    every, turns = optimised_variants(), count()
    for family in FAMILIES:
        is_algorithm = family.name in ALGORITHMS
        turn = next(turns) % len(every) if every and not is_algorithm else 0
        for k, variant in enumerate(every):
            always = k > 0 if is_algorithm else k == turn
            marks = [] if always else [pytest.mark.exhaustive]
            yield pytest.param(variant, family, id=f"{variant.name}-{family.name}", marks=marks)


@pytest.mark.parametrize(("variant", "family"), [*_optimised()])
def test_optimised_kernels_pass(variant: Variant, family: KernelFamily) -> None:
    """What an optimiser does to kernels would show nowhere else.

    In the standard run, beside the contract suite and the tests of primitives on the first driver,
    no test compiles with optimisation. It takes the algorithms on every other driver, and each
    other family on one driver; drivers take turns.
    """
    if family.suits(variant.device):
        assert family.failure(variant.device, family.cases[0]) is None


def test_every_family_has_a_mutation() -> None:
    assert {one.family for one in MUTATIONS} == {family.name for family in FAMILIES}


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda one: f"{one.family}-{one.file}")
def test_wrong_kernel_is_refused(cache: Path, serial: Device, mutation: Mutation) -> None:
    """Else the self-test of the family would pass whatever its kernels do."""
    tested = BY_NAME[mutation.family]
    device = serial if tested.suits(serial) else serial.with_policy(GPU_SHAPE)
    case = tested.cases[0] if mutation.case is None else mutation.case
    with changed(cache, (mutation.old, mutation.new), file=mutation.file):
        verdict = device.trust.test(tested, case)
        assert verdict.reason is not None
        assert "not for such a device" not in verdict.reason
        assert device.trust.store.find(mutation.family, verdict.case) == verdict
