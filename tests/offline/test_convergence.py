"""Barriers and functions of sub-groups are reached by all that must reach them, in every kernel.

And barriers under no condition, which PoCL 3.1 miscompiles even where all work-items agree on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache

import pytest

from clmst.runtime import policy
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.specialisation import Specialisation
from tests.helpers.programs import programs
from tests.offline import convergence
from tests.offline.convergence import Fault, Scope, faults
from tests.offline.outcome import require
from tests.offline.targets import TARGETS

pytestmark = pytest.mark.external

# Macros that say what data are, which is nothing to how work-items meet.
_OF_DATA = (
    "WEIGHT_", "RECORD_", "VALUE_WORDS", "BYTES_PER_ITEM", "DIMENSION_CLASS", "METRIC",
    "NEIGHBOURS",
)  # fmt: skip
_DEVICES: dict[str, Capabilities] = {
    target.capabilities.lanes: target.capabilities
    for target in reversed(TARGETS)
    if target.capabilities.int64_atomics
}


@pytest.fixture(autouse=True)
def _needs_compilers() -> None:
    require(convergence)


@cache
def _specialisations(lanes: str) -> dict[str, list[Specialisation]]:
    """Return the programs of a GPU for the widest data, by source, with resident launches."""
    capabilities = _DEVICES[lanes]
    tuning = replace(policy.choose(capabilities), resident_groups_per_compute_unit=1)
    found: dict[tuple[object, ...], Specialisation] = {}
    every = [one for one in programs(capabilities, tuning) if "\nkernel void" in one.text]
    for one in sorted(every, key=lambda one: dict(one.defines).get("WEIGHT_BITS", 0)):
        macros = tuple(macro for macro in one.defines if not macro[0].startswith(_OF_DATA))
        found[one.source, macros] = one
    by_source: dict[str, list[Specialisation]] = {}
    for one in found.values():
        by_source.setdefault(one.source, []).append(one)
    return by_source


def _analyses() -> Iterator[object]:
    """Yield a kind of lanes, a scope, a source, and whether it is analysed in each specialisation.

    The standard run takes one specialisation of each source, and its scopes take turns.
    """
    scopes: tuple[Scope, Scope] = "work-group", "lanes"
    for number, source in enumerate(_specialisations("khr")):
        scope = scopes[number % 2]
        yield pytest.param("khr", scope, source, False, id=f"khr-{scope}-one-{source}")
    for lanes, scope in (
        *(("khr", scope) for scope in scopes),
        # The same kernels, but for the functions of lane groups in cl/device.
        ("local", "work-group"),
    ):
        for source in _specialisations(lanes):
            name, marks = f"{lanes}-{scope}-{source}", pytest.mark.exhaustive
            yield pytest.param(lanes, scope, source, True, id=name, marks=marks)


@pytest.mark.slow
@pytest.mark.parametrize(("lanes", "scope", "source", "is_whole"), [*_analyses()])
def test_all_reach_barriers_and_lanes_together(
    lanes: str, scope: Scope, source: str, is_whole: bool
) -> None:
    """The one specialisation is that with the most macros."""
    every = _specialisations(lanes)[source]
    most = max(every, key=lambda one: len(one.defines))
    found = {
        fault
        for one in (every if is_whole else [most])
        for fault in faults(one.text, one.options, scope)
    }
    assert sorted(found) == []


def test_every_source_is_analysed() -> None:
    """In both kinds of lanes; those that have lanes are the greater part."""
    assert _specialisations("khr").keys() == _specialisations("local").keys()
    assert len(_specialisations("khr")) > 50


# A kernel, by lines: what each does to a work-item `me`, of `uniform` and of values that differ.
_KERNEL = """#line 1 "k.cl"
kernel void k(global uint *words, uint uniform, local uint *shared) {{
  const uint me = get_local_id(0);
  {0}
}}
"""
_BARRIER = "barrier(CLK_LOCAL_MEM_FENCE);"
_LANES = "words[me] = sub_group_reduce_add(me);"


# Kernels whose barrier or lanes all work-items reach, some may miss, or all reach or miss.
_ALL: dict[Scope, list[str]] = {
    "work-group": [
        f"{_BARRIER}",
        f"for (uint i = 0; i < uniform; ++i) {{ shared[me] = i; {_BARRIER} }}",
        f"if (me == 0) shared[0] = words[0]; {_BARRIER}",
        f"for (uint i = get_group_id(0); i < words[7]; i += get_num_groups(0)) {{ {_BARRIER} }}",
        f"{_BARRIER} if (words[uniform]) return; words[me] = shared[0];",
        f"if (WG_SIZE > 1) {{ {_BARRIER} }}",
        f"uint i = min(uniform, words[0]); do {{ {_BARRIER} }} while (i-- > 0);",
    ],
    "lanes": [  # of one group: others may go another way
        f"if (uniform) {{ {_LANES} }}",
        f"if (get_local_id(0) / LANES < 2) {{ {_LANES} }}",
        f"if (me / LANES == 0) {{ {_LANES} }}",
        f"for (uint i = me / LANES; i < uniform; i += WG_SIZE / LANES) {{ {_LANES} }}",
        f"if (sub_group_reduce_add(words[me]) > 7) {{ {_LANES} }}",
        f"if (sub_group_broadcast(words[me], 0)) {{ {_LANES} }}",
    ],
}
_SOME: dict[Scope, list[str]] = {
    "work-group": [
        f"if (me > 3) {{ {_BARRIER} }}",
        f"if (words[me]) return; {_BARRIER}",
        f"for (uint i = me; i < uniform; i += WG_SIZE) {{ {_BARRIER} }}",
        f"for (uint i = 0; i < 9; ++i) {{ if (words[me] > i) break; {_BARRIER} }}",
        f"while (atomic_inc(words) < uniform) {{ {_BARRIER} }}",
        f"uint i = me; if (uniform) i = 0; while (i-- > 0) {{ {_BARRIER} }}",
    ],
    "lanes": [
        f"if (me == 0) {{ {_LANES} }}",
        f"if (words[me]) return; {_LANES}",
        f"if (intel_sub_group_shuffle(me, 0)) {{ {_LANES} }}",
        f"if (sub_group_scan_exclusive_add(me)) {{ {_LANES} }}",
        f"for (uint i = me; i < uniform; i += WG_SIZE) {{ {_LANES} }}",
        f"if (atomic_cmpxchg(words, 0, uniform)) {{ {_LANES} }}",
        "if (me < uniform) sub_group_barrier(CLK_LOCAL_MEM_FENCE);",
    ],
}
_AGREED = [
    f"if (uniform) {{ {_BARRIER} }}",
    f"if (uniform) return; {_BARRIER}",
    f"for (uint i = 0; i < 9; ++i) {{ if (uniform > i) continue; {_BARRIER} }}",
    f"switch (uniform) {{ case 3: words[0] = 1; case 7: {_BARRIER} }}",
]


@pytest.mark.parametrize(
    ("scope", "body", "why"),
    [
        *((scope, body, "") for scope, bodies in _ALL.items() for body in bodies),
        *((scope, body, "diverges") for scope, bodies in _SOME.items() for body in bodies),
        *(("work-group", body, "is a condition") for body in _AGREED),
    ],
)
def test_who_reaches_a_call(scope: Scope, body: str, why: str) -> None:
    options = ["-cl-std=CL1.2", "-DWG_SIZE=64", "-DLANES=16"]
    found = [(one.why, one.branch) for one in faults(_KERNEL.format(body), options, scope)]
    assert (why, "k.cl:3") in found if why else found == []


def test_faults_name_the_calls_that_lead_there() -> None:
    text = """#line 1 "k.cl"
static void meet(uint flag) {
  if (flag)
    barrier(CLK_LOCAL_MEM_FENCE);
}
kernel void k(uint uniform) {
  meet(uniform);
}
"""
    assert faults(text, ["-DWG_SIZE=64", "-DLANES=16"], "work-group") == [
        Fault(kernel="k", why="is a condition", branch="k.cl:2 < k.cl:6", call="k.cl:3 < k.cl:6")
    ]
