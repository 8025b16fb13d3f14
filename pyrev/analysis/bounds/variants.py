"""The programs that calls run, by which of their subscripts are negative in them.

Compiled code does not count from the end of an array by itself. A variant of the
program does it for the subscripts that a call makes negative, and holds those inside
their array that float arithmetic may move.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from pyrev.analysis.bounds.facts import facts, fixed_shapes
from pyrev.analysis.bounds.subscripts import Subscript, find
from pyrev.analysis.inspector import (
    Probe,
    clamped,
    from_end,
    inspector,
    loosened,
    rounds,
)
from pyrev.ir.nodes import (
    TRUE,
    Call,
    Const,
    Expr,
    Extent,
    Load,
    Program,
    Stmt,
    blocks,
    children,
    map_block,
    map_expr,
    map_whole,
    mentioned,
    names,
    rebuild,
    with_blocks,
)
from pyrev.ir.text import expr_text


class Variant(NamedTuple):
    """Which program one call runs, by the numbers of its subscripts.

    Those that are `negative` in it, and those to be `clamped`: what float arithmetic
    has a part in may differ in the last bit from what was inspected, and then point
    elsewhere. The sizes alone keep the `natural` ones inside, and not negative.
    """

    negative: tuple[int, ...] = ()
    clamped: tuple[int, ...] = ()
    natural: tuple[int, ...] = ()


class Variants:
    """The variants of one program.

    `usual` is the program shown before any call: it is right for all sizes.
    """

    def __init__(self, program: Program, inside: bool = False) -> None:
        self.program = program
        self.facts = facts(program)
        self.findings = find(self.facts, inside)
        below = (one.site for _, one in self.findings.negative)
        self.usual = Variant(tuple(sorted({*self.findings.affine, *below})))

    def program_for(self, variant: Variant) -> Program:
        """The program that counts negative subscripts from the end by itself.

        Law: the same values, for all arguments.
        """
        if not variant.negative and not variant.clamped:
            return self.program

        def statement(s: Stmt) -> Stmt:
            bare = with_blocks(s, tuple(() for _ in blocks(s)))
            inner = tuple(tuple(map(statement, b)) for b in blocks(s))
            new = map_whole(bare, lambda e: self._point(s.id, e, variant))
            return with_blocks(new, inner)

        return replace(self.program, body=tuple(map(statement, self.program.body)))

    def _point(self, at: int, e: Expr, variant: Variant) -> Expr:
        """`e`, a part of statement `at`, in this variant."""
        inner = tuple(self._point(at, a, variant) for a in children(e))
        new = rebuild(e, inner) if inner else e
        if not isinstance(e, Load) or not isinstance(new, Load):
            return new
        key = map_expr(e, self.facts.sized)
        assert isinstance(key, Load)
        index = list(new.index)
        for axis, k in enumerate(index):
            site = self.findings.sites[at, key, axis]
            # An adjoint may not have the local array, only what its size came from.
            made = self.facts.made.get(e.array)
            size = Extent(e.array, axis) if made is None else made[axis]
            if site in variant.negative:
                index[axis] = from_end(k, size)
            if site in variant.clamped:
                index[axis] = clamped(index[axis], size, site not in self.watched)
        return replace(new, index=tuple(index))

    def inspector(self, variant: Variant) -> Program:
        """The program of `analysis.inspector` for the subscripts that data decides."""
        probes = [self._probe(one, variant) for one in self.findings.inspected]
        return inspector(self.program_for(variant), probes)

    def wider_inspector(self, variant: Variant) -> Program:
        """The one with one answer, which asks no tests that take float arithmetic."""
        probes = [self._probe(one, variant) for one in self.findings.inspected]
        program = self.program_for(variant)
        bare, unasked = loosened(program, probes, self.facts.types)
        return inspector(program, bare, unasked)

    def _probe(self, one: Subscript, variant: Variant) -> Probe:
        index, *path = (self._point(one.at, e, variant) for e in (one.index, *one.path))
        return Probe(
            one.at,
            index,
            one.load.array,
            one.axis,
            len(one.load.index),
            tuple(path),
            one.signed,
            one.once,
        )

    @cached_property
    def watched(self) -> frozenset[int]:
        return frozenset(one.site for one in self.findings.inspected if one.signed)

    @property
    def whatever(self) -> Variant:
        """The program that is right for all sizes and all data."""
        return Variant(tuple(sorted({*self.usual.negative, *self.watched})))

    @cached_property
    def rounded(self) -> frozenset[int]:
        """The inspected subscripts that float arithmetic has a part in."""
        return frozenset(
            one.site
            for one in self.findings.inspected
            if rounds(self.program, self._probe(one, Variant()), self.facts.types)
        )

    @cached_property
    def rounded_themselves(self) -> frozenset[int]:
        """Those that are, whatever tests that take float arithmetic say."""
        inspected, types = self.findings.inspected, self.facts.types
        probes = [self._probe(one, Variant()) for one in inspected]
        bare, unasked = loosened(self.program, probes, types)
        return frozenset(
            one.site
            for one, probe in zip(inspected, bare, strict=True)
            if rounds(self.program, probe, types, unasked)
        )

    def for_adjoint(self, variant: Variant | None) -> Variant:
        """The same for an adjoint in compiled code; None where no sizes are known.

        It may keep how a test came out and compute again, in another order, the float
        whose integer was tested. What the sizes of a call leave no doubt about is
        inside its array however the tests come out.
        """
        if variant is None:
            every = tuple(sorted(self.rounded | self.findings.tested))
            return Variant(self.usual.negative, every)
        clamped = self.findings.tested | set(variant.clamped)
        return variant._replace(clamped=tuple(sorted(clamped)))

    def naturals(self, variant: Variant, adjoint: bool) -> frozenset[Expr]:
        """Subscripts made of floats that are never negative in this program.

        All others that compiled code need not count from the end are made of indices
        and sizes.
        """
        doubtful = (self.findings.below - set(variant.natural)) | {
            *variant.negative,
            *variant.clamped,
            *(self.findings.tested if adjoint else ()),
        }
        found: dict[Expr, bool] = {}
        for (_, load, axis), site in self.findings.sites.items():
            index = load.index[axis]
            found[index] = found.get(index, True) and site not in doubtful
        return frozenset(
            e for e, sure in found.items() if sure and names(e) & self.facts.of_floats
        )

    def described(self) -> tuple[str, ...]:
        """The subscripts that data decides, and the sizes for which it matters."""
        found: dict[str, None] = {}
        for one in self.findings.inspected:
            subscript = expr_text(one.index)
            line = f"{one.place()}`{subscript}` in `{expr_text(one.load)}`"
            if one.doubt != TRUE and set(mentioned(one.doubt)):
                line += f", if {expr_text(one.doubt)}"
            found[line] = None
        return tuple(found)


def natural(program: Program) -> Program:
    """`program` for CPython, which counts from the end by itself: ``a[i - 1]``."""
    return replace(program, body=map_block(program.body, naturally(program)))


def naturally(program: Program) -> Callable[[Expr], Expr]:
    """What leaves out of an element of `program` what CPython does by itself."""
    shapes = fixed_shapes(program.body, frozenset(p.name for p in program.params))

    def sized(e: Expr) -> Expr:
        match e:
            case Extent(array, axis) if array in shapes:
                return shapes[array][axis]
            case _:
                return e

    def plain(e: Expr) -> Expr:
        if not isinstance(e, Load):
            return e
        index = list(e.index)
        for axis, k in enumerate(index):
            match k:
                case Call("where", (Call("<", (_, Const(0))), Call("+", (_, n)), i)):
                    own = sized(Extent(e.array, axis))
                    if sized(n) == own and k == from_end(i, n):
                        index[axis] = i
        return replace(e, index=tuple(index))

    return plain
