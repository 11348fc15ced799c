"""Values that are computed at the first read, and kept.

If two threads may both compute a value and either result is right, ``functools.cached_property`` is
enough. This module has the two other cases: a property that must be computed only once, and a field
of a dataclass that may be a function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")


class LazyProperty(cached_property[T]):
    """A cached property of an object with a `lock`: computed under it, once for all threads.

    Since Python 3.12 every thread that finds a ``functools.cached_property`` missing computes it.
    Two threads could then have two different queues. The lock must be reentrant, as one such
    property may need another. If the function raises, the next read calls it again.
    """

    if not TYPE_CHECKING:  # the types are those of a cached property

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            with instance.lock:
                made = instance.__dict__  # from then on Python reads this first
                if self.attrname not in made:
                    made[self.attrname] = self.func(instance)
                return made[self.attrname]

    def made(self, instance: Any) -> T | None:
        """Return the value if it has been computed, else None."""
        value: T | None = instance.__dict__.get(self.attrname)
        return value

    def forget(self, instance: Any) -> None:
        """Let the next read compute the value again."""
        instance.__dict__.pop(self.attrname, None)


class LazyField(Generic[T]):
    """A field of a dataclass that may be given as a function without arguments.

    The function is called when the field is first read. Two threads that read it first at the same
    time may both call it. A `check` is given the value, and raises if it is illegal.
    """

    def __init__(self, check: Callable[[Any], object] = lambda _: None) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            raise AttributeError(self._name)  # so the field has no default
        value = instance.__dict__[self._name]
        if callable(value):
            value = value()
            self._check(value)
            instance.__dict__[self._name] = value
        made: T = value
        return made

    def __set__(self, instance: Any, value: T | Callable[[], T]) -> None:
        if not callable(value):
            self._check(value)
        instance.__dict__[self._name] = value


def known(instance: object, name: str) -> Any:
    """Return the value of a :class:`LazyField`, or None if it is still a function."""
    value = vars(instance)[f"_{name}"]
    return None if callable(value) else value
