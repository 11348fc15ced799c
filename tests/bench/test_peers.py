"""Outside peers: what they print is believed only if all of it fits."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from clmst import Graph, kruskal
from clmst.bench.peers import OWN_PEERS, Peer, judge, main
from clmst.io import write_graph
from tests.bench.samples import file_of, graph_of
from tests.helpers.processes import is_running

RIGHT = "# a remark\nsolve_ms 1.5\n\nsolve_ms 2.5\nweight 10\n"


def python(script: str) -> Peer:
    return Peer(name="peer", command=(sys.executable, "-c", script))


def test_right_peer_is_timed() -> None:
    verdict = judge(RIGHT + "transfer_ms 7\ntransfer_ms 8\n", 2, 10)
    assert (verdict.status, verdict.remark) == ("ok", "")
    assert verdict.solve == pytest.approx((0.0015, 0.0025))
    assert verdict.transfers == pytest.approx((0.007, 0.008))
    assert judge(RIGHT, 2, 10).transfers == ()


@pytest.mark.parametrize(
    ("output", "remark"),
    [
        ("", "0 lines of solve_ms for 2 repetitions"),
        (RIGHT + "solve_ms 1\n", "3 lines of solve_ms for 2 repetitions"),
        (RIGHT + "transfer_ms 1\n", "1 lines of transfer_ms for 2 repetitions"),
        ("solve_ms 1\nsolve_ms 2\n", "it tells no weight"),
        ("solve_ms 1\nsolve_ms nan\nweight 10", "a solve_ms is not a positive number"),
        ("solve_ms 1\nsolve_ms -2\nweight 10", "a solve_ms is not a positive number"),
        ("solve_ms 1\nsolve_ms 1e999\nweight 10", "a solve_ms is not a positive number"),
        (RIGHT + "Segmentation fault soon", "'Segmentation fault soon' is no line of it"),
        (RIGHT + "time 7", "'time 7' is no line of it"),
        (RIGHT + "solve_ms 1 2", "'solve_ms 1 2' is no line of it"),
    ],
)
def test_what_is_not_in_the_protocol_is_refused(output: str, remark: str) -> None:
    verdict = judge(output, 2, 10)
    assert verdict.status == "failed"
    assert verdict.remark == f"does not keep to the protocol: {remark}"
    assert verdict.solve == ()


@pytest.mark.parametrize(
    ("reported", "right", "status"),
    [
        ("10", 10, "ok"),
        ("10.0", 10, "ok"),
        ("1e1", 10, "ok"),
        ("11", 10, "wrong"),
        ("10.0000001", 10, "wrong"),
        (str(2**63 + 1), 2**63 + 1, "ok"),
        (str(2**63), 2**63 + 1, "wrong"),
        ("1e999999999", 10, "wrong"),
        ("nan", 10, "wrong"),
        ("sNaN", 10, "wrong"),
        ("heavy", 10, "wrong"),
        ("0.5000000001", 0.5, "ok"),
        ("0.50001", 0.5, "wrong"),
        ("nan", 0.5, "wrong"),
    ],
)
def test_weight_is_compared(reported: str, right: int | float, status: str) -> None:
    """Integers exactly, beyond 53 bits too; floats to nine digits; and every one that is told."""
    verdict = judge(f"solve_ms 1\nweight {right}\nweight {reported}", 1, right)
    assert verdict.status == status
    if status == "wrong":
        assert verdict.remark == f"its forest weighs {reported}, not {right}"


def test_words_of_the_command() -> None:
    file = Path("a b.egr")
    plain = Peer.parse("p = 'my peer' --fast")
    assert plain == Peer(name="p", command=("my peer", "--fast"))
    assert plain.words(file, 9) == ["my peer", "--fast", "a b.egr", "9"]
    marked = Peer.parse("p=run --graph={file} -n {repetitions} -v")
    assert marked.words(file, 9) == ["run", "--graph=a b.egr", "-n", "9", "-v"]
    assert Peer.parse("p=run {file}").words(file, 9) == ["run", "a b.egr"]


@pytest.mark.parametrize("text", ["igraph", "=run", "p=", "p='", " =x"])
def test_command_must_have_a_name(text: str) -> None:
    refused = "is not of the form NAME=COMMAND|neither NAME=COMMAND|No closing quotation"
    with pytest.raises(ValueError, match=refused) as caught:
        Peer.parse(text)
    assert ("nor one of scipy, networkx" in str(caught.value)) == ("=" not in text)


@pytest.mark.parametrize(
    ("script", "remark"),
    [
        ("import sys; print('solve_ms 1'); sys.exit('out of luck')", "exit status 1: out of luck"),
        ("import os; os.kill(os.getpid(), 11)", "ended by signal 11: no message"),
        ("import os; os.write(1, b'\\xff\\xfe')", "does not keep to the protocol: "),
        # One that asks a question gets no answer, rather than the user's keyboard.
        ("input()", "exit status 1: EOFError"),
        (None, "cannot be run: "),
    ],
)
def test_broken_peer_is_reported(script: str | None, remark: str) -> None:
    missing = Peer(name="none", command=("/no/such/program",))
    verdict = (missing if script is None else python(script)).compete(
        Path("g"), 1, 10, time_limit=30
    )
    assert verdict.status == "failed"
    assert verdict.remark.startswith(remark)


def test_late_peer_is_ended_with_its_children(tmp_path: Path) -> None:
    """A child that goes on would disturb every timing after it."""
    note = tmp_path / "child"
    script = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'])\n"
        f"open({str(note)!r}, 'w').write(str(child.pid))\n"
        "child.wait()\n"
    )
    verdict = python(script).compete(Path("g"), 1, 10, time_limit=1)
    assert (verdict.status, verdict.remark) == ("timeout", "ended after 1 s without an answer")
    child = int(note.read_text())
    for _ in range(100):
        if not is_running(child):
            break
        time.sleep(0.02)
    assert not is_running(child)


@pytest.mark.parametrize("name", OWN_PEERS)
def test_own_peer_is_a_peer(name: str, tmp_path: Path) -> None:
    """As ``clmst bench --peer scipy`` runs it: a program of its own."""
    pytest.importorskip(name)
    file, right = file_of(tmp_path / "g.egr"), kruskal(graph_of()).total_weight
    outcome = Peer.parse(name).compete(file, 2, right, time_limit=60)
    assert (outcome.status, outcome.remark) == ("ok", "")
    assert len(outcome.solve) == 2


@pytest.mark.parametrize("name", OWN_PEERS)
def test_parallel_edges_and_weights_of_zero(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """SciPy would add the weights of parallel edges up."""
    pytest.importorskip(name)
    graph = Graph.from_edges([0, 0, 1, 1, 2], [1, 1, 2, 2, 2], [5, 3, 0, 7, 1], n_vertices=4)
    write_graph(graph, tmp_path / "g.egr")
    main([name, str(tmp_path / "g.egr"), "1"])
    lines = capsys.readouterr().out.split()
    assert lines[0] == "solve_ms"
    assert lines[2:] == ["weight", "3.0"]
