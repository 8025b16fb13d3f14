"""The functions that the nests of a program become, and the one that calls them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from pyrev.emit.numba.checks import guards, stopped
from pyrev.emit.numba.module import Mode, Module
from pyrev.emit.numba.statements import early, for_tree, plain
from pyrev.emit.numba.trees import assign, receive, returned
from pyrev.emit.numba.typed import printed, zero
from pyrev.ir.dtypes import WEAK_INT, concrete
from pyrev.ir.liveness import exposed
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    If,
    Load,
    Loop,
    Stmt,
    Var,
    While,
    assigned_scalars,
    fresh,
    map_block,
    mentioned,
    names,
    walk,
    walk_expr,
    written,
)
from pyrev.ir.printer import tag
from pyrev.ir.text import call, name, numpy_name, one_call, proof_text, store
from pyrev.ir.trip_counts import fixed_trip, iterations
from pyrev.schedule.costs import Costs
from pyrev.schedule.on_cores import on_one_core, parallel
from pyrev.schedule.ownership import LITTLE
from pyrev.schedule.straight import pieces
from pyrev.schedule.work import operations, operations_briefly


def entry(m: Module, entry: str) -> ast.stmt:
    """Define the entry function and all below it; the call of it is returned."""
    params = [p.name for p in m.program.params] + [s.array for s in m.first]
    rest = tuple(s for s in m.program.body if s not in m.first)
    m.only = only_nest(rest)
    body = top(m, rest, ())
    start: list[ast.stmt] = [
        assign(n, zero(m.types[n]))
        for n in assigned_scalars(m.program.body)
        if n in m.carried and n not in params
    ]
    for n in m.blank:
        none = ast.Tuple([ast.Constant(0)] * m.ranks[n], ast.Load())
        kind = name(numpy_name(concrete(m.types[n])))
        start.append(assign(n, call("np.empty", none, dtype=kind)))
    lines = [*start, *body]
    m.define(entry, [*params, *m.status], lines, "ENTRY", m.program.loc)
    return ast.Return(call(entry, *map(name, [*params, *m.status])))


def only_nest(block: Block) -> Loop | None:
    """The one loop of the entry level, where it is not a parallel one.

    It stands in the entry function itself: a second function would only have to be
    compiled.
    """
    found: list[Loop] = []

    def collect(block: Block) -> None:
        for s in block:
            match s:
                case For() | While():
                    found.append(s)
                case If(_, then, orelse):
                    collect(then)
                    collect(orelse)

    collect(block)
    return found[0] if len(found) == 1 and not parallel(found[0]) else None


def top(m: Module, block: Block, after: Block) -> list[ast.stmt]:
    """The statements of the entry function; each nest becomes a call, but the only
    one.
    """
    out: list[ast.stmt] = []
    mode = Mode(None)
    done = behind = 0
    for part in pieces(block, m.cpu.straight_accesses, m.can_fail):
        done += len(part)
        if done <= behind:
            continue
        rest = block[done:] + after
        if len(part) > 1:
            out.append(apart(m, part, rest))
            continue
        (s,) = part
        match s:
            case For() | While() if s is m.only:
                out.extend(here(m, s, rest))
            case For() | While():
                out.append(nest(m, s, rest))
                out.extend(stopped(m, s, mode))
            case If(test, then, orelse):
                out.extend(guards(m, s, (test,), mode))
                inner = top(m, then, rest), top(m, orelse, rest)
                out.append(ast.If(printed(m, test), *inner))
            case _:
                several = one_call(block, done - 1) or (s,)
                behind = done - 1 + len(several)
                out.extend(plain(m, several, mode))
                m.given |= {t.array for t in several if isinstance(t, Alloc)}
    return out


def nest(m: Module, loop: Loop, after: Block) -> ast.stmt:
    """The call of the function that a nest at entry level becomes."""
    if isinstance(loop, For) and loop.parallel:
        return driver(m, loop)
    return apart(m, (loop,), after)


def here(m: Module, loop: Loop, after: Block) -> list[ast.stmt]:
    """A nest as it stands in the entry function."""
    read = [n for n in m.inputs((loop,)) if n not in m.ranks]
    left = [n for n in assigned_scalars((loop,)) if exposed(after, n)[0]]
    m.carried |= {*read, *left}
    return threaded(m, (loop,), Mode(None))


def apart(m: Module, block: Block, after: Block) -> ast.stmt:
    """The call of a function of its own for some statements at entry level."""
    scalars = [n for n in assigned_scalars(block) if exposed(after, n)[0]]
    m.carried |= frozenset(scalars)
    outputs = (*scalars, *(a for a in _made(block) if _needed(after, a)))
    function = m.numbered()
    unsure = [n for n in outputs if not exposed(block, n)[1]]
    # An array that some path makes is there, without elements, on all paths.
    blank = [n for n in unsure if n in m.ranks and n not in m.given]
    m.blank.update(dict.fromkeys(blank))
    m.given |= frozenset(blank)
    inputs = m.inputs(block, unsure)
    around, m.given = m.given, frozenset(inputs)
    outside, m.around = m.around, block
    # A scalar that a nest may read is set, whatever the path to it.
    m.carried |= {n for n in inputs if n not in m.ranks}
    body = threaded(m, block, Mode(outputs))
    m.given, m.around = around | frozenset(outputs), outside
    if outputs:
        body.append(returned(outputs))
    at = block[0].loc
    m.define(function, [*inputs, *m.status], body, "SERIAL", at)
    tree = call(function, *map(name, [*inputs, *m.status]))
    note = block[0].note if len(block) == 1 else ""
    return tag(receive(outputs, tree), at, note)


def driver(m: Module, loop: For) -> ast.stmt:
    """The call of a parallel loop: a function of its own, and one for its body.

    Directly nested loops that are parallel too run as one if their bounds allow it.
    """
    m.drivers = True
    loops, body = _collapsed(loop)
    body = on_one_core(body)
    function = m.numbered()
    row = fresh(f"{function}_{'_'.join(f.index for f in loops)}", m.taken)
    start: list[ast.stmt] = []
    for f in loops:
        start.extend(guards(m, f, (f.lo, f.hi, f.step), Mode(())))
    counts: list[Expr] = [iterations(f, clamped=True) for f in loops]
    if len(loops) > 1:
        counts = [
            _named(m, f"count_{f.index}", n, start)
            for f, n in zip(loops, counts, strict=True)
        ]
    total = counts[0]
    for more in counts[1:]:
        total = Call("*", (total, more))
    if any(isinstance(e, Call) and e.op == "where" for e in walk_expr(total)):
        # Numba makes no parallel loop of a range with a branch in it.
        total = _named(m, "count", total, start)
    wanted: dict[str, None] = {}
    alone = None
    if (little := _little(m, loop)) is not None:
        wanted.update(dict.fromkeys(mentioned(little)))
        # `runtime.parallel_loops` looks for it.
        alone = _named(m, "alone", little, start, "bool")
        start[-1] = tag(start[-1], loop.loc, LITTLE)
    shared_out = _in_blocks if _is_short(m, body) else _one_by_one
    tree, needs = shared_out(m, row, loops, body, counts, total, start, alone)
    wanted.update(dict.fromkeys(needs))
    start.append(tag(tree, loop.loc, proof_text(loop.parallel)))
    for f in loops:
        for e in (f.lo, f.hi, f.step):
            wanted.update(dict.fromkeys(mentioned(e)))
    m.define(function, [*wanted, *m.status], start, "PARALLEL", loop.loc)
    return tag(ast.Expr(call(function, *map(name, [*wanted, *m.status]))), loop.loc)


def _little(m: Module, loop: For) -> Expr | None:
    """The test that other cores would start too late to help in a parallel loop, where
    only the sizes of arrays that are made on the way tell.
    """
    work = operations(loop, Costs(m.cpu))
    used = () if work is None else mentioned(work)
    if work is None or m.measured.issuperset(used) or written((loop,)) & {*used}:
        return None
    work = operations_briefly(loop, Costs(m.cpu)) or work
    return Call("<", (work, Const(m.cpu.parallel_operations)))


def _named(
    m: Module, base: str, value: Expr, lines: list[ast.stmt], dtype: str = WEAK_INT
) -> Var:
    """The name that a value, an integer by default, gets in `lines`."""
    var = _integer(m, base)
    m.types[var.name] = dtype
    lines.append(assign(var.name, printed(m, value)))
    return var


def _integer(m: Module, base: str) -> Var:
    text = fresh(base, m.taken)
    m.types[text] = WEAK_INT
    return Var(text)


def _one_by_one(
    m: Module,
    row: str,
    loops: Sequence[For],
    body: Block,
    counts: Sequence[Expr],
    total: Expr,
    start: list[ast.stmt],
    alone: Var | None,
) -> tuple[ast.stmt, list[str]]:
    """A parallel loop that calls the function `row` for each iteration, and what it
    needs from outside.
    """
    inputs = m.inputs(body)
    lines = threaded(m, body, Mode(()))
    m.define(row, [*inputs, *m.status], lines, "SERIAL", loops[0].loc)
    first = loops[0]
    simple = len(loops) == 1 and (first.lo, first.step) == (ZERO, ONE)
    task = Var(first.index) if simple else _integer(m, "task")
    # `prange` may count in unsigned integers, which meet signed ones as floats.
    place: Expr = Call("int64", (task,))
    inside: list[ast.stmt] = []
    values: dict[str, Expr] = {first.index: place}
    if not simple:
        number = _named(m, "number", place, inside)
        values = _positions(loops, counts, number)
    args = [printed(m, values[n]) if n in values else name(n) for n in inputs]
    inside.append(ast.Expr(call(row, *args, *map(name, m.status))))
    span = call("prange", printed(m, total))
    tree = ast.For(store(name(task.name)), span, inside, [], None)
    return tree, [n for n in inputs if n not in values]


def _is_short(m: Module, body: Block) -> bool:
    """Is calling a function for it dear, compared to what it does itself?

    A call counts the references to each of the arrays, up and down, and stands between
    an iteration and the next, which vector instructions could do together.
    """
    return not any(map(partial(_is_long, m), walk(body)))


def _is_long(m: Module, s: Stmt) -> bool:
    if isinstance(s, For):
        trip = fixed_trip(s)
        return trip is None or trip > m.cpu.unrolled_iterations
    return isinstance(s, (While, Alloc))


def _in_blocks(
    m: Module,
    row: str,
    loops: Sequence[For],
    body: Block,
    counts: Sequence[Expr],
    total: Expr,
    start: list[ast.stmt],
    alone: Var | None,
) -> tuple[ast.stmt, list[str]]:
    """The same, of a function that runs over a block of iterations; over all of them
    where one core is enough.
    """
    cpu, mode = m.cpu, Mode(())
    total = _named(m, "total", total, start)
    most = Call("//", (Call("+", (total, Const(cpu.blocks - 1))), Const(cpu.blocks)))
    least = Call("min", (Const(cpu.block_elements), most))
    if alone is not None:
        least = Call("where", (alone, total, least))
    size = _named(m, "size", Call("max", (ONE, least)), start)
    first, last = _integer(m, "first"), _integer(m, "last")
    end: Expr = Call("min", (Call("+", (first, size)), total))
    lines = [assign(last.name, printed(m, end))]
    *outer, inner = loops
    if outer:
        line, count = _integer(m, f"row_{outer[-1].index}"), counts[-1]
        done = Call("*", (line, count))
        inner = _part(
            inner,
            body,
            Call("max", (Call("-", (first, done)), ZERO)),
            Call("min", (Call("-", (last, done)), count)),
        )
        values = _positions(outer, counts[:-1], line)
        within = [assign(n, printed(m, value)) for n, value in values.items()]
        within += threaded(m, (inner,), mode)
        up = Call("-", (Call("+", (last, count)), ONE))
        span = [printed(m, Call("//", (e, count))) for e in (first, up)]
        lines.append(
            ast.For(store(name(line.name)), call("range", *span), within, [], None)
        )
        whole = [*values.values(), *counts[1:]]
    else:
        inner = _part(inner, body, first, last)
        lines += threaded(m, (inner,), mode)
        whole = []
    own = {last.name, *(f.index for f in outer)} | ({line.name} if outer else set())
    needs = dict.fromkeys((first.name, size.name, total.name))
    for e in whole:
        needs.update(dict.fromkeys(mentioned(e)))
    needs.update(dict.fromkeys(m.inputs((inner,))))
    inputs = [n for n in needs if n not in own]
    m.define(row, [*inputs, *m.status], lines, "SERIAL", loops[0].loc)
    block = _integer(m, "block")
    place = printed(m, Call("*", (Call("int64", (block,)), size)))
    above = Call("-", (Call("+", (total, size)), ONE))
    blocks = call("prange", printed(m, Call("//", (above, size))))

    args = [place if n == first.name else name(n) for n in inputs]
    inside: list[ast.stmt] = [ast.Expr(call(row, *args, *map(name, m.status)))]
    tree = ast.For(store(name(block.name)), blocks, inside, [], None)
    made = {first.name, size.name, total.name}
    made.update(n for e in counts[1:] for n in mentioned(e))
    return tree, [n for n in inputs if n not in made]


def _part(loop: For, body: Block, first: Expr, last: Expr) -> For:
    """Some of the iterations of a loop, by their numbers, with this body."""

    def at(number: Expr) -> Expr:
        far = number if loop.step == ONE else Call("*", (number, loop.step))
        return far if loop.lo == ZERO else Call("+", (loop.lo, far))

    return replace(loop, lo=at(first), hi=at(last), body=body, parallel=None)


def _collapsed(loop: For) -> tuple[list[For], Block]:
    """A parallel loop and those right in it that can run as one, and their body."""
    loops = [loop]
    while True:
        match loops[-1].body:
            case (For() as inner,) if inner.parallel and not (
                {f.index for f in loops}
                & frozenset().union(*map(names, (inner.lo, inner.hi, inner.step)))
            ):
                loops.append(inner)
            case body:
                return loops, body


def _positions(
    loops: Sequence[For], counts: Sequence[Expr], number: Var
) -> dict[str, Expr]:
    """The indices of some loops, from the number of an iteration of all of them."""
    values: dict[str, Expr] = {}
    for k, f in enumerate(loops):
        position: Expr = number
        for inner in counts[k + 1 :]:
            position = Call("//", (position, inner))
        if k:
            position = Call("%", (position, counts[k]))
        if f.step != ONE:
            position = Call("*", (position, f.step))
        if f.lo != ZERO:
            position = Call("+", (f.lo, position))
        values[f.index] = position
    return values


def threaded(m: Module, block: Block, mode: Mode) -> list[ast.stmt]:
    """A block with parallel loops in it, and the statements between."""
    out: list[ast.stmt] = []
    run: list[Stmt] = []

    def flush() -> None:
        if run:
            out.extend(plain(m, tuple(run), mode))
            run.clear()

    behind = 0
    for k, s in enumerate(block):
        if k < behind:
            continue
        if not any(isinstance(x, Alloc) or parallel(x) for x in walk((s,))):
            run.append(s)
            continue
        flush()
        match s:
            case For() if s.parallel:
                out.append(driver(m, s))
                out.extend(stopped(m, s, mode))
            case While():
                out.extend(early(m, s, threaded(m, s.body, mode), mode))
            case For(lo=lo, hi=hi, step=step, body=body):
                out.extend(guards(m, s, (lo, hi, step), mode))
                out.append(for_tree(m, s, threaded(m, body, mode)))
            case If(test, then, orelse):
                out.extend(guards(m, s, (test,), mode))
                inner = threaded(m, then, mode), threaded(m, orelse, mode)
                out.append(ast.If(printed(m, test), *inner))
            case _:
                several = one_call(block, k) or (s,)
                behind = k + len(several)
                out.extend(plain(m, several, mode))
    flush()
    return out


def _made(block: Block) -> tuple[str, ...]:
    """The arrays that a block makes or makes larger, in order."""
    made = [s.array for s in walk(block) if isinstance(s, (Alloc, Grow))]
    return tuple(dict.fromkeys(made))


def _needed(block: Block, array: str) -> bool:
    """Does `block` read or measure an array that is there before it?"""

    def read(e: Expr) -> Expr:
        measured = isinstance(e, Extent) and e.array == array
        return Load(array, ()) if measured else e

    return exposed(map_block(block, read), array)[0]
