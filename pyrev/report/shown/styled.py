"""Text whose parts have a kind, and what a terminal and a notebook make of a kind.

    line ::= span...        span ::= kind, text

Kinds are what the text is (a keyword, a comment, a line that was added), never how it
looks: that is said here alone, and each is told by more than its colour or not needed
to read the text.
"""

from __future__ import annotations

import html
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

Span = tuple[str, str]
Line = tuple[Span, ...]

#: What a terminal is told (Select Graphic Rendition, ECMA-48): colours of its own
#: palette, which suit its background.
_TERMINAL = {
    "keyword": "35",
    "definition": "1",
    "builtin": "36",
    "number": "36",
    "string": "32",
    "comment": "2",
    "place": "2",
    "label": "1",
    "removed": "31",
    "added": "32",
    "hunk": "36",
}
#: What a notebook is told: the colour of JupyterLab's own theme, light or dark; where
#: there is none, one that can be read on white and on black.
_NOTEBOOK = {
    "keyword": "color:var(--jp-mirror-editor-keyword-color,#a34fd3)",
    "definition": "color:var(--jp-mirror-editor-def-color,#1979c9)",
    "builtin": "color:var(--jp-mirror-editor-builtin-color,#128484)",
    "number": "color:var(--jp-mirror-editor-number-color,#128484)",
    "string": "color:var(--jp-mirror-editor-string-color,#be573c)",
    "comment": "color:var(--jp-mirror-editor-comment-color,#767676);font-style:italic",
    "place": "color:var(--jp-ui-font-color2,#767676)",
    "label": "font-weight:bold",
    "removed": "background:rgba(248,81,73,.18)",
    "added": "background:rgba(46,160,67,.18)",
    "hunk": "color:var(--jp-ui-font-color2,#767676)",
}


def plain(lines: Iterable[Line]) -> str:
    """The text alone, without a newline at the end."""
    return "\n".join("".join(text for _, text in line) for line in lines)


def ansi(lines: Iterable[Line]) -> str:
    """The text with the escape codes of a terminal."""
    return "\n".join("".join(map(_coded, line)) for line in lines)


def _coded(span: Span) -> str:
    kind, text = span
    code = _TERMINAL.get(kind)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


def hypertext(line: Line) -> str:
    """One line as HTML."""
    return "".join(map(_marked, line))


def _marked(span: Span) -> str:
    kind, text = span
    escaped = html.escape(text, quote=False)
    style = style_of(kind)
    return f'<span style="{style}">{escaped}</span>' if style and text else escaped


def style_of(kind: str) -> str:
    """What an element of HTML for this kind has as its style."""
    return _NOTEBOOK.get(kind, "")


def region(label: str, inside: str) -> str:
    """A part of a notebook's page with a name, wide code scrolled in it."""
    return (
        f'<div role="region" tabindex="0" aria-label="{html.escape(label)}"'
        f' style="overflow-x:auto;max-width:100%">{inside}</div>'
    )


def block(label: str, lines: Iterable[str]) -> str:
    """Lines of HTML as they stand, in a region of their own."""
    text = "\n".join(lines)
    style = "margin:0;padding:.3em;line-height:1.4;background:none;color:inherit"
    return region(label, f'<pre style="{style}"><code>{text}</code></pre>')


def table(label: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Rows of text under a head, in a region of their own; the first column names."""
    cell = "padding:.2em .7em;text-align:right"
    name = "padding:.2em .7em;text-align:left"
    lines = ["".join(f'<th style="{cell}">{html.escape(h)}</th>' for h in head)]
    for first, *others in rows:
        inside = (
            f'<th scope="row" style="{name}"><code>{html.escape(first)}</code></th>'
        )
        for text in others:
            inside += f'<td style="{cell}">{html.escape(text)}</td>'
        lines.append(inside)
    inside = "".join(f"<tr>{line}</tr>" for line in lines)
    caption = f'<caption style="text-align:left">{html.escape(label)}</caption>'
    style = "border-collapse:collapse;background:none;color:inherit"
    return region(label, f'<table style="{style}">{caption}{inside}</table>')


# ------------------------------------------------------------------ terminals


def has_colour(file: TextIO) -> bool:
    """Does what is written there appear in colour?

    Where the user says so (`NO_COLOR`, no-color.org, before `FORCE_COLOR`), else on a
    terminal that is not dumb.
    """
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return os.environ.get("TERM") != "dumb" and is_terminal(file)


def is_terminal(file: TextIO) -> bool:
    """Does somebody look at what is written there?"""
    try:
        return file.isatty()
    except (AttributeError, ValueError):  # not a whole file, or closed
        return False


def is_notebook() -> bool:
    """Does IPython show HTML here, and keep the text beside it unseen?

    Its kernel says of its output that it is a terminal, which then has no width.
    """
    ipython: Any = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and "text/html" in shell.display_formatter.active_types


def is_session() -> bool:
    """Does Python show values to somebody who types at a terminal (a REPL, IPython)?

    What `repr` gives may be meant to be read there, and nowhere else.
    """
    return hasattr(sys, "ps1") and not is_notebook()


# ------------------------------------------------------------------ columns


def columns(text: str) -> int:
    """How many columns of a terminal a text takes: wide characters take two.

    >>> columns("ab"), columns("\u6e29\u5ea6"), columns("e\u0301")
    (2, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def columns_of(line: Line) -> int:
    """How many columns a line takes."""
    return sum(columns(text) for _, text in line)


def padded(line: Line, room: int) -> Line:
    """The line, with blanks behind it up to `room` columns."""
    return (*line, ("", " " * (room - columns_of(line))))


def stripped(line: Line) -> Line:
    """The line without the blanks at its end."""
    *before, (kind, text) = line or (("", ""),)
    if text.rstrip(" ") or not before:
        return (*before, (kind, text.rstrip(" ")))
    return stripped(tuple(before))


def folded(line: Line, room: int) -> list[Line]:
    """The line in as many as it takes for `room` columns, at blanks where it has some.

    What goes on stands four columns further in.
    """
    text = plain((line,))
    indent = len(text) - len(text.lstrip(" "))
    further = indent + 4 if indent + 4 <= room // 2 else 0
    out: list[Line] = []
    start = 0
    while start < len(text) or not out:
        head = further if out else 0
        end = _break(text, start, room - head)
        out.append((("", " " * head), *_cut(line, start, end)))
        start = end
    return out


def _break(text: str, start: int, room: int) -> int:
    """Where what begins at `start` must end, a character at least behind it."""
    taken, end = 0, start
    while end < len(text):
        taken += _columns(text[end])
        if taken > room:
            break
        end += 1
    if end == len(text):
        return end
    blank = text.rfind(" ", start, end)
    said = text[start : blank + 1].strip() if blank >= 0 else ""
    return blank + 1 if said else max(end, start + 1)


def _cut(line: Line, start: int, end: int) -> Iterator[Span]:
    at = 0
    for kind, text in line:
        part = text[max(start - at, 0) : max(end - at, 0)]
        if part:
            yield kind, part
        at += len(text)


def split(spans: Iterable[Span]) -> list[Line]:
    """Spans that go over ends of lines as lines."""
    lines: list[list[Span]] = [[]]
    for kind, text in spans:
        first, *rest = text.split("\n")
        lines[-1].append((kind, first))
        lines.extend([(kind, part)] for part in rest)
    return [tuple(s for s in line if s[1]) for line in lines]


def in_one_kind(lines: Sequence[str], kind: str = "") -> list[Line]:
    """Lines that are of one kind as a whole."""
    return [((kind, line),) for line in lines]
