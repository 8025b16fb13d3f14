"""Calls of functions that run as they are, before and after the reverse sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pyrev.analysis.array_shapes import ArrayShapes
from pyrev.ir.diagnostics import Finding, UnsupportedError
from pyrev.ir.liveness import touched
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Expr,
    Extent,
    For,
    Load,
    Loc,
    Program,
    Stmt,
    Var,
    all_names,
    blocks,
    free_ids,
    fresh,
    like,
    map_expr,
    walk,
    with_blocks,
    written,
)
from pyrev.ir.opaque import Opaque
from pyrev.ir.renaming import rename


@dataclass(frozen=True, slots=True)
class Witness:
    """A copy of an array that nothing reads, whose loops are the primal's: the reverse
    sweep asks for elements as they were at its `store`.
    """

    loops: tuple[For, ...]
    store: Assign


def group(block: Sequence[Stmt], last: int) -> tuple[Alloc, ...]:
    """The results of one call that a block makes one after the other, up to `last`."""
    return tuple(_of_one_call(reversed(block[: last + 1])))[::-1]


def following(block: Sequence[Stmt], first: int) -> tuple[Alloc, ...]:
    """The same, from `first` on."""
    return tuple(_of_one_call(block[first:]))


def _of_one_call(stmts: Iterable[Stmt]) -> Iterator[Alloc]:
    """The results of the call that the first statement is of, until another comes."""
    call: Opaque | None = None
    for s in stmts:
        if not isinstance(s, Alloc) or s.opaque is None:
            return
        call = call or s.opaque
        if not call.same_call(s.opaque):
            return
        yield s


def without_tangent(program: Program) -> bool:
    """Does a program call what runs as it is and has no rule for forward mode?"""
    made = (s for s in walk(program.body) if isinstance(s, Alloc))
    return any(s.opaque is not None and not s.opaque.jvp for s in made)


def no_rule(call: Opaque, at: Loc, mode: str) -> UnsupportedError:
    """What says that nobody knows the derivative of a function that runs as it is."""
    because = f"`{call.function}` runs as it is, and has no rule for {mode} mode"
    helps = "give it one: custom_vjp(rule, result=..., jvp=rule_of_tangents)"
    if mode == "reverse":
        helps = "give that rule one, too, or write it so that pyrev can read it"
    return UnsupportedError([Finding("P117", at, because, helps)])


def witnessed(program: Program) -> Program:
    """`program` with a copy of what each such call gets, and of what it gives.

    Its reverse needs whole arrays as they were: every other value that a sweep asks for
    is one element in an iteration of the primal, which these copies are loops of.
    """
    if not any(isinstance(s, Alloc) and s.opaque for s in walk(program.body)):
        return program
    taken = {*all_names(program.body), *(p.name for p in program.params)}
    shapes = ArrayShapes(program)
    ids = free_ids(program.body)

    def copied(array: str, at: Loc, number: bool) -> tuple[Block, int]:
        # Sizes that are known from the beginning make tapes of known sizes.
        shape = tuple(
            Extent(array, k) if e is None else e for k, e in enumerate(shapes.of(array))
        )
        own = fresh(f"{array}_seen", taken)
        index: tuple[Expr, ...] = (ZERO,)
        if not number:
            names = [fresh(f"{array}_{k}", taken) for k in range(len(shape))]
            index = tuple(map(Var, names))
        store = next(ids)
        inner: Stmt = Assign(Load(own, index), Load(array, index), loc=at, id=store)
        for k, size in zip(reversed(index), reversed(shape), strict=True):
            if isinstance(k, Var):
                inner = For(k.name, ZERO, size, ONE, (inner,), loc=at, id=next(ids))
        made = Alloc(own, shape, None, like(array), loc=at, id=next(ids))
        return (made, inner), store

    def block(stmts: Block) -> Block:
        out: list[Stmt] = []
        k = len(stmts) - 1
        while k >= 0:
            s = stmts[k]
            if not isinstance(s, Alloc) or s.opaque is None:
                out.append(with_blocks(s, tuple(map(block, blocks(s)))))
                k -= 1
                continue
            made = group(stmts, k)
            k -= len(made)
            before: list[Stmt] = []
            after: list[Stmt] = []
            stores: dict[str, int] = {}
            pairs = zip(s.opaque.arguments, s.opaque.ranks, strict=True)
            for a, rank in pairs:
                if rank and isinstance(a, Var) and a.name not in stores:
                    copy, stores[a.name] = copied(a.name, s.loc, False)
                    before += copy
            for one in made:
                number = one.opaque is not None and one.opaque.number
                copy, stores[one.array] = copied(one.array, s.loc, number)
                after += copy
            seen = tuple(stores.items())
            own = [
                replace(one, opaque=replace(one.opaque, seen=seen))
                for one in made
                if one.opaque is not None
            ]
            out += reversed([*before, *own, *after])
        return tuple(reversed(out))

    return replace(program, body=block(program.body))


def witnesses(program: Program) -> Mapping[int, Witness]:
    """The copies of `witnessed`, by the ids of their stores."""
    asked = {
        at
        for s in walk(program.body)
        if isinstance(s, Alloc) and s.opaque is not None
        for _, at in s.opaque.seen
    }
    return {w.store.id: w for w in _nests(program.body, ()) if w.store.id in asked}


def _nests(block: Block, loops: tuple[For, ...]) -> Iterator[Witness]:
    for s in block:
        if isinstance(s, For):
            yield from _nests(s.body, (*loops, s))
        elif isinstance(s, Assign) and isinstance(s.target, Load):
            own = {e.name for e in s.target.index if isinstance(e, Var)}
            yield Witness(tuple(f for f in loops if f.index in own), s)
        else:
            for b in blocks(s):
                yield from _nests(b, loops)


# ------------------------------------------------------------------ afterwards


def without_copies(program: Program) -> Program:
    """The program whose opaque calls take arrays themselves, where they would take
    copies of them.

        c = np.empty_like(a)
        for i in range(a.shape[0]):
            c[i] = a[i]
        u = solve(c, b)

    is ``u = solve(a, b)`` if nothing else uses `c`, and `a` is what it was. Copies that
    were made row by row of a tape stay.
    """
    if not any(isinstance(s, Alloc) and s.opaque for s in walk(program.body)):
        return program
    made = Counter(s.array for s in walk(program.body) if isinstance(s, Alloc))
    once = {
        s.array: s
        for s in walk(program.body)
        if isinstance(s, Alloc) and made[s.array] == 1
    }
    return replace(program, body=_block(program.body, program.body, once))


def _block(block: Block, whole: Block, shapes: Mapping[str, Alloc]) -> Block:
    out = [
        with_blocks(s, tuple(_block(b, whole, shapes) for b in blocks(s)))
        for s in block
    ]
    k = 0
    while k < len(out):
        s = out[k]
        if not isinstance(s, Alloc) or s.fill is not None or s.sources:
            k += 1
            continue
        found = _copy(out, k, whole, shapes)
        if found is None:
            k += 1
            continue
        nest, source, users = found
        for u in users:
            out[u] = rename(out[u], {s.array: source})
        del out[nest], out[k]
    return tuple(out)


def _copy(
    block: Sequence[Stmt],
    at: int,
    whole: Block,
    shapes: Mapping[str, Alloc],
) -> tuple[int, str, list[int]] | None:
    """Where a new array is filled, what it is a copy of, and where it is used; None if
    another array cannot do for it.
    """
    made = block[at]
    assert isinstance(made, Alloc)
    users = [k for k in range(at + 1, len(block)) if made.array in touched(block[k])]
    here = tuple(block[k] for k in (at, *users))
    if len(users) < 2 or _times(whole, made.array) != _times(here, made.array):
        return None
    nest, *calls = users
    source = _source(block[nest], made, shapes)
    if source is None or made.array in written(tuple(block[k] for k in calls)):
        return None
    if not all(_only_given(block[k], made.array) for k in calls):
        return None
    if source in written(tuple(block[nest : calls[-1] + 1])):
        return None
    return nest, source, calls


def _times(block: Block, array: str) -> int:
    """How many statements of a block name an array themselves."""
    bare = (with_blocks(s, tuple(() for _ in blocks(s))) for s in walk(block))
    return sum(array in all_names((s,)) for s in bare)


def _only_given(s: Stmt, array: str) -> bool:
    return isinstance(s, Alloc) and s.opaque is not None and array in s.sources


def _source(nest: Stmt, made: Alloc, once: Mapping[str, Alloc]) -> str | None:
    """The array that loops copy to a new one, element by element."""
    loops: list[For] = []
    while isinstance(nest, For) and len(nest.body) == 1:
        if nest.lo != ZERO or nest.step != ONE:
            return None
        loops.append(nest)
        (nest,) = nest.body
    index = tuple(Var(f.index) for f in loops)
    match nest:
        case Assign(Load(target, to), Load(source, of)) if (
            target == made.array and to == index == of and source != target
        ):
            pass
        case _:
            return None

    def sized(e: Expr) -> Expr:
        """A size in terms of what arrays were made of."""
        for _ in range(len(once)):
            new = map_expr(
                e,
                lambda x: (
                    once[x.array].shape[x.axis]
                    if isinstance(x, Extent) and x.array in once
                    else x
                ),
            )
            if new == e:
                break
            e = new
        return e

    def all_sized(sizes: Sequence[Expr]) -> list[Expr]:
        return [sized(e) for e in sizes]

    own = all_sized([Extent(source, k) for k in range(len(loops))])
    same = own == all_sized([f.hi for f in loops]) == all_sized(made.shape)
    alike = made.dtype == like(source)
    if not alike and source in once:
        alike = made.dtype == once[source].dtype
    return source if same and alike else None
