"""What users read when pyrev says no: the errors, their codes and their one layout.

    file:line:column: CODE title
       4 | the user's line
         |     ^^^^ what was found
      help: what to write instead

Nothing else formats an error about the user's source. `P1xx` is syntax, `P2xx` shape
and domain, `P3xx` differentiation.
"""

from __future__ import annotations

import linecache
import os
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from pyrev.ir import places
from pyrev.ir.nodes import NOWHERE, Loc

CODES: dict[str, str] = {
    "P101": "a class cannot be differentiated",
    "P102": "this statement is outside the language",
    "P104": "this kind of parameter is outside the language",
    "P105": "generators and coroutines are outside the language",
    "P106": "this kind of value is outside the language",
    "P107": "this function is not known here",
    "P108": "the arguments do not fit the function",
    "P109": "recursion is outside the language",
    "P110": "this `return` is outside the language",
    "P111": "this iteration is outside the language",
    "P112": "this is not something to assign to",
    "P113": "this name does not stand for a number or an array",
    "P114": "the source of this function cannot be read",
    "P115": "this expression has no effect",
    "P116": "this name is taken",
    "P117": "custom_vjp does not fit here",
    "P118": "a rule is not linear",
    "P119": "a rule has no second derivative",
    "P201": "an array cannot stand here",
    "P202": "the numbers of axes do not fit",
    "P203": "a name is either a number or an array",
    "P204": "this variable may not have a value yet",
    "P206": "a name stands for one array or one function",
    "P207": "this step is outside the language",
    "P208": "the shape or type of a new array is not understood",
    "P209": "this attribute or axis is outside the language",
    "P210": "the kinds of numbers do not fit",
    "P211": "indexing by an array is outside the language",
    "P303": "a value that the gradient needs cannot be recorded",
    "P304": "the target has no form for this",
    "P305": "this is nested too deep",
    "P306": "a drawn number has no derivative by this",
}


#: Where each code is explained.
PAGE = "https://github.com/pyrev/pyrev/blob/main/docs/errors.md"
#: The last line of every `InternalError`.
REPORT = (
    "This is a bug of pyrev, not of the function. Please report it, with the function,"
    " the call and the whole traceback."
)


class PyrevError(Exception):
    """The base of every error that pyrev raises, `IndexError` excepted."""

    @property
    def _render_traceback_(self) -> Callable[[], list[str]]:
        """What IPython asks for before it makes a traceback of its own."""
        if shows_all(self):
            raise AttributeError("_render_traceback_")
        return self._told

    def _told(self) -> list[str]:
        """The message, and which lines of the user's led to it.

        A refusal of what stands in the cell itself says all by its message.
        """
        steps = traceback.extract_tb(self.__traceback__)
        own = [s for s in steps if not hidden(s.filename)]
        if len(own) == 1 and isinstance(self, UnsupportedError):
            own = []
        lines = []
        for step in own:
            where = places.place(step.filename, step.lineno or 0)
            lines.append(f"{where}: {step.line}".rstrip(": "))
        kind = type(self).__name__
        return [*lines, f"{kind}: {self}", *getattr(self, "__notes__", ())]


#: What the files of pyrev, and of IPython which runs cells, begin with.
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_SHELLS = tuple(f"{os.sep}{part}{os.sep}" for part in ("IPython", "ipykernel"))


def hidden(file: str) -> bool:
    """Are frames of this file none of the user's?"""
    return file.startswith(_PACKAGE) or any(part in file for part in _SHELLS)


def shows_all(error: PyrevError) -> bool:
    """Is the whole traceback wanted? Of our bugs it is; else `PYREV_TRACEBACK=full`."""
    full = os.environ.get("PYREV_TRACEBACK") == "full"
    return full or isinstance(error, InternalError)


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in the user's source, what was found, and what to write instead."""

    code: str
    at: Loc
    because: str
    help: str

    def __str__(self) -> str:
        head = f"{self.code} {CODES[self.code]}"
        if self.at == NOWHERE:
            return f"{head}\n  because {self.because}\n  help: {self.help}"
        file, row, column = self.at.file, self.at.line, self.at.col + 1
        where = f"{file}:{row}:{column}"
        if places.is_cell(file):
            where = places.place(file, row, column)
        line = linecache.getline(self.at.file, self.at.line).rstrip("\r\n")
        if not line:
            return f"{where}: {head}\n  because {self.because}\n  help: {self.help}"
        last = self.at.end_col if self.at.end_line == self.at.line else len(line)
        # Tabs are kept, so that the carets stand where the terminal puts the text.
        margin = "".join(c if c == "\t" else " " for c in line[: self.at.col])
        carets = "^" * max(1, last - self.at.col)
        gutter = f"{self.at.line:>4}"
        return (
            f"{where}: {head}\n"
            f"{gutter} | {line}\n"
            f"{'':>{len(gutter)}} | {margin}{carets} {self.because}\n"
            f"  help: {self.help}"
        )


class UnsupportedError(PyrevError):
    """The user's function is outside what pyrev can differentiate: all findings."""

    #: Are there arguments for which it was not read, so that one may be inside?
    waits = False

    def __init__(self, findings: Iterable[Finding], note: str = "") -> None:
        self.findings, self.note = tuple(findings), note
        parts = [*map(str, self.findings), *([note] if note else [])]
        super().__init__("\n\n".join(parts))
        codes = dict.fromkeys(f.code for f in self.findings)
        if codes:
            self.add_note("more: " + ", ".join(f"{PAGE}#{c.lower()}" for c in codes))

    def __reduce__(self) -> tuple[object, ...]:
        return _refused, (type(self), self.args, self.__dict__)


def _refused(
    kind: type[UnsupportedError], said: tuple[str, ...], own: dict[str, object]
) -> UnsupportedError:
    """A refusal that was pickled: its message has lines that are not here, perhaps."""
    found = kind.__new__(kind, *said)
    found.__dict__.update(own)
    return found


class ArgumentError(PyrevError, ValueError, TypeError):
    """A call does not fit the function: shape, dtype, aliasing, a missing cotangent."""


class BackendError(PyrevError):
    """A backend is missing or failed: the message names the extra that installs it."""


class InternalError(PyrevError):
    """A bug of pyrev: the message says how to report it."""

    def __str__(self) -> str:
        return f"{super().__str__()}\n  {REPORT}"


@dataclass(slots=True)
class Findings:
    """A collector: analyses add to it and go on; `check` raises all of them at once."""

    found: list[Finding] = field(default_factory=list)

    def add(self, code: str, at: Loc, because: str, help: str) -> None:
        """Record a finding, once."""
        assert code in CODES, code
        finding = Finding(code, at, because, help)
        if finding not in self.found:
            self.found.append(finding)

    def check(self) -> None:
        """Raise `UnsupportedError` with everything found, in source order."""
        if self.found:
            files = list(dict.fromkeys(f.at.file for f in self.found))

            def place(f: Finding) -> tuple[int, int, int, str]:
                return files.index(f.at.file), f.at.line, f.at.col, f.code

            raise UnsupportedError(sorted(self.found, key=place))
