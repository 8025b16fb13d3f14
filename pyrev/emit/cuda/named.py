"""What a kernel's names are called in C, and which arrays are its threads' own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

from pyrev.emit.c import C_WORDS, Expressions
from pyrev.emit.cuda.lines import Lines
from pyrev.emit.faults import Faults
from pyrev.emit.subscripts import Subscripts
from pyrev.ir.nodes import (
    Alloc,
    Block,
    Const,
    Expr,
    Extent,
    For,
    Given,
    Grow,
    Load,
    Loc,
    Var,
    all_names,
    assigned_scalars,
    fresh,
    loop_indices,
    risky,
    walk,
    walk_expr,
)
from pyrev.schedule.costs import GpuCosts
from pyrev.schedule.launches import Kernel, as_element, with_elements


def ascii_name(name: str) -> str:
    """A name that C takes, too."""
    return "".join(ch if ch.isascii() else "u" for ch in name)


class Module(Protocol):
    """What a kernel asks of the module that it is part of."""

    name: str
    types: dict[str, str]
    resident: frozenset[str]
    taken: set[str]
    kernels: list[list[str]]
    helpers: dict[str, None]
    reassociated: dict[str, None]
    sources: Mapping[str, Sequence[str]]
    faults: Faults
    subscripts: Subscripts
    #: Do sums and products of int64 that are data go around at 64 bits?
    wraps: bool
    gpu: GpuCosts
    #: The arrays of the host's.
    arrays: set[str]
    #: The forms of launches that the host needs, and what they are called.
    forms: set[str]
    called: dict[str, str]

    def number(self, e: Expr) -> str:
        """An expression of sizes and numbers, in Python."""

    def failure(self, error: str, given: tuple[Given, ...]) -> int:
        """The number that stands for an error in `status`."""


class Named(Expressions):
    """A kernel's names, and the arrays that its threads make for themselves."""

    def __init__(self, module: Module, step: Kernel) -> None:
        super().__init__(module.types, module.helpers)
        self.module = module
        own = frozenset(assigned_scalars(step.whole)) - step.crossing
        resident = module.resident - own
        self.own = own | loop_indices(step.whole)
        self.step = replace(
            step,
            block=with_elements(step.block, resident),
            loops=tuple(_with(f, resident) for f in step.loops),
            over=tuple(_with(f, resident) for f in step.over),
        )
        self.sums = tuple(_element(t, resident) for t in step.sums)
        self.atomic = step.atomic
        self.arrays: dict[str, None] = {}
        self.extents: dict[tuple[str, int], str] = {}
        self.scalars: dict[str, None] = {}
        self.local, self.varying = _made(self.step.block)
        self.grown = {s.array for s in walk(self.step.block) if isinstance(s, Grow)}
        self.added = {Var(n) for n in loop_indices(self.step.whole)}
        self.written: set[str] = set()
        self.renamed: dict[str, str] = {}
        self.declared: set[str] = set()
        self.accumulators: dict[Var | Load, Var] = {}
        self.leave = "return;"
        self.out = Lines()
        self.last: Loc | None = None
        self.names = set(module.taken) | C_WORDS
        self.check_status = False
        self.resident = resident
        #: Arrays of the threads that the host makes.
        self.scratch: dict[str, None] = {}

    def c(self, name: str) -> str:
        """What a name of the program is called in C."""
        return self.renamed.get(name, name)

    def rename_all(self, block: Block) -> None:
        """Other names for what is a word of C, or no name in it."""
        for n in sorted(all_names(block)):
            if n in C_WORDS and n not in self.renamed:
                self.renamed[n] = fresh(f"{n}_", self.names)
            if not n.isascii() and n not in self.renamed:
                self.renamed[n] = fresh(ascii_name(n), self.names)

    def scalar(self, n: str) -> str:
        if n not in self.own and n not in self.declared:
            self.scalars[n] = None
        return self.c(n)

    def array(self, a: str) -> str:
        if a not in self.local or a in self.scratch:
            self.arrays[a] = None
        return self.c(a)

    def extent(self, a: str, k: int) -> str:
        """``a.shape[k]`` in C."""
        made = self.local.get(a)
        if made is not None:
            size = made.shape[k]
            if not self.measured(made, k):
                assert isinstance(size, Const)
                return str(size.value)
            return f"{self.c(a)}_n{k}"
        if a in self.module.resident:
            return "1"
        if (a, k) not in self.extents:
            self.extents[a, k] = fresh(f"{self.c(a)}_n{k}", self.names)
        return self.extents[a, k]

    def natural(self, index: Expr) -> bool:
        # What the launches make of a program counts from zero.
        return index in self.added or self.module.subscripts.natural(index)

    def goes_around(self, op: str, args: Sequence[Expr]) -> bool:
        return self.module.wraps and self.module.subscripts.may_wrap(op, args)

    # ---------------------------------------------------------------- own arrays

    def allocations(self) -> None:
        """Is there memory that the threads have to ask for?"""
        for s in self.local.values():
            if self.small(s):
                continue
            if not self.step.over and all(map(self.before, s.shape)):
                if s.array not in self.grown | self.varying:
                    self.scratch[s.array] = None
                    self.arrays[s.array] = None
                    self.written.add(s.array)
                    continue
            self.check_status = True
            self.helpers["make"] = None

    def before(self, size: Expr) -> bool:
        """Does the host know the size of an array of a thread?"""
        return not risky(size) and not any(
            isinstance(e, Load)
            or (isinstance(e, Var) and (e.name in self.own or e.name in self.resident))
            or (isinstance(e, Extent) and e.array in self.local)
            for e in walk_expr(size)
        )

    def small(self, s: Alloc) -> bool:
        """May a thread keep the array in registers or its own memory?"""
        most = self.module.gpu.own_elements
        sizes = [n.value for n in s.shape if isinstance(n, Const)]
        if len(sizes) < len(s.shape) or math.prod(map(int, sizes)) > most:
            return False
        return s.array not in self.grown | self.varying

    def measured(self, s: Alloc, k: int) -> bool:
        """Is the extent of a thread's own array a variable?"""
        return (
            not isinstance(s.shape[k], Const)
            or s.array in self.varying
            or (k == 0 and s.array in self.grown)
        )

    def flat(self, a: str, index: Sequence[Expr]) -> str:
        return self.own_place(a, super().flat(a, index))

    def own_place(self, a: str, place: str) -> str:
        """Where the element at `place` of an array of all threads is."""
        if a not in self.scratch or not self.step.loops:
            return place
        factor = place if place.isidentifier() or place.isdigit() else f"({place})"
        return f"{factor} * threads_x() + thread_x()"


def _element(target: Var | Load, resident: frozenset[str]) -> Var | Load:
    made = as_element(target, resident)
    assert isinstance(made, (Var, Load))
    return made


def _with(f: For, resident: frozenset[str]) -> For:
    parts = [as_element(e, resident) for e in (f.lo, f.hi, f.step)]
    return replace(f, lo=parts[0], hi=parts[1], step=parts[2], body=())


def _made(block: Block) -> tuple[dict[str, Alloc], frozenset[str]]:
    """The arrays that a block makes, and those that it makes in several shapes."""
    found: dict[str, Alloc] = {}
    varying: set[str] = set()
    for s in walk(block):
        if isinstance(s, Alloc):
            if found.setdefault(s.array, s).shape != s.shape:
                varying.add(s.array)
    return found, frozenset(varying)
