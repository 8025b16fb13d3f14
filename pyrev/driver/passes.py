"""From a program to its derivative, scheduled, as text: the ordered list of passes.

    parse -> retype -> reverse -> store -> tidy -> schedule -> emit

Each pass is a function from IR to IR; `PYREV_DUMP=all` (or pass names, separated by
commas) prints the program after each on stderr.
"""

from __future__ import annotations

import functools
import operator
import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from pyrev.adjoint.preaccumulate import preaccumulated
from pyrev.adjoint.reverse import Adjoint, reverse
from pyrev.adjoint.sink import sunk
from pyrev.adjoint.slopes import valued
from pyrev.adjoint.spared import laid_open
from pyrev.adjoint.tangent import Tangent, partials, tangent
from pyrev.adjoint.tidy import tidy
from pyrev.adjoint.webs import separated
from pyrev.analysis.dependence import overwritten_after
from pyrev.analysis.poly import integer_names
from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT, concrete, infer, with_own_dtypes
from pyrev.ir.liveness import live_out
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Block,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Program,
    Stmt,
    While,
    all_names,
    blocks,
    exprs,
    map_block,
    map_expr,
    walk,
    walk_expr,
    with_blocks,
)
from pyrev.ir.text import expr_text, program_text
from pyrev.ir.wellformed import check
from pyrev.parse.probes import has_probes
from pyrev.schedule.distribute import schedule_readable
from pyrev.schedule.kept_buffers import kept_in_place
from pyrev.schedule.launches import Device, Launches, launches
from pyrev.schedule.layout import turned
from pyrev.schedule.ownership import schedule_cpu
from pyrev.schedule.report import Decision
from pyrev.schedule.reuse import reuse
from pyrev.schedule.rows import rows
from pyrev.schedule.rows.contract import contracted
from pyrev.schedule.rows.first_writes import set_first
from pyrev.schedule.rows.fuse_prefix import found_once
from pyrev.schedule.rows.overlap import overlapped
from pyrev.schedule.storage import Stored, store
from pyrev.schedule.tiles import tiled
from pyrev.schedule.work import of_arguments, product

#: Names that generated text uses itself.
RESERVED = frozenset({"np", "math", "range", "reversed", "min", "max", "abs", "round"})


FEW = 64  # what an extent may be to be a number in compiled text
CANDIDATES = 4  # scalars of which each is tried as one that is kept
LARGE = 1 << 14  # elements of an array from which on a call pays for its compilation


@dataclass(frozen=True, slots=True)
class Derived:
    """An adjoint that can run as it stands, serially, and how its values are kept."""

    adjoint: Adjoint
    program: Program
    stored: tuple[Stored, ...]
    #: The names whose values are not made again, whatever that costs.
    kept: tuple[str, ...] = ()
    #: Are partials multiplied out between reads and writes (`preaccumulate`)?
    shortened: bool = False
    #: Operations of the innermost loops, and values recorded: without that, with it.
    counts: tuple[tuple[int, int], tuple[int, int]] | None = None

    @property
    def taped(self) -> int:
        """How many values are recorded, each for every iteration of a loop or more."""
        return sum(s.kind == "taped" for s in self.stored)

    @property
    def recorded(self) -> tuple[Stored, ...]:
        """What the forward sweep records."""
        return tuple(s for s in self.stored if s.kind == "taped" and not s.level)

    @property
    def elements(self) -> Expr:
        """How many elements that are."""
        total: Expr = ZERO
        for s in self.recorded:
            own = product(s.shape)
            total = own if total == ZERO else Call("+", (total, own))
        return total


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A program in the order in which it will run, and every decision on the way."""

    program: Program
    decisions: tuple[Decision, ...]
    #: What stands for extents of arguments in it.
    facts: Mapping[tuple[str, int], Expr] = field(default_factory=dict)


def alternatives(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    store: tuple[str, ...] = (),
    recompute: tuple[str, ...] = (),
    shorten: bool = True,
) -> tuple[Derived, ...]:
    """The unscheduled adjoints of `program` among which the sizes decide.

    The first makes again what it can, as `derive` does. The others keep one scalar
    more, and record fewer arrays for it: of a step's state often one number is needed.
    Where something is recorded, partials may be multiplied out before (`preaccumulate`)
    if that takes fewer operations or records less, unless not `shorten`.
    """
    # What else is asked for than gradients of parameters keeps its name and its place.
    local = set(wrt) - {p.name for p in program.params}
    shorten &= not (recompute or store or local or has_probes(program.body))
    # Checkpoints must not change a bit: what is best without them is done with them.
    free = _without_slots(program)
    bounded = memory is not None or free is not program
    first = derive(free, wrt, avoid, None, store) if shorten or not bounded else None
    if first is not None and shorten and first.taped:
        first = _shorter(first, derive(free, wrt, avoid, None, store, True))
    if first is None or bounded:
        counts, shortened = (first.counts, first.shortened) if first else (None, False)
        made = derive(program, wrt, avoid, memory, store, shortened)
        first = replace(made, counts=counts)
    if memory is not None or first.shortened:
        return (first,)
    least = _recorded(first)
    found = [first]
    if least[0] < 2 or least[1] < 2:
        return (first,)
    again = {s.name: None for s in first.stored if s.kind == "recomputed" and s.level}
    arrays = {s.array for s in walk(program.body) if isinstance(s, Alloc)}
    for name in [n for n in again if n not in {*arrays, *recompute}][:CANDIDATES]:
        other = derive(program, wrt, avoid, memory, (*store, name))
        if _recorded(other) < least:
            found.append(other)
    return tuple(found)


def _slots(program: Program) -> bool:
    """Is a loop to be checkpointed?"""
    return any(isinstance(s, For) and s.slots is not None for s in walk(program.body))


def _without_slots(program: Program) -> Program:
    """The program with no loop that is to be checkpointed."""
    if not _slots(program):
        return program

    def visit(s: Stmt) -> Stmt:
        s = with_blocks(s, tuple(tuple(map(visit, b)) for b in blocks(s)))
        return replace(s, slots=None) if isinstance(s, For) else s

    return replace(program, body=tuple(map(visit, program.body)))


def _shorter(one: Derived, other: Derived) -> Derived:
    """The adjoint with partials multiplied out (`other`), if that is better."""
    if not other.shortened:
        return one
    before = operations(one.program.body), one.taped
    after = operations(other.program.body), other.taped
    no_more = _recorded(other) <= _recorded(one) and after[1] <= before[1]
    fewer = 10 * after[0] <= 9 * before[0]
    less = after[1] < before[1] and after[0] <= before[0]
    better = other if no_more and (fewer or less) else one
    return replace(better, counts=(before, after))


#: What an operation costs beside an addition.
_DEAR = {"/": 4, "//": 4, "%": 4, "sqrt": 4, "hypot": 8, "cbrt": 8, "**": 12} | {
    op: 12
    for op in "exp expm1 log log1p log2 log10 erf erfc sin cos tan asin acos atan atan2"
    " sinh cosh tanh asinh acosh atanh".split()
}


def operations(block: Block) -> int:
    """Operations in one iteration of the innermost loops of a block, weighed."""
    loops = [s for s in walk(block) if isinstance(s, (For, While))]
    inner = [
        s for s in loops if not any(isinstance(t, (For, While)) for t in walk(s.body))
    ]
    own = [t for s in inner for t in walk(s.body)] or list(walk(block))
    calls = [e for s in own for top in exprs(s) for e in walk_expr(top)]
    return sum(_DEAR.get(e.op, 1) for e in calls if isinstance(e, Call))


def _recorded(derived: Derived) -> tuple[int, int]:
    """The most axes of what is recorded, and how many arrays have so many."""
    axes = [len(s.shape) for s in derived.recorded]
    most = max(axes, default=0)
    return most, axes.count(most)


def derive(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    store: tuple[str, ...] = (),
    shorten: bool = False,
) -> Derived:
    """The unscheduled adjoint of `program` with respect to `wrt`.

    `memory` bounds the bytes of the arrays that it makes; the values of the names in
    `store` are kept and not made again. With `shorten` partials are multiplied out
    between reads and writes, where there is something to multiply.
    """
    program, kept = prepared(program, wrt, avoid, store)
    shortened = False
    if shorten:
        program, counts = preaccumulated(program, wrt, avoid | RESERVED)
        shortened = counts.without > 0
    made = derive_untidied(program, wrt, avoid, memory, kept)
    ready = tidied(made.program, _user_names(program, made.program))
    dump("tidy", ready)
    return replace(made, program=ready, kept=store, shortened=shortened)


def prepared(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    store: tuple[str, ...],
) -> tuple[Program, frozenset[str]]:
    """The program to differentiate, and the names in it that `store` asks to keep."""
    known = all_names(program.body)
    program = separated(laid_open(program, avoid | RESERVED), avoid | RESERVED)
    # A further web of a scalar has a number behind its name.
    kept = {n for n in all_names(program.body) if n in store}
    kept |= {
        n
        for n in all_names(program.body)
        if n not in known and n.rpartition("_")[0] in store
    }
    # Webs are apart now: a value that one branch uses is not another's, too.
    return sunk(program, wrt, frozenset(kept)), frozenset(kept)


def tidied(program: Program, users: frozenset[str]) -> Program:
    """The program without what it does not need; `users` are names of the user's."""
    # A dtype is no dependence: loops may part.
    ready = with_own_dtypes(tidy(program, users))
    ready = kept_in_place(ready, infer(ready, {p.name: p.dtype for p in ready.params}))
    check(ready)
    return ready


def _user_names(primal: Program, adjoint: Program) -> frozenset[str]:
    """What the primal names in its adjoint, its copies of the caller's arrays too."""
    params = {p.name for p in primal.params}
    copies = {
        s.array
        for s in walk(adjoint.body)
        if isinstance(s, Alloc) and s.source in params
    }
    return all_names(primal.body) | copies


def derive_untidied(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    kept: frozenset[str] = frozenset(),
) -> Derived:
    """The same with nothing removed: every adjoint holds its value at every point."""
    avoid = avoid | RESERVED
    adjoint = reverse(program, wrt, avoid)
    dump("reverse", adjoint.program)
    program = valued(program)
    types = infer(program, {p.name: p.dtype for p in program.params})
    ready, stored = store(
        program,
        adjoint,
        overwritten_after,
        lambda name: concrete(types[name]),
        avoid,
        memory,
        kept,
    )
    dump("store", ready)
    return Derived(adjoint, ready, stored)


def derive_tangent(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    directions: int,
    asserts: bool,
    shorten: bool = True,
) -> Tangent:
    """The tangent program of `program` along `wrt`, in several directions.

    Several share products of partials where that is shorter, unless not `shorten`.
    """
    if shorten and directions > 1:
        program, _ = preaccumulated(program, wrt, avoid | RESERVED, directions)
    made = tangent(program, wrt, avoid | RESERVED, directions, asserts)
    made = replace(made, program=valued(made.program))
    check(made.program)
    dump("tangent", made.program)
    return made


def derive_partials(
    program: Program, wrt: tuple[str, ...], avoid: frozenset[str]
) -> Tangent:
    """The program with its partial derivatives beside it, for what is elementwise."""
    made = partials(program, wrt, avoid | RESERVED)
    made = replace(made, program=valued(made.program))
    check(made.program)
    dump("partials", made.program)
    return made


def schedule(program: Program, dtypes: Mapping[str, str]) -> Scheduled:
    """Put loops in the order of the readable form: gathers, owners, reductions."""
    types = infer(program, dict(dtypes))
    taken = frozenset(all_names(program.body)) | {p.name for p in program.params}
    block, decisions = schedule_readable(
        program.body,
        taken | RESERVED,
        live_out(program),
        lambda name: concrete(types[name]),
    )
    made = reuse(replace(program, body=found_once(block)), taken | RESERVED)
    check(made)
    dump("schedule", made)
    return Scheduled(made, decisions)


@dataclass(slots=True)
class Sizes:
    """Answers to "are there enough?" for the arguments of one call, and a record of
    them.

    A schedule made with these answers is right for any arguments, and good for those
    that give the same answers: `fits` tells. What only weighs speed may be decided the
    other way round, by the tests in `flipped`: then the schedule is another one.
    """

    values: Mapping[str, Any]
    flipped: frozenset[str] = frozenset()
    answers: list[tuple[str, bool]] = field(default_factory=list)
    #: The tests that only weighed speed, in the order in which they were asked.
    weighed: dict[str, None] = field(default_factory=dict)

    def __call__(self, count: Expr, least: int) -> bool | None:
        return self.weigh(f"{expr_text(count)} >= {least}")

    def weigh(self, test: str) -> bool | None:
        """The answer to a test of which any answer makes a schedule that is right."""
        answer = self.asked(test)
        if answer is None:
            return None
        self.weighed[test] = None
        return answer != (test in self.flipped)

    def of_arguments(self, derived: Derived) -> str:
        """How many elements are recorded, as a test asks for it."""
        body = derived.program.body
        local = {s.array: s.shape for s in walk(body) if isinstance(s, Alloc)}
        params = {p.name for p in derived.program.params}
        own = {n: shape for n, shape in local.items() if n not in params}
        return expr_text(of_arguments(derived.elements, own))

    def facts(self, program: Program) -> dict[tuple[str, int], Expr]:
        """What is known of the extents that bound loops: ``(array, axis) -> size``.

        A number for a small one, since loops of a few iterations are unrolled then; for
        another one the same extent of an earlier parameter, if it is equal: loops over
        either run over one range. Only beside large arrays: where all is small, one
        compilation for all sizes is worth more.
        """
        arrays = [p.name for p in program.params if p.rank]
        # What loops run over, and what is made for them to run over.
        ends = [
            e
            for s in walk(program.body)
            for e in ((s.hi,) if isinstance(s, For) else _shape(s))
        ]
        bounding = {
            (e.array, e.axis): None
            for end in ends
            for e in walk_expr(end)
            if isinstance(e, Extent) and e.array in arrays
        }
        if not bounding:
            return {}
        sizes = [f"{n}.size" for n in arrays if n in self.values]
        if not sizes or not self.asked(f"max({', '.join([*sizes, '0'])}) >= {LARGE}"):
            return {}
        known: dict[tuple[str, int], Expr] = {}
        firsts: dict[int, list[str]] = {}
        for array, axis in sorted(bounding, key=lambda e: (e[1], arrays.index(e[0]))):
            if array not in self.values:
                continue
            extent = f"{array}.shape[{axis}]"
            if self.asked(f"{extent} <= {FEW}"):
                size = self.values[array].shape[axis]
                known[array, axis] = Const(size)
                self.asked(f"{extent} == {size}")
                continue
            for other in firsts.setdefault(axis, []):
                if self.asked(f"{extent} == {other}.shape[{axis}]"):
                    known[array, axis] = Extent(other, axis)
                    break
            else:
                firsts[axis].append(array)
        return known

    def asked(self, test: str) -> bool | None:
        """The answer for these arguments, on record if there is one."""
        answer = evaluate(test, self.values)
        if answer is not None:
            self.answers.append((test, answer))
        return answer


def _shape(s: Stmt) -> tuple[Expr, ...]:
    return s.shape if isinstance(s, Alloc) else ()


def with_known_shapes(program: Program) -> Program:
    """The program with what an extent of a local array was made of in its place.

    Where that is a number LLVM sees that two rows of the array do not overlap; where it
    is the extent of an argument, loops over either run over one range.
    """
    made = [s for s in walk(program.body) if isinstance(s, (Alloc, Grow))]
    count = Counter([s.array for s in made] + [p.name for p in program.params])
    known: dict[tuple[str, int], Expr] = {}
    params = {p.name for p in program.params}
    # What is made like an array that was made before is known then, too.
    for s in made:
        if not isinstance(s, Alloc) or s.source is not None or count[s.array] > 1:
            continue
        for axis, size in enumerate(s.shape):
            match size:
                case Const(int()):
                    known[s.array, axis] = size
                case Extent(array, k) if (array, k) in known:
                    known[s.array, axis] = known[array, k]
                case Extent(array) if count[array] == 1 and array in params:
                    known[s.array, axis] = size
    return specialise(program, known) if known else program


#: What is the same number whoever works it out, as long as it stays small.
_EXACT = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def _numbers(*values: object) -> bool:
    """Are these small numbers, and integers, whatever their type?"""
    return all(
        type(v) in (int, float) and abs(v) < 2**20 and v == int(v)  # type: ignore
        for v in values
    )


def specialise(program: Program, extents: Mapping[tuple[str, int], Expr]) -> Program:
    """The program for arrays that have these extents: ``(array, axis) -> size``."""
    return replace(
        program, body=map_block(program.body, lambda e: _specialised(e, extents))
    )


def specialised(e: Expr, extents: Mapping[tuple[str, int], Expr]) -> Expr:
    """An expression as it stands in a program that `specialise` made."""
    return map_expr(e, lambda part: _specialised(part, extents))


def _specialised(e: Expr, extents: Mapping[tuple[str, int], Expr]) -> Expr:
    match e:
        case Extent(array, axis) if (array, axis) in extents:
            return replace(extents[array, axis], loc=e.loc)
        case Call(op, (Const(a), Const(b))) if op in _EXACT and _numbers(a, b):
            return Const(_EXACT[op](a, b), loc=e.loc)
    return e


def evaluate(test: str, values: Mapping[str, Any]) -> bool | None:
    """The value of a test of sizes, or None if it has none.

    It may mention anything but arguments, or divide by one that is zero.
    """
    try:
        return bool(eval(_compiled(test), _KNOWN, dict(values)))
    except (NameError, ArithmeticError):
        return None


_KNOWN: dict[str, Any] = {"max": max, "min": min, "__builtins__": {}}


@functools.lru_cache(1024)
def _compiled(test: str) -> CodeType:
    return compile(test, "<sizes>", "eval")


def fits(answers: Sequence[tuple[str, bool]], values: Mapping[str, Any]) -> bool:
    """Do these arguments give the answers that a schedule was made with?"""
    return not answers or evaluate(_together(tuple(answers)), values) is True


@functools.lru_cache(1024)
def _together(answers: tuple[tuple[str, bool], ...]) -> str:
    """One test that says whether each of these has its answer."""
    texts = [f"({t})" if answer else f"not ({t})" for t, answer in answers]
    return " and ".join(dict.fromkeys(texts))


#: What makes a number of Python's own of an element of an array.
_OWN = {WEAK_FLOAT: "float", WEAK_INT: "int"}


def chosen(made: Sequence[Derived], sizes: Sizes) -> Derived:
    """Of several adjoints the one that records the least, if that is much less."""
    best = made[0]
    for other in made[1:]:
        now, then = (sizes.of_arguments(d) for d in (best, other))
        if not sizes.asked(f"{now} >= {LARGE}"):
            break
        if sizes.weigh(f"4 * ({now}) > 5 * ({then})"):
            best = other
    return best


def schedule_for_cpu(
    program: Program,
    dtypes: Mapping[str, str],
    sizes: Sizes,
    store: frozenset[str] = frozenset(),
) -> Scheduled:
    """Put loops in the order of the CPU's form: row owners, private copies.

    The arrays in `store` are kept whole.
    """
    facts = sizes.facts(program)
    program = specialise(program, facts) if facts else program
    used = {*all_names(program.body), *(p.name for p in program.params), *RESERVED}
    program = replace(program, body=set_first(program.body, alone=True))
    program = turned(program, used, sizes)
    types = infer(program, dict(dtypes))
    taken = frozenset(all_names(program.body)) | {p.name for p in program.params}
    block, decisions = schedule_cpu(
        program.body,
        taken | RESERVED,
        live_out(program),
        lambda name: concrete(types[name]),
        sizes,
        lambda name: _OWN.get(types[name], ""),
    )
    made = with_known_shapes(replace(program, body=block))
    made = rows(made, infer(made, dict(dtypes)))
    names = set(all_names(made.body)) | taken | RESERVED
    made = replace(
        made,
        body=tiled(
            made.body,
            live_out(made),
            integer_names(made.body),
            infer(made, dict(dtypes)),
            names,
            sizes,
        ),
    )
    used = set(all_names(made.body)) | taken | RESERVED
    made = contracted(made, used, sizes, store)
    made = overlapped(made, used, sizes, store)
    made = replace(made, body=found_once(made.body))
    made = reuse(made, taken | RESERVED)
    check(made)
    dump("schedule", made)
    return Scheduled(made, decisions, facts)


def schedule_for_cuda(
    program: Program,
    dtypes: Mapping[str, str],
    sizes: Sizes,
    deterministic: bool = False,
) -> tuple[Scheduled, Launches, dict[str, str]]:
    """Put loops in the order of a GPU's form: a thread for each element, and launches.

    Also the dtype of every name. Raises `NotOnDevice` for what has no form there.
    """
    facts = sizes.facts(program)
    program = specialise(program, facts) if facts else program
    program = replace(program, body=set_first(program.body, alone=True))
    types = infer(program, dict(dtypes))
    taken = frozenset(all_names(program.body)) | {p.name for p in program.params}
    device = Device(taken | RESERVED, program, types, deterministic)
    block = device.block(program.body, (), live_out(program))
    made = with_known_shapes(replace(program, body=found_once(block)))
    made = reuse(made, taken | RESERVED)
    check(made)
    dump("schedule", made)
    types = infer(made, dict(dtypes))
    found, decisions = launches(made, types, sizes, deterministic)
    return Scheduled(made, decisions, facts), found, types


def dump(name: str, program: Program) -> None:
    """Print the program after pass `name`, if `PYREV_DUMP` asks for it."""
    wanted = os.environ.get("PYREV_DUMP", "")
    if wanted and (wanted == "all" or name in wanted.split(",")):
        print(f"# after {name}\n{program_text(program)}\n", file=sys.stderr)
