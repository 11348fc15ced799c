"""Properties made once: what threads must not each have one of."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from clmst.runtime.device import Device
from clmst.runtime.made_once import MadeOnce

THREADS = 4


class Workshop:
    """What makes two things, one out of the other."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.made: list[str] = []
        self.fails = False

    @MadeOnce
    def bolt(self) -> object:
        """Take long enough for others to come and ask."""
        if self.fails:
            raise ValueError("no steel")
        self.made.append("bolt")
        threading.Event().wait(0.05)
        return object()

    @MadeOnce
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
