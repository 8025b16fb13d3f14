"""The shapes of arrays, as far as the text says what they are made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pyrev.ir.nodes import (
    Alloc,
    Assign,
    Expr,
    Extent,
    Grow,
    Program,
    Var,
    assignments,
    map_expr,
    mentioned,
    walk,
    written,
)


class ArrayShapes:
    """What the extents of a program's arrays are, in terms of what does not change.

    That is integers that get no other value, and extents of parameters. `given` says of
    a parameter that it has the shape of others.
    """

    def __init__(
        self, program: Program, given: Mapping[str, tuple[Expr, ...]] | None = None
    ) -> None:
        body = program.body
        made = [s for s in walk(body) if isinstance(s, (Alloc, Grow))]
        times = Counter(s.array for s in made)
        params = {p.name for p in program.params}
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= {s.array: len(s.shape) for s in made if isinstance(s, Alloc)}
        #: The arrays that the function makes, each by one statement.
        self.local = {
            s.array: s.shape
            for s in made
            if isinstance(s, Alloc) and times[s.array] == 1 and s.array not in params
        }
        self._shapes = {**self.local, **(given or {})}
        changed, count = written(body), assignments(body)
        # What is made again in place (`a = a.copy()`) may have another shape.
        self._steady = {n for n in params if n not in times}
        self._steady -= {n for n in changed if n not in self.ranks}
        self._steady |= {
            s.target.name
            for s in body
            if isinstance(s, Assign)
            and isinstance(s.target, Var)
            and count[s.target.name] == 1
        }

    def of(self, array: str) -> tuple[Expr | None, ...]:
        """The extents of an array; None for what is not known."""
        return tuple(
            self.known(Extent(array, k)) for k in range(self.ranks.get(array, 0))
        )

    def known(self, size: Expr) -> Expr | None:
        """`size` in terms of what does not change; None where it is made of more."""

        def resolved(part: Expr) -> Expr:
            match part:
                case Extent(array, axis) if array in self._shapes:
                    return map_expr(self._shapes[array][axis], resolved)
            return part

        found = map_expr(size, resolved)
        return found if all(n in self._steady for n in mentioned(found)) else None
