"""How the IR looks: what a node is called in Python, and which form is the shortest.

`expr_text`, `block_text` and `program_text` print any stage of the pipeline in the
language the user writes; `expr_tree` and `block_tree` are the same as `ast` nodes, for
the emitters, which add what only they know.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping, Sequence
from string import Formatter
from typing import assert_never

from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    DisjointWrites,
    Dtype,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loop,
    Program,
    Promoted,
    Proof,
    Restart,
    Return,
    Saved,
    Stmt,
    Tell,
    Var,
    While,
    exprs,
    like,
    walk,
    walk_expr,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.printer import tag, write

BINARY: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "&": ast.BitAnd,
    "|": ast.BitOr,
    "^": ast.BitXor,
    "<<": ast.LShift,
    ">>": ast.RShift,
}

COMPARE: dict[str, type[ast.cmpop]] = {
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "==": ast.Eq,
    "!=": ast.NotEq,
}

# What an operation is called where it is a function.
FUNCTIONS = {op: p.python for op, p in PRIMITIVES.items() if p.python}

_IN_PLACE = {"*": ast.Mult, "/": ast.Div}

Ranks = Mapping[str, int]


# -------------------------------------------------------------------- tree helpers


def name(text: str) -> ast.expr:
    """``a``, ``np.sin``: a dotted name."""
    first, *rest = text.split(".")
    node: ast.expr = ast.Name(first, ast.Load())
    for attr in rest:
        node = ast.Attribute(node, attr, ast.Load())
    return node


def call(function: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """``function(args, keyword=value)``"""
    return ast.Call(
        name(function), list(args), [ast.keyword(k, v) for k, v in keywords.items()]
    )


def subscript(array: ast.expr, index: list[ast.expr]) -> ast.Subscript:
    """``array[index]``"""
    where = index[0] if len(index) == 1 else ast.Tuple(index, ast.Load())
    return ast.Subscript(array, where, ast.Load())


def constant(value: float) -> ast.expr:
    """A literal that evaluates to `value`, its sign included."""
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            return name("np.nan")
        return name("np.inf") if value > 0 else minus(name("np.inf"))
    if value < 0 or (isinstance(value, float) and math.copysign(1.0, value) < 0):
        return minus(ast.Constant(-value))
    return ast.Constant(value)


def minus(operand: ast.expr) -> ast.expr:
    """``-operand``"""
    return ast.UnaryOp(ast.USub(), operand)


def error_modules(block: Block) -> list[str]:
    """The modules of the user's exceptions that a block raises."""
    errors = (s.error for s in walk(block) if isinstance(s, Check))
    return sorted({e.rpartition(".")[0] for e in errors} - {""})


# -------------------------------------------------------------------- expressions


def negated(e: Expr) -> Expr | None:
    """`x` if `e` is ``-x`` as written: a negation or a negative literal."""
    match e:
        case Call("neg", (x,)):
            return x
        case Const(value) if value < 0:
            return Const(-value)
        case _:
            return None


def expr_tree(e: Expr) -> ast.expr:
    """The expression in Python.

    >>> from pyrev.ir.nodes import Call, Const, Var
    >>> x, y = Var("x"), Var("y")
    >>> expr_text(Call("+", (x, Call("neg", (Call("*", (x, y)),)))))
    'x - x * y'
    >>> expr_text(Call("where", (Call("<", (x, y)), Call("sin", (x,)), Const(-2.0))))
    'np.sin(x) if x < y else -2.0'
    """
    match e:
        case Const(value):
            return constant(value)
        case Var(text):
            return name(text)
        case Load(array, index):
            return subscript(name(array), [expr_tree(i) for i in index])
        case Extent(array, axis):
            return subscript(name(f"{array}.shape"), [ast.Constant(axis)])
        case Saved(at, inner):
            return call("saved", ast.Constant(at), expr_tree(inner))
        case Call(op, args):
            return _call_tree(op, args)
        case _:
            assert_never(e)


def _call_tree(op: str, args: tuple[Expr, ...]) -> ast.expr:
    match op, args:
        case "neg", (Call("*", (Const(float(k)), x)),) if k > 0 and math.isfinite(k):
            # Python negates the number; the bits are the same.
            return ast.BinOp(constant(-k), ast.Mult(), expr_tree(x))
        case "neg", (x,):
            return minus(expr_tree(x))
        case "not", (x,):
            return ast.UnaryOp(ast.Not(), expr_tree(x))
        case "~", (x,):
            return ast.UnaryOp(ast.Invert(), expr_tree(x))
        case "probe", (x, _):
            return expr_tree(x)
        case "where", (test, a, b):
            return ast.IfExp(expr_tree(test), expr_tree(a), expr_tree(b))
        case "and" | "or", _:
            word = ast.And() if op == "and" else ast.Or()
            values = [expr_tree(a) for a in _leftmost(op, args)]
            return ast.BoolOp(word, values)
        case "min" | "max", _:
            return call(op, *map(expr_tree, _leftmost(op, args)))
        case "+" | "-", (a, b) if (positive := negated(b)) is not None:
            flipped = ast.Sub() if op == "+" else ast.Add()
            return ast.BinOp(expr_tree(a), flipped, expr_tree(positive))
        case _, (a, b) if op in BINARY:
            return ast.BinOp(expr_tree(a), BINARY[op](), expr_tree(b))
        case _, (a, b) if op in COMPARE:
            return ast.Compare(expr_tree(a), [COMPARE[op]()], [expr_tree(b)])
        case _:
            # What is no operation of the table is a function of the generated module.
            return call(FUNCTIONS.get(op, op), *map(expr_tree, args))


def _leftmost(op: str, args: tuple[Expr, ...]) -> list[Expr]:
    """``min(min(a, b), c)`` is ``min(a, b, c)``; on the right it would be another."""
    match args[0]:
        case Call(inner, more) if inner == op:
            return [*_leftmost(op, more), *args[1:]]
        case _:
            return list(args)


# -------------------------------------------------------------------- statements


def array_ranks(block: Block) -> dict[str, int]:
    """How many axes each array has, as far as its uses in the block tell."""
    ranks: dict[str, int] = {}
    for s in walk(block):
        if isinstance(s, Alloc):
            ranks[s.array] = len(s.shape)
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load):
                    ranks[e.array] = len(e.index)
    return ranks


def store(tree: ast.expr) -> ast.expr:
    """The same name or element, as a target."""
    assert isinstance(tree, (ast.Name, ast.Subscript))
    tree.ctx = ast.Store()
    return tree


def opaque_tree(o: Opaque) -> ast.Call:
    """The call of a function that runs as it is."""
    return call(o.function, *map(expr_tree, o.arguments))


def one_call(block: Sequence[object], k: int) -> tuple[Alloc, ...]:
    """The new arrays from place `k` of a block on that one call gives; nothing where
    that has one result.
    """
    first = block[k]
    if not isinstance(first, Alloc) or first.opaque is None:
        return ()
    found = [first]
    for s in block[k + 1 :]:
        if not isinstance(s, Alloc) or not first.opaque.same_call(s.opaque):
            break
        # A result may not take the place of an argument of the call.
        if any(t.array in first.sources or t.array == s.array for t in found):
            break
        found.append(s)
    return tuple(found) if first.opaque.results > 1 else ()


def _discarded() -> ast.expr:
    """The name of a result that nothing reads, whatever else has the name."""
    made = ast.Name("_", ast.Store())
    made._pyrev_discarded = True  # type: ignore[attr-defined]
    return made


def several_trees(made: Sequence[Alloc]) -> list[ast.stmt]:
    """``a, b = f(x)``: the statements for several results of one call."""
    opaque = made[0].opaque
    assert opaque is not None
    own = {s.opaque.which: s for s in made if s.opaque is not None}
    targets: list[ast.expr] = [
        ast.Name(own[k].array, ast.Store()) if k in own else _discarded()
        for k in range(opaque.results)
    ]
    out: list[ast.stmt] = [
        _assign(ast.Tuple(targets, ast.Store()), opaque_tree(opaque))
    ]
    for s in made:
        if s.opaque is not None and s.opaque.number:
            whole = call("np.full", ast.Constant(1), name(s.array))
            out.append(_assign(store(name(s.array)), whole))
    return out


def negation(test: Expr) -> Expr:
    """``not test``, without a double negation."""
    match test:
        case Call("not", (inner,)):
            return inner
        case _:
            return Call("not", (test,))


def range_tree(loop: Loop) -> ast.expr:
    """``range(...)`` or ``reversed(range(...))``, without the arguments it implies."""
    args = [expr_tree(loop.lo), expr_tree(loop.hi), expr_tree(loop.step)]
    if loop.step == Const(1):
        args.pop()
        if loop.lo == Const(0):
            args.pop(0)
    bounds = call("range", *args)
    if isinstance(loop, For) and loop.reverse:
        return call("reversed", bounds)
    return bounds


def numpy_name(dtype: str) -> str:
    """What NumPy calls a dtype: ``np.bool_``, ``np.float32``."""
    return "np.bool_" if dtype == "bool" else f"np.{dtype}"


def _dtype_tree(dtype: Dtype, ranks: Ranks) -> ast.expr:
    match dtype:
        case str():
            return name(numpy_name(dtype))
        case Promoted((Var(value),)) if value in ranks:
            return name(f"{value}.dtype")
    return call("np.result_type", *map(_kind_tree, dtype.parts))


def _kind_tree(part: Var | str) -> ast.expr:
    """One thing that `np.result_type` promotes."""
    if isinstance(part, Var):
        return name(part.name)
    weak = {WEAK_INT: 1, WEAK_FLOAT: 1.0}.get(part)
    return name(numpy_name(part)) if weak is None else ast.Constant(weak)


def _whole_shape(shape: tuple[Expr, ...], ranks: Ranks) -> str | None:
    """The array whose complete shape this is."""
    match shape:
        case (Extent(array, 0), *_) if ranks.get(array) == len(shape):
            if shape == tuple(Extent(array, k) for k in range(len(shape))):
                return array
    return None


def alloc_tree(s: Alloc, ranks: Ranks) -> ast.expr:
    """The shortest call that makes the array: ``np.zeros_like(a)``, ``np.zeros(n)``."""
    if s.opaque is not None:
        made = opaque_tree(s.opaque)
        return call("np.full", ast.Constant(1), made) if s.opaque.number else made
    if s.source is not None:
        if s.places == "order":
            kind = ast.Constant("stable")
            return call("np.argsort", name(s.source), kind=kind)
        if s.places:
            return call("np.flatnonzero", name(s.source))
        if s.dtype == like(s.source):
            return call(f"{s.source}.copy")
        return call(f"{s.source}.astype", _dtype_tree(s.dtype, ranks))
    values: list[ast.expr] = []
    fill = s.fill
    match fill:
        case None:
            function = "empty"
        case Const(value) if value == 0 and math.copysign(1.0, value) > 0:
            function = "zeros"
        case Const(value) if value == 1:
            function = "ones"
        case _:
            function, values = "full", [expr_tree(fill)]
    shaped = _whole_shape(s.shape, ranks)
    if shaped is not None and s.dtype == like(shaped):
        return call(f"np.{function}_like", name(shaped), *values)
    if shaped is not None:
        shape = name(f"{shaped}.shape")
    elif len(s.shape) == 1:
        shape = expr_tree(s.shape[0])
    else:
        shape = ast.Tuple([expr_tree(n) for n in s.shape], ast.Load())
    if isinstance(fill, Var) and s.dtype == like(fill.name):
        return call("np.full", shape, *values)
    if s.dtype == "float64" and function != "full":
        return call(f"np.{function}", shape)
    return call(f"np.{function}", shape, *values, dtype=_dtype_tree(s.dtype, ranks))


def formatted(pattern: str, values: Sequence[Expr]) -> ast.JoinedStr:
    """The f-string for a format string and its values."""
    left = iter(values)
    parts: list[ast.expr] = []
    for text, field, spec, _ in Formatter().parse(pattern):
        if text:
            parts.append(ast.Constant(text))
        if field is not None:
            how = ast.JoinedStr([ast.Constant(spec)]) if spec else None
            parts.append(ast.FormattedValue(expr_tree(next(left)), -1, how))
    return ast.JoinedStr(parts)


def stmt_tree(
    s: Stmt, ranks: Ranks, body: Callable[[Block], list[ast.stmt]]
) -> ast.stmt:
    """One statement; `body` prints the blocks inside it."""
    match s:
        case Add(target, value):
            left = store(expr_tree(target))
            x = negated(value)
            op: ast.operator = ast.Add() if x is None else ast.Sub()
            right = expr_tree(value if x is None else x)
            return ast.AugAssign(left, op, right)  # type: ignore[arg-type]
        case Assign(target, Call(("*" | "/") as word, (first, value))) if (
            first == target
        ):
            left = store(expr_tree(target))
            return ast.AugAssign(left, _IN_PLACE[word](), expr_tree(value))  # type: ignore[arg-type]
        case Assign(target, Call("*", (Const() as value, second))) if second == target:
            left = store(expr_tree(target))
            return ast.AugAssign(left, ast.Mult(), expr_tree(value))  # type: ignore[arg-type]
        case Assign(target, value):
            return _assign(store(expr_tree(target)), expr_tree(value))
        case Alloc(array):
            return _assign(store(name(array)), alloc_tree(s, ranks))
        case Grow(array):
            room = call("np.empty_like", name(array))
            both = ast.Tuple([name(array), room], ast.Load())
            return _assign(store(name(array)), call("np.concatenate", both))
        case For(index):
            inner = body(s.body)
            return ast.For(store(name(index)), range_tree(s), inner, [], None)
        case While(test):
            inner = body(s.body)
            if not s.index:
                return ast.While(expr_tree(test), inner, [])
            leave = ast.If(expr_tree(negation(test)), [ast.Break()], [])
            over = store(name(s.index))
            return ast.For(over, range_tree(s), [leave, *inner], [], None)
        case If(test, then, orelse):
            return ast.If(expr_tree(test), body(then), body(orelse))
        case Check(test, error, message, given):
            parts = (message,) if given is None else given
            what = call(error, *map(ast.Constant, parts)) if parts else name(error)
            if s.values:
                what = call(error, formatted(str(parts[0]), s.values))
            raised = ast.Raise(what, None)
            if test == Const(False):
                return raised
            return ast.If(expr_tree(negation(test)), [raised], [])
        case Tell(callback, value):
            return ast.Expr(call(callback, expr_tree(value)))
        case Restart(loop):
            return ast.Expr(call("restart", ast.Constant(loop)))
        case Return(values, single):
            trees = [expr_tree(v) for v in values]
            if single:
                return ast.Return(trees[0])
            return ast.Return(ast.Tuple(trees, ast.Load()) if trees else None)
        case _:
            assert_never(s)


def _assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    return ast.Assign([target], value, None)


def block_tree(block: Block, ranks: Ranks) -> list[ast.stmt]:
    """The statements of a block, each tagged with its place and its note."""

    def body(inner: Block) -> list[ast.stmt]:
        return block_tree(inner, ranks)

    out: list[ast.stmt] = []
    done = 0
    for k, s in enumerate(block):
        made = one_call(block, k) if k >= done else ()
        if made:
            out += [tag(t, s.loc, s.note) for t in several_trees(made)]
            done = k + len(made)
        elif k >= done:
            out.append(tag(stmt_tree(s, ranks, body), s.loc, s.note))
    return out


# -------------------------------------------------------------------- text


def expr_text(e: Expr) -> str:
    """The expression as the user would write it."""
    return write(expr_tree(e)).text


def block_text(block: Block, indent: int = 0) -> str:
    """The statements as the user would write them, without a newline at the end.

    >>> from pyrev.ir.nodes import Add, Call, Const, For, Extent, Load, Var
    >>> i, one = Var("i"), Const(1)
    >>> value = Call("*", (Load("c", (i,)), Load("d_r", (i,))))
    >>> body = (Add(Load("d_u", (Call("-", (i, one)),)), value),)
    >>> print(block_text((For("i", one, Extent("c", 0), one, body, reverse=True),)))
    for i in reversed(range(1, c.shape[0])):
        d_u[i - 1] += c[i] * d_r[i]
    """
    module = ast.Module(block_tree(block, array_ranks(block)), [])
    return write(module, indent).text


def program_text(program: Program) -> str:
    """The function as the user would write it, without a newline at the end."""
    ranks = {p.name: p.rank for p in program.params if p.rank}
    ranks |= array_ranks(program.body)
    parameters = [ast.arg(p.name) for p in program.params]
    args = ast.arguments([], parameters, None, [], [], None, [])
    body = block_tree(program.body, ranks)
    function = ast.FunctionDef(program.name, args, body, [], None, None)
    return write(function).text


def proof_text(proof: Proof | None) -> str:
    """A proof in words; nothing for none.

    >>> index = (Call("+", (Var("i"), Const(1))),)
    >>> proof_text(Proof((DisjointWrites("i", (("a", index),)),)))
    'no two iterations of i write the same element of a: [i + 1]'
    """
    return "; ".join(map(_claim_text, proof.claims)) if proof is not None else ""


def _claim_text(claim: DisjointWrites) -> str:
    if not claim.writes:
        return f"no iteration of {claim.index} writes what another reads or writes"
    what = ", ".join(
        f"{array}: [{', '.join(map(expr_text, index))}]"
        for array, index in claim.writes
    )
    return f"no two iterations of {claim.index} write the same element of {what}"
