"""Values made when first read: one for all threads, or a field given as a function."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from clmst.core.lazy import LazyField, LazyProperty, known
from clmst.runtime.device import Device

THREADS = 4


class Workshop:
    """What makes two things, one out of the other."""

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


def test_threads_that_ask_at_once_get_the_same() -> None:
    """One of two queues or pools is lost, and what was put into it."""
    shop, ready = Workshop(), threading.Barrier(THREADS)

    def ask(_: int) -> tuple[object, object]:
        ready.wait()
        return shop.joint

    with ThreadPoolExecutor(THREADS) as pool:
        joints = set(pool.map(ask, range(THREADS)))
    assert joints == {(shop.bolt, shop.bolt)}
    assert shop.made == ["joint", "bolt"]


def test_a_property_that_is_forgotten_is_made_again() -> None:
    """A device that was lost gets another queue; who only asks must not make the first one."""
    shop = Workshop()
    assert Workshop.bolt.made(shop) is None
    assert shop.made == []
    first = shop.bolt
    assert Workshop.bolt.made(shop) is first
    Workshop.bolt.forget(shop)
    assert shop.bolt is not first
    Workshop.bolt.forget(shop)
    Workshop.bolt.forget(shop)  # what there is not is forgotten already


def test_what_failed_is_tried_again() -> None:
    """A device without memory may have some later."""
    shop = Workshop()
    shop.fails = True
    with pytest.raises(ValueError, match="no steel"):
        _ = shop.bolt
    shop.fails = False
    assert shop.bolt is shop.bolt


def test_instances_have_their_own() -> None:
    """The queue of one device would be everybody's."""
    assert Workshop().bolt is not Workshop().bolt


def test_resources_of_a_new_device(any_device: Device) -> None:
    """Memory of one context is none of another's; threads would allocate in different ones."""
    new, ready = Device(any_device.cl_device), threading.Barrier(THREADS)

    def ask(_: int) -> tuple[object, ...]:
        ready.wait()
        return new.queue, new.context, new._pool, new.staging

    with ThreadPoolExecutor(THREADS) as pool:
        found = list(pool.map(ask, range(THREADS)))
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


def test_a_field_is_what_it_is_given_as() -> None:
    assert Measured(3).length == 3


def test_a_value_that_is_given_is_checked() -> None:
    with pytest.raises(ValueError, match="negative"):
        Measured(-1)


def test_a_field_is_known_once_it_is_read() -> None:
    """Who only wants to know must not cause the work."""
    found = Measured(lambda: 4)
    assert known(found, "length") is None
    assert found.length == known(found, "length") == 4
    assert known(Measured(3), "length") == 3


def test_a_function_is_called_once_when_the_field_is_read() -> None:
    calls: list[int] = []

    def measure() -> int:
        calls.append(1)
        return 4

    found = Measured(measure)
    assert calls == []
    assert (found.length, found.length) == (4, 4)
    assert calls == [1]


def test_what_a_function_returns_is_checked() -> None:
    """It is tried again the next time: nothing wrong is kept."""
    found = Measured(lambda: -1)
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            _ = found.length


def test_a_field_without_a_value_is_missing() -> None:
    """A default would be the descriptor itself."""
    with pytest.raises(TypeError, match="length"):
        Measured()
    assert replace(Measured(1), length=2).length == 2
