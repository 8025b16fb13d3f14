"""A whole function: its parameters, its body, what it returns, what surrounds it."""

from __future__ import annotations

import ast
import random
import re
from dataclasses import replace

from tests.tools.generator.program import Argument, Generated, evaluated
from tests.tools.generator.scope import Array, Dim, Int, Scope
from tests.tools.generator.statements import Statements

SHADOWED = "helper local named like a parameter"
LAYOUTS = ("F", "reversed", "strided")


class Writer(Statements):
    """Writes one function from a source of random numbers."""

    def __init__(
        self, rng: random.Random, without: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(rng, without)
        n, m = rng.randint(2, 5), rng.randint(2, 4)
        self.sizes = {"n": n, "m": m, "z": n + rng.randint(0, 3)}
        self.mixed = self.want("float32 and float64", 8)
        self.single = not self.mixed and self.want("float32", 5)

    # ---------------------------------------------------------------- parameters

    def dim(self, size: str, text: str) -> Dim:
        extent = evaluated(size, self.sizes)
        return Dim(text, extent, extent, size)

    def parameter(
        self,
        scope: Scope,
        name: str,
        shape: tuple[str, ...],
        content: str = "float",
        dtype: str = "float64",
    ) -> None:
        layout = "C"
        if self.want("non-contiguous", 4):
            layout = self.pick(*LAYOUTS)
            self.use("non-contiguous")
        if content == "float":
            if self.single or (self.mixed and self.chance(50)):
                dtype = "float32"
            if dtype == "float32":
                self.use("float32 and float64" if self.mixed else "float32")
        bounds = [
            int(eval(b, {}, dict(self.sizes)))  # noqa: S307
            for b in content.split()[1:]
        ]
        lo, hi = (bounds + [0, 0])[:2]
        if content == "rows":
            hi = self.sizes["z"]
        dims = []
        for k, size in enumerate(shape):
            text = f"{name}.shape[{k}]"
            if k == 0 and self.chance(20):
                text = f"len({name})"
            if size in ("n", "m") and self.spelled[size] and self.chance(60):
                text = size
            dims.append(self.dim(size, text))
        self.arguments[name] = Argument(content, shape, dtype, layout)
        scope.arrays[name] = Array(
            name,
            tuple(dims),
            dtype,
            writable=content == "float",
            lo=lo,
            hi=hi,
            parameter=True,
        )

    def parameters(self) -> Scope:
        scope = Scope()
        # Is there a name for this size: a parameter, or a first line of the function?
        self.spelled = {"n": self.chance(60), "m": self.chance(40)}
        self.parameter(scope, "a", ("n",))
        vectors = ["n", "n", "m", "n + 1", "n + 2", "2 * n", "6"]
        for name in ("u", "b", "v"):
            if self.chance(65):
                self.parameter(scope, name, (self.pick(*vectors),))
        matrix = self.themes.intersection(
            ("@ with a matrix", "sum along an axis", "broadcast row", "transpose")
        )
        if matrix or self.chance(60):
            self.parameter(scope, "w", self.pick(("n", "m"), ("n", "n"), ("m", "n")))
        if self.chance(20):
            self.parameter(scope, "x", self.pick(("n", "m"), ("n", "n")))
        if self.chance(8):
            self.parameter(scope, "cube", ("n", "m", "2"))
        if self.want("flattened index", 5):
            self.parameter(scope, "flat", ("n * m",))
        if self.chance(40):
            dtype = self.pick("int64", "int64", "int32")
            size = self.pick("n", "m", "n + 1", "5")
            self.parameter(scope, "idx", (size,), "int 0 n-1", dtype)
        if self.want("bool array", 6):
            self.parameter(scope, "mask", (self.pick("n", "m"),), "bool", "bool")
            self.use("bool array")
        if self.want("integer array in and out", 8):
            self.parameter(scope, "count", (self.pick("n", "m"),), "int 0 3", "int64")
            scope.arrays["count"] = replace(scope.arrays["count"], writable=True)
        if self.want("CSR rows", 5):
            self.parameter(scope, "ptr", ("n + 1",), "rows", "int64")
            self.parameter(scope, "col", ("z",), "int 0 n-1", "int64")
            self.parameter(scope, "val", ("z",))
        if self.chance(65):
            self.arguments["s"] = Argument("float")
            scope.floats.append("s")
        if self.want("integer parameter", 12):
            value = self.rng.randint(0, 4)
            self.arguments["k"] = Argument(str(value))
            scope.integers.append(Int("k", value, value, atom=True))
            self.use("integer parameter")
        return scope

    def first_lines(self, scope: Scope) -> None:
        for size, named in self.spelled.items():
            if not named:
                continue
            owners = [
                f"{a.name}.shape[{k}]"
                for a in scope.arrays.values()
                for k, d in enumerate(a.shape)
                if d.key == size and a.parameter
            ]
            value = self.sizes[size]
            if owners and self.chance(50):
                self.emit(f"{size} = {self.pick(*owners)}")
            else:
                self.arguments[size] = Argument(size)
            if self.chance(40):
                scope.integers.append(Int(size, value, value, atom=True))
        if self.want("module integer", 4):
            self.header["COUNT"] = "COUNT = 3"
            scope.integers.append(Int("COUNT", 3, 3, atom=True))
            self.use("module integer")
        if self.want("closure", 4):
            self.captured.append("gain")
            scope.floats.append("gain")
            scope.fixed.add("gain")
            self.use("closure")

    # ---------------------------------------------------------------- the function

    def generated(self, seed: int) -> Generated:
        scope = self.parameters()
        self.first_lines(scope)
        self.planned(scope)
        if self.chance(50):
            t = self.name("t")
            self.emit(f"{t} = {self.pick('0.0', '0.4', '1.0', '0')}")
            scope.floats.append(t)
        if "flat" in scope.arrays and self.chance(80):
            self.flattened(scope)
        if "ptr" in scope.arrays and self.chance(70):
            self.use("CSR rows", "for")
            self.sparse(scope)
        if self.pull("integer") > 1:
            for _ in range(2):
                self.integer_statement(scope)
        first = True
        while first or (self.budget > 0 and self.chance(80)):
            first = False
            if self.chance(45):
                self.budget -= 1
                self.for_range(scope)
            else:
                self.statement(scope)
        self.ending(scope)
        return self.assembled(seed)

    def flattened(self, scope: Scope) -> None:
        """Loops over rows and columns of a matrix kept in a vector."""
        y, x = self.name("i"), self.name("i")
        rows = self.dim("n", "n" if self.spelled["n"] else "a.shape[0]")
        self.emit(f"for {y} in range({rows.text}):")
        width = f"(len(flat) // {rows.text})"
        self.emit(f"    for {x} in range({width}):")
        inner = scope.inner(maybe=True)
        m = self.sizes["m"]
        inner.indices += [
            Int(y, 0, rows.lo - 1, atom=True),
            Int(x, 0, m - 1, atom=True),
        ]
        inner.integers.append(Int(f"{y} * {width} + {x}", 0, rows.lo * m - 1))
        self.indent += 2
        place = f"flat[{y} * {width} + {x}]"
        if self.chance(50):
            self.augmented(place, inner, "=", reads=True)
        else:
            t = self.name("t")
            self.emit(f"{t} = {place} * {self.value(inner, 1)}")
            inner.floats.append(t)
            self.simple_statement(inner)
        self.indent -= 2
        self.use("flattened index")

    def planned(self, scope: Scope) -> None:
        """Decide what the function returns, on every path."""
        plan = self.choose(
            [
                (4, "returns nothing"),
                (4, "returns a number"),
                (2, "returns a tuple"),
                (2, "returns a local array"),
                (2, "returns a parameter"),
                (1, "returns a view"),
                (1, "returns an array expression"),
                (1, "returns numbers and arrays"),
            ]
        )
        self.use(plan)
        parameters = [a.name for a in scope.arrays.values() if a.is_float]
        match plan:
            case "returns nothing":
                self.plan = "nothing"
            case "returns a number":
                self.plan = "number"
            case "returns a tuple":
                self.plan = "tuple"
            case "returns a parameter":
                self.plan = "parameter"
                self.plan_array = self.pick(*parameters)
            case "returns a view":
                self.plan = "view"
                part = self.pick("1:", ":-1", "::2", "::-1")
                self.plan_array = f"{self.pick(*parameters)}[{part}]"
            case "returns an array expression":
                self.plan = "expression"
                one = self.pick(*parameters)
                self.plan_array = self.pick(
                    f"0.5 * {one}",
                    f"{one} * {one}",
                    f"np.sin({one}) + 0.5",
                    f"{one} + {one}[::-1]",
                )
            case "returns numbers and arrays":
                self.plan = "mixed"
                self.plan_array = self.pick(*parameters)
            case _:
                self.plan = "local array"
                self.local_array(scope)
                made = [a for a in scope.arrays.values() if not a.parameter]
                floats = [a for a in made if a.is_float]
                if floats:
                    self.plan_array = floats[-1].name
                else:
                    self.plan = "number"

    def ending(self, scope: Scope) -> None:
        if self.plan == "nothing":
            if not any(re.search(r"\] \S*= ", line) for line in self.lines):
                self.store(scope)
            return
        self.emit(self.result(scope))

    def shadowed(self, text: str) -> str:
        """A helper with locals that are called what parameters of `f` are called."""
        tree = ast.parse(text)
        inside = list(ast.walk(tree))
        given = {n.arg for n in inside if isinstance(n, ast.arg)}
        named = [n for n in inside if isinstance(n, ast.Name)]
        stored = {n.id for n in named if isinstance(n.ctx, ast.Store)} - given
        inner = [n for n in inside if isinstance(n, (ast.FunctionDef, ast.Lambda))]
        free = [p for p in self.arguments if p not in given | {n.id for n in named}]
        if len(inner) > 1 or not free:
            return text
        self.rng.shuffle(free)
        new = dict(zip(sorted(stored), free, strict=False))
        for n in named:
            n.id = new.get(n.id, n.id)
        return ast.unparse(tree)

    def assembled(self, seed: int) -> Generated:
        body = "\n".join(self.lines) + "\n"
        names = [p for p in self.arguments if re.search(rf"\b{p}\b", body)]
        if not names:
            names = ["a"]
        imports = "import math\n\nimport numpy as np\n"
        header = dict(self.header)
        if "numba" in header:
            imports += header.pop("numba") + "\n"
        decorated = ""
        if self.want("njit input", 1) and not self.captured:
            imports += "from numba import njit\n"
            decorated = "@njit\n"
            self.use("njit input")
        for helper, text in header.items():
            if text.startswith("def ") and self.want(SHADOWED, 15):
                header[helper] = self.shadowed(text)
                if header[helper] != text:
                    self.use(SHADOWED)
        definition = f"{decorated}def f({', '.join(names)}):\n{body}"
        if self.captured:
            inside = "".join(
                f"    {line}\n" if line else "\n"
                for line in definition.split("\n")[:-1]
            )
            definition = f"def make(gain):\n{inside}\n    return f\n\n\nf = make(0.8)\n"
        parts = [imports, *(f"{text}\n" for text in header.values()), definition]
        return Generated(
            "\n\n".join(parts),
            tuple(self.arguments.items()),
            self.sizes,
            seed,
            tuple(self.used),
        )


def generated(seed: int, without: frozenset[str] = frozenset()) -> Generated:
    """The function of a seed."""
    return Writer(random.Random(seed), without).generated(seed % 1000)
