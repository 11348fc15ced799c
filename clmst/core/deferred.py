"""Fields of dataclasses that are worked out when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Deferred(Generic[T]):
    """A dataclass field that may be given as a function without arguments instead of a value.

    The function is called when the field is first read, and its result kept. Two threads that are
    first at once may both call it.

    Parameters
    ----------
    check : callable, optional
        Called with what the function returns; raises if that cannot be the value.
    """

    def __init__(self, check: Callable[[Any], object] | None = None) -> None:
        self._check = check

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, instance: None, owner: type) -> Deferred[T]: ...
    @overload
    def __get__(self, instance: Any, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Deferred[T] | T:
        if instance is None:
            raise AttributeError(self._name)  # so the field has no default
        value = instance.__dict__[self._name]
        if callable(value):
            value = value()
            if self._check is not None:
                self._check(value)
            instance.__dict__[self._name] = value
        given: T = value
        return given

    def __set__(self, instance: Any, value: T | Callable[[], T]) -> None:
        instance.__dict__[self._name] = value
