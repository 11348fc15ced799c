"""Solves that are read once: the check of a matrix, what became of the solve, and the forest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyopencl as cl
import pytest
from scipy import sparse

import clmst
from clmst import Device, FilterBoruvkaOptions, Graph, InvalidGraphError
from tests.helpers.bounds import bounds
from tests.helpers.capabilities import with_capabilities
from tests.helpers.forests import assert_same_forest
from tests.helpers.launched import launches
from tests.helpers.matrices import every_fault, every_spoilt, matrix, with_indices

# On CPUs "auto" takes no launch of work-groups that wait for one another.
RESIDENT = FilterBoruvkaOptions(launches="resident")


@pytest.fixture
def copying(any_device: Device) -> Iterator[Device]:
    """Return a device that takes copies of matrices of any size, and finds faults itself."""
    if not any_device.capabilities.grid_barriers:
        pytest.skip("its compiler fails on kernels of resident work-groups")
    with bounds(checked_from=1, arranged_from=1):
        yield with_capabilities(any_device, host_arrays="copied")


@contextmanager
def noted_reads() -> Iterator[list[int]]:
    """Note the bytes of every read of a device's memory."""
    found: list[int] = []
    copy = cl.enqueue_copy

    def noted(queue: Any, target: Any, source: Any, **more: Any) -> Any:
        if isinstance(target, np.ndarray):
            found.append(target.nbytes)
        return copy(queue, target, source, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cl, "enqueue_copy", noted)
        yield found


def solved(graph: Any, device: Device, *, maximum: bool = False) -> Any:
    solve = clmst.maximum_spanning_forest if maximum else clmst.minimum_spanning_forest
    return solve(graph, device=device, options=RESIDENT)


@pytest.mark.parametrize("maximum", [False, True])
@pytest.mark.parametrize("symmetric", [True, False])
def test_sound_matrix_is_read_once(copying: Device, *, symmetric: bool, maximum: bool) -> None:
    """Each read takes as long as a tenth of a small solve on a GPU."""
    A = matrix(symmetric=symmetric)
    solved(A, copying, maximum=maximum)  # builds, and tests
    with noted_reads() as reads:
        forest = solved(A, copying, maximum=maximum)
    assert len(reads) == 1
    assert_same_forest(forest, clmst.kruskal(A, maximum=maximum))
    resident = clmst.to_device(A, copying)
    with noted_reads() as reads:
        again = solved(resident, copying, maximum=maximum)
    assert len(reads) == 1
    assert_same_forest(again, forest)
    assert again.stats == forest.stats


@every_spoilt
def test_unsound_matrix_is_arranged(copying: Device, spoil: Callable[[Any], None]) -> None:
    """A solve that is enqueued behind the check must not count."""
    A = matrix(600)
    spoil(A)
    assert_same_forest(solved(A, copying), clmst.kruskal(Graph.from_scipy(A)))


@every_fault
def test_faults_are_found_behind_the_check(
    copying: Device, message: str, spoil: Callable[[Any], None]
) -> None:
    """Kernels do not follow columns that are not vertices, and the host names the fault."""
    A = matrix(600)
    spoil(A)
    with pytest.raises(InvalidGraphError, match=message):
        solved(A, copying)


@pytest.mark.parametrize("bare", [0, 1, 80])
@pytest.mark.parametrize("symmetric", [True, False])
def test_diagonal_is_no_sign_of_a_triangle(copying: Device, *, symmetric: bool, bare: int) -> None:
    """A matrix whose last entry is on the diagonal may store one direction of its edges, or both.

    Of the last `bare` rows, only the diagonal is stored. If the first solve takes the matrix for
    the other kind, it must leave nothing that the second solve uses.
    """
    A = matrix(150, symmetric=symmetric).tolil()  # of which the last 50 rows are empty
    n = A.shape[0]
    A[n - bare :] = 0
    A[:, n - bare :] = 0
    A.setdiag(1.0)
    B = with_indices(A.tocsr())
    assert B.indices[-1] == n - 1
    expected = clmst.kruskal(B)
    assert_same_forest(solved(B, copying), expected)
    with noted_reads() as reads:
        assert_same_forest(solved(B, copying), expected)
    if bare <= 1:
        assert len(reads) == 1  # the guess was right


def test_diagonal_alone(copying: Device) -> None:
    """Its last entry is neither above the diagonal nor below, and no edge exists."""
    A = with_indices(sparse.eye_array(70, format="csr"))
    forest = solved(A, copying)
    assert (forest.edges.size, forest.n_components) == (0, 70)


def test_worklist_that_overflows_is_made_larger(copying: Device) -> None:
    """What is read at once says so, and the solve is done again, once."""
    n = 120
    weights = np.triu(np.random.default_rng(3).integers(1, 9, (n, n)), 1)
    A = with_indices(sparse.csr_array(weights))
    options = FilterBoruvkaOptions(launches="resident", targets=())
    for given, device in ((A, copying), (clmst.to_device(A, copying), None)):
        with bounds(worklist_capacities=lambda *_, **__: (64, 64)), launches() as launched:
            forest = clmst.minimum_spanning_forest(given, device=device, options=options)
        assert sum(one.endswith("_resident_solve") for one in launched) == 2
        assert_same_forest(forest, clmst.kruskal(A))


@bounds(small_edges=16, small_slots=16, arranged_from=1)
def test_forest_is_written_to_the_hosts_arrays(any_device: Device) -> None:
    """Where a device works in the host's memory, a packed forest would be there twice."""
    if any_device.capabilities.host_arrays != "shared" or any_device.policy.work_group_size > 1:
        pytest.skip("its kernels cannot, or not in long ranges")
    A = matrix(symmetric=False).tocoo()
    u, v = A.coords
    graph = Graph.from_edges(u, v, A.data)
    with launches() as launched:
        forest = clmst.minimum_spanning_forest(graph, device=any_device)
    kernels = {one.split(": ")[1] for one in launched}
    assert "forest_write_out" in kernels
    assert "forest_pack" not in kernels
    assert_same_forest(forest, clmst.kruskal(graph))
