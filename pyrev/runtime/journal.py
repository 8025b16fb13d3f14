"""What a function cost before it could run: told as it happens, and kept.

Each step goes to `logging.getLogger("pyrev")`: that a function was read and what was
compiled at level INFO, what was derived or found in the cache at DEBUG. While a
compilation takes long, a line on the terminal says so.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

LOGGER = logging.getLogger("pyrev")

#: Entries that are kept of one function.
MOST = 256
#: Seconds of compiling after which a terminal is told.
LONG = 1.0

READ, DERIVED, COMPILED, FOUND = "read", "derived", "compiled", "found in the cache"


@dataclass(frozen=True, slots=True)
class Entry:
    """One step: which it was, of what, how long it took, and why it was needed."""

    step: str
    of: str
    seconds: float
    why: str = ""
    #: Where it is kept for other processes.
    kept: str = ""
    #: Seconds of it that proofs took.
    proofs: float = 0.0

    def __str__(self) -> str:
        proofs = f", {in_seconds(self.proofs)} of them proofs" if self.proofs else ""
        why = f" ({self.why})" if self.why else ""
        kept = f"; kept in {self.kept}" if self.kept else ""
        took = in_seconds(self.seconds)
        return f"{self.step}: {self.of} in {took}{proofs}{why}{kept}"


def in_seconds(seconds: float) -> str:
    """A time in words: 2.31 s, 14.2 ms, 3.1 us."""
    # Rounded first, or 999.6 ms had four digits.
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


class Journal:
    """The steps of one function, the latest last."""

    def __init__(self) -> None:
        self.entries: deque[Entry] = deque(maxlen=MOST)

    def note(self, entry: Entry) -> None:
        """Keep an entry, and tell whoever listens."""
        self.entries.append(entry)
        loud = entry.step in (READ, COMPILED)
        LOGGER.log(logging.INFO if loud else logging.DEBUG, "%s", entry)

    def read(self, of: str, start: float, why: str) -> None:
        """Note that a function was read, from a time of `time.perf_counter` on."""
        self.note(Entry(READ, of, time.perf_counter() - start, why))

    def watch(self, module: ModuleType, of: str, why: str) -> object:
        """Note what Numba compiles of a generated module while the result lives."""
        if not hasattr(module, "njit"):
            return None
        file = getattr(module, "__file__", None)
        folder = "" if file is None else str(Path(file).parent)
        made = _watched[module.__name__] = _Module(self, of, why, folder)
        _listen()
        return made


class _Module:
    """A generated module, and whose it is."""

    def __init__(self, journal: Journal, of: str, why: str, folder: str) -> None:
        self.journal = journal
        self.of, self.why, self.folder = of, why, folder
        self.signatures = 0

    def note(self, step: str, seconds: float) -> None:
        """Note that there is machine code for one more signature."""
        why = self.why if not self.signatures else _LAYOUT
        self.signatures += 1
        kept = self.folder if step == COMPILED else ""
        self.journal.note(Entry(step, self.of, seconds, why, kept))


_LAYOUT = "arrays lie in memory in another way, or numbers are of another type"

#: By the names of generated modules; gone with the units that they are of.
_watched: weakref.WeakValueDictionary[str, _Module] = weakref.WeakValueDictionary()
_running = threading.local()
_listens = False


def found(module: str, seconds: float) -> None:
    """Machine code of a generated module was read, not for another that compiles."""
    if getattr(_running, "depth", 0):
        return
    if (own := _watched.get(module)) is not None:
        own.note(FOUND, seconds)


def _listen() -> None:
    """Hear of what Numba compiles, from the first module on that it may compile."""
    global _listens
    event: Any = sys.modules.get("numba.core.event")
    if _listens or event is None:
        return
    _listens = True

    class Compilations(event.Listener):  # type: ignore[misc]
        """The outermost function of a generated module that is being compiled."""

        def on_start(self, event: Any) -> None:
            depth = _running.depth = getattr(_running, "depth", 0) + 1
            if depth > 1:
                return
            dispatcher = event.data["dispatcher"]
            _running.module = own = _watched.get(dispatcher.py_func.__module__)
            _running.known = len(dispatcher.overloads)
            _running.line = _Line(own.of) if own is not None else None
            _running.start = time.perf_counter()

        def on_end(self, event: Any) -> None:
            _running.depth = getattr(_running, "depth", 1) - 1
            if _running.depth > 0:
                return
            own, line = _running.module, _running.line
            _running.module = _running.line = None
            if line is not None:
                line.end()
            if (
                own is not None
                and len(event.data["dispatcher"].overloads) > _running.known
            ):
                own.note(COMPILED, time.perf_counter() - _running.start)

    event.register("numba:compile", Compilations())


class _Line:
    """A line on a terminal while something takes long."""

    def __init__(self, of: str) -> None:
        self._of = of
        self._shown = False
        self._lock = threading.Lock()
        self._ended = False
        self._timer: threading.Timer | None = None
        if _terminal():
            self._timer = threading.Timer(LONG, self._show)
            self._timer.daemon = True
            try:
                self._timer.start()
            except RuntimeError:  # no more threads
                self._timer = None

    def _show(self) -> None:
        with self._lock:
            if not self._ended:
                self._shown = True
                _write(f"\rpyrev: compiling {self._of}, once ...")

    def end(self) -> None:
        """Take the line away."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._shown:
                _write("\r\x1b[K")


def _terminal() -> bool:
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # none, or a closed one
        return False


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # whoever read it is gone
