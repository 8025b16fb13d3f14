"""What is known of a program before its subscripts are looked at one by one.

Which scalars have one value, which arrays have the shape that sizes of arguments give
them, and what float arithmetic has a part in: ``int(x / h)`` and all made of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyrev.analysis.dependence import Region
from pyrev.analysis.poly import Space
from pyrev.ir.affine import integer
from pyrev.ir.dtypes import expr_dtype, infer, is_float
from pyrev.ir.liveness import found_places, live_before
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Program,
    Stmt,
    Var,
    While,
    assignments,
    map_expr,
    mentioned,
    names,
    walk,
    walk_expr,
)

Shapes = Mapping[str, tuple[Expr, ...]]


@dataclass(frozen=True, slots=True)
class Facts:
    """One program, and what holds all through it."""

    program: Program
    region: Region
    types: Mapping[str, str]
    #: Integer scalars with one assignment, before every use.
    single: frozenset[str]
    #: Those with several assignments, one of which is before every use.
    several: frozenset[str]
    #: Parameters that nothing changes or makes again.
    known: frozenset[str]
    #: Scalars that are the integers of floats.
    from_float: frozenset[str]
    #: What is made of them, too: another order of float arithmetic may move it.
    of_floats: frozenset[str]
    #: Those of them that lie where they lie whatever the others are.
    alone: frozenset[str]
    #: Local arrays with the shape that parameters give them; that scalars do, as well.
    shapes: Shapes
    made: Shapes
    #: Local arrays that hold places, and of how many.
    places: Mapping[str, Expr]

    @property
    def space(self) -> Space:
        """The integers of the program for ISL."""
        return self.region.space

    def size(self, array: str, axis: int) -> Expr:
        """An extent; that of a local array of parameters, where it is fixed."""
        shape = self.shapes.get(array)
        return Extent(array, axis) if shape is None else shape[axis]

    def sized(self, e: Expr) -> Expr:
        """Loops over a local array run over the parameters that its shape came from."""
        return self.size(e.array, e.axis) if isinstance(e, Extent) else e

    def is_float(self, e: Expr) -> bool:
        """Is `e` a float?"""
        return is_float(expr_dtype(e, self.types))

    def moved_alone(self, index: Expr) -> bool:
        """Does one integer of a float move `index`, and it whatever others are?"""
        return _alone(index, self.of_floats) and (
            names(index) & self.of_floats <= self.alone
        )


def facts(program: Program) -> Facts:
    """What is known of a program."""
    body = program.body
    numbers = frozenset(
        p.name for p in program.params if not p.rank and "int" in p.dtype
    )
    # A scalar that may be read before it is assigned has two values in one guard.
    early = live_before(body, frozenset())
    types = infer(program, {p.name: p.dtype for p in program.params})
    counts = frozenset(
        name
        for name in _only_assigned(body)
        if name not in early and "int" in types[name]
    )
    single = counts.intersection(_assigned_once(body))
    params = frozenset(p.name for p in program.params)
    known = params.difference(*map(renewed, body))
    from_float = frozenset(
        s.target_name
        for s in walk(body)
        if isinstance(s, Assign) and _is_rounded(s.value, types, known)
    )
    of_floats = _made_of(body, from_float)
    shapes = fixed_shapes(body, known)
    same = fixed_shapes(body, known | single)
    return Facts(
        program,
        Region(body, frozenset(), (), numbers),
        types,
        single,
        counts - single - params,
        known,
        from_float,
        of_floats,
        _each_alone(body, of_floats),
        shapes,
        {**{a: s for a, s in same.items() if a not in early}, **shapes},
        _places(body, shapes, known),
    )


# ------------------------------------------------------------------ floats


def whole(e: Expr, known: frozenset[str]) -> Expr | None:
    """A float that is an integer made of sizes and small numbers, as that."""
    match e:
        case Const(value) if not isinstance(value, bool):
            small = abs(value) < 2**24 and float(value).is_integer()
            return Const(int(value)) if small else None
        case Extent(array) if array in known:
            return e
        case Call("+" | "-" as op, (a, b)):
            one, two = whole(a, known), whole(b, known)
            if one is None or two is None or op == "-" and integer(two) is None:
                return None  # what is far below zero may be rounded down
            return Call(op, (one, two))
        case Call("neg", (Const(value),)):
            return whole(Const(-value), known)
        case Call("float" | "float64", (a,)):
            return whole(a, known)
    return None


def _is_rounded(e: Expr, types: Mapping[str, str], known: frozenset[str]) -> bool:
    """Is `e` the integer of a float, or that and sizes clipped to each other?"""
    match e:
        case Call("int" | "int64" | "round", (a,)):
            return is_float(expr_dtype(a, types)) or _is_rounded(a, types, known)
        case Call("min" | "max", args):
            rounded = [_is_rounded(a, types, known) for a in args]
            sized = [whole(a, known) is not None for a in args]
            return any(rounded) and all(map(max, rounded, sized))
        case _:
            return False


def _made_of(block: Block, some: frozenset[str]) -> frozenset[str]:
    """`some` scalars, what is computed from them and the loops that they bound."""
    found = set(some)
    while True:
        before = len(found)
        for s in walk(block):
            match s:
                case Assign(_, value) | Add(_, value):
                    if names(value) & found:
                        found.add(s.target_name)
                case For() | While():
                    if names(s.lo) & found or names(s.hi) & found:
                        found.add(s.index)
        if len(found) == before:
            return frozenset(found)


def _each_alone(block: Block, some: frozenset[str]) -> frozenset[str]:
    """Those of `some` scalars that lie where they lie whatever the others are.

    Each is made of one of the others at most, all the way. An adjoint may have kept one
    and compute another again: what they have to do with each other need not stay.
    """
    made: dict[str, list[Expr]] = {}
    for s in walk(block):
        match s:
            case Assign(_, value) | Add(_, value):
                made.setdefault(s.target_name, []).append(value)
            case For(index) | While(index=index) if index:
                made.setdefault(index, []).extend((s.lo, s.hi))
    loops = (s for s in walk(block) if isinstance(s, (For, While)))
    once = {*_assigned_once(block), *(s.index for s in loops)}
    found = {n for n in some & once if all(_alone(e, some) for e in made[n])}
    while True:
        rest = {n for n in found if all(names(e) & some <= found for e in made[n])}
        if rest == found:
            return frozenset(found)
        found = rest


def _alone(e: Expr, some: frozenset[str]) -> bool:
    """Is there one of `some` in `e` at most, and none that `e` tests?"""
    tests = [a for part in walk_expr(e) for a in _tests(part)]
    return len(names(e) & some) < 2 and not any(names(t) & some for t in tests)


def _tests(e: Expr) -> tuple[Expr, ...]:
    match e:
        case Call("where", (test, _, _)):
            return (test,)
        case Call("and" | "or" | "not" | "<" | "<=" | ">" | ">=" | "==" | "!="):
            return (e,)
    return ()


# ------------------------------------------------------------------ scalars, shapes


def _assigned_once(block: Block) -> tuple[str, ...]:
    """Scalars with a single assignment: guard and use of one see the same value."""
    count = assignments(block)
    return tuple(n for n in _only_assigned(block) if count[n] == 1)


def _only_assigned(block: Block) -> tuple[str, ...]:
    """Scalars that nothing increments, and no loop counts."""
    changed = {
        s.target_name if isinstance(s, Add) else s.index
        for s in walk(block)
        if isinstance(s, (Add, For, While))
    }
    return tuple(n for n in assignments(block) if n not in changed)


def fixed_shapes(block: Block, known: frozenset[str]) -> dict[str, tuple[Expr, ...]]:
    """The local arrays that are made in one place, of sizes that are arguments."""
    found: dict[str, tuple[Expr, ...]] = {}

    def sized(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in found:
                return found[array][axis]
            case _:
                return e

    made = [s for s in walk(block) if isinstance(s, Alloc)]
    for s in made:
        shape = tuple(map_expr(n, sized) for n in s.shape)
        alone = sum(a.array == s.array for a in made) == 1
        if alone and all(set(mentioned(n)) <= known for n in shape):
            found[s.array] = shape
    return found


def _places(block: Block, shapes: Shapes, known: frozenset[str]) -> dict[str, Expr]:
    """The arrays that are made of places of others only, and that nothing changes:
    below which number they are.

    Those in order are below their own length. The true ones are below that of the array
    they are of, which has to be the same all through the program.
    """

    def limit(s: Alloc) -> Expr | None:
        match s:
            case Alloc(array, places="order"):
                return Extent(array, 0)
            case Alloc(source=str(of)) if of in shapes:
                return shapes[of][0]
            case Alloc(source=str(of)) if of in known:
                return Extent(of, 0)
        return None

    limits = {a: {*map(limit, made)} for a, made in found_places(block).items()}
    alone = {a: e for a, found in limits.items() if len(found) == 1 for e in found}
    return {a: e for a, e in alone.items() if e is not None}


@by_identity
def renewed(stmt: Stmt) -> frozenset[str]:
    """The names of a statement whose value, or whose extents, it may change."""
    found: set[str] = set()
    for s in walk((stmt,)):
        match s:
            case Assign(Var(name)) | Add(Var(name)) | Alloc(name) | Grow(name):
                found.add(name)
            case For(name) | While(index=name) if name:
                found.add(name)
    return frozenset(found)
