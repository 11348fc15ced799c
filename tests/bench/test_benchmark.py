"""The benchmark of a graph: only what is right is timed, and nobody's failure is another's."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clmst import Device, EclOptions, kruskal, to_device
from clmst.bench.agreement import Reference, establish
from clmst.bench.contestants import (
    REHEARSALS,
    WARM_UPS,
    SolveContestant,
    SolveOutcome,
    as_matrix,
    ask_peer,
    finding_forest,
    solving,
)
from clmst.bench.peers import Peer
from clmst.bench.results import Measurement
from clmst.core.errors import OutOfDeviceMemoryError
from clmst.core.weight_keys import Array
from tests.bench.samples import graph_of, measured, timed

RIGHT = np.array([1, 4, 6])
REFERENCE = Reference(slots=RIGHT, n_slots=8, total_weight=10, how="by hand")


def contestant(name: str, slots: Callable[[int], Array]) -> SolveContestant:
    """Return a contestant whose k-th call gives ``slots(k)``."""
    calls = []

    def call() -> SolveOutcome:
        calls.append(1)
        found = slots(len(calls))
        return SolveOutcome(
            difference=lambda right: right.difference(found),
            stats={"rounds": 2, "secret": object()},
        )

    return SolveContestant(name=name, scope="solve", call=call, parameters={"kind": name})


def asking(peer: Peer, file: Callable[[], Path], repetitions: int) -> Callable[[], Any]:
    return partial(ask_peer, peer, file, REFERENCE, measured, repetitions, time_limit=30)


def by_name(found: list[Measurement]) -> dict[str, Measurement]:
    return {one.contestant: one for one in found}


@pytest.mark.parametrize(
    ("slots", "remark"),
    [
        ([1, 4, 6], ""),
        ([1, 4], "2 edges, not 3"),
        ([1, 4, 7], "edge 2 is slot 7, not 6"),
        ([1, 4, 5, 6], "4 edges, not 3"),
        ([], "0 edges, not 3"),
    ],
)
def test_difference_is_told(slots: list[int], remark: str) -> None:
    flags = np.zeros(8, np.uint8)
    flags[slots] = 1
    assert REFERENCE.difference(np.array(slots, np.uint32)) == remark
    assert REFERENCE.difference_of_flags(flags) == remark
    wide = REFERENCE.difference_of_flags(flags * 255)
    assert wide == (remark or "a flag is neither 0 nor 1")


@pytest.mark.parametrize("at", [1, 2, 5, 9])
@pytest.mark.parametrize(
    ("error", "remark"),
    [
        (OutOfDeviceMemoryError("no room\nat all"), "OutOfDeviceMemoryError: no room"),
        (RuntimeError("CL_DEVICE_LOST"), "RuntimeError: CL_DEVICE_LOST"),
        (None, "edge 0 is slot 2, not 1"),  # a race shows once in a while: results are seen twice
    ],
)
def test_failure_stops_one_contestant(
    any_device: Device, at: int, error: Exception | None, remark: str
) -> None:
    """At the verified call, in the warm-up, in a rehearsal, while it is timed."""

    def fail(k: int) -> Array:
        if k >= at and error:
            raise error
        return RIGHT + (k >= at)

    pair = [contestant("a", fail), contestant("b", lambda _: RIGHT)]
    found = by_name(timed(any_device, pair, REFERENCE))
    assert (found["a"].status, found["a"].seconds) == ("failed" if error else "wrong", ())
    assert found["a"].remark == remark
    assert len(found["b"].seconds) == 3


def test_interruption_is_no_failure(any_device: Device) -> None:
    def interrupt(_: int) -> Array:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timed(any_device, [contestant("a", interrupt)], REFERENCE)


def test_peers_run_between_the_turns(any_device: Device, tmp_path: Path) -> None:
    note = tmp_path / "note"

    def peer(name: str, text: str) -> Peer:
        script = f"open({str(note)!r}, 'a').write({name!r}); {text}"
        return Peer(name=name, command=(sys.executable, "-c", script))

    def noting(_: int) -> Array:
        with note.open("a") as file:
            file.write(".")
        return RIGHT

    fine = "print('solve_ms 3\\n' * 4 + 'transfer_ms 5\\n' * 4 + 'weight 10')"
    peers = (peer("p", fine), peer("q", "print('weight 9')"), peer("r", "raise SystemExit('no')"))
    asked = [asking(one, lambda: tmp_path / "g.egr", 4) for one in peers]
    kept: list[Measurement] = []
    contestants = [contestant("a", noting)]
    found = timed(any_device, contestants, REFERENCE, 4, peers=asked, keep=kept.extend)
    turn = "." * (REHEARSALS + 1)
    admission = "." * (1 + WARM_UPS)
    # after each peer, one call more to warm up
    assert note.read_text() == admission + turn + "".join(f"{peer}.{turn}" for peer in "pqr")
    assert [(one.contestant, one.scope, one.status) for one in found] == [
        ("a", "solve", "ok"),
        ("p", "solve", "ok"),
        ("p", "transfers", "ok"),
        ("q", "solve", "failed"),
        ("r", "solve", "failed"),
    ]
    assert kept == found[1:]
    assert [one.ours for one in found] == [True] + [False] * 4
    assert found[0].details == {"kind": "a", "rounds": 2}
    found[0].as_json()
    assert found[1].seconds == pytest.approx((0.003,) * 4)
    assert found[2].median == pytest.approx(0.005)


def test_graph_that_no_peer_can_read() -> None:
    def refuse() -> Path:
        raise OSError("No space left on device")

    (found,) = asking(Peer(name="p", command=("p",)), refuse, 3)()
    assert (found.status, found.remark) == ("failed", "OSError: No space left on device")


# ------------------------------------------------------------------ real contestants


def test_real_contestants_are_right(any_device: Device) -> None:
    graph = graph_of()
    resident = to_device(graph, any_device)
    right = kruskal(graph)
    reference = establish(graph, resident, right.total_weight)
    contestants = [
        solving(resident, "auto", "clmst auto"),
        solving(resident, "ecl", "few", EclOptions(samples=20, seed=3), seed=3),
        finding_forest(resident, resident, "boruvka", "clmst boruvka"),
        finding_forest(as_matrix(graph), resident, "ecl", "clmst ecl"),
    ]
    found = timed(any_device, contestants, reference)
    assert [one.remark for one in found] == [""] * 4
    assert [one.scope for one in found] == ["solve", "solve", "forest", "transfers"]
    few = found[1].details
    assert few["seed"] == 3
    assert 0 < few["light_edges"] < graph.n_edges
    assert all(one.details["launches"] > 0 for one in found)
    assert found[3].details["source"] == "csr_array"


def test_matrix_shares_the_arrays() -> None:
    graph = graph_of()
    matrix = as_matrix(graph)
    assert np.shares_memory(matrix.indices, graph.indices)
    assert np.shares_memory(matrix.data, graph.weights)
    half = graph.replace(weights=graph.weights.astype(np.float16))
    assert as_matrix(half) is half
