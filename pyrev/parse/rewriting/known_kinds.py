"""Tests of what an argument is, before anything is lowered: a call decides them.

Python text in, Python text out::

    def f(x, w):                         def f(x, w):       # called with a vector
        if x.ndim == 1:                      x = x[None, :]
            x = x[None, :]        ->         w = np.full(len(x), w)   # and a number
        if np.isscalar(w):
            w = np.full(len(x), w)

It is what the parameter is in the call, and no longer asked once its name is bound
again.
"""

from __future__ import annotations

import copy
import operator
from abc import ABCMeta
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

import gast
import numpy as np

from pyrev.parse.bindings import (
    COMPARED,
    literal_integer,
    local_names,
    mapped,
    nodes_of,
    parameters,
    statements,
)
from pyrev.parse.functions import dtype_name
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    assign,
    name_of,
    number_of,
    numpy_call,
    object_named,
    placed,
    read_in,
    stored_in,
)
from pyrev.parse.source import parameters_of, plain


@dataclass(frozen=True, slots=True)
class Tested:
    """What a call gives for a parameter, as far as a text asks: the number of its axes,
    its dtype, its class; and the number itself, where it says which axis is meant.
    """

    axes: int | None = None
    dtype: str | None = None
    cls: type | None = None
    number: int | None = None
    #: Is that a truth value, which is another literal than the equal integer?
    truth: bool = False


class Number:
    """The class of a number of which no more is known: of Python or of NumPy."""


class Several:
    """The class of an array or a list."""


_AXES, _DTYPE, _CLASS, NUMBER = "axes", "dtype", "cls", "number"

#: What these are no instances of, for sure.
_NOT: dict[type, frozenset[type]] = {
    Number: frozenset([np.ndarray, list, tuple, dict, str, set]),
    Several: frozenset([int, float, complex, bool, str, dict, set, np.generic]),
}

#: Behind the array, these take axes, or the order of a norm.
_TAKE_AXES = (
    [np.sum, np.prod, np.mean, np.std, np.var, np.min, np.max, np.any, np.all]
    + [np.argmin, np.argmax, np.cumsum, np.cumprod, np.median, np.diff, np.flip]
    + [np.sort, np.argsort, np.expand_dims, np.squeeze, np.swapaxes, np.moveaxis]
    + [np.concatenate, np.stack, np.amin, np.amax, np.linalg.norm, np.size]
)
#: As methods these take them first.
_METHODS = frozenset("sum prod mean std var min max any all argmin argmax".split())
_METHODS |= {"cumsum", "cumprod", "squeeze", "swapaxes"}
#: The keywords that say which axes are meant, and whether they stay.
_KEYWORDS = frozenset(["axis", "axes", "keepdims", "ord"])
#: So deep in helpers it is looked for.
_DEPTH = 3

#: What is not known before a call.
_OPEN = object()

_COMPREHENSIONS = (gast.ListComp, gast.GeneratorExp, gast.SetComp, gast.DictComp)
_END = (gast.Return, gast.Raise, gast.Break, gast.Continue)


def tested_parameters(node: gast.AST, lookup: Lookup) -> dict[str, frozenset[str]]:
    """The parameters of which tests ask what they are, and what they ask."""
    own = {p.id for p in parameters(node)}
    local = local_names(node)
    found: dict[str, set[str]] = {}
    for n in nodes_of(node):
        asked = [n] if isinstance(n, gast.Call) else []
        if isinstance(n, gast.Compare):
            asked = [n.left, *n.comparators]
        for e in asked:
            name, aspect = _asked(e, local, lookup)
            of_type = isinstance(e, gast.Call) and e is n and _is_type(e)
            if name is not None and name in own and not of_type:
                found.setdefault(name, set()).add(aspect)
    numbers = _axes_named(node, own, lookup)
    for name in numbers:
        found.setdefault(name, set()).add(NUMBER)
    for n in nodes_of(node) if numbers else ():  # ``axis += x.ndim``
        counted, aspect = _asked(n, local, lookup)
        if counted is not None and counted in own and aspect == _AXES:
            found.setdefault(counted, set()).add(_AXES)
    return {n: frozenset(aspects) for n, aspects in found.items()}


def _axes_named(
    node: gast.AST, own: Set[str], lookup: Lookup, depth: int = 0
) -> set[str]:
    """The parameters `own` that say which axis is meant, here or in helpers."""
    local = local_names(node)
    found: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Call(func=func, args=args, keywords=keywords):
                function = object_named(func, local, lookup)
                helper = isinstance(func, gast.Name) and plain(function) is not None
                named = [] if helper else keywords  # of a helper it says what they mean
                said = [k.value for k in named if k.arg in _KEYWORDS]
                if any(function is f for f in _TAKE_AXES):
                    said += args[1:]
                elif isinstance(func, gast.Attribute) and func.attr in _METHODS:
                    said += args
                found |= own & {name for e in said for name in read_in(e)}
                if helper and depth < _DEPTH:
                    found |= own & _axes_given(function, n, own, depth)
            case gast.Subscript(value=gast.Attribute(attr="shape"), slice=index):
                found |= own & read_in(index)
    return found


def _axes_given(
    function: object, call: gast.Call, own: Set[str], depth: int
) -> set[str]:
    """What a helper gets in the place of its `_axes_named`."""
    helper = plain(function)
    node = None if helper is None else definition_of(helper)
    if helper is None or node is None or not read_in(call) & own:
        return set()
    pairs = dict(zip(parameters_of(helper), call.args, strict=False))
    pairs |= {k.arg: k.value for k in call.keywords if k.arg in parameters_of(helper)}
    named = _axes_named(node, pairs.keys(), partial(stands_for, helper), depth + 1)
    return {name for n in named for name in read_in(pairs[n])}


def tested(value: object, aspects: Collection[str]) -> Tested:
    """What these tests find of an argument."""
    axes = dtype = None
    if _AXES in aspects:
        axes = getattr(value, "ndim", 0 if isinstance(value, (int, float)) else None)
    if _DTYPE in aspects and hasattr(value, "dtype"):
        dtype = str(value.dtype)
    number = None
    if NUMBER in aspects and isinstance(value, (int, np.integer)):
        number = value if isinstance(value, bool) else int(value)
    truth = isinstance(number, bool)
    return Tested(
        axes, dtype, type(value) if _CLASS in aspects else None, number, truth
    )


def with_kinds(node: gast.AST, kinds: Mapping[str, Tested], lookup: Lookup) -> gast.AST:
    """The definition `node` for calls in which the parameters are of these `kinds`;
    itself if it does not ask.

    >>> import gast
    >>> text = '''
    ... def f(x, w):
    ...     if x.ndim == 1 and not np.isscalar(w):
    ...         x = x[None, :]
    ...     return x if isinstance(w, float) else x * x.ndim
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> kinds = {"x": Tested(1), "w": Tested(cls=np.ndarray)}
    >>> outside = {"np": np, "isinstance": isinstance, "float": float}
    >>> print(gast.unparse(with_kinds(definition, kinds, outside.get)).strip())
    def f(x, w):
        x = x[None, :]
        return x * x.ndim
    """
    if not isinstance(getattr(node, "body", None), list):
        return node
    own = local_names(node) - kinds.keys()
    axes = _axes_named(node, own, lookup, _DEPTH) - {p.id for p in parameters(node)}
    if not kinds and not axes:
        return node
    made = copy.copy(node)
    walk = _Walk(node, {**dict.fromkeys(axes, Tested()), **kinds}, lookup)
    made.body = walk.block(node.body, set(kinds)) or [placed(gast.Pass(), node)]
    return made


def _asked(
    e: gast.AST, local: frozenset[str], lookup: Lookup
) -> tuple[str | None, str]:
    """The name of which an expression asks what it is, and which of that."""
    match e:
        case gast.Attribute(value=gast.Name(id=name), attr="ndim"):
            return name, _AXES
        case gast.Attribute(value=gast.Name(id=name), attr="dtype"):
            return name, _DTYPE
        case gast.Call(
            func=func, args=[gast.Attribute(value=gast.Name(id=name), attr="shape")]
        ) if object_named(func, local, lookup) is len:
            return name, _AXES
        case gast.Call(func=func, args=[gast.Name(id=name), *_]):
            function = object_named(func, local, lookup)
            if any(function is f for f in (np.ndim, np.atleast_1d, np.atleast_2d)):
                return name, _AXES
            if any(function is f for f in (isinstance, np.isscalar, type)):
                return name, _CLASS
    return None, ""


def _is_type(e: gast.Call) -> bool:
    """Is a class asked for, which only a comparison decides?"""
    return isinstance(e.func, gast.Name) and bool(e.func.id == "type")


class _Walk:
    """Goes through statements in their order, with the names that still are what the
    call gave.
    """

    def __init__(
        self, node: gast.AST, kinds: dict[str, Tested], lookup: Lookup
    ) -> None:
        self.kinds, self.lookup = kinds, lookup
        #: How many loops and branches are around, those apart that are decided.
        self.depth = 0
        self.local = local_names(node)
        every = [n for n in nodes_of(node) if isinstance(n, gast.Name)]
        bound = {n.id for n in every if isinstance(n.ctx, (gast.Store, gast.Del))}
        #: The names that are never bound again: functions inside may ask of them, too.
        self.fixed = kinds.keys() - bound

    def block(self, stmts: Sequence[gast.AST], live: set[str]) -> list[gast.AST]:
        """The statements; names that they bind are no longer `live` behind them."""
        out: list[gast.AST] = []
        for s in stmts:
            out += self.statement(s, live)
            if out and isinstance(out[-1], _END):
                break
        return out

    def statement(self, s: gast.AST, live: set[str]) -> list[gast.AST]:
        match s:
            case gast.If():
                test = self.expression(s.test, live)
                if isinstance(test, gast.Constant):
                    return self.block(s.body if test.value else s.orelse, live)
                made = copy.copy(s)
                made.test = test
                one, other = set(live), set(live)
                self.depth += 1
                made.body = self.block(s.body, one) or [placed(gast.Pass(), s)]
                made.orelse = self.block(s.orelse, other)
                self.depth -= 1
                live &= one & other
                return [made]
            case gast.For() | gast.While():
                live -= stored_in(s)
                made = copy.copy(s)
                if isinstance(s, gast.For):
                    made.iter = self.expression(s.iter, live)
                else:
                    made.test = self.expression(s.test, live)
                self.depth += 1
                made.body = self.block(s.body, set(live)) or [placed(gast.Pass(), s)]
                made.orelse = self.block(s.orelse, set(live))
                self.depth -= 1
                return [made]
            case gast.FunctionDef():
                own = {p.id for p in parameters(s)} | stored_in(s)
                made = copy.copy(s)
                inside = (self.fixed & live) - own
                self.depth += 1
                made.body = self.block(s.body, inside) or [placed(gast.Pass(), s)]
                self.depth -= 1
                live.discard(s.name)
                return [made]
            case gast.ClassDef():
                return [s]
            case gast.AugAssign(target=gast.Name(id=name), op=op, value=value):
                if name in live and self.kinds[name].number is not None:
                    now = placed(gast.BinOp(name_of(name), op, value), s)
                    s = gast.copy_location(assign([s.target], now), s)
        if statements(s):  # others with statements inside: in which order is not said
            live -= stored_in(s)
            self.depth += 1
        made = self.expression(s, live)
        self.depth -= bool(statements(s))
        live -= stored_in(s)
        match made:
            case gast.Assign(targets=[gast.Name(id=name)]) if name in self.kinds:
                number = literal_integer(made.value)
                if number is not None and not self.depth:
                    self.kinds[name] = Tested(number=number)
                    live.add(name)
        return [made]

    def expression(self, e: gast.AST, live: Collection[str]) -> gast.AST:
        """The same with what is known in the place of tests."""
        if isinstance(e, gast.Lambda):
            made = copy.copy(e)
            inside = self.fixed & {*live} - {p.id for p in parameters(e)}
            made.body = self.expression(e.body, inside)
            return made
        match e:
            case gast.Compare(ops=[gast.Is() | gast.IsNot()], comparators=[right]):
                if isinstance(right, gast.Constant) and right.value is None:
                    return e
        if isinstance(e, _COMPREHENSIONS):
            live = {*live} - stored_in(e)  # which have names of their own
        if isinstance(e, gast.Name):
            number = self.kinds[e.id].number if e.id in live else None
            if number is None or not isinstance(e.ctx, gast.Load):
                return e
            return placed(number_of(number), e)
        name, aspect = _asked(e, self.local, self.lookup)
        if name is not None and name in live:
            said = self._said(e, name, aspect)
            if said is not None:
                return placed(said, e)
        made = mapped(e, lambda part: self.expression(part, live))
        found = _decided(made)
        if isinstance(found, bool):
            return placed(gast.Constant(found, None), e)
        if isinstance(made, gast.Compare) and len(made.ops) == 1:
            same = self._same_dtype(made, live)
            if same is not None:
                return placed(gast.Constant(same, None), e)
        return made if found is None else placed(found, e)

    def _said(self, e: gast.AST, name: str, aspect: str) -> gast.AST | None:
        kind = self.kinds[name]
        if aspect == _AXES and kind.axes is not None:
            if isinstance(e, gast.Attribute):
                return gast.Constant(kind.axes, None)
            function = object_named(e.func, self.local, self.lookup)
            if function is np.ndim or function is len:
                return gast.Constant(kind.axes, None)
            if len(e.args) == 1:
                return _at_least(e.args[0], kind.axes, 1 + (function is np.atleast_2d))
        if aspect == _CLASS and kind.cls is not None and isinstance(e, gast.Call):
            function = object_named(e.func, self.local, self.lookup)
            if function is isinstance and len(e.args) == 2:
                classes = self._classes(e.args[1])
                if kind.cls in _NOT and not {*(classes or ())} <= _NOT[kind.cls]:
                    return None
                if classes is not None:
                    return gast.Constant(issubclass(kind.cls, classes), None)
            if function is np.isscalar and len(e.args) == 1:
                scalars = (int, float, complex, str, np.generic, Number)
                return gast.Constant(issubclass(kind.cls, scalars), None)
        return None

    def _classes(self, e: gast.AST) -> tuple[type, ...] | None:
        """The classes that an expression names."""
        if isinstance(e, gast.Tuple):
            parts = [self._classes(part) for part in e.elts]
            return None if None in parts else tuple(c for p in parts for c in p or ())
        found = object_named(e, self.local, self.lookup)
        # Other classes may say for themselves what an instance is.
        if isinstance(found, type) and type(found) in (type, ABCMeta):
            return (found,)
        return None

    def _same_dtype(self, e: gast.Compare, live: Collection[str]) -> bool | None:
        """How ``x.dtype == np.float32`` and ``type(x) is float`` come out."""
        (op,), (right,) = e.ops, e.comparators
        for own, other in ((e.left, right), (right, e.left)):
            name, aspect = _asked(own, self.local, self.lookup)
            if name is None or name not in live or type(op) not in _SAME:
                continue
            kind, found = self.kinds[name], object_named(other, self.local, self.lookup)
            if aspect == _DTYPE and kind.dtype is not None:
                if isinstance(other, gast.Call) and len(other.args) == 1:
                    if object_named(other.func, self.local, self.lookup) is np.dtype:
                        other = other.args[0]
                        found = object_named(other, self.local, self.lookup)
                if isinstance(other, gast.Constant):
                    found = other.value
                if dtype_name(found) is not None and not isinstance(op, _IDENTITY):
                    return (kind.dtype == dtype_name(found)) is _SAME[type(op)]
            if kind.cls in _NOT:
                continue
            if aspect == _CLASS and kind.cls is not None and isinstance(found, type):
                if isinstance(own, gast.Call) and len(own.args) == 1:
                    if object_named(own.func, self.local, self.lookup) is type:
                        return (kind.cls is found) is _SAME[type(op)]
        return None


_SAME = {gast.Eq: True, gast.Is: True, gast.NotEq: False, gast.IsNot: False}
_IDENTITY = (gast.Is, gast.IsNot)


def _at_least(array: gast.AST, axes: int, most: int) -> gast.AST | None:
    """``np.atleast_1d(a)`` and ``np.atleast_2d(a)`` where `a` has so many axes."""
    if axes >= most:
        return array
    if axes == 0:
        inner: gast.AST = gast.List([array], gast.Load())
        for _ in range(most - 1):
            inner = gast.List([inner], gast.Load())
        return numpy_call("array", [inner])
    index = gast.Tuple(
        [gast.Constant(None, None), gast.Slice(None, None, None)], gast.Load()
    )
    return gast.Subscript(array, index, gast.Load())


_COMPUTED: dict[type, Callable[[int, int], int]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Mod: operator.mod,
}


def _decided(e: gast.AST) -> bool | gast.AST | None:
    """How a test of literals comes out, or what is left of it; None for others."""
    match e:
        case gast.Compare(left=left, ops=[op], comparators=[right]):
            one = literal_integer(left)
            if isinstance(op, (gast.In, gast.NotIn)):
                if one is None or not isinstance(right, (gast.Tuple, gast.List)):
                    return None
                numbers = [literal_integer(x) for x in right.elts]
                within = one in numbers
                return None if None in numbers else within is isinstance(op, gast.In)
            two = literal_integer(right)
            compared = COMPARED.get(type(op))
            if one is not None and two is not None and compared is not None:
                return compared(one, two)
        case gast.BinOp(left=left, op=op, right=right) if type(op) in _COMPUTED:
            one, two = literal_integer(left), literal_integer(right)
            if (
                one is not None
                and two is not None
                and (two or type(op) is not gast.Mod)
            ):
                return number_of(_COMPUTED[type(op)](one, two))
        case gast.UnaryOp(op=gast.Not(), operand=gast.Constant(value=bool() as value)):
            return not value
        case gast.IfExp(test=gast.Constant(value=bool() as value)):
            return e.body if value else e.orelse
        case gast.BoolOp(op=op, values=values):
            return _joined(isinstance(op, gast.Or), values, e)
    return None


def _joined(ends: bool, values: Sequence[gast.AST], e: gast.AST) -> Any:
    """What is left of ``a and b``: a truth value that decides ends it, and one behind
    `a` is what the whole gives if `a` does not decide.
    """
    left: list[gast.AST] = []
    for k, v in enumerate(values):
        if isinstance(v, gast.Constant) and isinstance(v.value, bool):
            if v.value is ends:
                if not left:
                    return ends
                left.append(v)
                break
            if left and k == len(values) - 1:
                left.append(v)
        else:
            left.append(v)
    if len(left) == len(values):
        return None
    if not left:
        return not ends
    if len(left) == 1:
        return left[0]
    made = copy.copy(e)
    made.values = left
    return made
