"""Values that are computed when they are first read, and then kept.

``functools.cached_property`` suffices if it does no harm that two threads compute the value at the
same time. This module is for two other cases: a property that must be computed only once, and a
field of a dataclass whose value may be given as a function.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")


class LazyProperty(cached_property[T]):
    """A cached property that is computed only once, even if several threads read it first.

    The object that has the property must also have an attribute `lock`, which is held during the
    computation. The lock must be reentrant, because one property may read another.
    ``functools.cached_property`` does not lock since Python 3.12, so with it two threads could get
    two different objects. If the function raises an exception, the next read calls it again.
    """

    if not TYPE_CHECKING:  # type checkers see a cached property

        def __get__(self, instance: Any, owner: type | None = None) -> Any:
            if instance is None:
                return self
            with instance.lock:
                made = instance.__dict__  # later reads find the value here, without this method
                if self.attrname not in made:
                    made[self.attrname] = self.func(instance)
                return made[self.attrname]

    def made(self, instance: Any) -> T | None:
        """Return the value that `instance` has computed, or None if it has not been computed yet.

        The call does not compute the value.
        """
        value: T | None = instance.__dict__.get(self.attrname)
        return value

    def forget(self, instance: Any) -> None:
        """Remove the value that `instance` keeps. The next read computes the value again."""
        instance.__dict__.pop(self.attrname, None)


class LazyField(Generic[T]):
    """A field of a dataclass whose value may be given as a function without arguments.

    The function is called when the field is first read, and returns the value. Two threads that
    first read the field at the same time may both call the function. `check` is called with the
    value, and raises an exception if the value is not allowed.
    """

    def __init__(self, check: Callable[[Any], object] = lambda _: None) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            # The dataclass asks the class for a default value of the field. The AttributeError says
            # that there is none.
            raise AttributeError(self._name)
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
    """Return the value of the :class:`LazyField` called `name` of an instance of a dataclass.

    Return None if the value has not been computed yet.
    """
    value = vars(instance)[f"_{name}"]
    return None if callable(value) else value
