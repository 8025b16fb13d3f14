"""Expressions: numbers, vectors of a length that is known, vectors of a new one."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

from tests.tools.generator.forms.kinds import (
    FIELDS,
    Helper,
    Matrix,
    Scope,
    Vector,
)

T = TypeVar("T")
CONSTANTS = ("0.5", "0.3", "1.5", "0.1", "2.0", "-0.4")
SMOOTH = ("np.sin", "np.tanh", "np.cos", "np.exp", "np.arctan")
OF_NUMBERS = ("math.sin", "math.tanh", "math.cos", "np.sin", "math.atan")
#: How much more often a theme of the program is taken.
BOOST = 8


class Values:
    """The dice, the names in use, and expressions."""

    def __init__(
        self, rng: random.Random, used: dict[str, None], themes: frozenset[str]
    ) -> None:
        self.rng = rng
        self.used = used
        self.themes = themes
        self.lines: list[str] = []
        self.indent = 1
        self.count = 0
        # The conditional expressions around the place: no comprehension stands there.
        self.choices = 0

    # ---------------------------------------------------------------- dice, text

    def pick(self, *options: T) -> T:
        return options[self.rng.randrange(len(options))]

    def chance(self, percent: int) -> bool:
        return self.rng.randrange(100) < percent

    def weighted(self, options: Sequence[tuple[int, str]]) -> str:
        """One of the names, by weight; a theme weighs more."""
        every = [(w * (BOOST if n in self.themes else 1), n) for w, n in options if w]
        at = self.rng.randrange(sum(w for w, _ in every))
        for weight, name in every:
            at -= weight
            if at < 0:
                return name
        raise AssertionError("weights are positive")

    def use(self, *productions: str) -> None:
        for production in productions:
            self.used[production] = None

    def fresh(self, stem: str) -> str:
        """A name that this function does not use yet."""
        self.count += 1
        return f"{stem}{self.count}"

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    # ---------------------------------------------------------------- numbers

    def number(self, scope: Scope, depth: int = 2) -> str:
        """An expression of a small float."""
        if depth <= 0 or self.chance(15):
            return self.atom(scope)
        kind = self.weighted(
            [
                (6, "arithmetic"),
                (3, "function of a number"),
                (4 if scope.vectors else 0, "whole sum"),
                (3 if scope.vectors else 0, "statistics"),
                (3 if scope.functions else 0, "call of an argument"),
                (3 if self.helpers_giving(scope, "number") else 0, "call of a helper"),
                (2, "choice"),
                (2 if scope.complexes else 0, "part of a complex number"),
                (2 if scope.lists else 0, "of a list"),
                (1 if scope.draws else 0, "draw"),
                (1 if scope.matrices else 0, "of a matrix"),
            ]
        )
        self.use(kind)
        match kind:
            case "arithmetic":
                return self.arithmetic(scope, depth)
            case "function of a number":
                return f"{self.pick(*OF_NUMBERS)}({self.number(scope, depth - 1)})"
            case "whole sum":
                return self.whole_sum(scope, depth)
            case "statistics":
                return self.statistic(scope)
            case "call of an argument":
                g = self.pick(*scope.functions)
                return f"{g}({self.number(scope, depth - 1)})"
            case "call of a helper":
                helper = self.pick(*self.helpers_giving(scope, "number"))
                return self.called(scope, helper)
            case "choice":
                self.choices += 1
                a, b = self.number(scope, depth - 1), self.number(scope, depth - 1)
                self.choices -= 1
                if self.chance(40):
                    return f"{self.pick('max', 'min')}({a}, {b})"
                return f"({a} if {self.test(scope)} else {b})"
            case "part of a complex number":
                z = self.pick(*scope.complexes)
                return self.pick(f"{z}.real", f"{z}.imag", f"abs({z})")
            case "of a list":
                return self.of_a_list(scope)
            case "draw":
                return self.drawn(scope)
        m = self.pick(*scope.matrices.values()).name
        return self.pick(
            f"np.sum({m} * {m})", f"{m}[0, 1]", f"np.trace({m})", f"np.mean({m})"
        )

    def arithmetic(self, scope: Scope, depth: int) -> str:
        a, b = self.number(scope, depth - 1), self.number(scope, depth - 1)
        return self.pick(
            f"({a} + {b})",
            f"({a} - {b})",
            f"{a} * {b}",
            f"0.5 * {a} + {b} ** 2",
            f"{a} / (2.0 + {b} ** 2)",
        )

    def whole_sum(self, scope: Scope, depth: int) -> str:
        v = self.pick(*scope.vectors.values())
        w = self.vector(scope, v.size, depth - 1)
        return self.pick(
            f"np.sum({v.name} * {w})",
            f"np.dot({v.name}, {w})",
            f"np.mean({w})" if v.least else f"np.sum({w})",
            f"{v.name} @ {w}" if w.isidentifier() else f"np.sum({w} * {v.name})",
            f"np.sum({w})"
            if self.choices
            else f"sum([e * {self.atom(scope)} for e in {v.name}])",
        )

    def statistic(self, scope: Scope) -> str:
        v = self.pick(*scope.vectors.values())
        if v.least < 2:
            return f"np.sum({v.name} ** 2)"
        n = v.name
        return self.pick(
            f"np.median({n})",
            f"np.quantile({n}, 0.3)",
            f"np.percentile({n}, 70)",
            f"np.max({n})",
            f"np.var({n})",
            f"np.ptp({n})",
            f"np.sort({n})[{self.pick('0', '1', '-1')}]",
            f"{n}[np.argsort({n})[1]]",
            f"np.cumsum({n})[-1]",
            f"np.maximum.accumulate({n})[1]",
            f"np.interp({self.atom(scope)}, np.sort({n}), {n})",
            f"float(np.searchsorted(np.sort({n}), {self.atom(scope)}))",
            f"np.linalg.norm({n})",
            f"np.average({n}, weights=np.abs({n}) + 0.5)",
            f"np.count_nonzero({n} > {self.atom(scope)}) * 0.1",
            f"np.trapezoid({n})",
        )

    def of_a_list(self, scope: Scope) -> str:
        name = self.pick(*scope.lists)
        options = [f"len({name}) * 0.1", f"sum({name})", f"np.sum(np.array({name}))"]
        if scope.lists[name]:
            options += [f"{name}[-1]", f"{name}[0]", f"max({name})"] * 2
        return self.pick(*options)

    def drawn(self, scope: Scope) -> str:
        rng = self.pick(*scope.draws)
        a = self.atom(scope)
        return self.pick(
            f"{rng}.normal()",
            f"{rng}.normal({a}, 0.5)",
            f"{rng}.uniform(0.1, 0.8)",
            f"{rng}.random()",
            f"{rng}.standard_normal()",
            f"{rng}.integers(0, 3) * 0.2",
            f"{rng}.exponential(0.5)",
        )

    def atom(self, scope: Scope) -> str:
        """A number without much computation."""
        options = [self.pick(*CONSTANTS)]
        options += scope.numbers[-4:] * 2
        for v in [*scope.vectors.values()][-3:]:
            near = [i for i, size in scope.indices.items() if size == v.size]
            if near:
                options += [f"{v.name}[{self.pick(*near)}]"] * 3
            elif v.least > 1:
                options.append(f"{v.name}[{self.pick('0', '1', '-1')}]")
        for name, kind in scope.structures.items():
            options += [name + FIELDS[kind]["number"]] * 2
        for r in scope.records:
            options += [f'{r}["mass"]', f'{r}["at"]', f'{r}["step"][1]']
        for i, size in [*scope.indices.items()][-1:]:
            if size == "n":
                options += [f'{n}["at"][{i}]' for n in scope.nodes]
                options += [f'{n}[{i}]["mass"]' for n in scope.nodes]
        options += [f"{c} * 0.3" for c in scope.counts[:1]]
        return self.pick(*options)

    def test(self, scope: Scope) -> str:
        """A condition."""
        a = self.atom(scope)
        b = self.pick(self.atom(scope), *CONSTANTS)
        plain = f"{a} {self.pick('<', '>', '>=')} {b}"
        if scope.counts and self.chance(20):
            return f"{self.pick(*scope.counts)} > {self.pick('0', '1', '2')}"
        if scope.indices and self.chance(25):
            return f"{self.pick(*scope.indices)} % 2 == {self.pick('0', '1')}"
        return plain

    # ---------------------------------------------------------------- vectors

    def of_size(self, scope: Scope, size: str) -> list[Vector]:
        return [v for v in scope.vectors.values() if v.size == size]

    def vector(self, scope: Scope, size: str, depth: int = 2) -> str:
        """An expression of a vector with this length; there is one of it."""
        here = self.of_size(scope, size)
        v = self.pick(*here)
        if depth <= 0 or self.chance(15):
            return v.name
        kind = self.weighted(
            [
                (6, "element-wise"),
                (2, "np.where"),
                (3, "sorted"),
                (2, "scan"),
                (2, "turned"),
                (0 if self.choices else 2, "vector of a comprehension"),
                (2 if v.least else 0, "a mask as a factor"),
                (1 if scope.draws and size == "n" else 0, "drawn vector"),
                (2 if self.square(scope, size) else 0, "matrix times vector"),
                (2 if self.helpers_giving(scope, "vector", size) else 0, "helper"),
            ]
        )
        self.use(kind)
        a = self.vector(scope, size, depth - 1)
        match kind:
            case "element-wise":
                b, c = self.vector(scope, size, depth - 1), self.number(scope, 1)
                return self.pick(
                    f"({a} + {b})",
                    f"{a} * {b}",
                    f"({a} - {c} * {b})",
                    f"{self.pick(*SMOOTH)}({a})",
                    f"{c} * {a}",
                    f"{a} / (1.5 + {b} ** 2)",
                )
            case "np.where":
                b = self.vector(scope, size, 0)
                return f"np.where({v.name} > {self.atom(scope)}, {a}, {b})"
            case "sorted":
                return self.pick(
                    f"np.sort({a})",
                    f"{v.name}[np.argsort({a})]",
                    f"np.sort({a})[::-1]",
                    f"{v.name}[np.argsort(-{v.name})]",
                )
            case "scan":
                return self.pick(
                    f"np.cumsum({a})",
                    f"np.maximum.accumulate({a})",
                    f"np.minimum.accumulate({a})",
                    f"np.cumprod(0.5 * {a})",
                )
            case "turned":
                return self.pick(f"{v.name}[::-1]", f"np.roll({a}, 1)", f"np.flip({a})")
            case "vector of a comprehension":
                body = self.pick("e * 0.5", "math.sin(e)", "e if e > 0.1 else 0.3 * e")
                return f"np.array([{body} for e in {v.name}])"
            case "a mask as a factor":
                return f"{a} * ({v.name} > {self.atom(scope)})"
            case "drawn vector":
                rng = self.pick(*scope.draws)
                return f"{a} * {rng}.normal(1.0, 0.2, size=len({v.name}))"
            case "matrix times vector":
                m = self.pick(*self.square(scope, size)).name
                return self.pick(f"{m} @ {v.name}", f"{m}.T @ {v.name}")
        helper = self.pick(*self.helpers_giving(scope, "vector", size))
        return self.called(scope, helper, size)

    def square(self, scope: Scope, size: str) -> list[Matrix]:
        every = scope.matrices.values()
        return [m for m in every if m.rows == m.columns == size]

    def another(self, scope: Scope) -> tuple[str, str, int] | None:
        """A vector that need not be as long as others: its text, key and least."""
        if not scope.vectors:
            return None
        v = self.pick(*scope.vectors.values())
        n, size, least = v.name, v.size, v.least
        more = self.atom(scope)
        options = [
            (f"np.append({n}, {more})", f"{size}+1", least + 1),
            (f"np.concatenate(({n}, {n}))", f"2*{size}", 2 * least),
            (f"np.repeat({n}, 2)", f"2*{size}", 2 * least),
            (f"np.tile({n}, 2)", f"2*{size}", 2 * least),
            (f"np.unique({n})", "?", min(1, least)),
            (f"{n}[{n} > {more}]", "?", 0),
            (f"{n}[({n} > {more}) & ({n} < 0.8)]", "?", 0),
            (f"{n}[np.flatnonzero({n} < {more})]", "?", 0),
            (f"np.concatenate(([{more}], {n}))", f"{size}+1", least + 1),
        ]
        if least > 1:
            options += [
                (f"np.diff({n})", f"{size}-1", least - 1),
                (f"{n}[1:]", f"{size}-1", least - 1),
                (f"{n}[:-1]", f"{size}-1", least - 1),
                (f"{n}[1:] - {n}[:-1]", f"{size}-1", least - 1),
                (f"{n}[::2]", f"?{size}/2", (least + 1) // 2),
                (f"np.sort({n})[:2]", "2", 2),
                (f"np.array([{n}[0], {more}, {n}[-1]])", "3", 3),
            ]
        for p, (own, into) in scope.places.items():
            if into == size:
                options += [(f"{n}[{p}]", own, 3)] * 3
        for m in scope.matrices.values():
            options += [
                (f"{m.name}.ravel()", f"{m.rows}x{m.columns}", 6),
                (f"{m.name}.reshape(-1)", f"{m.rows}x{m.columns}", 6),
                (f"{m.name}.flatten()", f"{m.rows}x{m.columns}", 6),
                (f"{m.name}[0]", m.columns, 2),
                (f"{m.name}[:, 1]", m.rows, 2),
                (f"np.sum({m.name}, axis=0)", m.columns, 2),
                (f"{m.name}.mean(axis=1)", m.rows, 2),
                (f"{m.name}[{m.name} > {more}]", "?", 0),
            ]
            if m.rows == m.columns:
                options.append((f"np.diag({m.name})", m.rows, 2))
        text, key, most = self.pick(*options)
        if key == "?":
            key = f"?{self.fresh('')}"
        self.use(text.split("(")[0] if text.startswith("np.") else "part of an array")
        return text, key, most

    # ---------------------------------------------------------------- calls

    def helpers_giving(self, scope: Scope, kind: str, size: str = "") -> list[Helper]:
        """Those that give one result of this kind and can be called here."""
        return [
            h
            for h in scope.helpers.values()
            if h.results == (kind,) and self.callable(scope, h, size)
        ]

    def callable(self, scope: Scope, helper: Helper, size: str = "") -> bool:
        """Is there something to give for each parameter?"""
        for _, kind in helper.parameters:
            if kind == "vector" and not (
                self.of_size(scope, size) if size else scope.vectors
            ):
                return False
            if kind == "draws" and not scope.draws:
                return False
            if kind == "function" and not scope.functions:
                return False
            if kind.startswith("structure"):
                if kind.split()[1] not in scope.structures.values():
                    return False
        return True

    def called(self, scope: Scope, helper: Helper, size: str = "") -> str:
        """A call; all vectors of it have one length."""
        self.use("call of a helper")
        if not size:
            sizes = {v.size: v for v in scope.vectors.values() if v.least > 1}
            size = self.pick(*sizes) if sizes else "n"
        given = []
        for name, kind in helper.parameters:
            match kind.split():
                case ["vector"]:
                    v = self.pick(
                        *(self.of_size(scope, size) or scope.vectors.values())
                    )
                    text = v.name
                    if self.chance(20) and v.size == size:
                        text = self.vector(scope, size, 1)
                case ["maybe", what]:
                    if self.chance(40):
                        continue
                    text = "None"
                    near = self.of_size(scope, size)
                    if self.chance(70) and (what == "number" or near):
                        text = (
                            self.atom(scope)
                            if what == "number"
                            else self.pick(*near).name
                        )
                    text = f"{name}={text}"
                case ["structure", what]:
                    text = self.pick(
                        *[s for s, k in scope.structures.items() if k == what]
                    )
                case ["draws"]:
                    text = self.pick(*scope.draws)
                case ["function"]:
                    text = self.pick(*scope.functions, "math.sin", "lambda e: 0.5 * e")
                case _:
                    text = self.atom(scope)
            given.append(text)
        return f"{helper.name}({', '.join(given)})"
