"""Which instances of which statements touch the same element, and in which order.

A *leaf* is an Assign, Add or Alloc with the loops and tests around it; an *access* is
one read, write or increment of it. Every question is put to ISL as "is there a pair of
instances such that ...", and whatever is opaque (data-dependent subscripts, bounds or
tests) is left unconstrained, so "no" is a proof and "yes" is a possibility.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal, assert_never

from pyrev.analysis.poly import (
    TRUE_TEXT,
    Case,
    Space,
    conj,
    disj,
    integer_names,
    negated,
    unlike_name,
)
from pyrev.analysis.poly import is_empty as _is_empty
from pyrev.analysis.polynomials import divided, from_polynomial, polynomial, row_widths
from pyrev.ir.affine import Linear, from_linear, integer
from pyrev.ir.liveness import live_before, with_live
from pyrev.ir.nodes import (
    Add,
    Alloc,
    Assign,
    Block,
    Call,
    Check,
    Const,
    Expr,
    For,
    Grow,
    If,
    Load,
    Loop,
    Restart,
    Return,
    Saved,
    Stmt,
    Tell,
    Var,
    While,
    all_names,
    blocks,
    exprs,
    names,
    walk,
    walk_expr,
    written,
)

Kind = Literal["read", "write", "add"]

# ------------------------------------------------------------------ private names


def private_names(loop: Loop, live_after: frozenset[str]) -> frozenset[str]:
    """What every iteration of `loop` sets before use and nobody reads later."""
    if isinstance(loop, While):
        live_after |= names(loop.test)
    candidates = {
        s.array if isinstance(s, Alloc) else s.target_name
        for s in walk(loop.body)
        if isinstance(s, (Assign, Add, Alloc))
    }
    return frozenset(candidates) - live_after - live_before(loop.body, live_after)


# ------------------------------------------------------------------ leaves and accesses


@dataclass(frozen=True)
class At:
    """An occurrence of a loop around a leaf; two occurrences differ in `number`."""

    number: int
    loop: For
    private: frozenset[str]  # private to an iteration of this loop, of none inside it
    early: bool = False  # it may end early, as its body decides


@dataclass(frozen=True)
class Guard:
    """A test around a leaf, made after `depth` of the leaf's loops were entered."""

    number: int
    depth: int
    test: Expr
    holds: bool


@dataclass(frozen=True)
class Access:
    """One element (or the whole, index None) that a leaf reads, writes or increments.

    It happens when `number` comes, inside the first `depth` loops of the leaf.
    """

    kind: Kind
    name: str
    index: tuple[Expr, ...] | None
    number: int
    depth: int


@dataclass(frozen=True)
class Leaf:
    """A statement without blocks, and what surrounds it."""

    stmt: Assign | Add | Alloc | Grow | Check | Tell | Return
    number: int
    loops: tuple[At, ...]
    tests: tuple[Guard, ...]
    accesses: tuple[Access, ...]

    @property
    def depth(self) -> int:
        return len(self.loops)


def _reads(e: Expr, number: int, depth: int) -> Iterator[Access]:
    for part in walk_expr(e):
        match part:
            case Var(name):
                yield Access("read", name, (), number, depth)
            case Load(name, index):
                yield Access("read", name, index, number, depth)
            case Saved():
                raise ValueError("Saved is gone before scheduling")


def _accesses(
    stmt: Assign | Add | Alloc | Grow | Check | Tell | Return, n: int, d: int
) -> Iterator[Access]:
    match stmt:
        case Grow(array):
            yield Access("read", array, None, n, d)
            yield Access("write", array, None, n, d)
        case Check() | Tell():
            for value in exprs(stmt):
                yield from _reads(value, n, d)
        case Assign(target, value) | Add(target, value):
            yield from _reads(value, n, d)
            kind: Kind = "add" if isinstance(stmt, Add) else "write"
            match target:
                case Var(name):
                    yield Access(kind, name, (), n, d)
                case Load(name, index):
                    for k in index:
                        yield from _reads(k, n, d)
                    yield Access(kind, name, index, n, d)
        case Alloc(array):
            for e in exprs(stmt):
                yield from _reads(e, n, d)
            for source in stmt.sources:
                yield Access("read", source, None, n, d)
            yield Access("write", array, None, n, d)
        case Return(values):
            for e in values:
                for a in _reads(e, n, d):
                    whole = isinstance(e, Var)
                    yield Access("read", a.name, None, n, d) if whole else a


def conjuncts(test: Expr) -> tuple[Expr, ...]:
    """The parts of a test joined by ``and``, in the order of their evaluation."""
    match test:
        case Call("and", args):
            return tuple(part for a in args for part in conjuncts(a))
        case _:
            return (test,)


def leaves(block: Block, live_after: frozenset[str]) -> tuple[Leaf, ...]:
    """The leaves of `block` in textual order."""
    return tuple(_Lister().run(block, live_after, (), (), ()))


class _Lister:
    def __init__(self) -> None:
        self.count = 0

    def next(self) -> int:
        self.count += 1
        return self.count

    def run(
        self,
        block: Block,
        live_after: frozenset[str],
        loops: tuple[At, ...],
        tests: tuple[Guard, ...],
        outer: tuple[Access, ...],
    ) -> Iterator[Leaf]:
        for stmt, live in with_live(block, live_after):
            depth = len(loops)
            match stmt:
                case Assign() | Add() | Alloc() | Grow() | Check() | Tell() | Return():
                    n = self.next()
                    own = tuple(_accesses(stmt, n, depth))
                    yield Leaf(stmt, n, loops, tests, (*outer, *own))
                case For(_, lo, hi, step, body):
                    n = self.next()
                    bounds = tuple(
                        a for e in (lo, hi, step) for a in _reads(e, n, depth)
                    )
                    at = At(n, stmt, private_names(stmt, live))
                    back = live | live_before(body, live)
                    inside = (*loops, at)
                    yield from self.run(body, back, inside, tests, (*outer, *bounds))
                case While(test, body):
                    n = self.next()
                    before = [a for e in exprs(stmt)[:-1] for a in _reads(e, n, depth)]
                    before += _reads(test, n, depth + 1)
                    at = At(n, _as_range(stmt, n), private_names(stmt, live), True)
                    back = live | live_before((stmt,), live)
                    inside = (*loops, at)
                    yield from self.run(body, back, inside, tests, (*outer, *before))
                case If(test, then, orelse):
                    n = self.next()
                    made = tuple(_reads(test, n, depth))
                    reads = (*outer, *made)
                    parts = tuple(Guard(n, depth, t, True) for t in conjuncts(test))
                    yield from self.run(then, live, loops, (*tests, *parts), reads)
                    other = Guard(n, depth, test, False)
                    yield from self.run(orelse, live, loops, (*tests, other), reads)
                case Restart():
                    pass
                case _:
                    assert_never(stmt)


#: A bound that no analysis knows.
OPAQUE = Call("int", (Const(0.5),))


def _as_range(loop: While, number: int) -> For:
    """A loop that may end early, as one over a range whose end is not known."""
    index = loop.index or f"?{number}"
    return For(index, loop.lo, OPAQUE, loop.step, loop.body, loc=loop.loc, id=loop.id)


# ------------------------------------------------------------------ formulas


def remade(block: Block) -> frozenset[str]:
    """The arrays of `block` that may have several shapes: made twice, or in a loop."""
    made = [s.array for s in walk(block) if isinstance(s, Alloc)]
    made += 2 * [s.array for s in walk(block) if isinstance(s, Grow)]
    for loop in walk(block):
        if isinstance(loop, (For, While)):
            made += [s.array for s in walk(loop.body) if isinstance(s, Alloc)]
    return frozenset(a for a in made if made.count(a) > 1)


class Near:
    """Accesses of one array, those at other literals left out where one is asked for.

    A long program of ``a[0] = ...``, ``a[1] = ...`` has one or two at each.
    """

    def __init__(self, accesses: Iterable[tuple[Leaf, Access]]) -> None:
        self._every = tuple(accesses)
        self._at: dict[int, list[int]] = {}
        self._anywhere: list[int] = []
        for k, (_, access) in enumerate(self._every):
            at = _literal(access)
            there = self._anywhere if at is None else self._at.setdefault(at, [])
            there.append(k)

    def to(self, access: Access) -> Iterator[tuple[Leaf, Access]]:
        """Those that may meet `access`, in order."""
        at = _literal(access)
        if at is None:
            yield from self._every
            return
        for k in heapq.merge(self._at.get(at, ()), self._anywhere):
            yield self._every[k]


def _literal(access: Access) -> int | None:
    """The first subscript, if it is a literal that does not count from the end."""
    first = integer(access.index[0]) if access.index else None
    return None if first is None or first < 0 else first


#: What an access touches: per subscript its cases, None where opaque; None for all.
Elements = tuple[tuple[Case, ...] | None, ...] | None


class Region:
    """The leaves of a block, and questions about pairs of their instances.

    `outer` are loops around the block; their indices are fixed numbers here. `integers`
    are scalars known to be integers beside those the block itself shows to be, and
    arrays of unlike ones (`known_numbers`).
    """

    def __init__(
        self,
        block: Block,
        live_after: frozenset[str],
        outer: tuple[For, ...] = (),
        integers: frozenset[str] = frozenset(),
    ) -> None:
        self.block, self.live_after = block, live_after
        self.outer, self.given = outer, integers
        self.leaves = leaves(block, live_after)
        changing = written(block)
        known = integers | integer_names(block) | integer_names(outer)
        self.space = Space(known, changing, remade(block))
        self._widths: dict[str, tuple[Linear, ...]] = {}
        self._domains: dict[tuple[int, int, str, int], tuple[Leaf, str]] = {}
        self._elements: dict[tuple[int, str, Access], Elements] = {}
        self._touching: dict[str, tuple[Leaf, ...]] | None = None
        self._changed: dict[int, dict[str, tuple[Access, ...]]] = {}
        self.space.assumed = tuple(self._outer_bounds())

    def _outer_bounds(self) -> Iterator[str]:
        for k, loop in enumerate(self.outer):
            later = {f.index for f in self.outer[k + 1 :]}
            if loop.index in later or loop.index in self.space.changing:
                continue
            # A bound is what it was when the loop was entered.
            if (names(loop.lo) | names(loop.hi)) & written(loop.body):
                continue
            own = self.space.cases(Var(loop.index), {})
            if own is not None:
                text = self.in_range(loop, own[0].term, {}, TRUE_TEXT)
                if text != TRUE_TEXT:
                    yield text

    def in_range(
        self, loop: Loop, name: str, env: Mapping[str, str], within: str
    ) -> str:
        """The formula for `name` to be in the range of `loop`, but for opaque parts."""
        step = integer(loop.step)
        if step is None or step == 0:
            return TRUE_TEXT
        first, last = (">=", "<") if step > 0 else ("<=", ">")
        parts = []
        lo = self.space.compare(name, first, loop.lo, env, within)
        hi = self.space.compare(name, last, loop.hi, env, within)
        if lo is not None:
            parts.append(lo)
        if hi is not None:
            parts.append(hi)
        if abs(step) > 1:
            start = self.space.cases(loop.lo, env, within)
            if start is not None:
                parts.append(
                    disj(
                        conj((c.when, f"({name} - {c.term}) mod {abs(step)} = 0"))
                        for c in start
                    )
                )
        return conj(parts)

    def env(self, leaf: Leaf, prefix: str) -> dict[str, str]:
        """The ISL name of each loop index around `leaf`."""
        return {at.loop.index: f"{prefix}{k}" for k, at in enumerate(leaf.loops)}

    def variables(self, leaf: Leaf, prefix: str) -> tuple[str, ...]:
        return tuple(f"{prefix}{k}" for k in range(leaf.depth))

    def domain(self, leaf: Leaf, prefix: str, depth: int | None = None) -> str:
        """Where `leaf` may run, its first `depth` loops and the tests made in them."""
        depth = leaf.depth if depth is None else depth
        # Leaves of one block share their surroundings; a leaf that is kept keeps them.
        key = (id(leaf.loops), id(leaf.tests), prefix, depth)
        if key not in self._domains:
            self._domains[key] = leaf, self._domain(leaf, prefix, depth)
        return self._domains[key][1]

    def _domain(self, leaf: Leaf, prefix: str, depth: int) -> str:
        env: dict[str, str] = {}
        text = TRUE_TEXT
        tests = [t for t in leaf.tests if t.depth <= depth]
        for k in range(depth + 1):
            for t in tests:
                if t.depth == k:
                    found = self.space.formula(t.test, env, text)
                    if found is not None:
                        text = conj((text, found if t.holds else negated(found)))
            if k < depth:
                loop = leaf.loops[k].loop
                bounds = self.in_range(loop, f"{prefix}{k}", env, text)
                env = {**env, loop.index: f"{prefix}{k}"}
                text = conj((text, bounds))
        return text

    def opaque_tests(self, leaf: Leaf) -> tuple[Guard, ...]:
        """The tests around `leaf` that `domain` leaves out."""
        env: dict[str, str] = {}
        text, found = TRUE_TEXT, []
        for k in range(leaf.depth + 1):
            for t in leaf.tests:
                if t.depth == k and self.space.formula(t.test, env, text) is None:
                    found.append(t)
            text = self.domain(leaf, "i", k)
            if k < leaf.depth:
                env = {**env, leaf.loops[k].loop.index: f"i{k}"}
        return tuple(found)

    def exact(self, leaf: Leaf) -> bool:
        """Is `domain` exact but for tests, that is, are all its loops affine?"""
        env: dict[str, str] = {}
        text = TRUE_TEXT
        for k, at in enumerate(leaf.loops):
            if integer(at.loop.step) in (None, 0):
                return False
            for bound in (at.loop.lo, at.loop.hi):
                if self.space.cases(bound, env, text) is None:
                    return False
            text = conj((text, self.in_range(at.loop, f"i{k}", env, text)))
            env = {**env, at.loop.index: f"i{k}"}
        return True

    def subscripts(self, leaf: Leaf, access: Access, prefix: str) -> Elements:
        """Per subscript its cases, None where opaque; None for the whole array."""
        if access.index is None:
            return None
        p = self.private_depth(leaf, access.name)
        shared = tuple((Case(TRUE_TEXT, f"{prefix}{k}"),) for k in range(p))
        return shared + tuple(
            _cases_there(self, k, leaf, access, prefix) for k in access.index
        )

    def elements(self, leaf: Leaf, access: Access, prefix: str) -> Elements:
        """`subscripts`, but ``a[y * w + x]`` in rows of `w` if all accesses are so."""
        key = (leaf.number, prefix, access)
        if key not in self._elements:
            self._elements[key] = self._in_rows(leaf, access, prefix)
        return self._elements[key]

    def _in_rows(self, leaf: Leaf, access: Access, prefix: str) -> Elements:
        found = self.subscripts(leaf, access, prefix)
        widths = self.widths(access.name)
        if found is None or not widths or access.index is None:
            return found
        rows = self.rows(leaf, access, widths)
        if rows is None:
            return found
        p = self.private_depth(leaf, access.name)
        env = self.env(leaf, prefix)
        within = self.domain(leaf, prefix, access.depth)
        return found[:p] + tuple(self.space.cases(k, env, within) for k in rows)

    def widths(self, name: str) -> tuple[Linear, ...]:
        """Row widths, innermost first, that every access of `name` keeps to."""
        if name not in self._widths:
            self._widths[name] = ()
            uses = [
                (leaf, a)
                for leaf in self.leaves
                for a in leaf.accesses
                if a.name == name and a.index != ()
            ]
            flat = [
                a.index[0] for _, a in uses if a.index is not None and len(a.index) == 1
            ]
            if len(flat) == len(uses):
                found = dict.fromkeys(
                    w for e in flat for w in row_widths(e, self.space.changing)
                )
                for widths in found:
                    if all(self.rows(leaf, a, widths) is not None for leaf, a in uses):
                        self._widths[name] = widths
                        break
        return self._widths[name]

    def rows(
        self, leaf: Leaf, access: Access, widths: tuple[Linear, ...]
    ) -> tuple[Expr, ...] | None:
        """The subscript of `access` in rows of these widths, if it stays in its row."""
        if access.index is None or len(access.index) != 1:
            return None
        env = self.env(leaf, "i")
        env = {n: v for n, v in env.items() if int(v[1:]) < access.depth}
        within = self.domain(leaf, "i", access.depth)
        form = polynomial(access.index[0])
        result: list[Expr] = []
        for width in widths:
            ((w, factor),) = width.terms
            over = {k: c for k, c in form.items() if w in k}
            if any(c % factor for c in over.values()):
                return None
            rest = from_polynomial({k: c for k, c in form.items() if w not in k})
            column = self.space.cases(rest, env, within)
            extent = self.space.cases(from_linear(width), env, within)
            if column is None or extent is None:
                return None
            for c, n in product(column, extent):
                outside = negated(f"0 <= {c.term} and {c.term} < {n.term}")
                if not self.space.excluded(
                    env, conj((within, c.when, n.when, outside))
                ):
                    return None
            result.insert(0, rest)
            form = divided(over, w, factor)
        first = from_polynomial(form)
        if self.space.cases(first, env, within) is None:
            return None
        return (first, *result)

    def private_depth(self, leaf: Leaf, name: str) -> int:
        """How many outer loops a private name belongs to (0: it is shared)."""
        for k in reversed(range(leaf.depth)):
            if name in leaf.loops[k].private:
                return k + 1
        return 0

    def same_element(
        self, s: Leaf, a: Access, t: Leaf, b: Access, p: str = "a", q: str = "b"
    ) -> str | None:
        """The formula for `a` of `s` (``a<k>``) and `b` of `t` (``b<k>``) to meet.

        None if they never do, whatever the instances.
        """
        if a.name != b.name:
            return None
        one, two = self.elements(s, a, p), self.elements(t, b, q)
        ps, pt = self.private_depth(s, a.name), self.private_depth(t, b.name)
        shared = min(ps, pt, self.common(s, t))
        parts = [f"{p}{k} = {q}{k}" for k in range(shared)]
        if one is None or two is None:
            return conj(parts)
        if len(one) - ps != len(two) - pt:
            return conj(parts)
        for k, (x, y) in enumerate(zip(one[ps:], two[pt:], strict=True)):
            if x is None and y is None and not self.widths(a.name):
                x, y = _places(self, k, (s, a, p), (t, b, q))
            if x is not None and y is not None:
                if _two_numbers(x, y):
                    return None
                parts.append(
                    disj(
                        conj((c.when, d.when, f"{c.term} = {d.term}"))
                        for c in x
                        for d in y
                    )
                )
        return conj(parts)

    def common(self, s: Leaf, t: Leaf) -> int:
        """How many loops two leaves share."""
        k = 0
        while k < min(s.depth, t.depth) and s.loops[k].number == t.loops[k].number:
            k += 1
        return k

    def before(
        self,
        s: Leaf,
        a: Access,
        t: Leaf,
        b: Access,
        or_same: bool = False,
        p: str = "a",
        q: str = "b",
    ) -> tuple[str, ...]:
        """Formulas, one per way in which `a` of `s` comes before `b` of `t`."""
        shared = min(self.common(s, t), a.depth, b.depth)
        ways: list[str] = []
        equal: list[str] = []
        for k in range(shared):
            loop = s.loops[k].loop
            step = integer(loop.step)
            if step is None:
                ways.append(conj((*equal, f"{p}{k} != {q}{k}")))
            else:
                less = "<" if (step > 0) != loop.reverse else ">"
                ways.append(conj((*equal, f"{p}{k} {less} {q}{k}")))
            equal.append(f"{p}{k} = {q}{k}")
        if a.number < b.number or (or_same and a.number == b.number):
            ways.append(conj(equal))
        return tuple(ways)

    def possible(self, s: Leaf, t: Leaf, formula: str) -> bool:
        """May instances of `s` and `t` satisfy `formula`?"""
        text = conj((self.domain(s, "a"), self.domain(t, "b"), formula))
        variables = (*self.variables(s, "a"), *self.variables(t, "b"))
        return not _is_empty(self.space, variables, text)

    def depends(self, s: Leaf, t: Leaf) -> bool:
        """Must some instance of `s` stay before some instance of `t`?

        Increments of one array commute: two of them order nothing.
        """
        return any(True for _ in self.dependences(s, t))

    def dependences(
        self, s: Leaf, t: Leaf, apart: bool = False
    ) -> Iterator[tuple[Access, Access]]:
        """The pairs of accesses that order `s` before `t`.

        With `apart` those of two iterations of the outermost loop only.
        """
        other = ("a0 != b0",) if apart else ()
        for a, b in self.conflicts(s, t):
            ways = self.before(s, a, t, b)
            same = self.same_element(s, a, t, b) if ways else None
            if same is not None and any(
                self.possible(s, t, conj((way, same, *other))) for way in ways
            ):
                yield a, b

    def conflicts(self, s: Leaf, t: Leaf) -> Iterator[tuple[Access, Access]]:
        """The pairs of accesses to one name that do not commute."""
        there = self.changed(t)
        for a in s.accesses:
            for b in there.get(a.name, ()):
                if (a.kind, b.kind) not in _FREE:
                    yield a, b

    def changed(self, leaf: Leaf) -> dict[str, tuple[Access, ...]]:
        """The accesses of `leaf` to each name that the block writes."""
        if leaf.number not in self._changed:
            found: dict[str, list[Access]] = {}
            for a in leaf.accesses:
                if a.name in self.space.changing:
                    found.setdefault(a.name, []).append(a)
            self._changed[leaf.number] = {n: tuple(a) for n, a in found.items()}
        return self._changed[leaf.number]

    def touching(self) -> dict[str, tuple[Leaf, ...]]:
        """The leaves that touch each name that the block writes."""
        if self._touching is None:
            found: dict[str, list[Leaf]] = {}
            for leaf in self.leaves:
                for name in self.changed(leaf):
                    found.setdefault(name, []).append(leaf)
            self._touching = {n: tuple(leaves) for n, leaves in found.items()}
        return self._touching

    def partners(self, leaf: Leaf) -> tuple[Leaf, ...]:
        """The leaves that touch a name that `leaf` touches and the block writes.

        Only they can depend on `leaf`, or it on them; in textual order.
        """
        found = {
            t.number: t for name in self.changed(leaf) for t in self.touching()[name]
        }
        return tuple(found[n] for n in sorted(found))


_FREE = (("read", "read"), ("add", "add"))


def _cases_there(
    region: Region, e: Expr, leaf: Leaf, access: Access, prefix: str
) -> tuple[Case, ...] | None:
    """The cases of an expression where an access is made."""
    env = region.env(leaf, prefix)
    env = {n: v for n, v in env.items() if int(v[len(prefix) :]) < access.depth}
    return region.space.cases(e, env, region.domain(leaf, prefix, access.depth))


def _places(
    region: Region,
    k: int,
    one: tuple[Leaf, Access, str],
    two: tuple[Leaf, Access, str],
) -> tuple[tuple[Case, ...] | None, tuple[Case, ...] | None]:
    """The cases of `e` and `f` where the k-th subscripts of two accesses are
    ``order[e]`` and ``order[f]`` of unlike integers, which meet where those do.
    """
    (s, a, p), (t, b, q) = one, two
    if a.index is not None and b.index is not None:
        match a.index[k], b.index[k]:
            case Load(array, (e,)), Load(other, (f,)) if (
                array == other
                and unlike_name(array) in region.given
                and array not in region.space.changing
            ):
                return (
                    _cases_there(region, e, s, a, p),
                    _cases_there(region, f, t, b, q),
                )
    return None, None


def _two_numbers(x: tuple[Case, ...], y: tuple[Case, ...]) -> bool:
    """Are the subscripts two different literals?"""
    if len(x) != 1 or len(y) != 1 or x[0].when != TRUE_TEXT or y[0].when != TRUE_TEXT:
        return False
    one, two = x[0].term, y[0].term
    return one.isdecimal() and two.isdecimal() and one != two


# ------------------------------------------------------------------ overwritten values


def overwritten_after(
    body: Block, stmt_id: int, load: Load | Var, or_same: bool = True
) -> bool:
    """May statement `stmt_id` overwrite, or anything after it, what it reads as `load`?

    Exact where `load` and the writes are affine; True when unsure. A write by the
    instance that reads counts, unless not `or_same`, and so does every later one, in
    whatever nest.

    >>> from dataclasses import replace
    >>> from pyrev.ir.nodes import For
    >>> from pyrev.parse import parse_block
    >>> (nest,) = parse_block('''
    ... for i in range(1, n):
    ...     u[i] = u[i - 1] * u[i]
    ... ''')
    >>> body = (replace(nest, body=(replace(nest.body[0], id=7),)),)
    >>> before, own = body[0].body[0].value.args
    >>> overwritten_after(body, 7, before), overwritten_after(body, 7, own)
    (False, True)
    """
    return _examined(body).overwritten_after(stmt_id, load, or_same)


class _Body:
    """A body about which `overwritten_after` is asked, for each of its statements."""

    def __init__(self, body: Block) -> None:
        self.region = Region(body, all_names(body))
        self.indices = _loop_indices(body)
        self.control = frozenset(s.id for s in walk(body) if blocks(s))
        self.writes: dict[str, Near] = {}
        self.leaves: dict[int, list[Leaf]] = {}
        for leaf in self.region.leaves:
            self.leaves.setdefault(leaf.stmt.id, []).append(leaf)

    def _writes(self, name: str) -> Near:
        found = self.writes.get(name)
        if found is None:
            found = self.writes[name] = Near(
                (t, b)
                for t in self.region.touching().get(name, ())
                for b in self.region.changed(t)[name]
                if b.kind != "read"
            )
        return found

    def overwritten_after(self, stmt_id: int, load: Load | Var, or_same: bool) -> bool:
        region = self.region
        name = load.name if isinstance(load, Var) else load.array
        index = () if isinstance(load, Var) else load.index
        readers = self.leaves.get(stmt_id, ())
        if not readers or stmt_id in self.control:
            return True
        for s in readers:
            read = Access("read", name, index, s.number, s.depth)
            for t, b in self._writes(name).to(read):
                ways = region.before(s, read, t, b, or_same=or_same)
                same = region.same_element(s, read, t, b) if ways else None
                if same is not None and any(
                    region.possible(s, t, conj((w, same))) for w in ways
                ):
                    return True
        return name in self.indices


#: The bodies asked about last: storage asks about few, and about each many times.
_recent: tuple[tuple[Block, _Body], ...] = ()


def _examined(body: Block) -> _Body:
    global _recent
    for known, found in _recent:
        if known is body:
            return found
    made = _Body(body)
    _recent = ((body, made), *_recent[:3])
    return made


def _loop_indices(block: Iterable[Stmt]) -> frozenset[str]:
    found: set[str] = set()
    for s in block:
        match s:
            case For() | While():
                found |= {s.index} | _loop_indices(s.body)
            case If():
                found |= _loop_indices(s.then) | _loop_indices(s.orelse)
    return frozenset(found)
