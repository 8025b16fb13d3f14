"""What ISL can be told of an integer expression where it is evaluated.

The rest is abstracted: replaced by unknowns, of which as much is said as is known. An
integer of a float has a floor where the float has one; what may go around at 64 bits is
told as nothing at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pyrev.analysis.bounds.facts import Facts, whole
from pyrev.analysis.poly import conj, disj, is_empty
from pyrev.ir.affine import integer
from pyrev.ir.dtypes import WEAK_INT, expr_dtype
from pyrev.ir.nodes import Call, Const, Expr, Extent, Load, Var, mentioned, names

#: The ISL name of a scalar in a formula that tells what values it may have.
HELD = "held"
_ARITHMETIC = frozenset({"+", "-", "*", "//", "%", "neg", "abs"})


@dataclass(frozen=True, slots=True)
class Context:
    """The iterations in which something happens, as an ISL formula, and if exactly
    so.
    """

    env: Mapping[str, str]
    variables: tuple[str, ...]
    formula: str
    exact: bool
    pinned: frozenset[str] = frozenset()  # scalars whose value `formula` tells
    wild: frozenset[str] = frozenset()  # what may be as large as data: near 64 bits
    #: Floats that are no less than one of these integers, if they are numbers at all.
    floors: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)
    #: Scalars with several assignments: formulas of what they are, as `HELD`.
    held: Mapping[str, str] = field(default_factory=dict)
    #: Of arrays made on the way here, the shapes.
    sizes: Mapping[str, tuple[Expr, ...]] = field(default_factory=dict)

    def sized(self, e: Expr) -> Expr:
        """An extent of an array made on the way here is what it was made of."""
        match e:
            case Extent(array, axis) if array in self.sizes:
                return self.sizes[array][axis]
            case _:
                return e

    def without(self, changed: frozenset[str]) -> Context:
        """The same where these may have been assigned, or made again."""
        gone = changed & self.held.keys()
        return replace(
            self,
            env={n: v for n, v in self.env.items() if n not in gone},
            floors={n: f for n, f in self.floors.items() if n not in changed},
            sizes={
                a: shape
                for a, shape in self.sizes.items()
                if a not in changed
                and not any(n in changed for e in shape for n in mentioned(e))
            },
        )


@dataclass(slots=True)
class Unknowns:
    """The ISL names of what is not affine in one subscript, and what is known of
    them.
    """

    prefix: str = "u"
    env: dict[str, str] = field(default_factory=dict)
    facts: list[str] = field(default_factory=list)

    def new(self) -> tuple[str, str]:
        """A scalar for what is unknown, and its ISL name."""
        name = f"?{len(self.env)}"
        self.env[name] = f"{self.prefix}{len(self.env)}"
        return name, self.env[name]


@dataclass(frozen=True, slots=True)
class Terms:
    """Integer expressions of one program, in a context each."""

    facts: Facts

    def free(self, e: Expr, here: Context) -> bool:
        """Does `e` mention a scalar of unknown value?"""
        return bool(names(e) & self.facts.single - here.pinned)

    def roams(self, e: Expr, here: Context) -> bool:
        """Does `e` mention a scalar of which it is at most known what it is between?"""
        return self.free(e, here) or not here.held.keys().isdisjoint(names(e))

    def abstract(self, e: Expr, here: Context, extra: Unknowns) -> Expr:
        """`e` with what ISL can't express replaced by unknowns, as deep as possible."""
        env = {**here.env, **extra.env}
        if self.facts.space.cases(e, env, here.formula) is not None:
            return e
        match e:
            case Call("+" | "-" | "min" | "max" | "neg" as op, args):
                return Call(op, tuple(self.abstract(a, here, extra) for a in args))
            case Call("where", (test, a, b)):
                known = self.facts.space.formula(test, env, here.formula)
                if known is not None:
                    one, two = (self.abstract(x, here, extra) for x in (a, b))
                    return Call("where", (test, one, two))
            case Call("int" | "int64", (a,)) if not self.facts.is_float(
                a
            ):  # nan is no int
                return self.abstract(a, here, extra)
            case Call("//" | "%", (a, Const(int(k)))) if k > 0:
                return Call(e.op, (self.abstract(a, here, extra), Const(k)))
            case Load(array) if array in self.facts.places:
                n = here.sized(self.facts.sized(self.facts.places[array]))
                return self._below(n, here, extra, True)
            case Call("%", (_, n)):
                return self._below(n, here, extra, False)
            case Call("int" | "int64" | "round", (a,)):
                floor = self.floor(a, here) or ()
                terms = [self.facts.space.cases(f, env, here.formula) for f in floor]
                unknown, u = extra.new()
                # A large size may be rounded down: no less than a small number it is.
                if any(integer(f) is not None for f in floor) and all(terms):
                    lows = [
                        conj((c.when, f"{u} >= {c.term}"))
                        for t in terms
                        for c in t or ()
                    ]
                    extra.facts.append(disj(lows))
                return Var(unknown)
        return Var(extra.new()[0])

    def _below(self, n: Expr, here: Context, extra: Unknowns, sure: bool) -> Expr:
        """What is from 0 up to `n`, which is positive: for `sure`, or else perhaps."""
        size = self.facts.space.cases(n, {**here.env, **extra.env}, here.formula)
        unknown, u = extra.new()
        if size is not None and len(size) == 1 and not self.free(n, here):
            term = size[0].term
            inside = f"(0 <= {u} and {u} < {term})"
            extra.facts.append(inside if sure else f"{term} <= 0 or {inside}")
        return Var(unknown)

    def floor(self, e: Expr, here: Context) -> tuple[Expr, ...] | None:
        """Integers such that `e`, if it is a number, is no less than one of them."""
        if (exact := self._whole(e)) is not None:
            return (exact,)
        match e:
            case Var(name):
                return here.floors.get(name)
            case Call("max" | "maximum" | "fmax", args):
                # The one that is never nan is never above the result.
                found = [w for a in args if (w := self._whole(a)) is not None]
                return (
                    (min(found, key=lambda w: integer(w) is None),) if found else None
                )
            case Call("min" | "minimum" | "fmin", args) | Call("where", (_, *args)):
                floors = [self.floor(a, here) for a in args]
                if any(f is None for f in floors):
                    return None
                return tuple(dict.fromkeys(w for f in floors for w in f or ()))
            case Call("floor" | "ceil" | "trunc" | "rint", (a,)):
                return self.floor(a, here)
        return None

    def _whole(self, e: Expr) -> Expr | None:
        return whole(e, self.facts.known)

    def overflows(self, e: Expr, here: Context, modular: bool = False) -> bool:
        """Is there arithmetic in `e` that goes around, and does it show?

        At less than 64 bits anything may; at 64 what is made of data. A `modular`
        expression that is inside an array is right all the same, if it only adds and
        multiplies.
        """
        match e:
            case Call(op, args):
                if op in _ARITHMETIC:
                    if expr_dtype(e, self.facts.types) not in (WEAK_INT, "int64"):
                        return True
                    modular = modular and op in ("+", "-", "*", "neg")
                    bare = op in ("//", "%")
                    if not modular and not bare and names(e) & here.wild:
                        return not self._near(e, here)
                else:
                    modular = False
                return any(self.overflows(a, here, modular) for a in args)
            case _:
                return False

    def _near(self, e: Expr, here: Context) -> bool:
        """Is `e` the integer of a float, moved a little?

        Floats below 2**63 are at most 2**63 - 1024.
        """
        match e:
            case Call("+" | "-", (Var(name), moved)) if name in self.facts.from_float:
                if names(moved) & (here.wild | self.facts.single):
                    return False
                cases = self.facts.space.cases(moved, here.env, here.formula)
                return cases is not None and all(
                    is_empty(
                        self.facts.space,
                        here.variables,
                        conj((here.formula, c.when, f"{c.term} {far}")),
                    )
                    for c in cases
                    for far in ("<= -1024", ">= 1024")
                )
            case _:
                return False
