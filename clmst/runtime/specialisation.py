"""Specialisations: a source file with the macros for a device, which a program is built from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from clmst.core.arguments import check_integer, check_kind, check_text, shown
from clmst.core.errors import InvalidArgumentError
from clmst.runtime import source
from clmst.runtime.capabilities import Capabilities
from clmst.runtime.policy import LEAST_WORK_GROUP, Policy
from clmst.runtime.quirks import NVIDIA_SAID_WORK_ITEMS

_SOURCE_NAME = re.compile(r"[a-z]+(/[a-z0-9_]+){1,2}[.]cl$", re.ASCII)
# The types of records, for preludes that have some.
RECORDS_SOURCE = "device/fields.cl"
_LANES_IMPL = {"local": 0, "khr": 1, "ptx": 2}
# A macro of cl/device/work_group.cl: whether kernels declare the size of their work-groups.
_DECLARED = "DECLARED_WORK_GROUP"
# Kernels of work-items that are alone say that they are in vectors already. Else Intel's compiler
# makes them anew in vectors of work-items, which never run, in two thirds of the time of a build.
_ALONE = "-Dkernel=__attribute__((vec_type_hint(uint4)))__kernel"


@dataclass(frozen=True, slots=True)
class Prelude:
    """OpenCL C text that precedes a file: the operator that a caller passes to a primitive."""

    # Its name in compilers' messages, e.g. ``"uint32 sum"``.
    name: str
    text: str

    # The macros that define the types of records, which precede the text; "" if there are none.
    records: str = ""

    @classmethod
    def of(
        cls, name: str, preamble: str, functions: Iterable[str], macros: Mapping[str, object],
        records: str = "",
    ) -> Prelude:  # fmt: skip
        """Return a caller's functions and macros that may call them, by name and parameters.

        The functions get names that end in "_", which none of the kernels' own has. `records` are
        macros of ``cl/device/fields.cl``.
        """
        lines = (f"#define {macro} {text}" for macro, text in macros.items())
        # The preamble first: its lines are counted from 1 in the compiler's messages.
        text = "\n".join((preamble, *lines))
        if called := "|".join(sorted(functions)):
            text = re.sub(rf"\b({called})(?=\s*\()", r"\1_", text)
        return cls(name=name, text=text, records=records)


@dataclass(frozen=True, slots=True)
class Specialisation:
    """A source file and the macros that specialise it."""

    # File below ``cl/``, e.g. ``"algorithms/ecl/ecl.cl"``.
    source: str
    defines: tuple[tuple[str, int], ...]  # sorted by name
    prelude: Prelude | None = None  # text that precedes the file

    @classmethod
    def of(
        cls, source_name: str, defines: Mapping[str, int | bool], prelude: Prelude | None = None
    ) -> Specialisation:
        """Make the specialisation of a file by macros given in any order."""
        return cls(source_name, tuple(sorted((k, int(v)) for k, v in defines.items())), prelude)

    @property
    def label(self) -> str:
        """Short name for logs and errors, e.g. ``ecl[ATOMIC64=1,WG_SIZE=256]``."""
        values = [f"{name}={value}" for name, value in self.defines]
        subject = [self.prelude.name] if self.prelude else []
        return f"{PurePosixPath(self.source).stem}[{','.join(subject + values)}]"

    @property
    def text(self) -> str:
        """The full source; compilers' messages about the prelude use its name and its own lines."""
        composed = source.compose(self.source)
        if self.prelude is None:
            return composed
        prelude, types = self.prelude, ""
        if prelude.records:
            types = f"{source.compose(RECORDS_SOURCE)}{prelude.records}\n"
        return f'{types}#line 1 "{prelude.name}"\n{prelude.text}\n{composed}'

    def for_work_items(self, most: int) -> Specialisation | None:
        """Return what to build instead if a device takes at most `most` work-items in a work-group.

        First the same work-group, declared by each kernel: the compiler then fits its registers to
        it. Else the greatest power of two that fits; None if policies have no such work-groups.
        """
        macros = dict(self.defines)
        if not macros.get(_DECLARED):
            return self.of(self.source, macros | {_DECLARED: 1}, self.prelude)
        if most < max(LEAST_WORK_GROUP, macros.get("LANES", 1)):
            return None
        size = 1 << most.bit_length() - 1
        return self.of(self.source, macros | {"WG_SIZE": size}, self.prelude)

    def within_said_limit(self) -> Specialisation:
        """Return what is built in the end where the answer to a larger work-group is known.

        NVIDIA's driver says the same limit of every kernel (quirk: nvidia-undeclared-size).
        """
        size = dict(self.defines)["WG_SIZE"]
        if not self._is_nvidias or self.most_registers or size <= NVIDIA_SAID_WORK_ITEMS:
            return self
        smaller = {"WG_SIZE": NVIDIA_SAID_WORK_ITEMS, _DECLARED: 1}
        return self.of(self.source, dict(self.defines) | smaller, self.prelude)

    @property
    def _is_nvidias(self) -> bool:
        return dict(self.defines).get("LANES_IMPL") == _LANES_IMPL["ptx"]

    @property
    def most_registers(self) -> int:
        """The most registers of a work-item, if the compiler takes a limit: NVIDIA's; else 0."""
        return dict(self.defines).get("MAX_REGISTERS", 0) if self._is_nvidias else 0

    @property
    def options(self) -> list[str]:
        """Compiler options."""
        options = ["-cl-std=CL1.2", *(f"-D{name}={value}" for name, value in self.defines)]
        macros = dict(self.defines)
        if macros.get("WG_SIZE") == 1:
            options.append(_ALONE)
        if self.most_registers:
            options.append(f"-cl-nv-maxrregcount={self.most_registers}")
        return options


def specialise(
    source_name: str,
    capabilities: Capabilities,
    tuning: Policy,
    prelude: Prelude | None = None,
    /,
    **defines: int | bool,
) -> Specialisation:
    """Return the specialisation of a source for a device; only here traits become macros.

    A macro given here wins over the device's own. A work-group of one work-item has no lanes. A
    trait that the source does not use is left out, so that devices that differ only in it share a
    cached binary.
    """
    work_group_size = int(defines.get("WG_SIZE", tuning.work_group_size))
    alone = work_group_size == 1
    traits: dict[str, int | bool] = {
        "LANES": 1 if alone else capabilities.lane_width,
        "LANES_IMPL": _LANES_IMPL["local" if alone else capabilities.lanes],
        "ATOMIC64": capabilities.int64_atomics,
    }
    text = Specialisation(source_name, (), prelude).text
    looked_at = {name: value for name, value in traits.items() if name in text}
    macros = {"WG_SIZE": work_group_size} | looked_at | defines
    return Specialisation.of(source_name, macros, prelude)


def check_request(
    source_name: Any, prelude: Any, defines: Mapping[str, Any]
) -> dict[str, int | bool]:
    """Return macros as numbers; raise unless they are numbers and the source exists."""
    name = check_text("source_name", source_name)
    if not _SOURCE_NAME.fullmatch(name) or not (source.root() / name).is_file():
        raise InvalidArgumentError(f"there is no source {shown(name)} of kernels")
    if prelude is not None:
        check_kind("prelude", prelude, Prelude)
    return {
        macro: bool(value) if isinstance(value, bool | np.bool_) else check_integer(macro, value)
        for macro, value in defines.items()
    }
