"""What is said of the arguments of a call before their kinds: see `driver.forms`."""

from __future__ import annotations

from dataclasses import dataclass

from pyrev.parse.rewriting.known_kinds import Tested
from pyrev.parse.rewriting.structures.shapes import Key, Shape

#: A parameter, and the fields behind it.
Path = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Forms:
    """Parameters that are no numbers and no arrays in a call.

    `values` are None or texts, `functions` functions, by the paths to them; `shapes`
    are those of the parameters that are structures; `kinds` what tests find of others.
    """

    values: tuple[tuple[Path, str | None], ...] = ()
    functions: tuple[tuple[Path, object], ...] = ()
    shapes: tuple[tuple[str, Shape], ...] = ()
    kinds: tuple[tuple[str, Tested], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.values or self.functions or self.shapes or self.kinds)


PLAIN = Forms()
