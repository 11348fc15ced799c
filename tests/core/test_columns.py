"""The columns that are taken: by name, by order, or none."""

from __future__ import annotations

from typing import Any

import pytest

from clmst.core.columns import Columns, choose
from clmst.core.errors import InvalidGraphError


@pytest.mark.parametrize(
    ("names", "weight", "chosen"),
    [
        ("source target weight", "weight", "source target weight"),
        ("note weight target source", "weight", "source target weight"),
        ("source target", "weight", "source target"),
        ("source target cost", "cost", "source target cost"),
        ("source target cost weight", "cost", "source target cost"),
        ("source target cost weight", None, "source target"),
        ("source target cost", "weight", None),  # it may be meant
        ("source target cost", "price", None),
        ("u v w", "weight", "u v w"),
        ("u v", "weight", "u v"),
        ("u v", None, "u v"),
        ("weight u v", "weight", "u v weight"),
        ("cost u v", "cost", "u v cost"),
        ("u v w", None, None),
        ("u v w x", "weight", None),
        ("u v x weight", "weight", None),
        ("target weight", "weight", None),  # not two ends
        ("source v weight", "weight", None),
        ("u", "weight", None),
        ("", "weight", None),
        ("from to", "weight", "from to"),
        ("FromNodeId ToNodeId", "weight", "FromNodeId ToNodeId"),
        ("node_1 node_2", "weight", "node_1 node_2"),
        ("from to km", "weight", "from to km"),
        ("height width", "weight", None),  # they may be coordinates, as all below
        ("a b", "weight", None),
        ("x y", "weight", None),
        ("x y", None, "x y"),  # edges without weights are meant
        ("x y z", "weight", None),
        ("X1 X2", "weight", None),
        ("lon lat weight", "weight", None),
    ],
)
def test_columns_that_nobody_named(names: str, weight: Any, chosen: str | None) -> None:
    try:
        found = choose(names.split(), weight=weight)
    except InvalidGraphError:
        assert chosen is None
    else:
        source, target, *rest = (chosen or "").split()
        expected = Columns(source=source, target=target, weight=rest[0] if rest else None)
        assert found == expected


def test_names_that_can_be_no_name() -> None:
    """Pandas has frames with such columns; the others are there all the same."""
    odd: list[Any] = [float("nan"), None, "source", "target"]
    assert choose(odd).names == ["source", "target"]
