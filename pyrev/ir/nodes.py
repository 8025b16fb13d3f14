"""The loop-nest IR: every node pyrev knows, on one page.

    expr  ::= Const(value) | Var(name) | Load(array, index...) | Extent(array, axis)
            | Call(op, arg...) | Saved(at, expr)
    stmt  ::= Assign(target, value) | Add(target, value) | Alloc(array, shape, ...)
            | For(index, lo, hi, step, body) | While(test, body, index, ...)
            | If(test, then, orelse) | Check(test, error, message) | Grow(array)
            | Tell(callback, value) | Restart(loop) | Return(values)

A `Program` is a function: parameters and a tuple of statements. Nodes are values: two
nodes are equal when they print the same, wherever they came from, so `loc`, `id` and
`note` never take part in a comparison. `Saved` and `Restart` live only between
`adjoint.reverse` and `schedule.storage`: the first asks for a primal value, the second
marks where the primal of one iteration may be executed again.
"""

from __future__ import annotations

import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar, assert_never

from pyrev.ir import places
from pyrev.ir.memo import by_identity
from pyrev.ir.opaque import Opaque


class Loc(NamedTuple):
    """A span in the user's file: 1-based lines, 0-based columns, end exclusive."""

    file: str
    line: int
    col: int
    end_line: int
    end_col: int

    @property
    def place(self) -> str:
        """``file.py:12``, without the folder; ``Cell In[3], line 12``."""
        return places.place(self.file, self.line)


NOWHERE = Loc("<pyrev>", 0, 0, 0, 0)


def _loc() -> Loc:
    return field(default=NOWHERE, compare=False, repr=False, kw_only=True)


def _id() -> int:
    return field(default=-1, compare=False, repr=False, kw_only=True)


def _note() -> str:
    return field(default="", compare=False, repr=False, kw_only=True)


# ------------------------------------------------------------------ expressions


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: ``2``, ``0.5``, ``True``. Its Python type is its (weak) type."""

    value: bool | int | float
    loc: Loc = _loc()

    def __eq__(self, other: object) -> bool:
        # 1, 1.0 and True are different constants; nan equals itself, -0.0 is not 0.0.
        return isinstance(other, Const) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class Var:
    """A scalar: a parameter, a local, or a loop index. Also a whole array in
    `Return`.
    """

    name: str
    loc: Loc = _loc()


@dataclass(frozen=True, slots=True)
class Load:
    """One array element: ``array[index]``, with as many subscripts as the array has
    axes.
    """

    array: str
    index: tuple[Expr, ...]
    loc: Loc = _loc()


@dataclass(frozen=True, slots=True)
class Extent:
    """``array.shape[axis]``: never changes while the array lives."""

    array: str
    axis: int
    loc: Loc = _loc()


@dataclass(frozen=True, slots=True)
class Call:
    """A primitive applied to arguments: ``op`` is a key of `PRIMITIVES`."""

    op: str
    args: tuple[Expr, ...]
    loc: Loc = _loc()


@dataclass(frozen=True, slots=True)
class Saved:
    """The value `expr` (a `Var` or a `Load`) had just before primal statement `at`
    ran.
    """

    at: int
    expr: Expr
    loc: Loc = _loc()


Expr = Const | Var | Load | Extent | Call | Saved

# ------------------------------------------------------------------ statements


@dataclass(frozen=True, slots=True)
class Assign:
    """``target = value``"""

    target: Var | Load
    value: Expr
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()

    @property
    def target_name(self) -> str:
        """The scalar or array that is written."""
        return self.target.name if isinstance(self.target, Var) else self.target.array


@dataclass(frozen=True, slots=True)
class Add:
    """``target += value``: how an adjoint is accumulated; two of them commute."""

    target: Var | Load
    value: Expr
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()

    @property
    def target_name(self) -> str:
        """The scalar or array that is written."""
        return self.target.name if isinstance(self.target, Var) else self.target.array


@dataclass(frozen=True, slots=True)
class Promoted:
    """The dtype to which NumPy promotes those of some values and some kinds.

    A `Var` among the `parts` is an array or a scalar by name; a string is a NumPy dtype
    or one of the weak kinds of Python's numbers (`types.WEAK_INT`, `WEAK_FLOAT`).
    """

    parts: tuple[Var | str, ...]


#: What a new array holds: a NumPy dtype by name, or what is promoted to it.
Dtype = str | Promoted


def like(name: str) -> Promoted:
    """The dtype of an array, or the one to which NumPy promotes a scalar."""
    return Promoted((Var(name),))


def parts_of(dtype: Dtype) -> tuple[Var | str, ...]:
    """What a dtype is promoted from; one that is given is itself.

    >>> parts_of(like("a")), parts_of("float64")
    ((Var(name='a'),), ('float64',))
    """
    return dtype.parts if isinstance(dtype, Promoted) else (dtype,)


def resembled(dtype: Dtype) -> tuple[str, ...]:
    """The arrays and scalars whose dtypes `dtype` comes from, by name."""
    return tuple(p.name for p in parts_of(dtype) if isinstance(p, Var))


@dataclass(frozen=True, slots=True)
class Alloc:
    """``array = np.zeros(shape)``: a new local array.

    `fill` is the initial value of every element, None for ``np.empty``; `source` names
    the array whose elements are copied (``source.copy()``). If this is made of its
    `places`: in "order", a stable ``np.argsort(source)``; the "true" ones,
    ``np.flatnonzero(source)``, of which there are as many as the shape says. One that
    an `opaque` function gives has the first array of its arguments as its source.
    """

    array: str
    shape: tuple[Expr, ...]
    fill: Expr | None
    dtype: Dtype
    source: str | None = None
    places: str = ""
    opaque: Opaque | None = None
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()

    @property
    def copied(self) -> str | None:
        """The array that it begins as a copy of, converted where dtypes differ."""
        return None if self.places or self.opaque is not None else self.source

    @property
    def sources(self) -> tuple[str, ...]:
        """The arrays that it is made of, all of their elements."""
        if self.opaque is not None:
            return self.opaque.arrays
        return () if self.source is None else (self.source,)


@dataclass(frozen=True, slots=True)
class Grow:
    """``a = np.concatenate((a, np.empty_like(a)))``: room for as much again.

    Only tapes over loops whose length is not known beforehand grow; what they hold
    keeps its place.
    """

    array: str
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


@dataclass(frozen=True, slots=True)
class DisjointWrites:
    """No two iterations of `index` write the same element of any array in `writes`.

    Each array comes with the subscripts of one of the writes; without any array no
    iteration writes what another one reads or writes.
    """

    index: str
    writes: tuple[tuple[str, tuple[Expr, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Proof:
    """Why no iteration of a loop depends on another one: a claim for each loop in it
    that was one by itself when it was proved.
    """

    claims: tuple[DisjointWrites, ...]


@dataclass(frozen=True, slots=True)
class For:
    """``for index in range(lo, hi, step)``, or ``reversed(range(...))``.

    `step` is a nonzero integer expression whose sign is known. `parallel` is a proof,
    not a wish: only `schedule.legality` makes one.
    """

    index: str
    lo: Expr
    hi: Expr
    step: Expr
    body: tuple[Stmt, ...]
    reverse: bool = False
    parallel: Proof | None = None
    #: How many states a checkpointed loop keeps: 0 for as many as it needs.
    slots: int | None = None
    #: Compiled code has a function for it: among others LLVM would leave it scalar.
    apart: bool = False
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


@dataclass(frozen=True, slots=True)
class While:
    """``while test: body``; with an `index`, a loop over a range that may end early.

    Then before each iteration first the range and then `test` decide: ``for index in
    range(lo, hi, step): if not test: break; body``. The statements in it count in the
    scalar `count` how often it ran; the assignment that follows it reads the total.
    """

    test: Expr
    body: tuple[Stmt, ...]
    index: str = ""
    lo: Expr = Const(0)
    hi: Expr = Const(0)
    step: Expr = Const(1)
    count: str = ""
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


@dataclass(frozen=True, slots=True)
class If:
    """``if test: then else: orelse``"""

    test: Expr
    then: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...] = ()
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


#: What an exception may be made of.
Given = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Check:
    """``if not test: raise error(message)``: what the user asserts, and what is unsure.

    It computes nothing, so the adjoint has none; the primal stops where it fails. The
    `error` is a builtin exception, or has its module in front of it. What the user
    raises has its very arguments in `given`, and the message is none of pyrev's. With
    `values` the only argument is a format string of them, as of `str.format`.
    """

    test: Expr
    error: str
    message: str
    given: tuple[Given, ...] | None = None
    values: tuple[Expr, ...] = ()
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()

    @property
    def arguments(self) -> tuple[Given, ...]:
        """What a target raises it with where it has no line of its own to show."""
        if self.given is None:
            return (f"{self.loc.place}: {self.message}",)
        return self.given


@dataclass(frozen=True, slots=True)
class Tell:
    """``callback(value)``: the user asked for this adjoint, with `pyrev.probe`.

    Only an adjoint has it. It is run once for each execution of the probe, the last one
    first: no pass removes, moves or repeats it.
    """

    callback: str
    value: Expr
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


@dataclass(frozen=True, slots=True)
class Restart:
    """Here, in the reverse sweep, primal statements of loop `loop` may run again.

    `loop` is the id of a primal loop; -1 stands for the whole function.
    """

    loop: int
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


@dataclass(frozen=True, slots=True)
class Return:
    """``return values``: scalars or whole arrays (`Var`); `single` if it is no
    tuple.
    """

    values: tuple[Expr, ...]
    single: bool
    loc: Loc = _loc()
    id: int = _id()
    note: str = _note()


Stmt = Assign | Add | Alloc | Grow | For | While | If | Check | Tell | Restart | Return
Loop = For | While
Block = tuple[Stmt, ...]
S = TypeVar("S", bound=Stmt)

#: The operations that may raise, or have no value in compiled code.
RISKY = frozenset(("//", "%", "**", "<<", ">>", "int", "round"))

# ------------------------------------------------------------------ programs


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter: `rank` 0 is a scalar; `dtype` is a NumPy dtype name."""

    name: str
    rank: int
    dtype: str
    loc: Loc = _loc()

    @property
    def is_float(self) -> bool:
        return self.dtype in ("float32", "float64")


@dataclass(frozen=True, slots=True)
class View:
    """A returned part of a caller's array: element ``[axes]`` is ``base[index]``.

    The program makes a copy of it, `result`, which carries its cotangent; the caller
    gets the view. `index` and `shape` are made of sizes and arguments.
    """

    result: str
    base: str
    axes: tuple[str, ...]
    index: tuple[Expr, ...]
    shape: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A function of the loop language; `captured` are the parameters that hold
    globals.

    `alike` pairs arrays with dtypes (as in `Alloc`) that they must have: those whose
    elements take the place of an array with another name. `callbacks` are the names of
    the functions that its probes call, the second argument of the operation ``probe``
    says which. One that is `derived` was read from a derivative that pyrev has written.
    Parameters that are `flat` have their elements row by row, without gaps: they are
    written to in another shape.
    """

    name: str
    params: tuple[Param, ...]
    body: Block
    captured: tuple[str, ...] = ()
    alike: tuple[tuple[str, Dtype, Loc], ...] = ()
    views: tuple[View, ...] = ()
    callbacks: tuple[str, ...] = ()
    derived: bool = False
    flat: tuple[str, ...] = ()
    loc: Loc = _loc()


# ------------------------------------------------------------------ traversal

ZERO, ONE = Const(0), Const(1)
TRUE, FALSE = Const(True), Const(False)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions of `expr`."""
    # Asked more often than anything else: a chain of tests is faster than patterns.
    if isinstance(expr, (Var, Const, Extent)):
        return ()
    if isinstance(expr, Call):
        return expr.args
    if isinstance(expr, Load):
        return expr.index
    if isinstance(expr, Saved):
        return (expr.expr,)
    assert_never(expr)


def rebuild(expr: Expr, new: tuple[Expr, ...]) -> Expr:
    """`expr` with its direct subexpressions replaced, everything else kept."""
    if isinstance(expr, (Const, Var, Extent)):
        return expr
    if isinstance(expr, Call):
        return Call(expr.op, new, loc=expr.loc)
    if isinstance(expr, Load):
        return Load(expr.array, new, loc=expr.loc)
    if isinstance(expr, Saved):
        return Saved(expr.at, new[0], loc=expr.loc)
    assert_never(expr)


def risky(expr: Expr) -> bool:
    """Is there an operation in `expr` that may raise?"""
    return any(
        isinstance(e, Call) and e.op in RISKY and not _by_a_number(e)
        for e in walk_expr(expr)
    )


def _by_a_number(e: Call) -> bool:
    """Is it a division of integers by a number that is not zero?"""
    match e:
        case Call("//" | "%", (_, Const(k))):
            return type(k) is int and k != 0
    return False


def map_expr(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Apply `f` to every node of `expr`, children first."""
    old = children(expr)
    if old:
        new = tuple([map_expr(e, f) for e in old])
        for a, b in zip(new, old, strict=True):
            if a is not b:
                expr = rebuild(expr, new)
                break
    return f(expr)


def walk_expr(expr: Expr) -> Iterator[Expr]:
    """`expr` and all expressions inside it, parents first."""
    todo = [expr]
    while todo:
        e = todo.pop()
        yield e
        if isinstance(e, Call):
            todo += e.args[::-1]
        elif isinstance(e, Load):
            todo += e.index[::-1]
        elif isinstance(e, Saved):
            todo.append(e.expr)


def exprs(stmt: Stmt) -> tuple[Expr, ...]:
    """The expressions that stand directly in `stmt`, its target included."""
    match stmt:
        case Assign(target, value) | Add(target, value):
            return (target, value)
        case Alloc(_, shape, _, opaque=Opaque() as opaque):
            return (*shape, Var(opaque.function), *opaque.numbers)
        case Alloc(_, shape, fill):
            return shape if fill is None else (*shape, fill)
        case For(_, lo, hi, step):
            return (lo, hi, step)
        case While(test):
            bounds = (stmt.lo, stmt.hi, stmt.step) if stmt.index else ()
            return (*bounds, test)
        case If(test):
            return (test,)
        case Check(test, values=values):
            return (test, *values)
        case Tell(_, value):
            return (value,)
        case Grow() | Restart():
            return ()
        case Return(values):
            return values
        case _:
            assert_never(stmt)


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks directly inside `stmt`."""
    if isinstance(stmt, (For, While)):
        return (stmt.body,)
    if isinstance(stmt, If):
        return (stmt.then, stmt.orelse)
    return ()


def with_blocks(stmt: Stmt, new: tuple[Block, ...]) -> Stmt:
    """`stmt` with the blocks directly inside it replaced."""
    if isinstance(stmt, (For, While)):
        return changed(stmt, body=new[0])
    if isinstance(stmt, If):
        return changed(stmt, then=new[0], orelse=new[1])
    return stmt


def map_stmt_exprs(stmt: Stmt, f: Callable[[Expr], Expr]) -> Stmt:
    """Apply `map_expr(., f)` to every expression in `stmt`, nested blocks included."""
    return map_whole(stmt, lambda e: map_expr(e, f))


def map_whole(stmt: Stmt, g: Callable[[Expr], Expr]) -> Stmt:
    """Apply `g` to the expressions that `exprs` gives, nested blocks included.

    A statement in which nothing changes stays the same object.
    """

    def block(stmts: Block) -> Block:
        return tuple([map_whole(s, g) for s in stmts])

    match stmt:
        case Assign() | Add():
            target = g(stmt.target)
            assert isinstance(target, (Var, Load))
            return changed(stmt, target=target, value=g(stmt.value))
        case Alloc():
            fill = None if stmt.fill is None else g(stmt.fill)
            call = None if stmt.opaque is None else stmt.opaque.mapped(g)
            shape = tuple(map(g, stmt.shape))
            return changed(stmt, shape=shape, fill=fill, opaque=call)
        case For():
            return changed(
                stmt,
                lo=g(stmt.lo),
                hi=g(stmt.hi),
                step=g(stmt.step),
                body=block(stmt.body),
            )
        case While():
            return changed(
                stmt,
                test=g(stmt.test),
                lo=g(stmt.lo),
                hi=g(stmt.hi),
                step=g(stmt.step),
                body=block(stmt.body),
            )
        case Check():
            return changed(stmt, test=g(stmt.test), values=tuple(map(g, stmt.values)))
        case Tell():
            return changed(stmt, value=g(stmt.value))
        case If():
            return changed(
                stmt,
                test=g(stmt.test),
                then=block(stmt.then),
                orelse=block(stmt.orelse),
            )
        case Grow() | Restart():
            return stmt
        case Return():
            return changed(stmt, values=tuple(map(g, stmt.values)))
        case _:
            assert_never(stmt)


def changed(stmt: S, **new: Any) -> S:
    """`stmt` with these fields, itself where they are what they were.

    What is known of a statement (`memo.by_identity`) is then known still.
    """
    for name, value in new.items():
        old = getattr(stmt, name)
        if value is not old and not (
            isinstance(value, tuple)
            and len(value) == len(old)
            and all(map(operator.is_, value, old))
        ):
            return replace(stmt, **new)
    return stmt


def map_block(block: Block, f: Callable[[Expr], Expr]) -> Block:
    """`map_stmt_exprs` over a block."""
    return tuple(map_stmt_exprs(s, f) for s in block)


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement of a block, in textual order, parents first."""
    todo = list(block[::-1])
    while todo:
        stmt = todo.pop()
        yield stmt
        if isinstance(stmt, (For, While)):
            todo += stmt.body[::-1]
        elif isinstance(stmt, If):
            todo += stmt.orelse[::-1]
            todo += stmt.then[::-1]


def free_ids(block: Block) -> Iterator[int]:
    """Ids that no statement of a block has."""
    return itertools.count(1 + max((s.id for s in walk(block)), default=0))


def substitute(expr: Expr, env: Mapping[str, Expr]) -> Expr:
    """Replace scalar variables by expressions, everywhere in `expr`."""
    return map_expr(expr, lambda e: env.get(e.name, e) if isinstance(e, Var) else e)


def with_value(block: Iterable[Stmt], name: str, value: Expr) -> Block:
    """`block` with reads of the scalar `name` written as `value`."""
    return map_block(
        tuple(block),
        lambda e: value if isinstance(e, Var) and e.name == name else e,
    )


def names(expr: Expr) -> frozenset[str]:
    """The scalars and arrays that `expr` reads; an array's extent is not a read."""
    if isinstance(expr, Var):
        return frozenset((expr.name,))
    found: set[str] = set()
    for e in walk_expr(expr):
        if isinstance(e, Var):
            found.add(e.name)
        elif isinstance(e, Load):
            found.add(e.array)
    return frozenset(found)


def mentioned(expr: Expr) -> tuple[str, ...]:
    """The scalars and arrays that `expr` reads or measures, in order, repeats kept."""
    return tuple(
        e.name if isinstance(e, Var) else e.array
        for e in walk_expr(expr)
        if isinstance(e, (Var, Load, Extent))
    )


def assigned_scalars(block: Block) -> tuple[str, ...]:
    """The scalars that a block assigns or increments, in order; no loop indices."""
    return tuple(assignments(block))


def assignments(block: Block) -> Counter[str]:
    """How often the text of a block assigns or increments each scalar, in order."""
    return Counter(
        s.target.name
        for s in walk(block)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
    )


def without_scalars(block: Block, names: Set[str]) -> Block:
    """A block without the assignments that give these scalars their values."""
    return tuple(
        with_blocks(s, tuple(without_scalars(b, names) for b in blocks(s)))
        for s in block
        if not (isinstance(s, Assign) and s.target_name in names)
    )


def loop_indices(block: Block) -> frozenset[str]:
    """The indices of the loops in a block."""
    return frozenset(
        s.index for s in walk(block) if isinstance(s, (For, While)) and s.index
    )


def written(block: Block) -> frozenset[str]:
    """The scalars and arrays that a block assigns, allocates or uses as loop index."""
    return frozenset().union(*map(_written, block))


@by_identity
def _written(s: Stmt) -> frozenset[str]:
    if isinstance(s, (Assign, Add)):
        return frozenset((s.target_name,))
    if isinstance(s, (Alloc, Grow)):
        return frozenset((s.array,))
    if isinstance(s, (For, While)):
        return written(s.body).union((s.index,) if s.index else ())
    return written(s.then) | written(s.orelse) if isinstance(s, If) else frozenset()


def all_names(block: Block) -> frozenset[str]:
    """Every name that occurs in a block, read, measured or written."""
    return frozenset().union(*map(_all_names, block))


@by_identity
def _all_names(s: Stmt) -> frozenset[str]:
    found: set[str] = set()
    for top in exprs(s):
        found.update(mentioned(top))
    if isinstance(s, Alloc):
        found.update(s.sources)
    return frozenset(found).union(_written(s), *map(all_names, blocks(s)))


def fresh(name: str, taken: set[str]) -> str:
    """`name`, or `name_2`, `name_3`...: the first that is not taken; it is then
    taken.
    """
    k, candidate = 1, name
    while candidate in taken:
        k += 1
        candidate = f"{name}_{k}"
    taken.add(candidate)
    return candidate


def unnamed(taken: Set[str]) -> str:
    """What a value is called that has no name where `taken` are the names: never by a
    number what means something else without it, `v_2` beside the user's `v`.
    """
    free = (n for n in ("v", "value", "term") if n not in taken)
    return next(free, "v")
