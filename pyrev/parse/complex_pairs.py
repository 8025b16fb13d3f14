"""Complex numbers and arrays as pairs of real ones, before anything is read.

Python text in, Python text out::

    z = 0j                          z_real, z_imag = 0.0, 0.0
    for i in range(n):              for i in range(n):
        z = z * z + c        ->         z_real, z_imag = (
    return abs(z)                           z_real * z_real - z_imag * z_imag + c,
                                            z_real * z_imag + z_imag * z_real)
                                    return np.hypot(z_real, z_imag)

The gradient of a real function along ``z = x + iy`` is that by `x` plus `i` times that
by `y`: where steepest ascent goes, as in PyTorch. JAX gives its conjugate.
"""

from __future__ import annotations

import cmath
import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import FunctionType

import gast
import numpy as np

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.nodes import fresh
from pyrev.parse import complex_functions as functions
from pyrev.parse.bindings import identifiers, local_names, nodes_of
from pyrev.parse.complex_functions import Pair
from pyrev.parse.field_reads import parameters_of
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.list_room import NotThisWay
from pyrev.parse.made_texts import (
    Lookup,
    assign,
    name_of,
    numpy_call,
    placed,
)
from pyrev.parse.source import plain, read
from pyrev.parse.structure_shapes import SHAPE, Names, Shape, field_names

#: The shape of a complex number or array.
COMPLEX = Shape("complex", (("real", None), ("imag", None)))

#: What a helper returns: is it complex, or which of several values are?
Returned = bool | tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Paired:
    """A definition without complex numbers, and the names of the parts of parameters
    that were.
    """

    node: gast.AST
    given: Mapping[str, Names]


def without_complex(
    node: gast.AST, lookup: Lookup, given: Sequence[str] = ()
) -> Paired:
    """The definition `node`, whose parameters `given` are complex, with pairs of reals;
    itself if it has no complex number, or uses one in a way that has no form here.

    >>> import gast
    >>> text = '''
    ... def f(x, n):
    ...     z = 0j
    ...     for i in range(n):
    ...         z = z * z + (x + 0.5j)
    ...     return abs(z)
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> made = gast.unparse(without_complex(definition, {"abs": abs}.get).node)
    >>> print(made.replace("@", "").strip())
    def f(x, n):
        (z_real, z_imag) = (0.0, 0.0)
        for i in range(n):
            (z_real, z_imag) = (z_real * z_real - z_imag * z_imag + x, \
z_real * z_imag + z_imag * z_real + 0.5)
        return np.hypot(z_real, z_imag)
    """
    if not isinstance(getattr(node, "body", None), list):
        return Paired(node, {})
    if not given and not any(map(_is_complex_text, nodes_of(node))):
        return Paired(node, {})
    try:
        return _Pairs(node, lookup, given).done()
    except NotThisWay:
        return Paired(node, {})


def _is_complex_text(n: gast.AST) -> bool:
    """May a node make a complex number of real ones?"""
    match n:
        case gast.Constant(value=complex() | "complex" | "complex128" | "complex64"):
            return True
        case gast.Name(id=name) | gast.Attribute(attr=name):
            return name in _WORDS
    return False


_WORDS = {"complex", "complex128", "complex64", "cmath", "complex_", "csingle"}


def is_complex_dtype(value: object) -> bool:
    """Is it a dtype of complex numbers?"""
    if value in ("complex", "complex128", "complex64"):
        return True
    return value is complex or (
        isinstance(value, type) and issubclass(value, np.complexfloating)
    )


class _Pairs:
    """Makes pairs of the complex values of one definition."""

    def __init__(self, node: gast.AST, lookup: Lookup, given: Sequence[str]) -> None:
        self.node, self.lookup = copy.deepcopy(node), lookup
        self.original = node
        self.local = local_names(node)
        self.taken = {*identifiers(node)}
        self.given = field_names(node, dict.fromkeys(given, COMPLEX))
        self.taken |= {n for names in self.given.values() for n in names.values()}
        self.complex: set[str] = set(given)
        self.names: dict[str, tuple[str, str]] = {
            n: (names["real",], names["imag",]) for n, names in self.given.items()
        }
        #: What is to be done before the present statement; None where that can't be.
        self.before: list[gast.AST] | None = None

    def done(self) -> Paired:
        self._find()
        spec = self.node.args
        for group in ("posonlyargs", "args", "kwonlyargs"):
            old = getattr(spec, group)
            new = [
                gast.copy_location(gast.Name(own, gast.Param(), None, None), p)
                for p in old
                for own in (self.names[p.id] if p.id in self.given else (p.id,))
            ]
            kept = [p for p in old if p.id not in self.given]
            by_name = {p.id: p for p in kept}
            setattr(spec, group, [by_name.get(p.id, p) for p in new])
        spec.defaults = [d for d in spec.defaults if not self._default_gone(d)]
        self.node.body = self._block(self.node.body)
        return Paired(self.node, self.given)

    def _default_gone(self, default: gast.AST) -> bool:
        return isinstance(default, gast.Constant) and isinstance(default.value, complex)

    def _find(self) -> None:
        """The names that are complex: what is given to them once, everywhere."""
        while True:
            before = len(self.complex)
            for n in nodes_of(self.node):
                match n:
                    case gast.Assign(targets=targets, value=value):
                        for t in targets:
                            self._note(t, value)
                    case gast.AugAssign(target=gast.Name(id=name), value=value):
                        if self.is_complex(value):
                            self.complex.add(name)
                    case gast.For(target=target, iter=it):
                        self._note_target(target, it)
            if len(self.complex) == before:
                break
        for name in sorted(self.complex - self.names.keys()):
            parts = (fresh(f"{name}_{k}", self.taken) for k in ("real", "imag"))
            self.names[name] = (next(parts), next(parts))

    def _note(self, target: gast.AST, value: gast.AST) -> None:
        match target:
            case gast.Name(id=name):
                if self.is_complex(value):
                    self.complex.add(name)
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                match value:
                    case gast.Tuple(elts=values) if len(values) == len(elts):
                        for t, v in zip(elts, values, strict=True):
                            self._note(t, v)
                    case gast.Call():
                        found = self._returned(value)
                        if isinstance(found, tuple) and len(found) == len(elts):
                            for t, c in zip(elts, found, strict=True):
                                if c and isinstance(t, gast.Name):
                                    self.complex.add(t.id)

    def _note_target(self, target: gast.AST, it: gast.AST) -> None:
        match it, target:
            case gast.Call(func=gast.Name(id="enumerate"), args=[inner]), gast.Tuple(
                elts=[_, inside]
            ):
                self._note_target(inside, inner)
            case gast.Call(func=gast.Name(id="zip"), args=args), gast.Tuple(elts=elts):
                for a, t in zip(args, elts, strict=False):
                    self._note_target(t, a)
            case _, gast.Name(id=name):
                if self.is_complex(it):
                    self.complex.add(name)

    # ---------------------------------------------------------------- which

    def object_of(self, func: gast.AST) -> object:
        """What a function that is called is."""
        match func:
            case gast.Name(id=name):
                return None if name in self.local else self.lookup(name)
            case gast.Attribute(value=base, attr=attr):
                found = self.object_of(base)
                return None if found is None else getattr(found, attr, None)
        return None

    def is_complex(self, e: gast.AST) -> bool:
        """Is the value of an expression complex?"""
        match e:
            case gast.Constant(value=value):
                return isinstance(value, complex)
            case gast.Name(id=name):
                return name in self.complex
            case gast.BinOp(left=a, right=b):
                return self.is_complex(a) or self.is_complex(b)
            case gast.UnaryOp(op=op, operand=a):
                return not isinstance(op, gast.Not) and self.is_complex(a)
            case gast.Subscript(value=base):
                return self.is_complex(base)
            case gast.Attribute(value=base, attr="T"):
                return self.is_complex(base)
            case gast.IfExp(body=a, orelse=b):
                return self.is_complex(a) or self.is_complex(b)
            case gast.List(elts=elts):
                return any(map(self.is_complex, elts))
            case gast.Call():
                return self._call_is_complex(e)
        return False

    def _call_is_complex(self, e: gast.Call) -> bool:
        function = self.object_of(e.func)
        if isinstance(e.func, gast.Attribute) and self.is_complex(e.func.value):
            name = e.func.attr
            return name in functions.METHODS and not self._cast_to_real(e)
        if function in (complex, np.complex128, np.complex64):
            return True
        dtype = self._dtype(e)
        if dtype is not None:
            return dtype
        if function in (np.array, np.asarray, *functions.LIKE):
            return any(map(self.is_complex, e.args[:1]))
        if function in (np.full, np.full_like):
            return any(map(self.is_complex, self._parts(e)))
        if isinstance(e.func, gast.Attribute) and e.func.attr == "astype":
            return any(map(self._names_complex, e.args))
        try:
            if function in functions.REAL:
                return False
            if getattr(function, "__module__", "") == "cmath" or (
                function in vars(cmath).values() and callable(function)
            ):
                return True
            if function in functions.KNOWN:
                return any(map(self.is_complex, self._parts(e)))
        except TypeError:
            return False
        return self._returned(e) is True

    def _parts(self, e: gast.Call) -> list[gast.AST]:
        found: list[gast.AST] = []
        for a in e.args:
            found += a.elts if isinstance(a, (gast.Tuple, gast.List)) else [a]
        return found

    def _dtype(self, e: gast.Call) -> bool | None:
        """Is the dtype complex that a call names? None if it names none."""
        function = self.object_of(e.func)
        given = [k.value for k in e.keywords if k.arg == "dtype"]
        if function in functions.CREATORS:
            place = functions.CREATORS[function]
            given += e.args[place : place + 1]
        if function in (np.array, np.asarray):
            given += e.args[1:2]
        return any(map(self._names_complex, given)) if given else None

    def _names_complex(self, e: gast.AST) -> bool:
        match e:
            case gast.Constant(value=str(text)):
                return is_complex_dtype(text)
            case gast.Attribute(value=base, attr="dtype"):
                return self.is_complex(base)
        return is_complex_dtype(self.object_of(e))

    def _cast_to_real(self, e: gast.Call) -> bool:
        return e.func.attr == "astype" and not any(map(self._names_complex, e.args))

    def _returned(self, e: gast.Call) -> Returned:
        """What a call of a plain function gives: is it complex?"""
        function = plain(self.object_of(e.func))
        if function is None:
            return False
        names = [*zip(parameters_of(function), e.args, strict=False)]
        names += [(k.arg, k.value) for k in e.keywords if k.arg is not None]
        return returned_complex(
            function, tuple(n for n, v in names if self.is_complex(v))
        )

    # ---------------------------------------------------------------- statements

    def _block(self, stmts: Sequence[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in stmts:
            out += self._statement(s)
        return out

    def _mentions(self, s: gast.AST) -> bool:
        return any(
            (isinstance(n, gast.Name) and n.id in self.complex)
            or _is_complex_text(n)
            or (isinstance(n, gast.Call) and self.is_complex(n))
            for n in nodes_of(s)
        )

    def _statement(self, s: gast.AST) -> list[gast.AST]:
        if not self._mentions(s):
            return [s]
        if isinstance(s, (gast.FunctionDef, gast.ClassDef, gast.Lambda)):
            raise NotThisWay
        outer, self.before = self.before, []
        try:
            made = self._made(s)
            before = self.before
        finally:
            self.before = outer
        return [placed(x, s) for x in (*before, *made)]

    def _made(self, s: gast.AST) -> list[gast.AST]:
        match s:
            case gast.Assign(targets=[target], value=value):
                return self._assigned(target, value)
            case gast.AugAssign(target=target, op=op, value=value):
                return self._augmented(s, target, op, value)
            case gast.For():
                target, it = self._loop(s.target, s.iter)
                s.target, s.iter = target, it
                s.body, s.orelse = self._block(s.body), self._block(s.orelse)
                return [s]
            case gast.While():
                before, self.before = self.before, None
                s.test = self.real(s.test)
                self.before = before
                s.body, s.orelse = self._block(s.body), self._block(s.orelse)
                return [s]
            case gast.If():
                s.test = self.real(s.test)
                s.body, s.orelse = self._block(s.body), self._block(s.orelse)
                return [s]
            case gast.Return(value=gast.Tuple(elts=elts)):
                s.value.elts = [self._result(e) for e in elts]
                return [s]
            case gast.Return(value=gast.AST() as value):
                s.value = self._result(value)
                return [s]
            case gast.Expr(value=value):
                s.value = self.real(value)
                return [s]
            case gast.Assert() | gast.Raise():
                if isinstance(s, gast.Assert):
                    s.test = self.real(s.test)
                return [s]
        raise NotThisWay

    def _assigned(self, target: gast.AST, value: gast.AST) -> list[gast.AST]:
        match target:
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                return self._unpacked(elts, value)
            case gast.Name(id=name) if name in self.complex:
                pair = self.pair(value, whole=True)
                return [self._both(target, pair)]
            case gast.Subscript() if self.is_complex(target.value):
                return [self._both(target, self.pair(value))]
        if self.is_complex(value):
            raise NotThisWay  # NumPy drops what is imaginary, and warns
        return [assign([self.real(target)], self.real(value))]

    def _both(self, target: gast.AST, pair: Pair) -> gast.AST:
        """The assignment of both parts at once."""
        targets = self._targets(target)
        return assign(
            [gast.Tuple(list(targets), gast.Store())],
            gast.Tuple(list(pair), gast.Load()),
        )

    def _targets(self, target: gast.AST) -> Pair:
        match target:
            case gast.Name(id=name):
                real, imag = self.names[name]
                return (
                    name_of(real, target, gast.Store()),
                    name_of(imag, target, gast.Store()),
                )
            case gast.Subscript(value=base, slice=index):
                a, b = self.pair(base)
                index = self.real(index)
                return (
                    gast.Subscript(a, index, gast.Store()),
                    gast.Subscript(b, copy.deepcopy(index), gast.Store()),
                )
        raise NotThisWay

    def _unpacked(self, elts: Sequence[gast.AST], value: gast.AST) -> list[gast.AST]:
        targets: list[gast.AST] = []
        match value:
            case gast.Tuple(elts=values) if len(values) == len(elts):
                made: list[gast.AST] = []
                for t, v in zip(elts, values, strict=True):
                    own = isinstance(t, gast.Name) and t.id in self.complex
                    held = isinstance(t, gast.Subscript) and self.is_complex(t.value)
                    if own or held:
                        targets += self._targets(t)
                        made += self.pair(v, whole=own)
                    elif self.is_complex(v):
                        raise NotThisWay
                    else:
                        targets.append(self.real(t))
                        made.append(self.real(v))
                whole: gast.AST = gast.Tuple(made, gast.Load())
            case gast.Call():
                found = self._returned(value)
                if not isinstance(found, tuple) or len(found) != len(elts):
                    if any(
                        isinstance(t, gast.Name) and t.id in self.complex for t in elts
                    ):
                        raise NotThisWay
                    found = tuple(False for _ in elts)
                for t, c in zip(elts, found, strict=True):
                    targets += self._targets(t) if c else [self.real(t)]
                whole = self._call(value)
            case _:
                if self.is_complex(value) or any(
                    isinstance(t, gast.Name) and t.id in self.complex for t in elts
                ):
                    raise NotThisWay
                targets, whole = [self.real(t) for t in elts], self.real(value)
        return [assign([gast.Tuple(targets, gast.Store())], whole)]

    def _augmented(
        self, s: gast.AST, target: gast.AST, op: gast.AST, value: gast.AST
    ) -> list[gast.AST]:
        own = isinstance(target, gast.Name) and target.id in self.complex
        held = isinstance(target, gast.Subscript) and self.is_complex(target.value)
        if not own and not held:
            if self.is_complex(value):
                raise NotThisWay
            s.target, s.value = self.real(target), self.real(value)
            return [s]
        real = not self.is_complex(value)
        if isinstance(op, (gast.Add, gast.Sub)) or (
            real and isinstance(op, (gast.Mult, gast.Div))
        ):
            a, b = self._targets(target)
            if real:
                one = self.held(self.real(value))
                parts = [(a, one)]
                if isinstance(op, (gast.Mult, gast.Div)):
                    parts.append((b, copy.deepcopy(one)))
            else:
                c, d = (self.held(p) for p in self.pair(value))
                parts = [(a, c), (b, d)]
            parts = [(t, v) for t, v in parts if not functions.is_zero(v)]
            return [gast.AugAssign(t, op, v) for t, v in parts]
        if own and not self._is_number(target.id):
            raise NotThisWay  # an array changes in place, a number does not
        load = copy.deepcopy(target)
        load.ctx = gast.Load()
        return [self._both(target, self.pair(gast.BinOp(load, op, value)))]

    def _is_number(self, name: str) -> bool:
        """Is a name bound to numbers by the text, wherever it is?"""
        values = [
            n.value
            for n in nodes_of(self.original)
            if isinstance(n, gast.Assign)
            and any(isinstance(t, gast.Name) and t.id == name for t in n.targets)
        ]
        return bool(values) and any(
            isinstance(v, gast.Constant)
            or (isinstance(v, gast.Call) and self.object_of(v.func) is complex)
            for v in values
        )

    def _loop(self, target: gast.AST, it: gast.AST) -> tuple[gast.AST, gast.AST]:
        match it, target:
            case gast.Call(func=gast.Name(id="enumerate"), args=[inner]), gast.Tuple(
                elts=[index, inside]
            ) if self.is_complex(inner):
                made, over = self._loop(inside, inner)
                it.args = [over]
                return gast.Tuple([index, made], gast.Store()), it
            case gast.Call(func=gast.Name(id="zip"), args=args), gast.Tuple(elts=elts):
                targets: list[gast.AST] = []
                over_: list[gast.AST] = []
                for a, t in zip(args, elts, strict=True):
                    if self.is_complex(a):
                        targets += self._targets(t)
                        over_ += self.pair(a)
                    else:
                        targets.append(t)
                        over_.append(self.real(a))
                it.args = over_
                return gast.Tuple(targets, gast.Store()), it
            case _ if self.is_complex(it):
                both = gast.Call(name_of("zip"), list(self.pair(it)), [])
                return gast.Tuple(list(self._targets(target)), gast.Store()), both
        return target, self.real(it)

    def _result(self, e: gast.AST) -> gast.AST:
        """What is returned: a complex value as a structure."""
        if not self.is_complex(e):
            return self.real(e)
        made = placed(gast.Tuple(list(self.pair(e)), gast.Load()), e)
        setattr(made, SHAPE, COMPLEX)
        return made

    # ---------------------------------------------------------------- expressions

    def held(self, e: gast.AST) -> gast.AST:
        """The value under a name, so that it is evaluated once."""
        if isinstance(e, (gast.Name, gast.Constant)):
            return e
        if isinstance(e, gast.UnaryOp) and isinstance(e.operand, gast.Constant):
            return e
        if isinstance(e, gast.Subscript) and isinstance(e.value, gast.Name):
            simple = (gast.Name, gast.Constant)
            parts = e.slice.elts if isinstance(e.slice, gast.Tuple) else [e.slice]
            if all(isinstance(p, simple) for p in parts):
                return e
        if self.before is None:
            raise NotThisWay
        name = fresh("part", self.taken)
        self.before.append(assign([name_of(name, e, gast.Store())], e))
        return name_of(name, e)

    def pair(self, e: gast.AST, whole: bool = False) -> Pair:
        """The parts of a value; `whole` ones have names of their own later."""
        if not self.is_complex(e):
            real = self.real(e)
            if isinstance(real, gast.Constant) or not whole:
                return real, gast.Constant(0.0, None)
            real = self.held(real)
            test = gast.Compare(real, [gast.Eq()], [copy.deepcopy(real)])
            zeros = [gast.Constant(0.0, None), gast.Constant(0.0, None)]
            return real, numpy_call("where", [test, *zeros])
        match e:
            case gast.Constant(value=value):
                return gast.Constant(value.real, None), gast.Constant(value.imag, None)
            case gast.Name(id=name):
                real, imag = self.names[name]
                return name_of(real, e), name_of(imag, e)
            case gast.UnaryOp(op=op, operand=a):
                x, y = self.pair(a)
                if isinstance(op, gast.UAdd):
                    return x, y
                return functions.negated(x), functions.negated(y)
            case gast.Subscript(value=base, slice=index):
                x, y = self.pair(base)
                index = self.real(index)
                return (
                    gast.Subscript(x, index, gast.Load()),
                    gast.Subscript(y, copy.deepcopy(index), gast.Load()),
                )
            case gast.Attribute(value=base, attr=attr):
                x, y = self.pair(base)
                return (
                    gast.Attribute(x, attr, gast.Load()),
                    gast.Attribute(y, attr, gast.Load()),
                )
            case gast.BinOp(left=a, op=op, right=b):
                return self._operation(op, a, b)
            case gast.IfExp(test=test, body=a, orelse=b):
                one, two = self.pair(a), self.pair(b)
                condition = self.held(self.real(test))
                x, y = (
                    gast.IfExp(copy.deepcopy(condition), p, q)
                    for p, q in zip(one, two, strict=True)
                )
                return x, y
            case gast.List(elts=elts):
                pairs = [self._listed(v) for v in elts]
                return (
                    gast.List([p for p, _ in pairs], gast.Load()),
                    gast.List([q for _, q in pairs], gast.Load()),
                )
            case gast.Call():
                return self._complex_call(e)
        raise NotThisWay

    def _listed(self, e: gast.AST) -> Pair:
        """The parts of what stands in a list, which may be a list of real numbers."""
        if not isinstance(e, gast.List) or self.is_complex(e):
            return self.pair(e)
        zeros: list[gast.AST] = [gast.Constant(0.0, None) for _ in e.elts]
        return self.real(e), gast.List(zeros, gast.Load())

    def _operation(self, op: gast.AST, a: gast.AST, b: gast.AST) -> Pair:
        if isinstance(op, gast.Pow):
            return functions.power(
                tuple(map(self.held, self.pair(a))), b, self.is_complex(b), self
            )
        if isinstance(op, (gast.Add, gast.Sub)):
            one, two = self.pair(a), self.pair(b)
            x, y = (functions.combined(op, p, q) for p, q in zip(one, two, strict=True))
            return x, y
        one, two = (
            tuple(map(self.held, self.pair(a))),
            tuple(map(self.held, self.pair(b))),
        )
        if isinstance(op, gast.Div):
            return functions.quotient(one, two, self.is_complex(b), self.held)
        if isinstance(op, (gast.Mult, gast.MatMult)):
            return functions.product(
                op, one, two, self.is_complex(a), self.is_complex(b)
            )
        raise NotThisWay

    def _complex_call(self, e: gast.Call) -> Pair:
        func, function = e.func, self.object_of(e.func)
        if isinstance(func, gast.Attribute) and (
            self.is_complex(func.value) or func.attr == "astype"
        ):
            return self._method(e, func.value, func.attr)
        if function in (complex, np.complex128, np.complex64):
            args = [self.real(a) for a in e.args if not self.is_complex(a)]
            if len(args) != len(e.args):
                return self.pair(e.args[0])
            return args[0], args[1] if len(args) > 1 else gast.Constant(0.0, None)
        if function in functions.CREATORS or function in (np.array, np.asarray):
            return self._created(e, function)
        made = functions.KNOWN.get(function) or functions.of_cmath(function)
        if made is not None:
            return made(e, self)
        found = self._returned(e)
        if found is True:
            name = [fresh("part", self.taken) for _ in range(2)]
            if self.before is None:
                raise NotThisWay
            targets: list[gast.AST] = [name_of(n, e, gast.Store()) for n in name]
            value = self._call(e)
            self.before.append(assign([gast.Tuple(targets, gast.Store())], value))
            return name_of(name[0], e), name_of(name[1], e)
        raise NotThisWay

    def _method(self, e: gast.Call, base: gast.AST, name: str) -> Pair:
        if not self.is_complex(base):  # x.astype(complex)
            return self.pair(base, whole=True)
        x, y = self.pair(base)
        if name in ("conj", "conjugate"):
            return x, functions.negated(y)
        if name == "astype":
            return x, y
        if name == "dot":
            return self._operation(gast.MatMult(), base, e.args[0])
        parts = []
        for p in (x, y):
            made = copy.copy(e)
            made.func = gast.Attribute(p, name, gast.Load())
            made.args = [self.real(copy.deepcopy(a)) for a in e.args]
            parts.append(made)
        return parts[0], parts[1]

    def _created(self, e: gast.Call, function: object) -> Pair:
        single = self._single(e)
        keywords = [k for k in e.keywords if k.arg != "dtype"]
        place = functions.CREATORS.get(function, 1)
        args = list(e.args[:place])
        dtype = [gast.keyword("dtype", gast.Constant(single, None))]
        name = getattr(function, "__name__", "")
        if name.startswith("full"):
            fill = args.pop() if len(args) > 1 else keywords.pop(0).value
            first = (
                self.real(args[0])
                if not self.is_complex(args[0])
                else self.pair(args[0])[0]
            )
            x, y = self.pair(fill)
            return (
                numpy_call(name, [first, x], dtype),
                numpy_call(name, [copy.deepcopy(first), y], copy.deepcopy(dtype)),
            )
        if function in (np.array, np.asarray):
            x, y = self.pair(args[0], whole=True)
            if isinstance(args[0], gast.List):
                more = dtype if single else []
                return numpy_call("array", [x], more), numpy_call("array", [y], more)
            return numpy_call(name, [x]), numpy_call(name, [y])
        own = [self.pair(a)[0] if self.is_complex(a) else self.real(a) for a in args]
        dtypes = dtype
        other = [copy.deepcopy(a) for a in own]
        zero = (
            "zeros_like" if name == "ones_like" else "zeros" if name == "ones" else name
        )
        return numpy_call(name, own, dtypes), numpy_call(
            zero, other, copy.deepcopy(dtypes)
        )

    def _single(self, e: gast.Call) -> str:
        """The dtype of the parts."""
        given = [k.value for k in e.keywords if k.arg == "dtype"]
        place = functions.CREATORS.get(self.object_of(e.func), 1)
        given += e.args[place : place + 1]
        for g in given:
            single = self.object_of(g) is np.complex64
            if single or (isinstance(g, gast.Constant) and g.value == "complex64"):
                return "float32"
        return "float64"

    def _call(self, e: gast.Call) -> gast.AST:
        """A call of a helper, with structures for its complex arguments."""
        made = copy.copy(e)
        made.args = [self._argument(a) for a in e.args]
        made.keywords = []
        for k in e.keywords:
            one = copy.copy(k)
            one.value = self._argument(k.value)
            made.keywords.append(one)
        return made

    def _argument(self, a: gast.AST) -> gast.AST:
        if not self.is_complex(a):
            return self.real(a)
        made = placed(gast.Tuple(list(map(self.held, self.pair(a))), gast.Load()), a)
        setattr(made, SHAPE, COMPLEX)
        return made

    def real(self, e: gast.AST) -> gast.AST:
        """An expression whose value is not complex."""
        if not self._mentions(e):
            return e
        if self.is_complex(e):
            raise NotThisWay
        match e:
            case gast.Attribute(value=base, attr="real" | "imag" as part) if (
                self.is_complex(base)
            ):
                return self.pair(base)[part == "imag"]
            case gast.Attribute(value=base, attr=attr) if self.is_complex(base):
                if attr not in ("shape", "size", "ndim"):
                    raise NotThisWay
                return gast.Attribute(self.pair(base)[0], attr, gast.Load())
            case gast.Compare(left=a, ops=[op], comparators=[b]) if self.is_complex(
                a
            ) or self.is_complex(b):
                if not isinstance(op, (gast.Eq, gast.NotEq)):
                    raise NotThisWay
                tests = [
                    gast.Compare(p, [op], [q])
                    for p, q in zip(self.pair(a), self.pair(b), strict=True)
                ]
                word = gast.And() if isinstance(op, gast.Eq) else gast.Or()
                return gast.BoolOp(word, tests)
            case gast.BoolOp() | gast.IfExp():
                outer, self.before = self.before, None
                self._inside(e)
                self.before = outer
                return e
            case gast.Call(func=func, args=args):
                return self._real_call(e, func, args)
        self._inside(e)
        return e

    def _inside(self, e: gast.AST) -> None:
        for part, value in gast.iter_fields(e):
            if isinstance(value, gast.AST):
                setattr(e, part, self.real(value))
            elif isinstance(value, list):
                new = [self.real(v) if isinstance(v, gast.AST) else v for v in value]
                setattr(e, part, new)

    def _real_call(
        self, e: gast.Call, func: gast.AST, args: Sequence[gast.AST]
    ) -> gast.AST:
        function = self.object_of(func)
        try:
            made = functions.REAL.get(function)
        except TypeError:
            made = None
        if made is not None and args and self.is_complex(args[0]):
            return made(self.pair(args[0]))
        if (
            isinstance(func, gast.Name)
            and func.id == "len"
            and self.is_complex(args[0])
        ):
            return gast.Call(func, [self.pair(args[0])[0]], [])
        if any(map(self.is_complex, args)) or any(
            self.is_complex(k.value) for k in e.keywords
        ):
            if plain(function) is None:
                raise NotThisWay
            return self._call(e)
        self._inside(e)
        return e


def returned_complex(function: FunctionType, given: tuple[str, ...]) -> Returned:
    """Is what a plain function returns complex, if the parameters `given` are?"""
    if function in _READING:
        return False
    _READING.append(function)
    try:
        node = read(function).node
        if not isinstance(getattr(node, "body", None), list):
            return False
        if not given and not any(map(_is_complex_text, nodes_of(node))):
            names = {n.id for n in nodes_of(node) if isinstance(n, gast.Name)}
            found = [stands_for(function, n) for n in names - local_names(node)]
            if not any(isinstance(plain(v), FunctionType) for v in found):
                return False
        own = _Pairs(node, partial(stands_for, function), given)
        own._find()
        results: set[Returned] = set()
        for n in nodes_of(node):
            match n:
                case gast.Return(value=gast.Tuple(elts=elts)):
                    results.add(tuple(map(own.is_complex, elts)))
                case gast.Return(value=gast.AST() as value):
                    results.add(own.is_complex(value))
        if len(results) == 1:
            (one,) = results
            return one if one is True or isinstance(one, tuple) else False
        return True if results == {True, False} else False
    except (UnsupportedError, NotThisWay):
        return False
    finally:
        _READING.pop()


#: The functions that are being looked at: what calls itself gives no complex number.
_READING: list[FunctionType] = []
