"""Expressions with complex numbers, as pairs of real ones."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import gast

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import nodes_of, parameters
from pyrev.parse.rewriting.complex_numbers.calls import read_call
from pyrev.parse.rewriting.complex_numbers.kinds import Kind, Place, holds_complex
from pyrev.parse.rewriting.complex_numbers.parts import Pair, Value, is_index, number
from pyrev.parse.rewriting.complex_numbers.values import (
    LOOP,
    OPERATORS,
    PAIR,
    RESULT,
    USE,
    Values,
)
from pyrev.parse.rewriting.made_texts import assign, each_place, name_of, placed


@dataclass(slots=True)
class Expressions(Values):
    """Reads the expressions of one definition."""

    def touched(self, e: object) -> bool:
        """Is there anything in a node that has to do with complex numbers?"""
        if not isinstance(e, gast.AST):
            return False
        for n in nodes_of(e):
            match n:
                case gast.Attribute(attr="real" | "imag" | "conj" | "conjugate"):
                    return True
                case gast.FunctionDef():
                    return True
                case gast.Return() if holds_complex(self.place.result):
                    return True
                case gast.Name(ctx=gast.Store()):
                    holder = self.place.holder(n.id)
                    if holder is not None and holder.kinds.get(n.id):
                        return True
                case gast.expr() if self.kinds.has(n, self.place):
                    return True
                case gast.Call() if self.kinds.is_about_complex(n, self.place):
                    return True
        return False

    def real(self, e: gast.AST) -> gast.AST:
        """An expression that has to be real."""
        value = self.value(e)
        if isinstance(value, Pair):
            text = gast.unparse(e).strip()
            raise self.refuse(
                e, f"`{text}` is a complex number where a real one is needed", USE
            )
        return value

    def value(self, e: gast.AST) -> Value:
        """An expression, in parts if it is complex."""
        if not self.touched(e):
            return e
        match e:
            case gast.Constant(value=complex() as value):
                return Pair(
                    placed(number(value.real), e),
                    placed(number(value.imag), e),
                )
            case gast.Name():
                return self._name(e)
            case gast.BinOp(left=a, op=op, right=b):
                left, right = self.operands([a, b])
                if isinstance(left, Pair) or isinstance(right, Pair):
                    word = OPERATORS.get(type(op))
                    if word is None:
                        raise self.refuse(e, "this operator of complex numbers", USE)
                    return self.operation(word, left, right, e)
                new = copy.copy(e)
                new.left, new.right = left, right
                return new
            case gast.UnaryOp(op=op, operand=a):
                return self._unary(e, op, self.value(a))
            case gast.Compare():
                return self._compare(e)
            case gast.BoolOp():
                return self._boolean(e)
            case gast.IfExp():
                return self._choice(e)
            case gast.Subscript(value=base, slice=index):
                if isinstance(self.kinds.of(base, self.place), tuple):
                    raise self.refuse(e, "an element of a tuple", "unpack the tuple")
                whole, own = self.value(base), self.index(index)
                if isinstance(whole, Pair):
                    whole = self.simple(self.whole(whole))
                return self.both(
                    whole, lambda x: self.subscript(e, x, own, gast.Load())
                )
            case gast.Attribute():
                return self._attribute(e)
            case gast.Call():
                return read_call(self, e)
            case gast.Tuple(elts=elts):
                return self._sequence(e, self.operands(elts))
            case gast.List():
                return self.listed(e)
            case gast.Lambda() | gast.ListComp() | gast.GeneratorExp():
                return self._inside(e)
        return self.fields(e)

    def _name(self, e: gast.Name) -> Value:
        holder = self.place.holder(e.id)
        if holder is None:
            return self._captured(e, self.kinds.lookup(e.id))
        kind = holder.kinds.get(e.id, False)
        if isinstance(kind, tuple) and holds_complex(kind):
            raise self.refuse(e, f"`{e.id}` is a tuple of complex numbers", "unpack it")
        if not kind:
            return e
        re, im = self.parts_of(holder, e.id)
        return Pair(name_of(re, e), name_of(im, e))

    def _captured(self, e: gast.AST, found: object) -> Pair:
        """A complex number from outside: if it changes, the text is read again."""
        if type(found) is complex:
            parts = number(found.real), number(found.imag)
            return Pair(*(placed(p, e) for p in parts))
        text = gast.unparse(e).strip()
        raise self.refuse(
            e,
            f"`{text}` is complex, and from outside of the function",
            "give its parts names outside, or write the number out",
        )

    def _sequence(self, e: gast.AST, values: Sequence[Value]) -> gast.AST:
        if any(isinstance(v, Pair) for v in values):
            raise self.refuse(e, "a tuple of complex numbers", "use an array, or names")
        new = copy.copy(e)
        new.elts = [*values]
        return new

    def listed(self, e: gast.List) -> Value:
        """A list that is written out, which an array is made of."""
        values = self.operands(e.elts)
        if not any(isinstance(v, Pair) for v in values):
            new = copy.copy(e)
            new.elts = values
            return new
        pairs = [self.zeros_beside(v) for v in values]
        re, im = copy.copy(e), copy.copy(e)
        re.elts, im.elts = [p.re for p in pairs], [p.im for p in pairs]
        return Pair(re, im)

    def zeros_beside(self, value: Value) -> Pair:
        """A value as a pair; a list of real ones with a list of zeros."""
        if isinstance(value, (gast.List, gast.Tuple)):
            pairs = [self.zeros_beside(v) for v in value.elts]
            re, im = copy.copy(value), copy.copy(value)
            re.elts, im.elts = [p.re for p in pairs], [p.im for p in pairs]
            return Pair(re, im)
        return self.lifted(value, True)

    def _inside(self, e: gast.AST) -> gast.AST:
        """A function or a loop in an expression: no statements can stand in it."""
        place = self.place
        if isinstance(e, gast.Lambda):
            self.place = Place(e, place, frozenset(p.id for p in parameters(e)))
        try:
            with self.no_statements(e):
                new = copy.copy(e)
                for part in ("body", "elt"):
                    inner = getattr(e, part, None)
                    if inner is not None:
                        setattr(new, part, self.real(inner))
                if any(self.touched(g) for g in getattr(e, "generators", ())):
                    raise self.refuse(e, "a loop over complex numbers", LOOP)
        finally:
            self.place = place
        return new

    def index(self, e: gast.AST) -> gast.AST:
        """A subscript, which may stand twice."""

        def twice(place: gast.AST) -> gast.AST:
            new = self.real(place)
            return new if is_index(new) else self.named(new, "index")

        return each_place(e, twice)

    def subscript(
        self, e: gast.AST, base: gast.AST, index: gast.AST, ctx: gast.AST
    ) -> gast.AST:
        new = gast.Subscript(as_read(base), copy.deepcopy(index), ctx)
        return gast.copy_location(new, e)

    def both(self, value: Value, f: Callable[[gast.AST], gast.AST]) -> Value:
        """The same of each part."""
        if isinstance(value, Pair):
            return Pair(f(value.re), f(value.im))
        return f(value)

    def _unary(self, e: gast.AST, op: gast.AST, value: Value) -> Value:
        if not isinstance(value, Pair):
            new = copy.copy(e)
            new.operand = value
            return new
        match op:
            case gast.USub():
                return self.formula("neg", value, None, e)
            case gast.UAdd():
                return value
        raise self.refuse(e, "a complex number as a truth value", "write `z != 0`")

    def _compare(self, e: gast.Compare) -> gast.AST:
        if len(e.ops) > 1:
            with self.no_statements(e):
                new = copy.copy(e)
                new.left = self.real(e.left)
                new.comparators = [self.real(c) for c in e.comparators]
                return new
        a, b = self.operands([e.left, e.comparators[0]])
        if not isinstance(a, Pair) and not isinstance(b, Pair):
            new = copy.copy(e)
            new.left, new.comparators = a, [b]
            return new
        x, y = self.lifted(a, False), self.lifted(b, False)
        match e.ops[0]:
            case gast.Eq():
                op: type[gast.AST] = gast.BitAnd
            case gast.NotEq():
                op = gast.BitOr
            case _:
                raise self.refuse(
                    e, "complex numbers have no order", "compare `abs(z)` or `z.real`"
                )
        tests = [
            gast.Compare(p, [e.ops[0]], [q]) for p, q in ((x.re, y.re), (x.im, y.im))
        ]
        return placed(gast.BinOp(tests[0], op(), tests[1]), e)

    def _boolean(self, e: gast.BoolOp) -> gast.AST:
        """``a and b``: what comes later is evaluated only where it is needed."""
        new = copy.copy(e)
        new.values = [self.real(e.values[0])]
        for other in e.values[1:]:
            value, before = self._apart(other)
            if isinstance(value, Pair):
                raise self.refuse(other, "a complex number as a truth value", USE)
            if not before:
                new.values.append(value)
                continue
            so_far = copy.copy(new)
            first = so_far if len(new.values) > 1 else new.values[0]
            test = self.named(first, "test")
            go_on = test
            if isinstance(e.op, gast.Or):
                go_on = placed(gast.UnaryOp(gast.Not(), test), e)
            again = assign([name_of(test.id, e, gast.Store())], value)
            self.out.append(placed(gast.If(go_on, [*before, again], []), e))
            new.values = [test]
        return new if len(new.values) > 1 else new.values[0]

    def _apart(self, e: gast.AST) -> tuple[Value, list[gast.AST]]:
        """A value, and what is evaluated for it alone."""
        before, self.out = self.out, []
        value = self.value(e)
        own, self.out = self.out, before
        return value, own

    def _choice(self, e: gast.IfExp) -> Value:
        """``a if test else b``"""
        test = self.real(e.test)
        whole = self.kinds.has(e, self.place)
        (yes, first), (no, second) = self._apart(e.body), self._apart(e.orelse)
        if not first and not second and not whole:
            new = copy.copy(e)
            new.test, new.body, new.orelse = test, yes, no
            return new
        if not whole:
            name = fresh("chosen", self.taken)
            names: tuple[str, ...] = (name,)
            ways = [(first, [yes]), (second, [no])]
        else:
            names = fresh("chosen_re", self.taken), fresh("chosen_im", self.taken)
            ways = []
            for value, own in ((yes, first), (no, second)):
                around, self.out = self.out, own
                pair = self.whole(self.lifted(value, True))
                self.out = around
                ways.append((own, [pair.re, pair.im]))
        blocks = [
            [*own, *(self._store(n, v) for n, v in zip(names, parts, strict=True))]
            for own, parts in ways
        ]
        if self.closed is not None:
            self.named(e)  # refused
        self.out.append(placed(gast.If(test, *blocks), e))
        got = [name_of(n, e) for n in names]
        if not whole:
            return got[0]
        self.extents.twins[names[1]] = names[0]
        return Pair(*got)

    def _attribute(self, e: gast.Attribute) -> Value:
        if self.kinds.is_outside(e, self.place):
            return self._captured(e, None) if self.kinds.has(e, self.place) else e
        value = self.value(e.value)
        if not isinstance(value, Pair):
            return self.part_of_real(e, value, e.attr)
        if e.attr in ("real", "imag"):
            return value.re if e.attr == "real" else value.im
        if e.attr in ("shape", "size", "ndim"):
            return self._of_part(e, self.once(value.re))
        if e.attr == "T":
            value = self.simple(self.whole(value))
            return Pair(self._of_part(e, value.re), self._of_part(e, value.im))
        raise self.refuse(e, f"`.{e.attr}` of a complex number", USE)

    def _of_part(self, e: gast.Attribute, part: gast.AST) -> gast.AST:
        new = copy.copy(e)
        new.value = part
        return new

    def part_of_real(self, e: gast.AST, value: gast.AST, attr: str) -> gast.AST:
        """``x.real`` of a real number is itself."""
        if attr == "real":
            return value
        if attr == "imag":
            raise self.refuse(
                e,
                f"`{gast.unparse(e).strip()}` is the imaginary part of a real number",
                "write `0.0`, or `np.zeros_like(x)` for that of an array",
            )
        new = copy.copy(e)
        new.value = value
        return new

    def call_of_helper(self, e: gast.Call, kind: Kind) -> gast.AST:
        """The call of another function, with pairs for complex arguments."""
        values = self.operands([*e.args, *(k.value for k in e.keywords)])
        called = self.kinds.inside(e.func, self.place)
        positional: list[str] = []
        if called is not None:
            spec = called.node.args
            positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        names = [
            *(positional[k] if k < len(positional) else "" for k in range(len(e.args))),
            *(k.arg for k in e.keywords),
        ]
        given = []
        for name, v in zip(names, values, strict=True):
            if called is not None and called.kinds.get(name):
                v = self.lifted(v, True)
            given.append(_together(self.whole(v)) if isinstance(v, Pair) else v)
        new = copy.copy(e)
        new.args = given[: len(e.args)]
        new.keywords = []
        for k, v in zip(e.keywords, given[len(e.args) :], strict=True):
            keyword = copy.copy(k)
            keyword.value = v
            new.keywords.append(keyword)
        setattr(new, RESULT, kind)
        return new

    def fields(self, s: gast.AST) -> gast.AST:
        """A statement of another kind, whose expressions are real."""
        new = copy.copy(s)
        for part, value in gast.iter_fields(s):
            if isinstance(value, gast.AST) and not isinstance(value, gast.stmt):
                setattr(new, part, self.real(value))
            elif isinstance(value, list) and any(self.touched(v) for v in value):
                raise self.refuse(s, "a complex number", USE)
        return new


def _together(pair: Pair) -> gast.AST:
    call = gast.Call(name_of(PAIR, pair.re), [pair.re, pair.im], [])
    return gast.copy_location(call, pair.re)


def as_read(e: gast.AST) -> gast.AST:
    """The same element, read."""
    if not isinstance(getattr(e, "ctx", None), gast.Store):
        return copy.deepcopy(e)
    new = copy.deepcopy(e)
    new.ctx = gast.Load()
    return new
