"""A derivative beside the function that it comes from, line to line."""

from __future__ import annotations

import html
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import Loc
from pyrev.report.shown.passages import Passage, Statement, place_of
from pyrev.report.shown.shown import Shown
from pyrev.report.shown.styled import (
    Line,
    columns,
    columns_of,
    folded,
    hypertext,
    padded,
    plain,
    region,
    stripped,
    style_of,
)

#: Columns of the text form at least: less holds no statement.
NARROWEST = 40
#: What stands between the lines of the two.
RULE = " | "


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the user's, a line that was derived from it, or one of these alone.

    `line` is the number of the user's line in its file, 0 where there is none; a
    `title` says of which function the rows below it are.
    """

    line: int = 0
    primal: str = ""
    derived: str | None = None
    title: str = ""


@dataclass(frozen=True, slots=True)
class _Row:
    """A `Row` before its lines are plain text."""

    line: int = 0
    left: Line = ()
    right: Line | None = None
    title: str = ""


class SideBySide(Shown):
    """The user's lines on the left, on the right the derivative, line to line.

    It is in the order of the derivative, of which each line stands here once: one reads
    code that runs, the forward sweep first, then the reverse sweep, which goes through
    the function backwards. Beside what comes from a statement of the user's stands that
    statement with its number, again wherever something else of it begins (the first of
    its lines then, if it has several); where nothing stands, the line goes on with the
    one above, or belongs to no statement (imports, arrays for gradients, the `return`).
    Lines of functions that were inlined are under the name of theirs. Statements that
    no line of the derivative comes from are listed at the end.

    `str` and `print` give it as text, a notebook shows a table, `rows` is the data.
    """

    def __init__(
        self,
        name: str,
        derived: Sequence[tuple[Line, Loc]],
        known: Sequence[Passage],
        width: int | None = None,
    ) -> None:
        if width is not None:
            _check(width)
        self._name, self._width = name, width
        self._own = known[0]
        self._rows = tuple(_Beside(known).rows(derived))

    @property
    def rows(self) -> tuple[Row, ...]:
        """The rows as data."""
        return tuple(
            Row(
                r.line,
                plain((r.left,)),
                None if r.right is None else plain((r.right,)),
                r.title,
            )
            for r in self._rows
        )

    def __str__(self) -> str:
        return plain(self._lines(None))

    def _lines(self, width: int | None) -> list[Line]:
        if self._width is not None:
            width = self._width
        gutter = max(len(str(r.line)) for r in self._rows)
        head = _Row(title=self._own.title, right=(("label", self._name),))
        rows = (head, *self._rows)
        left, right = _shares(rows, gutter, width)
        out: list[Line] = []
        for row in rows:
            out += _laid_out(row, gutter, left, right)
        return out

    def _repr_html_(self) -> str:
        own, name = html.escape(self._own.title), html.escape(self._name)
        cell = "text-align:left;padding:0 .6em;background:none"
        head = "".join(
            f'<th scope="col" style="{cell}">{title}</th>'
            for title in ("line", own, name)
        )
        rows = "".join(map(_table_row, self._rows))
        style = "border-collapse:collapse;color:inherit;margin:0"
        table = (
            f'<table style="{style}"><thead><tr>{head}</tr></thead>'
            f"<tbody>{rows}</tbody></table>"
        )
        return region(f"{self._own.title} beside {self._name}", table)


def _check(width: object) -> None:
    if not isinstance(width, (int, np.integer)) or isinstance(width, bool):
        raise ArgumentError(
            f"side_by_side: width is a {type(width).__name__}; give a number of"
            " columns, or None"
        )
    if width < NARROWEST:
        raise ArgumentError(
            f"side_by_side: {width} columns are too few; give at least {NARROWEST}"
        )


# ------------------------------------------------------------------ rows

_Place = tuple[Passage, Statement]


@dataclass
class _Beside:
    """Finds for each line what stands on its left.

    `_shown` is the statement there last, of which `_rest` has no line on its right yet;
    `_around` are the statements of the blocks that a line is inside of, by margins.
    Comments and empty lines wait as `_remarks` for the line that they stand above.
    """

    known: Sequence[Passage]
    _shown: _Place | None = None
    _rest: deque[tuple[int, Line]] = field(default_factory=deque)
    _around: list[tuple[int, _Place]] = field(default_factory=list)
    _remarks: deque[Line] = field(default_factory=deque)
    _met: set[_Place] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._here = self.known[0]

    def rows(self, derived: Sequence[tuple[Line, Loc]]) -> Iterator[_Row]:
        """All rows, and what nothing comes from."""
        for line, loc in derived:
            yield from self._row(line, loc)
        yield from self._gap()
        own = self.known[0]
        left_out = [s for s in own.statements if (own, s) not in self._met]
        if left_out:
            yield _Row(title="nothing on the right comes from")
        for statement in left_out:
            yield from (_Row(k, own.line(k)) for k in statement.lines)

    def _row(self, line: Line, loc: Loc) -> Iterator[_Row]:
        text = plain((line,))
        code = text.lstrip()
        if not code or code.startswith("#"):
            self._remarks.append(line)
            if code:  # what is behind a comment begins anew
                self._shown = None
            return
        margin = len(text) - len(code)
        place = place_of(loc, self.known)
        self._around = [(m, p) for m, p in self._around if m < margin]
        if place is not None and place == self._shown and not self._remarks:
            number, left = self._rest.popleft() if self._rest else (0, ())
            yield _Row(number, left, line)
        elif place is None or any(p == place for _, p in self._around):
            yield from self._gap()
            yield _Row(right=line)
            self._shown = self._shown if place else None
        else:
            yield from self._begun(place, line)
        if place is not None:
            self._around.append((margin, place))

    def _begun(self, place: _Place, line: Line) -> Iterator[_Row]:
        """The first row of a statement, under the name of its function."""
        passage, statement = place
        title = passage.title if passage is not self._here else ""
        yield from self._gap(title)
        lines = [(k, passage.line(k)) for k in statement.lines]
        if place in self._met and len(lines) > 1:  # it stands there whole already
            number, first = lines[0]
            lines = [(number, (*first, ("comment", " ...")))]
        self._shown, self._here = place, passage
        self._met.add(place)
        self._rest.extend(lines)
        yield _Row(*self._rest.popleft(), line)

    def _gap(self, title: str = "") -> Iterator[_Row]:
        """What stands before a line that begins something else.

        Lines of a statement whose derivative took fewer, a title, comments.
        """
        while self._rest:
            yield _Row(*self._rest.popleft())
        if title:
            yield _Row(title=title)
        while self._remarks:
            yield _Row(right=self._remarks.popleft())


# ------------------------------------------------------------------ forms


def _laid_out(row: _Row, gutter: int, left: int, right: int) -> Iterator[Line]:
    """A row in columns, in several lines where one is too narrow."""
    title: Line = (("label", row.title),) if row.title else row.left
    ours = folded(title, left)
    theirs = folded(row.right, right) if row.right is not None else [()]
    number = str(row.line) if row.line else ""
    for k in range(max(len(ours), len(theirs))):
        place = f"{number if not k else '':>{gutter}} "
        mine = ours[k] if k < len(ours) else ()
        other = theirs[k] if k < len(theirs) else ()
        line = (("place", place), *padded(mine, left), ("place", RULE), *other)
        yield stripped(line)


def _shares(rows: Sequence[_Row], gutter: int, width: int | None) -> tuple[int, int]:
    """How many columns each side gets: what it needs, or what the other leaves.

    Where both need more than half, each has half.
    """
    left = max(columns_of(r.left) for r in rows)
    right = max(columns_of(r.right) for r in rows if r.right is not None)
    if width is None:
        return max(left, *(columns(r.title) for r in rows)), right
    room = max(width, NARROWEST) - gutter - 1 - len(RULE)
    left = min(left, max(room - right, room // 2))
    return left, room - left


def _table_row(row: _Row) -> str:
    """A row of the table in a notebook."""
    cell = (
        "text-align:left;vertical-align:top;padding:0 .6em;background:none;height:1.3em"
    )
    code = f"{cell};white-space:pre;font-family:monospace"
    number = f"{cell};font-weight:normal;user-select:none;{style_of('place')}"
    left = row.left or (("label", row.title),)
    return (
        f'<tr><th scope="row" style="{number}">{row.line or ""}</th>'
        f'<td style="{code}">{hypertext(left)}</td>'
        f'<td style="{code}">{hypertext(row.right or ())}</td></tr>'
    )
