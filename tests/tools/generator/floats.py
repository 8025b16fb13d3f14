"""Float expressions and conditions: legal at every value, tame at most."""

from __future__ import annotations

from tests.tools.generator.integers import Integers
from tests.tools.generator.scope import Array, Scope

SMOOTH = (
    "math.sin", "math.cos", "math.tanh", "math.atan", "math.asinh", "math.erf",
    "math.erfc", "np.sin", "np.cos", "np.tanh", "np.arctan", "np.arcsinh",
    "math.radians",
)  # fmt: skip
GUARDED = (
    "math.sqrt(1.0 + {} ** 2)", "np.sqrt(0.3 + abs({}))", "math.log(1.5 + {} ** 2)",
    "np.log1p({} ** 2)", "np.log2(2.0 + np.cos({}))", "math.log10(1.5 + {} ** 2)",
    "math.exp(-({}) ** 2)", "np.exp(-abs({}))", "np.expm1(0.3 * np.sin({}))",
    "math.acos(0.7 * math.sin({}))", "np.arcsin(0.6 * np.cos({}))",
    "math.tan(0.5 * math.sin({}))",
    "math.cosh(np.tanh({}))", "np.sinh(math.tanh({}))", "np.arctanh(0.5 * np.sin({}))",
    "math.acosh(2.5 + math.cos({}))", "np.cbrt(1.2 + np.sin({}))", "np.square({})",
    "math.degrees(0.01 * {})", "1.0 / (1.0 + math.exp(-({})))",
    "math.atan2({}, 1.5)", "np.hypot({}, 0.8)", "math.pow(1.4 + np.sin({}), 1.5)",
    "np.power(1.3 + np.cos({}), 2)", "math.fmod({}, 0.7)", "np.log(1.1 + abs({}))",
)  # fmt: skip


class Floats(Integers):
    """The part of the writer that knows floats."""

    def load(self, scope: Scope, rank: int | None = None) -> str:
        """An element of a float array, or what there is instead."""
        arrays = [
            a
            for r in ((1, 2, 3) if rank is None else (rank,))
            for a in scope.of_rank(r)
        ]
        if not arrays:
            return self.leaf(scope, arrays=False)
        return self.element(scope, self.pick(*arrays))

    def leaf(self, scope: Scope, *, arrays: bool = True) -> str:
        options = [
            (12 if arrays else 0, "load"),
            (3, "const"),
            (7 if scope.floats else 0, "scalar"),
            (2 if self.atoms(scope) else 0, "float from an integer"),
            (1 if self.data(scope) else 0, "integer array as data"),
            (1, "module constant"),
            (1, "module array"),
            (1, "bool as a number"),
        ]
        if self.nested >= 3:
            options = [(1, "const"), (4 if scope.floats else 0, "scalar")]
        choice = self.choose(options)
        if choice in ("load", "const", "scalar"):
            return self.simple(choice, scope)
        self.use(choice)
        self.nested += 1
        text = self.special(choice, scope)
        self.nested -= 1
        return text

    def simple(self, choice: str, scope: Scope) -> str:
        if choice == "load":
            return self.load(scope)
        if choice == "scalar":
            return self.pick(*scope.floats)
        return self.pick("0.5", "1.0", "-0.75", "0.3", "2", "1", "1e-1", "math.pi / 4")

    def special(self, choice: str, scope: Scope) -> str:
        match choice:
            case "float from an integer":
                v = self.pick(*self.atoms(scope))
                return self.pick(
                    f"0.1 * {v.inside()}",
                    f"float({v.text}) / 5",
                    f"{v.inside()} / 4",
                    f"0.05 * {v.inside()} ** 2",
                    f"(1 if {v.text} > 1 else 0.5)",
                )
            case "integer array as data":
                table = self.pick(*self.data(scope))
                return f"0.1 * {self.element(scope, table)}"
            case "module constant":
                self.header["GAIN"] = "GAIN = 0.75"
                return "GAIN"
            case "module array":
                self.header["TABLE"] = "TABLE = np.array([0.5, -0.3, 0.8, 0.2])"
                e = self.integer(scope, 0)
                inside = 0 <= e.lo and e.hi < 4
                return f"TABLE[{e.text if inside else f'({e.text}) % 4'}]"
            case "bool as a number":
                flags = self.flags(scope)
                if flags and self.chance(50):
                    return f"0.4 * {self.element(scope, self.pick(*flags))}"
                test = f"({self.condition(scope)})"
                return self.pick(f"0.4 * {test}", f"0.3 * int{test}", f"float{test}")
            case _:
                raise AssertionError(choice)

    def data(self, scope: Scope) -> list[Array]:
        """Integer arrays with elements, of any rank."""
        return [
            a
            for a in scope.arrays.values()
            if a.dtype.startswith(("int", "uint")) and a.has_elements
        ]

    def flags(self, scope: Scope) -> list[Array]:
        return [
            a for a in scope.arrays.values() if a.dtype == "bool" and a.has_elements
        ]

    def value(self, scope: Scope, depth: int = 2) -> str:
        if depth <= 0 or self.chance(25):
            return self.leaf(scope)

        def sub() -> str:
            return self.value(scope, depth - 1)

        form = self.choose(
            [
                (8, "+"),
                (6, "-"),
                (10, "*"),
                (3, "half"),
                (2, "neg"),
                (2, "math function"),
                (2, "NumPy function"),
                (3, "guarded function"),
                (2, "division"),
                (2, "** integer"),
                (1, "** float"),
                (1, "float //"),
                (1, "float %"),
                (2, "conditional expression"),
                (2, "min or max"),
                (1, "abs"),
                (1, "clip or where"),
                (1, "isfinite"),
                (1, "rounding"),
                (1, "float cast"),
                (2, "helper of scalars"),
                (1, "helper default"),
                (1, "helper keyword"),
                (1, "helper with several returns"),
                (1, "helper in a helper"),
                (1, "module lambda"),
                (1 if self.vectors(scope) else 0, "helper of an array"),
                (1 if self.vectors(scope) else 0, "helper of a row"),
            ]
        )
        if form in ("+", "-", "*", "half", "neg"):
            match form:
                case "half":
                    return f"0.5 * {sub()}"
                case "neg":
                    return f"(-{sub()})"
            text = f"{sub()} {form} {sub()}"
            return text if form == "*" else f"({text})"
        if self.nested >= 3:
            return self.leaf(scope)
        self.nested += 1
        text = self.function(form, scope, depth)
        self.nested -= 1
        self.use(form)
        return text

    def vectors(self, scope: Scope) -> list[Array]:
        return [] if self.in_helper else scope.of_rank(1)

    def function(self, form: str, scope: Scope, depth: int) -> str:
        def sub() -> str:
            return self.value(scope, depth - 1)

        match form:
            case "math function" | "NumPy function":
                names = [f for f in SMOOTH if f.startswith("np") == (form[0] == "N")]
                return f"{self.pick(*names)}({sub()})"
            case "guarded function":
                return self.pick(*GUARDED).format(f"({sub()})")
            case "division":
                return f"{sub()} / (1.5 + {sub()} ** 2)"
            case "** integer":
                return f"({sub()}) ** {self.pick(2, 2, 3)}"
            case "** float":
                power = self.pick("0.5", "-1", "1.5", f"np.sin({sub()})")
                return f"(1.2 + abs({sub()})) ** {power}"
            case "float //":
                return f"0.2 * (({sub()}) // {self.pick('0.7', '0.9')})"
            case "float %":
                return f"({sub()}) % {self.pick('0.7', '(1.1 + ' + sub() + ' ** 2)')}"
            case "conditional expression":
                return f"({sub()} if {self.condition(scope)} else {sub()})"
            case "min or max":
                name = self.pick("max", "min", "np.minimum", "np.maximum", "np.fmin")
                if name in ("max", "min") and self.chance(20):
                    return f"{name}({sub()}, {sub()}, 0.3)"
                return f"{name}({sub()}, {sub()})"
            case "abs":
                return f"{self.pick('abs', 'np.abs', 'math.fabs')}({sub()})"
            case "clip or where":
                if self.chance(50):
                    return f"np.clip({sub()}, -0.6, {self.pick('0.7', '0.4')})"
                return f"0.9 * np.where({self.condition(scope)}, {sub()}, {sub()})"
            case "isfinite":
                test = self.pick("math.isnan", "np.isinf", "np.isnan", "math.isinf")
                return f"(0.0 if {test}({sub()}) else {sub()})"
            case "rounding":
                name = self.pick(
                    "np.sign", "np.floor", "math.ceil", "round", "np.rint", "math.trunc"
                )
                copy = f"math.copysign({sub()}, {sub()})"
                return copy if self.chance(25) else f"0.3 * {name}({sub()})"
            case "float cast":
                return f"{self.pick('np.float64', 'float')}({sub()})"
            case _:
                return self.helper_value(form, scope, depth)

    def helper_value(self, form: str, scope: Scope, depth: int) -> str:
        raise NotImplementedError

    # ---------------------------------------------------------------- conditions

    def comparison(self, scope: Scope) -> str:
        if scope.truths and self.chance(30):
            self.use("truth value in a name")
            flag = self.pick(*scope.truths)
            return self.pick(flag, f"not {flag}")
        names = self.atoms(scope)
        if names and self.chance(60):
            v, o = self.pick(*names), self.pick(*names)
            return self.pick(
                f"{v.text} > 1",
                f"{v.inside()} % 2 == 0",
                f"{v.text} >= {o.text}",
                f"{v.text} + {o.text} < 4",
                f"{v.text} != {o.text}",
                f"{v.text} == {self.rng.randint(0, 2)}",
            )
        tables = self.tables(scope)
        if tables and self.chance(30) and self.nested < 3:
            return f"{self.element(scope, self.pick(*tables))} > 1"
        flags = self.flags(scope)
        if flags and self.chance(40) and self.nested < 3:
            return self.element(scope, self.pick(*flags))
        return f"{self.value(scope, 1)} > {self.pick('0.1', '-0.2', '0.05')}"

    def condition(self, scope: Scope) -> str:
        form = self.choose(
            [
                (12, "comparison"),
                (2, "chained comparison"),
                (2, "and"),
                (2, "or"),
                (2, "not"),
            ]
        )
        if form == "comparison" or self.nested >= 3:
            return self.comparison(scope)
        self.use(form)
        self.nested += 1
        text = self.connected(form, scope)
        self.nested -= 1
        return text

    def connected(self, form: str, scope: Scope) -> str:
        match form:
            case "chained comparison":
                names = self.atoms(scope)
                if names and self.chance(70):
                    v, o = self.pick(*names), self.pick(*names)
                    return f"0 <= {v.text} - {o.inside()} < {self.pick(2, 3)}"
                return f"-0.5 < {self.value(scope, 1)} <= {self.pick('0.6', '0.9')}"
            case "not":
                return f"not {self.pick(self.comparison, self.condition)(scope)}"
            case _:
                left, right = self.comparison(scope), self.condition(scope)
                return f"({left} {form} {right})"
