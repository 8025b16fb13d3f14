"""What the parts of one Numba module share while its functions come about."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pyrev.analysis.array_shapes import of_arguments
from pyrev.analysis.value_ranges import ValueRanges
from pyrev.emit.carried import CARRIED
from pyrev.emit.faults import Faults
from pyrev.emit.numba.trees import decorators
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.liveness import exposed, live_after_loops, live_out
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Check,
    Const,
    Expr,
    Extent,
    For,
    Given,
    Grow,
    Loc,
    Loop,
    Program,
    Var,
    While,
    all_names,
    exprs,
    fresh,
    loop_indices,
    mentioned,
    walk,
)
from pyrev.ir.printer import tag
from pyrev.ir.text import array_ranks
from pyrev.schedule.costs import CpuCosts
from pyrev.schedule.sums import Reassociation, occurrences
from pyrev.schedule.work import Choose

_RESERVED = (
    *("np", "math", "njit", "prange", "range", "min", "max", "abs"),
    *("zeros", "empty", "copy", "told", "objmode", "as_it_is"),
    *("with_sizes", "parallel_for", "from_end"),
    *CARRIED,
)


@dataclass(frozen=True, slots=True)
class Mode:
    """How to print a block: what the function returns, also when a test fails."""

    #: None in the entry function.
    outputs: tuple[str, ...] | None


class Module:
    """The functions of one module, as they come about: callees first."""

    def __init__(
        self,
        program: Program,
        types: dict[str, str],
        cpu: CpuCosts,
        wraps: bool = False,
        natural: frozenset[Expr] = frozenset(),
        parts: Mapping[str, Expr] | None = None,
        unmeasured: frozenset[str] = frozenset(),
        choose: Choose = lambda count, least: None,
    ) -> None:
        self.program = program
        #: The parameters whose sizes were known to what put the loops in order.
        self.measured = frozenset(p.name for p in program.params) - unmeasured
        self.types = types
        self.faults = Faults(types, program.body)
        self.wraps, self.cpu = wraps, cpu
        self.ranks = {p.name: p.rank for p in program.params if p.rank}
        self.ranks |= array_ranks(program.body)
        self.taken = set(all_names(program.body)) | {p.name for p in program.params}
        self.state = fresh("status", self.taken)
        #: The functions that make arrays, but those whose names are the user's.
        self.memory = frozenset(("zeros", "empty", "copy"))
        self.memory -= self.taken | {program.name}
        self.taken |= {*_RESERVED, program.name, f"_{program.name}"}
        #: The functions so far.
        self.made: list[ast.stmt] = []
        #: The errors that `status` counts.
        self.places: dict[
            tuple[str, tuple[str, ...], tuple[str, ...]],
            tuple[int, str, tuple[Given, ...], tuple[str, ...]],
        ] = {}
        self.reassociated: dict[str, None] = {}
        #: What is added to in any order, and the function that does so.
        self.loose: frozenset[Var] = frozenset()
        self.adding = ""
        #: Is there a parallel loop?
        self.drivers = False
        #: Does CPython run something on the way?
        self.objects = False
        self.nests = 0
        #: The arrays that are made before all else.
        self.first: Sequence[Alloc] = ()
        self.subscripts = Subscripts(program, natural, parts)
        #: The parameter by which a function says that it failed, if any of them can.
        self.status = [self.state] if self.can_fail(program.body) else []
        #: The scalars that go from one nest to another.
        self.carried: frozenset[str] = frozenset()
        #: The functions of pyrev's own that the module calls.
        self.held: set[str] = set()
        #: The arrays that the function being made was given, and what it is made of.
        self.given: frozenset[str] = frozenset(p.name for p in program.params)
        #: The nest that the entry function runs itself.
        self.only: Loop | None = None
        #: The arrays that exist without elements before a path makes them.
        self.blank: dict[str, None] = {}
        self.around: Block = ()
        #: Is there anything that vector instructions could do?
        self.loops = any(isinstance(s, (For, While)) for s in walk(program.body))
        shapes = {s.array: s.shape for s in walk(program.body) if isinstance(s, Alloc)}
        self.reassociation = Reassociation(
            types,
            self.faults.fails,
            occurrences(program.body),
            live_after_loops(program.body, live_out(program)),
            cpu.unrolled_iterations,
            lambda count: choose(of_arguments(count, shapes), cpu.any_order_iterations),
        )

    @property
    def told(self) -> int:
        """How many numbers the message of an error has at most."""
        return max((len(kinds) for *_, kinds in self.places.values()), default=0)

    def define(
        self,
        function: str,
        params: Sequence[str],
        body: list[ast.stmt],
        how: str,
        at: Loc,
    ) -> None:
        """Add a function, compiled with the options that `how` names."""
        args = ast.arguments([], [ast.arg(p) for p in params], None, [], [], None, [])
        tree = ast.FunctionDef(function, args, body, decorators(how), None, None)
        self.made.append(tag(tree, at))

    def numbered(self) -> str:
        """The name of the next nest's function."""
        self.nests += 1
        return fresh(f"_{self.program.name}_{self.nests}", self.taken)

    def inputs(self, block: Block, outputs: Sequence[str] = ()) -> list[str]:
        """What a block needs from outside, in order of appearance."""
        made = Counter(s.array for s in walk(block) if isinstance(s, Alloc))
        there = Counter(s.array for s in walk(self.around) if isinstance(s, Alloc))
        found = dict.fromkeys(_in_order(block))

        def wanted(n: str) -> bool:
            asked = n in outputs or exposed(block, n)[0]
            if n not in self.ranks or not made[n]:
                return n in self.ranks or asked
            # What only this block makes, on some path, is not there before it.
            return asked and (n in self.given or there[n] > made[n])

        return [n for n in found if wanted(n)]

    def can_fail(self, block: Block) -> bool:
        """Is there anything to be tested while the code runs?"""
        return any(
            isinstance(s, Check)
            or self.faults.can_fail(s)
            or (isinstance(s, Alloc) and bool(self.maybe_negative(s)))
            for s in walk(block)
        )

    def maybe_negative(self, s: Alloc) -> list[Expr]:
        """The sizes of a new array that may be negative."""
        sizes = [n for n in s.shape if not isinstance(n, (Const, Extent))]
        return [n for n in sizes if self.values.of(n).low < 0]

    @cached_property
    def values(self) -> ValueRanges:
        """Between what the numbers of the program lie."""
        return ValueRanges(self.program, self.types)


def _in_order(block: Block) -> list[str]:
    """Every name of a block but its loop indices, in order of appearance."""
    out: list[str] = []
    indices = loop_indices(block)
    for s in walk(block):
        if isinstance(s, Alloc):
            out.extend(s.sources)
        if isinstance(s, Grow):
            out.append(s.array)
        for e in exprs(s):
            out.extend(n for n in mentioned(e) if n not in indices)
    return out
