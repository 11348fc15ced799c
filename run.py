#!/usr/bin/env python3
"""Set everything up in a clone, then run the main job or the tests. Needs only Python.

    python3 run.py [FILE]   compute the forest of your graph file, or of a generated road network;
                            print a summary and draw a picture
    python3 run.py check    in minutes: lint, types, and the tests on the default device. Slow tests
                            and tests of other compilers are left out, and there are few random
                            examples
    python3 run.py fresh [PYTHON ...]
                            for each interpreter, install the wheel into a new environment outside
                            this clone; then run all examples and commands of the README and of the
                            pages in docs/
    python3 run.py first    install the wheel from a temporary package index, then run and time the
                            first commands of the page about installing, with empty caches
    python3 run.py changelog
                            assemble the fragments of changelog.d into the section of this version
                            in CHANGELOG.md
    python3 run.py build    build wheel and sdist into dist/, and check them as a package index does
    python3 run.py release  the same, and check that the changelog is ready for an upload
    python3 run.py lint     ruff, clang-format, mypy, and the workflows against their schema
    python3 run.py lowest   install the lowest version of every package into .venv-lowest
    python3 run.py implementations [NAME ...] [--minutes M] [--quick] [--write]
                            set up other implementations of OpenCL in .implementations; on each, run
                            the self-tests, the tests of every algorithm and many random solves
                            (docs/portability.md)
    python3 run.py test [--all]
                            lint, types, tests; then, with the lowest version of every package that
                            pyproject.toml allows, the tests of code that calls packages. With
                            --all, also the cases marked "exhaustive", as before a release

Everything is installed into ``.venv`` beside this file. The lowest versions of the packages are
installed into ``.venv-lowest``. The tests also use tools that are not Python packages (PoCL,
Oclgrind, ocloc, clang). On Debian and Ubuntu, if the user is root, the tools are installed with
apt. Elsewhere the tests that need them are skipped, and say so.
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
EXTRAS = "cpu,plot,plotly,networkx,cluster,frames"  # what the README and the tutorial import
LOWEST_ENVIRONMENT = ROOT / ".venv-lowest"
BIN = ENVIRONMENT / "bin"
OUTPUT = ROOT / "demo"
CHANGELOG = ROOT / "CHANGELOG.md"

# The Debian packages that the tests use. Each comes with a file whose presence shows that the
# package is installed.
SYSTEM_PACKAGES = {
    "pocl-opencl-icd": "/etc/OpenCL/vendors/pocl.icd",
    "mesa-opencl-icd": "/etc/OpenCL/vendors/rusticl.icd",
    "oclgrind": "/usr/bin/oclgrind",
    "intel-opencl-icd": "/usr/bin/ocloc",
    "clang-15": "/usr/bin/clang-15",
    "llvm-15": "/usr/bin/opt-15",
    "rocm-device-libs": "/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ockl.bc",
}

# Options of pytest-xdist: one process for each core, but at most eight, because a process grows to
# 3 GB of compiled programs and matrices. Each process begins with a run of consecutive tests, since
# these share programs. A process that has finished its tests takes tests from other processes.
SPREAD = ("--dist", "worksteal")
PROCESSES = ("--numprocesses", "auto", "--maxprocesses", "8", *SPREAD)
# The tests with the lowest versions of packages keep the cores busy for 70 % of the time only if
# there is one process for each core. All tests together are no quicker with more processes.
PROCESSES_FOR_LOWEST = ("--numprocesses", str(min((os.cpu_count() or 1) + 1, 8)), *SPREAD)

# A folder in which PoCL's compiler looks for the linker `ld` (`use_quick_linker`).
LINKER = ENVIRONMENT / "linker"

# Environment variables for the tests. Compilers allocate and free much memory. If malloc returns
# it to the system, it comes back page by page, with a page fault for each, which took a third of
# the tests' system time. So malloc keeps it. OpenBLAS gets one thread, because its idle threads
# spin for a while in each of many processes. Compiled Python files are kept beside the packages,
# even if the machine is set to keep none, because tests start hundreds of Python processes.
SETTINGS = {
    "MALLOC_TRIM_THRESHOLD_": str(256 << 20),
    "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
    "MALLOC_TOP_PAD_": str(32 << 20),
    "OPENBLAS_NUM_THREADS": "1",
    "COMPILER_PATH": str(LINKER),
    "PYTHONDONTWRITEBYTECODE": "",
    "PYTHONPYCACHEPREFIX": str(ENVIRONMENT / "pycache"),
}

# Tests that are not run again with the lowest versions of packages. (Tests that are marked as slow,
# external or exhaustive are not run again either.) The code through which these tests reach Python
# packages is tested by others, too. The tests that do run again are of code that calls packages or
# takes their objects: conversions, files, matrices, data frames, graphs of other libraries,
# clustering, drawing, commands, the runtime. Kernels do not depend on the versions of Python
# packages, so no test of kernels runs again. Each test takes few cases, in which every value of
# every parameter occurs (tests/helpers/sampling.py).
NOT_AGAIN = (
    # Tests of kernels, also with work-groups of other sizes, of the options of algorithms, and of
    # the choice between them.
    "tests/algorithms",
    "tests/blocks/test_blocks.py",
    "tests/blocks/test_many_points.py",
    "tests/primitives/test_chain.py",
    "tests/primitives/test_compact.py",
    "tests/primitives/test_monoid.py",
    "tests/primitives/test_results.py",
    "tests/primitives/test_scan.py",
    "tests/primitives/test_shares.py",
    "tests/primitives/test_sort.py",
    "tests/primitives/test_split.py",
    "tests/points/test_answers_of_the_host.py",
    "tests/points/test_brute_force.py",
    "tests/points/test_first_call.py",
    "tests/points/test_next_device.py",
    "tests/points/test_persistent_leaves.py",
    "tests/points/test_pipeline.py",
    "tests/points/test_ties.py",
    "tests/points/test_ways.py",
    "tests/points/test_without_doubles.py",
    "tests/test_route.py",
    "tests/whole/test_contract.py",
    "tests/whole/test_families.py",
    "tests/whole/test_layouts.py",
    "tests/whole/test_worst_cases.py",
    # Repeated solves and changes, of which the tests of sessions and points run again.
    "tests/dynamic/test_histories.py",
    "tests/dynamic/test_interrupts.py",
    "tests/repeated/test_changes_of_rounds.py",
    "tests/repeated/test_memory.py",
    "tests/repeated/test_solver.py",
    "tests/repeated/test_update.py",
    "tests/repeated/test_warm_start.py",
    # Tests of faults such as killed processes, of first calls, of very many random cases, of
    # memory, of drivers, and of several devices.
    "tests/blocks/test_memory.py",
    "tests/cli/test_first_call.py",
    "tests/faults",
    "tests/test_first_answers.py",
    "tests/io/test_full_disk.py",
    "tests/io/test_opposite_arcs.py",
    "tests/prove",
    "tests/repeated/devices",
    "tests/runtime/test_ahead.py",
    "tests/runtime/test_binary_cache.py",
    "tests/runtime/test_child.py",
    "tests/runtime/test_discovery.py",
    "tests/runtime/test_failures.py",
    "tests/runtime/test_quirks.py",
    "tests/runtime/test_reals.py",
    "tests/runtime/test_rusticl.py",
    "tests/runtime/test_trial.py",
    "tests/runtime/test_trust.py",
    "tests/runtime/test_work_groups.py",
    "tests/scale/test_memory.py",
    "tests/scale/test_passes.py",
    "tests/scale/test_several.py",
    "tests/scale/test_stream.py",  # the tests of sources and partitions run again
    "tests/test_on_host.py",
    "tests/test_warming.py",
    "tests/whole/test_fuzz_files.py",
    "tests/whole/test_memory.py",
    "tests/whole/test_oclgrind.py",
    "tests/whole/test_other_suites.py",
    # Tests of the repository itself: its sources, records, web site and wheel. The examples in
    # pages are run again, so they are not listed here.
    "tests/bench/test_report.py",
    "tests/bench/test_suite.py",
    "tests/cli/test_bench.py",
    "tests/cli/test_root.py",
    "tests/core/test_long_work.py",
    "tests/project/test_architecture.py",
    "tests/project/test_benchmarks.py",
    "tests/project/test_distribution.py",
    "tests/project/test_docstring_examples.py",  # NumPy 1 prints scalars in another form
    "tests/project/test_glossary.py",
    "tests/project/test_import_circles.py",
    "tests/project/test_landscape.py",
    "tests/project/test_notebooks.py",  # the pages have the same calls
    "tests/project/test_records.py",
    "tests/project/test_run.py",
    "tests/project/test_site.py",
    "tests/project/test_structure.py",
    "tests/project/test_words.py",
    "tests/project/test_workflows.py",
)

# Tests that `run.py test` runs and `run.py check` leaves out, in addition to tests marked as slow.
# They start many processes, interrupt or repeat work, run test suites of other projects, or solve
# large graphs.
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
    "tests/project/test_docstring_examples.py",  # runs the examples of all docstrings
    "tests/whole/test_families.py",
    "tests/whole/test_other_suites.py",
    "tests/whole/test_shared_data.py",
    "tests/whole/test_worst_cases.py",
)


def status_of(*command: str | Path) -> int:
    """Print a command, run it, and return its exit status, which is 0 if it succeeds."""
    shown = [str(part) for part in command]
    print("$", " ".join(shown), flush=True)
    return subprocess.run(shown, cwd=ROOT, check=False).returncode


def run(*command: str | Path) -> None:
    """Print a command and run it. If it fails, exit this program with the command's status."""
    if status := status_of(*command):
        sys.exit(status)


def install(extras: str, environment: Path = ENVIRONMENT, *constraints: str) -> None:
    """Install clmst in editable mode, with some extras of pyproject.toml.

    `extras` has the names of the extras, separated by commas. `environment` is the folder of a
    virtual environment, which is created if it is missing. `constraints` are requirements for pip,
    such as "numpy==1.26". Nothing is done if the same was installed after the last change of
    pyproject.toml.

    The packages are installed by uv, which takes a third of pip's time and downloads no package
    twice. If uv fails, they are installed by pip, which finds, for example, a package index that
    only pip's own settings name.
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
    """Return the lowest version of each package that pyproject.toml allows, as "name==version"."""
    import tomllib  # which Python has from 3.11 on

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"].values()
    listed = [*project["dependencies"], *(line for extra in optional for line in extra)]
    lowest = (re.match(r"([\w.-]+)(?:\[.*?\])?>=([\d.]+)", line) for line in listed)
    return sorted({f"{found[1]}=={found[2]}" for found in lowest if found})


def install_system_packages() -> None:
    """Install the tools for the tests that are not Python packages, if apt and root rights exist.

    Otherwise print the names of the missing packages, whose tests are skipped.
    """
    missing = [name for name, file in SYSTEM_PACKAGES.items() if not Path(file).exists()]
    if not missing:
        return
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        print(f"not installed, so their tests are skipped: {' '.join(missing)}", flush=True)
        return
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    run("apt-get", "update", "-qq")
    run("apt-get", "install", "-qq", "--yes", *missing)


def use_quick_linker() -> None:
    """Let PoCL link kernels by gold, if the machine has it.

    PoCL starts the linker for each kernel, and the usual one takes three times as long.
    """
    gold, ours = shutil.which("ld.gold"), LINKER / "ld"
    if gold is not None and not ours.exists():
        LINKER.mkdir(exist_ok=True)
        ours.unlink(missing_ok=True)  # a link to a gold that is gone
        ours.symlink_to(gold)


def demonstrate(file: str | None) -> None:
    """Solve a graph on the best device, verify the forest, and draw it.

    `file` is the path of a graph file. If it is None, a road network is generated.
    """
    install(EXTRAS)
    OUTPUT.mkdir(exist_ok=True)
    if file is None:
        file = str(OUTPUT / "road.gr")
        run(BIN / "clmst", "generate", "road", "--n", "60000", "--output", file)
    picture = OUTPUT / "forest.png"
    run(BIN / "clmst", "devices")
    run(BIN / "clmst", "solve", file, "--verify", "--plot", picture)
    print(f"the picture: {picture}")


def lint() -> None:
    """Check style and format of the sources and workflows, without the check of types."""
    run(BIN / "ruff", "check")
    run(BIN / "ruff", "format", "--check")
    run(BIN / "clang-format", "--dry-run", "--Werror", *sorted(ROOT.glob("cl/**/*.cl")))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    schema = ("--builtin-schema", "vendor.github-workflows")
    run(BIN / "check-jsonschema", *schema, *workflows)


def lint_all() -> None:
    """Check style and format of the sources and workflows, and the types."""
    install("dev")
    lint()
    run(BIN / "mypy")


@contextmanager
def beside(*command: str | Path) -> Iterator[None]:
    """Run a command in the background while the body of the ``with`` statement runs.

    When the body ends, this waits for the command and prints its output. If the command has failed,
    the program exits with its status.
    """
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
    """Run lint, types, and the part of the tests that fits into minutes."""
    os.environ.update(SETTINGS)
    install("dev")
    use_quick_linker()
    lint()
    os.environ["CLMST_TESTED_DEVICES"] = "chosen, unoptimised"  # see tests/helpers/variants.py
    os.environ["HYPOTHESIS_PROFILE"] = "quick"  # see tests/helpers/strategies.py
    left_out = [f"--ignore={path}" for path in NOT_IN_CHECK]
    chosen = ("-m", "not external and not slow and not exhaustive", "-k", "not ten_runs")
    with beside(BIN / "mypy"):
        run(BIN / "python", "-m", "pytest", *chosen, *left_out, *PROCESSES)


def run_all_checks(*, exhaustive: bool = False) -> None:
    """Run lint, types and tests, then some tests again with the lowest versions of all packages.

    The test cases that are marked "exhaustive" are run only if `exhaustive` is true.
    """
    os.environ.update(SETTINGS)
    install("dev")
    install_system_packages()
    use_quick_linker()
    lint()
    with beside(BIN / "mypy"), beside(sys.executable, ROOT / "run.py", "lowest"):
        cases = () if exhaustive else ("-m", "not exhaustive")
        os.environ["HYPOTHESIS_PROFILE"] = "exhaustive" if exhaustive else "ci"
        if exhaustive:
            os.environ["CLMST_TESTED_DEVICES"] = "optimised"  # see tests/helpers/variants.py
        run(BIN / "python", "-m", "pytest", *cases, *PROCESSES)
    # Now run the tests again with the lowest versions of all packages. Left out are tests whose
    # results do not depend on the versions of Python packages: of outputs of compilers and
    # simulators, of kernels with work-groups of other sizes or on other devices, most random
    # examples, and combinations of parameters.
    python = LOWEST_ENVIRONMENT / "bin" / "python"
    os.environ["CLMST_TESTED_CASES"] = "values"  # see tests/helpers/sampling.py
    os.environ["CLMST_TESTED_DEVICES"] = "chosen"  # see tests/helpers/variants.py
    os.environ["HYPOTHESIS_PROFILE"] = "quick"  # see tests/helpers/strategies.py
    left_out = [f"--ignore={path}" for path in NOT_AGAIN]
    chosen = ("-m", "not external and not slow and not exhaustive")
    run(python, "-m", "pytest", *chosen, *left_out, *PROCESSES_FOR_LOWEST)


def install_lowest() -> None:
    """Install the lowest version of every package that pyproject.toml allows."""
    install("cpu,test", LOWEST_ENVIRONMENT, *lowest_versions())


def fresh(interpreters: list[str]) -> None:
    """Install the wheel into a new environment, and run all examples of the README and the pages.

    This is done for each of `interpreters`, which are commands that start Python.
    """
    pages = [str(ROOT / "README.md"), *map(str, sorted((ROOT / "docs").glob("*.md")))]
    pages = [page for page in pages if not page.endswith("add_an_algorithm.md")]  # of a clone
    os.environ.pop("PYTHONPATH", None)
    for interpreter in interpreters:
        with tempfile.TemporaryDirectory() as folder:
            environment = Path(folder) / "environment"
            run(interpreter, "-m", "venv", environment)
            python = environment / "bin" / "python"
            pip = (python, "-m", "pip", "install", "--quiet", "--extra-index-url", index(folder))
            run(*pip, "clmst[cpu,plot,frames,networkx,cluster,dask]", "hdbscan")
            script = shutil.copy(ROOT / "tests" / "helpers" / "pages.py", folder)
            run(python, "-I", script, *pages)


def index(folder: str) -> str:
    """Build the wheel of this clone, and make a package index in `folder` that has only the wheel.

    Returns the address of the index, as a file: URI.
    """
    place = Path(folder) / "index" / "clmst"
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", place, ROOT)
    (wheel,) = place.glob("*.whl")
    link = f'<!doctype html><a href="{wheel.name}">{wheel.name}</a>\n'
    (place / "index.html").write_text(link, encoding="utf-8")
    return place.parent.as_uri()


def first() -> None:
    """Time the first steps of a new user, who installs the wheel from a package index."""
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, ROOT / "tests" / "helpers" / "first_time.py", index(folder))


def version() -> str:
    """Return the version that the package states."""
    text = (ROOT / "clmst" / "__init__.py").read_text(encoding="utf-8")
    (found,) = re.findall(r'^__version__ = "(.*)"$', text, re.MULTILINE)
    return str(found)


def assemble_changelog() -> None:
    """Write the section of the present version in CHANGELOG.md from the files in changelog.d.

    Exits with a message if the section exists already.
    """
    if f"\n## {version()} (" in CHANGELOG.read_text(encoding="utf-8"):
        sys.exit(f"CHANGELOG.md has a section of {version()}; a release has a new __version__")
    install("dev")
    run(BIN / "python", "-m", "towncrier", "build", "--yes", "--version", version())


def build() -> None:
    """Build wheel and sdist, and check them.

    Exits with a message unless the wheel has exactly the files of ``clmst`` and ``cl`` in git.
    """
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
    """Build wheel and sdist, and check that the changelog is ready for a release of the version.

    Exits with a message if CHANGELOG.md has no section of the version, or if fragments are left.
    """
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
    """Set up and test implementations of OpenCL that the machine does not have.

    `arguments` are passed to ``tests.implementations``. This is not a part of `run.py test`.
    """
    os.environ.update(SETTINGS)
    install("dev")
    run(BIN / "python", "-m", "tests.implementations", *arguments)


JOBS = {
    "test": run_all_checks, "check": check, "lint": lint_all, "lowest": install_lowest,
    "first": first, "build": build, "release": release, "changelog": assemble_changelog,
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Run the job that the command-line arguments name."""
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
