"""The reports of ``clmst tune``: as tables for people, as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
    """Return the table of what can be varied: present values, values to be tried, meaning."""
    table = new_table("parameter", "now", "tried", "unit", "what it is", numbers=("now",))
    for one in parameters:
        tries = " ".join(map(str, one.tries))
        table.add_row(one.name, str(getattr(policy, one.name)), tries, one.unit, one.help)
    return table


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A measurement on a device, by medians of repeated solves."""

    device: Device
    graphs: tuple[str, ...]  # what they are called
    repetitions: int
    path: Path | None  # the table that it is written to, if any
    measured: str  # what was timed, as the table says it
    values: Mapping[str, Any]
    figures: Mapping[str, Any]
    facts: Mapping[str, Any]  # what is in JSON alone
    tables: Sequence[Table]

    def entry(self) -> Entry:
        """Return the entry of a tuning table."""
        from clmst.runtime.tuning_table import Entry

        device, units = self.device, self.device.capabilities.compute_units
        return Entry(
            device=device.name,
            platform=device.platform,
            driver=device.driver,
            clmst=__version__,
            measured=f"{date.today().isoformat()}, {units} compute units: {self.measured}",
            values=self.values,
            figures=self.figures,
        )

    def as_json(self) -> dict[str, Any]:
        """Return the report in the types of JSON."""
        return {
            "device": self.device.description,
            "driver": self.device.driver,
            "graphs": list(self.graphs),
            "repetitions": self.repetitions,
            **self.facts,
            "values": dict(self.values),
            "written": None if self.path is None else str(self.path),
        }

    def print(self, console: Console) -> None:
        """Print it for people."""
        for number, one in enumerate(self.tables):
            if number:
                console.print()
            console.print(one)


def of_costs(values: Mapping[str, Any], device: Device, **more: Any) -> Report:
    """Return the report of what solves and transfers cost: fields of a policy."""
    from clmst.runtime.policy import PARAMETERS

    before = {name: getattr(device.policy, name) for name in values}
    table = new_table("cost", "before", "now", "unit", "what it is", numbers=("before", "now"))
    for name, value in values.items():
        one = PARAMETERS[name]
        table.add_row(name, str(before[name]), str(value), one.unit, one.help)
    graphs = "; ".join(more["graphs"])
    return Report(
        device=device, values=values, figures={}, facts={"before": before}, tables=[table],
        measured=f"costs on {graphs}; medians of {more['repetitions']}", **more,
    )  # fmt: skip


def of_search(outcome: SearchOutcome, algorithm: str, device: Device, **more: Any) -> Report:
    """Return the report of a search among what `algorithm` takes, a name or several."""
    facts = {name: getattr(outcome, name) for name in ("margin", "ending", "gain", "undone")}
    facts |= {"algorithm": algorithm, "figures": outcome.figures}
    return Report(
        device=device, values=outcome.values, figures=outcome.figures,
        facts=facts | {"steps": [asdict(step) for step in outcome.steps]},
        tables=[_steps(outcome), _chosen(outcome, algorithm, device, more["graphs"], more["path"])],
        measured=f"{algorithm} on {'; '.join(more['graphs'])}; medians of {more['repetitions']}, "
        f"geometric mean; {outcome.gain:.3f} of the time with the values before; figures beyond "
        f"{outcome.margin:.3f} of 1 count",
        **more,
    )  # fmt: skip


def _gain(outcome: SearchOutcome) -> str:
    if outcome.undone is not None:
        return f"no gain: side by side, what was found took {outcome.undone:.3f} of the time"
    if not outcome.has_gained:
        return "nothing was quicker than the values before"
    return f"{outcome.gain:.3f} of that with the values before"


def _steps(outcome: SearchOutcome) -> Table:
    """Return the table of the values that were tried."""
    from rich.text import Text

    numbers = ("from", "to", "time")
    table = new_table("parameter", *numbers, "verdict", numbers=numbers)
    for step in outcome.steps:
        verdict = f"{step.verdict}: {step.note}" if step.note else step.verdict
        ratio = "" if step.ratio is None else f"{step.ratio:.3f}"
        shown = Text(verdict, _STYLES.get(step.verdict, ""))
        table.add_row(step.name, str(step.against), str(step.value), ratio, shown)
    return table


def _chosen(
    outcome: SearchOutcome, algorithm: str, device: Device, graphs: Iterable[str], path: Path | None
) -> Table:
    """Return the table of the values that were chosen."""
    table = new_table()
    table.add_row("device", f"{device.description}, driver {device.driver}")
    table.add_row("algorithm", algorithm)
    table.add_row("graphs", "\n".join(graphs))
    table.add_row("ended", _ENDINGS[outcome.ending])
    table.add_row("margin", f"{outcome.margin:.1%}")
    table.add_row("time", _gain(outcome))
    table.add_section()
    for name, value in outcome.values.items():
        before = getattr(outcome.start, name)
        table.add_row(name, f"{value}" if value == before else f"{value} (was {before})")
    table.add_section()
    table.add_row("written to", "nowhere" if path is None else str(path))
    return table
