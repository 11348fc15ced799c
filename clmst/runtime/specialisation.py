"""Specialisations: kernel source files, each with the macros that adapt it to a device."""

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
# The kernel source with macros that define structs ("records"). A program includes it if the text
# that is put before its source (the prelude) uses structs.
RECORDS_SOURCE = "device/fields.cl"
_LANES_IMPL = {"local": 0, "khr": 1, "ptx": 2}
# The name of the macro of cl/device/work_group.cl that says whether kernels declare the size of
# their work-groups.
_DECLARED = "DECLARED_WORK_GROUP"
# If work-groups have one work-item, this compiler option declares that kernels are vectorised
# already. Without the option, Intel's compiler also builds versions that are vectorised over
# several work-items. They never run, and building them takes two thirds of the time.
_ALONE = "-Dkernel=__attribute__((vec_type_hint(uint4)))__kernel"


@dataclass(frozen=True, slots=True)
class Prelude:
    """OpenCL C text that is put before a kernel source file, such as a caller's operator."""

    # The name by which messages of compilers call this text, such as ``"uint32 sum"``.
    name: str
    text: str

    # Definitions of structs ("records") in OpenCL C, which are put before the source of the
    # program. The string is empty if the program has none.
    records: str = ""

    @classmethod
    def of(
        cls, name: str, preamble: str, functions: Iterable[str], macros: Mapping[str, object],
        records: str = "",
    ) -> Prelude:  # fmt: skip
        """Create a prelude from a caller's OpenCL C functions and from macros that may call them.

        `name` is the name in compilers' messages. `preamble` is the text of the functions, and
        `functions` are their names. `macros` maps the name and parameters of a macro to its text.
        An "_" is added to the name of each function, so that the name cannot clash with a function
        of the kernels. `records` are the macros that define structs (``cl/device/fields.cl``).
        """
        lines = (f"#define {macro} {text}" for macro, text in macros.items())
        # The preamble comes first, so that its lines count from 1 in the compiler's messages.
        text = "\n".join((preamble, *lines))
        if called := "|".join(sorted(functions)):
            text = re.sub(rf"\b({called})(?=\s*\()", r"\1_", text)
        return cls(name=name, text=text, records=records)


@dataclass(frozen=True, slots=True)
class Specialisation:
    """A kernel source file, and the macros with which the file is compiled."""

    # A file below ``cl/``, e.g. ``"algorithms/ecl/ecl.cl"``.
    source: str
    defines: tuple[tuple[str, int], ...]  # sorted by name
    prelude: Prelude | None = None  # text placed before the file

    @classmethod
    def of(
        cls, source_name: str, defines: Mapping[str, int | bool], prelude: Prelude | None = None
    ) -> Specialisation:
        """Create the specialisation of a kernel source file with given macros, in any order.

        `source_name` is the path of the file below ``cl/``. `defines` has the values of the macros
        by name. `prelude` is text that is placed before the file, or None.
        """
        return cls(source_name, tuple(sorted((k, int(v)) for k, v in defines.items())), prelude)

    @property
    def label(self) -> str:
        """A short name for logs and errors, e.g. ``ecl[ATOMIC64=1,WG_SIZE=256]``."""
        values = [f"{name}={value}" for name, value in self.defines]
        subject = [self.prelude.name] if self.prelude else []
        return f"{PurePosixPath(self.source).stem}[{','.join(subject + values)}]"

    @property
    def text(self) -> str:
        """The complete source text that is given to the compiler.

        The text has line directives, so that messages of the compiler about the prelude use its
        name and line numbers.
        """
        composed = source.compose(self.source)
        if self.prelude is None:
            return composed
        prelude, types = self.prelude, ""
        if prelude.records:
            types = f"{source.compose(RECORDS_SOURCE)}{prelude.records}\n"
        return f'{types}#line 1 "{prelude.name}"\n{prelude.text}\n{composed}'

    def for_work_items(self, most: int) -> Specialisation | None:
        """Choose the next specialisation to build after one allowed only `most` work-items.

        The first attempt keeps the size of work-groups, and lets each kernel declare the size, so
        that the compiler uses fewer registers. After that, the size is the largest power of two
        that is at most `most`. Returns None if that size is smaller than kernels support.
        """
        macros = dict(self.defines)
        if not macros.get(_DECLARED):
            return self.of(self.source, macros | {_DECLARED: 1}, self.prelude)
        if most < max(LEAST_WORK_GROUP, macros.get("LANES", 1)):
            return None
        size = 1 << most.bit_length() - 1
        return self.of(self.source, macros | {"WG_SIZE": size}, self.prelude)

    def within_said_limit(self) -> Specialisation:
        """Return this program request, with smaller work-groups if NVIDIA's driver requires that.

        The driver reports a limit of 256 work-items for all kernels that are built without a limit
        of registers (quirk: nvidia-undeclared-size). A build with larger work-groups would have to
        be repeated, so the smaller size is chosen at once.
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
        """Maximum number of registers per work-item.

        The number is 0 if no limit is set or the compiler is not NVIDIA's.
        """
        return dict(self.defines).get("MAX_REGISTERS", 0) if self._is_nvidias else 0

    @property
    def options(self) -> list[str]:
        """The options for the compiler."""
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
    """Combine a kernel source file with the macros that adapt it to a device.

    `source_name` is the path of the file below ``cl/``. `capabilities` are the device's, and
    `tuning` is its policy. `prelude` is text that is placed before the file, or None. One macro is
    the size of work-groups. Four others give the width of the device's sub-groups (lanes), how
    sub-groups are programmed, whether 64-bit atomics exist, and whether doubles are missing. Macros
    in `defines` override them. If a work-group has only one work-item, the kernels are compiled
    without sub-group operations. If one of the four macros does not occur in the source, it is left
    out, so that devices that differ only there share a cached binary. No other function turns
    properties of a device into macros.
    """
    work_group_size = int(defines.get("WG_SIZE", tuning.work_group_size))
    alone = work_group_size == 1
    traits: dict[str, int | bool] = {
        "LANES": 1 if alone else capabilities.lane_width,
        "LANES_IMPL": _LANES_IMPL["local" if alone else capabilities.lanes],
        "ATOMIC64": capabilities.int64_atomics,
    }
    if not capabilities.doubles:
        traits["DOUBLES"] = False  # the default is True
    text = Specialisation(source_name, (), prelude).text
    looked_at = {name: value for name, value in traits.items() if name in text}
    macros = {"WG_SIZE": work_group_size} | looked_at | defines
    return Specialisation.of(source_name, macros, prelude)


def check_request(
    source_name: Any, prelude: Any, defines: Mapping[str, Any]
) -> dict[str, int | bool]:
    """Check a caller's request for a program, and return the macros as integers or bools.

    Raises InvalidArgumentError if the source file does not exist, if the prelude is not None or a
    :class:`Prelude`, or if the value of a macro in `defines` is not an integer or a bool.
    """
    name = check_text("source_name", source_name)
    if not _SOURCE_NAME.fullmatch(name) or not (source.root() / name).is_file():
        raise InvalidArgumentError(f"there is no source {shown(name)} of kernels")
    if prelude is not None:
        check_kind("prelude", prelude, Prelude)
    return {
        macro: bool(value) if isinstance(value, bool | np.bool_) else check_integer(macro, value)
        for macro, value in defines.items()
    }
