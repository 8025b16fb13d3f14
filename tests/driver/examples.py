"""The examples in the docstrings of passes: read, run alone, and run in CPython.

A loop over `prange` carries a proof, before a pass as after it: what is read gets the
proof that `legality` makes of it, and what is run takes its iterations in any order.
"""

from __future__ import annotations

import copy
import inspect
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pyrev.analysis.poly import integer_names
from pyrev.driver.passes import Pass, proved, well_formed
from pyrev.driver.setting import Setting
from pyrev.driver.sizes import Sizes
from pyrev.ir.liveness import live_inside, live_out, with_live
from pyrev.ir.nodes import Block, For, Program, blocks, walk, with_blocks
from pyrev.ir.text import program_text
from pyrev.parse import parse_text
from pyrev.schedule.costs import SHIPPED
from pyrev.schedule.legality import parallelise
from tests.tools.interpreted import Unfilled, shuffled

#: What a docstring is made of, in this order, behind its first sentence.
PARTS = ("Sizes", "Before", "After", "Law", "Not handled")
#: How a law begins, by what it promises of the bits.
BITS, TERMS = "The same bits", "The same terms"

_RANGE = re.compile(r"^( *for .* in (?:reversed\()?)(p?)range\(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Example:
    """What the docstring of a pass shows."""

    #: The shapes of the parameters, which are arrays.
    sizes: dict[str, tuple[int, ...]]
    before: str
    after: str
    law: str
    left: str

    def arguments(self, seed: int, whole: bool = False) -> list[Any]:
        """Arrays of these sizes; if `whole`, of small integers: their sums are exact
        in any order.
        """
        rng = np.random.default_rng(seed)
        if whole:
            return [rng.integers(-3, 4, n).astype(float) for n in self.sizes.values()]
        return [rng.uniform(-3.0, 3.0, n) for n in self.sizes.values()]


def example(step: Pass) -> Example:
    """The example of a pass; a `ValueError` where a part is missing or out of order."""
    text = inspect.getdoc(step.run) or ""
    heads = "|".join(PARTS)
    first, *found = re.split(rf"^({heads})::?(?=\s)", text, flags=re.MULTILINE)
    parts = dict(zip(found[::2], map(inspect.cleandoc, found[1::2]), strict=True))
    if not first.strip() or tuple(found[::2]) != PARTS or not all(parts.values()):
        said = ", ".join(PARTS)
        raise ValueError(f"the docstring of `{step.name}` has not these parts: {said}")
    if not parts["Law"].startswith((BITS, TERMS)):
        raise ValueError(f"the docstring of `{step.name}`: bits, or terms, as a law?")
    sizes = {
        name: tuple(map(int, shape.split(",")))
        for name, shape in re.findall(r"(\w+)\[([\d, ]+)\]", parts["Sizes"])
    }
    return Example(
        sizes, parts["Before"], parts["After"], parts["Law"], parts["Not handled"]
    )


def parsed(text: str) -> Program:
    """The program of a text, every loop over a `prange` with its proof."""
    program = parse_text(_RANGE.sub(r"\1range(", text))
    wanted = iter([mark == "p" for _, mark in _RANGE.findall(text)])
    whole = integer_names(program.body)

    def proven(
        block: Block, outer: tuple[For, ...], live: frozenset[str]
    ) -> Iterator[Any]:
        for s, after in with_live(block, live):
            if not isinstance(s, For):
                inner = (tuple(proven(b, outer, after)) for b in blocks(s))
                yield with_blocks(s, tuple(inner))
                continue
            if next(wanted):
                s = parallelise(s, outer, after, whole)
                assert s.parallel, f"the loop over {s.index} has no proof"
            inside = live_inside(s, after)
            yield replace(s, body=tuple(proven(s.body, (*outer, s), inside)))

    return replace(program, body=tuple(proven(program.body, (), live_out(program))))


def printed(program: Program) -> str:
    """The text of a program, `prange` where a loop has a proof."""
    loops = iter([s for s in walk(program.body) if isinstance(s, For)])

    def marked(found: re.Match[str]) -> str:
        proof = next(loops).parallel
        return f"{found[1]}{'prange' if proof else 'range'}("

    text = _RANGE.sub(marked, program_text(program))
    assert next(loops, None) is None
    return text.rstrip("\n")


def applied(step: Pass, program: Program, shown: Example) -> str:
    """The text behind one pass alone, for arguments of the sizes that are shown."""
    assert [*shown.sizes] == [p.name for p in program.params]
    values = dict(zip(shown.sizes, shown.arguments(0), strict=True))
    dtypes = {p.name: p.dtype for p in program.params}
    made = step.run(program, Setting(dtypes, Sizes(values, SHIPPED)))
    well_formed(step.name, made)
    proved(step.name, made)
    return printed(made)


def results(text: str, arguments: list[Any], seed: int = 0) -> list[Any]:
    """What the arguments hold and what is returned after a text ran in CPython."""
    space: dict[str, Any] = {"np": Unfilled(), "math": math}
    turns = shuffled(seed)
    space["prange"] = lambda *bounds: turns(range(*bounds))
    exec(compile(text, "<example>", "exec"), space)
    (run,) = (v for v in space.values() if inspect.isfunction(v) and v.__name__ == "f")
    given = copy.deepcopy(arguments)
    answer = run(*given)
    return [*given, *(answer if isinstance(answer, tuple) else (answer,))]
