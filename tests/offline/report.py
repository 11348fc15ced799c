"""Print what kernels take on each target, as a Markdown table: ``python -m tests.offline.report``.

Every row is over all specialisations: the most that any kernel takes, and which one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from tests.offline.build import COMPILERS, TargetBuild, build
from tests.offline.outcome import Kernel
from tests.offline.targets import TARGETS, WAVES

_COLUMNS = (
    "target", "architecture", "64-bit atomics", "lanes", "specialisations", "kernels",
    "registers", "scalar registers", "scratch, bytes", "spills", "local memory, bytes",
)  # fmt: skip


def main() -> int:
    """Compile everything; return 1 if a compiler had anything to say, or is missing."""
    missing = [c.PACKAGES for c in COMPILERS.values() if not c.is_installed()]
    if missing:
        print(f"not installed; on Debian 12: apt install {' '.join(missing)}", file=sys.stderr)
        return 1
    builds = []
    for target in (*TARGETS, WAVES):
        builds.append(build(target, target.specialisations))
        print(f"{target.id}: {builds[-1].seconds:.0f} s", file=sys.stderr)
        if builds[-1].complaints:
            print(builds[-1].complaints, file=sys.stderr)
            return 1
    print("\n".join(_table(builds)))
    print(f"\nBy {' and '.join(compiler.version() for compiler in COMPILERS.values())}.")
    return 0


def _table(builds: Iterable[TargetBuild]) -> Iterator[str]:
    yield _line(_COLUMNS)
    yield _line("---" for _ in _COLUMNS)
    for one in builds:
        target, kernels = one.target, [kernel for _, kernel in one.kernels]
        is_amd = target.compiler == "clang"
        yield _line(
            (
                target.name,
                f"`{target.architecture}`",
                "yes" if target.capabilities.int64_atomics else "no",
                f"{target.capabilities.lanes}, {target.capabilities.lane_width}",
                str(len(one.outcomes)),
                str(len(kernels)),
                # Intel's threads own as many whatever they use: using fewer would gain nothing.
                _most(kernels, "registers") if is_amd else f"{kernels[0].registers} (all)",
                _most(kernels, "scalar_registers") if is_amd else "-",
                _most(kernels, "scratch"),
                _most(kernels, "spills"),
                _most(kernels, "local_memory"),
            )
        )


def _most(kernels: list[Kernel], attribute: str) -> str:
    """Return the greatest value, and the kernel that it is of."""
    value, name = max((getattr(kernel, attribute), kernel.name) for kernel in kernels)
    return f"{value} (`{name}`)" if value else "0"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
