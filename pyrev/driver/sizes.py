"""What the sizes of one call say: answers that choose a schedule, and numbers in it."""

from __future__ import annotations

import functools
import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

from pyrev.analysis.array_shapes import of_arguments
from pyrev.driver.derive import Derived
from pyrev.ir.nodes import (
    Alloc,
    Call,
    Const,
    Expr,
    Extent,
    For,
    Grow,
    Program,
    Stmt,
    While,
    map_block,
    map_expr,
    walk,
    walk_expr,
)
from pyrev.ir.text import expr_text
from pyrev.schedule.costs import Costs
from pyrev.schedule.work import operations


@dataclass(frozen=True, slots=True)
class Fit:
    """What is known of the sizes of a call that something was made for.

    `answers` are all that were asked for; of these `relied` have to be the same for
    what was made to be right, or for equal calls to give equal bits, and `chosen` are
    those that chose a schedule. `bounding` are the extents that bound loops, with
    their sizes, and `numbers` those that are numbers in the text; `many` tests whether
    there are so many elements that these pay.
    """

    answers: tuple[tuple[str, bool], ...] = ()
    relied: tuple[tuple[str, bool], ...] = ()
    chosen: tuple[tuple[str, bool], ...] = ()
    bounding: Mapping[str, int] = field(default_factory=dict)
    numbers: frozenset[str] = frozenset()
    many: tuple[str, ...] = ()
    #: What is done in a call, if sizes say that, and how much it was in that call.
    operations: str | None = None
    did: float | None = None

    def work(self, values: Mapping[str, Any]) -> float | None:
        """About how many operations a call does; None where data decides."""
        return None if self.operations is None else number(self.operations, values)

    def is_large(self, costs: Costs) -> bool:
        """Was it made for a call that takes so long that it has code of its own?"""
        return self.did is not None and self.did >= costs.own_operations

    def has_many(self, values: Mapping[str, Any]) -> bool:
        """Are there so many elements that numbers in the text pay?"""
        return any(evaluate(test, values) for test in self.many)

    def beside(self, other: Fit) -> Fit:
        """What is known for two parts of one call."""
        works = [w for w in (self.operations, other.operations) if w is not None]
        did = [d for d in (self.did, other.did) if d is not None]
        return Fit(
            (*self.answers, *other.answers),
            (*self.relied, *other.relied),
            (*self.chosen, *other.chosen),
            {**self.bounding, **other.bounding},
            self.numbers | other.numbers,
            (*self.many, *other.many),
            " + ".join(works) or None,
            sum(did) if did else None,
        )


@dataclass(slots=True)
class Sizes:
    """Answers to "are there enough?" for the arguments of one call, and a record of
    them. What is enough, the costs say.

    A schedule made with these answers is right for any arguments, and good for those
    that give the same answers: `fits` tells. What only weighs speed may be decided the
    other way round, by the tests in `flipped`: then the schedule is another one.
    """

    values: Mapping[str, Any]
    costs: Costs
    flipped: frozenset[str] = frozenset()
    #: Extents that are no numbers in a text, since they had several sizes.
    varied: frozenset[str] = frozenset()
    answers: list[tuple[str, bool]] = field(default_factory=list)
    relied: list[tuple[str, bool]] = field(default_factory=list)
    bounding: dict[str, int] = field(default_factory=dict)
    numbers: set[str] = field(default_factory=set)
    _many: list[str] = field(default_factory=list)
    #: The tests that only weighed speed, in the order in which they were asked.
    weighed: dict[str, None] = field(default_factory=dict)

    def __call__(self, count: Expr, least: int) -> bool | None:
        return self.weigh(f"{expr_text(count)} >= {least}")

    def ask(self, count: Expr, least: int) -> bool | None:
        """The answer where the bits of a result may depend on it: never flipped."""
        return self.rely(f"{expr_text(count)} >= {least}")

    def rely(self, test: str) -> bool | None:
        """The answer to a test that has it in all calls that what is made is for."""
        answer = self.asked(test)
        if answer is not None:
            self.relied.append((test, answer))
        return answer

    def fit(self, program: Program | None = None) -> Fit:
        """What was asked for, of one part of what was made, which runs `program`."""
        work = None if program is None else operations_in(program, self.costs)
        did = None if work is None else number(work, self.values)
        known = dict(self.answers)
        return Fit(
            tuple(self.answers),
            tuple(self.relied),
            tuple(
                (t, known[t]) for t in self.weighed if (t, known[t]) not in self.relied
            ),
            dict(self.bounding),
            frozenset(self.numbers),
            tuple(self._many),
            work,
            did,
        )

    def weigh(self, test: str, *, relied: bool = False) -> bool | None:
        """The answer to a test of which any answer makes a schedule that is right.

        If `relied` it is the same in all calls that what is made serves.
        """
        answer = self.rely(test) if relied else self.asked(test)
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
        for array, axis in bounding:
            if array in self.values:
                size = self.values[array].shape[axis]
                self.bounding[f"{array}.shape[{axis}]"] = size
        if not sizes:
            return {}
        count = f"max({', '.join([*sizes, '0'])})"
        self._many.append(f"{count} >= {self.costs.compiled_elements}")
        if not self.many(count):
            return {}
        known: dict[tuple[str, int], Expr] = {}
        firsts: dict[int, list[str]] = {}
        for array, axis in sorted(bounding, key=lambda e: (e[1], arrays.index(e[0]))):
            if array not in self.values:
                continue
            extent = f"{array}.shape[{axis}]"
            if extent not in self.varied and self.asked(
                f"{extent} <= {self.costs.numbered_extent}"
            ):
                size = self.values[array].shape[axis]
                known[array, axis] = Const(size)
                self.rely(f"{extent} == {size}")
                self.numbers.add(extent)
                continue
            for other in firsts.setdefault(axis, []):
                equal = f"{extent} == {other}.shape[{axis}]"
                if self.asked(equal):
                    self.relied.append((equal, True))
                    known[array, axis] = Extent(other, axis)
                    break
            else:
                firsts[axis].append(array)
        return known

    def many(self, count: str, *, relied: bool = False) -> bool | None:
        """Are there so many elements that to compile for their sizes pays?"""
        ask = self.rely if relied else self.asked
        return ask(f"{count} >= {self.costs.compiled_elements}")

    def few_operations(self, program: Program) -> bool:
        """Is the program done in CPython before it were compiled?"""
        found = operations_in(program, self.costs)
        if found is None:
            return False
        return self.asked(f"{found} <= {self.costs.interpreted_operations}") is True

    def asked(self, test: str) -> bool | None:
        """The answer for these arguments, on record if there is one."""
        answer = evaluate(test, self.values)
        if answer is not None:
            self.answers.append((test, answer))
        return answer


def _shape(s: Stmt) -> tuple[Expr, ...]:
    return s.shape if isinstance(s, Alloc) else ()


def operations_in(program: Program, costs: Costs) -> str | None:
    """An upper bound of what a program does, of sizes; None if data decides that."""
    body = program.body
    if any(isinstance(s, While) for s in walk(body)):
        return None
    found = [operations(s, costs) for s in body if isinstance(s, For)]
    made = [s for s in walk(body) if isinstance(s, Alloc)]
    once = Counter([s.array for s in made] + [p.name for p in program.params])
    shapes = {s.array: s.shape for s in made if once[s.array] == 1}
    texts = [expr_text(of_arguments(n, shapes)) for n in found if n is not None]
    return (" + ".join(texts) or "0") if len(texts) == len(found) else None


def evaluate(test: str, values: Mapping[str, Any]) -> bool | None:
    """The value of a test of sizes, or None if it has none.

    It may mention anything but arguments, or divide by one that is zero.
    """
    found = number(test, values)
    return None if found is None else bool(found)


def number(text: str, values: Mapping[str, Any]) -> Any:
    """The value of an expression of sizes, or None if it has none."""
    try:
        return eval(_compiled(text), _KNOWN, dict(values))
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
