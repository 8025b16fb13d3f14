"""Statements on lists, tuples, structures, records, complex numbers and functions."""

from __future__ import annotations

from tests.tools.generator.forms.kinds import (
    FIELDS,
    MADE,
    METHODS,
    OUTSIDE,
    Scope,
    Vector,
)
from tests.tools.generator.forms.statements import Statements


class Structures(Statements):
    """What is done to everything that is no array and no number."""

    #: Is this a helper, of which no function inside is asked?
    inside = False

    def options(self, scope: Scope) -> list[tuple[int, str]]:
        lists, v = bool(scope.lists), bool(scope.vectors)
        return [
            *super().options(scope),
            (3, "list made"),
            (6 if lists else 0, "list grown"),
            (2 if lists else 0, "list popped"),
            (2 if lists else 0, "list sliced"),
            (2 if v else 0, "tuple made"),
            (2 if v else 0, "structure made"),
            (3 if scope.structures else 0, "field written"),
            (4 if METHODS.keys() & scope.structures.values() else 0, "method"),
            (1, "from outside"),
            (4 if scope.nodes else 0, "record written"),
            (2 if scope.nodes and scope.indices else 0, "record named"),
            (3, "complex number"),
            (2 if scope.complexes else 0, "complex number again"),
            (1 if v else 0, "complex array"),
            (2 if not scope.loops else 0, "function inside"),
            (1 if scope.helpers else 0, "partial"),
            (3 if scope.helpers else 0, "call as a statement"),
            (2 if scope.draws else 0, "drawn"),
        ]

    # ---------------------------------------------------------------- lists

    def list_made_(self, scope: Scope) -> None:
        name = self.fresh("out")
        text, least = self.pick(
            ("[]", 0),
            (f"[{self.number(scope, 1)}]", 1),
            (f"[{self.atom(scope)}, {self.atom(scope)}]", 2),
            ("[0.0] * 3", 3),
        )
        self.emit(f"{name} = {text}")
        scope.lists[name] = least

    def list_grown_(self, scope: Scope) -> None:
        name = self.pick(*scope.lists)
        if name in scope.fixed:
            return
        if scope.loops or self.chance(50) or not scope.vectors:
            self.emit(f"{name}.append({self.number(scope, 1)})")
            scope.lists[name] += 1
            return
        inner, header = self.header(scope)
        if name not in inner.lists:
            self.emit(f"{name}.append({self.number(scope, 1)})")
            return
        self.emit(f"for {header}:")
        self.indent += 1
        if self.chance(30):
            self.emit(f"if {self.test(inner)}:")
            self.indent += 1
            self.emit(f"{name}.append({self.number(inner, 1)})")
            self.indent -= 1
        else:
            self.emit(f"{name}.append({self.number(inner, 1)})")
        if self.chance(30):
            self.block(inner, 1)
        self.indent -= 1

    def list_popped_(self, scope: Scope) -> bool:
        full = [n for n, k in scope.lists.items() if k and n not in scope.fixed]
        if not full or scope.loops:
            return False
        name = self.pick(*full)
        if self.chance(50):
            got = self.fresh("s")
            self.emit(f"{got} = {name}.pop({self.pick('', '0')})")
            scope.numbers.append(got)
            scope.lists[name] -= 1
        else:
            at = self.pick("0", "-1")
            self.emit(f"{name}[{at}] {self.pick('=', '+=')} {self.number(scope, 1)}")
        return True

    def list_sliced_(self, scope: Scope) -> None:
        name = self.pick(*scope.lists)
        got = self.fresh("s")
        self.emit(f"{got} = sum({name}[{self.pick('1:', ':2', '-2:', '::2')}]) * 0.5")
        scope.numbers.append(got)

    # ---------------------------------------------------------------- tuples

    def tuple_made_(self, scope: Scope) -> None:
        name = self.fresh("pt")
        v = self.pick(*scope.vectors.values())
        a, w = self.number(scope, 1), self.vector(scope, v.size, 1)
        self.emit(f"{name} = ({a}, {w})")
        if self.chance(50):
            s, y = self.fresh("s"), self.fresh("y")
            self.emit(f"{s}, {y} = {name}")
            scope.numbers.append(s)
            scope.vectors[y] = Vector(y, v.size, v.least)
        else:
            s = self.fresh("s")
            self.emit(f"{s} = {name}[0] + np.sum({name}[1])")
            scope.numbers.append(s)

    # ---------------------------------------------------------------- structures

    def structure_made_(self, scope: Scope) -> bool:
        every = self.of_size(scope, "n")
        if not every:
            return False
        kind = self.pick(*MADE)
        name = self.fresh("p")
        text = MADE[kind].format(
            number=self.number(scope, 1), vector=self.vector(scope, "n", 1)
        )
        self.use(f"{kind} made")
        self.emit(f"{name} = {text}")
        scope.structures[name] = kind
        return True

    def field_written_(self, scope: Scope) -> bool:
        name, kind = self.pick(*scope.structures.items())
        vector = name + FIELDS[kind]["vector"]
        self.use(kind)
        match self.pick("element", "name", "field", "replaced"):
            case "element":
                near = [i for i, size in scope.indices.items() if size == "n"]
                at = self.pick(*near) if near else "0"
                self.emit(f"{vector}[{at}] {self.pick('=', '*=')} {self.atom(scope)}")
            case "name":
                y = self.fresh("y")
                self.emit(f"{y} = {vector}")
                scope.vectors[y] = Vector(y, "n", 3)
            case "field":
                own = name.startswith("p") and name[1:].isdigit()
                if not own or kind not in ("dict", "wire"):
                    return False
                number = name + FIELDS[kind]["number"]
                self.emit(f"{number} {self.pick('=', '+=')} {self.number(scope, 1)}")
            case _:
                if kind != "pair":
                    return False
                made = self.fresh("p")
                self.emit(f"{made} = {name}._replace(k={self.number(scope, 1)})")
                scope.structures[made] = kind
        return True

    def method_(self, scope: Scope) -> bool:
        with_methods = [*METHODS.keys() & {*scope.structures.values()}]
        every = [(n, k) for n, k in scope.structures.items() if k in with_methods]
        name, kind = self.pick(*every)
        numbers, vectors, writes = METHODS[kind]
        match self.pick("number", "number", "vector", "write"):
            case "vector" if vectors:
                y = self.fresh("y")
                self.emit(f"{y} = {name}{self.filled(self.pick(*vectors), scope)}")
                scope.vectors[y] = Vector(y, "n", 3)
            case "write" if writes and not name[1:].isdigit():
                self.emit(f"{name}{self.filled(self.pick(*writes), scope)}")
            case _:
                s = self.fresh("s")
                self.emit(f"{s} = {name}{self.filled(self.pick(*numbers), scope)}")
                scope.numbers.append(s)
        self.use(f"method of a {kind}")
        return True

    def from_outside_(self, scope: Scope) -> None:
        s = self.fresh("s")
        self.emit(f"{s} = {self.filled(self.pick(*OUTSIDE), scope)}")
        scope.numbers.append(s)

    def filled(self, text: str, scope: Scope) -> str:
        """A text with a number for each argument."""
        return text.format(*(self.number(scope, 1) for _ in range(text.count("{}"))))

    def record_written_(self, scope: Scope) -> bool:
        near = [i for i, size in scope.indices.items() if size == "n"]
        places = list(scope.records)
        places += [f"{n}[{i}]" for n in scope.nodes for i in near]
        places += [f"{n}[0]" for n in scope.nodes]
        record = self.pick(*places)
        key = self.pick("mass", "at")
        sign = self.pick("=", "+=", "*=")
        at = f'{record}["step"][{self.pick("0", "1")}]'
        place = at if self.chance(35) else f'{record}["{key}"]'
        self.emit(f"{place} {sign} {self.number(scope, 1)}")
        return True

    def record_named_(self, scope: Scope) -> bool:
        near = [i for i, size in scope.indices.items() if size == "n"]
        if not near:
            return False
        name = self.fresh("node")
        self.emit(f"{name} = {self.pick(*scope.nodes)}[{self.pick(*near)}]")
        scope.records.append(name)
        return True

    # ---------------------------------------------------------------- complex

    def complex_text(self, scope: Scope) -> str:
        a, b = self.number(scope, 1), self.atom(scope)
        options = [f"complex({a}, {b})", f"{a} + 1j * {b}", f"np.exp(1j * {a})"]
        if scope.complexes:
            z, w = self.pick(*scope.complexes), self.pick(*scope.complexes)
            options += [
                f"{z} * {w}",
                f"{z} / (2.5 + {w} * {w}.conjugate())",
                f"{a} * {z} - {w}",
                f"np.sin({z}) * 0.5",
                f"{z} ** 2",
                f"{z}.conjugate() + {b}",
            ]
        return self.pick(*options)

    def complex_number_(self, scope: Scope) -> None:
        name = self.fresh("q")
        self.emit(f"{name} = {self.complex_text(scope)}")
        scope.complexes.append(name)

    def complex_number_again_(self, scope: Scope) -> None:
        name = self.pick(*scope.complexes)
        sign = self.pick("=", "+=", "=")
        self.emit(f"{name} {sign} 0.5 * ({self.complex_text(scope)})")

    def complex_array_(self, scope: Scope) -> None:
        v = self.pick(*scope.vectors.values())
        name, total = self.fresh("Z"), self.fresh("s")
        a, b = self.vector(scope, v.size, 1), self.vector(scope, v.size, 1)
        self.emit(f"{name} = {self.pick(f'{a} + 1j * {b}', f'np.exp(1j * {a})')}")
        if self.chance(40) and v.least > 1:
            self.emit(f"{name}[{self.pick('0', '1', '-1')}] *= 1.0 + 0.5j")
        text = self.pick(
            f"np.sum(np.abs({name}) ** 2)",
            f"np.sum({name} * np.conj({name})).real",
            f"np.sum({name}).imag",
            f"np.sum({name}.real * {v.name})",
        )
        self.emit(f"{total} = {text}")
        scope.numbers.append(total)

    # ---------------------------------------------------------------- functions

    def function_inside_(self, scope: Scope) -> None:
        name = self.fresh("g")
        near = Scope(numbers=list(scope.numbers), vectors=dict(scope.vectors))
        near.numbers = [*near.numbers[-2:], "e"]
        near.structures = dict(scope.structures)
        body = self.number(near, 1)
        if self.chance(50):
            self.use("lambda")
            self.emit(f"{name} = lambda e: {body} + 0.3 * e")
        else:
            self.use("closure")
            self.emit(f"def {name}(e):")
            self.emit("    if e > 0.4:")
            self.emit(f"        return {self.number(near, 1)}")
            self.emit(f"    return {body} * e")
        scope.functions.append(name)

    def partial_(self, scope: Scope) -> bool:
        every = [
            h
            for h in scope.helpers.values()
            if h.results == ("number",)
            and len(h.parameters) > 1
            and all(kind == "number" for _, kind in h.parameters)
        ]
        if not every:
            return False
        helper = self.pick(*every)
        name = self.fresh("g")
        bound = [self.atom(scope) for _ in helper.parameters[1:]]
        if self.chance(50):
            bound = [
                f"{n}={b}"
                for (n, _), b in zip(helper.parameters[1:], bound, strict=True)
            ]
        self.emit(f"{name} = functools.partial({helper.name}, {', '.join(bound)})")
        scope.functions.append(name)
        return True

    def call_as_a_statement_(self, scope: Scope) -> bool:
        every = [
            h
            for h in scope.helpers.values()
            if h.results != ("number",) and self.callable(scope, h)
        ]
        if not every:
            return False
        helper = self.pick(*every)
        sizes = {v.size: v for v in scope.vectors.values() if v.least > 1}
        if not sizes:
            return False
        size = self.pick(*sizes)
        if not self.callable(scope, helper, size):
            return False
        call = self.called(scope, helper, size)
        names = []
        least = sizes[size].least
        for kind in helper.results:
            match kind:
                case "vector":
                    names.append(self.fresh("y"))
                    scope.vectors[names[-1]] = Vector(names[-1], size, least)
                case "number":
                    names.append(self.fresh("s"))
                    scope.numbers.append(names[-1])
                case "list":
                    names.append(self.fresh("out"))
                    scope.lists[names[-1]] = 0
                case _:
                    names.append(self.fresh("r"))
                    if size == "n":
                        scope.structures[names[-1]] = kind.split()[1]
        self.use(f"call giving {' and '.join(helper.results) or 'nothing'}")
        self.emit(f"{', '.join(names)} = {call}" if names else call)
        return True

    # ---------------------------------------------------------------- draws

    def drawn_(self, scope: Scope) -> None:
        rng = self.pick(*scope.draws)
        if not scope.vectors or self.chance(50):
            name = self.fresh("s")
            self.emit(f"{name} = {self.drawn(scope)}")
            scope.numbers.append(name)
            return
        v = self.pick(*scope.vectors.values())
        name = self.fresh("y")
        text = self.pick(
            f"{rng}.normal(0.0, 0.5, size={v.name}.shape)",
            f"{rng}.uniform(-0.5, 0.5, size=len({v.name}))",
            f"{rng}.random(len({v.name}))",
            f"{v.name} + 0.1 * {rng}.standard_normal({v.name}.shape[0])",
        )
        self.emit(f"{name} = {text}")
        scope.vectors[name] = Vector(name, v.size, v.least)
