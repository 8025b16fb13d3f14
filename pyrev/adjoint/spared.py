"""Tests in a derivative that only spare a product with zero, and decide nothing.

A derivative is emitted so that a zero cotangent contributes exactly nothing, where a
partial may be infinite or nan: ``d * p if d != 0.0 else 0.0``. As a function of `d`
that is the product itself. Its derivative by `d` is `p`, at zero too, and not that of
the constant: the Hessian of a misfit, for one, is asked for where the misfit is zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pyrev.ir.nodes import (
    Add,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    If,
    Load,
    Program,
    Stmt,
    Var,
    all_names,
    blocks,
    exprs,
    fresh,
    map_expr,
    names,
    substitute,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.simplify import ZERO_F
from pyrev.parse.shapes import number

#: The places of a program and what is stored in each.
Stored = Mapping[str, list[tuple[Var | Load, Expr]]]


def spared(program: Program) -> frozenset[Expr]:
    """The selections of a derivative that spare a product with zero.

    Selections of the user's own decide what they say.

    >>> from dataclasses import replace
    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import expr_text
    >>> f = parse_text('''
    ... def f(d, p, x):
    ...     v = d * p
    ...     a = v / x if d != 0.0 else 0.0
    ...     b = d + x if d != 0.0 else 0.0
    ...     return a + b
    ... ''')
    >>> [expr_text(e) for e in spared(replace(f, derived=True))]
    ['v / x if d != 0.0 else 0.0']
    """
    if not program.derived:
        return frozenset()
    stored: dict[str, list[tuple[Var | Load, Expr]]] = {}
    for s in walk(program.body):
        if isinstance(s, (Assign, Add)):
            stored.setdefault(s.target_name, []).append((s.target, s.value))
    found: set[Expr] = set()
    for s in walk(program.body):
        for top in exprs(s):
            for e in walk_expr(top):
                if e not in found and (parts := guarded(e)) is not None:
                    d, value = parts
                    if vanishes(value, d, stored, frozenset()):
                        found.add(e)
    return frozenset(found)


def each_guarded(program: Program) -> Program:
    """A derivative with guards in the place of tests around several statements, which a
    zero cotangent leaves undone.

    Law: the same values.

    >>> from dataclasses import replace
    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, b, d_y, p):
    ...     if d_y != 0.0:
    ...         d_v = d_y / p
    ...         a[0] += d_v
    ...         b[0] -= d_v * b[1]
    ...     d_q = d_y
    ...     if d_q != 0.0:
    ...         d_y = d_q / p
    ...     a[2] = d_y
    ...     if d_y != 0.0:
    ...         a[1] += p
    ... ''')
    >>> print(program_text(each_guarded(replace(f, derived=True))))
    def f(a, b, d_y, p):
        d_v = d_y / p
        a[0] += d_v if d_y != 0.0 else 0.0
        b[0] += -(d_v * b[1]) if d_y != 0.0 else 0.0
        d_q = d_y
        d_y = d_q / p if d_q != 0.0 else 0.0
        a[2] = d_y
        if d_y != 0.0:
            a[1] += p
    """
    if not program.derived:
        return program
    body = _each_guarded(program.body)
    return program if body == program.body else replace(program, body=number(body))


def _each_guarded(block: Block) -> Block:
    out: list[Stmt] = []
    for s in block:
        s = with_blocks(s, tuple(map(_each_guarded, blocks(s))))
        match s:
            case If(Call("!=", (d, Const(0))) as test, then, ()) if _is_cotangent(d):
                runs = list(left_undone(then, d, out[-1] if out else None))
                whole = len(runs) == len(then)
                out += (_with_guard(t, test, runs[-1]) for t in then) if whole else (s,)
            case _:
                out.append(s)
    return tuple(out)


#: How the names of cotangents begin.
PREFIX = "d_"


def _is_cotangent(e: Expr) -> bool:
    """Is this called as pyrev calls cotangents? A test of the user's decides."""
    match e:
        case Var(name) | Load(name):
            return name.startswith(PREFIX)
    return False


def _with_guard(s: Stmt, test: Expr, own: frozenset[str]) -> Stmt:
    """A statement with the guard of its test, but for what sets `own` scalars: nobody
    asks for these where the test fails.
    """
    assert isinstance(s, (Assign, Add))
    if isinstance(s, Assign) and s.target_name in own:
        return s
    return replace(s, value=Call("where", (test, s.value, ZERO_F)))


def laid_open(program: Program, avoid: frozenset[str]) -> Program:
    """A derivative with a name for each product that a test spares.

    Law: the same values. The product is worked out before the test, from the names that
    are zero with it: what it is made of is then known whatever the test says, and only
    the name is selected. Its loads were made before, or pyrev had not written them.

    >>> from dataclasses import replace
    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, d, p, x):
    ...     v = d * p
    ...     a[0] += v / x if d != 0.0 else 0.0
    ... ''')
    >>> print(program_text(laid_open(replace(f, derived=True), frozenset())))
    def f(a, d, p, x):
        v = d * p
        spared = d * p / x
        a[0] += spared if d != 0.0 else 0.0
    """
    found = spared(program)
    if not found:
        return program
    params = {p.name for p in program.params}
    made = _Opened(found, {*all_names(program.body), *params, *avoid})
    return replace(program, body=number(made.block(program.body, {})))


def lifted(program: Program) -> Mapping[int, Expr]:
    """What `laid_open` made: by the statements that name a product what spares it."""
    found: dict[int, Expr] = {}
    for e in spared(program):
        parts = guarded(e)
        if parts is not None and isinstance(parts[1], Var):
            for s in walk(program.body):
                if isinstance(s, Assign) and s.target == parts[1]:
                    found[s.id] = parts[0]
    return found


class _Opened:
    def __init__(self, found: frozenset[Expr], taken: set[str]) -> None:
        self.found, self.taken = found, taken

    def block(self, block: Block, known: dict[str, Expr]) -> Block:
        """`known` are scalars of this block, and what they were set to just before."""
        out: list[Stmt] = []
        for s in block:
            if isinstance(s, (Assign, Add)):
                value = s.value
                parts = guarded(value) if value in self.found else None
                if parts is not None:
                    d, product = parts
                    own = Var(fresh("spared", self.taken))
                    whole = self.written_out(product, d, known)
                    out.append(Assign(own, whole, loc=s.loc))
                    test = Call("!=", (d, ZERO_F))
                    s = replace(s, value=Call("where", (test, own, ZERO_F)))
            inner = tuple(self.block(b, {}) for b in blocks(s))
            s = with_blocks(s, inner) if inner else s
            changed = written((s,))
            known = {
                n: e
                for n, e in known.items()
                if n not in changed and not names(e) & changed
            }
            match s:
                case Assign(Var(name), value) if name not in names(value):
                    if not any(
                        isinstance(e, Call) and e.op == "where"
                        for e in walk_expr(value)
                    ):
                        known[name] = value
            out.append(s)
        return tuple(out)

    def written_out(self, e: Expr, d: Expr, known: Mapping[str, Expr]) -> Expr:
        """A product with the factors that `d` is in, as far as they are known."""
        match e:
            case Var(name) if e != d and name in known:
                inner = self.written_out(known[name], d, known)
                through = any(part == d for part in walk_expr(inner))
                return inner if through else e
            case Call(op, args):
                return Call(op, tuple(self.written_out(a, d, known) for a in args))
        return e


def guarded(e: Expr) -> tuple[Expr, Expr] | None:
    """What is compared with zero, and what is selected unless it is zero."""
    match e:
        case Call("where", (Call("!=", (d, Const(z))), value, Const(other))):
            pass
        case Call("where", (Call("==", (d, Const(z))), Const(other), value)):
            pass
        case _:
            return None
    return (d, value) if z == 0 and other == 0 else None


def left_undone(
    stmts: Iterable[Stmt], d: Expr, before: Stmt | None
) -> Iterator[frozenset[str]]:
    """For each statement, up to the first that does more, the scalars set so far: a run
    that changes nothing else where `d` is zero.

    What may change `d` ends it. What `before` has set `d` to is zero, too.
    """
    zeros = {d}
    match before:
        case Assign(target, (Load() | Var()) as value) if target == d:
            zeros.add(value)
    own: frozenset[str] = frozenset()
    for s in stmts:
        if not isinstance(s, (Assign, Add)):
            return
        zero = vanishes(_where_zero(s.value, d), d, {}, frozenset(zeros))
        match s:
            case Assign(Var(name) as target):
                if name in names(d):
                    return
                if not zero or target not in zeros:
                    own |= {name}
                zeros = {e for e in zeros if name not in names(e)}
                zeros |= {target} if zero else set()
            case Assign(target) if target not in zeros or not zero:
                return
            case Add() if not zero:
                return
        yield own
        if written((s,)) & names(d):
            return


def _where_zero(e: Expr, d: Expr) -> Expr:
    """`e` where `d` is zero."""
    return map_expr(e, lambda part: ZERO_F if _guarded_by(part, d) else part)


def _guarded_by(e: Expr, d: Expr) -> bool:
    parts = guarded(e)
    return parts is not None and parts[0] == d


def vanishes(e: Expr, d: Expr, stored: Stored, asked: frozenset[Expr]) -> bool:
    """Is `e` zero where `d` is, if all that it is made of is finite?

    `stored` says what names hold, and those in `asked` are zero with `d`.
    """
    if e == d or e in asked:
        return True
    match e:
        case Const(value):
            return value == 0
        case Var(name) | Load(name, _):
            values = [_there(e, *s) for s in stored.get(name, ())]
            asked |= {e}
            return bool(values) and all(
                v is not None and vanishes(v, d, stored, asked) for v in values
            )
        case Call("neg" | "float" | "float32" | "float64", (a,)):
            return vanishes(a, d, stored, asked)
        case Call("*", args):
            return any(vanishes(a, d, stored, asked) for a in args)
        case Call("/", (a, _)):
            return vanishes(a, d, stored, asked)
        case Call("+" | "-", args):
            return all(vanishes(a, d, stored, asked) for a in args)
        case Call("where", (_, *args)):
            return all(vanishes(a, d, stored, asked) for a in args)
    return False


def _there(e: Var | Load, target: Var | Load, value: Expr) -> Expr | None:
    """What a statement stores, as it is where `e` reads it; None if not known."""
    if e == target or not isinstance(e, Load) or not isinstance(target, Load):
        return value
    moved: dict[str, Expr] = {}
    for k, at in zip(target.index, e.index, strict=True):
        if isinstance(k, Var) and moved.setdefault(k.name, at) == at:
            continue
        if k != at:
            return None
    return substitute(value, moved)
