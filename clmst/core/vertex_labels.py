"""Names of vertices as NetworkX takes them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from clmst.core.arguments import shown
from clmst.core.errors import InvalidArgumentError


def hashable_labels(labels: Any, n_vertices: int) -> Sequence[Hashable]:
    """Return the names of vertices in NetworkX's form: hashable and distinct. O(n).

    Raises
    ------
    InvalidArgumentError
        They cannot be made so.
    """
    if labels is None:
        return range(n_vertices)
    listed = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
    names = [as_tuple(name) for name in listed]
    try:
        n_distinct = len(set(names))
    except Exception as error:
        raise InvalidArgumentError(
            f"a vertex label is not hashable ({shown(error)}); NetworkX takes hashable ones"
        ) from error
    if n_distinct != n_vertices:
        raise InvalidArgumentError(
            f"{n_vertices} vertices have {n_distinct} different labels; NetworkX would merge those "
            "that share one, so all must differ"
        )
    return names


def as_tuple(name: Any) -> Any:
    """Return lists and arrays, also nested ones, as tuples; other values unchanged."""
    if isinstance(name, np.ndarray):
        name = name.tolist()
    return tuple(map(as_tuple, name)) if isinstance(name, list) else name
