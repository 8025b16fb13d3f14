"""Which damaged adjoints do the tests notice? The mutation check, in the IR.

A mutant is a derived adjoint with one small wrong change: a recorded value that is not
the recorded one, a mask or a zeroing that is gone, two dependent statements swapped, an
increment that overwrites, a loop that runs the other way, an iteration too many or too
few, a loop called parallel that nobody proved to be. Mutants are made from the corpus
without a hand in it: every place of every kind is listed, and a sample is drawn by a
checksum of its description.

A mutant is caught if the program is refused, fails, misses a derivative that central
differences of the plain function give, leaves an argument changed, or, where only the
order of iterations is at stake, races or depends on that order. What is not caught must
be equivalent, for a reason. Most reasons are tested here: a `witness`, a program that
stops or differs if the reason does not hold, runs beside the original at many sizes and
draws. The few that are left are argued one by one in `test_mutants.EQUIVALENT`.

    python -m tests.tools.mutants [--all] [--seconds N] [function ...]
"""

from __future__ import annotations

import argparse
import ast
import copy
import functools
import math
import signal
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FrameType
from typing import Any

import numpy as np

import pyrev
from pyrev.adjoint.tidy import tidy
from pyrev.analysis.dependence import overwritten_after
from pyrev.driver.derive import RESERVED, Derived, derive, prepared
from pyrev.driver.passes import schedule
from pyrev.emit.python import emit_python
from pyrev.ir.diagnostics import InternalError, UnsupportedError
from pyrev.ir.dtypes import concrete, infer
from pyrev.ir.nodes import (
    TRUE,
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
    Grow,
    If,
    Load,
    Loc,
    Program,
    Return,
    Saved,
    Stmt,
    Var,
    While,
    assigned_scalars,
    blocks,
    children,
    exprs,
    map_block,
    names,
    rebuild,
    walk,
    walk_expr,
    with_blocks,
    written,
)
from pyrev.ir.text import block_text, expr_text
from pyrev.ir.wellformed import check
from pyrev.schedule.storage import store
from pyrev.testing import Cotangents, Values, derivative, draw_cotangents, floats, run
from tests.corpora.corpus import ENTRIES
from tests.corpora.entry import Entry
from tests.tools.interpreted import (
    Recorder,
    Recording,
    RecordingNumpy,
    Unsafe,
    called_parallel,
    shuffled,
)
from tests.tools.oracle import GRADIENT, same_bits

#: Functions whose adjoints record, mask, zero, carry, gather and own, of every kind.
FUNCTIONS = (
    *("conv1d", "conv2d", "masked_update", "gamma_loss", "box_clamped", "horner"),
    *("two_outputs", "running_product", "logistic_map", "two_states"),
    *("nested_accumulators", "carried_through_two_loops", "reset_on_branch"),
    *("minimum_of_squares", "cumulative_max_array", "integer_recurrence_index"),
    *("square_twice", "chain_against_order", "in_place_time_steps", "gauss_seidel"),
    *("read_then_overwrite", "in_place_multiply", "every_other_overwritten"),
    *("rotate_left", "scalar_slot", "index_overwritten", "condition_overwritten"),
    *("recurrence_in_a_loop", "nested_conditions", "triangular_product"),
    *("max_pool", "gather_table", "sparse_matvec", "scratch_per_turn"),
    *("forward_substitution", "lu_in_place", "cholesky", "power_iteration"),
    *(
        "maximum_element",
        "polynomial_by_powers",
        "pairwise_forces",
        "dynamic_time_warp",
    ),
    *("lotka_volterra", "jacobi_steps", "recurrent_network", "only_scalars"),
    *("every_parameter_kind", "carried_under_a_test"),
)
PER_KIND = 2  # mutants of one kind of one stage of one function
ROUNDING = 1e-12  # relative: sums in another order
SECONDS = 5.0  # after which a mutant counts as one that does not end

BY_NAME = {entry.name: entry for entry in ENTRIES}


@dataclass(frozen=True, slots=True)
class Mutant:
    """One damaged adjoint: what was done to it, where, and the program that is left."""

    function: str
    stage: str  # "saved", "derived" or "scheduled": after which pass it was damaged
    kind: str
    where: str
    program: Program = field(repr=False, compare=False)
    # Why it may be equivalent, each with a program that fails if that is not so.
    reasons: tuple[tuple[str, Program], ...] = field(default=(), repr=False)
    #: The line of the function that it is about, and which one of that kind there.
    place: str = ""

    @property
    def key(self) -> str:
        """What it is, however the text prints."""
        return f"{self.function} ({self.stage}): {self.kind}, {self.place}"

    def __str__(self) -> str:
        return f"{self.key}: {self.where}"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: `caught` says by what; "" if by nothing.

    Then `same` says whether it always computed what the original computes, up to
    rounding, and `reason` why, if the reason was tested.
    """

    mutant: Mutant
    caught: str
    same: bool = False
    reason: str = ""


# ------------------------------------------------------------------ how to damage


@dataclass(frozen=True, slots=True)
class Edit:
    """What was done, the block that is left, and what would make it harmless."""

    note: str
    block: Block
    reasons: tuple[tuple[str, Block], ...] = ()
    line: int = 0  # of the user's function


Change = Callable[[Block, int], Iterable[Edit]]


def edits(block: Block, change: Change) -> list[Edit]:
    """Every single change that `change` makes to a statement of a block."""
    found: list[Edit] = []
    for k, stmt in enumerate(block):
        found += [replace(e, line=stmt.loc.line) for e in change(block, k)]
        inner = blocks(stmt)
        for j, one in enumerate(inner):

            def around(made: Block, k: int = k, j: int = j) -> Block:
                old = blocks(block[k])
                whole = with_blocks(block[k], (*old[:j], made, *old[j + 1 :]))
                return (*block[:k], whole, *block[k + 1 :])

            for e in edits(one, change):
                reasons = tuple((why, around(witness)) for why, witness in e.reasons)
                found.append(Edit(e.note, around(e.block), reasons, e.line))
    return found


def said(stmt: Stmt) -> str:
    """The first line of a statement, as it prints."""
    lines = block_text((stmt,)).splitlines()
    code = (line.split("  #")[0].strip() for line in lines)
    return next(line for line in code if not line.startswith("#"))


def instead(block: Block, k: int, *new: Stmt) -> Block:
    return (*block[:k], *new, *block[k + 1 :])


def variants(expr: Expr, change: Callable[[Expr], Iterable[Expr]]) -> Iterator[Expr]:
    """`expr` with one node changed, in every way."""
    yield from change(expr)
    parts = children(expr)
    for k, part in enumerate(parts):
        for new in variants(part, change):
            yield rebuild(expr, (*parts[:k], new, *parts[k + 1 :]))


def statement_variants(
    stmt: Stmt, change: Callable[[Expr], Iterable[Expr]]
) -> Iterator[Stmt]:
    """The statement with one node of one of the expressions it reads changed."""
    match stmt:
        case Assign() | Add():
            for new in variants(stmt.value, change):
                yield replace(stmt, value=new)
            if isinstance(stmt.target, Load):
                for k, at in enumerate(stmt.target.index):
                    for new in variants(at, change):
                        index = stmt.target.index
                        moved = (*index[:k], new, *index[k + 1 :])
                        yield replace(stmt, target=replace(stmt.target, index=moved))
        case If() | While():
            for new in variants(stmt.test, change):
                yield replace(stmt, test=new)
        case For():
            for new in variants(stmt.lo, change):
                yield replace(stmt, lo=new)
            for new in variants(stmt.hi, change):
                yield replace(stmt, hi=new)
        case _:
            return


def plus(expr: Expr, n: int) -> Expr:
    return Call("+" if n > 0 else "-", (expr, Const(abs(n))))


def recorded(derived: Derived) -> frozenset[str]:
    """The arrays that `store` introduced to keep values in."""
    found = {s.array for s in walk(derived.program.body) if isinstance(s, Alloc)}
    before = written(derived.adjoint.program.body)
    return frozenset(name for name in found - before if "_tape" in name)


UNREAD = "nothing reads what is written there"
STILL_ZERO = "the element is zero until then"
HOLDS = "the test holds wherever it is asked"
SAME_SIDES = "both sides are equal where it fails (singular points apart)"
FREE = "each iteration only adds to what others touch"
OWN = "no iteration touches what another one touches"
ALIKE = "every iteration does the same"


def record_lost(tapes: frozenset[str]) -> Change:
    """A recorded value is zero instead."""

    def change(block: Block, k: int) -> Iterator[Edit]:
        match block[k]:
            case Assign(_, value) as s if s.target_name in tapes:
                if not isinstance(value, Const):
                    new = replace(s, value=Const(0))
                    yield Edit(said(s), instead(block, k, new), (unread(block, k),))

    return change


def record_of_a_neighbour(tapes: frozenset[str]) -> Change:
    """A record is read one place too far on, or one too early."""

    def moved(e: Expr) -> Iterator[Expr]:
        if isinstance(e, Load) and e.array in tapes:
            for k, at in enumerate(e.index):
                for n in (1, -1):
                    index = (*e.index[:k], plus(at, n), *e.index[k + 1 :])
                    yield replace(e, index=index)

    def change(block: Block, k: int) -> Iterator[Edit]:
        for new in statement_variants(block[k], moved):
            note = f"{said(block[k])} -> {said(new)}"
            yield Edit(note, instead(block, k, new), (unread(block, k),))

    return change


def mask_gone(block: Block, k: int) -> Iterator[Edit]:
    """A test that is always true; a selection that never asks."""
    stmt = block[k]
    if isinstance(stmt, If) and stmt.test != TRUE:
        new = replace(stmt, test=TRUE)
        holds = (HOLDS, instead(block, k, asserted(stmt.test), stmt))
        aside = unread(stmt.then, None)[1]
        idle = (UNREAD, instead(block, k, replace(stmt, orelse=aside)))
        reasons = (holds, unread(block, k) if stmt.orelse else idle)
        yield Edit(said(stmt), instead(block, k, new), reasons)
    for top in exprs(stmt):
        for e in walk_expr(top):
            if isinstance(e, Call) and e.op == "where":
                yield from _unmasked(block, k, e)


def _unmasked(block: Block, k: int, selection: Call) -> Iterator[Edit]:
    test, yes, no = selection.args
    equal = asserted(Call("or", (test, Call("==", (yes, no)))))
    told = (SAME_SIDES, instead(block, k, equal, block[k]))

    def first(e: Expr) -> Iterator[Expr]:
        if e is selection:
            yield yes

    for new in statement_variants(block[k], first):
        note = f"{said(block[k])} -> {said(new)}"
        yield Edit(note, instead(block, k, new), (told,))


def asserted(test: Expr) -> Check:
    return Check(test, "AssertionError", "")


def unread(block: Block, k: int | None) -> tuple[str, Block]:
    """The reason that nothing reads what statement `k` (or all) writes; a witness."""

    def spoilt(stmt: Stmt) -> Stmt:
        if isinstance(stmt, (Assign, Add)):
            return replace(stmt, value=Const(math.nan))
        return with_blocks(stmt, tuple(tuple(map(spoilt, b)) for b in blocks(stmt)))

    made = [spoilt(s) if k is None or k == at else s for at, s in enumerate(block)]
    return UNREAD, tuple(made)


def zeroing_gone(block: Block, k: int) -> Iterator[Edit]:
    match block[k]:
        case Assign(_, Const(value)) as s if repr(value) == "0.0":
            yield Edit(said(s), instead(block, k), (unread(block, k),))


def increment_gone(block: Block, k: int) -> Iterator[Edit]:
    match block[k]:
        case Add() as s:
            yield Edit(said(s), instead(block, k), (unread(block, k),))


def increment_overwrites(block: Block, k: int) -> Iterator[Edit]:
    match block[k]:
        case Add(target, value) as s:
            made = instead(block, k, Assign(target, value, loc=s.loc))
            yield Edit(said(s), made, (still_zero(block, k, target), unread(block, k)))


def assignment_increments(block: Block, k: int) -> Iterator[Edit]:
    match block[k]:
        case Assign(Load() as target, value) as s:
            made = instead(block, k, Add(target, value, loc=s.loc))
            yield Edit(said(s), made, (still_zero(block, k, target), unread(block, k)))


def still_zero(block: Block, k: int, target: Var | Load) -> tuple[str, Block]:
    test = asserted(Call("==", (target, Const(0.0))))
    return STILL_ZERO, instead(block, k, test, block[k])


def swapped(block: Block, k: int) -> Iterator[Edit]:
    """A statement and the one before it, which depends on it or it on that."""
    if k and not isinstance(block[k], Return) and depends(block[k - 1], block[k]):
        note = f"{said(block[k - 1])} <-> {said(block[k])}"
        made = (*block[: k - 1], block[k], block[k - 1], *block[k + 1 :])
        yield Edit(note, made)


def other_direction(block: Block, k: int) -> Iterator[Edit]:
    stmt = block[k]
    if isinstance(stmt, For) and not stmt.parallel:
        made = instead(block, k, replace(stmt, reverse=not stmt.reverse))
        yield Edit(said(stmt), made, (*shown(stmt, block), unread(block, k)))


def shown(loop: For, block: Block) -> Iterator[tuple[str, Block]]:
    """Reasons for any order of iterations that the text of a loop shows at once."""
    if loop.index not in {
        n for s in walk(loop.body) for e in exprs(s) for n in names(e)
    }:
        yield ALIKE, block
    if owns(loop):
        yield OWN, block
    elif only_adds(loop):
        yield FREE, block


def other_bounds(block: Block, k: int) -> Iterator[Edit]:
    stmt = block[k]
    if isinstance(stmt, For):
        for new in (
            replace(stmt, lo=plus(stmt.lo, 1)),
            replace(stmt, hi=plus(stmt.hi, -1)),
            replace(stmt, hi=plus(stmt.hi, 1)),
        ):
            note = f"{said(stmt)} -> {said(new)}"
            yield Edit(note, instead(block, k, new), (unread(block, k),))


def unproved(block: Block, k: int) -> Iterator[Edit]:
    """A loop that the compiler left serial, called parallel."""
    stmt = block[k]
    if isinstance(stmt, For) and not stmt.parallel:
        made = instead(block, k, called_parallel(stmt))
        yield Edit(said(stmt), made, ((OWN, block),) if owns(stmt) else ())


# ------------------------------------------------------------------ what depends


@dataclass(slots=True)
class Effects:
    """What a block reads of what was there before it, assigns, and only adds to.

    `own` are scalars and arrays that it makes before it reads them.
    """

    reads: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    added: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)

    def look(self, block: Block) -> Effects:
        for stmt in block:
            self._look(stmt)
        return self

    def _read(self, *values: Expr) -> None:
        for value in values:
            self.reads |= names(value) - self.own

    def _inside(self, block: Block, own: set[str]) -> None:
        inner = Effects(own=self.own | own).look(block)
        self.reads |= inner.reads
        self.assigned |= inner.assigned - own
        self.added |= inner.added

    def _look(self, stmt: Stmt) -> None:
        match stmt:
            case Assign(target, value):
                self._read(value, *(target.index if isinstance(target, Load) else ()))
                self.assigned.add(stmt.target_name)
                if isinstance(target, Var) and target.name not in self.reads:
                    self.own.add(target.name)
            case Add(target, value):
                self._read(value, *(target.index if isinstance(target, Load) else ()))
                if stmt.target_name in self.own:
                    self.assigned.add(stmt.target_name)
                else:
                    self.added.add(stmt.target_name)
            case Alloc(array, _, _, _, source):
                self._read(*exprs(stmt))
                self.reads |= {source} - self.own if source is not None else set()
                self.assigned.add(array)
                self.own.add(array)
            case For(index) | While(index=index):
                self._read(*exprs(stmt))
                self.reads -= {index} - self.own
                self._inside(stmt.body, {index})
            case If():
                self._read(stmt.test)
                for block in blocks(stmt):
                    self._inside(block, set())
            case _:
                self._read(*exprs(stmt))


def depends(one: Stmt, two: Stmt) -> bool:
    """May the order of two statements matter? Increments commute."""
    if isinstance(one, (Assign, Add)) and isinstance(two, (Assign, Add)):
        return meets(one, two) or meets(two, one)
    a, b = Effects().look((one,)), Effects().look((two,))
    shared = a.own & b.own
    return bool(
        (a.assigned | a.added) & b.reads
        or (b.assigned | b.added) & a.reads
        or (a.assigned & (b.assigned | b.added)) - shared
        or (b.assigned & (a.assigned | a.added)) - shared
    )


def meets(writer: Assign | Add, other: Assign | Add) -> bool:
    """May `other` touch what `writer` writes, in a way that does not commute?"""
    target = other.target
    touched = [e for e in walk_expr(other.value) if isinstance(e, (Var, Load))]
    if isinstance(target, Load):
        touched += [
            e
            for at in target.index
            for e in walk_expr(at)
            if isinstance(e, (Var, Load))
        ]
    if not (isinstance(writer, Add) and isinstance(other, Add)):
        touched.append(target)
    return any(same_place(writer.target, e) for e in touched)


def same_place(one: Var | Load, two: Var | Load) -> bool:
    """May these be the same? Subscripts that differ by a number never are."""
    if isinstance(one, Var) or isinstance(two, Var):
        return isinstance(one, Var) and isinstance(two, Var) and one.name == two.name
    if one.array != two.array:
        return False
    return not any(apart(a, b) for a, b in zip(one.index, two.index, strict=True))


def apart(one: Expr, two: Expr) -> bool:
    """Do two subscripts differ by the same number, not zero, wherever they are asked?

    Both are sums and multiples of integers; one that is not is never apart.
    """
    leaves = sorted(
        {
            expr_text(e)
            for top in (one, two)
            for e in walk_expr(top)
            if isinstance(e, (Var, Extent))
        }
    )
    rng = np.random.default_rng(0)
    found = set()
    for _ in range(8):
        env = {leaf: int(rng.integers(0, 99)) for leaf in leaves}
        values = linear(one, env), linear(two, env)
        if values[0] is None or values[1] is None:
            return False
        found.add(values[0] - values[1])
    return len(found) == 1 and found != {0}


def linear(expr: Expr, env: Mapping[str, int]) -> int | None:
    """The value of a subscript; None if it is more than sums and products."""
    match expr:
        case Const(int() as value):
            return value
        case Var() | Extent():
            return env[expr_text(expr)]
        case Call("+" | "-" | "*" as op, (a, b)):
            x, y = linear(a, env), linear(b, env)
            if x is None or y is None:
                return None
            return {"+": x + y, "-": x - y, "*": x * y}[op]
    return None


def only_adds(loop: For) -> bool:
    """Do its iterations share nothing but increments, and arrays of their own?"""
    seen = Effects(own={loop.index}).look(loop.body)
    return all(
        (name in seen.added and name not in seen.reads | seen.assigned)
        or aligned(loop, name)
        for name in shared(loop, seen)
    )


def owns(loop: For) -> bool:
    """Is all that it writes its iteration's own: made there, or at its own index?"""
    seen = Effects(own={loop.index}).look(loop.body)
    return all(aligned(loop, name) for name in shared(loop, seen))


def shared(loop: For, seen: Effects) -> set[str]:
    """What more than one iteration may touch; not a scalar made before it is read."""
    arrays = {
        s.target.array
        for s in walk(loop.body)
        if isinstance(s, (Assign, Add)) and isinstance(s.target, Load)
    }
    grown = {s.array for s in walk(loop.body) if isinstance(s, Grow)}
    found = {n for n in seen.assigned if n in arrays or n in seen.reads}
    return (found | seen.added | grown) - seen.own


def aligned(loop: For, array: str) -> bool:
    """Has every access to the array in a loop the loop's index on one same axis?"""
    found = [
        e.index
        for s in walk(loop.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Load) and e.array == array
    ]
    whole = [
        e
        for s in walk(loop.body)
        for top in exprs(s)
        for e in walk_expr(top)
        if isinstance(e, Var) and e.name == array
    ]
    copied = [s for s in walk(loop.body) if isinstance(s, Alloc) and s.source == array]
    return (
        bool(found)
        and not whole
        and not copied
        and any(
            all(index[axis] == Var(loop.index) for index in found)
            for axis in range(len(found[0]))
        )
    )


def changes(tapes: frozenset[str]) -> dict[str, Change]:
    """Every kind of damage to a program, by name."""
    return {
        "record lost": record_lost(tapes),
        "record of a neighbour": record_of_a_neighbour(tapes),
        "mask gone": mask_gone,
        "zeroing gone": zeroing_gone,
        "increment gone": increment_gone,
        "increment overwrites": increment_overwrites,
        "assignment increments": assignment_increments,
        "dependent statements swapped": swapped,
        "other direction": other_direction,
        "other bounds": other_bounds,
    }


# ------------------------------------------------------------------ where to damage


@dataclass(frozen=True, slots=True)
class Subject:
    """A function of the corpus with its adjoint, before and after scheduling."""

    entry: Entry
    differentiable: Any = field(repr=False)
    derived: Derived = field(repr=False)
    scheduled: Program = field(repr=False)

    program: Program = field(repr=False)  # what the adjoint was derived from


@functools.cache
def subject(name: str) -> Subject:
    f = pyrev.differentiable(BY_NAME[name].function, target="python")
    function = f._units.function
    kinds = function.default_kinds()
    wrt = tuple(n for n in function.visible if kinds[n].is_float)
    program = function.typed(kinds)
    derived = derive(program, wrt, function.avoid)
    program, _ = prepared(program, wrt, function.avoid, ())
    dtypes = {p.name: p.dtype for p in derived.program.params}
    scheduled = schedule(derived.program, dtypes).program
    return Subject(BY_NAME[name], f, derived, scheduled, program)


LATE = Loc("<read late>", 0, 0, 0, 0)


def saved_mutants(one: Subject) -> Iterator[tuple[int, Mutant]]:
    """One value that must be kept is read where it is instead, however late."""
    derived = one.derived
    function = one.differentiable._units.function
    types = infer(one.program, {p.name: p.dtype for p in one.program.params})
    kept = {s.name for s in derived.stored if s.kind != "live"}
    copies = {
        s.source: s.array
        for s in walk(derived.program.body)
        if isinstance(s, Alloc) and s.source is not None
    }

    def change(block: Block, k: int) -> Iterator[Edit]:
        def bare(e: Expr) -> Iterator[Expr]:
            if isinstance(e, Saved) and not kept.isdisjoint(names(e.expr)):
                if isinstance(e.expr, (Var, Load)):
                    yield replace(e.expr, loc=LATE)

        for new in statement_variants(block[k], bare):
            yield Edit(said(block[k]), instead(block, k, new))

    def now(e: Expr) -> Expr:
        # The parameter keeps the initial value; what is overwritten is its copy.
        if isinstance(e, Load) and e.loc == LATE and e.array in copies:
            return replace(e, array=copies[e.array])
        return e

    for e in edits(derived.adjoint.program.body, change):
        program = replace(derived.adjoint.program, body=e.block)
        damaged = replace(derived.adjoint, program=program)
        try:
            left, _ = store(
                one.program,
                damaged,
                overwritten_after,
                lambda name: concrete(types[name]),
                function.avoid | RESERVED,
            )
        except UnsupportedError:
            continue
        left = tidy(replace(left, body=map_block(left.body, now)))
        if left != derived.program:
            kind = "record not made"
            yield e.line, Mutant(one.entry.name, "saved", kind, e.note, left)


def mutants_of(name: str) -> Iterator[Mutant]:
    """All mutants of one function, each at a place of its own."""
    seen: Counter[tuple[str, str, int]] = Counter()
    first = BY_NAME[name].function.__code__.co_firstlineno
    for line, mutant in _everywhere(name):
        at = line - first if line else 0
        seen[mutant.stage, mutant.kind, at] += 1
        number = seen[mutant.stage, mutant.kind, at]
        yield replace(mutant, place=f"line {at}, {number}")


def _everywhere(name: str) -> Iterator[tuple[int, Mutant]]:
    """All mutants of one function with the lines of the user that they are about."""
    one = subject(name)
    yield from saved_mutants(one)
    tapes = recorded(one.derived)
    for stage, program in (
        ("derived", one.derived.program),
        ("scheduled", one.scheduled),
    ):
        if stage == "scheduled" and program == one.derived.program:
            continue
        for kind, change in changes(tapes).items():
            for e in edits(program.body, change):
                yield e.line, made(name, stage, kind, program, e)
    # The recorder watches the outermost parallel loop: the damaged one, alone.
    serial = replace(one.scheduled, body=without_parallel(one.scheduled.body))
    proved = {
        k
        for k, s in enumerate(walk(one.scheduled.body))
        if isinstance(s, For) and s.parallel
    }
    for e in edits(serial.body, unproved):
        (at,) = (k for k, s in enumerate(walk(e.block)) if _parallel(s))
        if at not in proved:
            kind = "unproved loop parallel"
            yield e.line, made(name, "scheduled", kind, serial, e)


def _parallel(stmt: Stmt) -> bool:
    return isinstance(stmt, For) and bool(stmt.parallel)


def without_parallel(block: Block) -> Block:
    """The block with every loop serial."""

    def serial(stmt: Stmt) -> Stmt:
        inner = with_blocks(stmt, tuple(map(without_parallel, blocks(stmt))))
        return replace(inner, parallel=None) if isinstance(inner, For) else inner

    return tuple(map(serial, block))


def made(name: str, stage: str, kind: str, program: Program, e: Edit) -> Mutant:
    """The mutant that an edit of a program's body gives."""
    reasons = tuple((why, replace(program, body=block)) for why, block in e.reasons)
    return Mutant(name, stage, kind, e.note, replace(program, body=e.block), reasons)


def sample(name: str, most: int = PER_KIND) -> list[Mutant]:
    """At most `most` mutants of each stage and kind, drawn by checksum."""
    found: dict[tuple[str, str], list[Mutant]] = {}
    for mutant in mutants_of(name):
        found.setdefault((mutant.stage, mutant.kind), []).append(mutant)
    chosen: list[Mutant] = []
    for group in found.values():
        numbered = [(zlib.crc32(m.key.encode()), k, m) for k, m in enumerate(group)]
        chosen += [m for _, _, m in sorted(numbered, key=lambda t: t[:2])[:most]]
    return chosen


# ------------------------------------------------------------------ how to judge


class Forgetful(RecordingNumpy):
    """NumPy whose new arrays record, and whose empty ones hold nothing anyone wrote."""

    def __getattr__(self, name: str) -> Any:
        made = super().__getattr__(name)
        if name not in ("empty", "empty_like"):
            return made

        def empty(*args: Any, **kw: Any) -> Recording:
            array: Recording = made(*args, **kw)
            kind = array.data.dtype.kind
            array.data.fill({"f": math.nan, "b": True}.get(kind, 113))
            return array

        return empty


class TookTooLong(Exception):
    """A mutant that does not end."""


_codes: list[tuple[Program, CodeType]] = []


def code_of(program: Program) -> CodeType:
    """The readable text of a program, with `__turns__` in its parallel loops, compiled.

    There, no iteration finds a scalar that another one has left: it is NaN.
    """
    for known, code in _codes:
        if known is program:
            return code
    tree = ast.parse(emit_python(program).text)
    tree.body = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    texts = [n for n in _in_order(tree) if isinstance(n, ast.For)]
    loops = [s for s in walk(program.body) if isinstance(s, For) or _has_range(s)]
    assert len(texts) == len(loops), "the text and the program have different loops"
    for node, loop in zip(texts, loops, strict=True):
        if isinstance(loop, For) and loop.parallel:
            node.iter = ast.Call(ast.Name("__turns__", ast.Load()), [node.iter], [])
            lost = "".join(f"{n} = math.nan\n" for n in assigned_scalars(loop.body))
            node.body = [*ast.parse(lost).body, *node.body]
    made = compile(ast.fix_missing_locations(tree), "<mutant>", "exec")
    _codes.insert(0, (program, made))
    del _codes[6:]
    return made


def executable(program: Program, recorder: Recorder, turns: Any) -> Any:
    """The function that a program is, under observation."""
    space: dict[str, Any] = {
        "np": Forgetful(recorder),
        "math": math,
        "__turns__": turns,
    }
    exec(code_of(program), space)
    return space[program.name]


def _has_range(stmt: Stmt) -> bool:
    return isinstance(stmt, While) and bool(stmt.index)


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        yield from _in_order(child)


@dataclass(frozen=True, slots=True)
class Question:
    """One call, and derivatives of the plain function along some directions."""

    values: dict[str, Any]  # by the adjoint's parameter
    answers: tuple[tuple[dict[str, Any], float, float], ...]


def call_of(one: Subject, size: int, seed: int) -> tuple[dict[str, Any], Any]:
    """The values of the adjoint's parameters, and the cotangents among them."""
    entry = one.entry
    rng = np.random.default_rng([zlib.crc32(entry.name.encode()), size, seed])
    arguments = entry.make(size, np.float64, rng)
    weights = draw_cotangents(run(entry.function, arguments, entry.outputs), rng)
    values = dict(arguments)
    values |= {
        c.name: c.read() for c in one.differentiable._units.function.parsed.captured
    }
    for parameter, of in one.derived.adjoint.cotangents:
        values[parameter] = (
            weights.returned[of] if isinstance(of, int) else weights.written[of]
        )
    return values, (arguments, weights)


@functools.cache
def questions(name: str) -> tuple[Question, ...]:
    """What a mutant of this function is asked first, at a few sizes."""
    one = subject(name)
    entry = one.entry
    found = []
    for size in sorted({max(entry.least, n) for n in (3, 5, *entry.wide[:1], 6)}):
        values, (arguments, weights) = call_of(one, size, 0)
        found.append(ask(one, size, values, arguments, weights))
    return tuple(found)


def ask(
    one: Subject, seed: int, values: Values, arguments: Values, weights: Cotangents
) -> Question:
    """Two random directions, and entries: all of a small parameter, else eight."""
    rng = np.random.default_rng(seed)
    entry = one.entry
    along: list[dict[str, Any]] = [
        {n: rng.uniform(-1.0, 1.0, np.shape(arguments[n])) for n in floats(arguments)}
        for _ in range(2)
    ]
    for n in floats(arguments):
        every = list(np.ndindex(np.shape(arguments[n])))
        if len(every) > 8:
            picks = rng.choice(len(every), 8, replace=False)
            every = [every[k] for k in sorted(picks.tolist())]
        for index in every:
            unit = np.zeros(np.shape(arguments[n]))
            unit[index] = 1.0
            along.append({n: unit})
    answers = []
    for direction in along:
        want = derivative(entry.function, arguments, entry.outputs, weights, direction)
        answers.append((direction, want.value, want.error))
    return Question(dict(values), tuple(answers))


def call(
    program: Program, values: dict[str, Any], recorder: Recorder, turns: Any
) -> tuple[Any, ...]:
    """The results of a program; `TookTooLong` after a while, as arrays otherwise."""
    function = executable(program, recorder, turns)
    own = copy.deepcopy(values)
    arguments = [
        Recording(recorder, own[p.name])
        if isinstance(own[p.name], np.ndarray)
        else own[p.name]
        for p in program.params
    ]

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        with np.errstate(all="ignore"):
            results = function(*arguments)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    for name, value in values.items():
        if not same_bits(own[name], value):
            raise ValueError(f"it changed `{name}`")
    return tuple(r.data if isinstance(r, Recording) else r for r in results)


def wrong(one: Subject, results: tuple[Any, ...], question: Question) -> bool:
    """Does a derivative of the plain function disagree with these gradients?"""
    gradients = {
        n: np.asarray(g, np.float64)
        for n, g in zip(one.derived.adjoint.wrt, results, strict=True)
    }
    for direction, want, error in question.answers:
        got, size = 0.0, 1.0
        for n, d in direction.items():
            if gradients[n].shape != np.shape(d):
                return True
            got += float(np.sum(gradients[n] * d))
            size += float(np.sum(np.abs(gradients[n] * d)))
        off = abs(want - got) - 10 * error
        if not off / size <= GRADIENT["float64"]:
            return True
    return False


def judge(mutant: Mutant) -> Verdict:
    """Run one mutant until something notices it."""
    one = subject(mutant.function)
    try:
        check(mutant.program)
    except InternalError:
        return Verdict(mutant, "not well formed")
    try:
        for question in questions(mutant.function):
            recorder = Recorder()
            results = call(mutant.program, question.values, recorder, recorder.turns)
            if wrong(one, results, question):
                return Verdict(mutant, "wrong derivative")
            if recorder.races():
                return Verdict(mutant, "race")
            for seed in (1, 2, 3):
                turns = shuffled(seed)
                mixed = call(mutant.program, question.values, Recorder(), turns)
                if not equal_bits(results, mixed):
                    return Verdict(mutant, "depends on the order of iterations")
    except Exception as error:
        return Verdict(mutant, type(error).__name__)
    return judge_by_original(mutant)


def judge_by_original(mutant: Mutant) -> Verdict:
    """The second opinion: many calls, and derivatives wherever the results differ."""
    one = subject(mutant.function)
    try:
        odd = list(disagreements(mutant.program, mutant, 0.0))
        for size, seed in odd:
            values, (arguments, weights) = call_of(one, size, seed)
            question = ask(one, size, values, arguments, weights)
            results = call(
                mutant.program, values, Recorder(), list if not seed else shuffled(seed)
            )
            if wrong(one, results, question):
                return Verdict(mutant, "wrong derivative, at some arguments only")
    except Exception as error:
        return Verdict(mutant, f"{type(error).__name__}, at some arguments only")
    for reason, witness in mutant.reasons:
        tolerance = ROUNDING if reason in (FREE, SAME_SIDES) else 0.0
        if agree(witness, mutant, tolerance) and agree(
            mutant.program, mutant, tolerance
        ):
            return Verdict(mutant, "", True, reason)
    return Verdict(mutant, "", agree(mutant.program, mutant, ROUNDING))


def equal_bits(one: Iterable[Any], two: Iterable[Any]) -> bool:
    return all(same_bits(a, b) for a, b in zip(one, two, strict=True))


def agree(program: Program, mutant: Mutant, tolerance: float) -> bool:
    """Does `program` compute what the mutant's original does, at every size and draw?

    To the bit, but for the sign of zeros, or up to a tolerance where only the order of
    sums is another, and in whatever order the iterations of its parallel loops run.
    """
    try:
        return not list(disagreements(program, mutant, tolerance))
    except Exception:
        return False


def disagreements(
    program: Program, mutant: Mutant, tolerance: float
) -> Iterator[tuple[int, int]]:
    """The sizes and draws at which a program and the mutant's original differ."""
    one = subject(mutant.function)
    original = one.derived.program if mutant.stage != "scheduled" else one.scheduled
    for size in sorted({max(one.entry.least, n) for n in (*one.entry.sizes, 4, 5, 7)}):
        for seed in range(4):
            values, _ = call_of(one, size, seed)
            theirs = call(original, values, Recorder(), list)
            recorder = Recorder()
            several = (
                call(program, values, recorder, recorder.turns),
                call(program, values, Recorder(), shuffled(seed)),
            )
            if recorder.races():
                raise Unsafe(f"a race at size {size}")
            if not all(
                close(a, c, tolerance)
                for mine in several
                for a, c in zip(mine, theirs, strict=True)
            ):
                yield size, seed


def close(a: Any, b: Any, tolerance: float) -> bool:
    p, q = np.asarray(a), np.asarray(b)
    if p.shape != q.shape or p.dtype != q.dtype:
        return False
    scale = float(np.max(np.abs(q), initial=1.0))
    same = (p == q) | ((p != p) & (q != q)) | (np.abs(p - q) <= tolerance * scale)
    return bool(np.all(same))


# ------------------------------------------------------------------ the command


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", default=[], help="default: a fixed set")
    parser.add_argument("--all", action="store_true", help="every place, no sample")
    options = parser.parse_args()
    from tests.tools.test_mutants import EQUIVALENT

    by: dict[str, Counter[str]] = {}
    open_ones = []
    for name in options.functions or FUNCTIONS:
        for mutant in sample(name, 10**9 if options.all else PER_KIND):
            verdict = judge(mutant)
            row = by.setdefault(mutant.kind, Counter())
            reason = verdict.reason or EQUIVALENT.get(mutant.key, "")
            if verdict.caught:
                row[verdict.caught] += 1
            elif verdict.same and reason:
                row["equivalent"] += 1
                print(f"equivalent  {mutant}\n            {reason}")
            else:
                row["NOT CAUGHT"] += 1
                open_ones.append(verdict)
                how = "the same results" if verdict.same else "other results"
                print(f"NOT CAUGHT  {mutant}  [{how}]", flush=True)
    total: Counter[str] = Counter()
    for kind, row in by.items():
        total += row
        told = ", ".join(f"{n} {how}" for how, n in sorted(row.items()))
        print(f"{kind:30} {sum(row.values()):4}: {told}")
    told = ", ".join(f"{n} {how}" for how, n in sorted(total.items()))
    print(f"{'all':30} {sum(total.values()):4}: {told}")
    return 1 if open_ones else 0


if __name__ == "__main__":
    sys.exit(main())
