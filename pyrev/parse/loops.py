"""Loops: over ranges and sequences, until a test fails, several iterations at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import gast

from pyrev.ir.nodes import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Add,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    Extent,
    For,
    If,
    Loc,
    Stmt,
    Var,
    While,
    names,
    with_value,
    written,
)
from pyrev.ir.simplify import add_int, sub_int
from pyrev.ir.trip_counts import not_negative, range_length
from pyrev.parse.blocks import new_block, read_block
from pyrev.parse.directives import checkpointed
from pyrev.parse.exchanges import Phases, rotation, undo_rotation
from pyrev.parse.expression import conjunction
from pyrev.parse.functions import is_range
from pyrev.parse.iteration import iterable
from pyrev.parse.joins import (
    array_bindings,
    inside_compound,
    restore_bindings,
    visible_arrays,
)
from pyrev.parse.names import object_of, scalar_for
from pyrev.parse.operands import read_numbers
from pyrev.parse.points_to import note_new_behind
from pyrev.parse.reading import read_truth
from pyrev.parse.rewriting.control import LEAVE
from pyrev.parse.scopes import Scope
from pyrev.parse.targets import store
from pyrev.parse.values import Array
from pyrev.parse.walk import Compound, Walk


@dataclass(frozen=True, slots=True)
class _Header:
    """What a `for` runs over; `bind` gives the targets their values at an index."""

    index: str
    lo: Expr
    hi: Expr
    step: Const
    reverse: bool
    bind: Callable[[Expr], None]
    slots: int | None = None


def read_for(w: Walk, node: gast.For, scope: Scope) -> None:
    """A loop over a range or over the elements of arrays."""
    with inside_compound(w, scope, node) as around, w.emit.inner():
        _for(w, node, scope, around)


def read_while(w: Walk, node: gast.While, scope: Scope) -> None:
    """A loop that runs as long as its test holds."""
    with inside_compound(w, scope, node) as around, w.emit.inner():
        _while(w, node, scope, around)


def _for(w: Walk, node: gast.For, scope: Scope, around: Compound) -> None:
    """The loop itself: its body, as often as names of arrays need to come back."""
    at = scope.source.loc(node)
    iterated = len(w.storage.iterated)
    header = read_header(w, node, scope)
    if header is None:
        with new_block(w):
            read_block(w, node.body, scope)
        return
    leave = [scalar_for(w, f, scope) for f in getattr(node, LEAVE, ())]
    index = header.index
    start = visible_arrays(w, scope)[0]
    ways: list[tuple[int, ...]] = []
    lent = {n: e for n, e in scope.bound.items() if e == Var(index)}

    def copy(offset: int) -> list[Stmt]:
        place: Expr = Var(index, loc=at)
        if offset:
            stride = -header.step.value if header.reverse else header.step.value
            jump = Const(offset * stride, loc=at)
            place = Call("+", (place, jump), loc=at)
        entry = visible_arrays(w, scope)
        with new_block(w) as made:
            header.bind(place)
            read_block(w, node.body, scope)
            restore_bindings(w, scope, entry, around)
            ways.append(w.emit.path)
        return made

    w.env.leaving.append(getattr(node, LEAVE, ()))
    body = copy(0)
    copies, phases = rotation(w, scope, start, body, copy)
    w.env.leaving.pop()
    del w.storage.iterated[iterated:]
    # Each copy has another number of the iteration for the index.
    scope.bound |= lent
    lo, hi, step = header.lo, header.hi, header.step
    changed = written(tuple(s for c in copies for s in c)) | {index}
    # A range is evaluated once: what the body changes is read before it.
    if names(lo) & changed:
        lo = w.emit.temp(lo, "start")
    if names(hi) & changed:
        hi = w.emit.temp(hi, "stop")
    known = literal_range(lo, hi, step)
    if not leave and known:
        note_new_behind(w, tuple(w.emit.open[:-1]), ways[0])
    if header.reverse and (leave or len(copies) > 1):
        lo, hi, step = from_the_end(w, lo, hi, step)
    if not leave and len(copies) == 1:
        made = For(index, lo, hi, step, tuple(body), header.reverse, loc=at)
        w.emit.add(replace(made, slots=header.slots))
        return
    if not leave:
        emit_unrolled(w, index, lo, hi, step, copies, phases, scope, at, header.slots)
        return
    test = none_of(leave)
    emit_counted(w, copies, test, phases, scope, at, index, lo, hi, step)


def from_the_end(w: Walk, lo: Expr, hi: Expr, step: Const) -> tuple[Expr, Expr, Const]:
    """The range that counts as ``reversed(range(lo, hi, step))`` does."""
    by = int(step.value)
    last = add_int(hi, -by)
    if abs(by) > 1:
        lo = steady(w, lo, "start")
        most = not_negative(range_length(lo, hi, step, hi.loc))
        behind = Call("*", (add_int(most, -1), step), loc=hi.loc)
        last = Call("+", (lo, behind), loc=hi.loc)
    return last, add_int(lo, -by), Const(-by, loc=step.loc)


def _while(w: Walk, node: gast.While, scope: Scope, around: Compound) -> None:
    """The loop itself; the test is evaluated again behind each body."""
    at = scope.source.loc(node)
    leave = [scalar_for(w, f, scope) for f in getattr(node, LEAVE, ())]
    start = visible_arrays(w, scope)[0]

    def test() -> tuple[list[Stmt], Expr]:
        with new_block(w) as made:
            found = read_truth(w, node.test, scope)
        if found == TRUE and leave:
            return made, none_of(leave)
        if leave:
            found = Call("and", (none_of(leave), found), loc=found.loc)
        return made, found

    before, condition = test()

    def copy(offset: int) -> list[Stmt]:
        entry = visible_arrays(w, scope)
        with new_block(w) as made:
            read_block(w, node.body, scope)
            restore_bindings(w, scope, entry, around)
        return made

    w.env.leaving.append(getattr(node, LEAVE, ()))
    body = copy(0)
    copies, phases = rotation(w, scope, start, body, copy)
    w.env.leaving.pop()
    if not before and len(copies) == 1:
        emit_counted(w, copies, condition, phases, scope, at)
        return
    # The test needs statements, or other arrays each time: a flag holds its value.
    go = Var(w.emit.fresh("go"), loc=at)

    def tested(mapping: Mapping[str, Array]) -> list[Stmt]:
        now = array_bindings(scope)[0]
        scope.bound |= mapping
        made, found = test()
        scope.bound |= now
        if made and leave:
            # After a jump Python does not come to the test.
            inner = If(
                none_of(leave),
                (*made, Assign(go, found, loc=at)),
                (Assign(go, FALSE, loc=at),),
                loc=at,
            )
            return [inner]
        return [*made, Assign(go, found, loc=at)]

    w.emit.extend(tested(phases[0]))
    done: list[list[Stmt]] = []
    for k, one in enumerate(copies):
        done.append([*one, *tested(phases[(k + 1) % len(copies)])])
    emit_counted(w, done, go, phases, scope, at)


def emit_counted(
    w: Walk,
    copies: Sequence[Sequence[Stmt]],
    test: Expr,
    phases: Phases,
    scope: Scope,
    at: Loc,
    index: str = "",
    lo: Expr = ZERO,
    hi: Expr = ZERO,
    step: Const = ONE,
) -> None:
    """A loop that ends when `test` fails, and how often it ran.

    The counter is what the reverse sweep needs of it; the assignment behind the
    loop is where it reads it.
    """
    count = Var(w.emit.fresh("count"), loc=at)
    phase: Var | None = None
    if len(copies) > 1:
        phase = Var(w.emit.fresh("phase"), loc=at)
        w.emit.add(Assign(phase, Const(0), loc=at))
    body: list[Stmt] = []
    for k in reversed(range(len(copies))):
        one = list(copies[k])
        if phase is not None:
            after = Const((k + 1) % len(copies))
            one.append(Assign(phase, after, loc=at))
        if k:
            again = test
            if index:
                jump = Const(k * step.value, loc=at)
                place = Call("+", (Var(index, loc=at), jump), loc=at)
                inside = Call("<" if step.value > 0 else ">", (place, hi), loc=at)
                again = Call("and", (test, inside), loc=at)
            body = [If(again, (*one, *body), loc=at)]
        else:
            body = [*one, *body]
    if index and len(copies) > 1:
        step = Const(len(copies) * step.value, loc=at)
    body.append(Add(count, Const(1), loc=at))
    w.emit.add(Assign(count, Const(0), loc=at))
    w.emit.add(While(test, tuple(body), index, lo, hi, step, count.name, loc=at))
    w.emit.add(Assign(Var(w.emit.fresh("ran"), loc=at), count, loc=at))
    if phase is not None:
        undo_rotation(w, phase, phases, scope, w.env.compounds[-1])


def emit_unrolled(
    w: Walk,
    index: str,
    lo: Expr,
    hi: Expr,
    step: Const,
    copies: Sequence[Sequence[Stmt]],
    phases: Phases,
    scope: Scope,
    at: Loc,
    slots: int | None,
) -> None:
    """A loop over a range, several of its iterations at a time."""
    width = len(copies)
    known = literal_range(lo, hi, step)
    last = add_int(hi, -(width - 1) * int(step.value))
    body = tuple(s for c in copies for s in c)
    wide = Const(width * step.value, loc=at)
    if known is not None:
        over = len(known) % width
        if len(known) >= width:
            w.emit.add(For(index, lo, last, wide, body, slots=slots, loc=at))
        # What is left, one by one: each copy counts from the first of them.
        for one in copies[:over]:
            w.emit.extend(with_value(one, index, Const(known[-over], loc=at)))
        undo_rotation(w, Const(over), phases, scope, w.env.compounds[-1])
        return
    trips = not_negative(range_length(lo, hi, step, at))
    left = Var(w.emit.fresh("left"), loc=at)
    w.emit.add(Assign(left, Call("%", (trips, Const(width)), loc=at), loc=at))
    base = Call("-", (trips, left), loc=at)
    first = lo
    w.emit.add(For(index, lo, last, wide, body, slots=slots, loc=at))
    place = base if step == Const(1) else Call("*", (base, step), loc=at)
    begin = place if first == ZERO else Call("+", (first, place), loc=at)
    here = Var(w.emit.fresh(index), loc=at)
    rest: Block = ()
    for k in reversed(range(width - 1)):
        one = with_value(copies[k], index, here)
        rest = (If(Call(">", (left, Const(k)), loc=at), (*one, *rest), loc=at),)
    w.emit.add(Assign(here, begin, loc=at))
    w.emit.extend(rest)
    undo_rotation(w, left, phases, scope, w.env.compounds[-1])


def read_header(w: Walk, node: gast.For, scope: Scope) -> _Header | None:
    """What a `for` runs over: a range, or the elements of arrays."""
    at = scope.source.loc(node)
    leave = bool(getattr(node, LEAVE, ()))
    over, slots = checkpoint_of(w, node.iter, scope)
    if slots is not None and (scope.inlined or w.env.depth or leave):
        w.refuse(
            "P111",
            at,
            "only a loop of the function itself, without `break`, is checkpointed",
            "leave out `pyrev.checkpointed`, or move the loop",
        )
    bounds = read_range(w, over, scope)
    if bounds is None:
        counted = _counted_by(w, over, node, scope)
        found = iterable(w, node, scope, counted is not None)
        if found is None:
            return None
        count, bind = found
        index = w.emit.fresh("k") if counted is None else counted
        return _Header(index, ZERO, count, Const(1), False, bind)
    lo, hi, step, reverse = bounds
    if not isinstance(node.target, gast.Name):
        w.refuse(
            "P112",
            scope.source.loc(node.target),
            f"`{gast.unparse(node.target).strip()}` cannot count the iterations",
            "give the index a name",
        )
        return None
    name = node.target.id
    if isinstance(step, Const):
        if name not in scope.text.loose:
            variable = scalar_for(w, name, scope)

            def lend(place: Expr) -> None:
                scope.bound[name] = place

            return _Header(variable.name, lo, hi, step, reverse, lend, slots)

        def put(place: Expr) -> None:
            store(w, node.target, place, at, scope)

        return _Header(w.emit.fresh(name), lo, hi, step, reverse, put, slots)
    index = w.emit.fresh(name)
    # The numbers of the iterations, from 0: ``lo + k * step``.
    lo, step = steady(w, lo, "start"), steady(w, step, "step")
    hi = steady(w, hi, "stop")
    w.emit.add(
        Check(
            Call("!=", (step, ZERO), loc=at),
            "ValueError",
            "range() arg 3 must not be zero",
            loc=at,
        )
    )
    trips = not_negative(range_length(lo, hi, step, at))
    trips = w.emit.temp(trips, "trips")

    def number(place: Expr) -> None:
        k = place
        if reverse:
            k = sub_int(add_int(trips, -1), place)
        value = Call("+", (lo, Call("*", (k, step), loc=at)), loc=at)
        store(w, node.target, value, at, scope)

    return _Header(index, ZERO, trips, Const(1), False, number, slots)


def _counted_by(w: Walk, over: gast.AST, node: gast.For, scope: Scope) -> str | None:
    """The variable of `i` in ``for i, x in enumerate(a)``, if it is nothing else."""
    match node.target, over:
        case gast.Tuple(elts=[gast.Name(id=name), _]), gast.Call(args=[_], keywords=[]):
            if (
                object_of(w, over.func, scope) is enumerate
                and name not in scope.text.loose
            ):
                return scalar_for(w, name, scope).name
    return None


def checkpoint_of(w: Walk, node: gast.AST, scope: Scope) -> tuple[gast.AST, int | None]:
    """The range inside ``pyrev.checkpointed(...)``, and how many states to keep."""
    if not isinstance(node, gast.Call):
        return node, None
    if object_of(w, node.func, scope) is not checkpointed or not node.args:
        return node, None
    given = [*node.args[1:], *(k.value for k in node.keywords)]
    if not given:
        return node.args[0], 0
    match given:
        case [gast.Constant(value=int() as slots)] if slots > 0:
            return node.args[0], slots
    w.refuse(
        "P111",
        scope.source.loc(node),
        "the number of states is not a positive integer literal",
        "write `pyrev.checkpointed(range(n), slots=8)`",
    )
    return node.args[0], 0


def steady(w: Walk, value: Expr, name: str) -> Expr:
    """A bound of a range as it is before the loop."""
    return value if isinstance(value, (Const, Extent)) else w.emit.temp(value, name)


def read_range(
    w: Walk, node: gast.AST, scope: Scope, reverse: bool = False
) -> tuple[Expr, Expr, Expr, bool] | None:
    """The bounds of ``range(...)``, maybe reversed; None if it is none."""
    function: object = None
    if isinstance(node, gast.Call) and not node.keywords:
        function = object_of(w, node.func, scope)
    if function is reversed and not reverse and len(node.args) == 1:
        return read_range(w, node.args[0], scope, True)
    if not is_range(function) or not 1 <= len(node.args) <= 3:
        return None
    values = read_numbers(w, node.args, scope)
    at = scope.source.loc(node)
    step: Expr = Const(1, loc=at)
    if len(values) == 3:
        step = values[2]
        if isinstance(step, Const) and (type(step.value) is not int or step.value == 0):
            w.refuse(
                "P207",
                scope.source.loc(node.args[2]),
                "a step of zero never arrives"
                if step.value == 0
                else "a step is an integer",
                "use an integer step other than zero",
            )
            step = Const(1)
    if len(values) == 1:
        return Const(0, loc=at), values[0], step, reverse
    return values[0], values[1], step, reverse


def literal_range(lo: Expr, hi: Expr, step: Expr) -> range | None:
    """The range itself where its ends are literals."""
    match lo, hi, step:
        case Const(int(a)), Const(int(b)), Const(int(c)):
            return range(a, b, c)
    return None


def none_of(flags: Sequence[Var]) -> Expr:
    """``not a and not b``"""
    tests: list[Expr] = [Call("not", (f,), loc=f.loc) for f in flags]
    return conjunction(tests)
