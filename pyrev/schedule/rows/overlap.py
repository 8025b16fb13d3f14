"""Two loops over rows as one over blocks of rows: what is made there is read there.

The rows of a stencil's result that the next stencil reads for a row of its own are made
just before it: only the last few are kept, and those before the first of a block are
made by two blocks. The array between the two never goes through memory. It is a sliding
window within overlapping tiles (Ragan-Kelley et al., "Halide", PLDI 2013, section 3.1).
"""

from __future__ import annotations

from dataclasses import replace

from pyrev.analysis.poly import integer_names
from pyrev.ir.accesses import accesses
from pyrev.ir.affine import integer, linear
from pyrev.ir.liveness import flow_of, live_out, names_in, occurs, with_live
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
    Program,
    Return,
    Stmt,
    Var,
    While,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    loop_indices,
    map_block,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.ir.simplify import add_int, sub_int
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.legality import parallelise
from pyrev.schedule.rows.contract import its_own
from pyrev.schedule.work import Choose, product

Span = tuple[int, int]


def overlapped(
    program: Program,
    taken: set[str],
    choose: Choose,
    cpu: CpuCosts,
    store: frozenset[str] = frozenset(),
    ask: Choose = lambda count, least: None,
) -> Program:
    """`program` with blocks of rows where one loop reads rows of another one's array.

    Law: the same values in everything but those arrays. Names that it makes are added
    to `taken`; `choose` answers for sizes as in `schedule_cpu`, and `ask` with what is
    so in all calls that the result serves. The arrays in `store` stay.
    """
    body = list(program.body)
    for made in its_own(program, store):
        if made.fill is not None or len(made.shape) < 2:
            continue
        both = _pair(body, made)
        if both is None:
            continue
        first, second = both
        one, two = body[first], body[second]
        assert isinstance(one, For) and isinstance(two, For)
        span = _rows_read(two, made.array)
        if span is None or not _worth(made, two, span, choose, cpu):
            continue
        # An array of fewer elements than none is an error, which has to stay.
        if not all(_is_extent(e) or ask(e, 0) for e in made.shape):
            continue
        live = dict(
            (id(s), after) for s, after in with_live(tuple(body), live_out(program))
        )[id(two)]
        names = set(taken)
        loop = _blocks(made, one, two, span, names, cpu.block_rows)
        proven = parallelise(loop, (), live, integer_names(tuple(body)))
        if not proven.parallel:
            continue
        taken |= names
        body[second] = proven
        body = [s for s in body if s is not one and s is not made]
    return replace(program, body=tuple(body))


def _pair(body: list[Stmt], made: Alloc) -> tuple[int, int] | None:
    """Where the loop is that fills the array by row, and the one that alone reads
    it.
    """
    users = [k for k, s in enumerate(body) if occurs((s,), made.array)]
    users = [k for k in users if body[k] is not made]
    if len(users) != 2:
        return None
    first, second = users
    one, two = body[first], body[second]
    array = made.array
    for loop in (one, two):
        if not isinstance(loop, For) or not loop.parallel or loop.reverse:
            return None
        if loop.lo != ZERO or loop.step != ONE:
            return None
        if loop.index in loop_indices(loop.body) | set(assigned_scalars(loop.body)):
            return None
        if any(isinstance(s, (While, Return, Grow)) for s in walk(loop.body)):
            return None
        if any(
            isinstance(e, Extent) and e.array == array
            for s in walk((loop,))
            for top in exprs(s)
            for e in walk_expr(top)
        ):
            return None
    assert isinstance(one, For) and isinstance(two, For)
    # What is measured so never changes.
    if not all(map(_is_measured, made.shape)):
        return None
    if one.hi != made.shape[0] or array in written((two,)):
        return None
    if any(k[0] != Var(one.index) for k in accesses((one,), array)):
        return None
    own = {s.array for s in walk(one.body) if isinstance(s, Alloc)}
    own |= {*assigned_scalars(one.body), *loop_indices((one,))}
    if written((one,)) - own - {array}:
        return None
    # It is run where the second is, and its rows are made in several blocks.
    needed = names_in(one)
    if any(written((s,)) & needed for s in body[first + 1 : second]):
        return None
    if (written((two,)) & needed) - own or flow_of((two,))[0] & own:
        return None
    return first, second


def _is_extent(e: Expr) -> bool:
    """Is it a number of elements that is there, which is never negative?"""
    return isinstance(e, (Const, Extent))


def _is_measured(e: Expr) -> bool:
    """Is it made of numbers and of extents only?"""
    return _is_extent(e) or (
        isinstance(e, Call)
        and e.op in ("+", "-", "*", "//")
        and all(map(_is_measured, e.args))
    )


def _rows_read(loop: For, array: str) -> Span | None:
    """How far the rows of `array` that an iteration reads are from its own number."""
    found: list[Span] = []

    def visit(block: Block, known: dict[str, Span]) -> bool:
        for s in block:
            for k in accesses((_bare(s),), array):
                span = _apart(k[0], loop, known)
                if span is None:
                    return False
                found.append(span)
            inner = known
            if isinstance(s, For):
                lo, hi = integer(s.lo), integer(s.hi)
                inner = {n: v for n, v in known.items() if n != s.index}
                if lo is not None and hi is not None and s.step == ONE:
                    inner[s.index] = lo, max(lo, hi - 1)
            if not all(visit(b, inner) for b in blocks(s)):
                return False
        return True

    if not visit(loop.body, {}) or not found:
        return None
    return min(0, *(a for a, _ in found)), max(0, *(b for _, b in found))


def _bare(s: Stmt) -> Stmt:
    """`s` without the blocks in it."""
    return with_blocks(s, tuple(() for _ in blocks(s)))


def _apart(row: Expr, loop: For, known: dict[str, Span]) -> Span | None:
    """The least and the most that `row` may be away from the number of the iteration.

    `known` are the values that inner indices run through.
    """
    match row:
        case Call("max", (a, Const(0))):  # the number itself is never less
            span = _apart(a, loop, known)
            return None if span is None else (span[0], max(span[1], 0))
        case Call("min", (a, b)) if b == sub_int(loop.hi, ONE):  # nor ever more
            span = _apart(a, loop, known)
            return None if span is None else (min(span[0], 0), span[1])
    form = linear(row)
    if form.coefficient(Var(loop.index)) != 1:
        return None
    rest = form.without(Var(loop.index))
    low = high = rest.constant
    for atom, k in rest.terms:
        if not isinstance(atom, Var) or atom.name not in known:
            return None
        ends = [k * end for end in known[atom.name]]
        low, high = low + min(ends), high + max(ends)
    return low, high


def _worth(made: Alloc, loop: For, span: Span, choose: Choose, cpu: CpuCosts) -> bool:
    """Are the rows that stay in the cache worth those that are made once more?"""
    more = span[1] - span[0]
    row = product(made.shape[1:])
    buffer = Call("*", (Const(more + 1), row))
    return (
        more <= cpu.repeated_rows
        and choose(product(made.shape), cpu.overlapped_elements) is True
        and choose(buffer, cpu.window_elements + 1) is False
        and choose(loop.hi, cpu.least_blocks * cpu.block_rows) is True
    )


def _blocks(
    made: Alloc, one: For, two: For, span: Span, taken: set[str], size: int
) -> For:
    """Both loops for `size` rows of a block, the first some ahead of the second."""
    low, high = span
    block, row = fresh("block", taken), fresh(one.index, taken)
    rows = fresh(f"{made.array}_rows", taken)
    many = high - low + 1
    begin: Expr = Call("*", (Var(block), Const(size)))
    end = Call("min", (add_int(begin, size), two.hi))
    ahead = add_int(begin, low) if low else begin
    own = sub_int(Var(row), Const(high)) if high else Var(row)

    def there(e: Expr) -> Expr:
        if isinstance(e, Load) and e.array == made.array:
            at = Call("%", (e.index[0], Const(many)))  # of a row there is: not negative
            return replace(e, array=rows, index=(at, *e.index[1:]))
        return e

    inside = Call("<", (Var(row), one.hi))
    if low:
        inside = Call("and", (Call(">=", (Var(row), ZERO)), inside))
    fill = _serial(with_value(map_block(one.body, there), one.index, Var(row)))
    use = _serial(with_value(map_block(two.body, there), two.index, own))
    body = (
        If(inside, fill, loc=one.loc),
        If(Call(">=", (own, begin)), use, loc=two.loc),
    )
    room = (Const(many), *made.shape[1:])
    loop = For(
        row,
        ahead,
        add_int(end, high) if high else end,
        ONE,
        body,
        loc=two.loc,
        note=f"{made.array}_rows: the last {many} rows",
    )
    count = Call("//", (add_int(two.hi, size - 1), Const(size)))
    make = Alloc(rows, room, None, made.dtype, loc=made.loc)
    return For(block, ZERO, count, ONE, (make, loop), loc=two.loc)


def _serial(block: Block) -> Block:
    return tuple(
        with_blocks(
            replace(s, parallel=None) if isinstance(s, For) else s,
            tuple(map(_serial, blocks(s))),
        )
        for s in block
    )
