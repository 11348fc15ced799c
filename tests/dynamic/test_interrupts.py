"""Changes that break off: Ctrl-C at every line of them, and errors of the device."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import clmst
from clmst import DeviceError, DynamicForest
from tests.faults.injection import inject
from tests.faults.subjects import device_of
from tests.helpers.bounds import bounds
from tests.helpers.strategies import EXHAUSTIVE

_FOLDERS = tuple(
    str(Path(clmst.__file__).parent / one) for one in ("dynamic", "algorithms/changes")
)
_RNG = np.random.default_rng(5)
_EDGES = (_RNG.integers(0, 20, 30), _RNG.integers(0, 20, 30), _RNG.integers(0, 9, 30))
_SOME = np.arange(3, 48, 4)

CHANGES: dict[str, Callable[[DynamicForest], Any]] = {
    "insert": lambda f: f.insert(*_EDGES),
    "one by one": lambda f: f.insert(*_EDGES, one_by_one=True),
    "delete": lambda f: f.delete(f.snapshot().edge_ids),
    "update": lambda f: f.update(_SOME, 5 + (_SOME - 20)),
    "apply": lambda f: f.apply(insert=_EDGES, delete=_SOME, update=(_SOME + 1, _SOME - 10)),
    "expire": lambda f: f.expire(before=40),
    "vertices": lambda f: f.insert_vertices(3),
}
every_change = pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))


def forest_of(device: Any = None) -> DynamicForest:
    """Return a forest with ties, loops, deleted edges, and the structure for single edges."""
    rng = np.random.default_rng(6)
    forest = DynamicForest(20, weight_dtype=np.int32, device=device)
    u, v = rng.integers(0, 20, (2, 50))
    forest.insert(u, v, rng.integers(0, 9, 50))
    forest.delete([2, 5, 9, 10])
    forest.insert([1], [2], [3], one_by_one=True)
    return forest


def read(forest: DynamicForest) -> tuple[Any, ...]:
    """Return everything that a forest has, after a comparison with Kruskal's algorithm."""
    found = forest.snapshot()
    expected = clmst.kruskal(forest.to_graph())
    assert found.edges.tolist() == expected.edges.tolist()
    assert found.edge_ids.tolist() == forest.ids[expected.edge_ids].tolist()
    assert forest.total_weight == expected.total_weight
    parts = (forest.ids, *forest.edges(), found.edge_ids)
    return forest.n_vertices, forest.next_id, *(part.tolist() for part in parts)


@pytest.fixture(params=[0, 512], ids=["from trees", "anew"])
def way_of_deletions(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let a forest that loses edges be completed from its trees, or solved anew."""
    with bounds(forest_per_lost_edge=request.param):
        yield


@pytest.fixture
def stays_there() -> Iterator[None]:
    """Let the edges of small forests stay in the memory of a GPU."""
    with bounds(resident_forest=0, lost_at_once=0):
        yield


def interrupted(forest: DynamicForest, change: Callable[[DynamicForest], Any], at: int) -> bool:
    """Make a change that Ctrl-C interrupts before a line of the package; return whether it did."""
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if not frame.f_code.co_filename.startswith(_FOLDERS):
            return None
        if event == "line":
            lines += 1
            if lines == at:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        change(forest)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@every_change
@pytest.mark.usefixtures("way_of_deletions")
def test_an_interrupt_anywhere(change: Callable[[DynamicForest], Any]) -> None:
    """The state is that before the change, or that after it; the next change is right."""
    interrupt_everywhere(change)


@every_change
@pytest.mark.usefixtures("stays_there")
def test_an_interrupt_of_a_change_on_the_device(change: Callable[[DynamicForest], Any]) -> None:
    """The same if the edges are in the memory of a GPU."""
    assert forest_of(device_of("gpu-shape")).snapshot().stats["route"]["record"] == "kept-forest"
    interrupt_everywhere(change, device_of("gpu-shape"))


def interrupt_everywhere(change: Callable[[DynamicForest], Any], device: Any = None) -> None:
    """Interrupt a change before each of its lines, and look at the state, and at the next change.

    Loops make most of the lines of a long change. So later lines are tried one in seven. After the
    first lines, the standard run tries half as many.
    """
    step = 1 if EXHAUSTIVE else 2
    whole = forest_of(device)
    before = read(whole)
    change(whole)
    after = read(whole)
    at, tries, n_before = 1, 0, 0
    while True:
        forest = forest_of(device)
        if not interrupted(forest, change, at):
            assert read(forest) == after
            break
        found = read(forest)
        assert found in (before, after)
        n_before += found == before
        tries += 1
        forest.insert([3], [4], [0], one_by_one=True)
        forest.delete(forest.ids[::3])
        read(forest)
        at += 1 if at < 30 else step if at < 120 else 7 * step
    assert tries > 10
    assert n_before >= tries // 2


@every_change
@pytest.mark.usefixtures("in_steps", "way_of_deletions")
@pytest.mark.parametrize("error", [None, KeyboardInterrupt], ids=["error", "interrupt"])
def test_a_device_that_fails(
    change: Callable[[DynamicForest], Any], error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every launch of the solves of a change fails in turn."""
    fail_at_each(change, device_of("native"), error, monkeypatch)


@every_change
@pytest.mark.usefixtures("stays_there")
@pytest.mark.parametrize("error", [None, KeyboardInterrupt], ids=["error", "interrupt"])
def test_a_device_that_fails_and_keeps_the_edges(
    change: Callable[[DynamicForest], Any], error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same if the edges are in the memory of a GPU."""
    fail_at_each(change, device_of("gpu-shape"), error, monkeypatch)


def fail_at_each(
    change: Callable[[DynamicForest], Any], device: Any, error: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let each launch of a change fail in turn: the state is that before, a repetition is right."""
    forest = forest_of(device)
    before = read(forest)
    injector = inject(monkeypatch, "kernel", device)
    change(forest)
    count, after = injector.count, read(forest)
    assert after != before
    for at in range(count):
        forest = forest_of(device)
        injector.arm(at, **({} if error is None else {"error": error}))
        with pytest.raises(DeviceError if error is None else error):
            change(forest)
        injector.disarm()
        assert read(forest) == before
        change(forest)
        assert read(forest) == after
