"""Statements on arrays and numbers: names bound again, masks, shapes, raise."""

from __future__ import annotations

from tests.tools.generator.forms.kinds import Matrix, Scope, Vector
from tests.tools.generator.forms.values import Values

ERRORS = ("ValueError", "RuntimeError", "ArithmeticError", "KeyError")


class Statements(Values):
    """What is done to arrays and numbers, in branches and loops."""

    #: What every `return` gives: "number", "vector" and the like.
    plan = "number"
    budget = 6

    # ---------------------------------------------------------------- choosing

    def options(self, scope: Scope) -> list[tuple[int, str]]:
        """The statements that may stand here, with their weights."""
        v, deep = bool(scope.vectors), scope.blocks > 2
        return [
            (4, "number bound"),
            (5 if v else 0, "vector bound"),
            (4 if v else 0, "vector of another length"),
            (5 if v else 0, "vector bound again"),
            (3 if v else 0, "second name"),
            (3 if v else 0, "augmented vector"),
            (4 if v else 0, "element written"),
            (4 if v else 0, "mask written"),
            (3 if scope.places else 0, "places written"),
            (2 if v else 0, "in-place method"),
            (2 if v else 0, "matrix made"),
            (2 if scope.matrices else 0, "part of a matrix written"),
            (0 if deep else 5, "if"),
            (0 if deep else 5, "for"),
            (0 if deep or not v else 3, "pyramid"),
            (2 if v and not deep else 0, "counter beside a range"),
            (3 if scope.draws and not deep else 0, "draws in a range"),
            (2, "raise"),
            (2 if not scope.loops else 1, "early return"),
            (1 if scope.loops else 0, "jump"),
            (1 if v and not deep else 0, "bound on both paths"),
            (2 if v and not deep else 0, "none on one path"),
            (2 if v else 0, "slice with a name"),
            (2 if v and not deep else 0, "places under a name"),
            (2 if scope.matrices else 0, "extreme of a matrix"),
        ]

    def statement(self, scope: Scope) -> None:
        self.budget -= 1
        kind = self.weighted(self.options(scope))
        method = getattr(self, kind.replace(" ", "_").replace("-", "_") + "_")
        if method(scope) is False:
            self.number_bound_(scope)
        else:
            self.use(kind)

    def block(self, scope: Scope, most: int = 3) -> None:
        """Some statements, one at least."""
        before = len(self.lines)
        for _ in range(self.rng.randint(1, most)):
            if self.budget > 0:
                self.statement(scope)
        if len(self.lines) == before:
            self.number_bound_(scope)

    # ---------------------------------------------------------------- names

    def number_bound_(self, scope: Scope) -> None:
        free = [n for n in scope.numbers if n not in scope.fixed]
        if free and self.chance(45):
            name = self.pick(*free)
            sign = self.pick("=", "+=", "-=", "+=")
            self.emit(f"{name} {sign} {self.number(scope)}")
            return
        name = self.fresh("s")
        self.emit(f"{name} = {self.number(scope)}")
        scope.numbers.append(name)

    def vector_bound_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name, text = self.fresh("y"), self.vector(scope, v.size)
        self.emit(f"{name} = {text}")
        scope.vectors[name] = Vector(name, v.size, v.least)

    def vector_of_another_length_(self, scope: Scope) -> bool:
        found = self.another(scope)
        if found is None:
            return False
        text, size, least = found
        name = self.fresh("z")
        self.emit(f"{name} = {text}")
        # NumPy's diagonals are read-only, and a part of an array that is written to is
        # what is wanted here.
        written = "diag" not in text
        scope.vectors[name] = Vector(name, size, least, written)
        return True

    def vector_bound_again_(self, scope: Scope) -> bool:
        free = [v for v in scope.vectors.values() if v.name not in scope.fixed]
        if not free:
            return False
        v = self.pick(*free)
        text = self.vector(scope, v.size)
        self.emit(f"{v.name} = {text}")
        scope.vectors[v.name] = Vector(v.name, v.size, v.least)
        return True

    def second_name_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name = self.fresh("w")
        text = self.pick(
            v.name, f"{v.name}[:]", f"{v.name}.copy()", f"np.asarray({v.name})"
        )
        self.emit(f"{name} = {text}")
        scope.vectors[name] = Vector(name, v.size, v.least, v.written)

    def bound_on_both_paths_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name = self.fresh("b")
        self.emit(f"if {self.test(scope)}:")
        self.indent += 1
        self.emit(f"{name} = {self.vector(scope, v.size)}")
        self.indent -= 1
        self.emit("else:")
        self.indent += 1
        self.emit(f"{name} = {self.vector(scope, v.size)}")
        self.indent -= 1
        scope.vectors[name] = Vector(name, v.size, v.least)

    def none_on_one_path_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name, test = self.fresh("q"), self.test(scope)
        text = self.vector(scope, v.size)
        if self.chance(40):
            one, other = self.pick((text, "None"), ("None", text))
            self.emit(f"{name} = {one} if {test} else {other}")
        else:
            self.emit(f"if {test}:")
            self.emit(f"    {name} = {self.pick(text, 'None')}")
            last = self.lines[-1].endswith("None")
            self.emit("else:")
            self.emit(f"    {name} = {text if last else 'None'}")
        total = self.fresh("s")
        self.emit(f"{total} = {self.atom(scope)}")
        self.emit(f"if {name} is not None:")
        if self.chance(30):
            self.emit(f"    {name} = {name} * {self.number(scope, 1)}")
        self.emit(f"    {total} += np.sum({name} * {self.vector(scope, v.size, 1)})")
        if self.chance(30):
            self.emit("else:")
            self.emit(f"    {total} -= {self.number(scope, 1)}")
        scope.numbers.append(total)

    def slice_with_a_name_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name, total = self.fresh("part"), self.fresh("s")
        forms = ["slice(None, -1)", "slice(1, None)", "slice(None, None, -1)"]
        forms += ["slice(2)", "np.s_[1:]", "slice(0, len(VECTOR) // 2)"]
        text = self.pick(*forms).replace("VECTOR", v.name)
        self.emit(f"{name} = {text}")
        if v in self.writable(scope) and self.chance(50):
            right = self.number(scope, 1)
            if self.chance(40):
                right = f"0.5 * ({self.vector(scope, v.size, 1)})[{name}]"
            self.emit(f"{v.name}[{name}] {self.pick('=', '+=', '*=')} {right}")
        self.emit(f"{total} = np.sum({v.name}[{name}] ** 2)")
        scope.numbers.append(total)

    def places_under_a_name_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        other = self.pick(*self.of_size(scope, v.size)).name
        name, total = self.fresh("found"), self.fresh("s")
        function = self.pick("np.where", "np.nonzero")
        self.emit(f"{name} = {function}({other} > {self.atom(scope)})")
        self.emit(f"{total} = np.sum({v.name}[{name}]) + 0.1 * len({name}[0])")
        if self.chance(50):
            at = self.fresh("p")
            self.emit(f"for {at} in {name}[0]:")
            self.emit(f"    {total} += {v.name}[{at}] * {self.number(scope, 1)}")
        scope.numbers.append(total)

    def extreme_of_a_matrix_(self, scope: Scope) -> None:
        m = self.pick(*scope.matrices.values())
        place, total = self.fresh("p"), self.fresh("s")
        call = self.pick(f"np.argmax({m.name})", f"{m.name}.argmin()")
        self.emit(f"{place} = {call}")
        self.emit(f"{total} = {m.name}.ravel()[{place}] * {self.number(scope, 1)}")
        scope.numbers.append(total)

    # ---------------------------------------------------------------- writes

    def writable(self, scope: Scope) -> list[Vector]:
        return [
            v for v in scope.vectors.values() if v.written and v.name not in scope.fixed
        ]

    def augmented_vector_(self, scope: Scope) -> bool:
        every = self.writable(scope)
        if not every:
            return False
        v = self.pick(*every)
        right = (
            self.vector(scope, v.size, 1) if self.chance(60) else self.number(scope, 1)
        )
        self.emit(f"{v.name} {self.pick('+=', '-=', '*=')} 0.5 * {right}")
        return True

    def element_written_(self, scope: Scope) -> bool:
        every = [v for v in self.writable(scope) if v.least > 1]
        if not every:
            return False
        v = self.pick(*every)
        near = [i for i, size in scope.indices.items() if size == v.size]
        at = self.pick(*near) if near else self.pick("0", "1", "-1")
        sign = self.pick("=", "=", "+=", "*=")
        self.emit(f"{v.name}[{at}] {sign} {self.number(scope, 1)}")
        return True

    def mask_written_(self, scope: Scope) -> bool:
        every = self.writable(scope)
        if not every:
            return False
        v = self.pick(*every)
        other = self.pick(*self.of_size(scope, v.size)).name
        mask = f"{other} > {self.atom(scope)}"
        if self.chance(35):
            name = self.fresh("m")
            self.emit(f"{name} = {mask}")
            mask = name
        right = self.number(scope, 1)
        if self.chance(50):
            right = f"0.5 * {self.pick(*self.of_size(scope, v.size)).name}[{mask}]"
        sign = self.pick("=", "+=", "*=")
        self.emit(f"{v.name}[{mask}] {sign} {right}")
        return True

    def places_written_(self, scope: Scope) -> bool:
        p, (own, into) = self.pick(*scope.places.items())
        every = [v for v in self.writable(scope) if v.size == into]
        if not every:
            return False
        v = self.pick(*every)
        right = self.number(scope, 1)
        if self.of_size(scope, own) and self.chance(60):
            right = self.vector(scope, own, 1)
        if self.chance(30):
            self.emit(f"np.add.at({v.name}, {p}, {right})")
        else:
            self.emit(f"{v.name}[{p}] {self.pick('=', '+=', '*=')} {right}")
        return True

    def in_place_method_(self, scope: Scope) -> bool:
        every = self.writable(scope)
        if not every:
            return False
        v = self.pick(*every)
        text = f"{v.name}.sort()"
        if self.chance(30):
            text = f"{v.name}.fill({self.number(scope, 1)})"
        elif self.chance(40):
            text = f"{v.name}[:] = {self.vector(scope, v.size)}"
        self.emit(text)
        return True

    # ---------------------------------------------------------------- matrices

    def matrix_made_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        a, b = self.vector(scope, v.size, 1), self.vector(scope, v.size, 0)
        name, s = self.fresh("M"), v.size
        options = [
            (f"np.outer({a}, {b})", s, s),
            (f"np.stack([{a}, {b}])", "2", s),
            (f"np.stack(({a}, {b}), axis=1)", s, "2"),
            (f"np.column_stack(({a}, {b}))", s, "2"),
            (f"np.vstack([{a}, {b}])", "2", s),
            (f"np.diag({b})", s, s),
            (f"{b}.reshape(1, -1) * {b}[:, None]", s, s),
        ]
        if scope.matrices:
            m = self.pick(*scope.matrices.values())
            options += [
                (f"0.5 * {m.name}", m.rows, m.columns),
                (f"{m.name}.T", m.columns, m.rows),
                (f"np.tanh({m.name})", m.rows, m.columns),
                (f"{m.name}.reshape({m.name}.shape)", m.rows, m.columns),
            ]
        if v.least < 2:
            options = options[:5]
        text, rows, columns = self.pick(*options)
        if v.least < 2:
            # Elements of it may not be there.
            total = self.fresh("s")
            self.emit(f"{total} = np.sum({text})")
            scope.numbers.append(total)
            return
        self.emit(f"{name} = {text}")
        scope.matrices[name] = Matrix(name, rows, columns)

    def part_of_a_matrix_written_(self, scope: Scope) -> bool:
        m = self.pick(*scope.matrices.values())
        if m.name in scope.fixed:
            return False
        rows, columns = self.of_size(scope, m.rows), self.of_size(scope, m.columns)
        options = [
            f"{m.name}[0, 1] = {self.number(scope, 1)}",
            f"{m.name}[{m.name} > {self.atom(scope)}] *= 0.5",
            f"{m.name}[1] *= {self.number(scope, 1)}",
            f"{m.name}.ravel()[1] = {self.atom(scope)}",
            f"{m.name} *= {self.atom(scope)}",
        ]
        if columns:
            options.append(f"{m.name}[0] = {self.vector(scope, m.columns, 1)}")
        if rows:
            options.append(f"{m.name}[:, 1] += {self.vector(scope, m.rows, 1)}")
        self.emit(self.pick(*options))
        return True

    # ---------------------------------------------------------------- control

    def if_(self, scope: Scope) -> None:
        self.emit(f"if {self.test(scope)}:")
        self.indent += 1
        self.block(scope.inner())
        self.indent -= 1
        if self.chance(45):
            self.emit("else:")
            self.indent += 1
            self.block(scope.inner())
            self.indent -= 1

    def for_(self, scope: Scope) -> None:
        """A loop, over one of the things that loops run over."""
        inner, header = self.header(scope)
        self.emit(f"for {header}:")
        self.indent += 1
        self.block(inner)
        self.indent -= 1

    def header(self, scope: Scope) -> tuple[Scope, str]:
        i, e = self.fresh("i"), self.fresh("e")
        v = self.pick(*scope.vectors.values()) if scope.vectors else None
        kinds = [(3, "range")]
        if v is not None:
            kinds += [(4, "range of a length"), (2, "elements"), (2, "enumerate")]
            kinds += [(2, "zip"), (2, "tuple of numbers"), (1, "tuple of tuples")]
        if scope.lists:
            kinds.append((3, "loop over a list"))
        if scope.nodes:
            kinds.append((4, "loop over records"))
        kind = self.weighted(kinds)
        self.use(kind)
        inner = scope.inner(loop=True)
        if v is not None:
            inner = scope.inner(loop=True, fixed=(v.name,))
        match kind:
            case "range":
                bound = self.pick("2", "3", *scope.counts)
                inner = scope.inner(loop=True)
                return inner, f"{i} in range({bound})"
            case "loop over a list":
                name = self.pick(*scope.lists)
                inner = scope.inner(loop=True, fixed=(name, e))
                inner.lists.pop(name)
                inner.numbers.append(e)
                return inner, f"{e} in {name}"
            case "loop over records":
                name = self.pick(*scope.nodes)
                inner = scope.inner(loop=True, fixed=(name,))
                inner.records.append(e)
                if self.chance(30):
                    inner.indices[i] = "n"
                    return inner, f"{i}, {e} in enumerate({name})"
                return inner, f"{e} in {name}"
        assert v is not None
        match kind:
            case "range of a length":
                inner = scope.inner(loop=True, fixed=(v.name, i))
                inner.indices[i] = v.size
                # Elements of it may be written, the name may not be bound again.
                inner.fixed -= {v.name}
                inner.vectors = {
                    k: w for k, w in inner.vectors.items() if w.size != "?" or w is v
                }
                return inner, f"{i} in range(len({v.name}))"
            case "elements":
                inner.numbers.append(e)
                return inner, f"{e} in {v.name}"
            case "enumerate":
                inner.numbers.append(e)
                inner.indices[i] = v.size
                return inner, f"{i}, {e} in enumerate({v.name})"
            case "zip":
                w = self.pick(*scope.vectors.values())
                inner.fixed |= {w.name}
                inner.numbers += [e, i]
                return inner, f"{e}, {i} in zip({v.name}, {w.name})"
            case "tuple of numbers":
                inner.numbers.append(e)
                every = ", ".join(self.atom(scope) for _ in range(3))
                return inner, f"{e} in ({every})"
        w = self.pick(*self.of_size(scope, v.size))
        inner.vectors[e] = Vector(e, v.size, v.least, v.written and w.written)
        inner.numbers.append(i)
        a, b = self.atom(scope), self.atom(scope)
        inner.fixed |= {e, w.name}
        return inner, f"{e}, {i} in (({v.name}, {a}), ({w.name}, {b}))"

    def pyramid_(self, scope: Scope) -> bool:
        """A vector that gets shorter."""
        v = self.pick(*scope.vectors.values())
        if v.least < 2:
            return False
        name = self.fresh("c")
        self.emit(
            f"{name} = {self.pick(v.name, f'{v.name}.copy()', f'0.5 * {v.name}')}"
        )
        size = f"?{self.fresh('')}"
        inner = scope.inner(loop=True, fixed=(name,))
        inner.vectors[name] = Vector(name, size, 1, False)
        if self.chance(55):
            self.emit(f"while len({name}) > 1:")
            again = self.pick(
                f"0.5 * ({name}[:-1] + {name}[1:])",
                f"{name}[1:]",
                f"{name}[:-1] * {self.atom(scope)}",
                f"np.diff({name})",
            )
        else:
            self.emit(f"for {self.fresh('i')} in range(2):")
            again = self.pick(f"{name}[{name} > {self.atom(scope)}]", f"{name}[1:]")
            inner.vectors[name] = Vector(name, size, 0, False)
        self.indent += 1
        self.budget -= 1
        if self.chance(60):
            self.block(inner, 1)
        self.emit(f"{name} = {again}")
        self.indent -= 1
        scope.vectors[name] = Vector(name, size, 0, False)
        return True

    def counter_beside_a_range_(self, scope: Scope) -> None:
        """A loop up or down with a counter of its own."""
        v, i, k, s = self.pick(*scope.vectors.values()).name, *map(self.fresh, "iks")
        head = self.pick(
            f"reversed(range(len({v})))",
            f"range(len({v}) - 1, -1, -1)",
            f"reversed(range(len({v}), 0, -1))",
            f"range(3, 3 + len({v}))",
        )
        self.emit(f"{k}, {s} = 0, 0.5")
        self.emit(f"for {i} in {head}:")
        self.indent += 1
        self.emit(f"{s} = 0.4 * {s} + 0.1 * {i} * {v}[{k}]")
        self.emit(f"{k} += 1")
        self.indent -= 1
        scope.numbers.append(s)

    def draws_in_a_range_(self, scope: Scope) -> None:
        """As many turns as are drawn, with a draw in each."""
        gen, i, s = self.pick(*scope.draws), self.fresh("i"), self.fresh("s")
        turns = f"range({gen}.integers(1, 4))"
        head = self.pick(turns, f"reversed({turns})")
        self.emit(f"{s} = 0.3")
        self.emit(f"for {i} in {head}:")
        self.indent += 1
        self.emit(f"{s} = 0.5 * {s} + 0.1 * {i} * {gen}.normal() * {self.atom(scope)}")
        self.indent -= 1
        scope.numbers.append(s)

    def raise_(self, scope: Scope) -> None:
        error = self.pick(*ERRORS)
        if self.chance(25):
            self.emit(f"assert {self.atom(scope)} > -{self.pick('0.5', '5.0')}")
            return
        low = self.pick("-3.0", "-3.0", "-0.5")
        test = f"{self.atom(scope)} < {low}"
        if self.chance(30) and scope.counts:
            test = f"{self.pick(*scope.counts)} > 2"
        what = self.pick('("too small")', "", '("too small", 1)', '("too " + "small")')
        self.emit(f"if {test}:")
        self.emit(f"    raise {error}{what}")

    def jump_(self, scope: Scope) -> None:
        self.emit(f"if {self.test(scope)}:")
        self.emit(f"    {self.pick('break', 'continue')}")

    def early_return_(self, scope: Scope) -> bool:
        if self.plan in ("list", "nothing"):
            return False
        self.emit(f"if {self.test(scope)}:")
        self.indent += 1
        self.emit(f"return {self.result(scope)}")
        self.indent -= 1
        return True

    def result(self, scope: Scope) -> str:
        """What a `return` gives, by the plan."""
        raise NotImplementedError
