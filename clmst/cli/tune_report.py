"""The reports of ``clmst tune``: as tables for people, as JSON for programs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clmst import __version__
from clmst.cli.terminal import new_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from clmst.runtime.device import Device
    from clmst.runtime.policy import Policy, TuningParameter
    from clmst.runtime.tuning_table import Entry
    from clmst.tune.search import SearchOutcome

_STYLES = {"better": "bold green", "refused": "yellow", "wrong": "bold red"}
_ENDINGS = {
    "complete": "no value next to those chosen is better",
    "budget": "the time was up",
    "interrupted": "interrupted",
}


def parameters_table(parameters: Iterable[TuningParameter], policy: Policy) -> Table:
    """Return what can be varied: present values, values to be tried, meaning."""
    table = new_table("parameter", "now", "tried", "unit", "what it is", numbers=("now",))
    for one in parameters:
        tries = " ".join(map(str, one.tries))
        table.add_row(one.name, str(getattr(policy, one.name)), tries, one.unit, one.help)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Report(ABC):
    """A measurement on a device, by medians of repeated solves."""

    device: Device
    graphs: tuple[str, ...]  # what they are called
    repetitions: int
    path: Path | None  # the table that it is written to, if any

    @abstractmethod
    def entry(self) -> Entry:
        """Return what goes to a table."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """Return the report in the types of JSON."""

    @abstractmethod
    def print(self, console: Console) -> None:
        """Print it for people."""

    def _entry(self, measured: str, values: Mapping[str, Any], figures: Mapping[str, Any]) -> Entry:
        from clmst.runtime.tuning_table import Entry

        device, units = self.device, self.device.capabilities.compute_units
        return Entry(
            device=device.name,
            platform=device.platform,
            driver=device.driver,
            clmst=__version__,
            measured=f"{date.today().isoformat()}, {units} compute units: {measured}",
            values=values,
            figures=figures,
        )

    def _json(self, **more: Any) -> dict[str, Any]:
        return {
            "device": self.device.description,
            "driver": self.device.driver,
            "graphs": list(self.graphs),
            "repetitions": self.repetitions,
            **more,
            "written": None if self.path is None else str(self.path),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CostsReport(Report):
    """The costs of solves and transfers: fields of a policy."""

    values: Mapping[str, Any]

    def entry(self) -> Entry:
        """Return what goes to a table."""
        measured = f"costs on {'; '.join(self.graphs)}; medians of {self.repetitions}"
        return self._entry(measured, self.values, {})

    def as_json(self) -> dict[str, Any]:
        """Return the report in the types of JSON."""
        before = {name: getattr(self.device.policy, name) for name in self.values}
        return self._json(values=dict(self.values), before=before)

    def print(self, console: Console) -> None:
        """Print the values beside those before."""
        from clmst.runtime.policy import PARAMETERS

        table = new_table("cost", "before", "now", "unit", "what it is", numbers=("before", "now"))
        for name, value in self.values.items():
            one = PARAMETERS[name]
            before = str(getattr(self.device.policy, name))
            table.add_row(name, before, str(value), one.unit, one.help)
        console.print(table)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchReport(Report):
    """A search, for what some algorithms take."""

    algorithm: str
    outcome: SearchOutcome

    def entry(self) -> Entry:
        """Return what goes to a table."""
        gain = f"{self.outcome.gain:.3f} of the time with the values before"
        return self._entry(
            f"{self.algorithm} on {'; '.join(self.graphs)}; medians of {self.repetitions}, "
            f"geometric mean; {gain}; figures beyond {self.outcome.margin:.3f} of 1 count",
            self.outcome.values,
            self.outcome.figures,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report in the types of JSON."""
        outcome = self.outcome
        return self._json(
            algorithm=self.algorithm,
            margin=outcome.margin,
            ending=outcome.ending,
            gain=outcome.gain,
            undone=outcome.undone,
            values=outcome.values,
            figures=outcome.figures,
            steps=[asdict(step) for step in outcome.steps],
        )

    def print(self, console: Console) -> None:
        """Print what was tried, and what was chosen."""
        console.print(self._steps())
        console.print()
        console.print(self._chosen())

    def _gain(self) -> str:
        outcome = self.outcome
        if outcome.undone is not None:
            return f"no gain: side by side, what was found took {outcome.undone:.3f} of the time"
        if not outcome.has_gained:
            return "nothing was quicker than the values before"
        return f"{outcome.gain:.3f} of that with the values before"

    def _steps(self) -> Table:
        from rich.text import Text

        numbers = ("from", "to", "time")
        table = new_table("parameter", *numbers, "verdict", numbers=numbers)
        for step in self.outcome.steps:
            verdict = f"{step.verdict}: {step.note}" if step.note else step.verdict
            table.add_row(
                step.name,
                str(step.against),
                str(step.value),
                "" if step.ratio is None else f"{step.ratio:.3f}",
                Text(verdict, _STYLES.get(step.verdict, "")),
            )
        return table

    def _chosen(self) -> Table:
        outcome = self.outcome
        table = new_table()
        table.add_row("device", f"{self.device.description}, driver {self.device.driver}")
        table.add_row("algorithm", self.algorithm)
        table.add_row("graphs", "\n".join(self.graphs))
        table.add_row("ended", _ENDINGS[outcome.ending])
        table.add_row("margin", f"{outcome.margin:.1%}")
        table.add_row("time", self._gain())
        table.add_section()
        for name, value in outcome.values.items():
            before = getattr(outcome.start, name)
            table.add_row(name, f"{value}" if value == before else f"{value} (was {before})")
        table.add_section()
        table.add_row("written to", "nowhere" if self.path is None else str(self.path))
        return table
