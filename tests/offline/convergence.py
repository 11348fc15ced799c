"""Whether all work-items that have to reach a barrier, or a function of sub-groups, do so together.

clang compiles a kernel for an AMD GPU, and LLVM's analysis of divergence says which values are the
same in a work-group or in a lane group (``convergence.cl``). Here it is looked up which branches
decide whether a call is reached.

What LLVM takes for granted, nobody proves here: that work-items which load from one address find
one value. A kernel has a barrier between such loads and stores to there.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from tests.offline import kept
from tests.offline.outcome import output_of

Scope: TypeAlias = Literal["work-group", "lanes"]

PROGRAMS = ("clang-15", "opt-15")
PACKAGES = "clang-15 llvm-15"

# The calls that a scope is about.
_CALLS = {"work-group": "@_Z7barrierj(", "lanes": "@call_of_lanes("}
_CLANG = (
    "clang-15", "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-w",
    "-Xclang", "-fdeclare-opencl-builtins", "-Xclang", "-finclude-default-header",
    "-O1", "-Xclang", "-disable-llvm-passes", "-g", "-emit-llvm", "-S",
)  # fmt: skip
# Calls are inlined, and constants folded; no pass here moves a call or unrolls a loop.
_OPT = (
    "opt-15", "-inline-threshold=1000000", "-S", "-o", "-",
    "-passes=cgscc(inline),function(sroa,early-cse,sccp,simplifycfg,sroa,early-cse,instcombine,"
    "simplifycfg,instnamer,print<divergence>)",
)  # fmt: skip
# Where work-groups wait for one another, which no device does whose compiler miscompiles barriers
# under a condition (`Capabilities.grid_barriers`).
_RESIDENT = "cl/device/resident.cl"


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Fault:
    """A branch on which a call depends that must not."""

    kernel: str
    # "diverges": work-items may take different ways; "is a condition": all take the same, and a
    # compiler may still be wrong.
    why: str
    branch: str  # file and line, and the same of the calls that lead there
    call: str  # the same of one call that depends on it


def is_installed() -> bool:
    """Return whether clang and LLVM's optimiser are there."""
    return all(map(shutil.which, PROGRAMS))


@cache
def installed() -> str:
    """Return a text that identifies the installed compilers."""
    paths = [Path(str(shutil.which(name))) for name in PROGRAMS]
    return kept.installed(*paths, Path(__file__).with_suffix(".cl"))


@kept.asked_once(installed)
def faults(text: str, options: list[str], scope: Scope) -> list[Fault]:
    """Return the errors in all kernels of a text. Each branch is reported once for each kernel."""
    told = f"-DSCOPE_LANES={int(scope == 'lanes')}"
    whole = Path(__file__).with_suffix(".cl").read_text() + text
    module, _ = output_of([*_CLANG, told, *options, "-", "-o", "-"], whole)
    module, printed = output_of([*_OPT, "-"], module)
    places = _Places(module)
    found: dict[tuple[str, str], Fault] = {}
    for kernel, blocks in _functions(module, printed).items():
        flow = _Flow(blocks)
        resident = any(_RESIDENT in places.of(call) for _, call in flow.calls(_CALLS["work-group"]))
        for block, call in flow.calls(_CALLS[scope]):
            for branch, decided in flow.branches_of(block):
                diverges, instruction = blocks[branch][-1]
                may_be = scope == "lanes" or resident or flow.ends_loop(branch, decided)
                if diverges or not may_be:
                    place = places.of(instruction)
                    fault = Fault(
                        kernel=kernel, why="diverges" if diverges else "is a condition",
                        branch=place, call=places.of(call),
                    )  # fmt: skip
                    found.setdefault((kernel, place), fault)
    return sorted(found.values())


# ------------------------------------------------------------------------------- LLVM's text

# By label, the instructions of a block in order, each after whether it diverges. The last one is
# the block's end.
_Blocks: TypeAlias = dict[str, list[tuple[bool, str]]]


def _functions(module: str, printed: str) -> dict[str, _Blocks]:
    """Return the blocks of each function of a module, for which divergence was printed."""
    diverging: dict[str, list[bool]] = {}
    for part in printed.split("'Divergence Analysis' for function '")[1:]:
        name, _, rest = part.partition("':")
        bodies = re.split(r"^ {11}[\w.]+:\n", rest, flags=re.MULTILINE)[1:]
        lines = [line for body in bodies for line in _instructions(body)]
        diverging[name] = [line.startswith("DIVERGENT") for line in lines]
    functions = {}
    form = r"^define [^\n]*@(\w+)\([^\n]*\{\n(.*?)^\}"
    for name, body in re.findall(form, module, re.MULTILINE | re.DOTALL):
        blocks: _Blocks = {}
        # Of a function where nothing diverges, nothing is printed.
        flags = iter(diverging.get(name) or [False] * len(body))
        for line in _instructions(body):
            if label := re.match(r"([\w.]+):", line):
                blocks[label[1]] = []
            else:
                blocks[list(blocks)[-1]].append((next(flags), line.strip()))
        assert next(flags, False) is False, f"{name} was printed otherwise"
        functions[name] = blocks
    return functions


def _instructions(body: str) -> Iterator[str]:
    """Yield the lines of a function without those that are for debuggers, and whole switches."""
    switch = ""
    for line in body.splitlines():
        if switch or re.search(r"^[A-Z: ]*switch ", line):
            switch += line
            if "]" in line:
                yield switch
                switch = ""
        elif line.strip() and "@llvm.dbg." not in line:
            yield line


class _Places:
    """Where instructions come from, by a module's debug information."""

    def __init__(self, module: str) -> None:
        form = r"^!(\d+) = (?:distinct )?!(DI\w+)\((.*)\)$"
        self._nodes = {n: (kind, of) for n, kind, of in re.findall(form, module, re.MULTILINE)}

    def of(self, instruction: str) -> str:
        """Return file and line of an instruction, then of the calls that lead there."""
        found, at = [], re.search(r"!dbg !(\d+)", instruction)
        while at is not None:
            _, fields = self._nodes[at[1]]
            line, scope = re.search(r"line: (\d+)", fields), re.search(r"scope: !(\d+)", fields)
            assert scope is not None
            found.append(f"{self._file(scope[1])}:{line[1] if line else 0}")
            at = re.search(r"inlinedAt: !(\d+)", fields)
        return " < ".join(found)

    def _file(self, node: str) -> str:
        kind, fields = self._nodes[node]
        if kind == "DIFile":
            name = re.search(r'filename: "([^"]*)"', fields)
            assert name is not None
            return name[1]
        above = re.search(r"\bfile: !(\d+)", fields) or re.search(r"scope: !(\d+)", fields)
        assert above is not None
        return self._file(above[1])


# ------------------------------------------------------------------------------ control flow


class _Flow:
    """The control flow of a function."""

    def __init__(self, blocks: _Blocks) -> None:
        self._blocks = blocks
        never = {name for name in blocks if blocks[name][-1][1] == "unreachable"}
        self._next = {
            name: tuple(set(re.findall(r"label %([\w.]+)", block[-1][1])) - never)
            for name, block in blocks.items()
            if name not in never
        }
        self._before: dict[str, set[str]] = {name: set() for name in self._next}
        for name, following in self._next.items():
            for other in following:
                self._before[other].add(name)
        self._ends = {name for name, following in self._next.items() if not following}
        self._deciding: dict[str, list[str]] = {}
        self._loops = list(self._find_loops())

    def calls(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the calls of a function, each after the block where it is."""
        for block in self._next:
            for _, instruction in self._blocks[block]:
                if name in instruction and "call " in instruction:
                    yield block, instruction

    def branches_of(self, block: str) -> set[tuple[str, str]]:
        """Return the blocks whose ends decide whether, or how often, a block is reached.

        Each comes with the block that it decides on: this one, or another such block.
        """
        found, left = set[tuple[str, str]](), [block]
        while left:
            decided = left.pop()
            for branch in self._decide(decided):
                if branch not in {one for one, _ in found}:
                    left.append(branch)
                found.add((branch, decided))
        return found

    def ends_loop(self, branch: str, decided: str) -> bool:
        """Return whether a branch decides no more than how often a loop goes on."""
        return any(
            {branch, decided} <= loop and not loop.issuperset(self._next[branch])
            for loop in self._loops
        )

    def _decide(self, block: str) -> list[str]:
        """Return the branches of which one way leads to a block for certain, and another not."""
        if block not in self._deciding:
            avoiding = _reached(self._ends - {block}, self._before, without=block)
            self._deciding[block] = [
                name
                for name, following in self._next.items()
                if (name in avoiding or name == block)
                and any(other in avoiding for other in following)
                and any(other not in avoiding for other in following)
            ]
        return self._deciding[block]

    def _find_loops(self) -> Iterator[set[str]]:
        """Yield the blocks of each loop: those from which an edge back to its head is reached."""
        entry = next(iter(self._next))
        for head in self._next:
            others = set() if head == entry else _reached({entry}, self._next, without=head)
            back = self._before[head] - others
            if head != entry and back:
                yield {head} | _reached(back - {head}, self._before, without=head)


def _reached(starts: set[str], following: Mapping[str, Iterator[str] | set[str] | tuple[str, ...]],
             *, without: str) -> set[str]:  # fmt: skip
    """Return all blocks that are reached from some without passing another one."""
    found, left = set[str](), list(starts)
    while left:
        block = left.pop()
        if block not in found and block != without:
            found.add(block)
            left += following[block]
    return found
