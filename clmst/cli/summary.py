"""The report of ``clmst solve``: a table for people, or JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from clmst.cli.terminal import duration, new_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from clmst.cli.streaming import StreamedFile
    from clmst.core.dense_graph import DenseGraph
    from clmst.core.forest import Forest
    from clmst.core.graph import Graph
    from clmst.core.points import Points
    from clmst.runtime.launcher import KernelTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The facts that one run of ``clmst solve`` reports: the graph, the forest and the times."""

    file: str  # the name that the user gave
    graph: Graph | DenseGraph | Points | StreamedFile
    forest: Forest
    seconds: Mapping[str, float]  # seconds of each stage
    # Seconds of each repeated solve, during which graph and forest stayed on the device.
    again: tuple[float, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the summary as a value for JSON."""
        forest, stats = self.forest, self.forest.stats
        summary: dict[str, Any] = {
            "file": self.file,
            "n_vertices": self.graph.n_vertices,
            "n_edges": self.graph.n_edges,
            "n_components": forest.n_components,
            "n_forest_edges": forest.n_edges,
            "total_weight": forest.total_weight,
            "weight_dtype": str(forest.weights.dtype),
            "maximum": forest.maximum,
            "algorithm": stats["algorithm"],
            "device": stats["device"],
            **({"devices": stats["devices"]} if "devices" in stats else {}),
            "rounds": stats.get("rounds"),
            "launches": stats.get("launches"),
            "verified": "proof" in stats,  # a wrong forest raises and never gets a summary
            "seconds": self.seconds,
        }
        if "proof" in stats:
            summary["proof"] = stats["proof"]
        if self.again:
            summary["again"] = {"median": median(self.again), "seconds": self.again}
        for times in ("phases", "profile"):
            if times in stats:
                summary[times] = stats[times]
        return summary

    def print(self, console: Console) -> None:
        """Print the summary as a table, then tables of the times of phases and kernels if any."""
        console.print(self._sizes())
        for times, what in (("phases", "phase"), ("profile", "kernel")):
            if times in self.forest.stats:
                console.print()
                console.print(_times_table(what, self.forest.stats[times]))

    def _sizes(self) -> Table:
        forest, stats = self.forest, self.forest.stats
        table = new_table()
        rows = {
            "file": self.file,
            "vertices": f"{self.graph.n_vertices:,}",
            "edges": f"{self.graph.n_edges:,}",
            "components": f"{forest.n_components:,}",
            "forest edges": f"{forest.n_edges:,}",
            "total weight": f"{forest.total_weight:,} ({forest.weights.dtype})",
            "forest": "maximum" if forest.maximum else "minimum",
            "algorithm": stats["algorithm"],
            "device": stats["device"],
        }
        if len(several := stats.get("devices", ())) > 1:
            rows["device"] = ", ".join(several)
        if stats["algorithm"] == "stream":
            name, number = ("parts", "reductions") if stats["reductions"] else ("passes", "passes")
            rows[name] = f"{stats[number]:,}"
        if "rounds" in stats:
            rows["rounds"] = f"{stats['rounds']:,}"
        if (proof := stats.get("proof")) is not None:
            reason = f" ({proof['reason']})" if "reason" in proof else ""
            rows["proved"] = f"every edge compared, on {proof['by']}{reason}"
        for name, value in rows.items():
            table.add_row(name, value)
        table.add_section()
        for name, seconds in self.seconds.items():
            table.add_row(f"time to {name.replace('_', ' ')}", duration(seconds))
        if self.again:
            table.add_section()
            spread = f"{duration(min(self.again))} to {duration(max(self.again))}"
            table.add_row(f"median of {len(self.again)}", duration(median(self.again)))
            table.add_row("spread", spread)
        return table


def _times_table(what: str, times: Mapping[str, KernelTime]) -> Table:
    numbers = ("launches", "ms", "share")
    table = new_table(what, *numbers, numbers=numbers)
    total = sum(time.milliseconds for time in times.values())
    for name, time in times.items():
        share = time.milliseconds / total if total else 0.0
        table.add_row(name, f"{time.launches:,}", f"{time.milliseconds:.3f}", f"{share:.1%}")
    table.add_section()
    launches = sum(time.launches for time in times.values())
    table.add_row("all", f"{launches:,}", f"{total:.3f}", "")
    return table
