"""What a release ships: the wheel installs and solves, the sdist makes the same wheel."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import clmst
from clmst.core.errors import optional_import, pip_install
from tests.helpers.processes import needs

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not (ROOT / "pyproject.toml").exists(), reason="installed without sources"),
]

SOLVE = """
import clmst, numpy, pathlib, sys
assert pathlib.Path(clmst.__file__).is_relative_to(sys.prefix), clmst.__file__
triangle = numpy.array([[0, 4, 1], [4, 0, 2], [1, 2, 0]])
assert clmst.minimum_spanning_forest(triangle).total_weight == 3
"""


def run(*command: str | Path, folder: Path) -> str:
    """Run a command away from this checkout, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    words = [str(word) for word in command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(source: Path, folder: Path, *targets: str) -> None:
    """Build wheel or sdist of a source tree into a folder."""
    options = [word for target in targets for word in ("--target", target)]
    run(sys.executable, "-m", "hatchling", "build", *options, "--directory", folder, folder=source)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built wheel and sdist."""
    needs("hatchling", "dev")
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, "sdist", "wheel")
    return folder


def test_the_wheel_installs_and_solves(built: Path, tmp_path: Path) -> None:
    """An environment that has nothing but the wheel, and what it depends on, finds a forest."""
    (wheel,) = built.glob("*.whl")
    environment = tmp_path / "environment"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    run(sys.executable, "-m", "pip", "--python", python, *install, folder=tmp_path)
    (packages,) = (environment / "lib").glob("python*/site-packages")
    present = [sysconfig.get_path("purelib"), *(p for p in sys.path if "site-packages" in p)]
    (packages / "present.pth").write_text("\n".join(dict.fromkeys(present)), encoding="utf-8")
    run(python, "-c", SOLVE, folder=tmp_path)
    said = run(environment / "bin" / "clmst", "--version", folder=tmp_path)
    assert said.strip() == f"clmst {clmst.__version__}"


@pytest.fixture
def source(built: Path, tmp_path: Path) -> Path:
    """Return the names of the files in the sdist."""
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    return folder


def test_the_sdist_makes_the_same_wheel(built: Path, source: Path, tmp_path: Path) -> None:
    """The sdist has all that the wheel and the tests need."""
    (wheel,) = built.glob("*.whl")
    for name in (
        "run.py",
        "hatch_build.py",
        "mkdocs.yml",
        "CITATION.cff",
        "SECURITY.md",
        "examples",
        "tests",
    ):
        assert (source / name).exists(), name
    build(source, tmp_path / "again", "wheel")
    (again,) = (tmp_path / "again").glob("*.whl")
    with zipfile.ZipFile(wheel) as one, zipfile.ZipFile(again) as other:
        assert one.namelist() == other.namelist()


def description(wheel: Path) -> str:
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        (name,) = (one for one in file.namelist() if one.endswith(".dist-info/METADATA"))
        return file.read(name).decode()


def test_an_index_shows_the_readme(built: Path) -> None:
    """It is sound for an index, and no link of it leads to a file that an index has not."""
    needs("twine", "dev")
    files = [str(path) for path in built.iterdir()]
    run(sys.executable, "-m", "twine", "check", "--strict", *files, folder=built)
    (wheel,) = built.glob("*.whl")
    said = description(wheel)
    assert "# clmst" in said
    assert re.findall(r"\]\((?!https:)", said) == []
    assert "Project-URL" not in said


def test_addresses_come_from_one_setting(source: Path, tmp_path: Path) -> None:
    """With [project.urls], the README's links lead to files of the version's tag."""
    (source / "PKG-INFO").unlink()  # whose description is older than the setting
    project = source / "pyproject.toml"
    text = re.sub(r"^# (\[project.urls\]|\w+ = \"https:)", r"\1", project.read_text(), flags=re.M)
    project.write_text(text, encoding="utf-8")
    build(source, tmp_path / "dist", "wheel")
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    said = description(wheel)
    repository = tomllib.loads(text)["project"]["urls"]["Repository"]
    assert f"Project-URL: Repository, {repository}\n" in said
    tag = f"v{clmst.__version__}"
    for kind, place in (("blob", "docs/install.md"), ("raw", "docs/images/road.png")):
        assert f"({repository}/{kind}/{tag}/{place})" in said
    links = set(re.findall(r"\]\((.*?)\)", said))
    assert len(links) > 20
    for link in links:
        assert (ROOT / link.partition(f"/{tag}/")[2].partition("#")[0]).is_file(), link


def test_the_version_stands_in_one_place() -> None:
    """Packaging reads the version from the package; the citation repeats it, and is compared."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" in project["dynamic"]
    cited = re.search(r"^version: (.*)$", (ROOT / "CITATION.cff").read_text("utf-8"), re.MULTILINE)
    assert cited is not None
    assert cited[1] == clmst.__version__


def test_fragments_make_a_changelog() -> None:
    """Every fragment in changelog.d/ has a kind that towncrier knows."""
    needs("towncrier", "dev")
    draft = ["build", "--draft", "--version", "99.0.0", "--date", "2000-01-01"]
    said = run(sys.executable, "-m", "towncrier", *draft, folder=ROOT)
    assert "99.0.0" in said
    kinds = {"added", "changed", "deprecated", "removed", "fixed", "security"}
    for fragment in (ROOT / "changelog.d").glob("*.md"):
        assert fragment.name == "README.md" or fragment.name.split(".")[1] in kinds


def test_advice_names_packages_that_exist() -> None:
    """An error about a missing package names what pyproject.toml has for its extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for extra in ("plot", "networkx", "frames", "dask", "ray", "cluster", "cpu"):
        listed = {line.partition(";")[0] for line in project["optional-dependencies"][extra]}
        assert pip_install(extra).startswith("pip install ")
        assert set(re.findall(r"'(.*?)'", pip_install(extra))) == listed
    with pytest.raises(clmst.MissingDependencyError) as caught:
        optional_import("no_such_package", extra="plot")
    assert str(caught.value) == (
        "this needs the package no_such_package, which is not installed; "
        "install it with: pip install 'matplotlib>=3.8'"
    )
