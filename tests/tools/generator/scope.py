"""What may be read and written at a place of a generated function, and its range."""

from __future__ import annotations

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Int:
    """An integer expression as text, and the values it can have."""

    text: str
    lo: int
    hi: int
    atom: bool = False

    def inside(self) -> str:
        return self.text if self.atom else f"({self.text})"

    def plus(self, c: int) -> Int:
        if c == 0:
            return self
        sign = "+" if c > 0 else "-"
        return Int(f"{self.text} {sign} {abs(c)}", self.lo + c, self.hi + c)


@dataclass(frozen=True, slots=True)
class Dim:
    """The size of an axis: how to write it, what it can be, which sizes equal it."""

    text: str
    lo: int
    hi: int
    key: str

    def int(self) -> Int:
        return Int(self.text, self.lo, self.hi, atom=self.text.isidentifier())


@dataclass(frozen=True, slots=True)
class Array:
    """An array that may be read, and perhaps written; `lo..hi` bound its integers.

    `root` is the array that owns the elements: a view's base.
    """

    name: str
    shape: tuple[Dim, ...]
    dtype: str = "float64"
    writable: bool = True
    lo: int = 0
    hi: int = 0
    root: str = ""
    parameter: bool = False

    @property
    def is_float(self) -> bool:
        return self.dtype.startswith("float")

    @property
    def base(self) -> str:
        return self.root or self.name

    @property
    def has_elements(self) -> bool:
        return all(d.lo > 0 for d in self.shape)


@dataclass
class Loop:
    """An open loop: may it be left, continued; how often does it run at most."""

    trips: int
    may_continue: bool = True
    jumped: bool = False
    index: str = ""


@dataclass
class Scope:
    """Names that may be read here; inner blocks see them, and keep theirs."""

    indices: list[Int] = field(default_factory=list)
    integers: list[Int] = field(default_factory=list)
    counters: dict[str, tuple[int, int]] = field(default_factory=dict)
    floats: list[str] = field(default_factory=list)
    truths: list[str] = field(default_factory=list)
    fixed: set[str] = field(default_factory=set)
    arrays: dict[str, Array] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    maybe: bool = False

    def inner(self, *, maybe: bool = False) -> Scope:
        return replace(
            self,
            indices=list(self.indices),
            integers=list(self.integers),
            counters=dict(self.counters),
            floats=list(self.floats),
            truths=list(self.truths),
            fixed=set(self.fixed),
            arrays=dict(self.arrays),
            loops=list(self.loops),
            maybe=self.maybe or maybe,
        )

    @property
    def depth(self) -> int:
        return len(self.loops)

    @property
    def trips(self) -> int:
        total = 1
        for loop in self.loops:
            total *= max(1, loop.trips)
        return total

    def assignable(self) -> list[str]:
        return [f for f in self.floats if f not in self.fixed]

    def of_rank(self, rank: int, *, write: bool = False) -> list[Array]:
        """Float arrays with elements."""
        return [
            a
            for a in self.arrays.values()
            if len(a.shape) == rank
            and a.is_float
            and a.has_elements
            and (a.writable or not write)
        ]
