"""Which names of a function may stand for one array, or for parts of one: see `room`.

By the text alone, and rather too many: a name that is bound to what another one stands
for, or to a part of that, shares with it, wherever in the function.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import gast

from pyrev.parse.bindings import nodes_of, parameters
from pyrev.parse.rewriting.made_texts import read_in, root_of, stored_in

#: Functions that write to nothing, and methods and functions that give what is new.
PURE = frozenset(
    ["len", "abs", "min", "max", "sum", "int", "float", "range", "round"]
    + ["zip", "enumerate", "reversed"]
)
FRESH = frozenset(
    ["copy", "sum", "mean", "min", "max", "dot", "astype", "zeros", "ones", "empty"]
    + ["full", "zeros_like", "ones_like", "empty_like", "array", "sqrt", "exp", "abs"]
    + ["arange", "linspace", "any", "all", "argmin", "argmax", "var", "std", "prod"]
    + ["sin", "cos", "log", "flatnonzero", "where", "normal", "random", "uniform"]
)
#: What an array says of itself in numbers.
_MEASURES = frozenset(["shape", "size", "ndim", "dtype", "nbytes", "itemsize"])


class Shared:
    """Names in classes: of each class one may be another, or a part of it.

    `gives_back` says whether a call may return one of the names among its arguments.
    """

    def __init__(
        self, node: gast.AST, gives_back: Callable[[gast.Call, str], bool]
    ) -> None:
        self.numbers = numbers(node)
        self._gives_back = gives_back
        self._over: dict[str, str] = {}
        for n in nodes_of(node):
            match n:
                case gast.Assign(targets=targets, value=value):
                    self._join(_stored(targets))
                    for t in targets:
                        self._bound(t, value)
                case gast.AnnAssign(target=target, value=value) if value is not None:
                    self._bound(target, value)
                case gast.NamedExpr(target=target, value=value):
                    self._bound(target, value)
                case gast.For(target=target, iter=value):
                    if not _counts(value):
                        self._join([*stored_in(_as_stored(target)), *read_in(value)])
                case gast.Call(func=gast.Attribute(value=base, attr=attr), args=args):
                    if attr in ("append", "insert", "extend"):
                        roots = {r for e in args for r in self.roots(e)}
                        self._join([root_of(base), *roots])

    def _bound(self, target: gast.AST, value: gast.AST) -> None:
        match target, value:
            case (
                (gast.Tuple(elts=a) | gast.List(elts=a)),
                (gast.Tuple(elts=b) | gast.List(elts=b)),
            ) if len(a) == len(b):
                for one, other in zip(a, b, strict=True):
                    self._bound(one, other)
            case (gast.Subscript(slice=place), _) if not isinstance(
                place, gast.Constant
            ) or not isinstance(place.value, str):
                pass  # its elements are copied
            case _:
                self._join(
                    [
                        *stored_in(_as_stored(target)),
                        root_of(target),
                        *self.roots(value),
                    ]
                )

    def roots(self, e: gast.AST) -> set[str]:
        """The names of which an expression may give the array, or a part."""
        match e:
            case gast.Constant() | gast.BinOp() | gast.Compare() | gast.UnaryOp():
                return set()
            case gast.Name(id=name):
                return {name} - self.numbers
            case gast.Attribute(attr=attr) if attr in _MEASURES:
                return set()
            case gast.Subscript() | gast.Attribute():
                root = root_of(e)
                return {root} - self.numbers if root else read_in(e) - self.numbers
            case gast.IfExp(body=a, orelse=b):
                return self.roots(a) | self.roots(b)
            case gast.Call(func=gast.Attribute(attr=attr)) if attr in FRESH:
                return set()
            case gast.Call(func=gast.Name(id=name)) if name in PURE:
                return set()
            case gast.Call():
                found = read_in(e) - self.numbers
                return {n for n in found if self._gives_back(e, n)}
        return read_in(e) - self.numbers

    def _join(self, names: Iterable[str]) -> None:
        found = [n for n in dict.fromkeys(names) if n and n not in self.numbers]
        for one, other in zip(found, found[1:], strict=False):
            self._over[self.of(other)] = self.of(one)

    def of(self, name: str) -> str:
        """The name that stands for the class of a name."""
        while self._over.get(name, name) != name:
            name = self._over[name]
        return name


def _stored(targets: Iterable[gast.AST]) -> list[str]:
    return [t.id for t in targets if isinstance(t, gast.Name)]


def _as_stored(target: gast.AST) -> gast.AST:
    return gast.Assign([target], gast.Constant(0, None), None)


def _counts(e: gast.AST) -> bool:
    """Does a loop run over numbers?"""
    match e:
        case gast.Call(func=gast.Name(id="range" | "prange")):
            return True
    return False


def numbers(node: gast.AST) -> set[str]:
    """Names that stand for numbers alone, as far as the text tells: by what they are
    bound to, or because tests compare them.
    """
    values: dict[str, list[gast.AST]] = {}
    asked: set[str] = set()
    others: set[str] = set()
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                values.setdefault(name, []).append(value)
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                values.setdefault(name, []).append(value)
            case gast.For(target=gast.Name(id=name), iter=value) if _counts(value):
                values.setdefault(name, []).append(gast.Constant(0, None))
            case gast.If(test=test) | gast.While(test=test):
                for part in nodes_of(test):
                    if isinstance(part, gast.Compare):
                        sides = (part.left, *part.comparators)
                        asked |= {e.id for e in sides if isinstance(e, gast.Name)}
            case gast.Subscript(value=gast.Name(id=name)):
                others.add(name)
            case gast.Attribute(value=gast.Name(id=name)):
                others.add(name)
            case gast.Call(func=gast.Name(id="len"), args=[gast.Name(id=name)]):
                others.add(name)
    bound = Counter(n for s in node.body for n in _bindings(s))
    found = {n for n, all_ in values.items() if bound[n] == len(all_)}
    found -= {p.id for p in parameters(node)}
    asked -= others
    while True:
        known = found | asked
        rest = {n for n in found if all(_is_number(e, known) for e in values[n])}
        if rest == found:
            return known
        found = rest


def _bindings(s: gast.AST) -> Iterator[str]:
    for n in nodes_of(s):
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
            yield n.id


def _is_number(e: gast.AST, numbers: set[str]) -> bool:
    match e:
        case gast.Constant():
            return True
        case gast.Name(id=name):
            return name in numbers
        case gast.BinOp(left=a, right=b):
            return _is_number(a, numbers) and _is_number(b, numbers)
        case gast.UnaryOp(operand=a):
            return _is_number(a, numbers)
        case gast.Call(func=gast.Name(id="len" | "int" | "float")):
            return True
        case gast.Call(func=gast.Attribute(value=gast.Name(id="math"))):
            return True
        case gast.Subscript(value=gast.Attribute(attr="shape"), slice=gast.Constant()):
            return True
    return False
