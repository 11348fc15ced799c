"""The workflows of GitHub and the recipe of conda-forge name what is in this tree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import clmst
import run

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
RECIPE = ROOT / "recipe" / "recipe.yaml"

pytestmark = pytest.mark.skipif(not WORKFLOWS, reason="an sdist has no workflows")


def read(path: Path) -> Any:
    yaml = pytest.importorskip("yaml")
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps(path: Path) -> list[dict[str, Any]]:
    jobs = read(path)["jobs"].values()
    return [step for job in jobs for step in job.get("steps", ())]


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_workflows_run_what_there_is(path: Path) -> None:
    """Files and jobs that they name are in the tree."""
    lines = "\n".join(step.get("run", "") for step in steps(path))
    for job in re.findall(r"run\.py (\S+)", lines):
        assert job in {*run.JOBS, "fresh"}
    for file in re.findall(r"(?:python -P|bash) (\S+)", lines):
        assert (ROOT / file).is_file()
    for extra in re.findall(r"'\.\[(\w+)\]'", lines):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        assert extra in project["optional-dependencies"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=[path.name for path in WORKFLOWS])
def test_workflows_may_do_little(path: Path) -> None:
    """They read; only the jobs that publish may ask for an identity, and none has a secret."""
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets." not in path.read_text(encoding="utf-8")
    for name, job in workflow["jobs"].items():
        if job.get("permissions", {}).get("id-token") == "write":
            assert (path.name, name) in {("docs.yml", "publish"), ("release.yml", "upload")}


def test_the_recipe_is_of_this_version() -> None:
    """Version, Python and requirements come from pyproject.toml. Systems only add drivers."""
    recipe = read(RECIPE)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert recipe["context"]["version"] == clmst.__version__
    assert f">={recipe['context']['python_min']}" == project["requires-python"]
    named = recipe["requirements"]["run"]
    always = {one.replace(" ", "") for one in named if isinstance(one, str)}
    assert always == {*project["dependencies"], "python>=${{python_min}}"}
    drivers = {one["if"]: set(one["then"]) for one in named if isinstance(one, dict)}
    assert drivers["linux"] >= {"ocl-icd", "pocl"}
    assert drivers["osx"] >= {"pocl"}
    (script,) = project["scripts"].items()
    assert recipe["build"]["python"]["entry_points"] == [" = ".join(script)]
