"""The most that a device's pool has in use."""

from __future__ import annotations

from typing import Any


class Peak:
    """A pool that notes the most that was in use.

    Attributes
    ----------
    before, most : int
        Bytes in use when it was made, and at most since then.
    """

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self.before = self.most = inner.active_bytes

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def allocate(self, n_bytes: int) -> Any:
        buffer = self._inner.allocate(n_bytes)
        self.most = max(self.most, self._inner.active_bytes)
        return buffer
