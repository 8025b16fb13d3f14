"""Which names and expressions of a definition are complex numbers, or arrays of them.

A name is complex if one of the values that it is given is: what is real on one path is
complex with an imaginary part of zero there. Kinds only grow, until nothing changes.
"""

from __future__ import annotations

import builtins
import cmath
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from types import CodeType, FunctionType, ModuleType

import gast
import numpy as np

from pyrev.parse.bindings import (
    children,
    functions_inside,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.functions import CREATORS
from pyrev.parse.grounds import MISSING
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.library.transforms import FORMS, form_of
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.made_texts import Lookup, object_named
from pyrev.parse.source import plain
from pyrev.parse.streams import may_draw

#: Is a value complex? Of a tuple, for each element.
Kind = bool | tuple["Kind", ...]

#: What gives a real value of a complex one, and what a complex one of any.
REAL_PARTS: dict[object, str] = {
    builtins.abs: "abs",
    np.abs: "abs",
    np.absolute: "abs",
    np.real: "real",
    np.imag: "imag",
    np.angle: "angle",
    cmath.phase: "angle",
}
#: What gives a complex value of a complex one, element by element.
ELEMENTWISE: dict[object, str] = {
    np.exp: "exp",
    np.log: "log",
    np.sqrt: "sqrt",
    np.sin: "sin",
    np.cos: "cos",
    np.tan: "tan",
    np.sinh: "sinh",
    np.cosh: "cosh",
    np.tanh: "tanh",
    np.log10: "log10",
    np.square: "square",
    np.conj: "conj",
    np.conjugate: "conj",
    np.add: "+",
    np.subtract: "-",
    np.multiply: "*",
    np.divide: "/",
    np.true_divide: "/",
    np.power: "**",
    builtins.pow: "**",
    np.negative: "neg",
}
#: The same of Python's module, complex whatever it is given.
CMATH: dict[object, str] = {
    getattr(cmath, name): name
    for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")
} | {cmath.log10: "log10", cmath.rect: "rect"}
#: What does the same to the real and to the imaginary parts.
LINEAR = frozenset(
    [
        np.append,
        np.sum,
        np.mean,
        np.cumsum,
        np.diff,
        np.flip,
        np.flipud,
        np.fliplr,
        np.ravel,
    ]
    + [np.reshape, np.squeeze, np.expand_dims, np.swapaxes, np.moveaxis, np.roll]
    + [np.ascontiguousarray, np.stack, np.vstack, np.hstack, np.column_stack]
    + [np.concatenate, np.transpose, np.trace, np.diagonal, np.diag, np.where]
    + [np.copy, np.array, np.asarray, np.zeros_like, np.empty_like, np.tile, np.repeat]
    + [np.fft.fftshift, np.fft.ifftshift]
)
METHODS = frozenset(
    ["sum", "mean", "cumsum", "copy", "ravel", "reshape", "flatten", "transpose"]
    + ["squeeze", "swapaxes", "trace", "diagonal", "repeat"]
)
PRODUCTS = frozenset([np.dot, np.matmul, np.outer, np.inner, np.vdot])

_WORDS = frozenset(
    ["complex", "complex64", "complex128", "cdouble", "cmath", "csingle"]
    + ["real", "imag", "conj", "conjugate", *FORMS]
)
_DTYPES = frozenset(["complex", "complex128", "cdouble", "c16", "D"])


def holds_complex(kind: Kind) -> bool:
    """Is anything in it complex?"""
    return any(map(holds_complex, kind)) if isinstance(kind, tuple) else kind


def joined(a: Kind, b: Kind) -> Kind:
    """What is one or the other."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(joined, a, b))
    if isinstance(a, tuple) and not b:
        return a
    if isinstance(b, tuple) and not a:
        return b
    return holds_complex(a) or holds_complex(b)


def is_complex(value: object) -> bool:
    """Is an object a complex number, or an array of them?"""
    if isinstance(value, np.ndarray):
        return bool(value.dtype.kind == "c")
    return isinstance(value, (complex, np.complexfloating))


def may_be_complex(node: gast.AST, lookup: Lookup) -> bool:
    """Is there anything in a definition, or in the functions it calls, that may be?"""
    local = local_names(node)
    for n in nodes_of(node):
        match n:
            case gast.Constant(value=complex()):
                return True
            case gast.Constant(value=str() as text) if text in _DTYPES:
                return True
            case gast.Attribute(attr=attr) if attr in _WORDS:
                return True
            case gast.Name(id=name) if name not in local:
                found = lookup(name)
                if is_complex(found) or found is complex or name in _WORDS:
                    return True
                if _of_functions(found, []):
                    return True
    return False


def _of_functions(found: object, seen: list[FunctionType]) -> bool:
    """May a function that is called have to do with complex numbers?"""
    function = plain(found) if callable(found) else None
    if function is None or function in seen:
        return False
    seen.append(function)
    names, constants = _named(function.__code__)
    if names & _WORDS:
        return True
    if any(isinstance(c, complex) or (c in _DTYPES) for c in constants):
        return True
    values = [stands_for(function, n) for n in names]
    if any(is_complex(v) or v is complex for v in values):
        return True
    return any(_of_functions(v, seen) for v in values)


def _named(code: CodeType) -> tuple[set[str], list[object]]:
    """The names outside of code and its constants, those of functions in it too."""
    names = {*code.co_names, *code.co_freevars}
    constants: list[object] = []
    for c in code.co_consts:
        if isinstance(c, CodeType):
            inner, more = _named(c)
            names |= inner
            constants += more
        elif isinstance(c, (complex, str)):
            constants.append(c)
    return names, constants


@dataclass(slots=True)
class Place:
    """One definition: the kinds of its names, of its result, the functions in it."""

    node: gast.AST
    outer: Place | None
    local: frozenset[str]
    kinds: dict[str, Kind] = field(default_factory=dict)
    result: Kind = False
    inner: dict[str, Place] = field(default_factory=dict)

    def holder(self, name: str) -> Place | None:
        """The definition whose name it is; None of a name outside."""
        place: Place | None = self
        while place is not None and name not in place.local:
            place = place.outer
        return place


class Kinds:
    """What is complex in a definition, whose parameters of these names are."""

    def __init__(self, node: gast.AST, lookup: Lookup, given: Iterable[str]) -> None:
        self.lookup = lookup
        self.root = self._place(node, None)
        self.complex_parameters = frozenset(given)
        self.root.kinds |= dict.fromkeys(self.complex_parameters, True)
        self._known: dict[tuple[FunctionType, tuple[str, ...]], Kind] = {}
        self.changed = True
        while self.changed:
            self.changed = False
            self._look(self.root)

    def _place(self, node: gast.AST, outer: Place | None) -> Place:
        place = Place(node, outer, local_names(node))
        for inner in functions_inside(node):
            if isinstance(inner, gast.FunctionDef) and _directly(inner, node):
                place.inner[inner.name] = self._place(inner, place)
        return place

    # ---------------------------------------------------------------- statements

    def _look(self, place: Place) -> None:
        body = place.node.body
        if not isinstance(body, list):
            self._returned(place, self.of(body, place))
            return
        for s in body:
            self._statement(s, place)

    def _statement(self, s: gast.AST, place: Place) -> None:
        match s:
            case gast.FunctionDef(name=name):
                self._look(place.inner[name])
                return
            case gast.Assign(targets=targets, value=value):
                kind = self.of(value, place)
                for target in targets:
                    self._bind(target, kind, place)
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                self._grow(name, self.of(value, place), place)
                if name in place.kinds and place.kinds[name] is not True:
                    self._grow(name, holds_complex(place.kinds[name]), place)
            case gast.For(target=target, iter=iterated):
                self._bind(target, self.elements(iterated, place), place)
            case gast.Return(value=gast.AST() as value):
                self._returned(place, self.of(value, place))
        for child in children(s):
            if isinstance(child, gast.stmt):
                self._statement(child, place)
            else:
                self._calls(child, place)

    def _returned(self, place: Place, kind: Kind) -> None:
        new = joined(place.result, kind)
        if new != place.result:
            place.result, self.changed = new, True

    def _calls(self, e: gast.AST, place: Place) -> None:
        """Note what the functions inside are called with."""
        for n in nodes_of(e):
            if isinstance(n, gast.Call):
                self._given(n, place)

    def _given(self, call: gast.Call, place: Place) -> None:
        called = self.inside(call.func, place)
        if called is None:
            return
        spec = called.node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        given = [*zip(positional, call.args, strict=False)]
        given += [(k.arg, k.value) for k in call.keywords if k.arg is not None]
        for name, value in given:
            self._grow(name, holds_complex(self.of(value, place)), called)

    def _bind(self, target: gast.AST, kind: Kind, place: Place) -> None:
        match target:
            case gast.Name(id=name):
                self._grow(name, kind, place)
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                fits = isinstance(kind, tuple) and len(kind) == len(elts)
                for k, t in enumerate(elts):
                    own = kind[k] if fits and isinstance(kind, tuple) else kind
                    self._bind(t, holds_complex(own) if not fits else own, place)

    def _grow(self, name: str, kind: Kind, place: Place) -> None:
        old = place.kinds.get(name, False)
        new = joined(old, kind)
        if holds_complex(new) and new != old:
            place.kinds[name], self.changed = new, True

    # ---------------------------------------------------------------- expressions

    def inside(self, func: gast.AST, place: Place) -> Place | None:
        """The definition inside that a name stands for."""
        if not isinstance(func, gast.Name):
            return None
        holder = place.holder(func.id)
        return None if holder is None else holder.inner.get(func.id)

    def outside(self, e: gast.AST, place: Place) -> object:
        """What an expression stands for that is none of the definition's own."""
        local: frozenset[str] = frozenset()
        around: Place | None = place
        while around is not None:
            local |= around.local
            around = around.outer
        return object_named(e, local, self.lookup)

    def is_outside(self, e: gast.AST, place: Place) -> bool:
        """Does an expression stand for something outside, as ``math.pi`` does?"""
        return self.outside(e, place) not in (None, MISSING)

    def is_about_complex(self, e: gast.Call, place: Place) -> bool:
        """Is a function of complex numbers called, whatever it is given?"""
        function = self.outside(e.func, place)
        try:
            word = REAL_PARTS.get(function) or ELEMENTWISE.get(function)
            if form_of(function) is not None:
                return True
            return function in CMATH or word in ("real", "imag", "angle", "conj")
        except TypeError:  # what can't be hashed
            return False

    def calls_helper(self, e: gast.AST, place: Place) -> bool:
        """Is a function called in an expression that may change an array?"""
        for n in nodes_of(e):
            if isinstance(n, gast.Call):
                if self.inside(n.func, place) is not None:
                    return True
                function = self.outside(n.func, place)
                own = plain(function) if callable(function) else None
                if own is not None and str(own.__module__).split(".")[0] != "numpy":
                    return True
        return False

    def acts(self, e: gast.AST, place: Place) -> bool:
        """Does something happen where an expression is evaluated: a call that may
        change an array, or a draw?
        """
        return self.calls_helper(e, place) or any(
            isinstance(n, gast.Call) and may_draw(n.func, self.outside(n.func, place))
            for n in nodes_of(e)
        )

    def has(self, e: gast.AST, place: Place) -> bool:
        """Is a value complex, or a tuple with something complex?"""
        return holds_complex(self.of(e, place))

    def of(self, e: gast.AST, place: Place) -> Kind:
        """The kind of an expression."""
        match e:
            case gast.Constant(value=value):
                return isinstance(value, complex)
            case gast.Name(id=name):
                holder = place.holder(name)
                if holder is not None:
                    return holder.kinds.get(name, False)
                return is_complex(self.lookup(name))
            case gast.Tuple(elts=elts):
                return tuple(self.of(v, place) for v in elts)
            case gast.List(elts=elts):
                return any(self.has(v, place) for v in elts)
            case gast.BinOp(left=a, right=b):
                return self.has(a, place) or self.has(b, place)
            case gast.UnaryOp(op=op, operand=a):
                return not isinstance(op, gast.Not) and self.has(a, place)
            case gast.BoolOp(values=values):
                return any(self.has(v, place) for v in values)
            case gast.IfExp(body=a, orelse=b):
                return joined(self.of(a, place), self.of(b, place))
            case gast.Starred(value=value):
                return self.has(value, place)
            case gast.Subscript(value=base, slice=index):
                return self._element(self.of(base, place), index)
            case gast.Attribute(value=base, attr=attr):
                if is_complex(self.outside(e, place)):
                    return True
                return attr == "T" and self.has(base, place)
            case gast.Call():
                return self._of_call(e, place)
        return False

    def _element(self, kind: Kind, index: gast.AST) -> Kind:
        if isinstance(kind, tuple):
            if isinstance(index, gast.Constant) and isinstance(index.value, int):
                if -len(kind) <= index.value < len(kind):
                    return kind[index.value]
            return holds_complex(kind)
        return kind

    def elements(self, e: gast.AST, place: Place) -> Kind:
        """The kind of what a loop over an expression gives."""
        match e:
            case gast.Call(func=func, args=args):
                function = self.outside(func, place)
                if function is zip:
                    return tuple(self.elements(a, place) for a in args)
                if function is enumerate and args:
                    return (False, self.elements(args[0], place))
                if function is reversed and args:
                    return self.elements(args[0], place)
            case gast.Tuple(elts=elts) | gast.List(elts=elts):
                found: Kind = False
                for v in elts:
                    found = joined(found, self.of(v, place))
                return found
        return self.has(e, place)

    def _of_call(self, e: gast.Call, place: Place) -> Kind:
        called = self.inside(e.func, place)
        if called is not None:
            return called.result
        function = self.outside(e.func, place)
        values = [*e.args, *(k.value for k in e.keywords)]
        if isinstance(e.func, gast.Attribute) and not isinstance(
            self.outside(e.func.value, place), ModuleType
        ):
            base = self.has(e.func.value, place)
            attr = e.func.attr
            if attr == "astype":
                return any(self.is_dtype(v, place) for v in values)
            if attr == "dot":
                return base or any(self.has(v, place) for v in values)
            return base and attr in (*METHODS, "conj", "conjugate")
        try:
            if function is complex or function is np.complex128 or function in CMATH:
                return True
            if function in REAL_PARTS:
                return False
            if function in CREATORS:
                return self._created(e, function, place)
            if function in ELEMENTWISE or function in PRODUCTS or function in LINEAR:
                return any(self.has(v, place) for v in values)
        except TypeError:  # what can't be hashed
            return False
        form = form_of(function)
        if form is not None:
            return form.complex
        if function is builtins.sum:
            return bool(values) and self.has(values[0], place)
        own = plain(function) if callable(function) else None
        if own is None or any(isinstance(a, gast.Starred) for a in e.args):
            return False
        return self.returned(own, e, place)

    def _created(self, e: gast.Call, function: object, place: Place) -> bool:
        dtype = dtype_of(e, function)
        if dtype is not None:
            return self.is_dtype(dtype, place)
        if function in (np.zeros, np.ones, np.empty, np.eye, np.identity, np.arange):
            return False
        return any(self.has(v, place) for v in e.args)

    def is_dtype(self, e: gast.AST, place: Place) -> bool:
        """Does an expression stand for the dtype of complex numbers?"""
        match e:
            case gast.Constant(value=value):
                return value in _DTYPES
            case gast.Attribute(value=base, attr="dtype"):
                return self.has(base, place)
        found = self.outside(e, place)
        return found is complex or found is np.complex128

    def returned(self, function: FunctionType, call: gast.Call, place: Place) -> Kind:
        """What a helper returns for such arguments."""
        node = definition_of(function)
        if node is None or not _of_functions(function, []):
            given = any(self.has(a, place) for a in call.args)
            given = given or any(self.has(k.value, place) for k in call.keywords)
            if node is None or not given:
                return False
        key = function, self.given(node, call, place)
        if key not in self._known:
            self._known[key] = kinds_of(function, node, key[1])
        return self._known[key]

    def given(self, node: gast.AST, call: gast.Call, place: Place) -> tuple[str, ...]:
        """The parameters of a definition that a call gives complex values."""
        spec = node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        pairs = [*zip(positional, call.args, strict=False)]
        pairs += [(k.arg or "", k.value) for k in call.keywords]
        return tuple(n for n, v in pairs if self.has(v, place))


def kinds_of(function: FunctionType, node: gast.AST, given: tuple[str, ...]) -> Kind:
    """What a plain function returns where these parameters are complex."""

    def look() -> Kind:
        own = {p.id for p in parameters(node)} & {*given}
        return Kinds(node, partial(stands_for, function), own).root.result

    none: Kind = False
    return looked(function, "complex", look, none, given)


def dtype_of(e: gast.Call, function: object) -> gast.AST | None:
    """The dtype that a new array is to have, where a call says so."""
    for k in e.keywords:
        if k.arg == "dtype":
            return k.value
    second: list[object] = [np.zeros, np.ones, np.empty, np.array, np.asarray]
    second += [np.zeros_like, np.ones_like, np.empty_like, np.identity]
    places: dict[object, int] = dict.fromkeys(second, 1)
    places |= {np.full: 2, np.full_like: 2, np.eye: 3}
    at = places.get(function)
    return e.args[at] if at is not None and len(e.args) > at else None


def _directly(inner: gast.AST, node: gast.AST) -> bool:
    """Is a function defined by a definition itself, and by none inside of it?"""
    between = [f for f in functions_inside(node) if f is not inner]
    return not any(inner in functions_inside(f) for f in between)
