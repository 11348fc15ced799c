"""All measurements, as one JSON file that is replaced atomically, and the merging of files.

The file has ``format`` and ``version``, ``machines`` (facts by identity), ``graphs`` (facts by
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
    """The times of one contestant (an algorithm or program) on one graph.

    If the times are missing, the status and the remark say why.
    """

    machine: str  # the identity of the machine
    experiment: str
    graph: str  # the name of the graph
    contestant: str
    scope: Scope  # what the time covers
    status: Status  # there are times only if the status is "ok"
    remark: str = ""  # the difference or error, if the status is not "ok"
    seconds: tuple[float, ...] = ()  # seconds per call of every repetition
    ours: bool = True  # whether the contestant is clmst's own
    # The statistics of the solve, and the parameters of the experiment.
    details: Mapping[str, Any] = field(default_factory=dict)
    # The identity of the benchmark in which the contestant was timed. Only times of one benchmark
    # are comparable. Measurements in old files have the identity "".
    benchmark: str = ""

    @property
    def key(self) -> Key:
        """The key of the measurement, by which it differs from all others in a file."""
        return (self.machine, self.experiment, self.graph, self.contestant, self.scope)

    @property
    def is_ok(self) -> bool:
        """Whether there are times."""
        return self.status == "ok"

    @property
    def median(self) -> float:
        """Median of the times, in seconds."""
        return median(self.seconds)

    def as_json(self) -> dict[str, Any]:
        """Return the measurement as a value for JSON, with the median for human readers."""
        value = asdict(self) | {"seconds": list(self.seconds), "details": dict(self.details)}
        return value | {"median": self.median if self.is_ok else None}

    @classmethod
    def from_json(cls, value: Any) -> Measurement:
        """Make a measurement from `value`, which was read from JSON.

        Raises :class:`FileFormatError` if a field is missing or wrong.
        """
        names = cls.__dataclass_fields__
        try:
            value = {"benchmark": value.get("contest", "")} | value  # the key in older files
            made = cls(**{name: value[name] for name in names} | {"seconds": (*value["seconds"],)})
            texts = (*made.key, made.remark, made.benchmark)
            legal = made.scope in SCOPES and made.status in get_args(Status)
            legal &= all(isinstance(text, str) for text in texts) and isinstance(made.details, dict)
            legal &= all(isinstance(each, float) and each > 0 for each in made.seconds)
        except (AttributeError, KeyError, TypeError) as error:
            raise FileFormatError(f"a measurement lacks {error}; it must have all fields") from None
        if not legal or made.is_ok != bool(made.seconds):
            raise FileFormatError(
                f"the measurement {texts[:5]} contradicts itself; a measurement with the status "
                "'ok' must have positive times, and any other must have none"
            )
        return made


FORMAT = "clmst-bench"
VERSION = 1

# Graphs of one name in two files count as equal only if these facts agree.
_GRAPH_IDENTITY = ("n_vertices", "n_slots", "total_weight")


@dataclass(slots=True, kw_only=True)
class Results:
    """Measurements on any number of machines, kept in memory and in a file."""

    # Facts about each machine by its identity (:func:`machine_facts`), with the commands of all
    # runs.
    machines: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Facts about each graph by its name: its sizes, the total weight, and how the weight was
    # verified.
    graphs: dict[str, dict[str, Any]] = field(default_factory=dict)
    # The measurements in the order in which they were made, by the keys that identify them.
    measurements: dict[Key, Measurement] = field(default_factory=dict)
    path: Path | None = None  # the file that is rewritten after every change

    # ----------------------------------------------------------------- writing

    def add_machine(self, identity: str, facts: dict[str, Any]) -> None:
        """Add the facts of the machine that makes the next measurements, and write the file.

        `identity` is a text that identifies the machine. The commands of earlier runs on the
        machine are kept.
        """
        self.machines[identity] = _with_commands(self.machines.get(identity), facts)
        self.save()

    def add_graph(self, name: str, facts: dict[str, Any]) -> None:
        """Add the facts of a graph.

        Raises :class:`InvalidArgumentError` if another graph of that name was measured.
        """
        if name in self.graphs:
            _check_same_graph(name, self.graphs[name], facts, "the results and this run")
        self.graphs[name] = facts

    def add(self, measurements: Iterable[Measurement]) -> None:
        """Add measurements, which replace earlier ones with the same key, and write the file.

        A key identifies a measurement, for example by its graph and its algorithm.
        """
        for one in measurements:
            self.measurements.pop(one.key, None)
            self.measurements[one.key] = one
        self.save()

    def add_benchmark(self, measurements: Sequence[Measurement]) -> None:
        """Add all measurements of one benchmark, and write the file.

        Earlier measurements of the same experiments and graphs are dropped. That includes
        contestants that are not in this benchmark, because their times would not be comparable.
        """
        replaced = {one.key[:3] for one in measurements}
        self.measurements = {
            key: one for key, one in self.measurements.items() if key[:3] not in replaced
        }
        self.add(measurements)

    def save(self) -> None:
        """Write all results to the file `path`, completely or not at all.

        Do nothing if it is None.
        """
        if self.path is not None:
            write_json(self.path, self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Return all results as a value for JSON."""
        return {
            "format": FORMAT, "version": VERSION, "machines": self.machines, "graphs": self.graphs,
            "measurements": [one.as_json() for one in self.measurements.values()],
        }  # fmt: skip

    # ----------------------------------------------------------------- reading

    @classmethod
    def load(cls, path: Path) -> Results:
        """Read the results in the file `path`.

        Raises :class:`FileFormatError` if the file does not contain results.
        """
        with files.reading(path) as source:
            try:
                value = json.loads(source.stream.read())
            except ValueError as error:
                raise FileFormatError(f"not JSON: {error}") from error
            return cls._from_json(value)

    @classmethod
    def _from_json(cls, value: Any) -> Results:
        if not isinstance(value, dict) or value.get("format") != FORMAT:
            raise FileFormatError(
                f"the file does not hold results of `clmst bench`; these have format {FORMAT!r}"
            )
        if value.get("version") != VERSION:
            raise FileFormatError(
                f"the results have version {value.get('version')!r}; this clmst reads version "
                f"{VERSION}"
            )
        parts: list[Any] = [value.get(name) for name in ("machines", "graphs", "measurements")]
        if [type(part) for part in parts] != [dict, dict, list]:
            raise FileFormatError(
                "machines, graphs or measurements are missing; results must have all three"
            )
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
        """Return the measurements of an experiment.

        `scope` says what a time covers, such as "solve" for the solve alone. If it is given, only
        the measurements with this scope are returned.
        """
        return [
            one
            for one in self.measurements.values()
            if one.experiment == experiment and scope in (None, one.scope)
        ]

    def have(self, keys: Iterable[Key], repetitions: int) -> bool:
        """Return whether one benchmark run has timed all of `keys`, `repetitions` times or more.

        A key identifies a measurement, for example by its graph and its contestant. Times of
        different runs are not comparable, so keys that were timed by different runs do not count.
        """
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
        """Return the shortest name that distinguishes a machine from all others in the results.

        `machine` is the identity of the machine. The name begins with the name of the device. The
        platform and the driver are added if they are needed to distinguish it. If even these do not
        suffice, the identity is returned.
        """
        facts = self.machines
        for words in (("device",), ("device", "platform"), ("device", "platform", "driver")):
            names = {one: ", ".join(facts[one][word] for word in words) for one in facts}
            if list(names.values()).count(names[machine]) == 1:
                return names[machine]
        return machine

    def label_of(self, one: Measurement, *, is_alone: bool = False) -> str:
        """Return the name of the algorithm or program of the measurement `one`, for a table.

        If the results have several machines, the name of the machine is added, unless `is_alone` is
        true, which means that the table has only one machine.
        """
        alone = is_alone or len(self.machines) == 1
        return one.contestant if alone else f"{one.contestant}, {self.name_of(one.machine)}"


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write `value` as JSON to the file `path`. The file is written as a whole or not at all."""
    text = json.dumps(value, indent=1, allow_nan=False, ensure_ascii=False)
    with files.writing(path) as stream:
        stream.write(text.encode() + b"\n")


def merged(parts: Mapping[str, Results]) -> Results:
    """Merge the results of several files. `parts` maps the name of each file to its results.

    Raises :class:`InvalidArgumentError` if two files have different graphs with one name, or the
    same measurement on one machine.
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
                    f"({one.experiment}, {one.scope}) of {one.machine}; each measurement may be "
                    "in one file only"
                )
            owners[key] = file
            whole.measurements[key] = one
        for identity, facts in part.machines.items():
            whole.machines[identity] = _with_commands(whole.machines.get(identity), facts)
    return whole


def _with_commands(earlier: Mapping[str, Any] | None, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts of a machine, with a list of the commands of all runs on the machine.

    `earlier` are the facts about the machine that are already stored, or None. `facts` are the
    facts about this run. The list has each command once, in the order of the runs.
    """
    commands: list[Any] = []
    for one in (earlier or {}, facts):
        older = [one["command"]] if "command" in one else []  # old files have a single command
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
                f"{other[fact]}; results can be compared only if the graphs are equal"
            )


# ----------------------------------------------------------------------------- machines


def machine_facts(device: Device | None) -> dict[str, Any]:
    """Return facts about the device, its driver, the host and versions, as a value for JSON.

    `device` is None if the host computes with NumPy and SciPy, without an OpenCL device.
    """
    peers = ("numpy", "scipy", "pyopencl")
    return {
        **(_facts_of_host() if device is None else _facts_of_device(device)),
        "host": processor(), "host_cores": usable_cores(),
        "system": f"{platform.system()} {platform.release()}", "python": platform.python_version(),
        "versions": {"clmst": __version__, **{name: version_of(name) for name in peers}},
        "command": sys.argv[1:],
    }  # fmt: skip


def _facts_of_device(device: Device) -> dict[str, Any]:
    can = device.capabilities
    return {
        "device": device.name, "platform": device.platform, "driver": device.driver,
        "kind": can.kind, "compute_units": can.compute_units, "memory": can.global_memory,
        "without": list(device.without),
    }  # fmt: skip


def _facts_of_host() -> dict[str, Any]:
    return {
        "device": "host", "platform": "NumPy and SciPy", "driver": version_of("numpy"),
        "kind": "host", "compute_units": usable_cores(), "memory": None, "without": [],
    }  # fmt: skip


def identity(machine: dict[str, Any]) -> str:
    """Return a line of text that identifies a machine, given its facts.

    It is equal for machines whose measurements are comparable.
    """
    off = "".join(f", without {name}" for name in machine["without"])
    return (
        f"{machine['device']} ({machine['platform']}), driver {machine['driver']}{off}, "
        f"on {machine['host']}, {machine['host_cores']} cores, clmst {machine['versions']['clmst']}"
    )
