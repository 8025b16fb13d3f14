"""Where a list is what an array is: its elements are read, one by one or by NumPy.

To add two lists, to multiply one, to compare them or to take a slice gives other lists.
"""

from __future__ import annotations

import copy
from functools import partial

import gast
import numpy as np

from pyrev.parse.bindings import children, local_names, nodes_of
from pyrev.parse.comprehensions import is_list_class
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.helper_texts import definition_of, looking_at
from pyrev.parse.made_texts import Lookup, object_named
from pyrev.parse.source import parameters_of, plain
from pyrev.parse.structure_shapes import SHAPE, Shape

#: The shape of a list of numbers that is returned.
LIST = Shape("list", ((0, None),))

_READERS = (len, sum, min, max, enumerate, zip, reversed, range)


def is_named(e: gast.AST | None, name: str) -> bool:
    """Is it this name?"""
    return isinstance(e, gast.Name) and bool(e.id == name)


def takes_elements(function: object, number: int) -> bool:
    """Does a function only read the elements of its argument of this number?"""
    if any(function is f for f in _READERS):
        return True
    module = str(getattr(function, "__module__", "")).split(".")[0]
    if module == "numpy" or isinstance(function, np.ufunc):
        return True
    own, node = plain(function), definition_of(function)
    if own is None or node is None or number >= len(parameters_of(own)):
        return False
    name = parameters_of(own)[number]
    with looking_at(own, "elements") as first:
        return first and reads_elements(node, name, partial(stands_for, own))


def reads_elements(node: gast.AST, name: str, lookup: Lookup) -> bool:
    """Are only elements read of what a name stands for in a definition?"""
    local = local_names(node)

    def fits(e: gast.AST, around: gast.AST) -> bool:
        match around:
            case gast.Subscript(value=value, slice=index) if value is e:
                return not isinstance(index, (gast.Slice, gast.Tuple))
            case gast.Call(func=func, args=args) if any(a is e for a in args):
                function = object_named(func, local, lookup)
                place = next(k for k, a in enumerate(args) if a is e)
                return takes_elements(function, place)
            case gast.For(iter=it):
                return it is e
        return False

    def visit(around: gast.AST) -> bool:
        for child in children(around):
            if is_named(child, name):
                if isinstance(child.ctx, gast.Load) and not fits(child, around):
                    return False
            elif not visit(child):
                return False
        return True

    return visit(node)


def returns_list(function: object) -> bool:
    """Does a plain function return a list that it makes?"""
    own, node = plain(function), definition_of(function)
    if own is None or node is None:
        return False
    local, look = local_names(node), partial(stands_for, own)
    with looking_at(own, "list") as first:
        if not first:
            return False
        made = {
            n.targets[0].id
            for n in nodes_of(node)
            if isinstance(n, gast.Assign)
            and isinstance(n.targets[0], gast.Name)
            and _makes_list(n.value, local, look)
        }
        values = [n.value for n in nodes_of(node) if isinstance(n, gast.Return)]
        return any(
            (isinstance(v, gast.Name) and v.id in made)
            or (v is not None and _makes_list(v, local, look))
            for v in values
        )


def _makes_list(value: gast.AST, local: frozenset[str], lookup: Lookup) -> bool:
    match value:
        case gast.List() | gast.ListComp() | gast.BinOp(left=gast.List()):
            return True
        case gast.Call(func=func):
            found = object_named(func, local, lookup)
            return is_list_class(found) or returns_list(found)
    return False


def without_list_results(node: gast.AST, lookup: Lookup, helper: bool) -> gast.AST:
    """The definition, in which lists that helpers return are read element by element;
    where one is used in another way it stands in a list, which is refused.
    """
    found = _Results(node, lookup, helper)
    if not any(map(found.gives, nodes_of(node))):
        return node
    own = _Results(copy.deepcopy(node), lookup, helper)
    return own.visit(own.node)


class _Results(gast.NodeTransformer):  # type: ignore[misc]
    def __init__(self, node: gast.AST, lookup: Lookup, helper: bool) -> None:
        self.node, self.lookup, self.helper = node, lookup, helper
        self.local = local_names(node)
        #: Names of lists that are returned.
        self.names: set[str] = set()

    def gives(self, e: gast.AST) -> bool:
        """Is it a call that gives a list?"""
        return (
            isinstance(e, gast.Call)
            and isinstance(e.func, gast.Name)
            and e.func.id not in self.local
            and returns_list(self.lookup(e.func.id))
        )

    def _refused(self, e: gast.AST) -> gast.AST:
        return gast.copy_location(gast.List([e], gast.Load()), e)

    def _returned_only(self, name: str) -> bool:
        """Is a name of a list returned, besides reads of elements?"""
        bare, found = copy.deepcopy(self.node), False
        for n in nodes_of(bare):
            if isinstance(n, gast.Return) and is_named(n.value, name):
                n.value, found = None, True
        return found and reads_elements(bare, name, self.lookup)

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        """A name for a list."""
        match node:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if self.gives(
                value
            ):
                value.args = [self.visit(a) for a in value.args]
                if self._returned_only(name):
                    self.names.add(name)
                elif not reads_elements(self.node, name, self.lookup):
                    node.value = self._refused(value)
                return node
        return self.generic_visit(node)

    def visit_Return(self, node: gast.Return) -> gast.AST:
        """A list that is handed on."""
        e = node.value
        if e is not None and (self.gives(e) or getattr(e, "id", "") in self.names):
            if not self.helper:
                setattr(e, SHAPE, LIST)
            return node
        return self.generic_visit(node)

    def visit_For(self, node: gast.For) -> gast.AST:
        """A loop over a list."""
        if self.gives(node.iter):
            node.iter.args = [self.visit(a) for a in node.iter.args]
            node.body = [self.visit(s) for s in node.body]
            return node
        return self.generic_visit(node)

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        """An element of a list."""
        whole = isinstance(node.slice, (gast.Slice, gast.Tuple))
        if self.gives(node.value) and not whole:
            return node
        return self.generic_visit(node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """A list that is an argument."""
        function = object_named(node.func, self.local, self.lookup)
        node.args = [
            a if self.gives(a) and takes_elements(function, k) else self.visit(a)
            for k, a in enumerate(node.args)
        ]
        return self._refused(node) if self.gives(node) else node
