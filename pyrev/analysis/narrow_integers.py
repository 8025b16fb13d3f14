"""Integers of fewer bits as Python's own, wherever something is counted with them.

A bound, a size, a subscript or a test is rearranged by what follows: `k + i < n` is
made `i < n - k`. In the arithmetic of an `np.uint8` that would go around where the
user's own does not. So such a value becomes a Python integer there, made with the
arithmetic that the user wrote.

What follows moves signs, too: ``a + -k`` becomes ``a - k``, which for an unsigned `k`
is another number, and for the least of the signed ones. So no integer of NumPy's has a
sign behind this pass: it is taken from zero, in its own arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from pyrev.ir.affine import COMPARISONS
from pyrev.ir.diagnostics import ArgumentError
from pyrev.ir.dtypes import (
    NARROW,
    WEAK_INT,
    as_float,
    call_dtype,
    concrete,
    expr_dtype,
    is_float,
)
from pyrev.ir.nodes import (
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Load,
    Loc,
    Program,
    Stmt,
    Var,
    assigned_scalars,
    blocks,
    children,
    exprs,
    loop_indices,
    map_expr,
    map_whole,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.ranges import Interval, interval_of
from pyrev.ir.text import expr_text


def widened(program: Program, types: Mapping[str, str]) -> Program:
    """`program` with `int(...)` around narrow integers that are counted with.

    Raises `ArgumentError` where sizes are counted in so few bits, and where the path
    decides how many they are.

    Law: the same values for all arguments; signs and negative increments are of floats
    and of Python's integers only. `types` are the dtypes of all names.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, k):
    ...     for i in range(k):
    ...         if i + k > 3:
    ...             a[i] += k * 2.0
    ... ''')
    >>> types = {"a": "float64", "k": "uint8", "i": "weak int"}
    >>> print(program_text(widened(f, types)))
    def f(a, k):
        for i in range(int(k)):
            if int(i + k) > 3:
                a[i] += k * 2.0
    """
    made = _Signs(program, types).block(program.body)
    if NARROW & set(types.values()):
        _Widths(replace(program, body=made), types)
        made = _Wide(types).block(made)
    return replace(program, body=made)


class _Signs:
    """Increments and signs as the dtypes want them.

    The parser leaves ``t -= k`` as a negative increment, ``t += -k`` as an assignment.
    """

    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.types = types
        #: Sizes and numbers of a call are looked at as a whole (`integer_ranges`).
        self.whole = {p.name for p in program.params} - written(program.body)
        #: What is multiplied by a cotangent of one is a slope of the user's.
        sloped = any(
            isinstance(e, Call) and e.op in ("along", "along_steep")
            for s in walk(program.body)
            for top in exprs(s)
            for e in walk_expr(top)
        )
        self.any = sloped or any("int" in dtype for dtype in types.values())

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Add(target, Call("neg", (x,))) if self.wraps(x):
                if is_float(expr_dtype(target, self.types)):
                    x = as_float(self.signed(x), self.types, target)
                    return replace(stmt, value=Call("neg", (x,), loc=x.loc))
                value = Call("-", (target, self.signed(x)), loc=stmt.loc)
                return Assign(target, value, loc=stmt.loc, id=stmt.id, note=stmt.note)
            case Add(target, Const(int(value))) if value < 0 and self.wraps(target):
                less = Call("-", (target, Const(-value)), loc=stmt.loc)
                return Assign(target, less, loc=stmt.loc, id=stmt.id, note=stmt.note)
            case Assign(target, Call("+", (a, Call("neg") as b))) if a == target:
                stmt = Add(target, b, loc=stmt.loc, id=stmt.id, note=stmt.note)
        if not self.any:
            return with_blocks(stmt, tuple(map(self.block, blocks(stmt))))
        bare = with_blocks(stmt, tuple(() for _ in blocks(stmt)))
        inner = tuple(map(self.block, blocks(stmt)))
        counts = isinstance(stmt, (For, Alloc))
        return with_blocks(map_whole(bare, lambda e: self.signed(e, counts)), inner)

    def wraps(self, e: Expr) -> bool:
        """Is it an integer of NumPy's that may be any?"""
        dtype = expr_dtype(e, self.types)
        if dtype == "int64":
            return any(
                isinstance(part, Load)
                or isinstance(part, Var)
                and part.name not in self.whole
                and self.types[part.name] == "int64"
                for part in walk_expr(e)
            )
        return dtype in NARROW

    def signed(self, e: Expr, counts: bool = False) -> Expr:
        """`e` without signs before integers of NumPy's.

        What is counted in 64 bits keeps its own: an array has no axis that is as long.
        """
        counted = counts or isinstance(e, Load)
        old = children(e)
        new = tuple(self.signed(part, counted) for part in old)
        if any(a is not b for a, b in zip(new, old, strict=True)):
            e = rebuild(e, new)
        match e:
            case Call("*", (Const(float(one)), x)) if one == 1.0:
                return x if is_float(expr_dtype(x, self.types)) else e
            case Call("neg", (x,)) if self.wraps(x):
                if counts and expr_dtype(x, self.types) == "int64":
                    return e
                return Call("-", (ZERO, x), loc=e.loc)
            case Call("+" | "-" as op, (a, Const(int(value)) as b)) if value < 0:
                dtype = expr_dtype(e, self.types)
                if dtype in NARROW and -value > np.iinfo(dtype).max:
                    return Call(op, (a, Call(dtype, (b,))), loc=e.loc)
        return e


class _Widths:
    """Looks for integers that are counted in more bits on one path than on another.

    ``-(3 if c else k)`` is -3 or, for an unsigned `k`, no negative number. Compiled
    code has one dtype for a value, whatever the path.
    """

    def __init__(self, program: Program, types: Mapping[str, str]) -> None:
        self.types = types
        self.found = {n: frozenset({dtype}) for n, dtype in types.items()}
        scalars = assigned_scalars(program.body)
        for name in set(scalars) - {p.name for p in program.params}:
            self.found[name] = frozenset()
        sets = [s for s in walk(program.body) if isinstance(s, (Assign, Add))]
        for name in loop_indices(program.body):
            self.found[name] = frozenset({WEAK_INT})
        self.final = False
        while True:
            before = dict(self.found)
            for s in sets:
                if isinstance(s.target, Var):
                    more = self.kinds(whole(s), s.loc)
                    self.found[s.target.name] |= more
            if before == self.found:
                break
        self.final = True
        for stmt in walk(program.body):
            for top in exprs(stmt):
                self.kinds(top, stmt.loc)
            if isinstance(stmt, Add):
                self.kinds(whole(stmt), stmt.loc)

    def kinds(self, e: Expr, loc: Loc) -> frozenset[str]:
        """The dtypes that `e` may have."""
        parts = [self.kinds(part, loc) for part in children(e)]
        match e:
            case Var(name) | Load(name):
                return self.found.get(name, frozenset({"float64"}))
            case Call("where", _):
                return parts[1] | parts[2]
            case Call("and" | "or" | "min" | "max", _):
                return frozenset().union(*parts)
            case Call(op, args):
                every = [call_dtype(op, list(k), args) for k in product(*parts)]
                made = frozenset(k for k in every if k is not None)
                if self.final and op in _MODULAR:
                    self.refuse(e, made, loc)
                return made
        return frozenset({expr_dtype(e, self.types)})

    def refuse(self, e: Expr, made: frozenset[str], loc: Loc) -> None:
        widths = {concrete(k) for k in made if not is_float(k)}
        if len(widths) < 2 or not widths & NARROW:
            return
        if widths == {"int32", "int64"} and any(
            isinstance(part, Extent) for part in walk_expr(e)
        ):
            return  # a size or a place in an array: what has 32 bits has enough
        around, ends = self.range(e), [np.iinfo(k) for k in widths]
        if around and all(k.min <= around.low and around.high <= k.max for k in ends):
            return
        e = map_expr(e, _as_written)
        loc = e.loc if e.loc.line else loc
        where = f"{loc.place}: " if loc.line else ""
        either = " or ".join(sorted(widths))
        raise ArgumentError(
            f"{where}`{expr_text(e)}` is counted in {either}, as the path decides;"
            " write int(...) around what has so few bits"
        )

    def range(self, e: Expr) -> Interval | None:
        """Between what `e` lies in exact arithmetic; None if that is not known."""
        match e:
            case Const(int(value)):
                return Interval(value, value)
            case Call(op, args):
                parts = [self.range(a) for a in args[op == "where" :]]
                sure = [p for p in parts if p is not None]
                return interval_of(op, sure) if len(sure) == len(parts) else None
        dtype = expr_dtype(e, self.types)
        if dtype not in NARROW:
            return None
        return Interval(np.iinfo(dtype).min, np.iinfo(dtype).max)


def _as_written(e: Expr) -> Expr:
    match e:
        case Call("-", (Const(0), x)):
            return Call("neg", (x,), loc=e.loc)
    return e


#: Arithmetic that may go around.
_MODULAR = frozenset({"+", "-", "*", "//", "%", "**", "neg", "abs", "<<", "~"})


def whole(s: Assign | Add) -> Expr:
    """What the target of a statement holds behind it."""
    return s.value if isinstance(s, Assign) else Call("+", (s.target, s.value))


class _Wide:
    def __init__(self, types: Mapping[str, str]) -> None:
        self.types = types

    def block(self, block: Block) -> Block:
        return tuple(map(self.statement, block))

    def statement(self, stmt: Stmt) -> Stmt:
        inner = tuple(map(self.block, blocks(stmt)))
        bare = with_blocks(stmt, tuple(() for _ in inner))
        counts = isinstance(stmt, For)
        bare = map_whole(bare, self.count if counts else self.value)
        if isinstance(stmt, Alloc):
            assert isinstance(bare, Alloc)
            bare = replace(bare, shape=tuple(map(self.count, stmt.shape)))
        return with_blocks(bare, inner)

    def value(self, e: Expr) -> Expr:
        """`e` in its own dtype; its subscripts and the sides of its comparisons are
        widened (`count`).
        """
        match e:
            case Load(_, index):
                return replace(e, index=tuple(map(self.subscript, index)))
            case Call(op, args) if op in COMPARISONS:
                return replace(e, args=tuple(map(self.count, args)))
            case Call(_, args):
                return replace(e, args=tuple(map(self.value, args)))
        return e

    def subscript(self, e: Expr) -> Expr:
        """An element that is a subscript by itself: nothing is rearranged then."""
        return self.value(e) if isinstance(e, Load) else self.count(e)

    def count(self, e: Expr) -> Expr:
        """An integer that is counted with."""
        match e:
            case Call("where", (test, *rest)):
                parts = (self.value(test), *map(self.count, rest))
                return replace(e, args=parts)
            case Call("min" | "max", args):
                return replace(e, args=tuple(map(self.count, args)))
        dtype = expr_dtype(e, self.types)
        if dtype in NARROW:
            self.refuse(e, dtype)
            return Call("int", (self.value(e),), loc=e.loc)
        match e:
            case Call(op, args) if op not in COMPARISONS:
                return replace(e, args=tuple(map(self.count, args)))
        return self.value(e)

    def refuse(self, e: Expr, dtype: str) -> None:
        """Sizes do not fit, and differences go around: a slice has both."""
        match e:
            case Call("+" | "-" | "*" | "//" | "%", args):
                sized = any(isinstance(p, Extent) for p in walk_expr(e))
                both = all(expr_dtype(a, self.types) in NARROW for a in args)
                around = e.op == "-" and both and dtype[0] == "u"
                # No array has an axis that an int32 cannot count.
                if not around and (not sized or dtype == "int32"):
                    return
                name = next(
                    p
                    for p in walk_expr(e)
                    if isinstance(p, (Var, Load))
                    and expr_dtype(p, self.types) in NARROW
                )
                at = e.loc if e.loc.line else name.loc
                where = f"{at.place}: " if at.line else ""
                raise ArgumentError(
                    f"{where}`{expr_text(e)}` is counted in {dtype}, which goes around;"
                    f" write int({expr_text(name)})"
                )
