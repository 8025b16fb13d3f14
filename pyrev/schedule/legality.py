"""Which loops may run in parallel, which may run in either direction, and the proof.

`For.parallel` is filled here only. `parallelise` looks at the loop as it will be
emitted and trusts nothing about how the loop was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyrev.analysis.dependence import Access, Leaf, Region, private_names
from pyrev.analysis.poly import conj, is_empty
from pyrev.ir.liveness import live_before, live_inside
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
    DisjointWrites,
    Expr,
    For,
    Grow,
    If,
    Load,
    Proof,
    Return,
    Stmt,
    Var,
    While,
    children,
    exprs,
    map_block,
    names,
    substitute,
    walk,
)
from pyrev.ir.simplify import add_int


def prove_parallel(
    loop: For,
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str] = frozenset(),
) -> Proof | None:
    """The proof that `loop` may run in parallel, or None.

    Law: no two iterations touch the same element of anything that one of them writes,
    names private to an iteration apart. `live_out` holds the names that are read after
    the loop (in a serial loop around it also those that its next iteration reads).

    >>> from pyrev.ir.text import proof_text
    >>> from pyrev.parse import parse_block
    >>> (loop,) = parse_block("for i in range(n):\\n    a[i + 1] += b[i]")
    >>> proof_text(prove_parallel(loop, (), frozenset({"a"})))
    'no two iterations of i write the same element of a: [i + 1]'
    >>> (loop,) = parse_block("for i in range(n):\\n    a[i + 1] = a[i]")
    >>> prove_parallel(loop, (), frozenset({"a"})) is None
    True
    """
    if any(isinstance(s, Return) for s in walk((loop,))) or _says_which(loop):
        return None
    if any(isinstance(s, Alloc) and s.opaque is not None for s in walk((loop,))):
        return None  # CPython runs one at a time
    region = Region((loop,), live_out, outer, integers)
    private = private_names(loop, live_out)
    shared: dict[str, tuple[Expr, ...]] = {}
    for s in region.leaves:
        for a in s.accesses:
            if a.kind == "read" or a.name in private or a.depth == 0:
                continue
            if a.index == () or isinstance(s.stmt, (Alloc, Grow)):
                # A scalar that outlives an iteration has one place for all, and so
                # does the name of an array that is made there.
                return None
            if not _alone(region, s, a):
                return None
            shared.setdefault(a.name, _subscripts(s))
    return Proof((DisjointWrites(loop.index, tuple(shared.items())),))


def _says_which(loop: For) -> bool:
    """May iterations raise exceptions of the user's that differ? The first counts."""
    found = [s for s in walk((loop,)) if isinstance(s, Check)]
    kinds = {(s.error, tuple(map(repr, s.arguments))) for s in found}
    if any(s.values for s in found):
        return True
    return len(kinds) > 1 and any(s.given is not None for s in found)


def without(proof: Proof | None, array: str) -> Proof | None:
    """What is left of the proof of a loop that no longer touches `array`.

    >>> from pyrev.ir.text import proof_text
    >>> index = (Var("i"),)
    >>> proof = Proof((DisjointWrites("i", (("a", index), ("c", index))),))
    >>> proof_text(without(proof, "a"))
    'no two iterations of i write the same element of c: [i]'
    >>> proof_text(without(without(proof, "a"), "c"))
    'no iteration of i writes what another reads or writes'
    """
    if proof is None:
        return None
    left = [
        DisjointWrites(c.index, tuple(w for w in c.writes if w[0] != array))
        for c in proof.claims
    ]
    # A claim about nothing is only worth saying if there is no other.
    told = [c for c in left if c.writes or c in proof.claims]
    return Proof(tuple(told) or (left[-1],))


def restated(proof: Proof, loop: For) -> Proof:
    """The proof of `loop` with its subscripts as they are now.

    A pass that gives an extent another name leaves what a proof says, not the words.

    >>> from pyrev.ir.text import proof_text
    >>> from pyrev.parse import parse_block
    >>> (loop,) = parse_block("for i in range(n):\\n    a[i + 1] += b[i]")
    >>> old = Proof((DisjointWrites("i", (("a", (Var("j"),)),)),))
    >>> proof_text(restated(old, loop))
    'no two iterations of i write the same element of a: [i + 1]'
    """
    now: dict[str, tuple[Expr, ...]] = {}
    for s in walk(loop.body):
        if isinstance(s, Assign | Add) and isinstance(s.target, Load):
            now.setdefault(s.target_name, s.target.index)
    return Proof(
        tuple(
            DisjointWrites(c.index, tuple((a, now.get(a, at)) for a, at in c.writes))
            for c in proof.claims
        )
    )


def _subscripts(leaf: Leaf) -> tuple[Expr, ...]:
    stmt = leaf.stmt
    if isinstance(stmt, Assign | Add) and isinstance(stmt.target, Load):
        return stmt.target.index
    return ()


def _alone(region: Region, s: Leaf, a: Access) -> bool:
    """Does no access of another iteration of the outermost loop meet the write `a`?"""
    for t in region.touching()[a.name]:
        for b in region.changed(t)[a.name]:
            if b.depth == 0:
                return False
            same = region.same_element(s, a, t, b)
            if same is None:
                continue
            apart = conj((same, "a0 != b0"))
            # Where the subscripts alone decide, all pairs put the same question.
            names = (*region.variables(s, "a"), *region.variables(t, "b"))
            if is_empty(region.space, names, apart):
                continue
            if region.possible(s, t, apart):
                return False
    return True


def races(region: Region, leaves: Sequence[Leaf]) -> bool:
    """May two iterations of the outermost loop write one element through `leaves`?"""
    for s in leaves:
        for a in s.accesses:
            if a.kind != "read":
                for t in leaves:
                    for b in t.accesses:
                        if b.kind == "read" or b.name != a.name:
                            continue
                        same = region.same_element(s, a, t, b)
                        if same is not None and region.possible(
                            s, t, conj((same, "a0 != b0"))
                        ):
                            return True
    return False


def parallelise(
    loop: For,
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str] = frozenset(),
) -> For:
    """`loop` with its proof in `parallel`, or unchanged where there is none."""
    proof = prove_parallel(loop, outer, live_out, integers)
    return loop if proof is None else replace(loop, parallel=proof, reverse=False)


def chunk_ends(lo: Expr, length: Expr, chunk: Var, count: Const) -> tuple[Expr, Expr]:
    """Where the iterations of a chunk begin, and where they end, of `length` from `lo`
    on in `count` chunks.
    """
    ends: tuple[Expr, ...] = chunk, add_int(chunk, 1)
    if count != length:
        ends = tuple(Call("//", (Call("*", (length, e)), count)) for e in ends)
    first, last = ends if lo == ZERO else (Call("+", (lo, e)) for e in ends)
    return first, last


def least_of_chunk(loop: For) -> Expr | None:
    """How often a loop over one chunk of another runs, at least; None if it is not
    known to be one.

    >>> from pyrev.ir.text import expr_text
    >>> first, last = chunk_ends(Const(2), Var("n"), Var("chunk"), Const(32))
    >>> expr_text(least_of_chunk(For("i", first, last, ONE, ())))
    'n // 32'
    """
    base: Expr = ZERO
    start = loop.lo
    match start:
        case Call("+", (base, Call("//") as start)):
            pass
    match start:
        case Call("//", (Call("*", (length, Var() as chunk)), Const() as count)):
            first, last = chunk_ends(base, length, chunk, count)
            if loop.step == ONE and loop.hi in (last, Call("max", (last, first))):
                return Call("//", (length, count))
    return None


def parallelise_chunks(
    chunks: For,
    plain: For,
    loop: For,
    ends: tuple[Expr, Expr],
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str] = frozenset(),
) -> For:
    """`chunks`, of which each runs the iterations of `loop` from the first of `ends` up
    to the second, with its proof; unchanged where there is none.

    However the range is parted, two chunks run different iterations. So they touch
    different elements if chunks of one iteration each always do. `plain` is the same
    before anything in it was moved: in `chunks` a loop over several iterations at a
    time may be empty where there is one.
    """
    whole = parallelise(chunks, outer, live_out, integers)
    if whole.parallel:
        return whole
    proof: Proof | None = None
    for form in (chunks, plain):
        single = _one_each(form, ends, loop.lo, loop.hi)
        if single is None:
            return chunks
        proof = prove_parallel(single, outer, live_out, integers)
        if proof is None:
            return chunks
    return replace(chunks, parallel=proof)


def _one_each(chunks: For, ends: tuple[Expr, Expr], lo: Expr, hi: Expr) -> For | None:
    """`chunks` with one iteration in each, from `lo` to `hi`; None where more than that
    depends on a chunk's number.
    """
    if not _numbered_only(chunks.body, ends, chunks.index):
        return None

    def one(e: Expr) -> Expr:
        if e == ends[0]:
            return Var(chunks.index)
        return add_int(Var(chunks.index), 1) if e == ends[1] else e

    return replace(chunks, lo=lo, hi=hi, body=map_block(chunks.body, one))


def _ends(chunks: For) -> Iterator[tuple[Expr, Expr]]:
    """Where the ranges of loops begin that follow on each other from one iteration of
    `chunks` to the next, and where they end.
    """
    following = {chunks.index: add_int(Var(chunks.index), 1)}
    for s in walk(chunks.body):
        if isinstance(s, For) and chunks.index in names(s.lo):
            last = substitute(s.lo, following)
            if s.hi in (last, Call("max", (last, s.lo))):
                yield s.lo, last


def _holds(
    loop: For, outer: tuple[For, ...], live: frozenset[str], integers: frozenset[str]
) -> bool:
    """Can it be proved that `loop` may run in parallel, as it stands?"""
    if prove_parallel(loop, outer, live, integers):
        return True
    for ends in _ends(loop):
        lo, hi = (substitute(ends[0], {loop.index: e}) for e in (loop.lo, loop.hi))
        single = _one_each(loop, ends, lo, hi)
        if single is not None and prove_parallel(single, outer, live, integers):
            return True
    return False


def _numbered_only(body: Block, ends: tuple[Expr, Expr], index: str) -> bool:
    """Does `index`, the ends of a range apart, only number the parts of some arrays?"""
    numbered: set[str] = set()
    others: set[str] = set()
    todo = [e for s in walk(body) for e in exprs(s)]
    while todo:
        e = todo.pop()
        if e in ends:
            continue
        if e == Var(index):
            return False
        inner = children(e)
        if isinstance(e, Load):
            own = bool(inner) and inner[0] == Var(index)
            (numbered if own else others).add(e.array)
            inner = inner[own:]
        todo += inner
    return not numbered & others


def together(first: For, second: For) -> For:
    """One loop for two over the same range, of which both are parallel or neither.

    The caller has shown that what either writes the other touches in the same
    iteration only: then both proofs hold for their loop.
    """
    proofs = [p for p in (first.parallel, second.parallel) if p is not None]
    claims = tuple(dict.fromkeys(c for p in proofs for c in p.claims))
    body = (*first.body, *second.body)
    return replace(first, body=body, parallel=Proof(claims) if claims else None)


def free_order(
    loop: For,
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str] = frozenset(),
) -> bool:
    """May the iterations of `loop` run in any order?

    Law: no iteration must stay before another; increments of one element commute.
    """
    if any(isinstance(s, Return) for s in walk((loop,))):
        return False
    region = Region((loop,), live_out, outer, integers)
    private = private_names(loop, live_out)
    for s in region.leaves:
        for t in region.partners(s):
            for a, b in region.conflicts(s, t):
                if a.name in private:
                    continue
                same = region.same_element(s, a, t, b)
                if same is not None and region.possible(s, t, conj((same, "a0 != b0"))):
                    return False
    return True


def unproved(
    block: Block,
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str],
) -> Iterator[For]:
    """The loops that are called parallel, and of which that cannot be proved as they
    stand.
    """
    live = live_out
    for s in reversed(block):
        match s:
            case For():
                if s.parallel and not _holds(s, outer, live, integers):
                    yield s
                inside = live_inside(s, live)
                yield from unproved(s.body, (*outer, s), inside, integers)
            case If():
                yield from unproved(s.then, outer, live, integers)
                yield from unproved(s.orelse, outer, live, integers)
            case While():
                again = live | live_before((s,), live)
                yield from unproved(s.body, outer, again, integers)
        live = live_before((s,), live)


def forward(
    loop: For,
    outer: tuple[For, ...],
    live_out: frozenset[str],
    integers: frozenset[str] = frozenset(),
) -> For:
    """`loop` and the loops inside it, upwards wherever the order is free."""

    def block(stmts: Block, around: tuple[For, ...], live: frozenset[str]) -> Block:
        result: list[Stmt] = []
        for s in reversed(stmts):
            match s:
                case For():
                    result.append(forward(s, around, live, integers))
                case If():
                    then = block(s.then, around, live)
                    result.append(
                        replace(s, then=then, orelse=block(s.orelse, around, live))
                    )
                case While():
                    again = live | live_before((s,), live)
                    result.append(replace(s, body=block(s.body, around, again)))
                case _:
                    result.append(s)
            live = live_before((s,), live)
        return tuple(reversed(result))

    inner = block(loop.body, (*outer, loop), live_inside(loop, live_out))
    reverse = loop.reverse and not free_order(loop, outer, live_out, integers)
    return replace(loop, body=inner, reverse=reverse)
