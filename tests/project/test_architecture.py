"""The rules of the tree, read off the sources: what imports what, and what kernels look like."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import pytest

import clmst
from clmst.primitives.expression import ARRAY_READER
from clmst.runtime import policy, source
from tests.helpers.processes import printed
from tests.helpers.programs import programs
from tests.runtime.test_policy import CAPABILITIES

PACKAGE = Path(clmst.__file__).parent
MODULES = sorted(PACKAGE.rglob("*.py"))
IN_ALGORITHMS = {path.stem for path in (PACKAGE / "algorithms").iterdir()}
KERNEL_FILES = sorted(source.root().rglob("*.cl"))

# What each part of the package may import beside itself: imports point down only.
BASE = {"core", "route"}
RUNTIME = BASE | {"runtime"}
PRIMITIVES = RUNTIME | {"primitives"}
ALGORITHMS = PRIMITIVES | {"algorithms"}
API = ALGORITHMS | {"inputs", "scale", "blocks", "api", "peeling", "repeated"}
MAY_IMPORT = {
    "core": {"route"},
    "route": set[str](),
    "runtime": BASE,
    "primitives": RUNTIME,
    "algorithms": PRIMITIVES,
    "inputs": ALGORITHMS,
    "scale": ALGORITHMS | {"io"},
    "blocks": BASE | {"runtime", "scale"},
    "on_host": BASE | {"runtime", "scale"},
    "api": ALGORITHMS | {"inputs", "scale", "blocks", "on_host"},
    "explanation": ALGORITHMS | {"scale"},
    "peeling": ALGORITHMS | {"inputs"},
    "csgraph": API,
    "dask": BASE | {"scale", "blocks", "points"},
    "ray": BASE | {"scale", "blocks", "points"},
    "segmentation": API,
    "points": API | {"drawing"},
    "cluster": API | {"points"},
    "repeated": ALGORITHMS | {"inputs", "api", "peeling", "scale"},
    "dynamic": ALGORITHMS | {"api"},
    "io": BASE,
    "generators": BASE | {"io"},  # surrogate graphs are kept as files: building one takes long
    "drawing": BASE,
    "interop": API | {"clmst"},
    "families": API,
    "versions": RUNTIME | {"clmst"},
    "warming": API | {"families", "points"},
    "bench": API | {"clmst", "io", "generators"},
    "cli": API
    | {"points", "cluster", "families", "bench", "clmst", "io", "generators", "drawing"}
    | {"versions", "explanation", "warming"},
    "__main__": {"cli"},
    # The facade re-exports.
    "clmst": API
    | {"csgraph", "segmentation", "points", "cluster", "families", "io", "generators", "drawing"}
    | {"interop", "dask", "ray", "versions", "dynamic", "warming"},
}

# Who may know a package that is heavy or optional; beside them nobody does.
MAY_USE = {
    "pyopencl": {"runtime"},
    "matplotlib": {"drawing", "bench"},
    "plotly": {"drawing"},
    "pandas": {"core", "io"},
    "pyarrow": {"core", "io"},
    "networkx": {"core", "io", "interop", "bench"},
    "dask": {"dask"},
    "ray": {"ray"},
    "click": {"cli"},
    "rich": {"cli"},
    "sklearn": {"points", "bench"},
}

# Graph.read and DeviceGraph.from_arrays open upwards, so that a graph can be had from its class.
# So do the pictures that notebooks show, and a forest's dendrogram and cuts.
EXCEPTIONS = {
    ("core/graph.py", "clmst.io"),
    ("core/graph.py", "clmst.drawing.thumbnail"),
    ("core/forest.py", "clmst.drawing.thumbnail"),
    ("core/cluster_methods.py", "clmst.points.dendrogram"),
    ("core/cluster_methods.py", "clmst.points.dendrogram"),
    ("runtime/device_graph.py", "clmst.algorithms.csr_validation.device_arrays"),
}

# Which folder of an algorithm may import which other one, beside shared/, which all may.
MAY_KNOW = {
    ("csr_validation", "canonical_csr"),  # what is sound and in another order is brought into it
    ("edge_stream", "canonical_csr"),  # edges of a reduction are brought into order
    ("edge_stream", "proof"),  # the tree of a forest gives limits for other edges
    ("prim_boruvka", "boruvka"),  # its first rounds
    ("prim_boruvka", "prim"),  # its trees
    ("reweighting", "filter_boruvka"),  # solves the candidates that are left
    ("reweighting", "k_core"),  # the 2-core, whose degree-2 paths are chains
}


Node = TypeVar("Node", bound=ast.AST)


class Import(NamedTuple):
    file: str
    line: int
    importer: str  # the module whose file it is
    module: str  # in full, whatever form the statement has


def name_of(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def part_of(module: str) -> str:
    """Return the part of the package that a module belongs to.

    Modules of the facade belong to ``clmst``.
    """
    words = module.split(".")
    return words[1] if len(words) > 1 and words[1] in MAY_IMPORT else "clmst"


def module_of(path: Path) -> str:
    words = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" else words)


@cache
def imports() -> list[Import]:
    """Return all imports, those inside functions and under TYPE_CHECKING too."""
    found = []
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{path}:{node.lineno}: a relative import"
                for alias in node.names:
                    full = f"{node.module}.{alias.name}"
                    is_part = node.module == "clmst" and alias.name in MAY_IMPORT
                    is_module = node.module == "clmst.algorithms" and alias.name in IN_ALGORITHMS
                    modules.append(full if is_part or is_module else str(node.module))
            found += [
                Import(name_of(path), getattr(node, "lineno", 0), module_of(path), one)
                for one in modules
            ]
    return found


@cache
def all_nodes() -> dict[type[ast.AST], list[tuple[str, ast.AST]]]:
    """Return the nodes of all modules by their type, each with the name of its module."""
    found = defaultdict[type[ast.AST], list[tuple[str, ast.AST]]](list)
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            found[type(node)].append((name_of(path), node))
    return found


def nodes(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    """Yield every node of a kind, each with the name of its module."""
    for found in [found for one, found in all_nodes().items() if issubclass(one, kind)]:
        for name, node in found:
            assert isinstance(node, kind)
            yield name, node


@cache
def strings() -> list[tuple[str, int, str]]:
    """Return (module, line, text) of all strings, docstrings left out."""
    docstrings = {one.value for _, one in nodes(ast.Expr)}
    return [
        (name, node.lineno, node.value)
        for name, node in nodes(ast.Constant)
        if isinstance(node.value, str) and node not in docstrings
    ]


# ---------------------------------------------------------------------------- Python


def test_every_part_has_its_rule() -> None:
    """A new part of the package needs a place in the order."""
    parts = {part_of(module_of(path)) for path in MODULES} - {"clmst"}
    loose = [name_of(p) for p in MODULES if part_of(module_of(p)) == "clmst"]
    assert parts <= MAY_IMPORT.keys()
    assert loose == ["__init__.py"]


def test_imports_point_down() -> None:
    upwards = {
        (one.file, one.module)
        for one in imports()
        if one.module.split(".")[0] == "clmst"
        and part_of(one.module) != part_of(one.importer)
        and part_of(one.module) not in MAY_IMPORT[part_of(one.importer)]
    }
    assert upwards == EXCEPTIONS


def folder_of(module: str) -> str | None:
    """Return the folder below clmst.algorithms that a module lies in; None for others."""
    words = module.split(".")
    below = len(words) > 3 or (len(words) == 3 and (PACKAGE / "algorithms" / words[2]).is_dir())
    return words[2] if words[:2] == ["clmst", "algorithms"] and below else None


def test_algorithms_know_no_other_algorithm() -> None:
    """Each is one folder, which can be read, changed and taken out by itself."""
    own = [(folder, one) for one in imports() if (folder := folder_of(one.importer)) is not None]
    known = {
        (folder, to)
        for folder, one in own
        if (to := folder_of(one.module)) not in (None, folder, "shared")
    }
    assert known == MAY_KNOW
    whole = [one for _, one in own if one.module == "clmst.algorithms"]
    assert whole == [], "the table of all algorithms is above each of them"


def test_folders_of_algorithms_are_mirrored() -> None:
    """A newcomer finds the host side, the kernels and the tests from one name."""
    hosts = {path.parent.name for path in (PACKAGE / "algorithms").glob("*/__init__.py")}
    kernels = {path.parent.name for path in (source.root() / "algorithms").glob("*/*.cl")}
    tests = {path.parent.name for path in Path(__file__).parents[1].glob("algorithms/*/test_*.py")}
    assert hosts == kernels == tests


def test_heavy_packages_stay_where_they_belong() -> None:
    elsewhere = [
        one
        for one in imports()
        if part_of(one.importer) not in MAY_USE.get(one.module.split(".")[0], MAY_IMPORT)
    ]
    assert elsewhere == []


def test_one_module_builds_programs() -> None:
    """Else a program could escape tests/helpers/programs.py, and the tests that build all."""
    builders = {
        name
        for name, node in nodes(ast.Attribute)
        if node.attr in ("Program", "create_program_with_built_in_kernels", "create_library")
        and isinstance(node.value, ast.Name)
        and node.value.id in ("cl", "pyopencl")
    }
    assert builders == {"runtime/program.py"}


def test_one_module_knows_where_kernels_are() -> None:
    """Others name sources below ``cl/``, and cannot find a file of the package."""
    finders = {name for name, node in nodes(ast.Name) if node.id == "__file__"}
    finders |= {n for n, node in nodes(ast.alias) if node.name.startswith("importlib.resources")}
    folders = {name for name, _, text in strings() if text in ("cl", "cl/")}
    assert finders == folders == {"runtime/source.py"}


def test_sources_that_are_named_exist() -> None:
    named = {text for *_, text in strings() if text.endswith(".cl")}
    assert named
    assert [name for name in named if not (source.root() / name).is_file()] == []


def test_no_kernel_text_in_python() -> None:
    kernel = re.compile(r"\b(__)?kernel\s+void\b|\bglobal\s+\w+\s*\*|get_global_id|#pragma OPENCL")
    assert [(name, line) for name, line, text in strings() if kernel.search(text)] == []


def test_no_module_is_a_drawer() -> None:
    """What a module is about stands in its name."""
    drawers = {"utils", "util", "helpers", "helper", "common", "misc", "tools"}
    assert [name_of(p) for p in MODULES if drawers & set(p.with_suffix("").parts)] == []


def test_handles_of_opencl_have_types() -> None:
    """As Any, a queue given for a buffer would be found by a crash."""
    handles = {"buffer", "event", "memory", "queue"}
    untyped = [
        f"{name}:{node.lineno} {node.arg}"
        for name, node in nodes(ast.arg)
        if node.arg in handles
        and isinstance(node.annotation, ast.Name)
        and node.annotation.id == "Any"
    ]
    assert untyped == []


def test_no_two_classes_have_one_name() -> None:
    """Of a traceback, a profile or a search, the name alone must tell which class it is."""
    homes: defaultdict[str, set[str]] = defaultdict(set)
    for name, node in nodes(ast.ClassDef):
        homes[node.name.lstrip("_")].add(f"{name}:{node.lineno}")
    assert {name: sorted(at) for name, at in homes.items() if len(at) > 1} == {}


def test_import_is_light() -> None:
    """`import clmst` must not cost a second, nor need OpenCL; nor the help, which reads records."""
    code = """
import sys, json, clmst, clmst.algorithms.registry
heavy = ("pyopencl", "scipy", "matplotlib", "networkx", "click", "rich", "numpy")
print(json.dumps([name for name in heavy if name in sys.modules]))
"""
    assert printed("-c", code) == []


@pytest.mark.parametrize("name", clmst.__all__)
def test_public_name_resolves(name: str) -> None:
    value = getattr(clmst, name)
    assert name in dir(clmst)
    if name != "__version__":
        assert value.__name__.removeprefix("clmst.") == name
        assert value.__doc__


def test_public_names_are_those_with_a_home() -> None:
    assert sorted(clmst.__all__) == sorted([*clmst._HOME_OF, "__version__", *clmst._MODULES])
    with pytest.raises(AttributeError, match="no attribute 'minimum_spanning_fires'"):
        _ = clmst.minimum_spanning_fires


def test_dir_lists_what_is_public_and_nothing_else() -> None:
    """Completion shows neither imports of the facade nor modules that a call has loaded."""
    clmst.kruskal([[0, 1], [1, 0]])
    listed = {name for name in dir(clmst) if not name.startswith("__")}
    assert listed | {"__version__"} == {*clmst.__all__, "drawing", "generators", "io"}
    assert clmst.drawing.draw_change.__name__ == "draw_change"
    assert clmst.io.read_forest is clmst.read_forest


# --------------------------------------------------------------------------- kernels

INCLUDE = re.compile(r'^#include "([^"]+)"$', re.MULTILINE)
KERNEL = re.compile(r"^(LANES_ATTRIBUTE\n)?kernel void (\w+)\(", re.MULTILINE)
FUNCTION = re.compile(r"^(?:static inline \w[\w ]*[ *]|kernel void )(\w+)\(", re.MULTILINE)
DEFAULT = re.compile(r"((?:^//.*\n)*)^#ifndef (\w+)\n#define \2(?:\([^)]*\))?( .*)?$", re.MULTILINE)
# The sections of a contract.
SECTION = re.compile(r"(Source|In|In-out|Out|Temp|Launch|Scope|Needs|Ensures)(?:  |$)")
# Functions that several work-items must call together, by their names.
COOPERATING = re.compile(r"^static inline \w+ ((?:wg|lanes|lane_group|grid)_\w+)\(", re.MULTILINE)
# Folders below algorithms/ that hold several families of kernels, each with a name of its own.
GROUPS = {"reweighting", "shared"}
# Macros that only operators on records have: files ask whether they are defined.
OF_RECORDS = {"T_RECORD", "T_MEMORY_BYTES", "RECORD_IDENTITY", "CHOICE"}
# Macros that files of cl/ define for those that they include.
INTERNAL = {"SHORT_ROW", "SEGMENTED", "LOOK_T", "SEARCH_BOX"}
# Macros that no policy or option sets: one value is right for all devices, or what a device takes
# of a built kernel decides, or only tests set another one.
FIXED = {
    "LOOK_PATIENCE",
    "STARVED",
    "DECLARED_WORK_GROUP",
    "RESIDENT_PATIENCE",
    "FEW_CROWD",
    "FEW_EDGES_PER_ITEM",
    "FEW_SUPERVERTICES",
    "FEW_VERTICES",
    "LANES_FIRST",
    "RESERVATION_BY_LEADING",
}

kernel_files = pytest.mark.parametrize(
    "path", KERNEL_FILES, ids=[str(p.relative_to(source.root())) for p in KERNEL_FILES]
)


def bodies_of(text: str) -> dict[str, str]:
    """Return the bodies of all functions in a kernel source, by name, variants put together."""
    bodies: dict[str, str] = {}
    for match in FUNCTION.finditer(text):
        end = text.index("\n}", match.end())
        bodies[match[1]] = bodies.get(match[1], "") + text[match.end() : end]
    return bodies


def reaching_lanes(text: str) -> set[str]:
    """Return the functions of a composed source that come to a lanes_ or wg_ function."""
    bodies = bodies_of(text)
    calls = {name: set(re.findall(r"\b(\w+)\(", body)) for name, body in bodies.items()}
    found = {
        name for names in calls.values() for name in names if name.startswith(("lanes_", "wg_"))
    }
    found -= {"lanes_id", "wg_barrier", "wg_barrier_local"}  # which any work-item may call
    while more := {name for name, names in calls.items() if names & found} - found:
        found |= more
    return found


def kernel_prefix(path: Path) -> str:
    """Return the prefix that the kernels of a file must have.

    In an algorithm's folder that is the folder and the file, ``ecl_populate_`` in
    ``ecl/populate.cl``; the folder alone in the file of its name. Elsewhere it is the file.
    """
    folder = path.parent.name
    if path.parent.parent.name != "algorithms" or folder in GROUPS or folder == path.stem:
        return path.stem
    return f"{folder}_{path.stem}"


@kernel_files
def test_kernel_file_includes_downwards(path: Path) -> None:
    """Device files know each other; an algorithm or primitive knows those, and its own family.

    The family of an algorithm is its folder; the family of a primitive, the first word of its name.
    """
    for included in INCLUDE.findall(path.read_text(encoding="utf-8")):
        assert (source.root() / included).is_file()
        to = source.root() / included
        if to.parent.name != "device":
            assert path.parent.name != "device"
            assert to.parent == path.parent
            if path.parent.name in {"primitives", *GROUPS}:
                assert to.stem.split("_")[0] == path.stem.split("_")[0]


@kernel_files
def test_kernel_file_is_short(path: Path) -> None:
    """Only code is counted, so that nobody saves on contracts."""
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if not line.lstrip().startswith("//")]) <= 220


@kernel_files
def test_kernels_have_the_name_of_their_file(path: Path) -> None:
    """Profiles and errors name kernels only; each must lead to its file."""
    text = path.read_text(encoding="utf-8")
    for _, name in KERNEL.findall(text):
        assert name.startswith(f"{kernel_prefix(path)}_")
        assert not re.search(r"\d$", name)
    assert text.count("kernel void") == len(KERNEL.findall(text))


def comment_above(text: str, start: int) -> list[str]:
    """Return the lines of the comment that ends right above a position of a kernel source."""
    above = text[:start].splitlines()
    comment: list[str] = []
    while above and above[-1].startswith("//"):
        comment.insert(0, above.pop()[2:].strip())
    return comment


def sections_of(comment: list[str]) -> dict[str, str]:
    """Return the sections of a contract by name: each begins a line and goes on to the next one."""
    sections = {"": ""}
    name = ""
    for line in comment:
        if match := SECTION.match(line):
            name = match[1]
        sections[name] = sections.get(name, "") + line + " "
    return sections


def missing_in(sections: dict[str, str], parameters: str) -> list[str]:
    """Return the sections and array parameters that a kernel's contract does not have."""
    read = sections.get("In", "")
    written = "".join(sections.get(one, "") for one in ("In-out", "Out", "Temp"))
    missing = [name for name in ("Launch", "Needs", "Ensures") if name not in sections]
    for parameter in parameters.split(","):
        if "*" in parameter:
            name = parameter.split()[-1].lstrip("*")
            if not re.search(rf"\b{name}\b", read if "const " in parameter else written):
                missing.append(name)
    return missing


@kernel_files
def test_kernels_open_with_a_contract(path: Path) -> None:
    """Arrays that are read are named in In; those that are written, in In-out, Out or Temp."""
    text = path.read_text(encoding="utf-8")
    for match in re.finditer(KERNEL.pattern + r"([^)]*)\)", text, re.MULTILINE):
        sections = sections_of(comment_above(text, match.start()))
        assert "Launch" in sections, match[2]
        assert sections[""].strip(), match[2]
        assert missing_in(sections, match[3]) == [], match[2]


@kernel_files
def test_cooperating_functions_say_who_calls_them(path: Path) -> None:
    """A function for a lane group, a work-group or a launch has its Scope above it once."""
    text = path.read_text(encoding="utf-8")
    scoped: dict[str, bool] = {}
    for match in COOPERATING.finditer(text):
        if match[1] in ("lane_group_item", "lane_group_id", "lane_group_lane"):
            continue  # which any work-item may call
        comment = sections_of(comment_above(text, match.start()))
        scoped[match[1]] = scoped.get(match[1], False) or "Scope" in comment
    assert [name for name, has_scope in scoped.items() if not has_scope] == []


def test_contracts_are_read_as_they_are_written() -> None:
    """The tests above would pass for ever if sections came to be misread."""
    comment = ["Add.", "", "In       a[n]:", "         long.", "Out      b[n].", "Launch   any."]
    sections = sections_of(comment)
    assert sections["In"].split() == ["In", "a[n]:", "long."]
    parameters = "const global uint *a, global uint *b, uint n, global uint *c"
    assert missing_in(sections, parameters) == ["Needs", "Ensures", "c"]


@kernel_files
def test_kernels_that_use_lanes_say_so(path: Path) -> None:
    """Without the attribute, sub-groups have another size than LANES on Intel's devices."""
    reaching = reaching_lanes(source.compose(str(path.relative_to(source.root()))))
    for attribute, name in KERNEL.findall(path.read_text(encoding="utf-8")):
        assert bool(attribute) == (name in reaching), name


def test_use_of_lanes_is_seen_through_functions() -> None:
    """The test above would pass for ever if calls came to be misread."""
    reaching = reaching_lanes(source.compose("algorithms/ecl/populate.cl"))
    assert {"lanes_claim_local", "stage_push", "filter_stage_slots"} <= reaching
    assert {"ecl_populate_from_rows", "ecl_populate_from_hubs"} <= reaching
    assert not {"filter_admits", "wi_find", "reservation_lower_first"} & reaching


def test_kernel_names_are_unique() -> None:
    names = [name for p in KERNEL_FILES for _, name in KERNEL.findall(p.read_text("utf-8"))]
    assert len(names) == len(set(names))


def test_every_macro_has_a_commented_default() -> None:
    """Files compile alone, and whoever reads one learns what a macro may be."""
    every = {
        one
        for kind in (*CAPABILITIES.values(), CAPABILITIES["gpu"].without(("doubles",)))
        for groups in (0, 1)
        for one in programs(
            kind, replace(policy.choose(kind), resident_groups_per_compute_unit=groups)
        )
    }
    given = {name for one in every for name, _ in one.defines}
    preludes = "".join(one.prelude.text for one in every if one.prelude)
    given |= {*re.findall(rf"^#define (?!{ARRAY_READER})(\w+)", preludes, re.MULTILINE)}
    defaults = {
        match[2]: match[1]
        for path in KERNEL_FILES
        for match in DEFAULT.finditer(path.read_text(encoding="utf-8"))
    }
    assert given - OF_RECORDS == defaults.keys() - INTERNAL - FIXED
    monoid = (source.root() / "device" / "monoid.cl").read_text(encoding="utf-8")
    comments = " ".join(line for line in monoid.splitlines() if line.startswith("//"))
    assert [name for name in OF_RECORDS if name not in comments] == []
    assert defaults.keys() >= FIXED
    assert [name for name, comment in defaults.items() if not comment] == []
