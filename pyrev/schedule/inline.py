"""Arrays that are computed again wherever an element of them is read.

``recompute=("blurred",)``: the loops that fill ``blurred[y, x]`` are gone, and in front
of a statement that reads ``blurred[y, x - 1]`` stands what computes that one element,
in a scalar (``compute_inline`` of Ragan-Kelley et al., "Halide", PLDI 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from pyrev.ir.accesses import accesses
from pyrev.ir.dtypes import concrete, infer
from pyrev.ir.liveness import exposed, occurs, touched
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
    Extent,
    For,
    If,
    Load,
    Param,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    assigned_scalars,
    blocks,
    exprs,
    fresh,
    loop_indices,
    map_block,
    map_stmt_exprs,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.renaming import guarded_leaves, rename
from pyrev.parse.probes import has_probes
from pyrev.parse.shapes import number


class NotInline(Exception):
    """Why an array can't be computed again where it is read."""


@dataclass(frozen=True, slots=True)
class _Producer:
    """Element ``array[index]`` is what `body` makes of it, beginning with `fill`."""

    array: str
    index: tuple[str, ...]
    fill: Expr | None
    body: Block
    scalars: tuple[str, ...]


def inlined(program: Program, array: str, avoid: frozenset[str]) -> Program:
    """`program` without the local array `array`.

    Law: every other array and scalar gets the same values. `NotInline` where the array
    is not filled by one nest with each element in an iteration of its own, from what
    stays as it is.
    """
    producer, rest = _producer(program, array)
    inliner = _Inliner(producer, {*all_names(program.body), *avoid, *_params(program)})
    made = replace(program, body=number(inliner.block(rest)))
    before, after = _types(program), _types(made)
    for value in inliner.made:
        if concrete(after[value]) != concrete(before[array]):
            raise NotInline(
                f"its elements are {concrete(before[array])}, what is stored in them is"
                f" {concrete(after[value])}"
            )
    return made


def _params(program: Program) -> tuple[str, ...]:
    return tuple(p.name for p in program.params)


def _types(program: Program) -> dict[str, str]:
    params: tuple[Param, ...] = program.params
    return infer(program, {p.name: p.dtype for p in params})


def _producer(program: Program, array: str) -> tuple[_Producer, Block]:
    """How an element is made, and the program without the array and its loops."""
    body = program.body
    makers = [s for s in walk(body) if isinstance(s, Alloc) and s.array == array]
    if len(makers) != 1 or makers[0] not in body:
        raise NotInline("it is not made once, at the top of the function")
    (made,) = makers
    if made.opaque is not None:
        raise NotInline(f"{made.opaque.function} makes all of it")
    if made.source is not None or not isinstance(made.fill, Const | None):
        raise NotInline("it begins as a copy of another array")
    users = [s for s in body if s is not made and array in touched(s)]
    if not users:
        raise NotInline("nothing uses it")
    nest = users[0]
    writers = [s for s in users if array in written((s,))]
    if not isinstance(nest, For) or writers != [nest]:
        raise NotInline("more than one statement of the function writes it")
    whole = [
        s
        for s in walk(body)
        if (isinstance(s, Alloc) and array in s.sources)
        or (isinstance(s, Return) and Var(array) in s.values)
        or (isinstance(s, While) and array in {n for e in exprs(s) for n in _read(e)})
    ]
    if whole:
        raise NotInline("it is used whole, or decides how long a loop runs")
    at = body.index(nest)
    sizes = frozenset().union(*map(names, made.shape))
    if sizes & written(body[body.index(made) + 1 : at + 1]):
        raise NotInline("its loops leave some of its elements out")
    if has_probes((nest,)):
        raise NotInline("`pyrev.probe` calls back once for each of its elements")
    later = written(body[at + 1 :])
    own = {array, *assigned_scalars((nest,)), *loop_indices((nest,))}
    if later & touched(nest) - own:
        raise NotInline("what it is made of changes before it is read")
    producer = _element(nest, made, array, live_after=body[at + 1 :])
    shape = made.shape
    if sizes & later and any(
        isinstance(e, Extent) and e.array == array
        for s in walk(body)
        for top in exprs(s)
        for e in walk_expr(top)
    ):
        raise NotInline("its size is asked for when what it was made of has changed")

    def size(e: Expr) -> Expr:
        return shape[e.axis] if isinstance(e, Extent) and e.array == array else e

    # NumPy would not have made it.
    checks = tuple(
        Check(
            Call(">=", (n, ZERO)),
            "ValueError",
            "negative dimensions are not allowed",
            loc=made.loc,
        )
        for n in shape
        if not isinstance(n, (Const, Extent))
    )
    rest = tuple(
        x
        for s in body
        if s is not nest
        for x in (checks if s is made else map_block((s,), size))
    )
    return producer, rest


def _read(e: Expr) -> Iterator[str]:
    return (x.array for x in walk_expr(e) if isinstance(x, Load))


def _element(nest: For, made: Alloc, array: str, live_after: Block) -> _Producer:
    loops: list[For] = []
    body: Block = (nest,)
    while len(loops) < len(made.shape):
        if len(body) != 1 or not isinstance(body[0], For):
            raise NotInline("its loops hold more than one element at a time")
        loops.append(body[0])
        body = body[0].body
    index = {f.index: f for f in loops}
    used = set(accesses((nest,), array))
    if len(used) != 1 or len(index) != len(loops):
        raise NotInline("an iteration uses more than the element that it makes")
    (target,) = used
    place = [e.name for e in target if isinstance(e, Var)]
    if sorted(place) != sorted(index):
        raise NotInline("its subscripts are not the indices of its loops")
    for k, name in enumerate(place):
        f = index[name]
        ends = made.shape[k], Extent(array, k)
        if f.lo != ZERO or f.step != ONE or f.hi not in ends:
            raise NotInline("its loops leave some of its elements out")
    scalars = assigned_scalars(body)
    if any(exposed(body, n)[0] for n in scalars) or any(
        occurs(live_after, n) and exposed(live_after, n)[0] for n in scalars
    ):
        raise NotInline("an iteration hands a value on")
    if written(body) - {array, *scalars, *loop_indices(body)}:
        raise NotInline("its loops write something else, too")
    return _Producer(array, tuple(place), made.fill, body, scalars)


class _Inliner:
    def __init__(self, producer: _Producer, taken: set[str]) -> None:
        self.producer, self.taken = producer, taken
        #: The scalars that hold elements.
        self.made: list[str] = []

    def block(self, block: Block) -> Block:
        out: list[Stmt] = []
        for s in block:
            values: dict[Expr, Expr] = {}
            for top in exprs(s):
                for path, e in guarded_leaves(top, ()):
                    if isinstance(e, Load) and e.array == self.producer.array:
                        if e in values:
                            continue
                        out += self.value(e, path, values)
            s = with_blocks(s, tuple(self.block(b) for b in blocks(s)))
            if values:
                bare = with_blocks(s, tuple(() for _ in blocks(s)))
                bare = map_stmt_exprs(bare, _instead(values))
                s = with_blocks(bare, blocks(s))
            out.append(s)
        return tuple(out)

    def value(
        self, e: Load, path: tuple[Expr, ...], values: dict[Expr, Expr]
    ) -> Iterator[Stmt]:
        """What computes element `e`; the scalar that holds it goes to `values`."""
        p = self.producer
        if any(p.array in set(_read(k)) for k in (*e.index, *path)):
            raise NotInline("an element decides which one is read")
        name = fresh(f"{p.array}_value", self.taken)
        self.made.append(name)
        own = {n: fresh(n, self.taken) for n in p.scalars}
        own |= {
            s.index: fresh(s.index, self.taken)
            for s in walk(p.body)
            if isinstance(s, (For, While)) and s.index
        }
        at = dict(zip(p.index, e.index, strict=True))

        def element(x: Expr) -> Expr:
            match x:
                case Load(array) if array == p.array:
                    return Var(name)
                case Var(n) if n in at:
                    return at[n]
            return x

        body = map_block(tuple(rename(s, own) for s in p.body), element)
        start = Assign(Var(name), p.fill if p.fill is not None else Const(0.0))
        values[e] = Var(name)
        if not path:
            yield from (start, *body) if _adds(body, name) else body
            return
        test = path[0]
        for more in path[1:]:
            body = (If(more, body),)
        yield start
        yield If(test, body)


def _adds(body: Block, name: str) -> bool:
    """Does `body` read `name` before it sets it, or set it on some paths only?"""
    read, made = exposed(body, name)
    return (
        read
        or not made
        or any(isinstance(s, Add) and s.target == Var(name) for s in body)
    )


def _instead(values: dict[Expr, Expr]) -> Callable[[Expr], Expr]:
    return lambda e: values.get(e, e) if isinstance(e, Load) else e
