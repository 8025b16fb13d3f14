"""Have both parts of a complex value the same axes?

Of ``x + 2j`` the imaginary part is a number, though `x` is an array: each part has the
axes that its own formula gives it, which is enough for arithmetic. Where elements are
counted, chosen, or handed on, the imaginary part is stretched to the real one.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field

import gast

from pyrev.parse.bindings import nodes_of
from pyrev.parse.rewriting.complex_numbers.parts import made
from pyrev.parse.rewriting.made_texts import placed
from pyrev.parse.scopes import NUMPY

#: What stands for an imaginary part until it is known whether it is to be stretched.
_STRETCHED = "@stretched"
#: What has the axes of all of its arguments, and what those of the first.
_OF_ALL = frozenset(
    ["abs", "exp", "cos", "sin", "tan", "cosh", "sinh", "tanh", "hypot", "arctan2"]
    + ["log", "log10", "sqrt", "where", "copysign"]
)
_OF_FIRST = frozenset(
    ["zeros_like", "ones_like", "empty_like", "full_like", "copy", "asarray"]
    + ["zeros", "ones", "empty", "full", "eye", "identity", "array"]
)
#: What has a shape that the shapes and the integers among its arguments decide.
_OF_SHAPES = frozenset(
    ["append", "concatenate", "cumsum", "diff", "flip", "repeat", "roll", "sum", "tile"]
    + ["stack", "vstack", "hstack", "column_stack", "ravel", "reshape", "transpose"]
)

Axes = frozenset[str]


@dataclass(slots=True)
class Extents:
    """What is known of the axes of the parts of complex values, by names."""

    #: The names of imaginary parts, with those of the real ones.
    twins: dict[str, str] = field(default_factory=dict)
    #: What names of intermediate values were made of.
    means: dict[str, Axes] = field(default_factory=dict)
    #: What the values of a name rest on, and the names that are to be stretched.
    rests: dict[str, set[str]] = field(default_factory=dict)
    needed: set[str] = field(default_factory=set)
    open: bool = False

    def of(self, e: gast.AST | None) -> Axes:
        """What decides on the axes of an expression: the texts of what is in it.

        >>> x = gast.parse("x[i] * 2.0 + y").body[0].value
        >>> sorted(Extents().of(x))
        ['x[i]', 'y']
        """
        match e:
            case None | gast.Constant():
                return frozenset()
            case gast.Name(id=name):
                if name in self.means:
                    return self.means[name]
                return frozenset([self.twins.get(name, name)])
            case gast.UnaryOp(operand=a):
                return self.of(a)
            case gast.BinOp(left=a, op=op, right=b) if not isinstance(op, gast.MatMult):
                return self.of(a) | self.of(b)
            case gast.Compare(left=a, comparators=[b]):
                return self.of(a) | self.of(b)
            case gast.Call(func=gast.Name(id="float"), args=[a]):
                return self.of(a)
            case gast.Call(
                func=gast.Attribute(value=gast.Name(id=base), attr=attr), args=args
            ) if base in (NUMPY, "np", "numpy"):
                if attr in _OF_ALL:
                    return frozenset().union(*map(self.of, args))
                if attr in _OF_FIRST and args:
                    return self._of_new(args[0])
                if attr in _OF_SHAPES:
                    given = [*map(self._shape, args), *map(self._text, e.keywords)]
                    return frozenset([f"{attr}({', '.join(given)})"])
            case gast.Call(func=gast.Attribute(value=base, attr="copy" | "astype")):
                return self.of(base)
        return frozenset([self._text(e)])

    def _of_new(self, e: gast.AST) -> Axes:
        """The axes of an array that is made of a shape, a list or an array."""
        if isinstance(e, (gast.List, gast.Tuple)):
            inner = {f"[{len(e.elts)}]"}
            return frozenset(inner.union(*map(self._of_new, e.elts)))
        return self.of(e)

    def _shape(self, e: gast.AST) -> str:
        """What the shape of a result takes from an argument."""
        match e:
            case gast.Constant(value=float()):
                return "a number"
            case gast.Constant() | gast.UnaryOp(operand=gast.Constant()):
                return self._text(e)
            case gast.List(elts=elts) | gast.Tuple(elts=elts):
                return f"[{', '.join(map(self._shape, elts))}]"
        return " and ".join(sorted(self.of(e)))

    def _text(self, e: gast.AST) -> str:
        new = copy.deepcopy(e)
        for n in nodes_of(new):
            if isinstance(n, gast.Name):
                n.id = self.twins.get(n.id, n.id)
        return str(gast.unparse(new)).strip()

    def names_in(self, *parts: gast.AST) -> set[str]:
        """The names of complex values that expressions rest on."""
        found = {n.id for e in parts for n in nodes_of(e) if isinstance(n, gast.Name)}
        return {self.twins.get(n, n) for n in found}

    def named(self, name: str, value: gast.AST) -> None:
        """Note what an intermediate value was made of."""
        self.means[name] = self.of(value)
        self.rests.setdefault(name, set()).update(self.names_in(value))

    def bound(self, name: str, re: gast.AST, im: gast.AST) -> gast.AST:
        """The imaginary part of what gets a name, `name` in its real part."""
        self.rests.setdefault(name, set()).update(self.names_in(re, im))
        if self.of(re) == self.of(im):
            return im
        self.open = True
        call = gast.Call(gast.Name(_STRETCHED, gast.Load(), None, None), [re, im], [])
        call.func.of = name
        return gast.copy_location(placed(call, im), im)

    def done(self, node: gast.AST) -> gast.AST:
        """A definition in which the imaginary parts that are needed are stretched."""
        if not self.open:
            return node
        left = [*self.needed]
        while left:
            more = self.rests.get(left.pop(), set()) - self.needed
            self.needed |= more
            left += more
        return _Stretching(self.needed).visit(node)


def stretched(re: gast.AST, im: gast.AST) -> gast.AST:
    """An imaginary part with the axes of the real one."""
    return made("np.where(a == a, b, b)", {"a": re, "b": im}, im)


class _Stretching(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, needed: set[str]) -> None:
        self.needed = needed

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """An imaginary part as it is, or stretched."""
        self.generic_visit(node)
        if getattr(node.func, "id", "") != _STRETCHED:
            return node
        re, im = node.args
        return stretched(re, im) if node.func.of in self.needed else im
