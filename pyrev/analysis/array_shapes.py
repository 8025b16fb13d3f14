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

Shapes = Mapping[str, tuple[Expr, ...]]


def of_arguments(size: Expr, shapes: Shapes) -> Expr:
    """`size` with the extents of local arrays in terms of what they are made of."""

    def known(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in shapes:
                size = shapes[array][axis]
                return e if size == e else map_expr(size, known)
        return e

    return map_expr(size, known)


class ArrayShapes:
    """What the extents of a program's arrays are, in terms of what does not change.

    That is integers that get no other value, extents of parameters, and those of arrays
    that have a size of their own. `given` says of a parameter that it has the shape of
    others.
    """

    def __init__(self, program: Program, given: Shapes | None = None) -> None:
        body = program.body
        made = [s for s in walk(body) if isinstance(s, Alloc)]
        times = Counter(s.array for s in made)
        params = {p.name for p in program.params}
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= {s.array: len(s.shape) for s in made}
        #: The arrays that the function makes, each by one statement.
        self.local = {
            s.array: s.shape
            for s in made
            if times[s.array] == 1 and s.array not in params
        }
        self._shapes = {**self.local, **(given or {})}
        # How long it is changes; the other extents do not.
        for array in {s.array for s in walk(body) if isinstance(s, Grow)}:
            if array in self.local:
                length = Var(f"the length of {array}")
                self._shapes[array] = (length, *self.local[array][1:])
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
            and s.target.name not in params  # which has had a value before
        }
        own = {a: (Extent(a, 0),) for a in self.local}
        self._steady |= {
            s.array
            for s in body
            if isinstance(s, Alloc) and s.shape == own.get(s.array)
        }

    def of(self, array: str) -> tuple[Expr | None, ...]:
        """The extents of an array; None for what is not known."""
        return tuple(
            self.known(Extent(array, k)) for k in range(self.ranks.get(array, 0))
        )

    def known(self, size: Expr) -> Expr | None:
        """`size` in terms of what does not change; None where it is made of more."""
        found = of_arguments(size, self._shapes)
        return found if all(n in self._steady for n in mentioned(found)) else None
