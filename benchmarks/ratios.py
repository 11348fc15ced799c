"""A table of clmst beside SciPy, graph by graph and form by form, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import geometric_mean
from typing import Any, TypeAlias

import numpy as np

Seconds: TypeAlias = tuple[float, float]  # of clmst and of SciPy


def print_table(rows: Iterable[tuple[str, str, Any, Seconds]]) -> None:
    """Print each row when it is measured, and the mean ratio of each form at the end.

    Parameters
    ----------
    rows : iterable of (graph, form, matrix, seconds)
    """
    print("| graph | matrix | entries | clmst ms | SciPy ms | ratio |\n|---|---|--:|--:|--:|--:|")
    ratios: dict[str, list[float]] = {}
    for name, form, matrix, (ours, theirs) in rows:
        ratios.setdefault(form, []).append(theirs / ours)
        entries = matrix.size if isinstance(matrix, np.ndarray) else matrix.nnz
        print(
            f"| {name} | {form} | {entries:,} | {ours * 1e3:.2f} | {theirs * 1e3:.2f} "
            f"| {theirs / ours:.2f} |",
            flush=True,
        )
    means = ", ".join(f"{form} {geometric_mean(values):.2f}" for form, values in ratios.items())
    print(f"\nGeometric means of the ratios: {means}.")
