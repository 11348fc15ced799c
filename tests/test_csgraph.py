"""``clmst.csgraph`` beside SciPy: the same matrix, save where SciPy's is wrong."""

from __future__ import annotations

import inspect
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph as scipys

import clmst
from clmst import route
from clmst.algorithms.registry import ALGORITHMS
from clmst.algorithms.small_matrix import solve as small_matrix
from clmst.core.errors import InvalidGraphError
from clmst.csgraph import minimum_spanning_tree
from clmst.runtime.device import Device
from tests.helpers.bounds import bounds
from tests.helpers.caches import resolving_anew
from tests.helpers.capabilities import chosen_with
from tests.helpers.forests import by_definition
from tests.helpers.launched import launches
from tests.helpers.matrices import matrix_of_density
from tests.helpers.wrong_families import WrongFamilies

FORMATS = ("bsr", "coo", "csc", "csr", "dia", "dok", "lil")
DTYPES = ("bool", "int8", "uint16", "int32", "int64", "uint64", "float32", "float64")
TRIANGLE = [[0, 2, 3], [2, 0, 1], [3, 1, 0]]

pytestmark = pytest.mark.usefixtures("any_device")


@pytest.fixture(autouse=True, params=["device", "host", "no device", "as it is"])
def who_solves(request: pytest.FixtureRequest, any_device: Device) -> Iterator[str]:
    """Run each test by every way: all on the device in steps, on the host, and as users do."""
    who: str = request.param
    with ExitStack() as stack:
        if who != "as it is":
            stack.enter_context(bounds(csgraph_equal_below=0))
        if who == "device":
            request.getfixturevalue("in_steps")
            stack.enter_context(bounds(csgraph_any_order_below=0))
        if who == "host":  # since the device does not work in its memory
            stack.enter_context(chosen_with(host_arrays="copied"))
        if who == "no device":
            stack.enter_context(resolving_anew(None))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore", clmst.DeviceWarning)
        yield who


def parts(tree: Any) -> dict[str, Any]:
    """Return all that makes a CSR matrix what it is."""
    arrays = {name: getattr(tree, name) for name in ("data", "indices", "indptr")}
    return {
        "class": type(tree),
        "shape": tree.shape,
        **{name: array.tolist() for name, array in arrays.items()},
        **{f"{name}.dtype": array.dtype for name, array in arrays.items()},
    }


def agree(graph: Any) -> None:
    """Assert that clmst's tree is SciPy's, to the last array."""
    assert parts(minimum_spanning_tree(graph)) == parts(scipys.minimum_spanning_tree(graph))


def narrow(matrix: Any) -> Any:
    """Return a CSR with 32-bit indices, which SciPy before 1.15 demands."""
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return matrix


def first_entries(matrix: Any) -> Any:
    """Return the tree of a CSR matrix by definition: equal entries in their order."""
    n = matrix.shape[0]
    rows = np.repeat(np.arange(n), np.diff(matrix.indptr))
    chosen = by_definition(n, rows, matrix.indices, matrix.data)
    return rows[chosen].tolist(), matrix.indices[chosen].tolist(), matrix.data[chosen].tolist()


def random_matrix(
    seed: int, *, dtype: str, kind: str, highest: int = 6, size: tuple[int, int] | None = None
) -> Any:
    """Return a CSR matrix with weights from 1 on, of which many are equal.

    `size` is (rows, drawn entries); few without it.
    """
    rng = np.random.default_rng(seed)
    n, m = size or (int(rng.integers(1, 50)), int(rng.integers(0, 300)))
    w = rng.integers(1, highest, m)
    u, v = (rng.integers(0, n, m).astype(np.int32) for _ in "uv")
    A: Any
    if kind == "parallel":  # and with unsorted rows
        order = np.argsort(u, kind="stable")
        indptr = np.searchsorted(u[order], np.arange(n + 1)).astype(np.int32)
        return sparse.csr_array((w.astype(dtype), v[order], indptr), shape=(n, n))
    A = sparse.coo_array((w, (u, v)), shape=(n, n)).tocsr()
    A.data = 1 + A.data % highest  # of summed duplicates, too
    forms: dict[str, Callable[[], Any]] = {
        "mixed": lambda: A,
        "symmetric": lambda: sparse.csr_array(A.maximum(A.T)),
        "pattern": lambda: sparse.csr_array(A + (A.T != 0)),  # two weights for most pairs
        "upper": lambda: sparse.triu(A, format="csr"),
        "lower": lambda: sparse.tril(A, format="csr"),
    }
    return sparse.csr_array(forms[kind]().astype(dtype))


KINDS = ("mixed", "symmetric", "pattern", "upper", "lower", "parallel")


# ------------------------------------------------------------------ the same as SciPy


def theirs() -> Any:
    return pytest.importorskip(
        "scipy.sparse.csgraph.tests.test_spanning_tree", reason="SciPy without its tests"
    )


def test_it_passes_scipys_own_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the installed SciPy, with clmst's function in place of theirs; none is left out."""
    module = theirs()
    calls = []

    def ours(*given: Any, **named: Any) -> Any:
        calls.append(given)
        return minimum_spanning_tree(*given, **named)

    monkeypatch.setattr(module, "minimum_spanning_tree", ours)
    tests = [test for name, test in vars(module).items() if name.startswith("test_")]
    for test in tests:
        test()
    assert tests
    assert len(calls) >= 10


def test_signature_is_scipys() -> None:
    ours = inspect.signature(minimum_spanning_tree).parameters.values()
    scipys_own = inspect.signature(scipys.minimum_spanning_tree).parameters.values()
    assert [(one.name, one.default) for one in ours] == [
        (one.name, one.default) for one in scipys_own
    ]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_random_matrices_agree_with_scipy(dtype: str, kind: str) -> None:
    """384 matrices agree with SciPy in layout, dtypes, and the choice among equal weights."""
    for seed in range(8):
        matrix = random_matrix(seed, dtype=dtype, kind=kind)
        before = matrix.copy()
        agree(matrix)
        assert (matrix != before).nnz == 0
        if kind != "parallel":
            agree(matrix.toarray(order="CF"[seed % 2]))
            cells = matrix.toarray().astype(float)
            agree(np.ma.masked_array(np.ma.masked_less(cells, 2), mask=cells < 2))


@pytest.mark.parametrize("kind", KINDS)
def test_ties_go_to_the_first_entry(kind: str) -> None:
    """The page promises it, whatever an installed SciPy does with ties."""
    for seed in range(8):
        for highest in (2, 4, 1000):
            matrix = random_matrix(seed, dtype="float64", kind=kind, highest=highest)
            matrix.data = matrix.data / 3  # no 32 bits hold them
            tree = minimum_spanning_tree(matrix)
            rows = np.repeat(np.arange(matrix.shape[0]), np.diff(tree.indptr))
            expected = first_entries(matrix)
            assert (rows.tolist(), tree.indices.tolist(), tree.data.tolist()) == expected


@pytest.mark.parametrize("kind", ["symmetric", "upper", "mixed"])
def test_large_matrices_agree_with_scipy(kind: str) -> None:
    """From 2**18 entries on, the device itself checks the matrix."""
    matrix = random_matrix(1, dtype="float64", kind=kind, highest=1000, size=(20_000, 600_000))
    assert matrix.nnz > 1 << 18
    agree(matrix)


@pytest.mark.parametrize("container", ["array", "matrix"])
@pytest.mark.parametrize("kind", FORMATS)
def test_every_sparse_format(kind: str, container: str) -> None:
    """The result has SciPy's class: one for sparse arrays, another for sparse matrices."""
    make = getattr(sparse, f"{kind}_{container}")
    agree(make(np.array(TRIANGLE, float)))
    agree(make(np.array([[0, 4, 0, 1], [4, 0, 2, 0], [0, 7, 5, 0], [1, 0, 0, 0]])))


NAN, INF = np.nan, np.inf
CELLS: dict[str, Callable[[], Any]] = {
    "lists": lambda: TRIANGLE,
    "tuples": lambda: ((0.0, 2.5), (1.5, 0.0)),
    "array": lambda: np.array(TRIANGLE),
    "matrix": lambda: np.asmatrix(TRIANGLE),
    "some are NaN or infinite": lambda: [[0, NAN, 1], [0, 0, INF], [0, 0, 0]],
    "most are": lambda: [[NAN, NAN, 1], [-INF, INF, 3], [0, 2, NAN]],
    "all are NaN": lambda: np.full((3, 3), NAN),
    "all are 0": lambda: np.zeros((4, 4), np.int8),
    "masked, one of a pair": lambda: np.ma.masked_array(
        [[0, 4, 1], [2, 0, 3], [1, 5, 0]],
        mask=np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]], bool),
    ),
    "masked NaN": lambda: np.ma.masked_invalid([[0.5, NAN, 1], [2, 0.5, 3], [NAN, 3, 0.5]]),
    "masked 0": lambda: np.ma.masked_equal([[0, INF, 0], [0, 0, 5.0], [0, 0, 0]], 0),
    "no vertex": lambda: np.zeros((0, 0)),
    "no vertex, sparse": lambda: sparse.csr_array((0, 0)),
    "one vertex": lambda: np.zeros((1, 1)),
    "no edges": lambda: sparse.csr_array((5, 5)),
    "loops and negative weights": lambda: sparse.csr_array(
        np.array([[-9, 0, 3], [-1, 5, -1], [0, -4, 2]])
    ),
    "2**53": lambda: sparse.csr_array(np.array([[0, 2**53], [0, 0]])),
    "2**62": lambda: sparse.csr_array(np.array([[0, 2**62], [0, 0]])),
    "-2**63": lambda: sparse.csr_array(np.array([[0, -(2**63)], [0, 0]])),
}


@pytest.mark.filterwarnings("ignore:the matrix subclass")
@pytest.mark.parametrize("name", CELLS)
def test_cells(name: str) -> None:
    """Zeros, NaN, infinities and masked cells are not edges; large integers are doubles."""
    agree(CELLS[name]())


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, np.array])
def test_input_is_never_changed(container: Callable[[Any], Any], overwrite: bool) -> None:
    """SciPy destroys it with overwrite=True."""
    graph = container(np.array(TRIANGLE, float))
    tree = minimum_spanning_tree(graph, overwrite=overwrite)
    assert tree.toarray().tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]
    tree.data[:] = 77  # which shares nothing with it
    dense = graph if isinstance(graph, np.ndarray) else graph.toarray()
    assert dense.tolist() == TRIANGLE


# ----------------------------------------------------------- where SciPy's is wrong


def test_scipy_18892_zero_weights_are_kept() -> None:
    """SciPy chooses the zero, then drops it: its tree joins two of three vertices."""
    zero = sparse.csr_array((np.array([3.0, 0, 1]), [1, 2, 2], [0, 2, 3, 3]), shape=(3, 3))
    tree = minimum_spanning_tree(zero)
    assert tree.indices.tolist() == [2, 2]
    assert tree.data.tolist() == [0, 1]
    assert tree.toarray().tolist() == scipys.minimum_spanning_tree(narrow(zero)).toarray().tolist()


def test_duplicates_that_cancel_are_an_edge_of_weight_zero() -> None:
    """As stored zeros are; where the installed SciPy does not sum, the lesser one is taken."""
    arrays = (
        np.array([1, -1], np.int32),
        np.array([1, 1], np.int32),
        np.array([0, 2, 2], np.int32),
    )
    tree = minimum_spanning_tree(sparse.csr_array(arrays, shape=(2, 2)))
    assert tree.data.tolist() == ([0] if clmst.csgraph._scipy_sums_duplicates() else [-1])


@pytest.mark.parametrize("dtype", ["list", np.uint64, np.int64, np.uint8, ">i4"])
def test_index_arrays_that_scipys_code_does_not_take(dtype: Any) -> None:
    """SciPy's C code raises a ValueError of its own for them; Graph.from_scipy takes them."""
    graph: Any = sparse.csr_array(np.array(TRIANGLE, np.int32))
    if dtype == "list":
        graph.indices, graph.indptr = graph.indices.tolist(), graph.indptr.tolist()
    else:
        graph.indices = graph.indices.astype(dtype)
    assert minimum_spanning_tree(graph).toarray().tolist() == [[0, 2, 0], [0, 0, 1], [0, 0, 0]]


def test_index_arrays_that_are_empty_and_of_floats() -> None:
    """No index is wrong where there is none; an indptr must be as long as the shape says."""
    graph: Any = sparse.csr_array((2, 2))
    graph.indices = np.zeros(0)
    assert minimum_spanning_tree(graph).nnz == 0
    graph.indptr = np.zeros(0)
    with pytest.raises(InvalidGraphError, match="indptr has 0 entries for 2 rows; it must have 3"):
        minimum_spanning_tree(graph)


def test_zero_cells_of_a_masked_array_are_kept() -> None:
    tree = minimum_spanning_tree(np.ma.masked_equal([[9, 0, 9], [9, 9, 4], [9, 9, 9]], 9))
    assert (tree.indices.tolist(), tree.data.tolist()) == ([1, 2], [0, 4])


def test_padding_of_blocks_is_no_edge() -> None:
    """SciPy takes the zeros that fill a block for edges of weight 0, and drops them at the end."""
    dense = np.array([[0, 2, 0, 0], [0, 0, 3, 0], [0, 0, 0, 4], [0, 0, 0, 0]], float)
    tree = minimum_spanning_tree(sparse.bsr_array(dense, blocksize=(2, 2)))
    assert tree.toarray().tolist() == dense.tolist()
    assert tree.nnz == 3


def test_scipy_11391_small_weights_of_dense_input_are_kept() -> None:
    """SciPy takes a weight below 1e-8 for 0, which is not an edge there."""
    cells = np.full((3, 3), 1e-9)
    tree = minimum_spanning_tree(cells)
    assert tree.data.tolist() == [1e-9, 1e-9]
    agree(sparse.csr_array(cells))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_beyond_doubles_are_exact(dtype: Any) -> None:
    """SciPy rounds them first, so that 2**53 + 1 and 2**53 are equal."""
    big = 2**53
    cells = np.array([[0, big + 1, big], [0, 0, big + 3], [0, 0, 0]], dtype)
    for graph in (cells, sparse.csr_array(cells), cells.tolist()):
        tree = minimum_spanning_tree(graph)
        assert tree.indices.tolist() == [1, 2]
        assert [int(weight) for weight in tree.data] == [big + 1, big]
        assert tree.dtype == (np.int64 if isinstance(graph, list) else dtype)


def test_scipy_15604_the_solve_is_in_the_dtype_of_the_matrix(who_solves: str) -> None:
    """SciPy copies int8 to float64, eight times as much memory."""
    if who_solves == "no device":
        pytest.skip("the host sorts words of 64 bits")
    rng = np.random.default_rng(0)
    n = 1500
    A = sparse.triu(rng.integers(1, 100, (n, n), dtype=np.int8), 1, format="csr")
    minimum_spanning_tree(narrow(A))
    tracemalloc.start()
    tree = minimum_spanning_tree(A)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert tree.data.sum() == scipys.minimum_spanning_tree(A).data.sum()
    assert peak < 8 * A.nnz


@pytest.mark.parametrize("kind", ["coo", "csr"])
def test_scipy_20817_64_bit_indices(kind: str) -> None:
    """SciPy before 1.15 raises "Buffer dtype mismatch"; the tree has 32-bit indices."""
    rng = np.random.default_rng(0)
    u, v = rng.integers(0, 9, (2, 12)).astype(np.int64)
    graph = sparse.coo_array((rng.random(12), (u, v)), shape=(9, 9))
    expected = scipys.minimum_spanning_tree(narrow(sparse.csr_array(graph)))
    wide: Any = graph
    if kind == "csr":
        wide = graph.tocsr()
        wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert parts(minimum_spanning_tree(wide)) == parts(expected)


def test_scipy_18494_equal_weights_give_one_tree(any_device: Device) -> None:
    """It is the same with every algorithm and device, whatever the sort of the day."""
    grid = sparse.csr_array(np.ones((30, 30)) - np.eye(30))
    trees = {str(parts(minimum_spanning_tree(grid))) for _ in range(5)}
    assert len(trees) == 1
    forest = clmst.minimum_spanning_forest(grid, algorithm="boruvka", device=any_device)
    assert minimum_spanning_tree(grid).indices.tolist() == forest.edges[:, 1].tolist()


# --------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        ([1, 2], "csgraph has 1 dimensions"),
        (None, "csgraph has 0 dimensions"),
        (np.ones((2, 3)), "2 x 3"),
        (sparse.csr_array(np.ones((2, 3))), "2 x 3"),
        (sparse.coo_array(np.ones((3, 2))), "3 x 2"),
        (sparse.coo_array(np.ones(3)), "1 dimension"),
        (np.ones((2, 2), complex), "complex"),
        (sparse.csr_array(np.ones((2, 2), complex)), "complex"),
        (sparse.eye_array(2, dtype=np.longdouble), "longdouble|float128|float96"),
        (np.array([[0, "a"], [1, 0]], object), "object"),
        ([[1, 2], [3]], "cannot convert to an array"),
        (sparse.csr_array(np.array([[0, np.nan], [0, 0]])), "NaN"),
        (np.ma.masked_equal([[0, np.nan], [0, 0]], 0), "NaN"),
        ([[0, 2**53 + 1], [0.5, 0]], "would round it"),
    ],
)
def test_bad_input_is_refused(graph: Any, message: str) -> None:
    """By errors that those who catch SciPy's ValueError catch, too."""
    with pytest.raises(InvalidGraphError, match=message):
        minimum_spanning_tree(graph)
    assert issubclass(InvalidGraphError, ValueError)


def test_index_out_of_range_does_not_crash() -> None:
    """SciPy reads and writes past its arrays."""
    graph = sparse.csr_array(np.array(TRIANGLE, float))
    graph.indices[2] = 9
    with pytest.raises(InvalidGraphError, match="must be below 3"):
        minimum_spanning_tree(graph)


@pytest.mark.usefixtures("in_steps")
def test_next_device_solves_where_one_has_earned_nothing(
    any_device: Device, who_solves: str, wrong: WrongFamilies
) -> None:
    """As minimum_spanning_forest does: a device that fails its self-test is passed over."""
    if who_solves == "no device":
        pytest.skip("there is none to pass over")
    wrong.names.update(ALGORITHMS)  # and none that brings the matrix to the device
    first, second = Device(any_device.cl_device), any_device.forcing_off("lanes")
    lowered = bounds(csgraph_any_order_below=0, checked_from=1, arranged_from=1)
    with lowered, resolving_anew(first, second):
        assert clmst.get_device() is first
        assert minimum_spanning_tree(TRIANGLE).nnz == 2
        assert clmst.get_device() is second


@pytest.mark.parametrize("dtype", ["i4", "f8"])
def test_small_matrices_take_one_launch(any_device: Device, who_solves: str, dtype: str) -> None:
    """In each form that the page has figures of."""
    if who_solves != "as it is" or not small_matrix.works_on(any_device):
        pytest.skip("the host solves, or the device needs several launches")
    upper = narrow(matrix_of_density(900, density=0.06))
    upper = narrow(sparse.csr_array(sparse.triu(upper, 1)))
    symmetric = narrow(sparse.csr_array(upper + upper.T))
    symmetric.sort_indices()
    for matrix in (upper, symmetric, narrow(sparse.csr_array(upper.T.tocsr()))):
        for with_two_weights in (False, True):
            tried = matrix.copy()
            if with_two_weights:
                tried.data = np.random.default_rng(1).random(tried.nnz) * 50
            tried.data = np.ceil(tried.data * 50).astype(dtype) if dtype == "i4" else tried.data
            expected = scipys.minimum_spanning_tree(tried)
            minimum_spanning_tree(tried)  # asks SciPy once what it does with duplicates
            with launches() as launched:
                found = minimum_spanning_tree(tried)
            assert len(launched) == 1
            assert parts(found) == parts(expected)


@pytest.mark.parametrize("wrong", ["indices", "indptr", "data"])
def test_a_glance_at_arrays_that_contradict_each_other(who_solves: str, wrong: str) -> None:
    """What looks at a few entries before anything is checked leaves faults to the checks."""
    matrix = narrow(matrix_of_density(200, density=0.5))
    if wrong == "indices":
        matrix.indices = np.where(np.arange(matrix.nnz) % 2, matrix.indices, -1 - matrix.indices)
    else:
        setattr(matrix, wrong, getattr(matrix, wrong)[:-7])
    with pytest.raises(InvalidGraphError):
        minimum_spanning_tree(matrix)


def test_a_device_is_asked_for_what_is_large(who_solves: str) -> None:
    """The host has the others: small ones, and those that must be sorted first."""
    if who_solves != "host":
        pytest.skip("the device works in the host's memory, there is none, or it solves all")
    most = route.LIMITS.host
    path, longer = (narrow(sparse.eye_array(most + k, k=1, format="csr")) for k in (1, 2))
    path.data[0] = longer.data[0] = 2  # equal weights need no device of many threads
    with launches() as launched:
        minimum_spanning_tree(TRIANGLE)
        minimum_spanning_tree(np.array([[0, 2**53 + 1], [1, 0]]))
        minimum_spanning_tree(path)
        minimum_spanning_tree(narrow(sparse.csr_array(longer.T.tocsr())))  # below the diagonal
        assert not launched
        minimum_spanning_tree(longer)
        assert launched


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize(("ties", "times"), [("many", 1), ("none", 1), ("outside", 2)])
def test_equal_weights_go_to_the_device_once(who_solves: str, ties: str, times: int) -> None:
    """A sample of the weights tells that ties must be by entry, before anything is arranged.

    Ties that the sample does not have are found in what was arranged.
    """
    graph = clmst.generate("random", n=70_000, average_degree=8, seed=1).symmetrised()
    n, indices = graph.n_vertices, graph.indices.astype(np.int32)
    given = (np.ones(indices.size, np.int32), indices, graph.indptr.astype(np.int32))
    matrix = sparse.csr_array(given, shape=(n, n))
    rng = np.random.default_rng(1)
    matrix.data = rng.permutation(matrix.nnz).astype(np.int32) + 1
    if ties == "many":
        matrix.data = rng.integers(1, 10, matrix.nnz, dtype=np.int32)
    elif ties == "outside":
        matrix.data[[1, 2]] = -1
    expected = parts(scipys.minimum_spanning_tree(matrix))
    with launches() as launched:
        assert parts(minimum_spanning_tree(matrix)) == expected
    put = [kernel for kernel in launched if kernel.endswith(": canonical_csr_pair_slots")]
    if who_solves == "no device":
        times = 0
    elif clmst.get_device().capabilities.host_arrays == "copied":
        times = 1
    assert len(put) == times


def test_unused_entries_after_the_last_one_are_no_faults(who_solves: str) -> None:
    """SciPy allows them; of two weights a pair the lesser one counts here as well."""
    matrix = narrow(matrix_of_density(400, density=0.1))
    matrix.data = np.random.default_rng(1).random(matrix.nnz)
    expected = parts(scipys.minimum_spanning_tree(matrix))
    matrix.data = np.append(matrix.data, [0.0, 1.0])
    matrix.indices = np.append(matrix.indices, np.array([7, 4000], np.int32))
    assert parts(minimum_spanning_tree(matrix)) == expected
