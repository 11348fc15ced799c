"""The times of one contestant on one graph."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from statistics import median
from typing import Any, Literal, TypeAlias, get_args

from clmst.core.errors import FileFormatError

Status: TypeAlias = Literal["ok", "wrong", "failed", "timeout"]
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


def first_line(error: BaseException) -> str:
    """Return the first line of an error, cut to a table's width."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
