"""How one generated text differs from another."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from pyrev.report.shown.shown import Shown
from pyrev.report.shown.styled import Line, block, hypertext, plain, style_of

#: What a line of a unified diff is, by how it begins; the first that fits counts.
_KINDS = {
    **{"--- ": "label", "+++ ": "label", "@@": "hunk"},
    **{"-": "removed", "+": "added", "\\": "comment"},
}


class Diff(Shown):
    """What must be done to one text to have the other, as a unified diff.

    `str` and `print` give it as text, which `patch` reads. It is false, and says so,
    where the texts are equal.
    """

    def __init__(self, names: tuple[str, str], texts: tuple[str, str]) -> None:
        self._names = names
        self._found = tuple(_unified(names, texts)) if texts[0] != texts[1] else ()

    def __bool__(self) -> bool:
        return bool(self._found)

    def __str__(self) -> str:
        return plain(self._lines(None))

    def _lines(self, width: int | None) -> list[Line]:
        if not self._found:
            one, other = self._names
            return [(("", f"{one} and {other}: equal texts"),)]
        return [((_kind(k, line), line),) for k, line in enumerate(self._found)]

    def _repr_html_(self) -> str:
        one, other = self._names
        return block(
            f"difference of {one} and {other}", map(_element, self._lines(None))
        )


def _kind(number: int, line: str) -> str:
    """What a line is; names stand in the first two lines only."""
    fitting = (
        kind
        for start, kind in _KINDS.items()
        if line.startswith(start) and (kind != "label" or number < 2)
    )
    return next(fitting, "")


def _element(line: Line) -> str:
    """A line of HTML; what was removed and added are such elements."""
    ((kind, text),) = line
    name = {"removed": "del", "added": "ins"}.get(kind)
    if name is None:
        return hypertext(line)
    inside = hypertext((("", text),))
    return f'<{name} style="text-decoration:none;{style_of(kind)}">{inside}</{name}>'


def _unified(names: tuple[str, str], texts: tuple[str, str]) -> Iterator[str]:
    """The lines of the diff, without newlines."""
    one, other = map(_ended, texts)
    for line in difflib.unified_diff(one, other, *names, lineterm=""):
        first, *rest = line.split("\n")
        yield first
        yield from rest


def _ended(text: str) -> list[str]:
    """The lines of a text; one that ends without a newline says so, as in `diff`."""
    *lines, last = text.split("\n")
    return [*lines, f"{last}\n\\ No newline at end of file"] if last else lines
