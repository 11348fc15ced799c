"""Notices of work that lasts: whatever is under way for more than a second says so on stderr.

Work is announced by ``with LongWork("reading roads.gr"):``. If it takes longer than `PATIENCE`, a
line shows what is being done, and for how long already:

* On a terminal and in a notebook the line is renewed while the work goes on, and erased at its end.
* Anywhere else, such as in a pipe or a log file, nothing is written, unless the environment
  variable ``CLMST_PROGRESS`` is 1: then there is a line at first and one each ten seconds.
* If ``CLMST_PROGRESS`` is 0, nothing is ever written.

Work is often inside other work: a solve compiles kernels. There is one line for the outermost,
which names the present step as well. The command shows a spinner in place of the line.

A solve of a small graph takes a tenth of a millisecond, so announcing work only appends to a list.
One thread, the watcher, looks at the list ten times a second while there is work, and ends when
there has been none for a while.
"""

from __future__ import annotations

import _thread
import os
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Literal, ParamSpec, Protocol, TypeAlias, TypeVar

from clmst.core.errors import logger

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 1.0
"""Seconds after which work that is still under way is shown."""

VARIABLE = "CLMST_PROGRESS"

_LOOK_SECONDS = 0.1  # between two looks at the work that is under way
_IDLE_LOOKS = 50  # without any work, after which the watcher ends
_NARROWEST = 20  # columns of a terminal that are used in any case

# Where a line can go: it can be renewed on a terminal and in a notebook; elsewhere it stays.
Place: TypeAlias = Literal["terminal", "notebook", "lines"]
# Between two lines at a place, at least. In a notebook each is a message to a browser.
_SECONDS_BETWEEN: dict[Place, float] = {"terminal": 0.0, "notebook": 1.0, "lines": 10.0}


class Display(Protocol):
    """How the outermost work is shown. The watcher calls it, and the work itself at its end."""

    def show(self, words: str, seconds: float) -> None:
        """Show what is being done, and for how long already; called again and again."""

    def hide(self) -> None:
        """Take away what is shown."""


class LongWork:
    """A context manager around work that may last.

    Parameters
    ----------
    text : str
        What is being done, as in "reading roads.gr".
    is_step : bool
        Whether this is a step that is shown beside the outermost work, as the compilation of
        kernels is. Other work inside work is not shown.
    done : callable, optional
        Returns how far the work has come, as in "42%". The watcher calls it.
    display : Display, optional
        What shows the work, if it is the outermost; a line on stderr by default.
    """

    __slots__ = ("__weakref__", "_reference", "began", "display", "done", "is_step", "text")

    def __init__(
        self,
        text: str,
        *,
        is_step: bool = False,
        done: Callable[[], str] | None = None,
        display: Display | None = None,
    ) -> None:
        self.text, self.is_step, self.done, self.display = text, is_step, done, display

    def __enter__(self) -> None:
        self.began = time.monotonic()
        # The list has no reference to the work: an interrupt between two instructions may keep
        # `__exit__` from taking it out.
        self._reference = reference = weakref.ref(self)
        _under_way.append(reference)
        if not _watcher.is_at_work:
            _watcher.start()

    def __exit__(self, *_: object) -> None:
        try:  # noqa: SIM105 - quicker than `suppress`, and small solves notice microseconds
            _under_way.remove(self._reference)
        except ValueError:  # in a child of a fork, which has no work of its parent
            pass
        if _watcher.shown is self._reference:
            _watcher.hide(self._reference)

    def words(self) -> str:
        """Return what is being done: the work, and its present step or how far it has come."""
        step = next((one for one in reversed(_alive()) if one.is_step and one is not self), None)
        detail = step.text if step else self.done() if self.done else ""
        return f"{self.text} ... {detail}".rstrip()


_under_way: list[weakref.ref[LongWork]] = []  # in the order in which it began, of all threads


def _alive() -> list[LongWork]:
    """Return the work that is under way."""
    return [work for one in list(_under_way) if (work := one()) is not None]


@contextmanager
def timed_step(text: str) -> Iterator[None]:
    """Show a step of other work; the logger "clmst" has it, with its seconds, at INFO."""
    began = time.monotonic()
    try:
        with LongWork(text, is_step=True):
            yield
    finally:
        logger.info("%s took %.2f s", text, time.monotonic() - began)


def lasting(text: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that announces each call of a function as work that may last."""

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            with LongWork(text):
                return function(*arguments, **named)

        return call

    return decorated


class _Watcher:
    """The thread that shows the outermost work once it has lasted."""

    def __init__(self) -> None:
        self.is_at_work = False
        self.shown: weakref.ref[LongWork] | None = None
        self._display: Display | None = None
        self._lock = _thread.allocate_lock()  # held while something is shown or hidden

    def start(self) -> None:
        """Start the thread. Without one, if there can be no more threads, nothing is shown."""
        with suppress(RuntimeError):
            _thread.start_new_thread(self._watch, ())
            self.is_at_work = True

    def _watch(self) -> None:
        idle = 0
        while idle < _IDLE_LOOKS or self._goes_on():
            time.sleep(min(_LOOK_SECONDS, PATIENCE))
            idle = 0 if self._look() else idle + 1

    def _goes_on(self) -> bool:
        """Note that the thread ends, unless work has begun meanwhile."""
        self.is_at_work = False
        self.is_at_work = bool(_under_way)
        return self.is_at_work

    def _look(self) -> bool:
        """Show the outermost work if it has lasted; return whether there is work."""
        shown, work = self.shown, next(iter(_alive()), None)
        if shown is not None and (work is None or work._reference is not shown):
            self.hide(shown)
        if work is not None and (seconds := time.monotonic() - work.began) >= PATIENCE:
            with self._lock, suppress(Exception):  # such as a stream that is closed
                self._show(work, seconds)
        for reference in [one for one in _under_way if one() is None]:
            with suppress(ValueError):
                _under_way.remove(reference)
        return work is not None

    def _show(self, work: LongWork, seconds: float) -> None:
        if work._reference not in _under_way:  # it has ended just now
            return
        words = work.words()
        if self.shown is None:
            self.shown = work._reference
            self._display = work.display or Line()
        if self._display is not None:
            self._display.show(words, seconds)

    def hide(self, reference: weakref.ref[LongWork]) -> None:
        """Take away what is shown of some work."""
        with self._lock:
            if self.shown is reference:
                display, self._display, self.shown = self._display, None, None
                with suppress(Exception):
                    if display is not None:
                        display.hide()


_watcher = _Watcher()


def _forget_all() -> None:
    """Let a child of a fork, which has no other thread, begin without work."""
    _under_way.clear()
    _watcher.__init__()  # type: ignore[misc]  # whose lock another thread may have held


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# ------------------------------------------------------------------------------- displays


def place_of(stream: Any) -> Place | None:
    """Return what kind of place a stream is for notices; None if nothing shall be written there."""
    setting = os.environ.get(VARIABLE, "")
    if setting == "0" or stream is None:
        return None
    if stream.isatty():
        return "lines" if os.environ.get("TERM") == "dumb" else "terminal"
    if type(stream).__module__.partition(".")[0] == "ipykernel":
        return "notebook"
    return "lines" if setting else None


class Line:
    """A line on stderr."""

    def __init__(self) -> None:
        self._stream: Any = sys.stderr
        self._place = place_of(self._stream)
        self._last, self._again_at = "", 0.0  # the last line, and when the next may be written

    def show(self, words: str, seconds: float) -> None:
        """Write the line, over the last one if that is possible.

        The cursor is left at its beginning: what others write there, such as a warning, takes its
        place.
        """
        now, text = time.monotonic(), f"clmst: {int(seconds)} s: {words}"
        if self._place is None or now < self._again_at:
            return
        if self._place == "terminal":
            text = text[: max(self._columns() - 1, _NARROWEST)]
            written = f"\r\x1b[K{text}\r"
        elif self._place == "notebook":
            written = f"\r{text.ljust(len(self._last))}\r"
        else:
            written = f"{text}\n"
        if text != self._last:
            self._write(written)
            self._last, self._again_at = text, now + _SECONDS_BETWEEN[self._place]

    def hide(self) -> None:
        """Erase the line, if that is possible."""
        if self._place == "terminal":
            self._write("\r\x1b[K")
        elif self._place == "notebook":
            self._write(f"\r{' ' * len(self._last)}\r")

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80


class Silence:
    """What shows nothing."""

    def show(self, words: str, seconds: float) -> None:
        """Show nothing."""

    def hide(self) -> None:
        """There is nothing to hide."""
