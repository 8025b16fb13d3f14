"""A generated text to read: a `str` that knows which lines of the user's it is from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyrev.driver.unit import Unit
from pyrev.ir import places
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.nodes import NOWHERE, Loc
from pyrev.parse.source import Texts
from pyrev.report.shown.difference import Diff
from pyrev.report.shown.highlight import highlighted
from pyrev.report.shown.passages import passages
from pyrev.report.shown.shown import Shown
from pyrev.report.shown.side_by_side import SideBySide
from pyrev.report.shown.styled import Line, block, hypertext
from pyrev.runtime.error_boundary import guarded


@dataclass(frozen=True, slots=True)
class Origin:
    """What a generated text is, and what it was made from."""

    #: The name of the generated function.
    name: str
    target: str
    #: The place of the user's function, and for each line of the text its own.
    loc: Loc
    locs: tuple[Loc, ...]
    texts: Texts
    #: Does one want to see the user's function beside it?
    derived: bool

    @classmethod
    def of(cls, unit: Unit, texts: Texts, derived: bool) -> Origin:
        """The origin of a unit's text."""
        program, locs = unit.program, unit.text.locs
        return cls(program.name, unit.target.name, program.loc, locs, texts, derived)

    @property
    def title(self) -> str:
        """What the text is called: ``f_adjoint (python, file.py)``."""
        return f"{self.name} ({self.target}, {places.name_of(self.loc.file)})"


class Readable(Shown):
    """What has a generated text: it can be shown, set beside its origin, compared."""

    @property
    def _listing(self) -> Listing:
        raise NotImplementedError

    @guarded
    def side_by_side(self, width: int | None = None) -> SideBySide:
        """The user's lines on the left, what was derived from them on the right.

        The order is that of the derivative: a statement of the user's stands beside
        each group of lines that comes from it. The text form is as wide as its lines
        are, or takes `width` columns (at least 40) and folds lines; `show()` on a
        terminal takes those that it has. Notebooks show a table.

        Raises `ArgumentError` for the text of "cuda", whose lines are not those of
        statements.
        """
        return self._listing._side_by_side(width)

    @guarded
    def diff(self, other: str | Readable) -> Diff:
        """What must be done to this text to have the `other`, as a unified diff.

        The other is a derivative, what `source_for` gave, or any text: of a file that
        was saved, say. The diff is false where the two are equal.
        """
        text: object = other._listing if isinstance(other, Readable) else other
        if not isinstance(text, str):
            raise ArgumentError(
                f"diff: a {type(other).__name__} is no generated text; give one, as in"
                " f.adjoint.diff(g.adjoint), or a string"
            )
        mine = self._listing
        name = text._origin.title if isinstance(text, Listing) else "the other text"
        return Diff((mine._origin.title, name), (str(mine), str(text)))

    def _lines(self, width: int | None) -> list[Line]:
        return highlighted(str(self._listing))

    def _repr_html_(self) -> str:
        return self._listing._hypertext()


class Listing(Readable, str):
    """Generated text, which is shown as one reads code: in colour, where there is some.

    It is a `str` in all else, and is pickled as one. A notebook shows the derivative
    with the user's function beside it.
    """

    _origin: Origin

    def __new__(cls, text: str, origin: Origin) -> Listing:
        """The text, and what it was made from."""
        made = super().__new__(cls, text)
        made._origin = origin
        return made

    @property
    def _listing(self) -> Listing:
        return self

    def _said(self) -> str:
        return str.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)

    def _side_by_side(self, width: int | None) -> SideBySide:
        origin = self._origin
        if not origin.locs:
            raise ArgumentError(
                f"side_by_side: the lines of the {origin.target!r} text are not those"
                ' of statements; take the text for "python" or "numba"'
            )
        lines = highlighted(str(self).removesuffix("\n"))
        derived = [*zip(lines, self._places(), strict=True)]
        return SideBySide(origin.name, derived, passages(origin.texts), width)

    def _places(self) -> Iterator[Loc]:
        """For each line the statement that it comes from, or nowhere.

        What belongs to the function as a whole (an array for a gradient, the `return`)
        has the function's place; only the headers of the two are beside each other.
        """
        made = next(
            node
            for node in ast.walk(ast.parse(str(self)))
            if isinstance(node, ast.FunctionDef) and node.name == self._origin.name
        )
        header = range(made.lineno - 1, made.body[0].lineno - 1)
        for k, loc in enumerate(self._origin.locs):
            whole = loc == self._origin.loc and k not in header
            yield NOWHERE if whole else loc

    def _hypertext(self) -> str:
        """HTML: beside the user's function where that is known line by line."""
        if self._origin.derived and self._origin.locs:
            return self._side_by_side(None)._repr_html_()
        return block(self._origin.title, map(hypertext, highlighted(str(self))))
