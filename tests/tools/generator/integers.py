"""Integer expressions whose range is known, and subscripts that fit an array."""

from __future__ import annotations

from tests.tools.generator.base import Base
from tests.tools.generator.scope import Array, Dim, Int, Scope

LARGE = 40


def _mask(value: int) -> int:
    """The smallest 2**k - 1 that is at least `value`."""
    return int((1 << max(0, value).bit_length()) - 1)


class Integers(Base):
    """The part of the writer that knows ranges."""

    def atoms(self, scope: Scope) -> list[Int]:
        return scope.indices + scope.integers

    def integer(self, scope: Scope, depth: int = 1) -> Int:
        names = self.atoms(scope)
        if not names or self.chance(6):
            c = self.rng.randint(0, 3)
            return Int(str(c), c, c, atom=True)
        index = scope.indices and self.chance(75)
        v = self.pick(*(scope.indices if index else names))
        o = self.pick(*names)
        if depth and self.chance(15):
            v = self.integer(scope, depth - 1)
        c = self.rng.randint(0, 3)
        n = self.sized(scope)
        form = self.choose(
            [
                (22, "plain"),
                (14, "affine index"),
                (3, "index by //"),
                (3, "index by %"),
                (2, "clamped index"),
                (2, "reflected index"),
                (3 if self.tables(scope) else 0, "index from an array"),
                (2 if scope.floats or scope.arrays else 0, "index from a float"),
                (1, "conditional index"),
                (1, "abs of an index"),
                (1, "integers &"),
                (1, "integers |"),
                (1, "integers ^"),
                (1, "integers <<"),
                (1, "integers >>"),
                (1, "integers ~"),
            ]
        )
        if form != "plain" and self.nested < 3:
            self.nested += 1
            e = self.formed(form, scope, v, o, c, n)
            self.nested -= 1
            if e is not None and abs(e.lo) < LARGE and abs(e.hi) < LARGE:
                self.use(form)
                return e
        return v

    def sized(self, scope: Scope) -> Int:
        """The size of some axis, as a number."""
        dims = [d for a in scope.arrays.values() for d in a.shape]
        if not dims:
            return Int("3", 3, 3, atom=True)
        return self.pick(*dims).int()

    def tables(self, scope: Scope) -> list[Array]:
        """Integer vectors with elements."""
        return [
            a
            for a in scope.arrays.values()
            if a.dtype.startswith(("int", "uint"))
            and len(a.shape) == 1
            and a.has_elements
        ]

    def formed(
        self, form: str, scope: Scope, v: Int, o: Int, c: int, n: Int
    ) -> Int | None:
        k = self.pick(2, 3)
        match form:
            case "affine index":
                return self.affine(v, o, c, n)
            case "index by //":
                text, d = self.pick(
                    (v.inside(), v), (f"({v.text} + {c})", Int("", v.lo + c, v.hi + c))
                )
                return Int(f"{text} // {k}", d.lo // k, d.hi // k)
            case "index by %":
                if n.lo > 0 and self.chance(50):
                    return Int(f"({v.text} + {c}) % {n.inside()}", 0, n.hi - 1)
                return Int(f"({v.text} - {c}) % {k}", 0, k - 1)
            case "clamped index":
                if n.lo > 0 and self.chance(60):
                    text = self.pick(
                        f"max(min({v.text} + {c}, {n.text} - 1), 0)",
                        f"min(max({v.text} - {c}, 0), {n.text} - 1)",
                    )
                    return Int(text, 0, n.hi - 1, atom=True)
                return Int(f"min(max({v.text} - 1, 0), {c})", 0, c, atom=True)
            case "reflected index":
                if n.lo <= 0 or v.lo < 0 or v.hi > 2 * n.lo - 2:
                    return Int(
                        f"abs({v.text} - {c})",
                        0,
                        max(abs(v.lo - c), abs(v.hi - c)),
                        atom=True,
                    )
                text = (
                    f"{v.text} if {v.text} < {n.text} else "
                    f"2 * {n.inside()} - 2 - {v.inside()}"
                )
                return Int(f"({text})", 0, n.hi - 1, atom=True)
            case "index from an array":
                table = self.pick(*self.tables(scope))
                at = self.subscript(scope, table.shape[0], depth=0)
                return Int(f"{table.name}[{at}]", table.lo, table.hi, atom=True)
            case "index from a float":
                x = self.value(scope, 1)
                form = self.pick(
                    f"int({k} * math.sin({x}) + {k})",
                    f"math.floor({k} + {k} * np.cos({x}))",
                )
                return Int(form, 0, 2 * k, atom=True)
            case "conditional index":
                test = self.pick(
                    f"{v.text} > {c}", f"{v.text} >= {o.text}", f"{o.text} % 2 == 0"
                )
                text = f"({v.text} if {test} else {o.text})"
                return Int(text, min(v.lo, o.lo), max(v.hi, o.hi), atom=True)
            case "abs of an index":
                far = max(abs(v.lo - c), abs(v.hi - c))
                return Int(f"abs({v.text} - {c})", 0, far, atom=True)
            case "integers &":
                return Int(f"({v.text} & {_mask(c)})", 0, _mask(c), atom=True)
            case "integers |":
                if v.lo < 0:
                    return None
                return Int(f"({v.inside()} | {c})", c, _mask(v.hi) | _mask(c), True)
            case "integers ^":
                if v.lo < 0:
                    return None
                return Int(f"({v.inside()} ^ {c})", 0, _mask(max(v.hi, c)), atom=True)
            case "integers <<":
                return Int(f"({v.inside()} << 1)", v.lo * 2, v.hi * 2, atom=True)
            case "integers >>":
                return Int(f"({v.inside()} >> 1)", v.lo >> 1, v.hi >> 1, atom=True)
            case "integers ~":
                return Int(f"~{v.inside()}", ~v.hi, ~v.lo)
            case _:
                raise AssertionError(form)

    def affine(self, v: Int, o: Int, c: int, n: Int) -> Int:
        k = self.pick(2, 3)
        match self.rng.randrange(8):
            case 0 | 1:
                return v.plus(self.pick(-2, -1, 1, 2))
            case 2:
                return Int(f"{c} - {v.inside()}", c - v.hi, c - v.lo)
            case 3 | 4:
                text = f"{n.inside()} - 1 - {v.inside()}"
                return Int(text, n.lo - 1 - v.hi, n.hi - 1 - v.lo)
            case 5:
                return Int(f"{k} * {v.inside()}", k * v.lo, k * v.hi).plus(c)
            case 6:
                return Int(f"{v.text} + {o.text}", v.lo + o.lo, v.hi + o.hi)
            case _:
                return Int(f"{v.text} - {o.inside()}", v.lo - o.hi, v.hi - o.lo)

    def subscript(self, scope: Scope, dim: Dim, depth: int = 1) -> str:
        """A subscript that fits an axis: found by luck, or brought inside."""
        assert dim.lo > 0, dim
        if self.want("literal negative index", 3):
            self.use("literal negative index")
            return str(-self.rng.randint(1, min(3, dim.lo)))
        same = [v for v in scope.indices if 0 <= v.lo and v.hi < dim.lo]
        if same and self.chance(45):
            return self.pick(*same).text
        for _ in range(6):
            e = self.integer(scope, depth)
            if 0 <= e.lo and e.hi < dim.lo:
                return e.text
            if -dim.lo <= e.lo and e.hi < dim.lo:
                if self.want("run-time negative index", 60):
                    self.use("run-time negative index")
                    return e.text
        e = self.integer(scope, 0)
        match self.rng.randrange(3):
            case 0 if "index by %" not in self.without:
                self.use("index by %")
                return f"({e.text}) % {dim.int().inside()}"
            case 1 if "clamped index" not in self.without:
                self.use("clamped index")
                return f"min(max({e.text}, 0), {dim.text} - 1)"
            case _:
                return str(self.rng.randrange(dim.lo))

    def element(self, scope: Scope, array: Array) -> str:
        """``array[...]`` with subscripts that fit."""
        index = [self.subscript(scope, d) for d in array.shape]
        if len(index) > 1 and self.want("a[i][j]", 4):
            self.use("a[i][j]")
            return array.name + "".join(f"[{i}]" for i in index)
        return f"{array.name}[{', '.join(index)}]"
