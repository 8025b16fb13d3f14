"""A whole program: constants, helpers, and the function `f` that uses them."""

from __future__ import annotations

import ast
import random
import re

from tests.tools.generator.program import Argument, Generated
from tests.tools.generator.programs.idioms import Idioms
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
)

HELPERS = (
    "step advance smooth blend energy residual simulate relax mix flux exchange norm2 "
    "laplacian gradient update forward decay project shift combine"
).split()
EXTENTS = {
    1: (("n",), ("m",)),
    2: (("h", "w"), ("rows", "cols")),
    3: (("d", "h", "w"),),
}


class Function(Idioms):
    """One function under construction."""

    def __init__(
        self,
        rng: random.Random,
        mode: str,
        used: dict[str, None],
        constants: dict[str, str],
        budget: int,
    ) -> None:
        super().__init__(rng, mode, used)
        self.lines = []
        self.turning = set()
        self.born_inside = set()
        self.constants = constants
        self.budget = budget
        self.parameters: list[Parameter] = []
        # The names that the first line gives to sizes.
        self.measured: tuple[str, ...] = ()

    def shape(self, rank: int, letter: str = "N") -> Shape:
        return tuple(Size(f"{letter}{k}") for k in range(rank))

    def prologue(self, scope: Scope) -> None:
        """Names for the sizes of an array, sometimes."""
        whole = [
            a
            for a in scope.arrays.values()
            if not any(s.more for s in a.shape)
            and not any(s.symbol in self.extents for s in a.shape)
        ]
        if not whole or not self.chance(35):
            return
        a = self.pick(*whole)
        names = self.pick(*EXTENTS[len(a.shape)])
        if set(names) & self.taken:
            return
        if len(set(s.symbol for s in a.shape)) < len(a.shape):
            return
        self.taken.update(names)
        if len(names) == 1:
            self.emit(
                f"{names[0]} = {self.pick(f'{a.name}.shape[0]', f'len({a.name})')}"
            )
        else:
            self.emit(f"{', '.join(names)} = {a.name}.shape")
        for s, name in zip(a.shape, names, strict=True):
            self.extents[s.symbol] = [name]
        self.measured = names

    def unmeasured(self) -> None:
        """Take the names for sizes away again if nobody uses them."""
        rest = "\n".join(self.lines[1:])
        if self.measured and not any(
            re.search(rf"\b{n}\b", rest) for n in self.measured
        ):
            del self.lines[0]

    # ---------------------------------------------------------------- helpers

    def helper(self, name: str, outer: Scope, rank: int) -> Helper:
        """Write a helper; the lines are its definition."""
        scope = Scope(helpers=dict(outer.helpers))
        self.taken = {name, *scope.helpers, *self.constants}
        self.indent = 1
        dtype = self.mode
        if self.mode == "mixed":
            dtype = self.pick(ANY, ANY, DOUBLE, SINGLE)
        weak = WEAK if self.mode == "mixed" else dtype
        arrays = self.pick(0, 1, 1, 1, 2, 2, 2, 3)
        pool = ["u", "v", "w", "p", "q", "a", "b", "x", "y", "g"]
        names = self.rng.sample(pool[: self.pick(4, 10)], arrays)
        for k, a in enumerate(names):
            shape = self.shape(rank)
            if k and rank > 1 and self.chance(10):
                shape = shape[1:]
            kind = dtype
            if self.mode == "mixed" and dtype != ANY and self.chance(30):
                kind = SINGLE if dtype == DOUBLE else DOUBLE
            scope.arrays[a] = Array(a, shape, kind)
        numbers = self.rng.sample(
            ["c", "dt", "s", "k", "alpha", "p0", "t"],
            self.pick(0, 1, 1, 2) if arrays else self.pick(1, 2, 2),
        )
        for n in numbers:
            scope.numbers[n] = weak
        steps = [self.pick("n", "steps", "times")] if self.chance(30) else []
        scope.integers += steps
        self.taken |= {*names, *numbers, *steps}
        plans = ["array"] * 5 + ["arrays"] * 3 + ["number"] * 3 + ["both", "numbers"]
        plans += ["nothing"] * 2
        if arrays < 2:
            plans = [p for p in plans if p != "arrays"]
        self.plan = self.pick(*plans) if arrays else self.pick("number", "numbers")
        self.plan_dtype = dtype if self.mode != DOUBLE else DOUBLE
        if self.mode == "mixed" and not arrays:
            self.plan_dtype = WEAK
        self.given = set(names)
        self.prologue(scope)
        results = self.written(scope, names)
        defaults: dict[str, str] = {}
        for n in reversed([*numbers, *steps]):
            if not self.chance(40):
                break
            defaults[n] = self.pick("2", "3") if n in steps else self.pick("0.5", "0.2")
        order = [*names, *numbers, *steps]
        changed = {self.root(r) for r in self.changed}
        for n in order:
            if n in names:
                a = scope.arrays[n]
                self.parameters.append(
                    Parameter(n, "array", a.shape, a.dtype, "", self.root(n) in changed)
                )
            else:
                what = "integer" if n in steps else "number"
                self.parameters.append(
                    Parameter(n, what, (), weak, defaults.get(n, ""))
                )
        roots = {n: self.root(n) for n in names}
        found = tuple(
            Result(
                r.what,
                r.shape,
                r.dtype,
                frozenset(
                    n for n in names if any(roots[n] == self.root(s) for s in r.same)
                ),
                # Which array it is depends on the run: a caller that writes to it, or
                # to those that it may be, is refused, for two are one then.
                bool(r.same & (self.turned | self.unsure)),
            )
            for r in results
        )
        text = ", ".join(
            f"{p.name}={p.default}" if p.default else p.name for p in self.parameters
        )
        self.unmeasured()
        self.lines.insert(0, f"def {name}({text}):")
        return Helper(name, tuple(self.parameters), found)

    def written(self, scope: Scope, names: list[str]) -> list[Result]:
        """The body and the last `return`."""
        if self.plan == "array" and self.chance(15) and names:
            self.plan_names = (self.pick(*names),)
        elif self.plan == "arrays" and self.chance(15) and len(names) > 1:
            self.plan_names = tuple(self.rng.sample(names, 2))
        kind, self.plan = self.plan, "array" if self.plan == "arrays" else self.plan
        if kind == "both":
            self.plan = "array"
        if kind == "nothing" and names:
            a = scope.arrays[self.pick(*names)]
            kept = scope.arrays
            scope.arrays = {a.name: a}
            self.pick(self.nest, self.stored, self.augmented)(scope)
            scope.arrays = kept | scope.arrays
        while self.budget > 0:
            self.statement(scope)
        return self.ending(scope, kind)

    def ending(self, scope: Scope, kind: str) -> list[Result]:
        def an_array() -> tuple[str, Result]:
            local = [a for a in scope.arrays.values()]
            a = self.pick(*local[-3:])
            if self.chance(35):
                text = self.array(scope, a.shape, a.dtype, 1)
                if text and not text.isidentifier():
                    base = text.split("[")[0]
                    same = frozenset([base] if base.isidentifier() else [])
                    return text, Result("array", a.shape, a.dtype, same)
            return a.name, Result("array", a.shape, a.dtype, frozenset([a.name]))

        def a_number() -> tuple[str, Result]:
            text = self.number(scope, self.pick(1, 1, 2), self.plan_dtype)
            own = [n for n, k in scope.numbers.items() if n not in scope.fixed]
            if self.plan_dtype != DOUBLE:
                return text, Result("number", (), self.plan_dtype)
            if own and self.chance(60):
                text = (
                    f"{text} + {self.pick(*own[-2:])}" if self.chance(70) else own[-1]
                )
            last = list(scope.arrays.values())[-3:]
            if last and self.chance(65):
                one = self.pick(*last).name
                whole = self.pick(
                    f"np.sum({one})", f"np.sum({one} ** 2)", f"np.mean({one})"
                )
                if len(last) > 1 and self.chance(40):
                    whole += f" + np.sum({self.pick('0.3 * ', '')}{last[-1].name})"
                text = f"{whole} + {text}" if self.chance(50) else whole
            return text, Result("number", (), self.plan_dtype)

        if kind == "nothing":
            return []
        if self.plan_names:
            found = [
                (n, Result("array", a.shape, a.dtype, frozenset([n])))
                for n in self.plan_names
                for a in [scope.arrays[n]]
            ]
        elif kind == "array":
            found = [an_array()]
        elif kind == "arrays":
            found = [an_array() for _ in range(self.pick(2, 2, 3))]
        elif kind == "both":
            found = [an_array(), a_number()]
        elif kind == "numbers":
            found = [a_number(), a_number()]
        else:
            found = [a_number()]
        self.emit(f"return {', '.join(t for t, _ in found)}")
        return [r for _, r in found]

    # ---------------------------------------------------------------- inside

    def inner_function(self, scope: Scope) -> bool:
        """A lambda or a nested function of numbers, which sees what is around it."""
        name = self.fresh(("local", "weigh", "damp", "inner", "at"))
        if self.mode != DOUBLE:
            return False
        near = Scope(arrays=dict(scope.arrays), numbers=dict(scope.numbers), helpers={})
        taken = [p for p in ("p", "r", "e") if p not in self.taken][:2]
        if len(taken) < 2:
            return False
        near.numbers |= dict.fromkeys(taken, DOUBLE)
        body = self.number(near, self.pick(1, 2))
        one, two = taken
        default = self.chance(40)
        second = f"{two}=0.3" if default else two
        if self.chance(50):
            self.use("lambda")
            self.emit(f"{name} = lambda {one}, {second}: {body}")
        else:
            self.use("nested function")
            self.emit(f"def {name}({one}, {second}):")
            if self.chance(50):
                self.emit(f"    if {one} > {two}:")
                self.emit(f"        return {self.number(near, 1)}")
            self.emit(f"    return {body}")
        scope.helpers[name] = Helper(
            name,
            (
                Parameter(one, "number"),
                Parameter(two, "number", default="0.3" if default else ""),
            ),
            (Result("number"),),
        )
        return True


class Program:
    """Writes one program from a source of random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.used: dict[str, None] = {}
        roll = rng.random()
        self.mode = DOUBLE if roll < 0.72 else "mixed" if roll < 0.92 else SINGLE
        self.constants: dict[str, str] = {}
        self.header: list[str] = []

    def chance(self, percent: float) -> bool:
        return self.rng.random() * 100 < percent

    def module(self) -> None:
        """Constants of the module."""
        for name, value in (("C", "0.3"), ("DT", "0.05"), ("RATE", "0.8")):
            if self.chance(18):
                self.header.append(f"{name} = {value}")
                self.constants[name] = WEAK
        if self.chance(8):
            self.header.append("W = np.array([0.25, 0.5, 0.25])")
            self.constants |= {"W[0]": DOUBLE, "W[1]": DOUBLE}
        if self.chance(12):
            self.header.append("soft = lambda p: p / (1.0 + p * p)")
            self.used["module lambda"] = None

    def generated(self, seed: int) -> Generated:
        rng = self.rng
        self.module()
        rank = rng.choice((1, 1, 1, 2, 2, 2, 3))
        top = Scope()
        if any(line.startswith("soft") for line in self.header):
            top.helpers["soft"] = Helper(
                "soft", (Parameter("p", "number"),), (Result("number"),)
            )
        texts: list[str] = []
        names = rng.sample(HELPERS, len(HELPERS))
        count = rng.choice((1, 1, 2, 2, 3, 4, 5))
        for k in range(count):
            function = Function(
                rng,
                self.mode,
                self.used,
                self.constants,
                rng.choice((1, 1, 2, 2, 3, 4)),
            )
            helper = function.helper(names[k], top, rank)
            texts.append("\n".join(function.lines))
            top.helpers[names[k]] = helper
        arguments, main = self.main(rank, top)
        used = {a for a in arguments if re.search(rf"\b{a}\b", "\n".join(main[1:]))}
        arguments = {k: a for k, a in arguments.items() if k in used}
        main[0] = f"def f({', '.join(arguments)}):"
        body = "\n".join(main)
        # What nobody calls goes, from the last helper to the first.
        kept: list[str] = []
        for name, text in reversed(list(zip(names, texts, strict=False))):
            if re.search(rf"\b{name}\(", "\n".join([body, *kept])):
                kept.insert(0, text)
        self.used[f"{len(kept)} helpers"] = None
        everything = "\n".join([body, *kept])
        header = [
            line
            for line in self.header
            if re.search(rf"\b{line.split(' ')[0]}\b", everything)
        ]
        if self.chance(6):
            self.used["closure"] = None
            inside = "\n".join(f"    {x}" for x in body.split("\n"))
            inside = re.sub(r"\b0\.25\b", "gain", inside, count=1)
            body = f"def make(gain):\n{inside}\n\n    return f\n\n\nf = make(0.4)"
        imports = "import math\n\nimport numpy as np\n"
        parts = [imports]
        if header:
            parts.append(tidy("\n".join(header)))
        parts += [tidy(text) for text in (*kept, body)]
        return Generated(
            "\n\n".join(parts),
            tuple(arguments.items()),
            self.sizes(rank),
            seed,
            tuple(self.used),
        )

    def sizes(self, rank: int) -> dict[str, int]:
        roll = self.rng.random()
        small = (0,) if roll < 0.03 else (1, 2) if roll < 0.1 else (3, 4, 5)
        most = small if rank < 3 else tuple(min(s, 3) for s in small)
        return {k: self.rng.choice(most) for k in "nmz"}

    def main(self, rank: int, top: Scope) -> tuple[dict[str, Argument], list[str]]:
        """The parameters and the lines of `f`."""
        rng = self.rng
        main = Function(
            rng, self.mode, self.used, self.constants, rng.choice((2, 3, 3, 4, 5, 6, 8))
        )
        scope = Scope(helpers=dict(top.helpers))
        main.taken = {"f", "soft", "gain", *scope.helpers, *self.constants}
        arguments: dict[str, Argument] = {}
        symbols = ("n", "m", "z")[:rank]
        shape = tuple(Size(s) for s in symbols)
        names = rng.sample(
            ["u", "v", "w", "a", "b", "x", "p"], rng.choice((1, 2, 2, 3))
        )
        for k, name in enumerate(names):
            own = shape
            if k and rank > 1 and self.chance(15):
                own = shape[1:]
            dtype = self.mode
            if self.mode == "mixed":
                dtype = (SINGLE, DOUBLE)[k] if k < 2 else rng.choice((SINGLE, DOUBLE))
            scope.arrays[name] = Array(name, own, dtype)
            extents = tuple(s.symbol for s in own)
            arguments[name] = Argument("float", extents, dtype)
        for name in rng.sample(["c", "s", "dt", "alpha"], rng.choice((0, 1, 1, 2))):
            arguments[name] = Argument("float")
            scope.numbers[name] = WEAK
        for name in rng.sample(["k", "flag", "steps"], rng.choice((0, 1, 1, 2))):
            arguments[name] = Argument(str(rng.choice((0, 1, 1, 2, 3))))
            scope.integers.append(name)
        main.taken |= set(arguments)
        main.special(arguments)
        main.taken |= set(arguments)
        main.given = set(names)
        main.prologue(scope)
        kinds = (
            ["number"] * 8 + ["array"] * 3 + ["arrays", "both", "numbers", "nothing"]
        )
        main.plan = rng.choice(kinds)
        main.plan_dtype = DOUBLE
        main.written(scope, [n for n in names if len(scope.arrays[n].shape) == rank])
        main.unmeasured()
        main.lines.insert(0, "")
        return arguments, main.lines


def tidy(text: str) -> str:
    """The same without parentheses that nothing needs."""
    return (
        ast.unparse(ast.parse(text)).replace("\n\n    return f", "\n    return f")
        + "\n"
    )


def generated(seed: int) -> Generated:
    """The program of a seed."""
    return Program(random.Random(f"program {seed}")).generated(seed)
