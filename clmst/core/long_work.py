"""Notices about long work: work that runs for more than a second is shown on stderr.

Work is announced by ``with LongWork("reading roads.gr"):``. If it takes longer than `PATIENCE`, a
line shows what is being done and for how long it has been running:

* On a terminal and in a notebook the line is updated while the work runs, and erased at its end.
* Anywhere else, such as in a pipe or a log file, nothing is written, unless the environment
  variable ``CLMST_PROGRESS`` is 1: then a line is written at first and every ten seconds.
* If ``CLMST_PROGRESS`` is 0, nothing is ever written.

Work is often nested: a solve compiles kernels. There is only one line, for the outermost work,
which also names the present step. The command-line program shows a spinner instead of the line.

A solve of a small graph takes a tenth of a millisecond, so announcing work must be fast: it only
appends to a list. A thread, the watcher, looks at the list ten times a second while there is work.
The thread ends when there has been no work for a while.
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
"""The number of seconds after which running work is shown."""

VARIABLE = "CLMST_PROGRESS"

_LOOK_SECONDS = 0.1  # time between two looks of the watcher at the list
_IDLE_LOOKS = 50  # after this many looks in a row without work the watcher ends
_NARROWEST = 20  # minimum number of columns to write on a terminal

# Where the lines about the progress of long work are written. On a terminal and in a notebook a
# line can be replaced by the next one. Elsewhere every line stays.
Place: TypeAlias = Literal["terminal", "notebook", "lines"]
# The minimum number of seconds between two lines about progress. In a notebook, each line is a
# message to a browser, so there are fewer.
_SECONDS_BETWEEN: dict[Place, float] = {"terminal": 0.0, "notebook": 1.0, "lines": 10.0}


class Display(Protocol):
    """The interface by which running work is shown to the user.

    Of nested work only the outermost is shown. A thread, the watcher, calls `show` repeatedly while
    the work runs. `hide` is called when the work ends.
    """

    def show(self, words: str, seconds: float) -> None:
        """Show what is being done (`words`) and for how long (`seconds`).

        The watcher calls this repeatedly while the work runs.
        """

    def hide(self) -> None:
        """Remove what is shown."""


class LongWork:
    """A context manager that announces work which may take long.

    Parameters
    ----------
    text : str
        What is being done, for example "reading roads.gr".
    is_step : bool
        Whether this is a step, such as a compilation, to be shown beside the outermost work. Other
        nested work is not shown.
    done : callable, optional
        Returns the progress of the work or of the step, for example "42%", or "" if it is not
        known. It is called in the watcher thread.
    display : Display, optional
        What shows the work if it is the outermost. By default a line on stderr.
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
        # The list holds only a weak reference, because an interrupt between two instructions may
        # prevent `__exit__` from removing it.
        self._reference = reference = weakref.ref(self)
        _under_way.append(reference)
        if not _watcher.is_at_work:
            _watcher.start()

    def __exit__(self, *_: object) -> None:
        try:  # noqa: SIM105 - quicker than `suppress`, and small solves notice microseconds
            _under_way.remove(self._reference)
        except ValueError:  # in a forked child process, whose list is empty
            pass
        if _watcher.shown is self._reference:
            _watcher.hide(self._reference)

    def words(self) -> str:
        """Return the text to show: the work and the present step, each with how far it has come."""
        step = next((one for one in reversed(_alive()) if one.is_step and one is not self), None)
        details = [self._progress(), *((step.text, step._progress()) if step else ())]
        return f"{self.text} ... {', '.join(filter(None, details))}".rstrip()

    def _progress(self) -> str:
        return self.done() if self.done else ""


_under_way: list[weakref.ref[LongWork]] = []  # work of all threads, in the order in which it began


def _alive() -> list[LongWork]:
    """Return the announced work that is under way in any thread, oldest first."""
    return [work for one in list(_under_way) if (work := one()) is not None]


@contextmanager
def timed_step(text: str, done: Callable[[], str] | None = None) -> Iterator[None]:
    """Announce a step of other work, and log the duration of the step at the level INFO.

    `text` says what is being done. `done` returns the progress of the step, as for
    :class:`LongWork`. None means that the progress is not known.
    """
    began = time.monotonic()
    try:
        with LongWork(text, is_step=True, done=done):
            yield
    finally:
        logger.info("%s took %.2f s", text, time.monotonic() - began)


def lasting(text: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that announces each call of a function as work that may take long.

    `text` says what the function does.
    """

    def decorated(function: Callable[P, T]) -> Callable[P, T]:
        @wraps(function)
        def call(*arguments: P.args, **named: P.kwargs) -> T:
            with LongWork(text):
                return function(*arguments, **named)

        return call

    return decorated


class _Watcher:
    """The thread that shows announced work to the user once it has run for `PATIENCE` seconds.

    Of nested work only the outermost is shown.
    """

    def __init__(self) -> None:
        self.is_at_work = False
        self.shown: weakref.ref[LongWork] | None = None
        self._display: Display | None = None
        self._lock = _thread.allocate_lock()  # held while a display is shown or hidden

    def start(self) -> None:
        """Start the thread. If the system refuses another thread, nothing will be shown."""
        with suppress(RuntimeError):
            _thread.start_new_thread(self._watch, ())
            self.is_at_work = True

    def _watch(self) -> None:
        """Call :meth:`_look` again and again, until there has been no work for a while."""
        idle = 0
        while idle < _IDLE_LOOKS or self._goes_on():
            time.sleep(min(_LOOK_SECONDS, PATIENCE))
            idle = 0 if self._look() else idle + 1

    def _goes_on(self) -> bool:
        """Return whether the thread must go on because new work has begun.

        If it need not go on, the thread is marked as ended.
        """
        self.is_at_work = False
        self.is_at_work = bool(_under_way)
        return self.is_at_work

    def _look(self) -> bool:
        """Show the oldest announced work if it has run for `PATIENCE` seconds or more.

        Return whether any work is running.
        """
        shown, work = self.shown, next(iter(_alive()), None)
        if shown is not None and (work is None or work._reference is not shown):
            self.hide(shown)
        if work is not None and (seconds := time.monotonic() - work.began) >= PATIENCE:
            with self._lock, suppress(Exception):  # for example because the stream is closed
                self._show(work, seconds)
        for reference in [one for one in _under_way if one() is None]:
            with suppress(ValueError):
                _under_way.remove(reference)
        return work is not None

    def _show(self, work: LongWork, seconds: float) -> None:
        """Show one piece of work, which has run for `seconds`, unless the work has just ended."""
        if work._reference not in _under_way:  # the work has ended just now
            return
        words = work.words()
        if self.shown is None:
            self.shown = work._reference
            self._display = work.display or Line()
        if self._display is not None:
            self._display.show(words, seconds)

    def hide(self, reference: weakref.ref[LongWork]) -> None:
        """Remove the line about a piece of work, which is given by a weak reference.

        Do nothing if other work is shown, or none.
        """
        with self._lock:
            if self.shown is reference:
                display, self._display, self.shown = self._display, None, None
                with suppress(Exception):
                    if display is not None:
                        display.hide()


_watcher = _Watcher()


def _forget_all() -> None:
    """Clear the list of work in a forked child process, which lacks the parent's threads."""
    _under_way.clear()
    _watcher.__init__()  # type: ignore[misc]  # another thread may have held its lock


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


# ------------------------------------------------------------------------------- displays


def place_of(stream: Any) -> Place | None:
    """Return the way in which lines about long work are shown on a stream, or None for no lines."""
    setting = os.environ.get(VARIABLE, "")
    if setting == "0" or stream is None:
        return None
    if stream.isatty():
        return "lines" if os.environ.get("TERM") == "dumb" else "terminal"
    if type(stream).__module__.partition(".")[0] == "ipykernel":
        return "notebook"
    return "lines" if setting else None


class Line:
    """A display that writes one line on stderr."""

    def __init__(self) -> None:
        self._stream: Any = sys.stderr
        self._place = place_of(self._stream)
        # The last line about progress that was written, and the time from which the next one may be
        # written.
        self._last, self._again_at = "", 0.0

    def show(self, words: str, seconds: float) -> None:
        """Write a line that says what is done (`words`) and for how many seconds.

        On a terminal and in a notebook the line replaces the previous one. The cursor is left at
        the beginning of the line, so that other output, such as a warning, overwrites it.
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
        """Erase the line on a terminal or in a notebook. Elsewhere it stays."""
        if self._place == "terminal":
            self._write("\r\x1b[K")
        elif self._place == "notebook":
            self._write(f"\r{' ' * len(self._last)}\r")

    def _write(self, text: str) -> None:
        """Write a text. Characters that the stream's encoding does not have are replaced."""
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding))
        self._stream.flush()

    def _columns(self) -> int:
        """Return the width of the terminal in characters, or 80 if the width is not known."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or 80
        except (OSError, ValueError, AttributeError):
            return 80


class Silence:
    """A display that does not show anything."""

    def show(self, words: str, seconds: float) -> None:
        """Do nothing. The arguments are the same as in :class:`Display`, and are not used."""

    def hide(self) -> None:
        """Do nothing."""
