"""Devices that kernels are compiled for without having them, and what each can do.

NVIDIA is not among them: only its driver compiles OpenCL C for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from clmst.runtime import policy
from clmst.runtime.capabilities import Capabilities, LanesKind
from clmst.runtime.specialisation import Specialisation
from tests.helpers.programs import programs

Compiler: TypeAlias = Literal["clang", "ocloc"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A device to compile for."""

    name: str  # as people call it
    compiler: Compiler  # what compiles for it
    architecture: str  # as the compiler calls it
    capabilities: Capabilities  # what decides on its specialisations

    @property
    def id(self) -> str:
        """Short name in tests."""
        without = "" if self.capabilities.int64_atomics else "-no-int64-atomics"
        if self.compiler == "clang" and not self.capabilities.doubles:
            without += "-no-doubles"
        return f"{self.architecture}-lanes{self.capabilities.lane_width}{without}"

    @property
    def specialisations(self) -> tuple[Specialisation, ...]:
        """Every specialisation that the device can get, each once.

        Without 64-bit atomics, or for AMD without doubles, those only that look at them: the others
        are what the same device with them gets.
        """
        can = self.capabilities
        looked_at = set() if can.int64_atomics else {"ATOMIC64"}
        looked_at |= set() if can.doubles or self.compiler == "ocloc" else {"DOUBLES"}
        return tuple(
            one
            for one in programs(can, policy.choose(can))
            if looked_at <= dict(one.defines).keys()
            and "\nkernel void" in one.text  # not one of declarations alone
        )

    @property
    def representatives(self) -> tuple[Specialisation, ...]:
        """Those that the tests compile.

        How weights become keys is a few operations on integers. The kind and order that take the
        most of them (floats, the greatest first) stand for the others of their width. Where
        `every_width` is false, the widest weights, which take the most registers, stand for the
        narrower ones of the same file and macros.
        """
        left_out = {"WEIGHT_KIND", "WEIGHT_DESCENDING"}
        if not self.every_width:
            left_out.add("WEIGHT_BITS")
        by_width = sorted(
            self.specialisations, key=lambda one: dict(one.defines).get("WEIGHT_BITS", 0)
        )
        by_rest = {
            (
                one.source,
                one.prelude,
                tuple(macro for macro in one.defines if macro[0] not in left_out),
            ): one
            for one in by_width
        }
        return tuple(by_rest.values())

    @property
    def every_width(self) -> bool:
        """Whether the tests compile each width of weights: for the first device of a compiler."""
        return self.id in FIRST


def _gpu(
    lanes: LanesKind, lane_width: int, *, int64_atomics: bool = True, doubles: bool = True
) -> Capabilities:
    """Return the capabilities of a GPU. Memory and compute units do not change kernels."""
    return Capabilities(
        kind="gpu",
        compute_units=64,
        max_work_group_size=256,
        local_memory=2**16,
        global_memory=2**33,
        max_allocation=2**31,
        host_arrays="copied",
        buffer_alignment=128,
        int64_atomics=int64_atomics,
        doubles=doubles,
        lanes=lanes,
        lane_width=lane_width,
    )


MANY_DIMENSIONS = 0
SHORT = 8  # points of a list that stays in registers


def one_of_each_source(target: Target) -> tuple[Specialisation, ...]:
    """Return the widest specialisation of each source of a target.

    Searches for points are those in space, for short lists.
    """
    found = dict[str, Specialisation]()
    for one in target.representatives:  # the widest last
        macros = dict(one.defines)
        in_space = macros.get("DIMENSION_CLASS") != MANY_DIMENSIONS
        if one.source not in found or (in_space and macros.get("NEIGHBOURS", 0) <= SHORT):
            found[one.source] = one
    return tuple(found.values())


# The first device of each compiler; the front end of clang sees all specialisations of the last.
FIRST = ("skl-lanes16", "skl-lanes16-no-int64-atomics", "gfx90a-lanes32")

_INTEL = {"Gen9": "skl", "Gen12 (Tiger Lake)": "tgllp", "DG2 (Arc)": "dg2-g10", "PVC (Max)": "pvc"}
_AMD = {"CDNA 2 (MI200)": "gfx90a", "RDNA 3 (RX 7900)": "gfx1100"}
_DOUBLES = ("skl", "pvc")  # kernels for the others compute doubles by integers

TARGETS: tuple[Target, ...] = (
    # Gen9 without 64-bit atomics stands for all devices that have none; later ones of Intel's do.
    *(
        Target(
            name=f"Intel {name}",
            compiler="ocloc",
            architecture=architecture,
            capabilities=_gpu(
                "khr", 16, int64_atomics=int64_atomics, doubles=architecture in _DOUBLES
            ),
        )
        for name, architecture in _INTEL.items()
        for int64_atomics in ((True, False) if architecture == "skl" else (True,))
    ),
    # 32 is what detection gives to all devices whose lanes kernels cannot rely on. AMD's GPUs have
    # doubles; one of them without stands for all devices that have none, as Apple's.
    *(
        Target(
            name=f"AMD {name}",
            compiler="clang",
            architecture=architecture,
            capabilities=_gpu("local", 32, doubles=doubles),
        )
        for name, architecture in _AMD.items()
        for doubles in ((True, False) if architecture == "gfx1100" else (True,))
    ),
)

COMPLETE = next(target for target in TARGETS if target.id == FIRST[-1])
# What no device gets by detection: a lane group as wide as a wave. The report compiles for it.
WAVES = replace(COMPLETE, capabilities=_gpu("local", 64))
# The target whose kernels have the shape of a CPU's.
SERIAL = replace(COMPLETE, capabilities=replace(COMPLETE.capabilities, kind="cpu"))
