"""Statements: whole arrays, loops over elements, names that change places, control."""

from __future__ import annotations

from dataclasses import replace

from tests.tools.generator.programs.kinds import (
    DOUBLE,
    WEAK,
    Array,
    Index,
    Result,
    Scope,
    Shape,
    fits,
)
from tests.tools.generator.programs.values import Values

ARRAYS = (
    "u v w p q a b x y z new old tmp r d g work out cur prev acc flow grid h1 h2 k1 k2 "
    "k3 lap res half state field buf e0 e1 e2 e3 e4 e5"
).split()
NUMBERS = "s t c total e norm m scale gain val q1 q2 best mean err s1 s2 s3 s4".split()
OUTER, INNER = ("t", "step", "it", "k"), ("i", "j", "l")


class Statements(Values):
    """The lines of one function."""

    plan = "nothing"
    # The names that every `return` of arrays gives, if that was decided before.
    plan_names: tuple[str, ...] = ()
    budget = 6

    lines: list[str]
    # Names of indices, which may be used again by a later loop.
    turning: set[str]
    born_inside: set[str]

    # ---------------------------------------------------------------- text

    def emit(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def fresh(self, pool: list[str] | tuple[str, ...]) -> str:
        """A name that this function does not use yet."""
        free = [n for n in pool if n not in self.taken]
        first = free[: max(3, len(free) // 2)]
        name = self.pick(*first) if first else f"n{len(self.taken)}"
        self.taken.add(name)
        return name

    def bound(self, scope: Scope, shape: Shape, dtype: str = DOUBLE) -> Array:
        """A new name for an array."""
        made = Array(self.fresh(ARRAYS), shape, dtype)
        self.made_at(made.name)
        return made

    def made_at(self, name: str) -> None:
        """Note whether a name is first bound in a loop or a branch.

        What follows an early `return` is a branch. An array that is made there does not
        change places with one of the caller, which gets its contents back at the end.
        """
        if self.indent > 1 or self.left:
            self.born_inside.add(name)

    def writable(self, scope: Scope) -> Array | None:
        """An array that may be written here."""
        found = [a for a in scope.arrays.values() if self.may("write", a)]
        return self.pick(*found) if found else None

    def block(self, scope: Scope, most: int) -> None:
        """Up to so many statements, one at least."""
        before = len(self.lines)
        for _ in range(self.rng.randint(1, most)):
            if self.budget > 0:
                self.statement(scope)
        if len(self.lines) == before:
            self.simple(scope)

    # ---------------------------------------------------------------- statements

    def statement(self, scope: Scope) -> None:
        self.budget -= 1
        multi = [h for h in scope.helpers.values() if not self.gives(h, "number")]
        nest = scope.heavy < 2
        kind = self.weighted(
            [
                (5, "temporary"),
                (3, "new array"),
                (2, "second name"),
                (5, "rebound"),
                (5, "augmented"),
                (4, "stored"),
                (8 if nest else 0, "nest"),
                (8, "swap"),
                (14 if multi else 0, "call"),
                (5, "number"),
                (8 if scope.loops < 2 and nest else 0, "loop"),
                (6, "if"),
                (2 if scope.loops < 2 and nest else 0, "while"),
                (4 if scope.loops else 0, "jump"),
                (3 if self.plan != "nothing" else 1, "return"),
                (5 if nest and not scope.loops else 0, "buffers"),
                (2 if not scope.loops else 0, "inner function"),
            ]
        )
        done = {
            "temporary": self.temporary,
            "new array": self.new_array,
            "second name": self.second_name,
            "rebound": self.rebound,
            "augmented": self.augmented,
            "stored": self.stored,
            "nest": self.nest,
            "swap": self.swap,
            "call": self.call,
            "number": self.a_number,
            "loop": self.loop,
            "if": self.branch,
            "while": self.while_loop,
            "jump": self.jump,
            "return": self.early_return,
            "buffers": self.buffers,
            "inner function": self.inner_function,
        }[kind](scope)
        if done:
            self.use(kind)
        else:
            self.simple(scope)

    def simple(self, scope: Scope) -> None:
        if scope.arrays and self.chance(50) and self.augmented(scope):
            return
        self.a_number(scope)

    def temporary(self, scope: Scope) -> bool:
        if not scope.arrays:
            return False
        kind = self.pick(*scope.arrays.values()).dtype
        shape = self.some_shape(scope)
        text = self.array(scope, shape, kind, self.pick(1, 1, 2))
        if not text or text.isidentifier():
            return False
        made = self.bound(scope, shape, kind)
        if text.endswith("]") and "(" not in text and " " not in text:
            base = text.split("[")[0]
            if not self.may("second", scope.arrays[base]):
                return False
            self.join(made.name, base)
            self.second |= {made.name, base}
            self.use("view")
        self.emit(f"{made.name} = {text}")
        scope.arrays[made.name] = made
        return True

    def new_array(self, scope: Scope) -> bool:
        if not scope.arrays:
            return False
        like = self.pick(*scope.arrays.values())
        made = self.bound(scope, like.shape, like.dtype)
        copied = self.pick(
            f"{like.name}.copy()", f"{like.name}.copy()", f"np.copy({like.name})"
        )
        form = self.pick("copy", "copy", "zeros_like", "empty_like", "sizes", "ones")
        if form == "copy":
            self.emit(f"{made.name} = {copied}")
        elif form == "empty_like":
            self.emit(f"{made.name} = np.empty_like({like.name})")
            self.fill(made, scope)
        elif form == "sizes":
            text = self.shape_text(like.shape, scope)
            if self.chance(30):
                text = f"{like.name}.shape"
            if not text:
                return False
            made = replace(made, dtype=DOUBLE)
            if like.dtype != DOUBLE and self.chance(60):
                made = replace(made, dtype=like.dtype)
                text += f", dtype={like.name}.dtype"
            make = self.pick("zeros", "zeros", "ones", "full")
            if make == "full":
                text = text.replace(", dtype", ", 0.5, dtype")
                text = text if "0.5" in text else f"{text}, 0.5"
            self.emit(f"{made.name} = np.{make}({text})")
        else:
            make = self.pick("zeros_like", "zeros_like", "ones_like")
            self.emit(f"{made.name} = np.{make}({like.name})")
        scope.arrays[made.name] = made
        return True

    def fill(self, made: Array, scope: Scope) -> None:
        """Write every element."""
        everywhere = scope.inner()
        if self.chance(45):
            text = self.array(scope, made.shape, made.dtype, 1) or "0.5"
            self.emit(f"{made.name}[{', '.join([':'] * len(made.shape))}] = {text}")
            return
        here = self.opened(made, everywhere, whole=True)
        if here is None:
            self.emit(f"{made.name}[:] = 0.25")
            return
        at, depth = here
        self.emit(f"{made.name}[{at}] = {self.number(everywhere, 1, made.dtype)}")
        self.indent -= depth

    def second_name(self, scope: Scope) -> bool:
        if not scope.arrays:
            return False
        like = self.pick(*scope.arrays.values())
        if not self.may("second", like):
            return False
        made = self.bound(scope, like.shape, like.dtype)
        self.second |= {made.name, like.name}
        if self.chance(50) and len(like.shape) > 1:
            made = replace(made, shape=like.shape[1:])
            self.emit(f"{made.name} = {like.name}[{self.pick('0', '-1', '0')}]")
            self.use("row view")
        else:
            self.emit(f"{made.name} = {like.name}")
        self.join(made.name, like.name)
        scope.arrays[made.name] = made
        return True

    def rebound(self, scope: Scope) -> bool:
        free = [a for a in scope.arrays.values() if not a.fixed]
        if not free:
            return False
        a = self.pick(*free)
        text = self.array(scope, a.shape, a.dtype, self.pick(1, 1, 2))
        if not text or text == a.name or not self.may("bind", a):
            return False
        if text.isidentifier() or (text.endswith("]") and "(" not in text):
            text = f"1.0 * {text}"
        if self.indent > 1:
            self.bound_inside.add(a.name)
        else:
            self.detached.add(a.name)
        self.emit(f"{a.name} = {text}")
        return True

    def augmented(self, scope: Scope) -> bool:
        if not scope.arrays:
            return False
        a = self.writable(scope)
        if a is None:
            return False
        op = self.pick("+=", "-=", "*=", "+=")
        shape, target = a.shape, a.name
        if self.chance(40):
            shape = tuple(s.plus(-self.pick(0, 2, 1)) for s in shape)
            target = self.pick(*self.sliced(a, shape))
        text = self.array(scope, shape, a.dtype, self.pick(0, 1, 1))
        if not text or self.chance(15):
            text = self.number(scope, 0, a.dtype)
        if op == "*=":
            text = self.scale(scope, a.dtype)
        elif target != a.name and a.name in text and text.isidentifier():
            text = f"0.5 * {text}"
        if f"{a.name}[" in text and "[" in target:
            text = f"({text}) * 0.5"
        if a.fixed and target == a.name:
            target = f"{a.name}[:]"
        self.changed.add(self.root(a.name))
        self.emit(f"{target} {op} {text}")
        return True

    def stored(self, scope: Scope) -> bool:
        if not scope.arrays:
            return False
        a = self.writable(scope)
        if a is None:
            return False
        self.changed.add(self.root(a.name))
        if self.chance(30):
            parts = [self.pick("0", "-1") for _ in a.shape]
            text = self.number(scope, 1, a.dtype)
            op = self.pick("=", "=", "+=")
            self.emit(f"{a.name}[{', '.join(parts)}] {op} {text}")
            return True
        shape = a.shape
        if self.chance(60):
            shape = tuple(s.plus(-self.pick(0, 1, 2)) for s in shape)
        target = self.pick(*self.sliced(a, shape))
        if target == a.name:
            target = f"{a.name}[:]"
        text = self.array(scope, shape, a.dtype, self.pick(1, 1, 2))
        if not text:
            return False
        if text.isidentifier() or text[-1:] == "]":
            text = f"0.5 * {text}"
        self.emit(f"{target} = {text}")
        return True

    # ---------------------------------------------------------------- loops

    def opened(
        self, a: Array, scope: Scope, whole: bool = False
    ) -> tuple[str, int] | None:
        """Loops over the elements of an array: its subscripts, and how many loops.

        `scope` becomes the inside of the innermost one.
        """
        names: list[str] = []
        indices: list[Index] = []
        heads: list[str] = []
        busy = {i.name for i in scope.indices} | (self.taken - self.turning)
        pool = [n for n in self.pick(("i", "j", "l"), ("y", "x", "z")) if n not in busy]
        pool += [n for n in ("i2", "j2", "l2", "i3", "j3", "l3") if n not in busy]
        for size in a.shape:
            low, high = (0, 0) if whole else self.pick((0, 0), (1, 1), (1, 0), (0, 1))
            end = self.extent(size, scope)
            if not end:
                return None
            name = pool.pop(0)
            if high:
                end = f"{end} - {high}"
            head = f"range({low}, {end})" if low else f"range({end})"
            if self.chance(8):
                head = f"reversed({head})"
            elif self.chance(5):
                head = f"range({end} - 1, {low - 1}, -1)"
            heads.append(f"for {name} in {head}:")
            names.append(name)
            indices.append(Index(name, low, size.plus(-high)))
        for head in heads:
            self.emit(head)
            self.indent += 1
        self.taken.update(names)
        self.turning.update(names)
        scope.indices += indices
        scope.heavy += 1
        return ", ".join(names), len(names)

    def nest(self, scope: Scope) -> bool:
        """A loop nest over the elements of an array, which writes it or sums it up."""
        if not scope.arrays:
            return False
        a = self.writable(scope)
        if a is None:
            return False
        total = ""
        before = len(self.lines)
        if self.chance(30):
            total = self.fresh(NUMBERS)
            self.emit(f"{total} = {self.pick('0.0', '0.1', '0.0')}")
        inner = scope.inner()
        opened = self.opened(a, inner)
        if opened is None:
            del self.lines[before:]
            return False
        at, depth = opened
        if total:
            inner.numbers[total] = a.dtype
            scope.numbers[total] = a.dtype
        if self.chance(20):
            guard = self.condition(inner)
            self.emit(f"if {guard}:")
            self.emit("    continue")
        if self.chance(35):
            name = self.fresh(NUMBERS)
            self.emit(f"{name} = {self.number(inner, self.pick(1, 2), a.dtype)}")
            inner.numbers[name] = a.dtype
        if total:
            self.emit(f"{total} += {self.number(inner, 1, a.dtype)}")
            if self.chance(25):
                self.emit(f"if {total} > {self.pick('0.7', '1.5')}:")
                self.emit("    break")
        if not total or self.chance(40):
            self.changed.add(self.root(a.name))
            place = f"{a.name}[{at}]"
            if self.chance(25):
                self.emit(f"if {self.condition(inner)}:")
                self.emit(f"    {place} {self.op()} {self.number(inner, 1, a.dtype)}")
                if self.chance(60):
                    self.emit("else:")
                    value = self.number(inner, 1, a.dtype)
                    self.emit(f"    {place} {self.op()} {value}")
            else:
                value = self.number(inner, self.pick(1, 2, 2), a.dtype)
                self.emit(f"{place} {self.op()} {value}")
        self.indent -= depth
        return True

    def op(self) -> str:
        return self.pick("=", "=", "=", "+=", "-=")

    def loop(self, scope: Scope) -> bool:
        """Time steps."""
        name = self.fresh(OUTER) if self.chance(70) else self.fresh(("n", *OUTER))
        times = self.pick("2", "3", *scope.integers, *scope.integers, "4")
        self.emit(f"for {name} in range({times}):")
        inner = scope.inner()
        inner.loops += 1
        inner.integers.append(name)
        self.indent += 1
        self.block(inner, 3)
        self.indent -= 1
        self.otherwise(scope)
        return True

    def otherwise(self, scope: Scope) -> None:
        if self.chance(12):
            self.use("else of a loop")
            self.emit("else:")
            self.indent += 1
            if self.chance(50) and self.swap(scope.inner()):
                pass
            else:
                self.block(scope.inner(), 1)
            self.indent -= 1

    def while_loop(self, scope: Scope) -> bool:
        name = self.fresh(("k", "it", "count", "rounds"))
        self.emit(f"{name} = 0")
        limit = self.pick("2", "3", *scope.integers)
        test = f"{name} < {limit}"
        if self.chance(35):
            test += f" and {self.condition(scope)}"
        self.emit(f"while {test}:")
        inner = scope.inner()
        inner.loops += 1
        inner.integers.append(name)
        self.indent += 1
        first = self.chance(50)
        if first:
            self.emit(f"{name} += 1")
        self.loose = not first
        self.block(inner, 2)
        if not first:
            # A `continue` above would run for ever.
            head = next(
                k
                for k in range(len(self.lines) - 1, -1, -1)
                if self.lines[k].lstrip().startswith(f"while {name} <")
            )
            for k in range(head, len(self.lines)):
                text = self.lines[k]
                if text.strip() == "continue":
                    self.lines[k] = text.replace("continue", "break")
            self.emit(f"{name} += 1")
        self.indent -= 1
        self.otherwise(scope)
        scope.integers.append(name)
        return True

    def jump(self, scope: Scope) -> bool:
        self.emit(f"if {self.condition(scope)}:")
        if self.chance(30):
            self.indent += 1
            self.block(scope.inner(), 1)
            self.indent -= 1
        self.emit(f"    {self.pick('continue', 'continue', 'break')}")
        return True

    def branch(self, scope: Scope) -> bool:
        self.emit(f"if {self.condition(scope)}:")
        self.indent += 1
        self.block(scope.inner(), 2)
        self.indent -= 1
        if self.chance(15):
            self.emit(f"elif {self.condition(scope)}:")
            self.indent += 1
            self.block(scope.inner(), 1)
            self.indent -= 1
        if self.chance(35):
            self.emit("else:")
            self.indent += 1
            self.block(scope.inner(), 2)
            self.indent -= 1
        return True

    # ---------------------------------------------------------------- names

    def swap(self, scope: Scope) -> bool:
        """Two to four arrays of one kind change places."""
        test = self.chance(25)
        groups: dict[tuple[Shape, str, bool, bool], list[str]] = {}
        for a in scope.arrays.values():
            if not a.fixed and self.may("swap", a):
                inside = self.strict and a.name in self.born_inside
                # On some paths only: arrays of the caller, or new ones.
                given = self.strict and (test or self.indent > 1 or self.left)
                given = given and a.name in self.given
                key = (a.shape, a.dtype, inside, given)
                groups.setdefault(key, []).append(a.name)
        enough = [names for names in groups.values() if len(names) > 1]
        if not enough:
            return False
        names = self.pick(*enough)
        count = min(len(names), self.pick(2, 2, 2, 3, 3, 4, 4))
        chosen = self.rng.sample(names, count)
        self.use(f"{count} names change places")
        turn = self.pick(1, count - 1)
        other = chosen[turn:] + chosen[:turn]
        for one, two in zip(chosen, other, strict=True):
            self.join(one, two)
        self.exchanged.update(chosen)
        if test or self.indent > 1 or self.left:
            self.turned.update(chosen)
        if count == 2 and not test and self.chance(15):
            kept = self.fresh(("tmp", "swap", "hold", "old"))
            for one, two in zip([kept, *chosen], [*chosen, kept], strict=True):
                self.emit(f"{one} = {two}")
                self.join(one, two)
            return True
        if test:
            self.use("swap on some paths")
            self.emit(f"if {self.condition(scope)}:")
            self.indent += 1
        self.emit(f"{', '.join(chosen)} = {', '.join(other)}")
        if test:
            self.indent -= 1
        return True

    def buffers(self, scope: Scope) -> bool:
        """The loop that writes one buffer from the other and swaps them."""
        free = [
            a
            for a in scope.arrays.values()
            if not a.fixed and self.may("swap", a) and self.may("write", a)
        ]
        if self.strict:
            inside = self.indent > 1 or self.left
            free = [a for a in free if (a.name in self.born_inside) == inside]
        if not free:
            return False
        a = self.pick(*free)
        near = [
            b
            for b in free
            if b.name != a.name and (b.shape, b.dtype) == (a.shape, a.dtype)
        ]
        if near and self.chance(50):
            b = self.pick(*near)
        else:
            b = self.bound(scope, a.shape, a.dtype)
            self.emit(
                self.pick(
                    f"{b.name} = np.zeros_like({a.name})",
                    f"{b.name} = {a.name}.copy()",
                    f"{b.name} = np.empty_like({a.name})",
                    f"{b.name} = np.zeros_like({a.name})",
                )
            )
            empty = "empty" in self.lines[-1]
            scope.arrays[b.name] = b
            if empty:
                self.emit(f"{b.name}[:] = {self.pick('0.0', a.name)}")
        name = self.fresh(OUTER)
        times = self.pick("2", "3", *scope.integers, *scope.integers)
        self.emit(f"for {name} in range({times}):")
        self.indent += 1
        inner = scope.inner()
        inner.loops += 1
        inner.integers.append(name)
        # Before the body is written: nothing in it gives them another array.
        self.exchanged |= {a.name, b.name}
        if self.chance(20):
            self.jump(inner)
        self.changed.add(self.root(b.name))
        if self.chance(55):
            inside = inner.inner()
            opened = self.opened(b, inside)
            assert opened is not None
            at, depth = opened
            self.emit(
                f"{b.name}[{at}] = {self.number(inside, self.pick(1, 2), b.dtype)}"
            )
            self.indent -= depth
        else:
            shape = b.shape
            if self.chance(60):
                shape = tuple(s.plus(-self.pick(0, 2)) for s in shape)
            target = self.pick(*self.sliced(b, shape))
            text = self.array(inner, shape, b.dtype, 2) or "0.5"
            if b.name in text:
                text = f"({text}) * 0.5"
            whole = "[:]" if target == b.name else ""
            self.emit(f"{target}{whole} = {text}")
        if self.chance(20):
            self.jump(inner)
        third = [c for c in near if c.name != b.name]
        if third and self.chance(40):
            names = [a.name, b.name, self.pick(*third).name]
            self.use("3 names change places")
        else:
            names = [a.name, b.name]
            self.use("2 names change places")
        self.exchanged.update(names)
        self.turned.update(names)
        for n in names[1:]:
            self.join(names[0], n)
        other = names[1:] + names[:1]
        self.emit(f"{', '.join(names)} = {', '.join(other)}")
        if self.chance(20):
            self.statement(inner)
        self.indent -= 1
        self.otherwise(scope)
        self.use("double buffer")
        return True

    # ---------------------------------------------------------------- calls

    def call(self, scope: Scope) -> bool:
        """A call as a statement, or one whose results get names."""
        several = [h for h in scope.helpers.values() if not self.gives(h, "number")]
        if not several:
            return False
        helper = self.pick(*several)
        found = self.called(scope, helper)
        if found is None:
            return False
        text, results, _ = found
        self.use(f"call of {len(results)} results")
        if not results:
            self.emit(text)
            return True
        if len(results) == 1 and self.chance(12):
            self.use("call in an expression")
            total = self.fresh(NUMBERS)
            self.emit(f"{total} = np.sum({text}{self.pick('', ' ** 2')})")
            scope.numbers[total] = results[0].dtype
            return True
        targets: list[str] = []
        made: list[tuple[str, Result]] = []
        for r in results:
            name = self.target(scope, r, targets)
            targets.append(name)
            made.append((name, r))
        self.emit(f"{', '.join(targets)} = {text}")
        for name, r in made:
            if r.what == "array":
                if name not in scope.arrays:
                    scope.arrays[name] = Array(name, r.shape, r.dtype)
                    self.made_at(name)
                elif self.indent > 1 and r.same != {name}:
                    self.bound_inside.add(name)
                if r.exchanged:
                    self.unsure |= {name, *r.same}
                elif r.same - {name}:
                    self.second |= {name, *r.same}
                for other in r.same:
                    self.join(name, other)
            else:
                scope.numbers[name] = r.dtype
        return True

    def target(self, scope: Scope, r: Result, busy: list[str]) -> str:
        """A name for a result: one that is there already, or a new one."""
        if r.what == "number":
            known = [
                n
                for n, k in scope.numbers.items()
                if n not in scope.fixed
                and n not in busy
                and k == (r.dtype if self.mode != DOUBLE else k)
            ]
            if known and self.chance(25):
                return self.pick(*known)
            return self.fresh(NUMBERS)
        same = [
            a.name
            for a in scope.arrays.values()
            if (a.shape, a.dtype) == (r.shape, r.dtype)
            and not a.fixed
            and a.name not in busy
            and (self.may("bind", a) or r.same == {a.name})
            and (not (r.same - {a.name}) or a.name not in self.exchanged)
        ]
        if same and self.chance(60):
            self.use("rebound by a call")
            return self.pick(*same)
        return self.fresh(ARRAYS)

    def a_number(self, scope: Scope) -> bool:
        own = [n for n in scope.numbers if n not in scope.fixed]
        depth = self.pick(1, 1, 2)
        if own and self.chance(45):
            name = self.pick(*own)
            op = self.pick("=", "+=", "+=", "-=", "*=")
            if op == "*=":
                self.emit(f"{name} *= {self.scale(scope, scope.numbers[name])}")
            else:
                value = self.number(scope, depth, scope.numbers[name])
                self.emit(f"{name} {op} {value}")
            return True
        dtype = DOUBLE
        if self.mode != DOUBLE:
            kinds = [a.dtype for a in scope.arrays.values()] or [WEAK]
            dtype = self.pick(*kinds)
        name = self.fresh(NUMBERS)
        self.emit(f"{name} = {self.number(scope, depth, dtype)}")
        scope.numbers[name] = dtype
        return True

    # ---------------------------------------------------------------- the end

    def early_return(self, scope: Scope) -> bool:
        if self.plan == "array" and not self.plan_names:
            return False
        if self.plan == "nothing" and not scope.loops and self.chance(50):
            return False
        self.left = True
        self.emit(f"if {self.condition(scope)}:")
        match self.plan:
            case "nothing":
                self.emit("    return")
            case "array":
                self.emit(f"    return {', '.join(self.plan_names)}")
            case "numbers":
                one = self.number(scope, 1, self.plan_dtype)
                other = self.number(scope, 0, self.plan_dtype)
                self.emit(f"    return {one}, {other}")
            case _:
                value = self.number(scope, self.pick(0, 1), self.plan_dtype)
                self.emit(f"    return {value}")
        return True

    plan_dtype = DOUBLE

    def inner_function(self, scope: Scope) -> bool:
        raise NotImplementedError


__all__ = ["Statements", "fits"]
