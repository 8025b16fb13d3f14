"""Inner loops in the form that vector instructions want: fused, and without edges.

The last step of the CPU's form, inside loops whose order is already settled:

fuse    neighbouring loops over one range that touch each element in the same iteration
        become one, and the increments of one element in it one sum;
jam     a short loop around a long one that adds to a row becomes one long loop that
        adds all its terms: `for i in range(3): for x in range(n): a[x + i] += ...`;
zeros   a row is filled with zeros by the loop that adds to it first, while it is in the
        cache, not all at once before;
peel    an innermost loop whose clamps (`max(x - 1, 0)`) and tests (`x < n - 1`) only
        matter near its ends is split there: between the ends they are gone.

`speed.md` has the measurements: an edge clamp or a test in the innermost loop keeps it
scalar, which costs a factor of 4 to 8.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.ir import (
    ONE,
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
    Grow,
    If,
    Load,
    Program,
    Stmt,
    Var,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    map_expr,
    map_stmt_exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    with_value,
    written,
)
from pyrev.poly import Linear, from_linear, integer, linear, plus, slope
from pyrev.types import expr_dtype, is_float

STREAMS = 3  # arrays that one loop writes at most: more, and LLVM gives up
LONGEST = 40  # statements of a loop that may be written three times
TAPS = 8  # terms that one loop adds at most: registers hold no more
SHORT = 16  # iterations that the unroller takes care of


def rows(program: Program, types: Mapping[str, str]) -> Program:
    """`program` with its inner loops fused and peeled.

    Law: every element gets the same values, added in the same order. `types` are the
    dtypes of the names.
    """
    taken = set(all_names(program.body)) | {p.name for p in program.params}
    made = _Rows(types, taken)
    fused = made.fused(program.body)
    return replace(program, body=made.block(made.zeroed(fused)))


class _Rows:
    def __init__(self, types: Mapping[str, str], taken: set[str]) -> None:
        self.types, self.taken = types, taken

    def fused(self, block: Block) -> Block:
        """Neighbouring loops made one, from the outermost inwards."""
        out: list[Stmt] = []
        for stmt in block:
            last = out[-1] if out else None
            if isinstance(last, For) and isinstance(stmt, For):
                both = _fused(last, stmt)
                if both is not None:
                    out[-1] = both
                    continue
            if isinstance(last, For) and _independent(stmt, last):
                out.insert(-1, stmt)  # so that loops meet
                continue
            out.append(stmt)
        return tuple(
            with_blocks(s, tuple(self.fused(b) for b in blocks(s))) for s in out
        )

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for stmt in block:
            stmt = with_blocks(stmt, tuple(self.block(b) for b in blocks(stmt)))
            if isinstance(stmt, For):
                for made in self.jammed(_opened(stmt)):
                    out += self.peeled(made) if isinstance(made, For) else (made,)
            else:
                out.append(stmt)
        return self.summed(out)

    # ---------------------------------------------------------------- zeros

    def zeroed(self, block: Block) -> Block:
        """New arrays of zeros filled row by row, where the first loop over them can."""
        out: list[Block] = [(s,) for s in block]
        for k, stmt in enumerate(block):
            match stmt:
                case Alloc(array, (_, _, *_), Const(), source=None):
                    pass
                case _:
                    continue
            first = next(
                (
                    n
                    for n in range(k + 1, len(block))
                    if array in all_names((block[n],))
                ),
                None,
            )
            nest = out[first] if first is not None else ()
            if len(nest) and isinstance(nest[0], For):
                made = self.with_zeros(stmt, nest[0])
                if made is not None and first is not None:
                    out[k] = (replace(stmt, fill=None),)
                    out[first] = (*made, *nest[1:])
        return tuple(s for made in out for s in made)

    def with_zeros(self, made: Alloc, nest: For) -> Block | None:
        """The nest with zeros before it adds to a row, and the rows it leaves out."""
        assert made.fill is not None
        fill = made.fill
        chain = [nest]
        while len(chain[-1].body) == 1:
            inner = chain[-1].body[0]
            if not (isinstance(inner, For) and inner.parallel):
                break
            chain.append(inner)
        array, rank = made.array, len(made.shape)
        depth = min(len(chain), rank - 1)
        heads = tuple(Var(loop.index) for loop in chain[:depth])
        found = list(_accesses(nest.body, array))
        if (
            len(chain) > depth
            or not all(f.parallel and f.lo == ZERO and f.step == ONE for f in chain)
            or not all(index[:depth] == heads for index in found)
            or any(array in names(e) for f in chain for e in (f.lo, f.hi))
            or any(isinstance(s, (Alloc, Grow)) for s in walk(nest.body))
        ):
            return None
        full = [f.hi in (made.shape[k], Extent(array, k)) for k, f in enumerate(chain)]
        if not all(full[:-1]):
            return None
        scope = set(self.taken)
        rest = tuple(
            Var(fresh(n, scope)) for n in ("z", "zy", "zx", "zw")[: rank - depth]
        )
        if len(rest) < rank - depth:
            return None

        def zeros(head: Expr) -> Stmt:
            index = (*heads[:-1], head, *rest)
            stmt: Stmt = Assign(Load(array, index), fill, loc=made.loc)
            for k in reversed(range(depth, rank)):
                stmt = For(
                    rest[k - depth].name,
                    ZERO,
                    Extent(array, k),
                    ONE,
                    (stmt,),
                    loc=made.loc,
                )
            return stmt

        row = zeros(heads[-1])
        last = Extent(array, depth - 1)
        left: Block = ()
        if not full[-1]:
            row = If(Call("<", (heads[-1], last)), (row,), loc=made.loc)
            more = Var(fresh(chain[-1].index, scope))
            start = _largest((ZERO, chain[-1].hi))
            note = f"the rows of {array} that nothing is added to"
            tail: Stmt = For(
                more.name, start, last, ONE, (zeros(more),), loc=made.loc, note=note
            )
            for loop in reversed(chain[:-1]):
                tail = replace(loop, body=(tail,), parallel="", note="")
            left = (tail,)
        body: Block = (row, *chain[-1].body)
        for loop in reversed(chain):
            body = (replace(loop, body=body),)
        return (*body, *left)

    # ---------------------------------------------------------------- sums

    def summed(self, block: Sequence[Stmt]) -> Block:
        """Increments of one element, one after the other, as one statement."""
        out: list[Stmt] = []
        for stmt in block:
            last = out[-1] if out else None
            match last, stmt:
                case Add(Load() as t, v), Add(u, w) if self.adds(t, u, v, w):
                    first = Call("+", (t, v))
                    out[-1] = Assign(
                        t, Call("+", (first, w)), loc=last.loc, note=last.note
                    )
                    continue
                case Assign(Load() as t, v), Add(u, w) if self.adds(t, u, v, w):
                    out[-1] = replace(last, value=Call("+", (v, w)))
                    continue
            out.append(stmt)
        return tuple(out)

    def adds(self, t: Load, u: Expr, v: Expr, w: Expr) -> bool:
        """Is the second an increment of the same element, rounded as the first?"""
        own = self.types[t.array]
        return (
            u == t
            and t.array not in names(w)
            and all(expr_dtype(e, self.types) == own for e in (v, w))
        )

    # ---------------------------------------------------------------- taps

    def jammed(self, loop: For) -> Block:
        """A short loop of rows as one loop over the row, with a term for each.

        Where each term falls on another element (`a[x + i]`), the row runs over the
        elements that get all terms; the few at its ends keep the loops. Every element
        gets its terms in the order in which it got them.
        """
        match loop:
            case For(
                tap,
                Const(int(first)),
                Const(int(end)),
                Const(1),
                (
                    For(
                        index, lo, hi, Const(1), (Add(Load(array, at), value) as add,)
                    ) as row,
                ),
            ) if 1 <= end - first <= TAPS:
                pass
            case _:
                return (loop,)
        inner = {tap, index}
        if self.sums_apart(row, tap, at, value):
            each = range(first, end)
            terms = tuple(
                map_stmt_exprs(t, _tidy)
                for k in (reversed(each) if loop.reverse else each)
                for t in with_value((add,), tap, Const(k))
            )
            return (replace(row, body=terms),)
        *leading, last = at
        shift = slope(last, tap)
        if (
            loop.parallel
            or row.parallel
            or loop.reverse != row.reverse
            or shift is None
            or slope(last, index) != 1
            or any(names(e) & inner for e in leading)
            or (names(lo) | names(hi)) & inner
            or array in names(value)
            or array in names(lo) | names(hi)
            or any(isinstance(e, Load) for k in at for e in walk_expr(k))
        ):
            return (loop,)
        taps = range(first, end)
        order = tuple(reversed(taps) if loop.reverse else taps)
        place = Var(fresh("at", self.taken)) if shift else Var(index)

        def moved(stmt: Stmt, k: Expr) -> Stmt:
            there = _minus(place, shift, k)
            return map_stmt_exprs(
                map_stmt_exprs(stmt, lambda e: there if e == Var(index) else e), _tidy
            )

        def term(k: int) -> Stmt:
            (one,) = with_value((moved(add, Const(k)),), tap, Const(k))
            return map_stmt_exprs(one, _tidy)

        terms = tuple(term(k) for k in order)
        if not shift:
            return (replace(row, body=self.summed(terms)),)
        reach = sorted((shift * first, shift * (end - 1)))
        begin, stop = plus(lo, reach[1]), plus(hi, reach[0])
        here = _plus_times(lo, shift, tap), _plus_times(hi, shift, tap)
        edge = moved(add, Var(tap))
        left = replace(row, index=place.name, lo=here[0], hi=begin, body=(edge,))
        right = replace(row, index=place.name, lo=stop, hi=here[1], body=(edge,))
        note = f"the elements of {array} that get all of its {len(taps)} terms"
        middle = replace(
            row,
            index=place.name,
            lo=begin,
            hi=stop,
            body=self.summed(terms),
            note=note if len(taps) > 1 else "",
            apart=True,
        )
        if len(taps) == 1:
            return (middle,)
        parts = (
            replace(loop, body=(left,), note=f"the first few of {array}"),
            middle,
            replace(loop, body=(right,), note=f"the last few of {array}"),
        )
        gap, least = linear(hi).plus(linear(lo), -1), reach[1] - reach[0]
        if not gap.terms:
            return parts if gap.constant >= least else (loop,)
        enough = Call(">=", (from_linear(gap), Const(least)))
        return (If(enough, parts, (loop,), loc=loop.loc),)

    def sums_apart(self, row: For, tap: str, at: tuple[Expr, ...], value: Expr) -> bool:
        """Does a loop add to one element, another for each `tap`: a sum for each?"""
        (add,) = row.body
        assert isinstance(add, Add) and isinstance(add.target, Load)
        return (
            sum(tap in names(k) for k in at) == 1
            and Var(tap) in at
            and not any(row.index in names(k) for k in at)
            and not any(isinstance(e, Load) for k in at for e in walk_expr(k))
            and not (names(row.lo) | names(row.hi)) & {tap, row.index, add.target.array}
            and add.target.array not in names(value)
            and not row.parallel
        )

    # ---------------------------------------------------------------- edges

    def peeled(self, loop: For) -> Block:
        """`loop` in up to three parts, of which the middle one has no edges."""
        body = tuple(walk(loop.body))
        if (
            loop.step != ONE
            or len(body) > LONGEST
            or not all(isinstance(s, (Assign, Add, If)) for s in body)
            or _short(loop)
            or (names(loop.lo) | names(loop.hi)) & (written(loop.body) | {loop.index})
        ):
            return (loop,)
        found = _Edges(loop, self.types)
        if not found.low and not found.high:
            return (loop,)
        inner = found.inner
        if inner == loop.body:
            return (loop,)
        found.low = [e for e in found.low if not _beyond(loop.lo, e)]
        found.high = [e for e in found.high if not _beyond(e, loop.hi)]
        start, stop = _largest((loop.lo, *found.low)), _least((loop.hi, *found.high))
        edge = replace(loop, parallel="", note="")
        parts: list[For] = []
        if found.low:
            note = f"the first {loop.index}, where clamps or tests act"
            parts.append(replace(edge, hi=_least((start, loop.hi)), note=note))
        parts.append(replace(loop, lo=start, hi=stop, body=inner))
        if found.high:
            note = f"the last {loop.index}"
            parts.append(replace(edge, lo=_largest((start, stop)), note=note))
        return tuple(reversed(parts) if loop.reverse else parts)


def _minus(place: Var, factor: int, tap: Expr) -> Expr:
    """``place - factor * tap``"""
    return from_linear(linear(place).plus(linear(tap), -factor), (place.name,))


def _plus_times(e: Expr, factor: int, tap: str) -> Expr:
    """``e + factor * tap``"""
    return from_linear(linear(e).plus(linear(Var(tap)), factor))


def _tidy(e: Expr) -> Expr:
    """Subscripts with their numbers added up."""
    if isinstance(e, Load):
        return replace(e, index=tuple(from_linear(linear(k)) for k in e.index))
    return e


# -------------------------------------------------------------------- fusion


def _fused(first: For, second: For) -> For | None:
    """One loop for two, or None where an iteration would see what it did not."""
    same = (first.lo, first.hi, first.step, first.reverse) == (
        second.lo,
        second.hi,
        second.step,
        second.reverse,
    )
    if not same or bool(first.parallel) != bool(second.parallel):
        return None
    plain = (Assign, Add, If, For) if first.parallel else (Assign, Add, If)
    if not all(isinstance(s, plain) for f in (first, second) for s in walk(f.body)):
        return None
    if second.index != first.index:
        if first.index in all_names(second.body):
            return None
        second = replace(
            second,
            index=first.index,
            body=with_value(second.body, second.index, Var(first.index)),
        )
    one, two = set(assigned_scalars(first.body)), set(assigned_scalars(second.body))
    if one & all_names(second.body) or two & all_names(first.body):
        return None
    bounds = names(first.lo) | names(first.hi)
    changed = written(first.body) | written(second.body)
    if bounds & changed or first.index in changed:
        return None
    arrays = {
        s.target_name
        for f in (first, second)
        for s in walk(f.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
    }
    shared = arrays & all_names(first.body) & all_names(second.body)
    if first.parallel and not shared or not first.parallel and len(arrays) > STREAMS:
        return None
    for array in shared:
        accesses = [set(_accesses(f.body, array)) for f in (first, second)]
        if not all(
            _meet(a, b, first.index, changed) for a in accesses[0] for b in accesses[1]
        ):
            return None
    # What either writes, the other touches in the same iteration only.
    proof = "; ".join(dict.fromkeys(p for p in (first.parallel, second.parallel) if p))
    return replace(first, body=(*first.body, *second.body), parallel=proof)


def _touched(stmt: Stmt) -> frozenset[str]:
    """The arrays and scalars that are read or written, not those that are measured."""
    found = set(written((stmt,)))
    for s in walk((stmt,)):
        found.update(*map(names, exprs(s)))
        if isinstance(s, Alloc) and s.source is not None:
            found.add(s.source)
    return frozenset(found)


def _independent(stmt: Stmt, loop: For) -> bool:
    """Can a scalar be set, or an array made, before a loop as well as behind it?"""
    match stmt:
        case Alloc(array, shape, None | Const(), source=None):
            sizes = {
                e.array for k in shape for e in walk_expr(k) if isinstance(e, Extent)
            }
            made = {s.array for s in walk((loop,)) if isinstance(s, (Alloc, Grow))}
            read = frozenset().union(*map(names, shape))
            return not (
                sizes & made or read & written((loop,)) or array in all_names((loop,))
            )
        case Assign(Var(name), value):
            return (
                not any(isinstance(e, (Load, Extent)) for e in walk_expr(value))
                and not names(value) & written((loop,))
                and name not in all_names((loop,))
            )
    return False


def _accesses(block: Block, array: str) -> Iterator[tuple[Expr, ...]]:
    for stmt in walk(block):
        for top in exprs(stmt):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.array == array:
                    yield e.index


def _meet(
    a: tuple[Expr, ...], b: tuple[Expr, ...], index: str, changed: Iterable[str]
) -> bool:
    """Do two accesses touch one element in one iteration only?"""
    fixed = set(changed)
    return any(
        p == q
        and slope(p, index) in (1, -1)
        and not any(isinstance(e, Load) for e in walk_expr(p))
        and not names(p) & fixed
        for p, q in zip(a, b, strict=True)
    )


# -------------------------------------------------------------------- edges


@dataclass(frozen=True)
class _Side:
    """``x >= bound`` (`low`) or ``x < bound``: where an expression is `inner`."""

    low: bool
    bound: Expr
    inner: Expr


class _Edges:
    """The bounds between which the clamps and tests of a loop's body do nothing."""

    def __init__(self, loop: For, types: Mapping[str, str]) -> None:
        self.loop, self.types = loop, types
        self.changed = written(loop.body) | {loop.index}
        self.known: dict[Expr, _Side | None] = {}
        #: The body between the edges; all that was taken for known is in `known` now.
        self.inner = self.cleared(loop.body)
        sides = [s for s in self.known.values() if s is not None]
        self.low = list(dict.fromkeys(s.bound for s in sides if s.low))
        self.high = list(dict.fromkeys(s.bound for s in sides if not s.low))

    def seen(self, e: Expr) -> Expr:
        """The inner form of one expression whose parts have theirs."""
        if not isinstance(e, Call) or len(e.args) != 2:
            return e
        if e not in self.known:
            self.known[e] = self.side(e)
        side = self.known[e]
        return e if side is None else side.inner

    def side(self, e: Call) -> _Side | None:
        if e.op not in ("min", "max", "<", "<=", ">", ">="):
            return None
        if any(is_float(expr_dtype(a, self.types)) for a in e.args):
            return None
        slopes = [slope(a, self.loop.index) for a in e.args]
        if sorted(map(str, slopes)) not in (["0", "1"], ["-1", "0"]):
            return None
        k = 0 if slopes[0] else 1
        moving, other = e.args[k], e.args[1 - k]
        factor = slopes[k]
        assert factor is not None
        if not self.fixed(other) or not self.fixed(_rest(moving, self.loop.index)):
            return None
        op = e.op if k == 0 or e.op in ("min", "max") else _FLIPPED[e.op]
        # moving `op` other, with moving = factor * x + rest
        upward = op in ("max", ">", ">=")
        gap = linear(other).plus(linear(_rest(moving, self.loop.index)), -1)
        if factor == -1:
            gap, upward = Linear((), 0).plus(gap, -1), not upward
        strict = op in ("<", ">")
        bound = from_linear(gap)
        if upward:
            bound = plus(bound, 1) if strict else bound
        else:
            bound = bound if strict else plus(bound, 1)
        inner = moving if e.op in ("min", "max") else Const(True)
        return _Side(upward, bound, inner)

    def fixed(self, e: Expr) -> bool:
        return not names(e) & self.changed and not any(
            isinstance(part, Load)
            or (isinstance(part, Call) and part.op not in ("+", "-", "*", "neg"))
            for part in walk_expr(e)
        )

    def cleared(self, block: Block) -> Block:
        """The body as it is between the edges."""
        out: list[Stmt] = []
        for stmt in block:
            match stmt:
                case If(test, then, orelse):
                    held = map_expr(test, lambda e: _known(self.seen(e)))
                    if held == Const(True):
                        out += self.cleared(then)
                        continue
                    if held == Const(False):
                        out += self.cleared(orelse)
                        continue
                    then, orelse = self.cleared(then), self.cleared(orelse)
                    out.append(replace(stmt, test=held, then=then, orelse=orelse))
                case _:
                    out.append(map_stmt_exprs(stmt, lambda e: _known(self.seen(e))))
        return tuple(out)


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def _rest(e: Expr, index: str) -> Expr:
    """A linear expression without its `index`."""
    form = linear(e)
    terms = tuple(t for t in form.terms if t[0] != Var(index))
    return from_linear(Linear(terms, form.constant))


def _known(e: Expr) -> Expr:
    """Without tests whose outcome is known."""
    match e:
        case Call("and", (Const(True), a)) | Call("and", (a, Const(True))):
            return a
        case Call("or", (Const(True), _)) | Call("or", (_, Const(True))):
            return Const(True)
        case Call("and", (Const(False), _)) | Call("and", (_, Const(False))):
            return Const(False)
        case Call("or", (Const(False), a)) | Call("or", (a, Const(False))):
            return a
        case Call("where", (Const(True), a, _)) | Call("where", (Const(False), _, a)):
            return a
        case Call("not", (Const(bool(value)),)):
            return Const(not value)
    return e


def _opened(loop: For) -> For:
    """A loop of few iterations around others, with tests for what its bounds say.

    ``for j in range(max(0, u - n + 1), min(3, u + 1))`` becomes ``for j in range(3)``,
    which LLVM unrolls; as it stands it would keep the loops inside scalar.
    """
    if (
        loop.step != ONE
        or loop.parallel
        or not any(isinstance(s, For) for s in walk(loop.body))
    ):
        return loop
    low, high = _parts("max", loop.lo), _parts("min", loop.hi)
    first = max((k for e in low if (k := integer(e)) is not None), default=None)
    end = min((k for e in high if (k := integer(e)) is not None), default=None)
    if first is None or end is None or not 0 < end - first <= SHORT:
        return loop
    index = Var(loop.index)
    tests = [Call(">=", (index, e)) for e in low if integer(e) is None]
    tests += [Call("<", (index, e)) for e in high if integer(e) is None]
    if not tests or {loop.index} & frozenset().union(*map(names, (*low, *high))):
        return loop
    changed = written(loop.body)
    if any(names(e) & changed for e in (*low, *high)):
        return loop
    body: Block = loop.body
    for test in reversed(tests):
        body = (If(test, body, loc=loop.loc),)
    return replace(loop, lo=Const(first), hi=Const(end), body=body)


def _parts(op: str, e: Expr) -> list[Expr]:
    """The arguments of nested ``max`` or ``min``."""
    match e:
        case Call(name, args) if name == op:
            return [p for a in args for p in _parts(op, a)]
    return [e]


def _short(loop: For) -> bool:
    match loop.lo, loop.hi:
        case Const(lo), Const(hi):
            return hi - lo <= SHORT
    return False


def _beyond(a: Expr, b: Expr) -> bool:
    """Is ``a >= b`` sure?"""
    gap = linear(a).plus(linear(b), -1)
    return not gap.terms and gap.constant >= 0


def _largest(bounds: Sequence[Expr]) -> Expr:
    return _extreme("max", bounds)


def _least(bounds: Sequence[Expr]) -> Expr:
    return _extreme("min", bounds)


def _extreme(op: str, bounds: Sequence[Expr]) -> Expr:
    """The largest or least, without those that another of them surely is beyond."""
    kept: list[Expr] = []
    for bound in bounds:
        form = linear(bound)
        for k, other in enumerate(kept):
            gap = form.plus(linear(other), -1)
            if not gap.terms:
                beyond = gap.constant > 0 if op == "max" else gap.constant < 0
                kept[k] = bound if beyond else other
                break
        else:
            kept.append(bound)
    result = kept[0]
    for bound in kept[1:]:
        result = Call(op, (result, bound))
    return result
