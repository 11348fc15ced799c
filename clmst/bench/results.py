"""All measurements, as one JSON file that is replaced atomically; and the merging of such files.

The file holds ``format`` and ``version``, ``machines`` (facts by identity), ``graphs`` (facts by
name) and ``measurements`` (see :class:`Measurement`).
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from clmst import __version__
from clmst.bench.harness import Status
from clmst.core.errors import FileFormatError, InvalidArgumentError
from clmst.core.machine import processor, usable_cores, version_of
from clmst.io import files

if TYPE_CHECKING:
    from clmst.runtime.device import Device

Scope: TypeAlias = Literal["solve", "forest", "transfers"]

SCOPES: tuple[Scope, ...] = get_args(Scope)
SCOPE_TITLES: Mapping[str, str] = {
    "solve": "graph resident on the device, forest left there as flags",
    "forest": "graph resident on the device, slots and endpoints of the forest left there",
    "transfers": "from a SciPy matrix on the host to a forest on the host",
}

Key: TypeAlias = tuple[str, str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What came of one contestant on one graph."""

    machine: str  # its identity
    experiment: str
    graph: str  # its name
    contestant: str
    scope: Scope  # what the time covers
    status: Status  # only what is "ok" has times
    remark: str = ""  # the error, or the reason of the failure
    seconds: tuple[float, ...] = ()  # of every repetition
    ours: bool = True  # whether it is clmst's
    # The stats of the solve, and the parameters of the experiment.
    details: Mapping[str, Any] = field(default_factory=dict)
    # The identity of the benchmark that it was timed in: only times of one benchmark are
    # comparable. Empty in old files.
    benchmark: str = ""

    @property
    def key(self) -> Key:
        """The key, unique in a file."""
        return (self.machine, self.experiment, self.graph, self.contestant, self.scope)

    @property
    def is_ok(self) -> bool:
        """Whether there are times."""
        return self.status == "ok"

    @property
    def median(self) -> float:
        """Median seconds of a call."""
        return median(self.seconds)

    def as_json(self) -> dict[str, Any]:
        """Return the measurement in the types of JSON; the median is there for readers."""
        value = asdict(self) | {"seconds": list(self.seconds), "details": dict(self.details)}
        return value | {"median": self.median if self.is_ok else None}

    @classmethod
    def from_json(cls, value: Any) -> Measurement:
        """Read a measurement from JSON; raise FileFormatError if it is none."""
        names = cls.__dataclass_fields__
        try:
            value = {"benchmark": value.get("contest", "")} | value  # its name in older files
            made = cls(**{name: value[name] for name in names} | {"seconds": (*value["seconds"],)})
            texts = (*made.key, made.remark, made.benchmark)
            legal = made.scope in SCOPES and made.status in get_args(Status)
            legal &= all(isinstance(text, str) for text in texts) and isinstance(made.details, dict)
            legal &= all(isinstance(each, float) and each > 0 for each in made.seconds)
        except (AttributeError, KeyError, TypeError) as error:
            raise FileFormatError(f"a measurement lacks {error}; it must have all fields") from None
        if not legal or made.is_ok != bool(made.seconds):
            raise FileFormatError(
                f"the measurement {texts[:5]} has values that do not fit; "
                "one that is 'ok' has positive seconds, any other has none"
            )
        return made


FORMAT = "clmst-bench"
VERSION = 1

# Two files mean the same graph by a name only if these agree.
_GRAPH_IDENTITY = ("n_vertices", "n_slots", "total_weight")


@dataclass(slots=True, kw_only=True)
class Results:
    """What was measured, on any number of machines."""

    # Facts by identity, as of :func:`machine_facts`, with the commands of all runs.
    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Facts by name: sizes, total weight, how that is known.
    graphs: dict[str, dict[str, Any]] = field(default_factory=dict)
    # By key, in the order they were made.
    measurements: dict[Key, Measurement] = field(default_factory=dict)
    path: Path | None = None  # the file that is rewritten after every change

    # ----------------------------------------------------------------- writing

    def add_machine(self, identity: str, facts: dict[str, Any]) -> None:
        """Set the machine of later measurements; commands of earlier ones stay in its facts."""
        self.machines[identity] = _with_commands(self.machines.get(identity), facts)
        self.save()

    def add_graph(self, name: str, facts: dict[str, Any]) -> None:
        """Set the facts of a graph; raise if another graph of that name was measured."""
        if name in self.graphs:
            _check_same_graph(name, self.graphs[name], facts, "the results and this run")
        self.graphs[name] = facts

    def add(self, measurements: Iterable[Measurement]) -> None:
        """Keep measurements, replacing earlier ones of the same key, and write the file."""
        for one in measurements:
            self.measurements.pop(one.key, None)
            self.measurements[one.key] = one
        self.save()

    def add_benchmark(self, measurements: Sequence[Measurement]) -> None:
        """Keep all measurements of one benchmark, instead of those of earlier turns, and write.

        A contestant of earlier turns that has no times in these ones is not comparable with them.
        """
        replaced = {one.key[:3] for one in measurements}
        self.measurements = {
            key: one for key, one in self.measurements.items() if key[:3] not in replaced
        }
        self.add(measurements)

    def save(self) -> None:
        """Write the file, if there is one, atomically."""
        if self.path is not None:
            write_json(self.path, self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Return everything in the types of JSON."""
        return {
            "format": FORMAT, "version": VERSION, "machines": self.machines, "graphs": self.graphs,
            "measurements": [one.as_json() for one in self.measurements.values()],
        }  # fmt: skip

    # ----------------------------------------------------------------- reading

    @classmethod
    def load(cls, path: Path) -> Results:
        """Read a file of results."""
        with files.reading(path) as source:
            try:
                value = json.loads(source.stream.read())
            except ValueError as error:
                raise FileFormatError(f"not JSON: {error}") from error
            return cls._from_json(value)

    @classmethod
    def _from_json(cls, value: Any) -> Results:
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise FileFormatError(f"no results of `clmst bench`; they have format {FORMAT!r}")
        if value.get("version") != VERSION:
            raise FileFormatError(
                f"results of version {value.get('version')!r}; this clmst reads version {VERSION}"
            )
        parts: list[Any] = [value.get(name) for name in ("machines", "graphs", "measurements")]
        if [type(part) for part in parts] != [dict, dict, list]:
            raise FileFormatError("machines, graphs or measurements are missing")
        machines, graphs, listed = parts
        measurements = [Measurement.from_json(one) for one in listed]
        for one in measurements:
            if one.machine not in machines or (one.is_ok and one.graph not in graphs):
                raise FileFormatError(
                    f"a measurement is of {one.graph} on {one.machine}; "
                    "graph and machine must be described"
                )
        return cls(
            machines=machines, graphs=graphs, measurements={one.key: one for one in measurements}
        )

    # --------------------------------------------------------------- selection

    def of(self, experiment: str, *, scope: str | None = None) -> list[Measurement]:
        """Return the measurements of an experiment, of one scope if given."""
        return [
            one
            for one in self.measurements.values()
            if one.experiment == experiment and scope in (None, one.scope)
        ]

    def have(self, keys: Iterable[Key], repetitions: int) -> bool:
        """Return whether one benchmark timed all keys, with at least `repetitions` times each."""
        found = [self.measurements.get(key) for key in keys]
        benchmarks = {one.benchmark for one in found if one is not None}
        return len(benchmarks) <= 1 and all(
            one is not None and len(one.seconds) >= repetitions for one in found
        )

    @property
    def failures(self) -> list[Measurement]:
        """All measurements without times."""
        return [one for one in self.measurements.values() if not one.is_ok]

    def name_of(self, machine: str) -> str:
        """Return the shortest name that tells a machine from the others here."""
        facts = self.machines
        for words in (("device",), ("device", "platform"), ("device", "platform", "driver")):
            names = {one: ", ".join(facts[one][word] for word in words) for one in facts}
            if list(names.values()).count(names[machine]) == 1:
                return names[machine]
        return machine

    def label_of(self, one: Measurement, *, is_alone: bool = False) -> str:
        """Return the name of a contestant, with its machine if several are shown together."""
        alone = is_alone or len(self.machines) == 1
        return one.contestant if alone else f"{one.contestant}, {self.name_of(one.machine)}"


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a value as JSON, atomically."""
    text = json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False)
    with files.writing(path) as stream:
        stream.write(text.encode() + b"\n")


def merged(parts: Mapping[str, Results]) -> Results:
    """Merge results, which are named by their files.

    Raises InvalidArgumentError if two of them have different graphs of one name, or the same
    measurement of one machine.
    """
    whole = Results()
    owners: dict[Key, str] = {}
    seen: dict[str, str] = {}
    for file, part in parts.items():
        for name, facts in part.graphs.items():
            if name in whole.graphs:
                _check_same_graph(name, whole.graphs[name], facts, f"{seen[name]} and {file}")
            whole.graphs.setdefault(name, facts)
            seen.setdefault(name, file)
        for key, one in part.measurements.items():
            if key in owners:
                raise InvalidArgumentError(
                    f"{owners[key]} and {file} both hold {one.contestant} on {one.graph} "
                    f"({one.experiment}, {one.scope}) of {one.machine}; a merge takes each once"
                )
            owners[key] = file
            whole.measurements[key] = one
        for identity, facts in part.machines.items():
            whole.machines[identity] = _with_commands(whole.machines.get(identity), facts)
    return whole


def _with_commands(earlier: Mapping[str, Any] | None, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a machine with the commands of all runs on it, each once, in order."""
    commands: list[Any] = []
    for one in (earlier or {}, facts):
        older = [one["command"]] if "command" in one else []  # before there were several
        commands += [command for command in one.get("commands", older) if command not in commands]
    described = {name: fact for name, fact in facts.items() if name != "command"}
    return {**described, "commands": commands}


def _check_same_graph(
    name: str, one: Mapping[str, Any], other: Mapping[str, Any], where: str
) -> None:
    for fact in _GRAPH_IDENTITY:
        if one[fact] != other[fact]:
            raise InvalidArgumentError(
                f"{where} mean different graphs by {name}: {fact} is {one[fact]} and "
                f"{other[fact]}; results stand side by side only for equal graphs"
            )


# ----------------------------------------------------------------------------- machines


def machine_facts(device: Device) -> dict[str, Any]:
    """Return device, driver, host and versions, in the types of JSON."""
    can, peers = device.capabilities, ("numpy", "scipy", "pyopencl")
    return {
        "device": device.name, "platform": device.platform, "driver": device.driver,
        "kind": can.kind, "compute_units": can.compute_units, "memory": can.global_memory,
        "without": list(device.without), "host": processor(), "host_cores": usable_cores(),
        "system": f"{platform.system()} {platform.release()}", "python": platform.python_version(),
        "versions": {"clmst": __version__, **{name: version_of(name) for name in peers}},
        "command": sys.argv[1:],
    }  # fmt: skip


def identity(machine: dict[str, Any]) -> str:
    """Return one line that is equal for comparable measurements of one machine."""
    off = "".join(f", without {name}" for name in machine["without"])
    return (
        f"{machine['device']} ({machine['platform']}), driver {machine['driver']}{off}, "
        f"on {machine['host']}, {machine['host_cores']} cores, clmst {machine['versions']['clmst']}"
    )
