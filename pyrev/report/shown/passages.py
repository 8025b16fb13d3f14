"""The user's functions as they stand in their files, statement by statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyrev.ir import places
from pyrev.ir.nodes import Loc
from pyrev.parse.source import Source, Texts
from pyrev.report.shown.highlight import highlighted
from pyrev.report.shown.styled import Line


@dataclass(frozen=True, slots=True)
class Statement:
    """The lines of a statement, of one with a body those up to it."""

    first: int
    last: int

    @property
    def lines(self) -> range:
        """Their numbers."""
        return range(self.first, self.last + 1)


@dataclass(frozen=True, slots=True, eq=False)
class Passage:
    """A function of the user's: its name, its lines, its statements in their order."""

    name: str
    file: str
    first: int
    lines: tuple[Line, ...]
    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, name: str, source: Source) -> Passage:
        """The passage that the text of a function is."""
        first, last = source.node.lineno, source.node.end_lineno
        lines = [line.rstrip() for line in source.lines[first - 1 : last]]
        margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
        text = "\n".join(line.removeprefix(margin).expandtabs() for line in lines)
        found = dict.fromkeys(Statement(*ends) for ends in source.statements())
        return cls(name, source.file, first, tuple(highlighted(text)), tuple(found))

    @property
    def title(self) -> str:
        """``f in file.py``."""
        return f"{self.name} in {places.name_of(self.file)}"

    def line(self, number: int) -> Line:
        """A line of it, by its number in the file."""
        return self.lines[number - self.first]

    def at(self, loc: Loc) -> Statement | None:
        """The statement that a place lies in."""
        if loc.file != self.file:
            return None
        holding = (s for s in self.statements if loc.line in s.lines)
        return min(holding, key=lambda s: len(s.lines), default=None)


def passages(texts: Texts) -> tuple[Passage, ...]:
    """The function that was read and those that were inlined, the former first."""
    found: dict[tuple[str, int], Passage] = {}
    for name, source in _sources(texts):
        found.setdefault((source.file, source.node.lineno), Passage.of(name, source))
    return tuple(found.values())


def _sources(texts: Texts) -> Iterator[tuple[str, Source]]:
    for name, code in texts.functions():
        source = texts.of(code)
        if source is not None:
            yield name, source


def place_of(loc: Loc, known: Sequence[Passage]) -> tuple[Passage, Statement] | None:
    """The function and the statement that a line comes from, if that was read."""
    for passage in known:
        statement = passage.at(loc)
        if statement is not None:
            return passage, statement
    return None
