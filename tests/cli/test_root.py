"""The command as a process: version, help that needs nothing, statuses, pipes and terminals."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import clmst
from clmst.algorithms.registry import ALGORITHMS
from clmst.io import FORMATS
from clmst.runtime.discovery import enumerate_devices, matching
from tests.cli.results import Run, assert_fine

COMMAND = [sys.executable, "-m", "clmst"]


def process(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def test_version(run: Run) -> None:
    result = run("--version")
    assert_fine(result)
    assert result.stdout == f"clmst {clmst.__version__}\n"


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_names_every_command(run: Run, flag: str) -> None:
    result = run(flag)
    assert_fine(result)
    for command in ("solve", "verify", "explain", "generate", "devices", "warm", "bench"):
        assert f"  {command} " in result.stdout


def test_help_imports_nothing_heavy() -> None:
    """Help appears at once, because it does not import numerical packages, which takes seconds.

    Only generate needs them, to list its families.
    """
    script = (
        "import sys\n"
        "from clmst.cli import main\n"
        "for command in [[], *([name] for name in main.commands if name != 'generate')]:\n"
        "    main([*command, '--help'], standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'pyopencl', 'matplotlib', 'rich'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_process_from_file_to_json(sample: Path) -> None:
    done = process("solve", sample, "--verify", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["total_weight"] == 10


def test_process_that_fails(tmp_path: Path) -> None:
    """One line, and a traceback on request."""
    done = process("solve", tmp_path / "none.gr")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"clmst: error: no such file: {tmp_path / 'none.gr'}\n"
    done = process("solve", tmp_path / "none.gr", CLMST_TRACEBACK="1")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback")
    assert "MissingFileError: no such file" in done.stderr


def test_reader_that_has_seen_enough(tmp_path: Path) -> None:
    """`clmst solve ... -o - | head` must end without a word."""
    graph = tmp_path / "g.npz"
    assert process("generate", "path", "--n", 100_000, "-o", graph).returncode == 0
    with subprocess.Popen(
        [*COMMAND, "solve", str(graph), "-q", "-o", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stdout is not None
        assert started.stderr is not None
        assert started.stdout.readline().startswith("# clmst minimum spanning forest")
        started.stdout.close()
        assert started.stderr.read() == ""


def test_colours_on_a_terminal() -> None:
    master, slave = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm"}
    with subprocess.Popen([*COMMAND, "devices"], stdout=slave, env=environment) as started:
        started.wait(timeout=60)
    os.close(slave)
    text = os.read(master, 1 << 16).decode()
    os.close(master)
    assert "\x1b[1;32mchosen\x1b[0m" in text


def offered(words: str) -> list[str]:
    """Return the completions of the last of some words."""
    asked = {"_CLMST_COMPLETE": "bash_complete", "COMP_WORDS": words}
    environment = os.environ | asked | {"COMP_CWORD": str(words.count(" "))}
    program = "from clmst.cli import main; main(prog_name='clmst')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("clmst conv", ["plain,convert"]),
        ("clmst exp", ["plain,explain"]),
        ("clmst solve --algorithm ", [f"plain,{name}" for name in ("auto", *ALGORITHMS)]),
        ("clmst bench --algorithm pm", ["plain,pma"]),
        ("clmst verify --forest-format ", [f"plain,{one.name}" for one in FORMATS]),
        ("clmst bench rmat", ["plain,rmat16", "plain,rmat22", "plain,rmat16-close", "file,rmat"]),
        ("clmst solve roads", ["file,roads"]),
        ("clmst convert --output-format gr", ["plain,graphml"]),
        ("clmst cluster --device g", ["plain,gpu"]),
    ],
)
def test_values_are_completed(words: str, values: list[str]) -> None:
    assert offered(words) == values


@pytest.mark.parametrize(
    "command",
    [
        "solve",
        *(
            pytest.param(name, marks=pytest.mark.exhaustive)
            for name in ("cluster", "explain", "devices", "warm", "bench")
        ),
    ],
)
def test_devices_are_completed(command: str) -> None:
    """By words that mean them, in any case: shells split names at spaces."""
    found = enumerate_devices()
    kinds = ["plain,gpu", "plain,cpu"]
    begun = offered(f"clmst {command} --device ")
    assert begun[:2] == kinds
    words = [one.removeprefix("plain,") for one in begun[2:]]
    assert [matching(found, word)[0] for word in words] == found[: len(words)]
    for word in words:
        assert offered(f"clmst {command} --device {word.lower()}") == [f"plain,{word}"]
