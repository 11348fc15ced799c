"""A device's proofs are believed once right claims passed and wrong ones did not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import clmst
from clmst import Device
from clmst.algorithms import families
from clmst.algorithms.proof import prove as proof
from clmst.algorithms.proof import self_test as proof_self_test
from clmst.core.known_graphs import known_graph
from clmst.runtime.kernel_family import KernelFamily

FAMILIES = (families.PROOF, families.COMPLETE_PROOF)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_the_best_device_passes(family: KernelFamily, any_device: Device) -> None:
    for case in family.cases[:2]:
        assert family.failure(any_device, case) is None


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
@pytest.mark.parametrize("answer", [True, False])
def test_what_always_says_the_same_fails(
    family: KernelFamily, answer: bool, any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proof_self_test, "prove", lambda *_: proof.Proof(ok=answer))
    reason = family.failure(any_device, family.cases[0])
    assert reason is not None
    first = "a forest without its first edge" if answer else "the forest"
    assert reason.startswith(f"the proof of {first} of ")


def test_each_wrong_claim_must_be_refused(
    any_device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proof that lets one kind of wrong claim pass is found by that claim."""
    known = known_graph("small")
    graph = clmst.to_device(known.weighted(np.dtype(np.uint32), symmetric=False), any_device)
    chosen = known.forest(maximum=False).edge_ids
    edges, ids = graph.graph.edge_slots, graph.graph.edge_ids
    right = edges[np.isin(edges if ids is None else ids[edges], chosen)]
    wrong = ["without its first edge", "without its last edge", "with an edge twice"]
    wrong += ["with a cycle", *["with another edge"] * 3]
    for place in range(7):
        calls = iter(range(8))

        def lets_pass(*_: Any, place: int = place, calls: Any = calls) -> proof.Proof:
            return proof.Proof(ok=next(calls) in (0, place + 1))

        monkeypatch.setattr(proof_self_test, "prove", lets_pass)
        claims = proof_self_test.of_graph(graph, right, maximum=False)
        found = next(name for name, found, expected in claims if found != expected)
        assert found == f"a forest {wrong[place]}"
