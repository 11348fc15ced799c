"""Values made when first read: one for all threads, or a field given as a function."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import pytest

from clmst.core.lazy import LazyField, LazyProperty, known
from clmst.runtime.device import Device

THREADS = 4
T = TypeVar("T")


class Workshop:
    """An object with two lazy properties, one made of the other."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made: list[str] = []
        self.fails = False

    @LazyProperty
    def bolt(self) -> object:
        """Take long enough for others to come and ask."""
        if self.fails:
            raise ValueError("no steel")
        self.made.append("bolt")
        threading.Event().wait(0.05)
        return object()

    @LazyProperty
    def joint(self) -> tuple[object, object]:
        """Need another one."""
        self.made.append("joint")
        return self.bolt, self.bolt


def at_once(ask: Callable[[], T]) -> list[T]:
    """Return the values that threads get if they ask at the same time."""
    ready = threading.Barrier(THREADS)

    def asked(_: int) -> T:
        ready.wait()
        return ask()

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(asked, range(THREADS)))


def test_threads_that_ask_at_once_get_the_same() -> None:
    """One of two queues or pools is lost, and what was put into it."""
    shop = Workshop()
    assert set(at_once(lambda: shop.joint)) == {(shop.bolt, shop.bolt)}
    assert shop.made == ["joint", "bolt"]
    assert Workshop().bolt is not shop.bolt


def test_a_property_that_is_forgotten_is_made_again() -> None:
    """A device that was lost gets another queue; who only asks must not make the first one."""
    shop = Workshop()
    assert Workshop.bolt.made(shop) is None
    assert shop.made == []
    shop.fails = True
    with pytest.raises(ValueError, match="no steel"):  # a device may have memory later
        _ = shop.bolt
    shop.fails = False
    first = shop.bolt
    assert Workshop.bolt.made(shop) is first is shop.bolt
    Workshop.bolt.forget(shop)
    assert shop.bolt is not first
    Workshop.bolt.forget(shop)
    Workshop.bolt.forget(shop)  # what there is not is forgotten already


def test_resources_of_a_new_device(any_device: Device) -> None:
    """Memory of one context is none of another's; threads would allocate in different ones."""
    new = Device(any_device.cl_device)
    found = at_once(lambda: (new.queue, new.context, new._pool, new.staging))
    for resource in zip(*found, strict=True):
        assert len({id(one) for one in resource}) == 1


# ------------------------------------------------------------------------------ fields


def refuse_negative(value: int) -> None:
    if value < 0:
        raise ValueError("negative")


@dataclass(frozen=True)
class Measured:
    """A value that may take long to find."""

    length: LazyField[int] = LazyField(refuse_negative)


def test_a_field_is_made_once_when_it_is_read() -> None:
    """A look at what is known must not cause the work."""
    calls: list[int] = []

    def measure() -> int:
        calls.append(1)
        return 4

    found = Measured(measure)
    assert known(found, "length") is None
    assert calls == []
    assert found.length == found.length == known(found, "length") == 4
    assert calls == [1]
    assert Measured(3).length == known(Measured(3), "length") == 3


def test_a_field_is_checked() -> None:
    """What a function returns is tried again the next time: nothing wrong is kept."""
    with pytest.raises(ValueError, match="negative"):
        Measured(-1)
    found = Measured(lambda: -1)
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            _ = found.length


def test_a_field_without_a_value_is_missing() -> None:
    """A default would be the descriptor itself."""
    with pytest.raises(TypeError, match="length"):
        Measured()
    assert replace(Measured(1), length=2).length == 2
