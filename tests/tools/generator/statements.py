"""Statements: loops of every kind, branches, assignments, jumps."""

from __future__ import annotations

from tests.tools.generator.scope import Array, Int, Loop, Scope
from tests.tools.generator.whole import Whole

MOST_TRIPS = 260


class Statements(Whole):
    """The part of the writer that makes blocks."""

    def block(self, scope: Scope, most: int) -> None:
        before = len(self.lines)
        for _ in range(self.rng.randint(1, most)):
            if self.budget <= 0:
                break
            self.statement(scope)
        if len(self.lines) == before:
            self.simple_statement(scope)

    def simple_statement(self, scope: Scope) -> None:
        if any(scope.of_rank(r, write=True) for r in (1, 2, 3)):
            self.store(scope)
        else:
            self.scalar(scope)

    def statement(self, scope: Scope) -> None:
        self.budget -= 1
        deep = scope.depth >= 3 or scope.trips > MOST_TRIPS / 2
        jumps = bool(scope.loops)
        vectors = scope.of_rank(1)
        options = [
            (14, "store"),
            (8, "scalar"),
            (6, "if"),
            (0 if deep else 9, "for"),
            (0 if deep else 3, "while"),
            (0 if deep else 2, "over arrays"),
            (2, "local"),
            (2 if vectors else 0, "view"),
            (5 if vectors else 0, "whole"),
            (3, "call"),
            (3, "integer"),
            (2, "tuple assignment"),
            (1, "swap of elements"),
            (1, "swap of scalars"),
            (1, "several targets"),
            (1, "annotated assignment"),
            (1, "assert"),
            (1, "raise"),
            (1, "pass"),
            (2, "truth value in a name"),
            (1 if jumps else 0, "loop variable assigned"),
            (1, "bound on one path"),
            (0 if deep or not vectors else 1, "in-place time step"),
            (0 if deep or not vectors else 1, "swapped buffers"),
            (0 if deep or not vectors else 1, "rotated buffers"),
            (2 if jumps else 0, "break"),
            (2 if jumps and scope.loops[-1].may_continue else 0, "continue"),
            (1 if jumps else 0, "early return"),
        ]
        form = self.choose(options)
        made = {
            "store": self.store,
            "scalar": self.scalar,
            "if": self.branch,
            "for": self.for_range,
            "while": self.while_loop,
            "over arrays": self.over_arrays,
            "local": self.local_array,
            "view": self.view_statement,
            "whole": self.whole_statement,
            "call": self.call_statement,
            "integer": self.integer_statement,
        }.get(form)
        if made is not None:
            done = made(scope)
            if done is False:
                self.simple_statement(scope)
            return
        if self.special_statement(form, scope):
            self.use(form)
        else:
            self.simple_statement(scope)

    # ---------------------------------------------------------------- assignments

    def store(self, scope: Scope) -> bool:
        arrays = [a for r in (1, 2, 3) for a in scope.of_rank(r, write=True)]
        if not arrays:
            self.scalar(scope)
            return True
        array = self.pick(*arrays)
        target = self.element(scope, array)
        self.augmented(target, scope, "=", reads=True)
        if array.parameter:
            self.use("array in and out")
        return True

    def augmented(self, target: str, scope: Scope, plain: str, *, reads: bool) -> None:
        """An assignment to a float that has a value, by any operator."""
        op = self.choose(
            [
                (8, plain),
                (8, "+="),
                (3, "-="),
                (3, "*="),
                (2, "/="),
                (1, "//="),
                (1, "%="),
                (1, "**="),
            ]
        )
        value = self.value(scope)
        match op:
            case "/=":
                value = f"1.5 + {value} ** 2"
            case "//=":
                value = self.pick("0.6", "0.8")
            case "%=":
                value = self.pick("0.9", "1.3", f"1.2 + abs({value})")
            case "**=":
                value = "2"
            case "*=" if self.chance(70):
                value = f"0.5 * {value}"
            case "=" if reads and self.chance(35):
                self.use("overwrite of what was read")
                value = self.pick(
                    f"{target} * {value}",
                    f"0.5 * {target} + {value}",
                    f"{target} * {target} - {value}",
                    f"math.sin({target}) + {value}",
                )
        if op != "=":
            self.use(op)
        self.emit(f"{target} {op} {value}")

    def scalar(self, scope: Scope) -> bool:
        names = scope.assignable()
        if names and self.chance(65):
            t = self.pick(*names)
            if self.chance(30):
                value = f"0.7 * {t} * {self.value(scope, 1)} + {self.value(scope)}"
                self.emit(f"{t} = {value}")
            else:
                self.augmented(t, scope, "=", reads=True)
            return True
        t = self.name("t")
        if self.want("integer start of a float", 8):
            self.emit(f"{t} = {self.pick(0, 1)}")
            scope.floats.append(t)
            self.emit(f"{t} = {t} + {self.value(scope, 1)}")
            self.use("integer start of a float")
            return True
        self.emit(f"{t} = {self.value(scope)}")
        scope.floats.append(t)
        return True

    def integer_statement(self, scope: Scope) -> bool:
        """A new integer, or the next value of one that is carried through loops."""
        pulled = self.pull("integer") > 1
        tables = [a for a in self.tables(scope) if a.writable]
        counting = "integer array element as counter"
        if not tables and counting in self.themes:
            self.integer_array(self.name("v"), scope)
            return True
        if tables and self.chance(90 if counting in self.themes else 45):
            table = self.pick(*tables)
            at = self.element(scope, table)
            span = table.hi + 1
            self.emit(
                self.pick(
                    f"{at} = ({at} + 1) % {span}",
                    f"{at} = min({at} + 1, {table.hi})",
                    f"{at} = ({self.integer(scope).text}) % {span}",
                )
            )
            self.use("integer array written", "integer array element as counter")
            if table.parameter:
                self.use("integer array in and out")
            return True
        if scope.counters and self.chance(90 if pulled else 60):
            k = self.pick(*scope.counters)
            lo, hi = scope.counters[k]
            self.counted(k, hi, scope)
            return True
        k = self.name("k")
        if pulled or self.chance(45):
            hi = self.pick(2, 3, 7)
            self.emit(f"{k} = {self.rng.randint(0, 1)}")
            scope.counters[k] = (0, hi)
            scope.integers.append(Int(k, 0, hi, atom=True))
            self.use("carried integer")
            if pulled:
                self.counted(k, hi, scope)
            return True
        e = self.integer(scope)
        self.emit(f"{k} = {e.text}")
        scope.integers.append(Int(k, e.lo, e.hi, atom=True))
        return True

    def counted(self, k: str, hi: int, scope: Scope) -> None:
        """The next value of an integer that stays within 0..hi, 2**p - 1."""
        e = self.integer(scope)
        form = self.choose(
            [
                (4, "modulo"),
                (3, "clamped"),
                (4, "guarded"),
                (1, "&="),
                (1, "|="),
                (1, "^="),
                (1, "<<="),
                (1, ">>="),
                (2, "augmented integer"),
            ]
        )
        mask = 3 if hi >= 3 else 1
        match form:
            case "modulo":
                self.emit(f"{k} = ({k} + {e.inside()}) % {hi + 1}")
            case "clamped":
                self.emit(f"{k} = min({k} + 1, {hi})")
            case "guarded":
                self.emit(f"if {k} < {hi}:")
                self.emit(f"    {k} += 1")
                self.use("augmented integer")
            case "&=":
                self.emit(f"{k} &= {self.pick(mask, 1)}")
            case "|=":
                self.emit(f"{k} |= 1" if hi != 2 else f"{k} |= 0")
            case "^=":
                self.emit(f"{k} ^= 1" if hi != 2 else f"{k} ^= 0")
            case "<<=":
                self.emit(f"{k} <<= 1")
                self.emit(f"{k} %= {hi + 1}")
            case ">>=":
                self.emit(f"{k} >>= 1")
            case _:
                op = self.pick("-=", "//=", "%=", "*=")
                amount = {"-=": "min", "//=": "2", "%=": str(hi + 1), "*=": "0"}[op]
                amount = f"min({k}, 1)" if op == "-=" else amount
                self.emit(f"{k} {op} {amount}")
        if form not in ("modulo", "clamped", "guarded"):
            self.use(form)

    # ---------------------------------------------------------------- branches

    def branch(self, scope: Scope) -> bool:
        self.emit(f"if {self.condition(scope)}:")
        self.use("if")
        self.nested_block(scope.inner(maybe=True), 2)
        if self.want("elif", 20):
            self.emit(f"elif {self.condition(scope)}:")
            self.nested_block(scope.inner(maybe=True), 2)
            self.use("elif")
        if self.want("else", 40):
            self.emit("else:")
            self.nested_block(scope.inner(maybe=True), 2)
            self.use("else")
        return True

    def nested_block(self, scope: Scope, most: int) -> None:
        self.indent += 1
        self.block(scope, most)
        self.indent -= 1

    # ---------------------------------------------------------------- loops

    def for_range(self, scope: Scope) -> bool:
        index = self.name("i")
        form = self.choose(
            [
                (10, "for"),
                (3, "range with start"),
                (2, "range with step"),
                (3, "range with negative step"),
                (2, "reversed range"),
                (1, "prange"),
                (4 if scope.indices else 0, "triangular bound"),
                (2 if self.tables(scope) else 0, "bound from data"),
                (2 if "ptr" in scope.arrays else 0, "CSR rows"),
                (1 if scope.integers else 0, "checked loop bound"),
            ]
        )
        self.use(form, "for")
        if form == "CSR rows":
            return self.sparse(scope)
        n = self.bound(scope)
        lo, hi, trips = 0, n.hi - 1, n.hi
        match form:
            case "for":
                text = f"range({n.text})"
            case "range with start":
                start = self.pick(*(Int("1", 1, 1), *scope.indices[-1:]))
                text, lo = f"range({start.text}, {n.text})", start.lo
            case "range with step":
                step, lo = self.pick(2, 3), self.pick(0, 1)
                text, trips = f"range({lo}, {n.text}, {step})", n.hi // step + 1
            case "range with negative step":
                if self.chance(60):
                    text = f"range({n.plus(-1).text}, -1, -1)"
                else:
                    text = f"range({n.text}, 0, -{self.pick(1, 2)})"
                    lo, hi = 1, n.hi
            case "reversed range":
                text = f"reversed(range({n.text}))"
                if self.chance(30):
                    text = f"reversed(range(1, {n.text}, 2))"
            case "prange":
                self.header.setdefault("numba", "from numba import prange")
                text = f"prange({n.text})"
            case "triangular bound":
                o = scope.indices[-1]
                choice = self.rng.randrange(4)
                if choice == 0:
                    text, hi = f"range({o.text})", o.hi - 1
                elif choice == 1:
                    text, hi = f"range({o.text} + 1)", o.hi
                elif choice == 2:
                    text, lo = f"range({o.text} + 1, {n.text})", o.lo + 1
                else:
                    text = f"range(min({n.text}, {o.text} + 2))"
                    hi = min(n.hi, o.hi + 2) - 1
                trips = max(0, hi - min(lo, 0) + 1)
            case "bound from data":
                table = self.pick(*self.tables(scope))
                text = f"range({self.element(scope, table)})"
                hi, trips = table.hi - 1, table.hi
            case _:
                k = self.pick(*scope.integers)
                text = f"range(max(0, min({k.text}, 4)))"
                hi, trips = max(0, min(k.hi, 4)) - 1, 4
        if scope.trips * max(1, trips) > MOST_TRIPS:
            self.store(scope)
            return True
        self.emit(f"for {index} in {text}:")
        inner = scope.inner(maybe=True)
        inner.indices.append(Int(index, lo, max(lo, hi), atom=True))
        body_known = set(scope.floats)
        loop = self.loop_body(inner, trips, index=index)
        sure = not loop.jumped and form in ("for", "reversed range") and n.lo > 0
        if sure and "1," not in text:
            self.after_loop(scope, inner, index, lo, hi, body_known)
        self.loop_else(scope, loop, "for else")
        return True

    def loop_body(
        self, inner: Scope, trips: int, *, may_continue: bool = True, index: str = ""
    ) -> Loop:
        loop = Loop(trips, may_continue, index=index)
        inner.loops.append(loop)
        self.nested_block(inner, 3)
        return loop

    def after_loop(
        self, scope: Scope, inner: Scope, index: str, lo: int, hi: int, known: set[str]
    ) -> None:
        """What the loop leaves behind may be read after it."""
        if scope.maybe and scope.loops and self.chance(50):
            return
        if self.want("loop variable after the loop", 10) and hi >= lo:
            scope.integers.append(Int(index, lo, hi, atom=True))
            self.use("loop variable after the loop")
        new = [f for f in inner.floats if f not in known]
        if new and self.want("scalar of a loop after it", 25):
            scope.floats.append(self.pick(*new))
            self.use("scalar of a loop after it")

    def loop_else(self, scope: Scope, loop: Loop, production: str) -> None:
        if self.want(production, 30 if loop.jumped else 8):
            self.emit("else:")
            self.nested_block(scope.inner(maybe=True), 2)
            self.use(production)

    def bound(self, scope: Scope) -> Int:
        """How far a loop runs: the size of an axis in several spellings, a literal."""
        dims = [d for a in scope.arrays.values() for d in a.shape]
        options = [Int("3", 3, 3, atom=True), Int("2", 2, 2, atom=True)]
        for d in dims:
            if d.hi <= 9:
                options += [d.int()] * 2
                if d.lo > 1:
                    options.append(Int(f"{d.text} - 1", d.lo - 1, d.hi - 1))
        sizes = [k for k in scope.integers if k.lo == k.hi and 0 < k.lo <= 6]
        return self.pick(*options, *sizes)

    def sparse(self, scope: Scope) -> bool:
        ptr, col = scope.arrays["ptr"], scope.arrays["col"]
        i, p = self.name("i"), self.name("p")
        if scope.trips * 20 > MOST_TRIPS:
            self.store(scope)
            return True
        rows = ptr.shape[0].lo - 1
        self.emit(f"for {i} in range(ptr.shape[0] - 1):")
        inner = scope.inner(maybe=True)
        inner.indices.append(Int(i, 0, max(0, rows - 1), atom=True))
        inner.loops.append(Loop(rows))
        self.indent += 1
        t = self.name("t")
        self.emit(f"{t} = 0.0")
        inner.floats.append(t)
        self.emit(f"for {p} in range(ptr[{i}], ptr[{i} + 1]):")
        deepest = inner.inner(maybe=True)
        entries = col.shape[0].lo
        deepest.indices.append(Int(p, 0, max(0, entries - 1), atom=True))
        deepest.integers.append(Int(f"col[{p}]", col.lo, col.hi, atom=True))
        self.loop_body(deepest, 3)
        if self.chance(70):
            self.simple_statement(inner)
        self.indent -= 1
        return True

    def while_loop(self, scope: Scope) -> bool:
        form = self.choose(
            [
                (4, "while counting"),
                (4, "while on data"),
                (2, "while shrinking an integer"),
                (3, "while True"),
                (2, "while not done"),
            ]
        )
        if not form or scope.trips * 5 > MOST_TRIPS:
            return False
        self.use(form)
        inner = scope.inner(maybe=True)
        k = self.name("k")
        first = self.chance(50)
        match form:
            case "while shrinking an integer":
                self.emit(f"{k} = {self.rng.randint(1, 9)}")
                self.emit(f"while {k} > 0:")
                step = self.pick(f"{k} //= 2", f"{k} = {k} >> 1", f"{k} -= 2")
                inner.integers.append(Int(k, -1, 9, atom=True))
            case "while on data":
                step = self.data_loop(k, scope, inner)
            case "while not done":
                most, done = self.rng.randint(1, 4), self.name("done")
                self.emit(f"{k} = 0")
                self.emit(f"{done} = False")
                self.emit(f"while not {done}:")
                inner.integers.append(Int(k, 0, most, atom=True))
                # A test may fail to be one of the counted ones: then it is `or`.
                test = self.comparison(inner) if self.chance(60) else "False"
                step = f"{k} += 1\n" + "    " * (self.indent + 1)
                step += f"{done} = {k} >= {most} or {test}"
                first = True
            case _:
                most = self.rng.randint(1, 4)
                self.emit(f"{k} = 0")
                if form == "while counting":
                    tests = [f"{k} < {most}"]
                    if self.chance(50):
                        tests.append(f"{k} < {most} and {self.comparison(scope)}")
                    self.emit(f"while {self.pick(*tests)}:")
                else:
                    self.emit("while True:")
                step = f"{k} += 1"
                inner.integers.append(Int(k, 0, most, atom=True))
        self.indent += 1
        if form == "while True":
            if self.chance(50):
                self.emit(f"if {k} >= {most} or {self.comparison(inner)}:")
            else:
                self.emit(f"if {k} >= {most}:")
            self.emit("    break")
            self.use("break")
            first = True
        if first:
            self.emit(step)
        self.indent -= 1
        loop = self.loop_body(inner, 5, may_continue=first)
        loop.jumped = loop.jumped or form == "while True"
        if not first:
            self.emit(f"    {step}")
        if form != "while True":
            self.loop_else(scope, loop, "while else")
        return True

    def data_loop(self, t: str, scope: Scope, inner: Scope) -> str:
        """``while`` on a float that shrinks; gives the statement that shrinks it."""
        x = self.name("x")
        self.emit(
            f"{x} = {self.pick('1.0 + abs', '0.3 + np.abs')}({self.value(scope, 1)})"
        )
        extra = ""
        if self.chance(40):
            self.emit(f"{t} = 0")
            extra = f" and {t} < 4"
            inner.integers.append(Int(t, 0, 4, atom=True))
            scope.integers.append(Int(t, 0, 5, atom=True))
        test = self.pick(f"{x} > 0.4", f"{x} * {x} > 0.2", f"abs({x} - 0.1) > 0.25")
        self.emit(f"while {test}{extra}:")
        inner.floats.append(x)
        inner.fixed.add(x)
        scope.floats.append(x)
        scope.fixed.add(x)
        factor = self.pick("0.5", "0.6", "0.4 * math.cos(" + x + ")")
        step = f"{x} = {factor} * {x}"
        if extra:
            step += f"; {t} += 1"
        return step.replace("; ", "\n" + "    " * (self.indent + 1))

    def over_arrays(self, scope: Scope) -> bool:
        vectors = scope.of_rank(1)
        form = self.choose(
            [
                (3, "enumerate"),
                (3, "zip"),
                (3, "direct iteration"),
                (3, "rows of a matrix"),
            ]
        )
        if not form:
            return False
        inner = scope.inner(maybe=True)
        x, i = self.name("x"), self.name("i")
        if form == "rows of a matrix":
            matrices = scope.of_rank(2)
            if not matrices:
                return False
            a = self.pick(*matrices)
            r = self.name("r")
            text = f"for {r} in {a.name}:"
            if self.chance(30):
                text = f"for {i}, {r} in enumerate({a.name}):"
                inner.indices.append(Int(i, 0, a.shape[0].hi - 1, atom=True))
            dim = a.shape[1]
            shape = (type(dim)(f"{r}.shape[0]", dim.lo, dim.hi, dim.key),)
            inner.arrays[r] = Array(r, shape, a.dtype, a.writable, root=a.base)
        else:
            if not vectors:
                return False
            a, b = self.pick(*vectors), self.pick(*vectors)
            last = a.shape[0].hi - 1
            if form == "enumerate":
                text = f"for {i}, {x} in enumerate({a.name}):"
                if self.chance(25):
                    text = f"for {i}, {x} in enumerate({a.name}, 1):"
                    inner.indices.append(Int(i, 1, last + 1, atom=True))
                else:
                    inner.indices.append(Int(i, 0, last, atom=True))
                inner.floats.append(x)
            elif form == "zip":
                y = self.name("x")
                text = f"for {x}, {y} in zip({a.name}, {b.name}):"
                if self.chance(30):
                    text = f"for {i}, ({x}, {y}) in enumerate(zip({a.name}, {b.name})):"
                    inner.indices.append(Int(i, 0, last, atom=True))
                inner.floats += [x, y]
            else:
                text = f"for {x} in {a.name}:"
                inner.floats.append(x)
        if scope.trips * a.shape[0].hi > MOST_TRIPS:
            return False
        self.emit(text)
        loop = self.loop_body(inner, a.shape[0].hi)
        self.loop_else(scope, loop, "for else")
        self.use(form)
        return True

    # ---------------------------------------------------------------- the rest

    def special_statement(self, form: str, scope: Scope) -> bool:
        match form:
            case "break" | "continue":
                scope.loops[-1].jumped = True
                self.emit(f"if {self.condition(scope)}:")
                self.emit(f"    {form}")
                return True
            case "early return":
                if not self.may_return(scope):
                    return False
                for loop in scope.loops:
                    loop.jumped = True
                self.emit(f"if {self.condition(scope)}:")
                self.emit(f"    {self.result(scope)}")
                if scope.depth > 1:
                    self.use("early return in nested loops")
                self.use("returns on several paths")
                return True
            case "tuple assignment":
                return self.tuple_assignment(scope)
            case "swap of scalars":
                names = scope.assignable()
                if len(names) < 2:
                    return False
                left, right = self.rng.sample(names, 2)
                self.emit(f"{left}, {right} = {right}, 0.5 * {left}")
                return True
            case "swap of elements":
                arrays = [a for r in (1, 2) for a in scope.of_rank(r, write=True)]
                if not arrays:
                    return False
                a = self.pick(*arrays)
                left, right = self.element(scope, a), self.element(scope, a)
                self.emit(f"{left}, {right} = {right}, {left}")
                return True
            case "several targets":
                t, value = self.name("t"), self.value(scope)
                arrays = [a for r in (1, 2) for a in scope.of_rank(r, write=True)]
                other = self.name("t")
                if arrays and self.chance(50):
                    other = self.element(scope, self.pick(*arrays))
                self.emit(f"{t} = {other} = 1.0 * {value}")
                scope.floats.append(t)
                return True
            case "annotated assignment":
                t = self.name("t")
                self.emit(f"{t}: float = {self.value(scope)}")
                scope.floats.append(t)
                return True
            case "assert":
                text = self.pick(
                    f"abs({self.value(scope, 1)}) < 1e6",
                    f"{self.condition(scope)} or True",
                    "1 < 2",
                )
                message = ', "out of range"' if self.chance(40) else ""
                self.emit(f"assert {text}{message}")
                return True
            case "raise":
                self.raising(scope)
                return True
            case "pass":
                self.emit(f"if {self.condition(scope)}:")
                self.emit("    pass")
                if self.chance(50):
                    self.emit("else:")
                    self.nested_block(scope.inner(maybe=True), 1)
                return True
            case "bound on one path":
                return self.partly_bound(scope)
            case "truth value in a name":
                flag = self.name("flag")
                self.emit(f"{flag} = {self.condition(scope)}")
                scope.truths.append(flag)
                return True
            case "loop variable assigned":
                return self.index_assigned(scope)
            case "in-place time step":
                return self.time_step(scope)
            case "swapped buffers" | "rotated buffers":
                return self.buffers(form, scope)
            case _:
                raise AssertionError(form)

    def index_assigned(self, scope: Scope) -> bool:
        """The loop variable gets another value for the rest of its iteration."""
        index = scope.loops[-1].index
        known = [i for i in scope.indices if i.text == index and i.lo == 0]
        if not known:
            return False
        self.emit(f"{index} = {self.pick(f'{index} // 2', f'max({index} - 1, 0)')}")
        scope.loops[-1].jumped = True
        return True

    def tuple_assignment(self, scope: Scope) -> bool:
        a, b = self.name("t"), self.name("t")
        if self.chance(30) and scope.floats:
            c = self.name("t")
            self.emit(
                f"{a}, {b}, {c} = {self.value(scope, 1)}, {self.value(scope, 0)}, "
                f"{self.pick(*scope.floats)}"
            )
            scope.floats.append(c)
        else:
            self.emit(f"{a}, {b} = {self.value(scope, 1)}, {self.value(scope, 1)}")
        scope.floats += [a, b]
        return True

    def raising(self, scope: Scope) -> None:
        """A `raise` that no run comes to: alone, or on the last of several paths."""
        error = self.pick('ValueError("large")', "ArithmeticError", "KeyError(1, None)")
        large = f"abs({self.value(scope, 1)}) >= 1e6"
        if self.chance(50):
            self.emit(f"if {large}:")
            self.emit(f"    raise {error}")
            return
        first, one = self.condition(scope), self.value(scope)
        other, t = self.value(scope), self.name("t")
        if self.chance(50):
            self.emit(f"if {first}:")
            self.emit(f"    {t} = {one}")
            self.emit(f"elif not {large}:")
            self.emit(f"    {t} = {other}")
            self.emit("else:")
            self.emit(f"    raise {error}")
        else:
            self.emit(f"if {large}:")
            self.emit(f"    raise {error}")
            self.emit(f"elif {first}:")
            self.emit(f"    {t} = 1.0 * {one}")
            self.emit("else:")
            self.emit(f"    {t} = 1.0 * {other}")
        scope.floats.append(t)

    def partly_bound(self, scope: Scope) -> bool:
        """A name that only some paths bind, read where it is bound."""
        t, flag = self.name("t"), self.name("k")
        self.emit(f"{flag} = 1 if {self.condition(scope)} else 0")
        self.emit(f"if {flag} > 0:")
        self.emit(f"    {t} = {self.value(scope, 1)}")
        self.emit(f"if {flag} > 0:")
        inner = scope.inner(maybe=True)
        inner.floats = [t]
        self.nested_block(inner, 2)
        return True

    def time_step(self, scope: Scope) -> bool:
        vectors = [a for a in scope.of_rank(1, write=True) if a.shape[0].lo > 2]
        if not vectors or scope.trips * 3 * vectors[0].shape[0].hi > MOST_TRIPS:
            return False
        u = self.pick(*vectors).name
        t, i = self.name("i"), self.name("i")
        scale = self.value(scope, 0)
        self.emit(f"for {t} in range({self.pick('2', '3')}):")
        span = self.pick(f"1, len({u}) - 1", f"1, {u}.shape[0] - 1")
        self.emit(f"    for {i} in range({span}):")
        body = self.pick(
            f"{u}[{i}] = {u}[{i}] + 0.2 * ({u}[{i} - 1] - 2 * {u}[{i}] + {u}[{i} + 1])",
            f"{u}[{i}] = 0.5 * ({u}[{i} - 1] + {u}[{i} + 1]) + 0.1 * {u}[{i}] ** 2",
            f"{u}[{i}] += 0.3 * {u}[{i}] * ({u}[{i} + 1] - {u}[{i} - 1]) * {scale}",
        )
        self.emit(f"        {body}")
        return True

    def buffers(self, form: str, scope: Scope) -> bool:
        """Time steps from one buffer into another, which change names after each."""
        wanted = 2 if form == "swapped buffers" else 3
        vectors = [
            a for a in scope.of_rank(1) if not a.root and a.shape[0].lo == a.shape[0].hi
        ]
        if not vectors:
            return False
        a = self.pick(*vectors)
        if scope.trips * 3 * a.shape[0].hi > MOST_TRIPS:
            return False
        same = [
            v
            for v in vectors
            if v.writable and v.dtype == a.dtype and v.shape[0].key == a.shape[0].key
        ]
        names = [v.name for v in same][:wanted]
        # A name that stands for one array or another, as the path decides, is refused.
        if scope.loops or scope.maybe or self.chance(50):
            names = []
        while len(names) < wanted:
            v = self.name("v")
            self.emit(
                f"{v} = {self.pick(f'{a.name}.copy()', f'np.zeros_like({a.name})')}"
            )
            shape = (
                type(a.shape[0])(
                    f"{v}.shape[0]", a.shape[0].lo, a.shape[0].hi, a.shape[0].key
                ),
            )
            scope.arrays[v] = Array(v, shape, a.dtype)
            names.append(v)
        t, i = self.name("i"), self.name("i")
        old, new = names[0], names[-1]
        self.emit(f"for {t} in range({self.pick('2', '3', '1')}):")
        if self.chance(30) and a.shape[0].lo > 2:
            self.emit(f"    {new}[1:-1] = 0.4 * ({old}[2:] + {old}[:-2])")
        else:
            self.emit(f"    for {i} in range({old}.shape[0]):")
            inner = scope.inner(maybe=True)
            inner.indices += [
                Int(t, 0, 2, atom=True),
                Int(i, 0, a.shape[0].hi - 1, atom=True),
            ]
            inner.loops += [Loop(3), Loop(a.shape[0].hi)]
            source = {k: v for k, v in inner.arrays.items() if k in (*names, a.name)}
            inner.arrays = source
            right = (
                f"{old}[{i}] * {self.value(inner, 1)} + 0.3 * {old}[max({i} - 1, 0)]"
            )
            if wanted == 3:
                right = f"{right} - 0.2 * {names[1]}[{i}]"
            self.emit(f"        {new}[{i}] = {right}")
        if wanted == 2:
            self.emit(f"    {old}, {new} = {new}, {old}")
        else:
            x, y, z = names
            self.emit(f"    {x}, {y}, {z} = {y}, {z}, {x}")
        return True

    # ---------------------------------------------------------------- returning

    def may_return(self, scope: Scope) -> bool:
        if self.plan == "local array":
            return self.plan_array in scope.arrays
        # Views of the caller's arrays are returned at the end only, or refused.
        return self.plan != "view"

    def result(self, scope: Scope) -> str:
        """``return ...`` as this function always returns."""
        match self.plan:
            case "nothing":
                return "return"
            case "number":
                return f"return 1.0 * {self.value(scope, 1)}"
            case "view" | "expression":
                return f"return {self.plan_array}"
            case "mixed":
                return f"return 1.0 * {self.value(scope, 1)}, {self.plan_array}"
            case "tuple":
                return (
                    f"return 1.0 * {self.value(scope, 1)}, 0.5 * {self.value(scope, 0)}"
                )
            case _:
                return f"return {self.plan_array}"
