"""No kernel has local memory that only a branch on a constant uses, at which PoCL 6.0 dies.

It finds such a variable where it does not optimise, inlines all the same, and drops the branch. A
front end's warning of unused variables does not see it. Here LLVM does what PoCL does: a variable
whose last use goes with a branch, and not before, is one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from tests.offline import convergence, kept
from tests.offline.outcome import output_of, require
from tests.offline.targets import SERIAL, one_of_each_source

pytestmark = pytest.mark.external

_CLANG = (
    "clang-15", "-x", "cl", "-target", "spir64", "-w", "-Xclang", "-finclude-default-header", "-O0",
    "-Xclang", "-disable-O0-optnone", "-emit-llvm", "-S", "-o", "-",
)  # fmt: skip
_INLINED = "always-inline,function(sroa)"
_FOLDED = "always-inline,function(sroa,early-cse,simplifycfg,dce)"


@kept.asked_once(convergence.installed)
def unused_by_constants(text: str, options: Sequence[str]) -> list[str]:
    """Return the local variables of kernels whose last use goes when constants are folded."""
    module = output_of([*_CLANG, *options, "-"], text)[0].replace(" noinline ", " alwaysinline ")
    variables = re.findall(r"^@([\w.]+) = .*addrspace\(3\) global", module, re.MULTILINE)
    if not variables:
        return []
    inlined, folded = (
        output_of(["opt-15", f"-passes={passes}", "-S", "-o", "-", "-"], module)[0]
        for passes in (_INLINED, _FOLDED)
    )
    return [one for one in variables if _is_used(inlined, one) and not _is_used(folded, one)]


def _is_used(module: str, variable: str) -> bool:
    return len(re.findall(rf"@{re.escape(variable)}(?![.\w])", module)) > 1


@pytest.fixture(autouse=True)
def _needs_compilers() -> None:
    require(convergence)


@pytest.mark.slow
@pytest.mark.parametrize(
    "is_whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["part", "whole"]
)
def test_no_branch_on_a_constant_is_all_that_uses_local_memory(is_whole: bool) -> None:
    """The standard run takes one specialisation of each source."""
    found = {
        one.source: unused
        for one in (SERIAL.representatives if is_whole else one_of_each_source(SERIAL))
        if (unused := unused_by_constants(one.text, one.options))
    }
    assert found == {}


_KERNEL = """
static void take(bool lists, local uint *count) {{ if (lists) atomic_inc(count); }}
kernel void k(global uint *words) {{
  local uint count;
  take({lists}, &count);
  words[0] = 1;
}}
"""


@pytest.mark.parametrize(("lists", "unused"), [("true", []), ("false", ["k.count"])])
def test_such_a_variable_is_found(lists: str, unused: list[str]) -> None:
    assert unused_by_constants(_KERNEL.format(lists=lists), ["-cl-std=CL1.2"]) == unused
