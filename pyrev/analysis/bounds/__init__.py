"""Does every access of a call stay inside its array? Known before anything is written.

Three answers, cheapest first, for each subscript:

proved     ISL shows that no iteration leaves the array, whatever the sizes;
hoisted    the subscript, its loops and its guards are affine: one test of the sizes;
inspected  data decides: the part of the function that computes such subscripts runs
           first, on copies of what it writes, and reports the first that is outside.

A subscript may be negative, as in Python. What reasons about elements (schedules, what
is overwritten) takes -1 and n - 1 for two of them, so a call in which a subscript does
become negative runs a program that says where it points: ``e if e >= 0 else e + n``.
`Variants.program_for` makes it, for the subscripts that the sizes and the data of the
call make negative; all others stay as they are written. A subscript that reads an array
is left alone: nothing reasons about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from pyrev.analysis.bounds.subscripts import Subscript
from pyrev.analysis.bounds.variants import Variant, Variants, natural, naturally
from pyrev.analysis.integer_ranges import Magnitudes
from pyrev.ir.nodes import (
    TRUE,
    ZERO,
    Expr,
    If,
    Program,
    Return,
    map_block,
    names,
    written,
)
from pyrev.ir.ranges import Interval
from pyrev.ir.text import block_text, expr_text

__all__ = ["Bounds", "Variant", "natural", "naturally"]


class Bounds:
    """The checks of one program, and which of its `variants` a call runs.

    What is `inside` is known to be: all subscripts but those that data decides.
    """

    def __init__(self, program: Program, inside: bool = False) -> None:
        self.variants = Variants(program, inside)
        self._program = program
        self._facts, self._findings = self.variants.facts, self.variants.findings

    @property
    def inspected(self) -> tuple[Subscript, ...]:
        """The subscripts that data decides."""
        return self._findings.inspected

    def guard_text(
        self,
        name: str,
        params: Sequence[str],
        same: Sequence[tuple[str, str | tuple[Expr, ...]]],
    ) -> str:
        """Python text that makes function `name` of `params` test its sizes first;
        nothing where there is nothing to test.

        `same` are parameters and what has their shape: another one, or a result.
        """
        tests = {t: one.message() for t, one in reversed(self._findings.hoisted)}
        if not tests and not same:
            return ""
        lines = ["", "", f"_{name}_unchecked = {name}", "", ""]
        lines += [f"def {name}({', '.join(params)}):"]
        for a, b in same:
            shape, of = f"{b}.shape", f"`{b}`"
            if not isinstance(b, str):
                sizes = ", ".join(map(expr_text, b))
                shape = f"({sizes}{',' if len(b) == 1 else ''})"
                of = "what is returned"
            lines += [
                f"    if {a}.shape != {shape}:",
                f"        raise ValueError('`{a}` must have the shape of {of}')",
            ]
        for test, message in reversed(tests.items()):
            lines += _when(test, f"raise IndexError({message!r})")
        lines += [f"    return _{name}_unchecked({', '.join(params)})", ""]
        return "\n".join(lines)

    def check(self, values: Mapping[str, Any]) -> Variant:
        """The program for these arguments, as far as their sizes decide.

        Raises `IndexError` if they make an access leave its array, `ArgumentError` if
        they make an integer pass 64 bits.
        """
        numbers = {n: int(v) for n, v in values.items() if isinstance(v, np.integer)}
        values = {**values, **numbers}
        k = self._tests["outside"](**values)
        if k >= 0:
            _, one = self._findings.hoisted[k]
            array = values.get(one.load.array)
            if array is None:  # made by the function
                raise IndexError(one.message())
            extent = array.shape[one.axis]
            raise IndexError(f"{one.message()}, which has {extent} elements")
        self._magnitudes.check(values)
        return Variant(self._tests["negative"](**values), (), self._sure(values))

    def _sure(self, values: Mapping[str, Any]) -> tuple[int, ...]:
        """Those that are inside their array for these sizes, whatever the data."""
        if not self._sized_sites:
            return ()
        return tuple(sorted(self._sized_sites - self._tests["doubt"](**values)))

    @cached_property
    def _sized_sites(self) -> frozenset[int]:
        return frozenset(
            one.site
            for one in self.inspected
            if one.doubt != TRUE
            and one.signed
            and names(one.index) & self._facts.of_floats
        )

    def in_doubt(self, values: Mapping[str, Any]) -> frozenset[int]:
        """The subscripts for which data must be looked at, for these sizes."""
        if not self.inspected:
            return frozenset()
        found: frozenset[int] = self._tests["doubt"](**values)
        if found & self.variants.watched:  # made of indices and sizes, as products are
            unsettled = {
                self._findings.sites[place]
                for place in self._magnitudes.unsettled(values)
            }
            found &= unsettled
        return found

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The arrays of integers that the function only reads."""
        changed = written(self._program.body)
        return tuple(
            p.name
            for p in self._program.params
            if p.rank and "int" in self._facts.types[p.name] and p.name not in changed
        )

    def settled(
        self,
        values: Mapping[str, Any],
        doubts: frozenset[int],
        elements: Mapping[str, Interval],
    ) -> bool:
        """Are the subscripts in doubt inside, and not negative, whichever of the
        elements between these bounds they read?
        """
        loose = self._magnitudes.unsettled(values, elements)
        return doubts.isdisjoint(self._findings.sites[place] for place in loose)

    def inspected_variant(
        self, variant: Variant, doubts: frozenset[int], result: Sequence[Any]
    ) -> Variant:
        """The program for a call, from what its inspector returned.

        Raises `IndexError` if that found an access outside.
        """
        found, *below = map(int, result)
        if found > 0:
            raise IndexError(self.inspected[found - 1].message())
        signed = [one.site for one in self.inspected if one.signed]
        more = [site for site, seen in zip(signed, below, strict=True) if seen]
        return variant._replace(
            negative=tuple(sorted({*variant.negative, *more})),
            clamped=tuple(sorted(doubts & self.variants.rounded)),
        )

    def wide_variant(self, variant: Variant, doubts: frozenset[int]) -> Variant:
        """The program for a call in which nothing was found outside or negative,
        whichever way tests that take float arithmetic come out.
        """
        rounded = self.variants.rounded_themselves
        return variant._replace(clamped=tuple(sorted(doubts & rounded)))

    @cached_property
    def _magnitudes(self) -> Magnitudes:
        body = map_block(self._program.body, self._facts.sized)
        return Magnitudes(
            replace(self._program, body=body), self._facts.types, self._facts.single
        )

    @cached_property
    def _tests(self) -> dict[str, Any]:
        """Python functions of the parameters, for what the sizes decide."""
        params = ", ".join(p.name for p in self._program.params)
        lines = [f"def outside({params}):"]
        for k, (test, _) in enumerate(self._findings.hoisted):
            lines += _when(test, f"return {k}")
        lines += ["    return -1", "", f"def negative({params}):", "    found = set()"]
        for test, one in self._findings.negative:
            lines += _when(test, f"found.add({one.site})")
        lines += ["    return tuple(sorted(found))", "", f"def doubt({params}):"]
        lines += ["    found = set()"]
        doubts: dict[Expr, list[int]] = {}
        for one in self.inspected:
            doubts.setdefault(one.doubt, []).append(one.site)
        for test, sites in doubts.items():
            lines += _when(test, f"found.update({sites})")
        lines += ["    return frozenset(found)"]
        namespace: dict[str, Any] = {}
        exec("\n".join(lines), namespace)
        return namespace


def _when(test: Expr, action: str) -> list[str]:
    """The lines of ``if test: action`` in a function body."""
    stub = If(test, (Return((ZERO,), single=True),))
    *head, last = block_text((stub,), 1).splitlines()
    return [*head, last.replace("return 0", action)]
