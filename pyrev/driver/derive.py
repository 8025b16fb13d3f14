"""From a program to an adjoint, or a tangent, that can run as it stands, serially.

retype -> reverse -> store -> tidy
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyrev.adjoint.opaque_calls import without_copies, witnessed
from pyrev.adjoint.positions import positioned
from pyrev.adjoint.preaccumulate import preaccumulated
from pyrev.adjoint.result_forms import results_named
from pyrev.adjoint.reverse import Adjoint, reverse
from pyrev.adjoint.sink import sunk
from pyrev.adjoint.slopes import valued
from pyrev.adjoint.spared import each_guarded, laid_open
from pyrev.adjoint.tangent import Tangent, partials, tangent
from pyrev.adjoint.tidy import tidy
from pyrev.adjoint.webs import separated
from pyrev.analysis.dependence import overwritten_after
from pyrev.driver.dump import dump
from pyrev.ir.dtypes import concrete, infer, with_own_dtypes
from pyrev.ir.nodes import (
    ZERO,
    Alloc,
    Call,
    Expr,
    Program,
    all_names,
    walk,
)
from pyrev.ir.wellformed import check
from pyrev.schedule.kept_buffers import kept_in_place
from pyrev.schedule.same_tests import arrays_in_one_branch
from pyrev.schedule.storage import READING, RUNNING, Stored, store
from pyrev.schedule.work import product

#: Names that generated text uses itself.
RESERVED = frozenset({"np", "math", "range", "reversed", "min", "max", "abs", "round"})


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
    #: What `preaccumulate` weighed: the operations in the innermost loops and how many
    #: values are recorded, without it and with it. None where there was no choice.
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


def derive(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    store: tuple[str, ...] = (),
    shorten: bool = False,
    for_reading: bool = False,
) -> Derived:
    """The unscheduled adjoint of `program` with respect to `wrt`.

    `memory` bounds the bytes of the arrays that it makes; the values of the names in
    `store` are kept and not made again. With `shorten` partials are multiplied out
    between reads and writes, where there is something to multiply. An adjoint that is
    `for_reading` records little, and knows chosen elements by their subscripts.
    """
    return begun(program, wrt, avoid, memory, store, shorten, for_reading).done()


@dataclass(frozen=True, slots=True)
class Begun:
    """An adjoint of which it is known what it records, and not more."""

    program: Program
    made: Derived

    def done(self) -> Derived:
        """The same without what it does not need."""
        users = _user_names(self.program, self.made.program)
        ready = tidied(self.made.program, users, self.made.adjoint.outputs)
        dump("tidy", ready)
        return replace(self.made, program=ready)


def begun(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    store: tuple[str, ...] = (),
    shorten: bool = False,
    for_reading: bool = False,
) -> Begun:
    """What `derive` begins with: most of those that are tried are not taken."""
    program, kept = prepared(program, wrt, avoid, store, for_reading)
    shortened = False
    if shorten:
        program, counts = preaccumulated(program, wrt, avoid | RESERVED)
        shortened = counts.without > 0
    made = derive_untidied(program, wrt, avoid, memory, kept, for_reading)
    return Begun(program, replace(made, kept=store, shortened=shortened))


def prepared(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    store: tuple[str, ...],
    for_reading: bool = False,
) -> tuple[Program, frozenset[str]]:
    """The program to differentiate, and the names in it that `store` asks to keep.

    With `for_reading` as in `derive`.
    """
    known = all_names(program.body)
    program = laid_open(each_guarded(program), avoid | RESERVED)
    program = separated(program, avoid | RESERVED)
    # A further web of a scalar has a number behind its name.
    kept = {n for n in all_names(program.body) if n in store}
    kept |= {
        n
        for n in all_names(program.body)
        if n not in known and n.rpartition("_")[0] in store
    }
    if for_reading:
        program = positioned(program, wrt, frozenset(kept), avoid | RESERVED)
    # Webs are apart now: a value that one branch uses is not another's, too.
    program = sunk(program, wrt, frozenset(kept))
    return results_named(program, wrt, avoid | RESERVED), frozenset(kept)


def tidied(
    program: Program, users: frozenset[str], outputs: Mapping[str, str]
) -> Program:
    """The program without what it does not need; `users` are names of the user's, and
    `outputs` says of which array each cotangent is.
    """
    # A dtype is no dependence: loops may part.
    ready = without_copies(with_own_dtypes(tidy(program, users, outputs)))
    ready = arrays_in_one_branch(ready)
    ready = kept_in_place(ready, infer(ready, {p.name: p.dtype for p in ready.params}))
    check(ready)
    return ready


def _user_names(primal: Program, adjoint: Program) -> frozenset[str]:
    """What the primal names in its adjoint, its copies of the caller's arrays too."""
    params = {p.name for p in primal.params}
    copies = {
        s.array
        for s in walk(adjoint.body)
        if isinstance(s, Alloc) and s.copied in params
    }
    return all_names(primal.body) | copies


def derive_untidied(
    program: Program,
    wrt: tuple[str, ...],
    avoid: frozenset[str],
    memory: int | None = None,
    kept: frozenset[str] = frozenset(),
    for_reading: bool = False,
) -> Derived:
    """The same with nothing removed: every adjoint holds its value at every point."""
    avoid = avoid | RESERVED
    program = witnessed(program)
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
        READING if for_reading else RUNNING,
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
    program = each_guarded(program)
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
    made = partials(each_guarded(program), wrt, avoid | RESERVED)
    made = replace(made, program=valued(made.program))
    check(made.program)
    dump("partials", made.program)
    return made
