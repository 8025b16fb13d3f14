"""Remove what a generated program does not need: dead stores, needless zeros, empty
loops.

Law: for all inputs the program returns the same values. Only scalars and local arrays
are touched; a parameter array is never written by an adjoint in the first place.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pyrev.ir.liveness import flow_of, touched
from pyrev.ir.memo import by_identity
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Add,
    Alloc,
    Assign,
    Block,
    Check,
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
    Tell,
    Var,
    While,
    blocks,
    exprs,
    mentioned,
    names,
    resembled,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.renaming import rename
from pyrev.ir.text import negation


def tidy(
    program: Program,
    users: frozenset[str] = frozenset(),
    outputs: Mapping[str, str] = MappingProxyType({}),
) -> Program:
    """Merge zeros into first increments, then drop what nothing reads, to a fixed
    point.

    `users` are names whose zeros stay: ``0.0 + x`` has the sign of `x` but at -0.0, and
    a branch of the user's own may ask for it. `outputs` says of which array each
    cotangent is, whose shape it has.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(a, n):
    ...     d_s = 0.0
    ...     d_s += a[n]
    ...     unused = d_s * 2
    ...     return d_s
    ... ''')
    >>> print(program_text(tidy(f)))
    def f(a, n):
        d_s = a[n]
        return d_s
    """
    body = program.body
    params = frozenset(p.name for p in program.params)
    body = _shared_cotangents(body, params, outputs)
    body = _Steady().block(_without_last_zeros(body, params), {})
    while True:
        dead = _dead_names(body, params)
        new, _ = _sweep(_merge(body, users), frozenset(), dead)
        if new == body:
            return replace(program, body=_late_zeros(body))
        body = new


class _Steady:
    """Scalars that are the same number whenever an iteration starts: set there.

    The adjoint of a scalar is zero again once its last use is done. Set in the loop, it
    belongs to an iteration, and the iterations may run apart.
    """

    def block(self, block: Block, known: dict[str, Const]) -> Block:
        """`block`, and in `known` the numbers that scalars hold after it."""
        out: list[Stmt] = []
        for stmt in block:
            match stmt:
                case Assign(Var(name), Const() as value):
                    known[name] = value
                case If():
                    one, two = dict(known), dict(known)
                    then = self.block(stmt.then, one)
                    orelse = self.block(stmt.orelse, two)
                    stmt = replace(stmt, then=then, orelse=orelse)
                    self.keep(known, one)
                    self.keep(known, two)
                case For() | While():
                    out += self.loop(stmt, known)
                    continue
                case _:
                    for name in written((stmt,)):
                        known.pop(name, None)
            out.append(stmt)
        return tuple(out)

    def loop(self, stmt: For | While, known: dict[str, Const]) -> Block:
        known.pop(stmt.index, None)
        while True:
            inside = dict(known)
            body = self.block(stmt.body, inside)
            held = len(known)
            self.keep(known, inside)
            if len(known) == held:
                break
        if isinstance(stmt, While):
            return (replace(stmt, body=body),)
        carried = flow_of(body)[0] & written(body)
        own = tuple(
            Assign(Var(n), value, loc=stmt.loc)
            for n, value in known.items()
            if n in carried
        )
        return (replace(stmt, body=(*own, *body)), *own)

    def keep(self, known: dict[str, Const], after: dict[str, Const]) -> None:
        for name in [n for n, value in known.items() if after.get(n) != value]:
            del known[name]


def uncounted(program: Program) -> Program:
    """A primal without the counters that only its reverse sweep would read."""
    gone = {s.count for s in walk(program.body) if isinstance(s, While)}
    scalars = [
        (s.target.name, names(s.value))
        for s in walk(program.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Var)
    ]
    # Totals, and what multiplied-out partials put between a count and the next.
    while more := {name for name, read in scalars if read & gone} - gone:
        gone |= more

    def visit(block: Block) -> Block:
        return tuple(
            with_blocks(s, tuple(map(visit, blocks(s))))
            for s in block
            if not (
                isinstance(s, (Assign, Add))
                and isinstance(s.target, Var)
                and s.target.name in gone
            )
        )

    return replace(program, body=visit(program.body))


def _merge(block: Block, users: frozenset[str]) -> Block:
    """``x = 0.0; ...; x += e`` becomes ``...; x = e`` where nothing in between uses
    x.
    """
    out: list[Stmt | None] = []
    waiting: dict[str, dict[Var | Load, int]] = {}
    for stmt in block:
        inner = tuple(_merge(b, users) for b in blocks(stmt))
        if inner:
            stmt = with_blocks(stmt, inner)
        if isinstance(stmt, Add) and stmt.target_name not in names(stmt.value):
            zeroed = waiting.get(stmt.target_name, {}).get(stmt.target)
            if zeroed is not None and _same_place(stmt.target, out, zeroed):
                out[zeroed] = None
                stmt = Assign(stmt.target, stmt.value, loc=stmt.loc, note=stmt.note)
        for name in touched(stmt):
            waiting.pop(name, None)
        match stmt:
            case Assign(target, Const(0.0)) if stmt.target_name not in users:
                waiting.setdefault(stmt.target_name, {})[target] = len(out)
        out.append(stmt)
    return tuple(s for s in out if s is not None)


def _same_place(target: Var | Load, out: Sequence[Stmt | None], zeroed: int) -> bool:
    """Do the subscripts of `target` still mean what they meant at the zeroing?"""
    if isinstance(target, Var):
        return True
    mentioned = frozenset().union(*map(names, target.index))
    between = tuple(s for s in out[zeroed:] if s is not None)
    return not mentioned or mentioned.isdisjoint(written(between))


def _shared_cotangents(
    body: Block, params: frozenset[str], outputs: Mapping[str, str]
) -> Block:
    """The caller's cotangent itself, where its copy would only be zeroed at the end.

    The adjoint of `out[i] = ...` reads `d_out[i]` and sets it to zero, for whoever
    reads it next; often nobody does. Where every element is set to zero, and that is
    returned as the gradient of what was there before, it is zeros.
    """
    returned = {
        n for s in body if isinstance(s, Return) for e in s.values for n in names(e)
    }
    makers = [s for s in walk(body) if isinstance(s, Alloc)]
    for made in body:
        if not (isinstance(made, Alloc) and made.copied in params):
            continue
        array = made.array
        if sum(m.array == array for m in makers) > 1:
            continue
        if any(array in m.sources for m in makers):
            continue
        users = [s for s in body if s is not made and array in touched(s)]
        if array in returned and users and isinstance(users[-1], Return):
            users.pop()
        if not users or not isinstance(users[-1], For):
            continue
        last = _without_unread_zeros(users[-1], array)
        if last is None:
            continue
        if array in written((*users[:-1], *last)) or made.source is None:
            continue
        if array in returned:
            owner = outputs.get(made.source)
            whole = tuple(Extent(owner or "", k) for k in range(len(made.shape)))
            if owner is None or not _covers(users[-1], array, whole, ()):
                continue
        new = {array: made.source}
        zeros = replace(made, source=None, fill=Const(0.0))
        body = tuple(
            s if isinstance(s, Return) else rename(t, new)
            for s in body
            if s is not made
            for t in (last if s is users[-1] else (s,))
        )
        if array in returned:
            at = next(k for k, s in enumerate(body) if isinstance(s, Return))
            body = (*body[:at], zeros, *body[at:])
    return body


def _covers(
    stmt: Stmt, array: str, shape: tuple[Expr, ...], around: tuple[For, ...]
) -> bool:
    """Does a nest set every element of an array of this shape to zero?"""
    if isinstance(stmt, For):
        return any(_covers(s, array, shape, (*around, stmt)) for s in stmt.body)
    if not _is_zero(stmt, array):
        return False
    assert isinstance(stmt, Assign) and isinstance(stmt.target, Load)
    loops = {f.index: f for f in around}
    if len(loops) != len(around) or len(around) != len(shape):
        return False
    found = [loops.pop(k.name, None) for k in stmt.target.index if isinstance(k, Var)]
    return len(found) == len(shape) and all(
        f is not None and (f.lo, f.hi, f.step) == (ZERO, size, ONE)
        for f, size in zip(found, shape, strict=True)
    )


def _without_last_zeros(body: Block, params: frozenset[str]) -> Block:
    """No array of the function's own, or of an iteration's, is set to zero where
    nothing reads it any more.
    """
    return _unread_zeros_gone(body, params, None)


def _unread_zeros_gone(
    block: Block, elsewhere: frozenset[str], own: frozenset[str] | None
) -> Block:
    """A block without last zeros. The names in `elsewhere` are used outside of it, too;
    arrays in `own` are made in it, before all else that is done with them.
    """
    out: list[Stmt] = []
    behind: set[str] = set(elsewhere)
    uses = Counter(n for s in block for n in touched(s))
    for stmt in reversed(block):
        header = touched(with_blocks(stmt, tuple(() for _ in blocks(stmt))))
        inner: list[Block] = []
        for b in blocks(stmt):
            others = [c for c in blocks(stmt) if c is not b]
            around = (
                elsewhere
                | header
                | frozenset().union(*(touched(s) for c in others for s in c))
            )
            around |= {n for n in touched(stmt) if uses[n] > 1}
            inner.append(_unread_zeros_gone(b, around, _made_first(b)))
        stmt = with_blocks(stmt, tuple(inner))
        zeroed = _zeroed(stmt)
        left: Block = (stmt,)
        for array in sorted(zeroed - behind if own is None else zeroed & own - behind):
            if left:
                found = _without_unread_zeros(left[0], array)
                left = left if found is None else found
        behind |= touched(stmt)
        out += reversed(left)
    return tuple(reversed(out))


@by_identity
def _zeroed(stmt: Stmt) -> frozenset[str]:
    """The arrays of which a statement, or one in it, sets an element to zero."""
    match stmt:
        case Assign(Load(array, _), Const(value)) if value == 0:
            return frozenset({array})
    return frozenset().union(*(_zeroed(s) for b in blocks(stmt) for s in b))


def _made_first(block: Block) -> frozenset[str]:
    """The arrays that a block makes before it does anything else with them."""
    made: set[str] = set()
    seen: set[str] = set()
    for s in block:
        if isinstance(s, Alloc) and s.array not in seen:
            made.add(s.array)
        seen |= touched(s)
    return frozenset(made)


def _late_zeros(block: Block) -> Block:
    """Elements are set to zero as late as may be.

    The adjoint of `out[i] = ...` reads `d_out[i]`, sets it to zero and uses what it
    read. Set to zero behind these uses, the element can be read where it is used.
    """
    out: list[Stmt] = []
    waiting: list[tuple[Stmt, str, frozenset[str]]] = []
    for stmt in block:
        stmt = with_blocks(stmt, tuple(map(_late_zeros, blocks(stmt))))
        used, changed = touched(stmt), written((stmt,))
        due = [w for w in waiting if w[1] in used or w[2] & changed]
        waiting = [w for w in waiting if w not in due]
        out += [zero for zero, _, _ in due]
        match stmt:
            case Assign(Load(array, index), Const(value)) if value == 0:
                waiting.append((stmt, array, frozenset().union(*map(names, index))))
            case _:
                if isinstance(stmt, (Return, Check)):
                    out += [zero for zero, _, _ in waiting]
                    waiting = []
                out.append(stmt)
    return (*out, *(zero for zero, _, _ in waiting))


def _is_zero(stmt: Stmt, array: str) -> bool:
    match stmt:
        case Assign(Load(name, _), Const(value)) if name == array:
            return value == 0
    return False


def _without_unread_zeros(stmt: Stmt, array: str) -> Block | None:
    """A nest without the zeros that it stores in an array; None if it may read one."""
    try:
        _Unread(array).block((stmt,), (), False)
    except _Read:
        return None
    return _without_zeros(stmt, array)


def _without_zeros(stmt: Stmt, array: str) -> Block:
    if _is_zero(stmt, array):
        return ()
    inner = tuple(
        tuple(t for s in b for t in _without_zeros(s, array)) for b in blocks(stmt)
    )
    return (with_blocks(stmt, inner),)


class _Read(Exception):
    """A zero that was stored may be read."""


class _Unread:
    """A walk over a nest that finds out if a zero stored in an array may be read in it.

    All accesses have one subscript, which has every index of the loops around the
    store: no two iterations of them touch one element, and the order within one is that
    of the text. Further loops may read an element again and again.
    """

    def __init__(self, array: str) -> None:
        self.array = array
        self.index: tuple[Expr, ...] | None = None

    def block(self, block: Block, around: tuple[str, ...], stored: bool) -> bool:
        """Is a zero stored when the block is done, having begun as `stored` says?"""
        for s in block:
            if self.array not in touched(s):
                continue
            match s:
                case For(index):
                    if stored or index in around:
                        raise _Read
                    self.reads(s, around, stored)
                    stores = any(_is_zero(t, self.array) for t in walk(s.body))
                    inner = (*around, index) if stores else around
                    stored = self.block(s.body, inner, stored)
                case If(_, then, orelse):
                    self.reads(s, around, stored)
                    one = self.block(then, around, stored)
                    stored = self.block(orelse, around, stored) or one
                case _ if _is_zero(s, self.array):
                    assert isinstance(s, Assign) and isinstance(s.target, Load)
                    self.access(s.target, around)
                    stored = True
                case Assign() | Add():
                    self.reads(s, around, stored)
                case _:
                    raise _Read
        return stored

    def reads(self, s: Stmt, around: tuple[str, ...], stored: bool) -> None:
        for top in exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.array == self.array:
                    if stored:
                        raise _Read
                    self.access(e, around)

    def access(self, e: Load, around: tuple[str, ...]) -> None:
        plain = {k.name for k in e.index if isinstance(k, Var)}
        if self.index not in (None, e.index) or not set(around) <= plain:
            raise _Read
        self.index = e.index


def _dead_names(body: Block, params: frozenset[str]) -> frozenset[str]:
    """Local arrays and scalars of which nothing depends that is tested, returned or a
    parameter: they are never read, or only for one another.
    """
    local: set[str] = set()
    needed: set[str] = set(params)
    reads: dict[str, set[str]] = {}
    for s in walk(body):
        match s:
            case Alloc(array, _, _, dtype):
                local.add(array)
                own = reads.setdefault(array, set())
                own |= {*resembled(dtype), *s.sources}
            case Assign() | Add():
                local.add(s.target_name)
                own = reads.setdefault(s.target_name, set())
            case _:
                own = needed
        for e in exprs(s):
            own |= {*mentioned(e)}
    todo = [*needed]
    while todo:
        more = reads.pop(todo.pop(), set()) - needed
        needed |= more
        todo += more
    return frozenset(local - needed)


def _sweep(
    block: Block, live: frozenset[str], dead: frozenset[str]
) -> tuple[Block, frozenset[str]]:
    """Backward liveness of scalars: (what is left of the block, live names before
    it).
    """
    out: list[Stmt] = []
    for stmt in reversed(block):
        match stmt:
            case Assign(Var(name), value):
                if name not in live or name in dead:
                    continue
                live = (live - {name}) | names(value)
            case Add(Var(name), value):
                if name not in live or name in dead:
                    continue
                live = live | names(value)
            case Assign() | Add():
                if stmt.target_name in dead:
                    continue
                live = live | names(stmt.target) | names(stmt.value)
            case Alloc(array):
                if array in dead:
                    continue
                live = live.union(resembled(stmt.dtype), *map(names, exprs(stmt)))
            case If(test, then, orelse):
                new_then, one = _sweep(then, live, dead)
                new_else, two = _sweep(orelse, live, dead)
                if not new_then and not new_else:
                    continue
                live = one | two | names(test)
                stmt = replace(stmt, then=new_then, orelse=new_else)
                if not new_then:
                    test = negation(test)
                    stmt = replace(stmt, test=test, then=new_else, orelse=())
            case For():
                around = live | flow_of(stmt.body)[0]
                body, before = _sweep(stmt.body, around, dead)
                if not body:
                    continue
                live = (live | before).union(*map(names, exprs(stmt))) - {stmt.index}
                stmt = replace(stmt, body=body)
            case While(test):
                around = live | names(test) | flow_of(stmt.body)[0]
                body, before = _sweep(stmt.body, around, dead)
                if not _matters(body, live):
                    continue
                live = (live | before).union(*map(names, exprs(stmt)))
                live -= {stmt.index}
                stmt = replace(stmt, body=body)
            case Check() | Tell():
                live = live.union(*map(names, exprs(stmt)))
            case Grow(array):
                if array in dead:
                    continue
            case Return(values):
                live = live.union(*map(names, values))
        out.append(stmt)
    return tuple(reversed(out)), live


def _matters(body: Block, live: frozenset[str]) -> bool:
    """Does a `while` with this body do more than come to its end?"""
    return any(
        isinstance(s, (Alloc, Check, Tell, Return))
        or (
            isinstance(s, (Assign, Add))
            and (isinstance(s.target, Load) or s.target.name in live)
        )
        for s in walk(body)
    )
