"""A call of a function that runs as it is: what a node that makes an array holds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Opaque:
    """Result `which` of `results` that ``function(*arguments)`` gives, run as it is.

    The function is a parameter of the program, or of an adjoint of it, and is pure: the
    same call may be made again. `arguments` are expressions; a whole array among them
    is a `Var`, whose number of axes is in `ranks`, as 0 is for a number. The derivative
    is that of its rules, parameters as well: `vjp` takes the arguments, all results and
    their cotangents, `jvp` arguments, results and the tangents of the arguments; "" for
    none. A result that is a `number` is the only element of its array.
    """

    function: str
    arguments: tuple[Any, ...]
    ranks: tuple[int, ...]
    which: int = 0
    results: int = 1
    number: bool = False
    vjp: str = ""
    jvp: str = ""
    #: The copies of arrays that a reverse sweep asks for, by the statements that store
    #: elements of them.
    seen: tuple[tuple[str, int], ...] = ()

    @property
    def whole(self) -> tuple[tuple[str, int], ...]:
        """The arrays among the arguments, each once, and how many axes they have."""
        pairs = zip(self.arguments, self.ranks, strict=True)
        return tuple({a.name: rank for a, rank in pairs if rank}.items())

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays among the arguments, each once."""
        return tuple(name for name, _ in self.whole)

    @property
    def numbers(self) -> tuple[Any, ...]:
        """The numbers among the arguments."""
        pairs = zip(self.arguments, self.ranks, strict=True)
        return tuple(a for a, rank in pairs if not rank)

    def mapped(
        self, number: Callable[[Any], Any], array: Callable[[str], str] | None = None
    ) -> Opaque:
        """The same call with other numbers, or other arrays; itself if they are not."""

        def new(a: Any, rank: int) -> Any:
            if not rank:
                return number(a)
            name = a.name if array is None else array(a.name)
            return a if name == a.name else replace(a, name=name)

        found = tuple(map(new, self.arguments, self.ranks))
        same = all(a is b for a, b in zip(found, self.arguments, strict=True))
        return self if same else replace(self, arguments=found)

    def renamed(self, new: Callable[[str], str]) -> Opaque:
        """The same call of arrays and functions that have new names."""
        named = new(self.function), new(self.vjp), new(self.jvp)
        call = self.mapped(lambda number: number, new)
        if named == (self.function, self.vjp, self.jvp):
            return call
        function, vjp, jvp = named
        return replace(call, function=function, vjp=vjp, jvp=jvp)

    def same_call(self, other: Opaque | None) -> bool:
        """Is it a result of the very same call?"""
        if other is None:
            return False
        return replace(self, which=other.which, number=other.number) == other
