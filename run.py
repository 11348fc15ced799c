#!/usr/bin/env python3
"""Set everything up in a clone, then run the main job or the tests. Needs only Python.

    python3 run.py [FILE]   the forest of a generated road network, or of your graph file: a summary
                            and a picture
    python3 run.py check    in minutes: lint, types, and the tests on the default device as it is,
                            but for slow ones and other compilers, with few random examples
    python3 run.py fresh [PYTHON ...]
                            the wheel in an environment that has nothing else, outside this clone,
                            for each interpreter; then all examples and commands of the README and
                            the pages
    python3 run.py first    the wheel from an index of its own, then the commands by which the page
                            about installing begins, for a user with empty caches, timed
    python3 run.py changelog
                            the fragments of changelog.d become the section of the version in
                            CHANGELOG.md
    python3 run.py build    wheel and sdist into dist/, checked as an index does
    python3 run.py release  the same, and whether changelog and fragments are ready for an upload
    python3 run.py lint     ruff, clang-format, mypy, and the workflows against their schema
    python3 run.py lowest   install the lowest version of every package into .venv-lowest
    python3 run.py implementations [NAME ...] [--minutes M] [--quick] [--write]
                            other implementations of OpenCL, set up in .implementations: self-tests,
                            contract suite and proof by volume on each (docs/portability.md)
    python3 run.py test [--all]
                            lint, types, tests; then the tests of what calls packages again with
                            the lowest version of every package that pyproject.toml allows. With
                            --all, the cases marked "exhaustive", too: before a release

Everything is installed into ``.venv`` beside this file, the lowest versions into ``.venv-lowest``.
The tests also use tools that are no Python packages (PoCL, Oclgrind, ocloc, clang); where this is
Debian or Ubuntu and the user is root, they are installed with apt, elsewhere the tests that need
them are skipped and say so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
LOWEST_ENVIRONMENT = ROOT / ".venv-lowest"
BIN = ENVIRONMENT / "bin"
OUTPUT = ROOT / "demo"
CHANGELOG = ROOT / "CHANGELOG.md"

# Debian's packages that the tests use, and a file that each brings.
SYSTEM_PACKAGES = {
    "pocl-opencl-icd": "/etc/OpenCL/vendors/pocl.icd",
    "mesa-opencl-icd": "/etc/OpenCL/vendors/rusticl.icd",
    "oclgrind": "/usr/bin/oclgrind",
    "intel-opencl-icd": "/usr/bin/ocloc",
    "clang-15": "/usr/bin/clang-15",
    "llvm-15": "/usr/bin/opt-15",
    "rocm-device-libs": "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc",
}

# A process a core, eight at most: one comes to 3 GB of programs and matrices. Each begins with
# tests that follow one another, since these share programs; who has finished takes from others.
PROCESSES = ("--numprocesses", "auto", "--maxprocesses", "8", "--dist", "worksteal")

# Compilers take and give back much memory. Memory that malloc gives back to the system comes again
# page by page, by a fault each: a third of the system's time of the tests. Threads of OpenBLAS that
# have nothing to do spin for a while, in each of many processes. Compiled Python is kept beside the
# packages, also where the machine's own setting is to keep none: tests start hundreds of processes.
SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TOP_PAD_": str(32 << 20),
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(ENVIRONMENT / "pycache"),
}

# What the pass with the lowest versions leaves out, beside tests that are marked: tests that reach
# Python packages by code that other tests reach, too. It keeps the tests of what calls packages or
# takes their objects: conversions, files, matrices, frames, graphs of other libraries, clustering,
# drawing, the runtime; and the contract suite, which solves by every algorithm. Each test takes few
# cases, in which every value of every parameter occurs (tests/helpers/sampling.py).
NOT_AGAIN = (
    # Kernels, options of algorithms, and kernels of other shapes.
    "tests/algorithms",
    "tests/primitives/test_chain.py",
    "tests/primitives/test_compact.py",
    "tests/primitives/test_results.py",
    "tests/primitives/test_scan.py",
    "tests/primitives/test_shares.py",
    "tests/primitives/test_sort.py",
    "tests/primitives/test_split.py",
    "tests/points/test_first_call.py",
    "tests/points/test_ways.py",
    "tests/whole/test_families.py",
    "tests/whole/test_layouts.py",
    "tests/whole/test_worst_cases.py",
    # Processes that end or are proven by volume, drivers, and several devices.
    "tests/faults",
    "tests/prove",
    "tests/repeated/devices",
    "tests/runtime/test_ahead.py",
    "tests/runtime/test_binary_cache.py",
    "tests/runtime/test_child.py",
    "tests/runtime/test_discovery.py",
    "tests/runtime/test_quirks.py",
    "tests/runtime/test_rusticl.py",
    "tests/runtime/test_work_groups.py",
    # The repository: its sources, records, site and wheel; examples of pages do run again.
    "tests/bench/test_report.py",
    "tests/bench/test_suite.py",
    "tests/cli/test_bench.py",
    "tests/cli/test_root.py",
    "tests/core/test_long_work.py",
    "tests/project/test_architecture.py",
    "tests/project/test_benchmarks.py",
    "tests/project/test_distribution.py",
    "tests/project/test_docstring_examples.py",  # NumPy 1 prints scalars otherwise
    "tests/project/test_glossary.py",
    "tests/project/test_import_circles.py",
    "tests/project/test_landscape.py",
    "tests/project/test_records.py",
    "tests/project/test_site.py",
    "tests/project/test_structure.py",
    "tests/project/test_workflows.py",
)

# What `check` leaves to `test` beside slow tests: work in many processes, broken off or repeated,
# other projects' tests, large graphs.
NOT_IN_CHECK = (
    "tests/algorithms/test_add_an_algorithm.py",
    "tests/algorithms/test_memory_needs.py",
    "tests/algorithms/test_registry.py",
    "tests/bench/test_report.py",
    "tests/bench/test_suite.py",
    "tests/faults",
    "tests/misuse",
    "tests/prove",
    "tests/cli/test_bench.py",
    "tests/repeated/devices",
    "tests/runtime/test_binary_cache.py",
    "tests/project/test_benchmarks.py",
    "tests/project/test_docstring_examples.py",  # NumPy 1 prints scalars otherwise
    "tests/whole/test_families.py",
    "tests/whole/test_other_suites.py",
    "tests/whole/test_shared_data.py",
    "tests/whole/test_worst_cases.py",
)


def status_of(*command: str | Path) -> int:
    """Show a command and run it; return its status, which is 0 if it succeeds."""
    shown = [str(part) for part in command]
    print("$", " ".join(shown), flush=True)
    return subprocess.run(shown, cwd=ROOT, check=False).returncode


def run(*command: str | Path) -> None:
    """Show a command and run it; stop with its status if it fails."""
    if status := status_of(*command):
        sys.exit(status)


def install(extras: str, environment: Path = ENVIRONMENT, *constraints: str) -> None:
    """Install clmst with `extras` into an environment, unless that was done before.

    uv takes a third of pip's time, and fetches no package twice. Pip does what uv cannot: an index
    that only pip's settings name, say.
    """
    stamp = environment / f"installed-{extras}"
    project = ROOT / "pyproject.toml"
    if stamp.exists() and stamp.stat().st_mtime > project.stat().st_mtime:
        return
    python = environment / "bin" / "python"
    if not python.exists():
        print(f"making {environment}", flush=True)
        venv.create(environment, with_pip=environment == ENVIRONMENT)
    options = []
    if constraints:
        file = environment / "constraints.txt"
        file.write_text("\n".join(constraints) + "\n", encoding="utf-8")
        options = ["--constraint", str(file)]
    pip = (BIN / "python", "-m", "pip")
    packages = ("install", "--quiet", *options, "--editable", f".[{extras}]")
    uv = BIN / "uv"
    has_uv = uv.exists() or status_of(*pip, "install", "--quiet", "uv") == 0
    if not has_uv or status_of(uv, "pip", *packages, "--python", python):
        run(*pip, "--python", python, *packages)
    stamp.touch()


def lowest_versions() -> list[str]:
    """Return the lowest version of each package that pyproject.toml allows, as pip takes them."""
    import tomllib  # which Python has from 3.11 on

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(line for extra in optional for line in extra)]
    lowest = (re.match(r"([\w.-]+)(?:\[.*?\])?>=([\d.]+)", line) for line in listed)
    return sorted({f"{found[1]}=={found[2]}" for found in lowest if found})


def install_system_packages() -> None:
    """Install the tools of the tests that are no Python packages, where that is possible."""
    missing = [name for name, file in SYSTEM_PACKAGES.items() if not Path(file).exists()]
    if not missing:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print(f"not installed, so their tests are skipped: {' '.join(missing)}", flush=True)
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "--yes", *missing)


def demonstrate(file: str | None) -> None:
    """Solve a graph file, or a generated road network, on the best device; check it, draw it."""
    install("cpu,plot,plotly,networkx,cluster,frames")  # what the README and the tutorial import
    OUTPUT.mkdir(exist_ok=True)
    if file is None:
        file = str(OUTPUT / "road.gr")
        run(BIN / "clmst", "generate", "road", "--n", "60000", "--output", file)
    picture = OUTPUT / "forest.png"
    run(BIN / "clmst", "devices")
    run(BIN / "clmst", "solve", file, "--verify", "--plot", picture)
    print(f"the picture: {picture}")


def lint() -> None:
    """Check the sources without running them, but for types."""
    run(BIN / "ruff", "check")
    run(BIN / "ruff", "format", "--check")
    run(BIN / "clang-format", "--dry-run", "--Werror", *sorted(ROOT.glob("cl/**/*.cl")))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    schema = ("--builtin-schema", "vendor.github-workflows")
    run(BIN / "check-jsonschema", *schema, *workflows)


def lint_all() -> None:
    """Check the sources without running them."""
    install("dev")
    lint()
    run(BIN / "mypy")


@contextmanager
def beside(*command: str | Path) -> Iterator[None]:
    """Run a command while other work is done, and show what it said then; stop if either fails."""
    shown = [str(part) for part in command]
    print("$", *shown, "&", flush=True)
    process = subprocess.Popen(
        shown, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        yield
    finally:
        said, _ = process.communicate()
        print(f"$ {' '.join(shown)}\n{said}", end="", flush=True)
    if process.returncode:
        sys.exit(process.returncode)


def check() -> None:
    """Run what fits into minutes: a part of what `test` runs."""
    os.environ.update(SETTINGS)
    install("dev")
    lint()
    os.environ["CLMST_TESTED_DEVICES"] = "chosen, unoptimised"  # see tests/helpers/variants.py
    os.environ["HYPOTHESIS_PROFILE"] = "quick"  # see tests/helpers/strategies.py
    left_out = [f"--ignore={path}" for path in NOT_IN_CHECK]
    chosen = ("-m", "not external and not slow and not exhaustive", "-k", "not ten_runs")
    with beside(BIN / "mypy"):
        run(BIN / "python", "-m", "pytest", *chosen, *left_out, *PROCESSES)


def run_all_checks(*, exhaustive: bool = False) -> None:
    """Run lint, types and tests; the cases of tests marked "exhaustive" only if asked for."""
    os.environ.update(SETTINGS)
    install("dev")
    install_system_packages()
    lint()
    with beside(BIN / "mypy"), beside(sys.executable, ROOT / "run.py", "lowest"):
        cases = () if exhaustive else ("-m", "not exhaustive")
        os.environ["HYPOTHESIS_PROFILE"] = "exhaustive" if exhaustive else "ci"
        run(BIN / "python", "-m", "pytest", *cases, *PROCESSES)
    # Again, but for what no Python package changes: what compilers and simulators say, kernels of
    # other shapes and on other devices, most random examples, and combinations of parameters.
    python = LOWEST_ENVIRONMENT / "bin" / "python"
    os.environ["CLMST_TESTED_CASES"] = "values"  # see tests/helpers/sampling.py
    os.environ["CLMST_TESTED_DEVICES"] = "chosen"  # see tests/helpers/variants.py
    os.environ["HYPOTHESIS_PROFILE"] = "quick"  # see tests/helpers/strategies.py
    left_out = [f"--ignore={path}" for path in NOT_AGAIN]
    chosen = ("-m", "not external and not slow and not exhaustive", "-k", "not ten_runs")
    run(python, "-m", "pytest", *chosen, *left_out, *PROCESSES)


def install_lowest() -> None:
    """Install the lowest version of every package that pyproject.toml allows."""
    install("cpu,test", LOWEST_ENVIRONMENT, *lowest_versions())


def fresh(interpreters: list[str]) -> None:
    """Install the wheel as a newcomer does, and run what the pages show."""
    pages = [str(ROOT / "README.md"), *map(str, sorted((ROOT / "docs").glob("*.md")))]
    pages = [page for page in pages if not page.endswith("add_an_algorithm.md")]  # of a clone
    os.environ.pop("PYTHONPATH", None)
    for interpreter in interpreters:
        with tempfile.TemporaryDirectory() as folder:
            environment = Path(folder) / "environment"
            run(interpreter, "-m", "venv", environment)
            python = environment / "bin" / "python"
            pip = (python, "-m", "pip", "install", "--quiet", "--extra-index-url", index(folder))
            run(*pip, "clmst[cpu,plot,frames,networkx,cluster,dask]")
            script = shutil.copy(ROOT / "tests" / "helpers" / "pages.py", folder)
            run(python, "-I", script, *pages)


def index(folder: str) -> str:
    """Make a package index in a folder, which has the wheel of this clone; return its address."""
    place = Path(folder) / "index" / "clmst"
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT)
    (wheel,) = place.glob("*.whl")
    link = f'<!doctype html><a href="{wheel.name}">{wheel.name}</a>\n'
    (place / "index.html").write_text(link, encoding="utf-8")
    return place.parent.as_uri()


def first() -> None:
    """Begin as a newcomer does, with the wheel from an index."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, ROOT / "tests" / "helpers" / "first_time.py", index(folder))


def version() -> str:
    """Return the version that the package states."""
    text = (ROOT / "clmst" / "__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    return str(found)


def assemble_changelog() -> None:
    """Make the section of the version out of the fragments."""
    if f"\n## {version()} (" in CHANGELOG.read_text(encoding="utf-8"):
        sys.exit(f"CHANGELOG.md has a section of {version()}; a release has a new __version__")
    install("dev")
    run(BIN / "python", "-m", "towncrier", "build", "--yes", "--version", version())


def build() -> None:
    """Build wheel and sdist, and check them."""
    install("dev")
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    run(BIN / "python", "-m", "hatchling", "build")
    built = sorted((ROOT / "dist").iterdir())
    run(BIN / "python", "-m", "twine", "check", "--strict", *built)
    (wheel,) = (path for path in built if path.suffix == ".whl")
    with zipfile.ZipFile(wheel) as file:
        shipped = {name for name in file.namelist() if ".dist-info/" not in name}
    git = ("git", "ls-files", "clmst", "cl")
    listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    meant = {re.sub("^cl/", "clmst/cl/", name) for name in listed.splitlines()}
    print(*(f"{path.stat().st_size:>9} {path.relative_to(ROOT)}" for path in built), sep="\n")
    if shipped != meant:
        sys.exit(f"the wheel and the clone differ in {', '.join(sorted(shipped ^ meant))}")


def release() -> None:
    """Build what is uploaded, and say whether the clone is ready for its version."""
    build()
    wrong = []
    if f"\n## {version()} (" not in CHANGELOG.read_text(encoding="utf-8"):
        wrong.append(f"CHANGELOG.md has no section of {version()}; run.py changelog makes it")
    left = [path.name for path in (ROOT / "changelog.d").glob("*.*.md")]
    wrong += [f"changelog.d has fragments still: {len(left)}"] if left else []
    if wrong:
        sys.exit("\n".join(wrong))
    print(f"ready: tag v{version()}, and upload dist/*")


def implementations(arguments: list[str]) -> None:
    """Run implementations of OpenCL that the machine does not have; no part of `test`."""
    os.environ.update(SETTINGS)
    install("dev")
    run(BIN / "python", "-m", "tests.implementations", *arguments)


JOBS = {
    "test": run_all_checks, "check": check, "lint": lint_all, "lowest": install_lowest,
    "first": first, "build": build, "release": release, "changelog": assemble_changelog,
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Do what the command line says."""
    if sys.version_info < (3, 11):  # noqa: UP036 - this file runs before pip could refuse
        sys.exit(f"clmst needs Python 3.11 or newer; this is {sys.version.split()[0]}")
    if len(arguments) == 1 and arguments[0] in JOBS:
        JOBS[arguments[0]]()
    elif arguments == ["test", "--all"]:
        run_all_checks(exhaustive=True)
    elif arguments[:1] == ["fresh"]:
        fresh(arguments[1:] or [sys.executable])
    elif arguments[:1] == ["implementations"]:
        implementations(arguments[1:])
    elif len(arguments) > 1 or arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        demonstrate(arguments[0] if arguments else None)


if __name__ == "__main__":
    main(sys.argv[1:])
