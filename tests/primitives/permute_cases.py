"""Small cases of gather and scatter for Oclgrind, the broadest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from clmst import Device
from clmst.primitives.permute import gather, scatter
from clmst.runtime.array import DeviceArray
from tests.primitives.selections import QUAD, TRIPLE, draw, same

WORD = np.dtype(np.uint32)


def cases() -> Iterator[tuple[str, Callable[[Device], bool]]]:
    """Yield the name of each case, and what returns whether a device does it right."""
    yield "there and back, triples", partial(there_and_back_is_right, dtype=TRIPLE, length=700)
    for dtype in (WORD, QUAD):
        for length in (0, 1, 63, 257, 1025):
            name = f"there and back, {length} of {dtype}"
            yield name, partial(there_and_back_is_right, dtype=dtype, length=length)


def there_and_back_is_right(device: Device, *, dtype: np.dtype[Any], length: int) -> bool:
    """Gather part of the values in another order, and scatter them among others."""
    rng = np.random.default_rng(length)
    values, others = draw(rng, dtype, 2 * length), draw(rng, dtype, 2 * length)
    picked = rng.permutation(2 * length)[:length].astype(np.uint32)
    indices = DeviceArray.from_host(picked, device)
    fetched = gather(DeviceArray.from_host(values, device), indices)
    out = DeviceArray.from_host(others, device)
    scatter(fetched, indices, out)
    expected = others.copy()
    expected[picked] = values[picked]
    return same(fetched.to_host(), values[picked]) and same(out.to_host(), expected)
