"""Why code is made once more for a function that has some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from pyrev.driver.arguments import Kind, key_of
from pyrev.driver.request import Request
from pyrev.driver.sizes import fits
from pyrev.driver.unit import Unit

FIRST = "the first"


class _Made(NamedTuple):
    """What a unit was made for."""

    request: Request
    answers: tuple[tuple[str, bool], ...]


class Reasons:
    """What units were made for, by what they are."""

    def __init__(self) -> None:
        self._made: dict[str, list[_Made]] = {}

    def why(self, label: str, asked: Request, unit: Unit) -> str:
        """Why a unit was made beside those of the same label before it."""
        earlier = self._made.setdefault(label, [])
        reason = _reason(asked, earlier)
        # Of the values nothing but what was asked of their sizes is kept.
        earlier.append(_Made(replace(asked, values=None), unit.fit.answers))
        return reason


def _reason(asked: Request, earlier: list[_Made]) -> str:
    alike = [m for m in earlier if m.request.target is asked.target]
    if not alike:
        return FIRST
    key = key_of(asked.kinds)
    alike = [m for m in alike if key_of(m.request.kinds) == key]
    if not alike:
        return f"arguments of other ranks or dtypes: {_kinds(asked.kinds)}"
    alike = [m for m in alike if m.request.wrt == asked.wrt]
    if not alike:
        return f"with respect to {', '.join(asked.wrt) or 'nothing'}"
    alike = [m for m in alike if m.request.variant == asked.variant]
    if not alike:
        return "negative subscripts, or bounds that only these arguments keep"
    values = asked.values or {}
    others = [
        [(t, a) for t, a in dict(made.answers).items() if not fits(((t, a),), values)]
        for made in alike
    ]
    fewest = min(others, key=len)
    now = [f"not {_plain(t)}" if answer else _plain(t) for t, answer in fewest]
    return f"other sizes: now {' and '.join(now)}" if now else "made anew"


def _plain(test: str) -> str:
    """A test in one line."""
    return " ".join(test.split()).replace("( ", "(").replace(" )", ")")


def _kinds(kinds: Mapping[str, Kind]) -> str:
    return ", ".join(
        f"{n} {k.dtype}" + (f"[{k.rank}]" if k.rank else "") for n, k in kinds.items()
    )
