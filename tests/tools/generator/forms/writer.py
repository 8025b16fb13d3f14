"""A whole program of these forms: helpers, and the function `f` that uses them."""

from __future__ import annotations

import ast
import random
import re

from tests.tools.generator.forms.kinds import (
    FIELDS,
    FUNCTIONS,
    MADE,
    Helper,
    Matrix,
    Scope,
    Special,
    Vector,
)
from tests.tools.generator.forms.structures import Structures
from tests.tools.generator.program import Argument, Generated

THEMES = (
    *("statistics", "sorted", "scan", "call of a helper", "part of a complex number"),
    *("of a list", "draw", "vector of another length", "vector bound again"),
    *("second name", "element written", "mask written", "places written"),
    *("in-place method", "matrix made", "part of a matrix written", "pyramid", "raise"),
    *("counter beside a range", "draws in a range"),
    *("early return", "bound on both paths", "list made", "list grown", "list popped"),
    *("tuple made", "structure made", "field written", "record written", "for"),
    *("complex number", "complex array", "function inside", "call as a statement"),
    *("method", "from outside"),
    *("drawn", "loop over a list", "loop over records", "tuple of tuples", "zip"),
)
HEADER = """
import functools
import math

import numpy as np

from types import SimpleNamespace

from tests.tools.generator.forms.kinds import Body, Pair, Wire

CFG = SimpleNamespace(k=0.7, w=np.array([0.5, 0.3]), inner=Pair(0.4, np.ones(2)))
TABLE = {"rate": 0.6, "of": Pair(0.2, np.ones(2)), "name": "table"}
BODY = Body(0.6, np.array([0.2, 0.9, 0.4]))
WIRE = Wire(0.8, 3, np.array([0.1, 0.5]))
"""
#: Helpers that call themselves; their parameters are numbers, then a depth.
RECURSIVE = {
    "tail": """
def {name}(a, b, depth=3):
    if depth <= 0:
        return a
    return {name}({step}, b, depth - 1)
""",
    "tree": """
def {name}(a, b, depth=2):
    if depth <= 0 or a > {far}:
        return {step}
    return 0.5 * {name}(a * 0.5, b, depth - 1) + {name}(b, 0.3 * a, depth - 1)
""",
    "search": """
def {name}(a, b, depth=0):
    if abs(b - a) < 0.2 or depth > 4:
        return 0.5 * (a + b)
    mid = 0.5 * (a + b)
    if mid > {far}:
        return {name}(a, mid, depth + 1)
    return {name}(mid, b, depth + 1)
""",
}


class Function(Structures):
    """One function under construction."""

    def result(self, scope: Scope) -> str:
        return ", ".join(self.one_result(scope, kind) for kind in self.results)

    results: tuple[str, ...] = ("number",)

    def one_result(self, scope: Scope, kind: str) -> str:
        match kind.split():
            case ["vector"]:
                return self.vector(scope, "n", self.pick(0, 0, 1))
            case ["list"]:
                return self.pick(*scope.lists)
            case ["structure", what]:
                return MADE[what].format(
                    number=self.number(scope, 1), vector=self.vector(scope, "n", 1)
                )
        return self.total(scope)

    def total(self, scope: Scope) -> str:
        """A number that most names have a part in."""
        parts = [*scope.numbers[-3:]]
        for v in [*scope.vectors.values()][-3:]:
            parts.append(
                f"np.sum({v.name} ** 2)" if self.chance(70) else self.atom(scope)
            )
        parts += [f"np.sum({m} * 0.3)" for m in [*scope.matrices][-2:]]
        parts += [f"sum({name})" for name in [*scope.lists][-2:]]
        parts += [f"abs({z})" for z in scope.complexes[-1:]]
        for name, kind in [*scope.structures.items()][-1:]:
            parts.append(f"np.sum({name}{FIELDS[kind]['vector']})")
        parts += [f'np.sum({n}["at"])' for n in scope.nodes]
        kept = [p for p in parts if self.chance(80)] or [self.atom(scope)]
        return " + ".join(kept[:6])

    def ending(self, scope: Scope) -> None:
        if "list" in self.results and not scope.lists:
            self.list_made_(scope)
            self.list_grown_(scope)
        if self.results:
            self.emit(f"return {self.result(scope)}")
        elif not self.lines:
            self.emit("pass")


class Program:
    """Writes one program from a source of random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: dict[str, None] = {}
        self.themes = frozenset(rng.sample(THEMES, 4))

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def function(self, budget: int) -> Function:
        made = Function(self.rng, self.used, self.themes)
        made.budget = budget
        return made

    def recursive(self, name: str) -> tuple[Helper, str]:
        """A helper that calls itself."""
        rng = self.rng
        kind = rng.choice([*RECURSIVE])
        self.used[f"recursion: {kind}"] = None
        step = rng.choice(
            ["a * b + 0.1", "math.sin(a) + b", "a - 0.3 * b", "np.tanh(a * b)"]
        )
        text = RECURSIVE[kind].format(
            name=name, step=step, far=rng.choice(["0.2", "0.6", "5.0"])
        )
        return Helper(name, (("a", "number"), ("b", "number")), ("number",)), text

    def helper(self, name: str, outer: Scope) -> tuple[Helper, str]:
        rng = self.rng
        if self.chance(18):
            return self.recursive(name)
        one = self.function(rng.choice((1, 2, 2, 3, 4)))
        scope = Scope(helpers=dict(outer.helpers))
        parameters: list[tuple[str, str]] = []

        def add(what: str, kind: str) -> None:
            parameters.append((what, kind))

        vectors = rng.choice((0, 1, 1, 1, 2))
        for what in rng.sample(["u", "v", "x", "a"], vectors):
            add(what, "vector")
            scope.vectors[what] = Vector(what, "n", 2)
        for what in rng.sample(["c", "t", "k", "d"], rng.choice((1, 1, 2, 2))):
            add(what, "number")
            scope.numbers.append(what)
        if self.chance(20):
            kind = rng.choice([*FIELDS])
            add("par", f"structure {kind}")
            scope.structures["par"] = kind
        if self.chance(15):
            add("func", "function")
            scope.functions.append("func")
        if self.chance(10):
            add("gen", "draws")
            scope.draws.append("gen")
        if self.chance(25):
            kind = rng.choice(
                ["maybe number", "maybe vector"] if vectors else ["maybe number"]
            )
            add("opt", kind)
            self.maybe(one, scope, kind)
        options: list[tuple[str, ...]] = [("number",)] * 4 + [
            ("number", "number"),
            ("list",),
        ]
        if vectors:
            options += [("vector",)] * 4 + [("vector", "number"), ("vector", "vector")]
            options += [(), (), (f"structure {rng.choice([*MADE])}",)]
        one.results = rng.choice(options)
        one.plan = "list" if "list" in one.results else "some"
        if not one.results:
            one.plan = "nothing"
            one.augmented_vector_(scope)
        while one.budget > 0:
            one.statement(scope)
        one.ending(scope)
        heads = [f"{n}=None" if k.startswith("maybe") else n for n, k in parameters]
        text = f"\ndef {name}({', '.join(heads)}):\n" + "\n".join(one.lines) + "\n"
        return Helper(name, tuple(parameters), one.results), text

    def maybe(self, one: Function, scope: Scope, kind: str) -> None:
        """What a function does with a parameter that may be None."""
        self.used["None as a default"] = None
        name = one.fresh("s")
        if kind == "maybe number":
            if self.chance(50):
                one.emit("if opt is None:")
                one.emit(f"    opt = {one.atom(scope)}")
                scope.numbers.append("opt")
                return
            text = f"opt * {one.atom(scope)}"
        else:
            text = f"np.sum(opt * {one.atom(scope)})"
        one.emit(f"{name} = {one.atom(scope)}")
        one.emit("if opt is not None:")
        one.emit(f"    {name} = {text}")
        scope.numbers.append(name)

    def main(self, top: Scope) -> tuple[dict[str, Argument], Function]:
        rng = self.rng
        main = self.function(rng.choice((3, 4, 5, 6, 8, 10)))
        scope = Scope(helpers=dict(top.helpers))
        arguments: dict[str, Argument] = {}
        single = self.chance(12)
        for name in rng.sample(["x", "y", "a"], rng.choice((1, 1, 2, 2))):
            dtype = "float32" if single else "float64"
            arguments[name] = Argument("float", ("n",), dtype)
            scope.vectors[name] = Vector(name)
        if self.chance(30):
            square = self.chance(50)
            columns = "n" if square else "m"
            arguments["A"] = Argument("float", ("n", columns))
            scope.matrices["A"] = Matrix("A", "n", columns)
        for name in rng.sample(["c", "t"], rng.choice((1, 1, 2))):
            arguments[name] = Argument("float")
            if self.chance(12):
                arguments[name] = Special(f"whole {rng.choice((0, 1, 2))}")
                self.used["int for a float"] = None
            scope.numbers.append(name)
        if self.chance(30):
            arguments["steps"] = Special(f"whole {rng.choice((0, 1, 2, 3))}")
            scope.counts.append("steps")
        if self.chance(30):
            arguments["idx"] = Argument("int 0 n-1", ("m",), "int64")
            scope.places["idx"] = ("m", "n")
            arguments["g"] = Argument("float", ("m",))
            scope.vectors["g"] = Vector("g", "m")
        kinds = {h for k in top.helpers.values() for _, h in k.parameters}
        needed = {k.split()[1] for k in kinds if k.startswith("structure")}
        if self.chance(25):
            needed.add(rng.choice([*FIELDS]))
        for number, kind in enumerate(sorted(needed)):
            name = f"par{number}"
            arguments[name] = Special(f"structure {kind}")
            scope.structures[name] = kind
            self.used[f"argument: {kind}"] = None
        if self.chance(22):
            arguments["nodes"] = Special("nodes")
            scope.nodes.append("nodes")
            self.used["argument: records"] = None
        if self.chance(20) or "function" in kinds:
            arguments["func"] = Special(f"function {rng.choice([*FUNCTIONS])}")
            scope.functions.append("func")
            self.used["argument: function"] = None
        if self.chance(15) or "draws" in kinds:
            arguments["gen"] = Special("draws")
            scope.draws.append("gen")
            self.used["argument: draws"] = None
        if self.chance(12):
            kind = rng.choice(["maybe number", "maybe vector"])
            given: Argument = Special("none")
            if self.chance(60):
                given = Argument("float", None if kind == "maybe number" else ("n",))
            arguments["opt"] = given
            self.maybe(main, scope, kind)
        if self.chance(10):
            arguments["mode"] = Special(f"text {rng.choice(('mean', 'sum'))}")
            name = main.fresh("s")
            v = main.pick(*scope.vectors)
            main.emit('if mode == "mean":')
            main.emit(f"    {name} = np.mean({v})")
            main.emit("else:")
            main.emit(f"    {name} = np.sum({v}) * {main.atom(scope)}")
            scope.numbers.append(name)
        if not scope.vectors.keys() & {"x", "y", "a"}:
            raise AssertionError("a vector is always there")
        one: tuple[str, ...] = (f"structure {rng.choice([*MADE])}",)
        several: list[tuple[str, ...]] = [("number",)] * 7 + [("vector",)] * 2
        several += [("number", "vector"), ("list",), (), one]
        main.results = rng.choice(several)
        main.plan = "list" if "list" in main.results else "some"
        if not main.results:
            main.plan = "nothing"
        while main.budget > 0:
            main.statement(scope)
        main.ending(scope)
        return arguments, main

    def generated(self, seed: int) -> Generated:
        rng = self.rng
        top = Scope()
        texts: list[tuple[str, str]] = []
        for k in range(rng.choice((0, 1, 1, 2, 2, 3))):
            name = f"h{k}"
            helper, text = self.helper(name, top)
            top.helpers[name] = helper
            texts.append((name, text))
        arguments, main = self.main(top)
        body = "\n".join(main.lines)
        used = {a for a in arguments if re.search(rf"\b{a}\b", body)}
        arguments = {k: a for k, a in arguments.items() if k in used}
        kept: list[str] = []
        for name, text in reversed(texts):
            if re.search(rf"\b{name}\b", "\n".join([body, *kept])):
                kept.insert(0, text)
        source = HEADER + "\n".join(kept)
        source += f"\n\ndef f({', '.join(arguments)}):\n{body}\n"
        small = rng.random()
        sizes = (1, 2) if small < 0.04 else (3, 4, 5)
        return Generated(
            ast.unparse(ast.parse(source)) + "\n",
            tuple(arguments.items()),
            {"n": rng.choice(sizes), "m": rng.choice((3, 4)), "z": 3},
            seed,
            tuple(self.used),
        )


def generated(seed: int) -> Generated:
    """The program of a seed."""
    return Program(random.Random(f"forms {seed}")).generated(seed)
