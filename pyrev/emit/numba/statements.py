"""Statements and loops of one function, and the functions of sums and rows."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import assert_never

from pyrev.emit.numba.checks import guards, sizes, unless
from pyrev.emit.numba.module import Mode, Module
from pyrev.emit.numba.trees import assign, receive, result, returned
from pyrev.emit.numba.typed import cast, printed, typed, zero
from pyrev.ir.dtypes import NARROW, concrete, expr_dtype, promote
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    For,
    Grow,
    If,
    Load,
    Restart,
    Return,
    Tell,
    Var,
    While,
    blocks,
    exprs,
    fresh,
    like,
    walk,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.printer import tag
from pyrev.ir.simplify import add_int
from pyrev.ir.text import (
    alloc_tree,
    call,
    expr_text,
    expr_tree,
    name,
    numpy_name,
    one_call,
    store,
    subscript,
)
from pyrev.ir.trip_counts import fixed_trip, iterations, runs
from pyrev.schedule.sums import sums_of

#: A longer display of values is a list at first in CPython's bytecode, which Numba
#: reads only where none of the values branches.
DISPLAY = 30
#: More results of one function than this have one name.
FEW_SUMS = 4


def plain(m: Module, block: Block, mode: Mode) -> list[ast.stmt]:
    """Statements one by one, each after the tests that it needs in this mode."""
    out: list[ast.stmt] = []
    done = 0
    for k, s in enumerate(block):
        if k < done:
            continue
        match s:
            case Assign(target, value) | Add(target, value):
                out.extend(guards(m, s, (value, target), mode))
                out.append(tag(stored(m, s), s.loc))
            case Alloc(opaque=Opaque() as opaque):
                made = one_call(block, k) or (s,)
                done = k + len(made)
                out.extend(guards(m, s, opaque.numbers, mode))
                out.append(tag(outside(m, made), s.loc))
            case Alloc():
                out.extend(guards(m, s, exprs(s), mode))
                out.extend(sizes(m, s, mode))
                out.append(tag(allocated(m, s), s.loc))
            case For(lo=lo, hi=hi, step=step):
                out.extend(guards(m, s, (lo, hi, step), mode))
                out.extend(accumulated(m, s, mode))
            case While():
                out.extend(early(m, s, plain(m, s.body, mode), mode))
            case Check(test, error, values=told):
                out.extend(guards(m, s, (test,), mode))
                out.append(unless(m, test, error, s.arguments, s.loc, mode, told))
            case Grow(array):
                room = call("np.empty_like", name(array))
                both = ast.Tuple([name(array), room], ast.Load())
                out.append(assign(array, call("np.concatenate", both)))
            case If(test, then, orelse):
                out.extend(guards(m, s, (test,), mode))
                inner = plain(m, then, mode), plain(m, orelse, mode)
                out.append(tag(ast.If(printed(m, test), *inner), s.loc))
            case Return(values, single):
                out.extend(guards(m, s, values, mode))
                trees = [printed(m, v) for v in values]
                if len(trees) > DISPLAY:
                    out.extend(named(m, s, trees))
                out.append(tag(result(trees, single), s.loc))
            case Tell() | Restart():
                raise AssertionError("no statement of compiled code")
            case _:
                assert_never(s)
    return out


def named(m: Module, s: Return, trees: list[ast.expr]) -> Iterator[ast.stmt]:
    """Give names to the `trees` that branch, in their places."""
    for k, tree in enumerate(trees):
        if any(isinstance(t, (ast.IfExp, ast.BoolOp)) for t in ast.walk(tree)):
            value = fresh("value", m.taken)
            yield tag(assign(value, tree), s.loc)
            trees[k] = name(value)


def for_tree(m: Module, f: For, body: list[ast.stmt]) -> ast.stmt:
    """``for`` over the range of a loop."""
    tree = ast.For(store(name(f.index)), span(m, f), body, [], None)
    return tag(tree, f.loc, f.note)


def early(m: Module, s: While, body: list[ast.stmt], mode: Mode) -> list[ast.stmt]:
    """A loop that ends when its test fails."""
    test = printed(m, s.test)
    tests = guards(m, s, (s.test,), mode)
    leave = ast.If(ast.UnaryOp(ast.Not(), test), [ast.Break()], [])
    if not s.index:
        if not tests:
            return [tag(ast.While(test, body, []), s.loc, s.note)]
        always = ast.Constant(True)
        return [tag(ast.While(always, [*tests, leave, *body], []), s.loc, s.note)]
    over = For(s.index, s.lo, s.hi, s.step, (), loc=s.loc, note=s.note)
    before = guards(m, s, (s.lo, s.hi, s.step), mode)
    return [*before, for_tree(m, over, [*tests, leave, *body])]


def span(m: Module, f: For) -> ast.expr:
    """``range(...)``: Numba has no `reversed`, its values are written backwards."""
    lo, hi, step = f.lo, f.hi, f.step
    if f.reverse and f.step in (ONE, Const(-1)):
        back = 1 if f.step == ONE else -1
        lo, hi, step = add_int(f.hi, -back), add_int(f.lo, -back), Const(-back)
    elif f.reverse:
        last = Call("-", (iterations(f, clamped=True), ONE))
        lo = Call("+", (f.lo, Call("*", (last, f.step))))
        hi = Call("-", (f.lo, f.step))
        step = Call("neg", (f.step,))
        if isinstance(f.step, Const):
            step = Const(-f.step.value)
    elif isinstance(f.step, Const) and not (
        m.subscripts.is_affine(f.lo) and m.subscripts.is_affine(f.hi)
    ):
        # Bounds that are data may be so far apart that Numba's count goes around.
        hi = Call("max" if f.step.value > 0 else "min", (hi, lo))
    args = [printed(m, e) for e in (lo, hi, step)]
    if step == ONE:
        args.pop()
        if lo == ZERO:
            args.pop(0)
    return call("range", *args)


# --------------------------------------------------------------------------------- sums


def accumulated(m: Module, f: For, mode: Mode) -> list[ast.stmt]:
    """A loop, with each sum into one place kept in a local while it runs."""
    if f.apart and not m.can_fail(f.body) and m.reassociation.keeps(f, f.body):
        return [over_row(m, f, mode)]
    innermost = not any(map(blocks, f.body))
    targets = sums_of(f) if innermost or not m.can_fail(f.body) else []
    if not targets:
        return [for_tree(m, f, plain(m, f.body, mode))]
    pairs = {}
    for target in targets:
        base = target.name if isinstance(target, Var) else target.array
        local = fresh(f"sum_{base}", m.taken)
        m.types[local] = m.types[base]
        pairs[target] = Var(local)
    body = tuple(
        replace(s, target=pairs[s.target])
        if isinstance(s, Add) and s.target in pairs
        else s
        for s in f.body
    )
    inner = replace(f, body=body)
    m.faults.follow((inner,), (f,))
    lines: list[ast.stmt] = []
    if m.reassociation.allowed(f, inner, targets):
        locals_ = [pairs[t].name for t in targets]
        line, results = summed(m, f, inner, locals_, mode)
        lines.append(line)
        for t, result in zip(targets, results, strict=True):
            lines.append(tag(stored(m, Add(t, result)), f.loc))
        return _if_any(m, f, lines)
    loops = any(isinstance(s, (For, While)) for s in walk(f.body))
    loose = not loops and m.reassociation.beside(f, inner, targets)
    scalars = [t for t in targets if isinstance(t, Var)]
    if len(scalars) == len(targets):
        return [*_running(m, f, scalars if loose else (), mode)]
    for t in targets:
        lines.append(assign(pairs[t].name, printed(m, t)))
    lines += _running(m, inner, list(pairs.values()) if loose else (), mode)
    for t in targets:
        lines.append(tag(stored(m, Assign(t, pairs[t])), f.loc))
    return _if_any(m, f, lines)


def _running(
    m: Module, f: For, targets: Sequence[Var], mode: Mode
) -> Iterator[ast.stmt]:
    """A loop that adds to `targets` in any order if it is long enough: where nobody
    knows, it asks.
    """
    many = m.reassociation.many(f) if targets else False
    if many is None and len(f.body) > m.cpu.repeated_statements:
        many = False
    forms = []
    for loose in (True, False):
        if many is None or many == loose:
            with in_any_order(m, f, targets if loose else ()):
                forms.append([for_tree(m, f, plain(m, f.body, mode))])
    if len(forms) == 1:
        yield from forms[0]
        return
    long = Call(">=", (iterations(f), Const(m.cpu.any_order_iterations)))
    yield ast.If(printed(m, long), *forms)


def _if_any(m: Module, f: For, lines: list[ast.stmt]) -> list[ast.stmt]:
    # The place of an empty sum need not exist.
    if fixed_trip(f):
        return lines
    return [ast.If(printed(m, runs(f)), lines, [])]


@contextmanager
def in_any_order(m: Module, f: For, targets: Sequence[Var]) -> Iterator[None]:
    """While this lasts, what is added to the targets is added in any order.

    The flags are those of the additions alone: the rest of a loop, which may write
    arrays, keeps its rounding.
    """
    if targets and not m.adding:
        m.adding = fresh("_add", m.taken)
        added = ast.BinOp(name("a"), ast.Add(), name("b"))
        m.define(m.adding, ("a", "b"), [ast.Return(added)], "SUM", f.loc)
    for t in targets:
        m.reassociated[f"{f.loc.place}: the sum of {t.name} over {f.index}"] = None
    m.loose = frozenset(targets)
    yield
    m.loose = frozenset()


def over_row(m: Module, f: For, mode: Mode) -> ast.stmt:
    """The call of the function that runs over one row."""
    function = fresh(f"_{m.program.name}_row", m.taken)
    inputs = m.inputs((f,))
    lines: list[ast.stmt] = [for_tree(m, f, plain(m, f.body, mode))]
    m.define(function, inputs, lines, "SERIAL", f.loc)
    return tag(ast.Expr(call(function, *map(name, inputs))), f.loc)


def summed(
    m: Module, f: For, inner: For, locals_: Sequence[str], mode: Mode
) -> tuple[ast.stmt, Sequence[Expr]]:
    """A call of a function that sums over one loop, in any order, and the sums."""
    function = fresh(f"_{m.program.name}_sum", m.taken)
    inputs = [n for n in m.inputs((inner,)) if n not in locals_]
    start = [assign(n, zero(m.types[n])) for n in locals_]
    body = for_tree(m, inner, plain(m, inner.body, mode))
    lines = [*start, body, returned(tuple(locals_))]
    m.define(function, inputs, lines, "SUM", f.loc)
    where = f.loc.place
    for s in f.body:
        if isinstance(s, Add):
            text = expr_text(s.target)
            m.reassociated[f"{where}: the sum of {text} over {f.index}"] = None
    made = call(function, *map(name, inputs))
    kinds = {m.types[n] for n in locals_}
    if len(locals_) <= FEW_SUMS or len(kinds) > 1:
        return receive(tuple(locals_), made), [Var(n) for n in locals_]
    sums = fresh("sums", m.taken)
    (m.types[sums],) = kinds
    return assign(sums, made), [Load(sums, (Const(k),)) for k in range(len(locals_))]


# ------------------------------------------------------------------------------- leaves


def stored(m: Module, s: Assign | Add) -> ast.stmt:
    """An assignment, or what is added to a place."""
    kind = expr_dtype(s.target, m.types)
    if (
        isinstance(s, Add)
        and isinstance(s.target, Var)
        and s.target not in m.loose
        and kind in NARROW
    ):
        # Numba's own sum would have 64 bits.
        s = Assign(s.target, Call("+", (s.target, s.value)), loc=s.loc)
    target = store(printed(m, s.target))
    value, dtype = typed(m, s.value)
    if isinstance(s, Add) and s.target in m.loose:
        added = call(
            m.adding, printed(m, s.target), expr_tree(cast(value, dtype, kind))
        )
        return ast.Assign([target], added, None)
    if isinstance(s, Assign):
        if isinstance(s.target, Var):
            value = cast(value, dtype, concrete(kind))
        return ast.Assign([target], expr_tree(value), None)
    wide = promote(kind, dtype)
    if wide == "float32" or isinstance(s.target, Var):
        value = cast(value, dtype, concrete(wide))
    match value:
        case Call("neg", (positive,)):
            return ast.AugAssign(target, ast.Sub(), expr_tree(positive))  # type: ignore[arg-type]
    return ast.AugAssign(target, ast.Add(), expr_tree(value))  # type: ignore[arg-type]


def outside(m: Module, made: Sequence[Alloc]) -> ast.stmt:
    """A call of a function that asks CPython for the results of an opaque call."""
    opaque = made[0].opaque
    assert opaque is not None
    m.objects = True
    function = fresh(f"_{m.program.name}_{opaque.function}", m.taken)
    # What is computed for an argument has a name inside.
    params = [
        a.name if isinstance(a, Var) else fresh("number", m.taken)
        for a in opaque.arguments
    ]
    run = call("as_it_is", name(opaque.function), *map(name, params))
    results = fresh("results", m.taken)
    inside: list[ast.stmt] = [assign(results, run)]
    kinds: list[ast.keyword] = []
    extents: dict[str, Expr] = {}
    for s in made:
        assert s.opaque is not None
        value: ast.expr = name(results)
        if opaque.results > 1:
            value = subscript(value, [ast.Constant(s.opaque.which)])
            value = call("np.asarray", value)
        dtype = concrete(m.types[s.array])
        if s.opaque.number:
            one = [ast.Constant(1), value]
            value = call("np.full", *one, dtype=name(numpy_name(dtype)))
        else:  # compiled code believes what it is told of an array
            own = [fresh("size", m.taken) for _ in s.shape]
            extents |= zip(own, s.shape, strict=True)
            value = call("with_sizes", value, *map(name, own))
        axes = ", ".join([":"] * (len(s.shape) - 1) + ["::1"])
        inside.append(assign(s.array, value))
        kinds.append(ast.keyword(s.array, ast.Constant(f"{dtype}[{axes}]")))
    mode = ast.Call(name("objmode"), [], kinds)
    body: list[ast.stmt] = [ast.With([ast.withitem(mode, None)], inside)]
    arrays = tuple(s.array for s in made)
    body.append(returned(arrays))
    unique = list(dict.fromkeys([opaque.function, *params]))
    m.define(function, [*unique, *extents], body, "SERIAL", made[0].loc)
    trees = dict(zip(params, opaque.arguments, strict=True))
    given = [name(opaque.function), *(printed(m, trees[n]) for n in unique[1:])]
    given += [printed(m, size) for size in extents.values()]
    return receive(arrays, call(function, *given))


def allocated(m: Module, s: Alloc) -> ast.stmt:
    """A new array."""
    if s.places == "order" and s.source is not None:
        # Numba has no other name for what is stable.
        stable = ast.Constant("mergesort")
        return assign(s.array, call("np.argsort", name(s.source), kind=stable))
    if s.places:
        return assign(s.array, alloc_tree(s, m.ranks))
    dtype = concrete(m.types[s.array])
    shape = tuple(typed(m, n)[0] for n in s.shape)
    fill = s.fill
    if fill is not None and not (isinstance(fill, Const) and fill.value in (0, 1)):
        fill = cast(*typed(m, fill), dtype)
    copied = s.source is not None and concrete(m.types[s.source]) == dtype
    kind = like(s.source) if s.source and copied else dtype
    plain = replace(s, shape=shape, fill=fill, dtype=kind)
    return assign(s.array, alloc_tree(plain, m.ranks))
