"""Functions beside `f` and inside it: some from a shelf, some written at random."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.tools.generator.floats import Floats
from tests.tools.generator.scope import Array, Dim, Scope

SHELF = {
    "square": "def square(p):\n    return p * p",
    "mix": ("def mix(p, q=0.5):\n    r = p * q\n    r = r + 0.25 * p\n    return r"),
    "pair": "def pair(p, q):\n    return p - q, 0.5 * p * q",
    "piece": (
        "def piece(p, edge=0.2):\n    if p > edge:\n        return 0.5 * p\n"
        "    elif p < -edge:\n        return p * p\n    return 0.1 * p"
    ),
    "deep": "def deep(p, q):\n    return mix(p, square(q))",
    "soft": "soft = lambda p: p / (1.0 + p * p)",
    "reduce_half": (
        "def reduce_half(src):\n    total = 0.1\n    for c in range(src.shape[0]):\n"
        "        total += 0.5 * src[c] * total\n    return total"
    ),
    "first_over": (
        "def first_over(src, edge):\n    for c in range(len(src)):\n"
        "        if src[c] > edge:\n            return src[c] * edge\n    return edge"
    ),
    "partial": (
        "def partial(src, limit=1.0):\n    s, c = 0.0, 0\n"
        "    while c < len(src) and s < limit:\n        s += src[c] ** 2\n"
        "        c += 1\n    return s"
    ),
    "shift_into": (
        "def shift_into(src, dst, gain):\n"
        "    for c in range(min(src.shape[0], dst.shape[0])):\n"
        "        dst[c] += gain * src[c]"
    ),
    "relax": (
        "def relax(x, gain=0.3):\n    for c in range(1, len(x)):\n"
        "        x[c] = x[c] + gain * x[c - 1]"
    ),
    "smoothed": (
        "def smoothed(src):\n    made = np.zeros(src.shape[0])\n"
        "    for c in range(src.shape[0]):\n"
        "        made[c] = 0.5 * src[c] + 0.2 * src[max(c - 1, 0)]\n    return made"
    ),
    "doubled": "def doubled(src):\n    return 2.0 * src",
    "extremes": (
        "def extremes(src, low=0.0, high=0.1):\n    for c in range(len(src)):\n"
        "        if src[c] > high:\n            high = src[c]\n"
        "        elif src[c] < low:\n            low = src[c]\n    return low, high"
    ),
}


class Helpers(Floats):
    """The part of the writer that defines and calls functions."""

    def shelf(self, name: str) -> str:
        for other in ("mix", "square") if name == "deep" else ():
            self.shelf(other)
        self.header.setdefault(name, SHELF[name])
        return name

    @contextmanager
    def definition(self, plan: str, budget: int) -> Iterator[list[str]]:
        """The lines of another function, while it is being written."""
        kept = self.lines, self.indent, self.plan, self.in_helper, self.budget
        self.lines, self.indent, self.plan, self.in_helper = [], 1, plan, True
        self.budget = budget
        try:
            yield self.lines
        finally:
            self.lines, self.indent, self.plan, self.in_helper, self.budget = kept

    def scalar_helper(self) -> str:
        """A new function of two numbers with a random body."""
        name = self.name("h")
        with self.definition("number", 3) as lines:
            scope = Scope(floats=["p", "q"])
            self.block(scope, 3)
            self.emit(f"return {self.value(scope, 1)}")
        self.header[name] = f"def {name}(p, q=0.4):\n" + "\n".join(lines)
        return name

    def array_helper(self, size: int) -> str:
        """A new function of a vector of this size and a number, with a random body."""
        name = self.name("g")
        dim = Dim("x.shape[0]", size, size, "x.shape[0]")
        with self.definition("number", 4) as lines:
            scope = Scope(floats=["p"], arrays={"x": Array("x", (dim,))})
            self.block(scope, 3)
            self.emit(f"return {self.value(scope, 1)}")
        self.header[name] = f"def {name}(x, p):\n" + "\n".join(lines)
        return name

    def helper_value(self, form: str, scope: Scope, depth: int) -> str:
        def sub() -> str:
            return self.value(scope, depth - 1)

        match form:
            case "helper of scalars":
                if self.in_helper or self.chance(50):
                    return self.pick(
                        f"{self.shelf('square')}({sub()})",
                        f"{self.shelf('mix')}({sub()}, {sub()})",
                    )
                return f"{self.scalar_helper()}({sub()}, {sub()})"
            case "helper default":
                return f"{self.shelf(self.pick('mix', 'piece'))}({sub()})"
            case "helper keyword":
                return self.pick(
                    f"{self.shelf('mix')}(q={sub()}, p={sub()})",
                    f"{self.shelf('piece')}({sub()}, edge=0.3)",
                )
            case "helper with several returns":
                return f"{self.shelf('piece')}({sub()})"
            case "helper in a helper":
                return f"{self.shelf('deep')}({sub()}, {sub()})"
            case "module lambda":
                return f"{self.shelf('soft')}({sub()})"
            case "helper of an array":
                array = self.pick(*self.vectors(scope))
                self.use("helper with a loop")
                return self.reduction(array.name, scope)
            case "helper of a row":
                matrices = scope.of_rank(2)
                if matrices and self.chance(60):
                    matrix = self.pick(*matrices)
                    i = self.subscript(scope, matrix.shape[0], 0)
                    j = self.subscript(scope, matrix.shape[1], 0)
                    m = matrix.name
                    return self.reduction(
                        self.pick(f"{m}[{i}]", f"{m}[{i}, :]", f"{m}[:, {j}]"), scope
                    )
                a = self.pick(*self.vectors(scope)).name
                part = self.pick("1:", ":-1", "::2", ":2", "::-1")
                return self.reduction(f"{a}[{part}]", scope)
            case _:
                raise AssertionError(form)

    def reduction(self, vector: str, scope: Scope) -> str:
        return self.pick(
            f"{self.shelf('reduce_half')}({vector})",
            f"{self.shelf('first_over')}({vector}, {self.value(scope, 0)})",
            f"{self.shelf('partial')}({vector})",
        )

    # ---------------------------------------------------------------- statements

    def call_statement(self, scope: Scope) -> bool:
        """A line that calls a helper; False if nothing fits."""
        vectors = [] if self.in_helper else scope.of_rank(1)
        writable = [a for a in vectors if a.writable]
        form = self.choose(
            [
                (3, "helper with a tuple"),
                (4 if len(writable) else 0, "helper mutating a slice"),
                (3 if vectors else 0, "helper returning an array"),
                (3 if writable else 0, "helper of an array"),
                (2, "lambda"),
                (2, "nested function"),
                (1 if writable else 0, "nested function writing an array"),
            ]
        )
        if not form:
            return False
        self.use(form)
        match form:
            case "helper with a tuple":
                left, right = self.name("t"), self.name("t")
                if vectors and self.chance(30):
                    call = f"{self.shelf('extremes')}({self.pick(*vectors).name})"
                else:
                    call = (
                        f"{self.shelf('pair')}({self.value(scope, 1)}, "
                        f"{self.value(scope, 1)})"
                    )
                self.emit(f"{left}, {right} = {call}")
                scope.floats += [left, right]
            case "helper mutating a slice":
                self.mutation(scope, writable, vectors)
            case "helper returning an array":
                source = self.pick(*vectors)
                made, helper = self.name("v"), self.pick("smoothed", "doubled")
                self.emit(f"{made} = {self.shelf(helper)}({source.name})")
                (dim,) = source.shape
                shape = (Dim(f"{made}.shape[0]", dim.lo, dim.hi, dim.key),)
                dtype = "float64" if helper == "smoothed" else source.dtype
                scope.arrays[made] = Array(made, shape, dtype)
            case "helper of an array":
                array = self.pick(*writable)
                (dim,) = array.shape
                if dim.lo != dim.hi:
                    return False
                t = self.name("t")
                call = (
                    f"{self.array_helper(dim.lo)}({array.name}, {self.value(scope, 1)})"
                )
                self.emit(f"{t} = {call}")
                self.use("helper with a loop")
                scope.floats.append(t)
            case "nested function writing an array":
                name, array = self.name("h"), self.pick(*writable)
                place = self.element(scope, array)
                self.emit(f"def {name}(p):")
                self.emit(
                    f"    {place} {self.pick('=', '+=')} p * {self.value(scope, 0)}"
                )
                self.emit(f"{name}({self.value(scope, 1)})")
            case _:
                self.inner_function(form, scope)
        return True

    def mutation(
        self, scope: Scope, writable: list[Array], vectors: list[Array]
    ) -> None:
        target = self.pick(*writable)
        matrices = scope.of_rank(2, write=True)
        text = self.pick(f"{target.name}[1:]", f"{target.name}[:-1]", target.name)
        if matrices and self.chance(50):
            matrix = self.pick(*matrices)
            i = self.subscript(scope, matrix.shape[0], 0)
            text = self.pick(f"{matrix.name}[{i}]", f"{matrix.name}[{i}, :]")
            if self.chance(30):
                j = self.subscript(scope, matrix.shape[1], 0)
                text = f"{matrix.name}[:, {j}]"
        if self.chance(50):
            gain = "" if self.chance(30) else ", gain=0.2"
            self.emit(f"{self.shelf('relax')}({text}{gain})")
            return
        source = self.pick(*vectors)
        call = f"{self.shelf('shift_into')}({source.name}, {text}, "
        self.emit(f"{call}{self.value(scope, 1)})")

    def inner_function(self, form: str, scope: Scope) -> None:
        """A lambda or a nested function, and a call of it."""
        name = self.name("h")
        inside = scope.inner()
        inside.arrays = {}
        inside.floats = [*scope.floats[-2:], "p"]
        body = self.value(inside, 1)
        if form == "lambda":
            self.emit(f"{name} = lambda p: {body}")
        else:
            self.emit(f"def {name}(p, r=0.3):")
            self.emit(f"    if p > r:\n{'    ' * (self.indent + 2)}return {body}")
            self.emit("    return 0.5 * p")
        t = self.name("t")
        self.emit(f"{t} = {name}({self.value(scope, 1)})")
        if self.chance(50):
            self.emit(f"{t} = {t} + 0.5 * {name}({self.value(scope, 0)})")
        scope.floats.append(t)
