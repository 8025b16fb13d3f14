"""Expressions: numbers, arrays of a given shape, elements, calls of helpers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tests.tools.generator.programs.kinds import (
    ANY,
    DOUBLE,
    SINGLE,
    WEAK,
    Array,
    Helper,
    Parameter,
    Result,
    Scope,
    Shape,
    Size,
    fits,
)

T = TypeVar("T")
CONSTANTS = ("0.5", "0.25", "0.1", "0.3", "0.8", "1.5", "2.0", "0.7")
#: Of a hundred functions, so many have names for one array or another that is written,
#: second names of arrays that change places, and the like: what may be refused. Of a
#: hundred programs about one has such a function: it must be right or refused too, but
#: what is refused says nothing of the rest of the program.
LOOSE = 0.5
CUTS = {0: (":",), 1: ("1:", ":-1"), 2: ("1:-1", "2:", ":-2")}


class Values:
    """The dice, the names of the function being written, and its expressions."""

    def __init__(self, rng: random.Random, mode: str, used: dict[str, None]) -> None:
        self.rng = rng
        self.mode = mode
        self.used = used
        self.taken: set[str] = set()
        # Names that may hold the same array: each leads to another of its class.
        self.one: dict[str, str] = {}
        self.changed: set[str] = set()
        # Names that were bound again inside a loop or a branch; that changed places;
        # that are second names of something; that hold one array or another.
        self.bound_inside: set[str] = set()
        self.exchanged: set[str] = set()
        self.second: set[str] = set()
        self.unsure: set[str] = set()
        # Names that changed places on some paths; was there an early `return`? What
        # follows one stands on some paths too.
        self.turned: set[str] = set()
        self.left = False
        # Names that were bound to a new array on every path; the parameters.
        self.detached: set[str] = set()
        self.given: set[str] = set()
        self.strict = not self.chance(LOOSE)
        # What every call needs that is bound before: constants of the module.
        self.constants: dict[str, str] = {}
        self.extents: dict[str, list[str]] = {}
        # Helpers of two results are taken apart by a statement of their own.
        self.deep = 0

    # ---------------------------------------------------------------- dice

    def pick(self, *options: T) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def weighted(self, options: Sequence[tuple[int, str]]) -> str:
        at = self.rng.randrange(sum(w for w, _ in options))
        for weight, name in options:
            at -= weight
            if at < 0:
                return name
        raise AssertionError("weights are positive")

    def use(self, *features: str) -> None:
        for feature in features:
            self.used[feature] = None

    # ---------------------------------------------------------------- one array?

    def root(self, name: str) -> str:
        while name in self.one:
            name = self.one[name]
        return name

    def join(self, a: str, b: str) -> None:
        p, q = self.root(a), self.root(b)
        if p != q:
            self.one[p] = q

    indent = 1

    def may(self, deed: str, a: Array) -> bool:
        """Does it stay clear which array a name is, if it is written, swapped, ...?"""
        if not self.strict:
            return True
        n, inside = a.name, self.indent > 1
        match deed:
            case "write":
                return n not in self.bound_inside | self.unsure and not (
                    inside and n in self.second
                )
            case "swap":
                return n not in self.bound_inside | self.unsure | self.second
            case "bind":
                busy = self.exchanged | self.second | self.unsure
                busy |= {m for m in self.taken if self.root(m) in self.changed}
                return not inside or n not in busy
            case _:
                return n not in self.exchanged | self.bound_inside | self.unsure

    # ---------------------------------------------------------------- sizes

    def extent(self, size: Size, scope: Scope) -> str:
        """How this size is written here."""
        direct = [
            f"{a.name}.shape[{k}]" if k or self.chance(80) else f"len({a.name})"
            for a in scope.arrays.values()
            for k, s in enumerate(a.shape)
            if s == size
        ]
        named = self.extents.get(size.symbol, [])
        if not size.more:
            if named and self.chance(75):
                return self.pick(*named)
            direct = direct or named
        if direct:
            return self.pick(*direct)
        base = named or [
            f"{a.name}.shape[{k}]"
            for a in scope.arrays.values()
            for k, s in enumerate(a.shape)
            if s == Size(size.symbol)
        ]
        if not base:
            return ""
        sign = "+" if size.more > 0 else "-"
        return f"{self.pick(*base)} {sign} {abs(size.more)}"

    def shape_text(self, shape: Shape, scope: Scope) -> str:
        parts = [self.extent(s, scope) for s in shape]
        if not all(parts):
            return ""
        if len(parts) == 1 and self.chance(70):
            return parts[0]
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    # ---------------------------------------------------------------- arrays

    def reach(self, scope: Scope, shape: Shape, dtype: str, exact: bool) -> list[str]:
        """Names and slices of this shape."""
        found: list[str] = []
        for a in scope.arrays.values():
            if a.dtype != dtype and (exact or not fits(a.dtype, dtype)):
                continue
            if len(a.shape) == len(shape):
                found += self.sliced(a, shape)
            elif len(a.shape) == len(shape) + 1 and self.chance(30):
                if a.shape[1:] == shape:
                    found.append(f"{a.name}[{self.pick('0', '-1')}]")
                if len(shape) == 1 and a.shape[:-1] == shape:
                    found.append(f"{a.name}[:, {self.pick('0', '-1')}]")
        return found

    def sliced(self, a: Array, shape: Shape) -> list[str]:
        cuts = []
        for have, want in zip(a.shape, shape, strict=True):
            if have.symbol != want.symbol or have.more - want.more not in CUTS:
                return []
            cuts.append(have.more - want.more)
        if not any(cuts):
            return [a.name, a.name]
        return [
            f"{a.name}[{', '.join(self.pick(*CUTS[c]) for c in cuts)}]"
            for _ in range(2)
        ]

    def shapes(self, scope: Scope) -> list[Shape]:
        return list(dict.fromkeys(a.shape for a in scope.arrays.values()))

    def some_shape(self, scope: Scope) -> Shape:
        """A shape of arrays here, or of a part of them."""
        shape = self.pick(*self.shapes(scope))
        if self.chance(25):
            self.use("temporary of another shape")
            shape = tuple(
                s.plus(-self.pick(0, 1, 1, 2)) if s.more > -2 else s for s in shape
            )
        return shape

    def array(self, scope: Scope, shape: Shape, dtype: str, depth: int) -> str:
        """An expression of exactly this shape and dtype, or nothing."""
        exact = self.reach(scope, shape, dtype, True)
        if depth <= 0 or self.chance(10):
            if exact and not (depth > 0 and self.chance(30)):
                return self.pick(*exact)
            call = self.call_for(scope, Result("array", shape, dtype))
            return call or (self.pick(*exact) if exact else "")
        left = self.array(scope, shape, dtype, depth - 1)
        if not left:
            return ""
        left = self.inside(left)

        def right() -> str:
            text = beside()
            return text if text != left else beside()

        def beside() -> str:
            if self.chance(25):
                return self.inside(self.number(scope, 0, dtype))
            if len(shape) == 2 and self.chance(12):
                rows = self.reach(scope, shape[1:], dtype, False)
                if rows:
                    self.use("broadcast")
                    return self.pick(*rows)
            other = dtype
            if self.chance(40):
                near = self.reach(scope, shape, dtype, False)
                if near:
                    return self.pick(*near)
            text = self.array(scope, shape, other, depth - 1)
            return self.inside(text) if text else "0.5"

        match self.weighted(
            [
                (8, "sum"),
                (6, "product"),
                (5, "scaled"),
                (3, "quotient"),
                (3, "square"),
                (3, "function"),
                (2, "where"),
                (2, "extreme"),
                (3, "second"),
            ]
        ):
            case "sum":
                return f"{left} {self.pick('+', '-')} {right()}"
            case "product":
                return f"{left} * {right()}"
            case "scaled":
                return f"{self.scale(scope, dtype)} * {left}"
            case "quotient":
                return f"{left} / (1.5 + {right()} ** 2)"
            case "square":
                return f"{left} ** 2 {self.pick('+', '-')} {right()}"
            case "second":
                return f"{left} + {self.scale(scope, dtype)} * ({right()} - {left})"
            case "extreme":
                return f"np.{self.pick('maximum', 'minimum')}({left}, {right()})"
            case "where":
                self.use("np.where")
                level = self.pick("0.1", "-0.2", "0.0")
                return f"np.where({left} > {level}, {right()}, {left})"
            case _:
                return self.pick(
                    f"np.sin({left})",
                    f"np.tanh({left})",
                    f"np.exp(-{left} ** 2)",
                    f"np.sqrt(1.0 + {left} ** 2)",
                    f"np.abs({left})",
                )

    @staticmethod
    def inside(text: str) -> str:
        """In parentheses, where an operator could take a part of it."""
        depth = 0
        for k, c in enumerate(text):
            depth += (c in "([") - (c in ")]")
            if depth == 0 and (c in "*/ " or (c == "-" and k == 0)):
                return f"({text})"
        return text

    def scale(self, scope: Scope, dtype: str) -> str:
        """A small factor."""
        known = [n for n, k in scope.numbers.items() if fits(k, dtype)]
        known += [c for c, k in self.constants.items() if fits(k, dtype)]
        if known and self.chance(45):
            return self.pick(*known)
        return self.pick(*CONSTANTS)

    def floats(self, scope: Scope) -> list[Array]:
        return list(scope.arrays.values())

    # ---------------------------------------------------------------- numbers

    def element(self, scope: Scope, dtype: str) -> str:
        """An element that exists wherever the loops are."""
        found: list[str] = []
        for a in scope.arrays.values():
            if not fits(a.dtype, dtype):
                continue
            parts: list[str] = []
            for size in a.shape:
                reached = [(i, d) for i in scope.indices for d in i.reaches(size)]
                if reached and self.chance(92):
                    i, d = self.pick(*reached)
                    sign = "+" if d > 0 else "-"
                    parts.append(i.name if not d else f"{i.name} {sign} {abs(d)}")
                else:
                    parts.append(self.pick("0", "-1", "0"))
            weight = 1 + 3 * sum(not p.lstrip("-").isdigit() for p in parts)
            found += [f"{a.name}[{', '.join(parts)}]"] * weight
        return self.pick(*found) if found else ""

    def number(self, scope: Scope, depth: int, dtype: str = DOUBLE) -> str:
        """An expression for a number that may meet this dtype."""
        known = [n for n, k in scope.numbers.items() if fits(k, dtype)]
        if depth <= 0:
            options = [(2, "constant")]
            if known:
                options.append((5, "name"))
            if self.constants:
                options.append((1, "module"))
            if scope.arrays:
                options.append((8 if scope.indices else 3, "element"))
            if scope.integers:
                options.append((1, "integer"))
            match self.weighted(options):
                case "name":
                    return self.pick(*known)
                case "module":
                    fit = [c for c, k in self.constants.items() if fits(k, dtype)]
                    return self.pick(*fit) if fit else "0.5"
                case "element":
                    return self.element(scope, dtype) or "0.4"
                case "integer":
                    return f"0.2 * {self.pick(*scope.integers)}"
                case _:
                    return self.pick(*CONSTANTS)
        left = self.inside(self.number(scope, depth - 1, dtype))

        def right() -> str:
            for _ in range(3):
                text = self.inside(self.number(scope, depth - 1, dtype))
                if text != left and not (text[0].isdigit() and left[0].isdigit()):
                    break
            return text

        options = [
            (8, "sum"),
            (7, "product"),
            (3, "quotient"),
            (2, "square"),
            (3, "function"),
            (1, "extreme"),
            (1, "choice"),
        ]
        if scope.heavy < 2 and scope.arrays:
            options.append((1 if scope.indices else 7, "reduction"))
        if any(self.gives(h, "number") for h in scope.helpers.values()):
            options.append((9, "call"))
        match self.weighted(options):
            case "sum":
                return f"{left} {self.pick('+', '-')} {right()}"
            case "product":
                return f"{left} * {right()}"
            case "quotient":
                return f"{left} / (1.5 + {right()} ** 2)"
            case "square":
                return f"{left} ** 2"
            case "extreme":
                return f"{self.pick('max', 'min')}({left}, {right()})"
            case "choice":
                return f"({left} if {self.condition(scope)} else {right()})"
            case "reduction":
                return self.reduction(scope, dtype) or left
            case "call":
                found = self.call_for(scope, Result("number", (), dtype))
                return found or left
            case _:
                m = "math" if self.mode != DOUBLE or self.chance(50) else "np"
                return self.pick(
                    f"{m}.sin({left})",
                    f"{m}.tanh({left})",
                    f"{m}.exp(-{left} ** 2)",
                    f"{m}.sqrt(1.0 + {left} ** 2)",
                    f"abs({left})",
                )

    def reduction(self, scope: Scope, dtype: str) -> str:
        """A number made of whole arrays."""
        kinds = [d for d in (SINGLE, ANY, DOUBLE) if fits(d, dtype)]
        there = [a.dtype for a in scope.arrays.values() if a.dtype in kinds]
        if not there:
            return ""
        kind = self.pick(*there)
        text = self.array(scope, self.some_shape(scope), kind, self.pick(0, 1, 1, 2))
        if not text:
            return ""
        whole = text.isidentifier()
        return self.pick(
            f"np.sum({text})",
            f"np.sum({text})",
            f"np.sum({self.inside(text)} ** 2)",
            f"{text}.sum()" if whole else f"np.sum({text})",
            f"np.mean({text})",
            f"{text}.mean()" if whole else f"np.mean({text})",
            f"np.max({text})",
        )

    def condition(self, scope: Scope) -> str:
        options = [(3, "number")]
        if scope.integers:
            options.append((4, "integer"))
        match self.weighted(options):
            case "integer":
                i = self.pick(*scope.integers)
                return self.pick(
                    f"{i} % 2 == {self.pick(0, 1)}",
                    f"{i} > {self.pick(0, 1, 2)}",
                    f"{i} == {self.pick(0, 1)}",
                    f"{i} < {self.pick(1, 2)}",
                    f"{i} % 3 != 1",
                )
            case _:
                left = self.number(scope, 0 if self.chance(70) else 1)
                if left.replace(".", "").isdigit():
                    left = self.element(scope, DOUBLE) or left
                compared = self.pick(">", "<", ">=", "<=")
                text = f"{left} {compared} {self.pick('0.1', '0.3', '-0.2', '0.6')}"
                return f"not {text}" if self.chance(5) else text

    # ---------------------------------------------------------------- calls

    @staticmethod
    def gives(helper: Helper, what: str) -> bool:
        return len(helper.results) == 1 and helper.results[0].what == what

    def call_for(self, scope: Scope, wanted: Result) -> str:
        """A call that gives one such value, or nothing."""
        if self.deep > 2:
            return ""
        candidates = [h for h in scope.helpers.values() if self.gives(h, wanted.what)]
        self.rng.shuffle(candidates)
        for helper in candidates:
            found = self.called(scope, helper, wanted)
            if found is not None:
                self.use("call in an expression")
                return found[0]
        return ""

    def called(
        self, scope: Scope, helper: Helper, wanted: Result | None = None
    ) -> tuple[str, tuple[Result, ...], dict[str, str]] | None:
        """The text of a call, what it gives here, and which arrays it was given."""
        self.deep += 1
        try:
            return self._called(scope, helper, wanted)
        finally:
            self.deep -= 1

    def _called(
        self, scope: Scope, helper: Helper, wanted: Result | None
    ) -> tuple[str, tuple[Result, ...], dict[str, str]] | None:
        sizes: dict[str, Size] = {}
        dtype = ""

        def bind(formal: Shape, actual: Shape) -> bool:
            if len(formal) != len(actual):
                return False
            for f, a in zip(formal, actual, strict=True):
                if f.symbol.startswith("="):
                    if f != a:
                        return False
                    continue
                if sizes.setdefault(f.symbol, a.plus(-f.more)) != a.plus(-f.more):
                    return False
            return True

        def here(formal: Shape) -> Shape:
            return tuple(sizes[f.symbol].plus(f.more) for f in formal)

        if wanted is not None:
            (result,) = helper.results
            if not bind(result.shape, wanted.shape):
                return None
            if wanted.what == "array":
                if result.dtype == ANY:
                    dtype = wanted.dtype
                elif result.dtype != wanted.dtype:
                    return None
            elif result.dtype != ANY and not fits(result.dtype, wanted.dtype):
                return None
        given: dict[str, str] = {}
        arguments: dict[str, str] = {}
        roots: list[tuple[str, bool]] = []
        for p in helper.parameters:
            if p.what == "array":
                text = self.array_argument(scope, p, sizes, dtype, bind, here, roots)
                if not text:
                    return None
                name, text = text.split("|", 1) if "|" in text else ("", text)
                if p.dtype == ANY and not dtype:
                    dtype = self.dtype_of
                if name:
                    given[p.name] = name
                    if p.written:
                        self.changed.add(self.root(name))
                arguments[p.name] = text
                if wanted is not None and wanted.what == "number":
                    if not fits(dtype or p.dtype, wanted.dtype):
                        return None
            elif p.what == "number":
                if p.default and self.chance(45):
                    continue
                arguments[p.name] = self.number(scope, self.pick(0, 0, 1), p.dtype)
            else:
                if p.default and self.chance(45):
                    continue
                arguments[p.name] = self.pick("1", "2", "3", "2", *scope.integers)
        results = tuple(
            Result(
                r.what,
                here(r.shape),
                (dtype or DOUBLE) if r.dtype == ANY else r.dtype,
                frozenset(given[n] for n in r.same if n in given),
                r.exchanged,
            )
            for r in helper.results
        )
        return self.written_call(helper, arguments), results, given

    def written_call(self, helper: Helper, arguments: dict[str, str]) -> str:
        """By position as long as nothing was left out, then by keyword."""
        parts: list[str] = []
        named: list[str] = []
        by_name = False
        for k, p in enumerate(helper.parameters):
            if p.name not in arguments:
                by_name = True
                self.use("default")
                continue
            by_name = by_name or self.chance(6 if k else 2)
            if by_name:
                named.append(f"{p.name}={arguments[p.name]}")
            else:
                parts.append(arguments[p.name])
        if named:
            self.use("keyword")
            if self.chance(30):
                self.rng.shuffle(named)
        return f"{helper.name}({', '.join([*parts, *named])})"

    dtype_of = DOUBLE

    def array_argument(
        self,
        scope: Scope,
        p: Parameter,
        sizes: dict[str, Size],
        dtype: str,
        bind: object,
        here: object,
        roots: list[tuple[str, bool]],
    ) -> str:
        """`name|text` for an array that may be found again, else a text."""
        assert callable(bind) and callable(here)
        want = p.dtype if p.dtype != ANY else dtype
        candidates = [
            a
            for a in scope.arrays.values()
            if len(a.shape) == len(p.shape) and (not want or a.dtype == want)
        ]
        unbound = [s.symbol for s in p.shape if s.symbol not in sizes]
        unbound = [s for s in unbound if not s.startswith("=")]
        if unbound:
            self.rng.shuffle(candidates)
            for a in candidates:
                shape = a.shape
                if self.chance(8) and not p.written:
                    shape = tuple(s.plus(-self.pick(0, 1, 2)) for s in shape)
                before = dict(sizes)
                if bind(p.shape, shape):
                    want = want or a.dtype
                    break
                sizes.clear()
                sizes.update(before)
            else:
                return ""
        shape = here(p.shape)
        same = [a for a in candidates if a.shape == shape]
        if not want:
            if not same:
                return ""
            want = self.pick(*same).dtype
        self.dtype_of = want
        same = [a for a in same if a.dtype == want]
        apart = [
            a
            for a in same
            if not any(self.root(a.name) == r and (w or p.written) for r, w in roots)
        ]
        if p.written:
            apart = [a for a in apart if self.may("write", a)]
            if not apart:
                return ""
            a = self.pick(*apart)
            roots.append((self.root(a.name), True))
            return f"{a.name}|{a.name}"
        if apart and self.chance(72):
            a = self.pick(*apart)
            roots.append((self.root(a.name), False))
            if self.chance(6):
                return f"{a.name}.copy()"
            return f"{a.name}|{a.name}"
        text = self.array(scope, shape, want, self.pick(0, 1, 1))
        if text and any(w for _, w in roots):
            return f"{self.inside(text)} * 1.0" if "(" not in text else text
        return text


__all__ = ["WEAK", "Values"]
