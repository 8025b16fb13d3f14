"""What an entry of this corpus says besides its function: its idiom, and who has it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.corpora.entry import Arguments, Cases, Entry, Maker


@dataclass(frozen=True)
class Published:
    """An entry, the field it comes from, its idiom and where that was seen."""

    entry: Entry
    field: str
    idiom: str
    seen: str


class PublishedCases:
    """The entries of one field, in the order of its text."""

    def __init__(self, field: str) -> None:
        self.field = field
        self.published: list[Published] = []
        self._cases = Cases()

    def __call__(
        self,
        function: Callable[..., Any],
        arguments: Callable[[int, Maker], Arguments],
        out: str = "",
        *,
        idiom: str,
        seen: str,
        **facts: Any,
    ) -> None:
        """Adds a function; `idiom` is a sentence, `seen` a repository and a file."""
        self._cases(function, arguments, out, **facts)
        entry = self._cases.entries[-1]
        self.published.append(Published(entry, self.field, idiom, seen))
