"""What people write around missing data, guarded values and narrow integers."""

from __future__ import annotations

from tests.tools.generator.program import Argument
from tests.tools.generator.programs.kinds import DOUBLE, Scope
from tests.tools.generator.programs.statements import NUMBERS, Statements

NARROW = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-1000, 1000),
}


class Idioms(Statements):
    """Statements on arrays that are no data of the rest of the program."""

    # Names of float arrays in which nan says that nothing was measured; of integers.
    missing: dict[str, str] = {}
    narrow: dict[str, str] = {}

    def special(self, arguments: dict[str, Argument]) -> None:
        """Parameters that only these idioms read."""
        self.missing, self.narrow = {}, {}
        symbol = "n"
        if self.mode == DOUBLE and self.chance(14):
            arguments["obs"] = Argument("missing", (symbol,))
            self.missing["obs"] = symbol
        if self.mode == DOUBLE and self.chance(16):
            kind = self.pick(*NARROW)
            low, high = NARROW[kind]
            arguments["codes"] = Argument(f"int {low} {high}", (symbol,), kind)
            self.narrow["codes"] = kind

    # How many more of them.
    special_left = 2

    def statement(self, scope: Scope) -> None:
        special = bool(self.missing) + bool(self.narrow)
        if self.special_left and special and self.chance(30 * special):
            options = [(1 if self.missing else 0, "m"), (1 if self.narrow else 0, "n")]
            which = self.weighted(options)
            self.budget -= 1
            self.special_left -= 1
            (self.gaps if which == "m" else self.wrapping)(scope)
            return
        if scope.heavy < 1 and self.chance(3) and self.guarded(scope):
            self.budget -= 1
            return
        super().statement(scope)

    def model(self, scope: Scope, i: str) -> str:
        """A value to compare with the measurement at `i`."""
        near = [
            a.name
            for a in scope.arrays.values()
            if a.shape
            and a.shape[0].symbol == "n"
            and not a.shape[0].more
            and len(a.shape) == 1
        ]
        if near:
            return f"{self.pick(*near)}[{i}]"
        return self.number(scope, 0)

    def gaps(self, scope: Scope) -> None:
        """A misfit that leaves out what is nan."""
        self.use("nan as missing data")
        total = self.fresh(NUMBERS)
        i, d = self.fresh(("i", "k", "j")), self.fresh(("diff", "d", "r", "miss"))
        inner = scope.inner()
        self.emit(f"{total} = 0.0")
        self.emit(f"for {i} in range(obs.shape[0]):")
        model = self.model(inner, i)
        value = self.pick(
            f"({model} - obs[{i}]) ** 2",
            f"obs[{i}] * {self.inside(model)}",
            f"math.exp(-({model} - obs[{i}]) ** 2)",
            f"{model} / (2.0 + obs[{i}])",
        )
        match self.pick("if", "continue", "where", "late", "else"):
            case "if":
                self.emit(f"    {d} = {value}")
                self.emit(f"    if not np.isnan(obs[{i}]):")
                self.emit(f"        {total} += {d}")
            case "continue":
                self.emit(f"    {d} = {value}")
                self.emit(f"    if np.isnan(obs[{i}]):")
                self.emit("        continue")
                self.emit(f"    {total} += {d} * {self.pick('0.5', '1.5')}")
            case "late":
                self.emit(f"    {d} = {value}")
                self.emit(f"    if np.isnan({d}):")
                self.emit(f"        {d} = {self.inside(model)} * 0.1")
                self.emit(f"    {total} += {d}")
            case "else":
                self.emit(f"    if np.isnan(obs[{i}]):")
                self.emit(f"        {d} = 0.0")
                self.emit("    else:")
                self.emit(f"        {d} = {value}")
                self.emit(f"    {total} += {d}")
            case _:
                self.emit(f"    {d} = np.where(np.isnan(obs[{i}]), 0.0, {value})")
                self.emit(f"    {total} += {d}")
        scope.numbers[total] = DOUBLE

    def wrapping(self, scope: Scope) -> None:
        """Factors that are integers of few bits."""
        kind = self.narrow["codes"]
        self.use("narrow integers", kind)
        low, high = NARROW[kind]
        total, i = self.fresh(NUMBERS), self.fresh(("i", "k", "j"))
        c = f"codes[{i}]"
        size = float(2 ** (len(f"{high:b}") - 1))
        unit = f"{size:.0f}.0"
        value = self.pick(
            f"-{c}",
            f"(2 * {c})",
            f"-({c} - 7)",
            f"({c} * {c})",
            f"({c} + {c})",
            f"({c} << 1)",
            f"(3 * {c} + 1)",
            f"(5 - {c})",
            f"~{c}",
            f"({c} // 3)",
            f"({c} % 5)",
            f"({c} & 15)",
            f"(-{c} * 2)",
            f"abs({c})",
            f"({c} ^ 3)",
            c,
        )
        inner = scope.inner()
        model = self.inside(self.model(inner, i))
        if self.chance(35):
            self.emit(f"{total} = 0.0")
            self.emit(f"for {i} in range(codes.shape[0]):")
            name = self.fresh(("f1", "factor", "g1"))
            if self.chance(50):
                self.emit(f"    {name} = {value}")
                value = name
            self.emit(f"    {total} += {model} * {value} / {unit}")
            scope.numbers[total] = DOUBLE
            return
        near = [
            a
            for a in scope.arrays.values()
            if len(a.shape) == 1 and a.shape[0].symbol == "n" and not a.shape[0].more
        ]
        whole = value.replace(f"[{i}]", "")
        if near:
            text = f"np.sum({self.pick(*near).name} * {whole}) / {unit}"
        else:
            text = f"{self.inside(self.number(scope, 0))} * np.sum({whole}) / {unit}"
        self.emit(f"{total} = {text}")
        scope.numbers[total] = DOUBLE

    def guarded(self, scope: Scope) -> bool:
        """A value that exists only where it is used."""
        if self.mode != DOUBLE or not scope.arrays:
            return False
        a = self.pick(*scope.arrays.values())
        self.use("discarded value")
        if self.chance(40):
            made = self.bound(scope, a.shape, a.dtype)
            self.emit(
                f"{made.name} = np.where({a.name} > 0.1, "
                f"{self.pick('np.sqrt', 'np.log')}({a.name}), 0.5 * {a.name})"
            )
            scope.arrays[made.name] = made
            return True
        total = self.fresh(NUMBERS)
        inner = scope.inner()
        self.emit(f"{total} = 0.0")
        opened = self.opened(a, inner)
        if opened is None:
            return False
        at, depth = opened
        name = self.fresh(NUMBERS)
        x = f"{a.name}[{at}]"
        value, test = self.pick(
            (f"np.sqrt({x})", f"{x} > 0.05"),
            (f"np.log({x})", f"{x} > 0.05"),
            (f"np.exp(1000.0 * {x})", f"{x} < 0.0"),
            (f"1.0 / np.maximum({x}, 0.0)", f"{x} > 0.05"),
        )
        self.emit(f"{name} = {value}")
        if self.chance(50):
            self.emit(f"if {test}:")
            self.emit(f"    {total} += {name}")
        else:
            self.emit(f"{total} += {name} if {test} else {self.number(inner, 0)}")
        self.indent -= depth
        scope.numbers[total] = DOUBLE
        return True
