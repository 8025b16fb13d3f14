"""The statements of the program that is written, block by block, and its new names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    For,
    Loc,
    Stmt,
    Var,
    fresh,
    walk,
)
from pyrev.ir.trip_counts import range_end
from pyrev.parse.scopes import RESERVED

_INDICES = ("i", "j", "k", "l", "m", "n", "p", "q")


@dataclass(slots=True)
class Emitter:
    """Writes the IR: where statements go now, and which names are free."""

    #: The statements of the block that is written.
    out: list[Stmt] = field(default_factory=list)
    #: What new names must not be; and those among it that stand for something.
    taken: set[str] = field(default_factory=lambda: set(RESERVED))
    occupied: set[str] = field(default_factory=set)
    #: The blocks that are open, outermost first, and how many there were.
    open: list[int] = field(default_factory=list)
    opened: int = 0
    #: What scalars were assigned last.
    scalars: dict[str, Expr] = field(default_factory=dict)
    #: The indices of the loops over whole arrays, outermost first.
    indices: list[str] = field(default_factory=list)

    @property
    def path(self) -> tuple[int, ...]:
        """The block that is written, after those around it."""
        return tuple(self.open)

    def add(self, statement: Stmt) -> None:
        """One more statement."""
        self.out.append(statement)
        self._note(statement)

    def _note(self, statement: Stmt) -> None:
        match statement:
            case Assign(Var(name), value):
                self.scalars[name] = value
            case Add(Var(name) as own, value):
                self.scalars[name] = Call("+", (own, value))

    def extend(self, statements: Iterable[Stmt]) -> None:
        """More statements."""
        self.out.extend(statements)

    @property
    def mark(self) -> int:
        """A place in the block: here."""
        return len(self.out)

    def since(self, mark: int) -> Block:
        """The statements of the block from a place on."""
        return tuple(self.out[mark:])

    def take(self, mark: int) -> list[Stmt]:
        """The same, no more in the block: they are to stand elsewhere, or nowhere."""
        taken = self.out[mark:]
        del self.out[mark:]
        return taken

    @contextmanager
    def into(self, block: list[Stmt]) -> Iterator[list[Stmt]]:
        """Statements written inside go behind those of another block."""
        outside, self.out = self.out, block
        try:
            yield block
        finally:
            self.out = outside

    def aside(self) -> AbstractContextManager[list[Stmt]]:
        """Statements written inside go to a list, to be put elsewhere in this block."""
        return self.into([])

    @contextmanager
    def inner(self) -> Iterator[None]:
        """What is bound inside may not have been when this is over."""
        self.opened += 1
        self.open.append(self.opened)
        try:
            yield
        finally:
            self.open.pop()

    def fresh(self, name: str) -> str:
        """A name that nothing has, made from this one."""
        name = fresh(name, self.taken)
        self.occupied.add(name)
        return name

    def temp(self, value: Expr, name: str) -> Var:
        """A new scalar with a value as it is now."""
        variable = Var(self.fresh(name), loc=value.loc)
        self.add(Assign(variable, value, loc=value.loc))
        return variable

    def keep(self, value: Expr, name: str) -> Expr:
        """A value as it is now."""
        return value if isinstance(value, Const) else self.temp(value, name)

    def index(self, k: int) -> str:
        """A name for the index of the k-th loop of a nest, the same in every nest."""
        while len(self.indices) <= k:
            free = [n for n in _INDICES if n not in self.taken | self.occupied]
            self.indices.append(self.fresh(free[0] if free else "i"))
        return self.indices[k]

    def nest(
        self,
        shape: Sequence[Expr],
        at: Loc,
        body: Callable[[tuple[Expr, ...]], Sequence[Stmt]],
        first: Sequence[Expr] = (),
    ) -> None:
        """Loops over all indices of a shape, an axis of length one apart."""
        index: list[Expr] = []
        loops: list[tuple[str, Expr, Expr]] = []
        for k, length in enumerate(shape):
            lo = first[k] if first else ZERO
            if length == ONE and lo == ZERO:
                index.append(ZERO)
                continue
            name = self.index(len(loops))
            index.append(Var(name, loc=at))
            loops.append((name, lo, range_end(length)))
        inner: Block = tuple(body(tuple(index)))
        for s in walk(inner):
            self._note(s)
        for name, lo, hi in reversed(loops):
            inner = (For(name, lo, hi, ONE, inner, loc=at),)
        self.extend(inner)
