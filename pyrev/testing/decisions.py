"""Which decision of a function changes at a point: the line behind a kink or a jump.

The primal's readable text runs in CPython with every decision recorded: which way each
comparison goes (a tie is an outcome of its own), what `floor` and `int` gave, how often
a loop runs. Where the records at a point and a step beside it part, the function
changes its formula; where they are equal it is one smooth formula, and a wrong
derivative is nobody's fault but the gradient's.
"""

from __future__ import annotations

import ast
import copy
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyrev.emit.python import emit_python
from pyrev.ir.nodes import Loc, Program
from pyrev.ir.printer import Text
from pyrev.testing.differences import OUTSIDE, moved
from pyrev.testing.outcome import Values, widen

#: A record longer than this is not worth its memory.
MOST = 2_000_000
STEP = 1e-7
#: The site of a record's end, where a call raised.
ENDED = -1

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_DIVIDE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_CHOICES = frozenset({"min", "max", "np.minimum", "np.maximum", "np.fmin", "np.fmax"})
_SIGNS = frozenset({"abs", "np.sign", "np.copysign"})
_STEPS = frozenset({"int", "round", "np.floor", "np.ceil", "np.trunc", "np.rint"})
_QUOTIENTS = frozenset({"np.fmod"})

Decision = tuple[int, Any]


class TooLong(Exception):
    """The record has grown beyond what is worth keeping."""


@dataclass(frozen=True)
class Site:
    """A place in the text where something is decided."""

    text: str
    loc: Loc

    def __str__(self) -> str:
        place = self.loc.place if self.loc.line else ""
        return f"{place}: `{self.text}` changes" if place else f"`{self.text}` changes"


@dataclass(frozen=True)
class Cause:
    """What is decided differently at a point and beside it: the first, and how many.

    Where nothing is, the count is 0: the function is one smooth formula there.
    """

    text: str
    count: int


class Decisions:
    """A primal that tells what it decides."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sites: list[Site] = []
        self.record: list[Decision] = []
        self.function = self._instrumented(emit_python(program))

    # ---------------------------------------------------------------- for users

    def change(self, values: Values, direction: Values) -> Cause | None:
        """What is decided differently at the point and a small step beside it.

        None if that cannot be told.
        """
        base = widen(values)
        try:
            here = self.decide(base)
            beside = [self.decide(moved(base, direction, t)) for t in (-STEP, STEP)]
        except TooLong:
            return None
        partings = sorted({k for other in beside for k in _partings(here, other)})
        if not partings:
            return Cause("", 0)
        site = here[partings[0]][0] if partings[0] < len(here) else ENDED
        said = "the end of a loop changes" if site == ENDED else str(self.sites[site])
        return Cause(said, len(partings))

    def decide(self, values: Values) -> list[Decision]:
        """The record of one call on copies of the arguments."""
        self.record = []
        own = copy.deepcopy(dict(values))
        try:
            with np.errstate(all="ignore"):
                self.function(*(own[p.name] for p in self.program.params))
        except OUTSIDE:
            self.record.append((ENDED, None))
        return self.record

    # ---------------------------------------------------------------- the text

    def _instrumented(self, text: Text) -> Callable[..., Any]:
        tree = ast.parse(text.text)
        self._visit(tree, text)
        space: dict[str, Any] = {
            "_compare": self._compare,
            "_choose": self._choose,
            "_sign": self._sign,
            "_step": self._step,
            "_quotient": self._quotient,
            "_range": self._range,
        }
        code = compile(ast.fix_missing_locations(tree), "<decisions>", "exec")
        exec(code, space)
        made: Callable[..., Any] = space[self.program.name]
        return made

    def _visit(self, node: ast.AST, text: Text) -> None:
        """Record every decision below `node`, the innermost first."""
        for field, value in ast.iter_fields(node):
            several = value if isinstance(value, list) else [value]
            for inner in several:
                if isinstance(inner, ast.AST):
                    self._visit(inner, text)
            watched = [
                self._watch(v, text) if isinstance(v, ast.expr) else v for v in several
            ]
            setattr(node, field, watched if isinstance(value, list) else watched[0])

    def _watch(self, node: ast.expr, text: Text) -> ast.expr:
        """`node`, its decision recorded."""
        match node:
            case ast.Compare(left, [op], [right]) if type(op) in _COMPARE:
                word = list(_COMPARE).index(type(op))
                return self._call(
                    "_compare", node, text, ast.Constant(word), left, right
                )
            case ast.BinOp(left, op, right) if type(op) in _DIVIDE:
                word = list(_DIVIDE).index(type(op))
                return self._call(
                    "_quotient", node, text, ast.Constant(word), left, right
                )
            case ast.Call(func, args):
                name = ast.unparse(func)
                for names, hook in (
                    (_CHOICES, "_choose"),
                    (_SIGNS, "_sign"),
                    (_STEPS, "_step"),
                ):
                    if name in names:
                        return self._call(hook, node, text, func, *args)
                if name in _QUOTIENTS:
                    return self._call("_quotient", node, text, func, *args)
                if name == "range":
                    return self._call("_range", node, text, *args)
        return node

    def _call(self, hook: str, node: ast.expr, text: Text, *args: ast.expr) -> ast.expr:
        site = len(self.sites)
        loc = text.locs[node.lineno - 1]
        said = ast.get_source_segment(text.text, node) or ast.unparse(node)
        self.sites.append(Site(" ".join(said.split()), loc))
        made = ast.Call(ast.Name(hook, ast.Load()), [ast.Constant(site), *args], [])
        return ast.copy_location(made, node)

    # ---------------------------------------------------------------- the record

    def _note(self, site: int, decision: Any) -> None:
        if len(self.record) >= MOST:
            raise TooLong
        self.record.append((site, decision))

    def _compare(self, site: int, word: int, a: Any, b: Any) -> Any:
        self._note(site, _order(a, b))
        return list(_COMPARE.values())[word](a, b)

    def _choose(self, site: int, choose: Callable[..., Any], *args: Any) -> Any:
        self._note(site, tuple(_order(args[0], b) for b in args[1:]))
        return choose(*args)

    def _sign(self, site: int, function: Callable[..., Any], *args: Any) -> Any:
        self._note(site, tuple(_order(a, 0) for a in args))
        return function(*args)

    def _step(self, site: int, function: Callable[..., Any], *args: Any) -> Any:
        found = function(*args)
        # A float that is a whole number is on the edge of the step.
        self._note(site, (str(found), bool(args[0] == found)))
        return found

    def _quotient(self, site: int, word: Any, a: Any, b: Any) -> Any:
        divide = word if callable(word) else list(_DIVIDE.values())[word]
        found = divide(a, b)
        ratio = float(a) / float(b) if b else math.nan
        whole = math.floor(ratio) if math.isfinite(ratio) else 0
        self._note(site, (whole, ratio == whole))
        return found

    def _range(self, site: int, *args: int) -> range:
        found = range(*args)
        self._note(site, (found.start, len(found)))
        return found


def _order(a: Any, b: Any) -> int:
    """Less, equal or greater; NaN is none of them."""
    return -1 if a < b else (1 if a > b else (0 if a == b else 2))


def _partings(a: Sequence[Decision], b: Sequence[Decision]) -> Iterator[int]:
    """The places at which two records differ, up to where one takes another way."""
    for k, (one, two) in enumerate(zip(a, b, strict=False)):
        if one != two:
            yield k
        if one[0] != two[0]:
            return
    if len(a) != len(b):
        yield min(len(a), len(b))
