"""What is kept of answers about a node: as long as it is asked about the same object.

Statements are values, so comparing two of them is as long as they are. Passes keep the
statements that they do not change, so that asking by identity finds most answers again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

N = TypeVar("N")
T = TypeVar("T")
_LIMIT = 50_000


class by_identity(Generic[N, T]):
    """A function of one node that remembers its answers.

    >>> from pyrev.ir.nodes import Var
    >>> asked = []
    >>> @by_identity
    ... def name(v: Var) -> str:
    ...     asked.append(v)
    ...     return v.name
    >>> a = Var("a")
    >>> name(a), name(a), name(Var("a")), len(asked)
    ('a', 'a', 'a', 2)
    """

    def __init__(self, function: Callable[[N], T]) -> None:
        self.function = function
        self.__doc__ = function.__doc__
        # The node is kept, so that no other object can have its identity.
        self.known: dict[int, tuple[N, T]] = {}

    def __call__(self, node: N) -> T:
        found = self.known.get(id(node))
        if found is None:
            found = node, self.function(node)
            if len(self.known) >= _LIMIT:
                self.known.clear()
            self.known[id(node)] = found
        return found[1]
