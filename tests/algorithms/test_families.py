"""What fails a self-test is not used: "auto" takes the next, names raise, devices are passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import clmst
from clmst import Device, Graph, RepeatedSolver, UnsupportedDeviceError
from clmst.algorithms.csr_validation import check as csr_validation
from clmst.algorithms.families import COMPLETE_PROOF, EDGE_PASSES, EDGE_STREAM, PARTS, PROOF
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.solving import in_order
from clmst.primitives import families as of_primitives
from clmst.runtime.device_graph import DeviceGraph
from clmst.runtime.kernel_family import Case, KernelFamily
from tests.algorithms.test_choosing import ring
from tests.helpers.bounds import bounds
from tests.helpers.caches import resolving_anew, use_own_cache
from tests.helpers.forests import assert_same_forest
from tests.helpers.random_options import solve_by_random_options, verdict_files
from tests.helpers.records import registered
from tests.helpers.variants import GPU_SHAPE
from tests.helpers.wrong_families import WrongFamilies as Wrong

pytestmark = pytest.mark.usefixtures("in_steps")


WEIGHTS: tuple[Any, ...] = ((), (64, "float", True), (16, "signed"), (16, "float"))
PASSED = [
    *((family, case) for family in (PROOF, COMPLETE_PROOF) for case in family.cases[:2]),
    *((PARTS, Case(bits, None)) for bits in (32, 64)),
    *((family, Case(*one)) for family in (EDGE_STREAM, EDGE_PASSES) for one in WEIGHTS),
]


@pytest.mark.parametrize(("family", "case"), PASSED, ids=lambda one: getattr(one, "name", str(one)))
def test_the_default_device_passes(any_device: Device, family: KernelFamily, case: Any) -> None:
    """Families that no other test asks for cases of other weights."""
    assert family.failure(any_device, case) is None


@pytest.fixture
def fresh(any_device: Device) -> Device:
    return Device(any_device.cl_device)


def order(device: Device, graph: Graph) -> list[str]:
    return list(in_order(device, DeviceGraph.upload(graph, device)))


def test_auto_takes_the_next_that_passes(wrong: Wrong, fresh: Device) -> None:
    names = order(fresh, ring())
    assert set(names) == ALGORITHMS.keys() - {"dense"}
    for k in range(3):
        device = Device(fresh.cl_device).forcing_off(*["lanes"] * k)  # one that has passed nothing
        wrong.names = set(names[:k])
        forest = clmst.minimum_spanning_forest(ring(), device=device)
        assert forest.stats["algorithm"] == names[k]
        assert_same_forest(forest, clmst.kruskal(ring()))
    assert wrong.tested == [*names[:1], *names[:2], *names[:3]]


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_name_raises_with_the_reason(wrong: Wrong, fresh: Device, name: str) -> None:
    wrong.names = {name}
    with pytest.raises(
        UnsupportedDeviceError, match=f"not trusted with {name}: 3 edges came out wrong; 'clmst de"
    ):
        clmst.minimum_spanning_forest(ring(), algorithm=name, device=fresh)
    assert wrong.tested == [name]


def test_options_are_tested_by_themselves(wrong: Wrong, fresh: Device) -> None:
    """They may choose other kernels; the usual ones, written out, do not."""
    for options in (
        None,
        clmst.EclOptions(),
        clmst.EclOptions(),
        clmst.EclOptions(atomic_guards=False),
    ):
        clmst.minimum_spanning_forest(ring(), algorithm="ecl", device=fresh, options=options)
    assert wrong.tested == ["ecl", "ecl"]


NUMBERS = [
    *(clmst.FilterBoruvkaOptions(seed=seed) for seed in (1, 7, 2**32 - 1)),
    *(clmst.EclOptions(seed=k, filter_factor=2 + k / 9, samples=k + 1) for k in range(3)),
    *(clmst.PmaOptions(gamma=gamma) for gamma in (2, 9, 2**40)),
    *(clmst.PrimBoruvkaOptions(rounds=rounds) for rounds in (0, 3, 2**40)),
]


def test_numbers_in_options_cost_nothing(wrong: Wrong, fresh: Device) -> None:
    """They reach kernels as arguments; what is tested for the usual options is tested for them."""
    for options in NUMBERS:
        for device in (fresh, Device(fresh.cl_device)):
            clmst.minimum_spanning_forest(ring(), device=device, options=options)
    for k in range(1, 4):
        options = clmst.FilterBoruvkaOptions(seed=k, targets=(0.5 * k,))
        clmst.minimum_spanning_forest(ring(), device=fresh, options=options)
    assert sorted(wrong.tested) == [
        "ecl",
        "filter-boruvka",
        "filter-boruvka",
        "pma",
        "prim-boruvka",
    ]


def test_random_options(
    any_device: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A device passes a self-test for each program; see ``tests/helpers/random_options.py``."""
    use_own_cache(monkeypatch, tmp_path)
    device = Device(any_device.cl_device, _optimised=False)
    price = solve_by_random_options(device, 25, dtypes=(np.dtype(np.uint32),))
    assert (price.wrong, price.for_numbers) == (0, 0)
    assert {name.partition("[")[0] for name in price.untested} <= {"trial"}
    assert sum(price.solved.values()) > 30
    assert len(verdict_files()) <= 1 + len(price.tested)


def test_variants_are_tested_by_themselves(wrong: Wrong, fresh: Device) -> None:
    """Where graphs are solved by different kernels, each set has a case; options have their own."""
    name, one_window = "filter-boruvka", clmst.FilterBoruvkaOptions(targets=())

    def variant_of(graph: DeviceGraph) -> tuple[str, object] | None:
        return ("even", one_window) if graph.n_vertices % 2 == 0 else None

    with registered(name, variant_of=variant_of):
        for n, options, count in (
            (30, None, 1),
            (40, None, 1),
            (31, None, 2),
            (30, clmst.FilterBoruvkaOptions(), 2),
            (30, one_window, 3),
            (31, one_window, 3),
        ):
            clmst.minimum_spanning_forest(ring(n), algorithm=name, device=fresh, options=options)
            assert wrong.tested == [name] * count


def test_a_variant_is_tested_by_its_options(
    fresh: Device, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    use_own_cache(monkeypatch, tmp_path)
    name, one_window = "filter-boruvka", clmst.FilterBoruvkaOptions(targets=())
    given = []

    def noting(solve: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any, options: object, **named: Any) -> Any:
            given.append(options)
            return solve(*arguments, options=options, **named)

        return noted

    with registered(name, wrap=noting, variant_of=lambda _: ("one window", one_window)):
        forest = clmst.minimum_spanning_forest(ring(), algorithm=name, device=fresh)
    assert_same_forest(forest, clmst.kruskal(ring()))
    assert given == [one_window] * 3 + [None]  # three known graphs, then the ring
    (case,) = [one.case for one in fresh.trust.verdicts() if one.family == name]
    assert str(case).endswith(", each edge once, one window")


def test_nothing_is_paid_twice(wrong: Wrong, fresh: Device) -> None:
    for _ in range(2):
        clmst.minimum_spanning_forest(ring(), device=fresh)
        clmst.minimum_spanning_forest(ring(), device=Device(fresh.cl_device))
    assert len(wrong.tested) == 1


def test_device_that_nothing_passes_on_is_passed_over(
    wrong: Wrong, fresh: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The default goes on to the next; who names the device, or has a graph there, is told."""
    wrong.names = set(ALGORITHMS)
    other = Device(fresh.cl_device, without=("lanes",), _trusted=True)
    monkeypatch.delenv("CLMST_DEVICE", raising=False)
    with resolving_anew(fresh, other):
        assert clmst.get_device() is fresh
        forest = clmst.minimum_spanning_forest(ring())
        assert_same_forest(forest, clmst.kruskal(ring()))
        assert clmst.get_device() is other
        with pytest.raises(UnsupportedDeviceError, match="no algorithm passed its self-test"):
            clmst.minimum_spanning_forest(ring(), device=fresh)
        with pytest.raises(UnsupportedDeviceError, match="no algorithm passed its self-test"):
            clmst.minimum_spanning_forest(clmst.to_device(ring(), fresh))
        listed = clmst.devices()
        assert [entry.usable for entry in listed] == [False, True]
        assert "no algorithm passed" in str(listed[0].reason)
    with resolving_anew(fresh):
        with pytest.warns(clmst.DeviceWarning, match=r"no algorithm passed.*the host does it"):
            forest = clmst.minimum_spanning_forest(ring())
        assert_same_forest(forest, clmst.kruskal(ring()))
        assert forest.stats["device"] == "host"
        kind = fresh.capabilities.kind
        with pytest.raises(UnsupportedDeviceError, match=r"no usable .*no algorithm passed"):
            clmst.minimum_spanning_forest(ring(), algorithm="auto", device=kind)


VALUES = np.arange(5, dtype=np.uint32)
MATRIX = np.array([[0, 2, 3], [2, 0, 4], [3, 4, 0]])
CALLS: list[tuple[str, Callable[[Device], object]]] = [
    ("dense-complete", lambda device: clmst.minimum_spanning_forest(MATRIX, device=device)),
    ("core-numbers", lambda device: clmst.core_numbers(ring(), device=device)),
    ("scan", lambda device: clmst.primitives.exclusive_scan(on(device))),
    ("scan", lambda device: clmst.primitives.reduce(values=on(device))),
    ("repeated", lambda device: in_steps(device).solve(np.arange(30))),
]


def in_steps(device: Device) -> RepeatedSolver:
    """Return a solver whose rounds go by steps, as one launch would need another family."""
    return RepeatedSolver(ring(), devices=device, algorithm="filter-boruvka")


def on(device: Device) -> clmst.DeviceArray:
    return clmst.DeviceArray.from_host(VALUES, device)


@pytest.mark.parametrize(("family", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_calls_name_the_family(
    wrong: Wrong, fresh: Device, family: str, call: Callable[[Device], object]
) -> None:
    """A family that fails takes nothing else with it."""
    wrong.names = {family}
    for _ in range(2):
        with pytest.raises(UnsupportedDeviceError, match=f"not trusted with {family}"):
            call(fresh)
    assert wrong.tested.count(family) == 1
    assert clmst.primitives.sort(on(fresh)).to_host().tolist() == VALUES.tolist()


@bounds(checked_from=1)
def test_host_checks_a_matrix_where_the_device_may_not(wrong: Wrong, fresh: Device) -> None:
    matrix = sparse.csr_array(np.triu(np.arange(1, 101).reshape(10, 10), 1))
    assert csr_validation.put_matrix(matrix, fresh) is not None
    wrong.names = {"csr-check"}
    careful = fresh.forcing_off("lanes")
    assert csr_validation.put_matrix(matrix, careful) is None
    assert clmst.to_device(matrix, careful).n_slots == matrix.nnz


def test_every_primitive_has_a_gate() -> None:
    """A new one would answer on devices that have not passed its self-test."""
    classes = {"Map", "Monoid", "Predicate", "pair_of"}  # which answer nothing
    assert set(clmst.primitives.__all__) - classes == set(of_primitives.FAMILY_OF)


@bounds(warm_from=1)
@pytest.mark.parametrize("refused", [False, True])
def test_warm_starts(wrong: Wrong, fresh: Device, refused: bool) -> None:
    """A solver does without those that failed."""
    wrong.names = {"warm-start"} if refused else set()
    graph = clmst.generate("grid", rows=300, columns=300)
    rng = np.random.default_rng(2)
    around = rng.integers(10**8, 10**9, graph.n_input)
    reported: list[Any] = []
    with RepeatedSolver(graph, devices=fresh) as solver:
        for _ in range(4):
            weights = (around + rng.integers(0, 10**5, around.size)).astype(np.uint32)
            forest = solver.solve(weights)
            reported.append("warm_start" in forest.stats)
            expected = clmst.kruskal(graph.replace(weights=weights))
            assert forest.total_weight == expected.total_weight
    assert "warm-start" in wrong.tested
    assert reported == [False, False, not refused, not refused]


def test_several_devices(wrong: Wrong, fresh: Device) -> None:
    """One that may not put forests together ends the round."""
    wrong.names = {"parts"}
    twins = [fresh, fresh.with_policy(replace(fresh.policy, groups_per_compute_unit=5))]
    graph = ring(300)
    solver = RepeatedSolver(graph, devices=twins, strategy="split")
    with pytest.raises(UnsupportedDeviceError, match=r"device 0 .* is not trusted with parts"):
        solver.solve(np.arange(300))


def test_gpu_shape_is_another_device(wrong: Wrong, fresh: Device) -> None:
    """Other kernels run there, so they are tested there."""
    for device in (fresh, fresh.with_policy(GPU_SHAPE)):
        clmst.minimum_spanning_forest(ring(), algorithm="ecl", device=device)
    assert wrong.tested == ["ecl", "ecl"]
