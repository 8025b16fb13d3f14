"""What was made of texts before they are lowered, for all walks over them.

A function is read several times until the ranks of its parameters fit, and each reading
walks over it several times. What is made of a text alone is the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import gast

from pyrev.parse.rewriting.made_texts import Lookup

T = TypeVar("T")


@dataclass(slots=True)
class Rewritten:
    """What was made of definitions, with what was looked up for it.

    >>> import gast
    >>> node, made = gast.parse("def f(): pass").body[0], []
    >>> def make(look):
    ...     made.append(look("n"))
    ...     return gast.Constant(look("n"), None)
    >>> known, outside = Rewritten(), {"n": 2}
    >>> one = known.once(node, "what", outside.get, make)
    >>> one is known.once(node, "what", outside.get, make), made
    (True, [2])
    >>> known.once(node, "what", {"n": 3}.get, make).value
    3
    """

    #: The definition is kept, so that no other one can have its identity.
    _made: dict[Hashable, tuple[gast.AST, dict[str, object], Any]] = field(
        default_factory=dict
    )

    def once(
        self, node: gast.AST, what: Hashable, look: Lookup, make: Callable[[Lookup], T]
    ) -> T:
        """What `make` gave of the definition `node`, if it was asked for `what` before
        and the names that it looked up stand for what they stood for; they are looked
        up again, so that what the reading rests on is noted.
        """
        key = id(node), what
        known = self._made.get(key)
        if known is not None and all(look(n) is v for n, v in known[1].items()):
            found: T = known[2]
            return found
        names: dict[str, object] = {}

        def noted(name: str) -> object:
            names[name] = look(name)
            return names[name]

        made = make(noted)
        self._made[key] = node, names, made
        return made
