"""Every kernel builds, for GPUs that the machine at hand lacks, in each specialisation they get.

Those that stand for all (`Target.representatives`); the others pass the front end of one compiler.
Intel's compilation to SPIR-V is shared between its devices.
``python -m tests.offline.report`` compiles all of them for all targets.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from clmst.runtime import source
from clmst.runtime.specialisation import Specialisation
from tests.offline import clang, ocloc
from tests.offline.build import COMPILERS, TargetBuild, build, compile_for
from tests.offline.outcome import require
from tests.offline.targets import (
    COMPLETE,
    MANY_DIMENSIONS,
    SERIAL,
    SHORT,
    TARGETS,
    Target,
    one_of_each_source,
)

pytestmark = pytest.mark.external

FILES = sorted(str(path.relative_to(source.root())) for path in source.root().rglob("*.cl"))
DEVICES = {target.architecture: target for target in TARGETS}

# A search through a hierarchy of points holds its point, a list of near ones and its way, in
# doubles and 64-bit words: more than the registers of Intel's GPUs. A long list, or a point in many
# dimensions, is more than any GPU has.
SEARCHES = (
    "bvh_boruvka_clear_leaves",
    "bvh_boruvka_lightest_propose",
    "bvh_boruvka_neighbours_find",
    "bvh_boruvka_search_listed",
)
# The sums of a tile of pairs take half of all registers, and what else is there when they are
# compared does not fit; nothing of it is in the loop over dimensions.
TILES = ("dense_lightest_find", "dense_nearest_find", "dense_nearest_sample")
# Their words of a whole work-group are more than AMD has registers for; the words of lanes fit.
IN_OTHER_REGISTERS = (
    "dendrogram_condense_steps",
    "dendrogram_serial_condense",
    "dense_one_group_solve",
)
SPILLED = re.compile(rf"warning: kernel ({'|'.join((*SEARCHES, *TILES))}) .* spilled around .*")

# More private memory than there are registers, indexed in a way that no compiler can foresee.
HUNGRY = """
kernel void hungry(global uint *values, uint n) {
  uint own[1000];
  for (uint i = 0; i < 1000; ++i) own[i] = values[get_global_id(0) * i];
  for (uint i = 0; i < n; ++i) own[values[get_global_id(0) + i] % 1000] += i;
  for (uint i = 0; i < 1000; ++i) values[get_global_id(0) * i] = own[i];
}
"""
DOUBTFUL = """
#pragma OPENCL EXTENSION cl_nobody_knows : enable
kernel void doubtful(global uint *values) { values[0] = 1; }
"""


# The standard run compiles one specialisation of each source for one of AMD's devices. The front
# end of AMD's compiler sees one in sixteen of the other specialisations. For one of AMD's devices
# without doubles it sees one of each source that looks at doubles. The rest is for exhaustive runs.
# The rest includes one specialisation of each source that looks at 64-bit atomics, for one of
# Intel's devices without these. Intel's compiler takes as long for them as AMD's for all sources,
# and Intel's runtime for CPUs compiles them in other tests.
_IN_PART = next(target for target in TARGETS if target.architecture == "gfx1100")
_WITHOUT_ATOMICS = next(target for target in TARGETS if not target.capabilities.int64_atomics)
_WITHOUT_DOUBLES = next(target for target in TARGETS if target.id.endswith("no-doubles"))
_ONE_IN = 16


def _whole(target: Target) -> object:
    """Return all kernels of a target as a parameter, which are listed only if the test runs."""
    return pytest.param((target, True), id=target.id, marks=pytest.mark.exhaustive)


def _part(target: Target) -> object:
    """Return one kernel of each source of a target as a parameter."""
    marks = [] if target is _IN_PART else [pytest.mark.exhaustive]
    return pytest.param((target, False), id=f"{target.id}-one-of-each-source", marks=marks)


PARTS = (_IN_PART, _WITHOUT_ATOMICS, _WITHOUT_DOUBLES)


@pytest.fixture(scope="module", params=[*map(_whole, TARGETS), *map(_part, PARTS)])
def built(request: pytest.FixtureRequest) -> TargetBuild:
    target, is_whole = request.param
    require(COMPILERS[target.compiler])
    return build(target, target.representatives if is_whole else one_of_each_source(target))


@pytest.mark.parametrize("target", PARTS, ids=lambda one: one.id)
def test_a_part_has_every_source(target: Target) -> None:
    some, every = one_of_each_source(target), target.representatives
    assert set(some) < set(every)
    assert {one.source for one in some} == {one.source for one in every}


def test_representatives_stand_for_all() -> None:
    """Every file and set of other macros is there, if not every kind of key; so is every width."""

    def without(macros: set[str], some: Iterable[Specialisation]) -> set[Hashable]:
        return {
            (one.source, one.prelude, frozenset(d for d in one.defines if d[0] not in macros))
            for one in some
        }

    kinds = {"WEIGHT_KIND", "WEIGHT_DESCENDING"}
    for target in TARGETS:
        given, every = target.representatives, target.specialisations
        assert set(given) <= set(every)
        macros = kinds if target.every_width else kinds | {"WEIGHT_BITS"}
        assert without(macros, given) == without(macros, every)
    assert {target.compiler for target in TARGETS if target.every_width} == set(COMPILERS)


def said_of(some: Iterable[Specialisation]) -> list[tuple[str, str]]:
    """Return the complaints of a compiler's front end, each after a label."""
    require(clang)

    def says(one: Specialisation) -> tuple[str, str]:
        return one.label, clang.front_end_says(COMPLETE.architecture, one.text, one.options)

    with ThreadPoolExecutor(2) as pool:
        return [(label, log) for label, log in pool.map(says, some) if log]


in_part_or_whole = pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["part", "whole"]
)


@pytest.mark.slow
@in_part_or_whole
def test_front_end_takes_every_specialisation(is_whole: bool) -> None:
    """But those that always pass the whole compiler; what it says of keys, it says of a source.

    The standard run takes every sixteenth of them.
    """
    assert set(COMPLETE.specialisations) == set(_IN_PART.specialisations)
    others = sorted(set(COMPLETE.specialisations) - set(one_of_each_source(_IN_PART)), key=repr)
    assert said_of(others if is_whole else others[::_ONE_IN]) == []
    assert len(others) > 200
    assert "cl_nobody_knows" in clang.front_end_says(COMPLETE.architecture, DOUBTFUL, [])


@pytest.mark.slow
def test_front_end_takes_a_device_without_doubles() -> None:
    """One specialisation of each source that looks at doubles."""
    assert said_of(one_of_each_source(_WITHOUT_DOUBLES)) == []


@pytest.mark.slow
@in_part_or_whole
def test_front_end_takes_the_shape_of_a_cpu(is_whole: bool) -> None:
    """Without unused local arrays, too, at which PoCL 6.0 dies where it does not optimise.

    The standard run takes one specialisation of each source.
    """
    every = SERIAL.representatives if is_whole else one_of_each_source(SERIAL)
    assert {dict(one.defines)["WG_SIZE"] for one in every} == {1}
    assert said_of(every) == []
    text = "kernel void k(global uint *words) { local uint unused[8]; words[0] = 1; }"
    assert "unused variable" in clang.front_end_says("gfx90a", text, [])


@pytest.mark.slow
def test_compiles_without_a_word(built: TargetBuild) -> None:
    complaints = {
        one.label: SPILLED.sub("", outcome.complaints).strip()
        for one, outcome in built.outcomes.items()
    }
    assert {label: said for label, said in complaints.items() if said} == {}
    assert all(outcome.kernels for outcome in built.outcomes.values())


@pytest.mark.slow
def test_everything_private_is_in_registers(built: TargetBuild) -> None:
    """Scratch is memory traffic that the source does not show.

    Operations on integers that stand for doubles take more registers than devices have, and so may
    the roots of Minkowski's distances.
    """
    assert [
        (one.label, kernel)
        for one, kernel in built.kernels
        if (kernel.scratch or (kernel.spills and kernel.name not in IN_OTHER_REGISTERS))
        and kernel.name not in (*SEARCHES, *TILES)
        and dict(one.defines).get("DIMENSION_CLASS") != MANY_DIMENSIONS
        and dict(one.defines).get("DOUBLES", 1)
        and not dict(one.defines).get("POWER_WHOLE")
    ] == []


@pytest.mark.slow
def test_short_searches_in_space_are_in_registers(built: TargetBuild) -> None:
    """Where lists are of 8 points at most; AMD's compiler spills into other registers first."""
    if built.target.compiler == "ocloc":
        pytest.skip("a double takes 4 or more of 128 registers")
    if not built.target.capabilities.doubles:
        pytest.skip("operations on integers that stand for doubles take more registers")
    found = [
        (one.label, kernel)
        for one, kernel in built.kernels
        if kernel.name in SEARCHES
        and dict(one.defines)["DIMENSION_CLASS"] != MANY_DIMENSIONS
        and dict(one.defines).get("NEIGHBOURS", SHORT) <= SHORT
    ]
    assert found
    assert [(label, kernel) for label, kernel in found if kernel.scratch] == []


@pytest.mark.slow
def test_local_memory_is_within_what_devices_have(built: TargetBuild) -> None:
    """OpenCL 1.2 promises 32 KiB a work-group."""
    assert [(one.label, k) for one, k in built.kernels if k.local_memory > 2**15] == []


@pytest.mark.parametrize("name", FILES)
def test_every_file_compiles_alone(name: str) -> None:
    """Macros have defaults, and files include what they use."""
    require(clang)
    assert clang.front_end_says_of_file(name) == ""


@pytest.mark.parametrize("architecture", DEVICES)
def test_scratch_and_warnings_would_be_seen(architecture: str) -> None:
    """The tests above would pass for ever if a compiler's output came to be misread."""
    target = DEVICES[architecture]
    require(COMPILERS[target.compiler])
    (kernel,) = compile_for(target, HUNGRY, ["-cl-std=CL1.2"]).kernels
    assert kernel.name == "hungry"
    assert kernel.scratch >= 4000
    assert "cl_nobody_knows" in compile_for(target, DOUBTFUL, ["-cl-std=CL1.2"]).complaints
    assert compile_for(target, "kernel void k() { oops }", ["-cl-std=CL1.2"]).kernels == ()


@pytest.mark.exhaustive
@pytest.mark.parametrize("size", ["median", "longest"])
def test_spirv_is_the_same_for_all_of_intels_devices(size: str) -> None:
    """Else compiling to it once for all of them would prove nothing for the others.

    The standard run takes a program of median length for each set of devices.
    """
    require(ocloc)
    targets = [t for t in TARGETS if t.compiler == "ocloc" and t.capabilities.int64_atomics]
    # Programs of as many sources: for all devices, and for those that have doubles.
    longest: dict[tuple[str, ...], dict[str, Specialisation]] = {}
    for one in sorted(targets[0].representatives, key=lambda one: len(one.text), reverse=True):
        own = tuple(target.architecture for target in targets if one in target.specialisations)
        longest.setdefault(own, {}).setdefault(one.source, one)
    assert len(longest) == 2
    samples = [
        (own, one)
        for own, of in longest.items()
        for one in ([*of.values()][:3] if size == "longest" else [[*of.values()][len(of) // 2]])
    ]
    for architectures, one in samples:
        arguments = one.text, tuple(one.options)
        results = {ocloc.to_spirv(architecture, *arguments) for architecture in architectures}
        assert len(results) == 1, one.label
