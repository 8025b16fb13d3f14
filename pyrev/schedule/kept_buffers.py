"""A buffer whose contents every iteration keeps is made where they are kept.

A time step fills `u`, its adjoint needs `u`, so ``u_before[t] = u`` is copied. Where
each iteration fills all that it reads of `u`, and writes nothing to `u` after the copy,
the iteration may as well work in ``u_before[t]``: one array and one copy less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from pyrev.analysis.dependence import Region
from pyrev.analysis.poly import known_numbers
from pyrev.ir.liveness import live_before, live_out, touched, with_live
from pyrev.ir.nodes import (
    ONE,
    ZERO,
    Alloc,
    Assign,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Load,
    Program,
    Return,
    Stmt,
    Var,
    While,
    all_names,
    blocks,
    map_block,
    names,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.schedule.private import filled_first


def kept_in_place(program: Program, types: Mapping[str, str]) -> Program:
    """`program` without the buffers that it copies as they are in each iteration.

    Law: it computes what `program` computes. `types` are the dtypes of the names.

    >>> from pyrev.parse import parse_text
    >>> from pyrev.ir.text import program_text
    >>> f = parse_text('''
    ... def f(x, n):
    ...     u = np.zeros(len(x))
    ...     kept = np.zeros((max(n, 0), len(x)))
    ...     for t in range(n):
    ...         for i in range(len(x)):
    ...             u[i] = x[i]
    ...         for i in range(len(x)):
    ...             kept[t, i] = u[i]
    ...         for i in range(len(x)):
    ...             x[i] += u[i] * u[0]
    ...     return kept
    ... ''')
    >>> print(program_text(kept_in_place(f, {"u": "float64", "kept": "float64"})))
    def f(x, n):
        kept = np.zeros((max(n, 0), x.shape[0]))
        for t in range(n):
            for i in range(x.shape[0]):
                kept[t, i] = x[i]
            for i in range(x.shape[0]):
                x[i] += kept[t, i] * kept[t, 0]
        return kept
    """
    made = [s for s in walk(program.body) if isinstance(s, (Alloc, Grow))]
    count = Counter([s.array for s in made] + [p.name for p in program.params])
    sources = {n for s in made if isinstance(s, Alloc) for n in s.sources}
    returned = {
        n for s in walk(program.body) if isinstance(s, Return) for n in all_names((s,))
    }
    params = frozenset(p.name for p in program.params)
    sized = params - frozenset(s.array for s in made)
    buffers = {
        s.array: s
        for s in made
        if isinstance(s, Alloc)
        and s.source is None
        and count[s.array] == 1
        and s.array not in sources | returned
        and all(_steady(e, params - written(program.body), sized) for e in s.shape)
    }
    once = frozenset(n for n, k in count.items() if k == 1)
    keeper = _Keeper(
        buffers,
        {s.array: s for s in made if isinstance(s, Alloc) and s.source is None},
        once,
        types,
        known_numbers(program.body),
    )
    body = keeper.block(program.body, (), live_out(program))
    if not keeper.gone:
        return program

    def measured(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in keeper.gone:
                return buffers[array].shape[axis]
        return e

    return replace(program, body=map_block(_without(body, keeper.gone), measured))


class _Keeper:
    def __init__(
        self,
        buffers: Mapping[str, Alloc],
        made: Mapping[str, Alloc],
        once: frozenset[str],
        types: Mapping[str, str],
        integers: frozenset[str],
    ) -> None:
        self.buffers, self.made, self.once = buffers, made, once
        self.types, self.integers = types, integers
        self.gone: set[str] = set()

    def block(
        self, block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> Block:
        result: list[Stmt] = []
        for at, (s, after) in enumerate(with_live(block, live)):
            if isinstance(s, For):
                for array, maker in self.buffers.items():
                    here = any(maker is other for other in block[:at])
                    if here and not self.used_elsewhere(array, block, at):
                        s = self.moved(s, maker, outer, after)
            again, around = after, outer
            if isinstance(s, (For, While)):
                again = after | live_before((s,), after)
                again |= live_before(blocks(s)[0], again)
            if isinstance(s, For):
                around = (*outer, s)
            inner = tuple(self.block(b, around, again) for b in blocks(s))
            result.append(with_blocks(s, inner))
        return tuple(result)

    def used_elsewhere(self, array: str, block: Block, at: int) -> bool:
        """Is `array` read or written by another statement than the one `at`?"""
        return any(
            array in touched(s) and s is not self.buffers[array]
            for k, s in enumerate(block)
            if k != at
        )

    def same_axes(self, kept: str, maker: Alloc) -> bool:
        """Are the last axes of `kept` those of the buffer, for negative subscripts?"""
        other = self.made.get(kept)
        if other is None:
            return False
        last = other.shape[-len(maker.shape) :]
        return all(
            size in (own, Extent(maker.array, k), Call("max", (own, ZERO)))
            for k, (size, own) in enumerate(zip(last, maker.shape, strict=True))
        )

    def moved(
        self, loop: For, maker: Alloc, outer: tuple[For, ...], live: frozenset[str]
    ) -> For:
        """`loop`, working where it copies the array of `maker` to, if it may."""
        array = maker.array
        if array in live or any(isinstance(s, Return) for s in walk(loop.body)):
            return loop
        for at, s in enumerate(loop.body):
            place = _copy(s, maker)
            if place is None:
                continue
            kept, prefix = place
            rest = (*loop.body[:at], *loop.body[at + 1 :])
            changed = written((loop,)) - {loop.index}
            if (
                kept not in self.once
                or self.types[kept] != self.types[array]
                or any(names(e) & changed for e in prefix)
                or any(isinstance(p, Load) for e in prefix for p in walk_expr(e))
                or not self.same_axes(kept, maker)
                or array in written(loop.body[at + 1 :])
                or any(kept in touched(t) for t in rest)
                or any(isinstance(t, Alloc) and t.array == kept for t in walk(rest))
            ):
                return loop
            region = Region((loop,), live, outer, self.integers)
            if not filled_first(region, array, maker.shape):
                return loop
            self.gone.add(array)

            def there(
                e: Expr, kept: str = kept, prefix: tuple[Expr, ...] = prefix
            ) -> Expr:
                if isinstance(e, Load) and e.array == array:
                    return replace(e, array=kept, index=(*prefix, *e.index))
                return e

            return replace(loop, body=map_block(rest, there))
        return loop


def _copy(s: Stmt, maker: Alloc) -> tuple[str, tuple[Expr, ...]] | None:
    """Where `s` copies all of the array of `maker` to: an array, and its first axes."""
    indices: list[str] = []
    while isinstance(s, For):
        axis = len(indices)
        if axis == len(maker.shape):
            return None
        whole = (Extent(maker.array, axis), maker.shape[axis])
        if len(s.body) > 1 or s.lo != ZERO or s.step != ONE or s.hi not in whole:
            return None
        indices.append(s.index)
        (s,) = s.body
    match s:
        case Assign(Load(kept, index), Load(array, element)) if (
            array == maker.array
            and len(element) == len(maker.shape) == len(indices)
            and element == tuple(map(Var, indices))
            and index[-len(indices) :] == element
            and len(index) > len(indices)
        ):
            prefix = index[: -len(indices)]
            if not any(names(e) & set(indices) for e in prefix):
                return kept, prefix
    return None


def _steady(size: Expr, fixed: frozenset[str], sized: frozenset[str]) -> bool:
    """Is this size the same wherever it is asked for?"""
    match size:
        case Const():
            return True
        case Extent(array):
            return array in sized
        case Var(name):
            return name in fixed
    return False


def _without(block: Block, arrays: set[str]) -> Block:
    """`block` without what makes `arrays`."""
    return tuple(
        with_blocks(s, tuple(_without(b, arrays) for b in blocks(s)))
        for s in block
        if not (isinstance(s, Alloc) and s.array in arrays)
    )
