"""Which fields of its parameters a text reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from types import FunctionType

import gast
import numpy as np

from pyrev.parse.bindings import bindings, children, local_names, nodes_of, parameters
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.helper_texts import definition_of
from pyrev.parse.rewriting.made_texts import Lookup, read_in, root_of, stored_in
from pyrev.parse.rewriting.structures.shapes import Shape, class_called
from pyrev.parse.source import parameters_of, plain

#: The path that stands for how long something is: an array of records, or a dictionary.
LENGTH = ("#",)
#: What arrays have as attributes: a name of which others are read is an object.
_OF_ARRAYS = frozenset(n for n in dir(np.ndarray) if not n.startswith("__"))
_OF_ARRAYS |= {"_replace", "_asdict", "get", "keys", "values", "items"}


def guessed(node: gast.AST, lookup: Lookup) -> dict[str, Shape]:
    """What the text says of parameters that are structures: dictionaries whose keys are
    read, and objects whose attributes are.
    """
    found: dict[str, Shape] = {}
    for p in parameters(node):
        paths = used_fields(node, p.id, lookup)
        if paths and LENGTH not in paths:
            found[p.id] = _of_paths(paths)
    return found


def used_fields(
    node: gast.AST,
    name: str,
    lookup: Lookup,
    depth: int = 0,
    outside: Outside = stands_for,
) -> list[tuple[str, ...]] | None:
    """The fields of a parameter that are read, as paths of text keys ("[k") and
    attributes (".k"), also by helpers that get it, or one of its fields; None where it
    is used in another way, too.
    """
    found: dict[tuple[str, ...], None] = {}
    if Counter(bindings(node))[name] > 1 or not hasattr(node, "args"):
        return None
    local = local_names(node)
    for e, around in _accesses(node, name):
        path, _ = _path(e)
        inner = _in_helper(e, around, local, lookup, depth, outside)
        if inner:
            found |= {(*path, *p): None for p in inner}
        elif path:
            found[path] = None
        elif _asks_length(e, around):
            found[LENGTH] = None
        elif inner is None:
            return None
    return [*found]


def _asks_length(e: gast.AST, around: gast.AST) -> bool:
    match around:
        case gast.Call(func=gast.Name(id="len"), args=[inner]):
            return inner is e
    return isinstance(around, gast.Attribute) and around.attr in ("shape", "size")


#: What a name that is free in a function stands for.
Outside = Callable[[FunctionType, str], object]


def _in_helper(
    e: gast.AST,
    around: gast.AST,
    local: frozenset[str],
    lookup: Lookup,
    depth: int,
    outside: Outside,
) -> list[tuple[str, ...]] | None:
    """The fields that a helper reads of an argument `e` in the call `around`."""
    match around:
        case gast.Call(func=gast.Name(id=called), args=args) if called not in local:
            function = plain(lookup(called))
        case _:
            return None
    if function is None or depth > _DEPTH:
        return None
    names = parameters_of(function)
    own = [n for n, a in zip(names, args, strict=False) if a is e]
    node = definition_of(function)
    if len(own) != 1 or node is None:
        return None
    look = partial(outside, function)
    return used_fields(node, own[0], look, depth + 1, outside)


#: Helpers in helpers that are looked into for the fields of an argument.
_DEPTH = 6


def _of_paths(paths: Sequence[tuple[str, ...]]) -> Shape:
    """The shape that has the fields of these paths."""
    inner: dict[str, list[tuple[str, ...]]] = {}
    for first, *rest in paths:
        inner.setdefault(first, [])
        if rest:
            inner[first].append(tuple(rest))
    kind = "dict" if all(k.startswith("[") for k in inner) else "object"
    return Shape(
        kind,
        tuple((k[1:], _of_paths(more) if more else None) for k, more in inner.items()),
    )


def _accesses(node: gast.AST, name: str) -> Iterator[tuple[gast.AST, gast.AST]]:
    """The reads of a name with the fields behind it, and what is around each."""

    def visit(e: gast.AST, around: gast.AST) -> Iterator[tuple[gast.AST, gast.AST]]:
        path, base = _path(e)
        if isinstance(base, gast.Name) and base.id == name:
            if path or isinstance(base.ctx, gast.Load):
                yield e, around
            return
        for child in children(e):
            yield from visit(child, e)

    for child in children(node):
        yield from visit(child, node)


def _path(e: gast.AST) -> tuple[tuple[str, ...], gast.AST]:
    """The text keys and attributes behind an expression, arrays' own apart."""
    match e:
        case gast.Subscript(value=base, slice=gast.Constant(value=str(key))):
            path, inner = _path(_of_records(base))
            return (*path, "[" + key), inner
        case gast.Attribute(value=base, attr=attr) if attr not in _OF_ARRAYS:
            path, inner = _path(_of_records(base))
            return (*path, "." + attr), inner
    return (), e


def _of_records(e: gast.AST) -> gast.AST:
    """What a field is read of, where that is one of an array of records: the array,
    whose fields they are.
    """
    match e:
        case gast.Subscript(value=base, slice=index) if not isinstance(
            index, (gast.Constant, gast.UnaryOp, gast.Slice, gast.Tuple)
        ):
            return base
    return e


def depends_on_call(
    node: gast.AST, lookup: Lookup, own: Collection[str] = (), depth: int = 0
) -> bool:
    """May a text that is refused mean something for what a call gives: functions,
    texts, and structures that do not show?

    It is asked about the parameters `own`, all of them if none are named.
    """
    star = node.args.vararg
    if star is not None and not own and star.id in read_in(node):
        return True
    own = own or {p.id for p in parameters(node)}
    local = local_names(node)
    fields = _with_elements(node, own)
    turns = _with_turns(node, own)
    called = {id(n.func) for n in nodes_of(node) if isinstance(n, gast.Call)}
    for n in nodes_of(node):
        match n:
            case gast.Call(func=gast.Name(id=name)) if name in own:
                return True
            case gast.Starred(value=gast.Name(id=name)) if name in own:
                return True
            case gast.keyword(arg="dtype", value=gast.Name(id=name)) if name in own:
                return True
            case gast.Call(func=gast.Attribute(attr=attr), args=args) if (
                attr in _CREATORS and _may_be_shape_or_dtype(node, attr, args, own)
            ):
                return True
            case gast.Call(func=gast.Name(id=name), args=args) if name not in local:
                if depth < _DEPTH and _helper_depends(
                    lookup(name), args, fields, depth
                ):
                    return True
            case gast.Assign(targets=[gast.Tuple()], value=gast.Name(id=name)):
                if name in turns:
                    return True
            case gast.For(target=gast.Tuple(), iter=gast.Name(id=name)):
                if name in turns:
                    return True
            case gast.comprehension(target=gast.Tuple(), iter=gast.Name(id=name)):
                if name in turns:
                    return True
            case gast.Compare(left=left, comparators=others):
                every = [left, *others, *(x for o in others for x in _elements(o))]
                texts = [isinstance(getattr(e, "value", None), str) for e in every]
                named = [isinstance(e, gast.Name) and e.id in turns for e in every]
                if any(texts) and any(named):
                    return True
            case gast.Subscript(value=base, slice=gast.Constant(value=str())):
                if root_of(base) in fields:
                    return True
            case gast.Attribute(value=base, attr=attr) if attr not in _OF_ARRAYS:
                if root_of(base) in turns:
                    return True
            case gast.Attribute(value=base, attr=attr) if attr in _METHODS:
                # A method that is not called is a field with such a name.
                if id(n) not in called and root_of(base) in turns:
                    return True
    return False


#: The methods of arrays.
_METHODS = frozenset(n for n in _OF_ARRAYS if callable(getattr(np.ndarray, n, None)))


#: What makes an array of a shape and a dtype, or of another dtype.
_CREATORS = ("zeros", "empty", "ones", "full", "astype")


def _may_be_shape_or_dtype(
    node: gast.AST, attr: str, args: Sequence[gast.AST], own: Collection[str]
) -> bool:
    """Is a parameter among the arguments of what makes an array: as a shape, if its
    elements are read elsewhere, or as a dtype?
    """
    named = [a.id for a in args if isinstance(a, gast.Name) and a.id in own]
    indexed = {n.value.id for n in nodes_of(node) if _is_element(n)}
    return any(name in indexed for name in named) or any(
        isinstance(a, gast.Name) and a.id in own for a in args[attr != "astype" :]
    )


def _is_element(n: gast.AST) -> bool:
    return isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name)


def _with_turns(node: gast.AST, own: Collection[str]) -> set[str]:
    """These names, and those of what loops over them go over."""
    found = set(own)
    while True:
        before = len(found)
        for n in nodes_of(node):
            match n:
                case (
                    gast.For(target=target, iter=over)
                    | gast.comprehension(target=target, iter=over)
                ):
                    if found & read_in(over):
                        found |= stored_in(target)
        if len(found) == before:
            return found


def _with_elements(node: gast.AST, own: Collection[str]) -> set[str]:
    """These names, and those of their elements and of what else is made of them."""
    found = set(own)
    while True:
        before = len(found)
        for n in nodes_of(node):
            match n:
                case gast.Assign(value=value) if found & read_in(value):
                    found |= stored_in(n)
                case gast.For(target=target, iter=over) if found & read_in(over):
                    found |= stored_in(target)
                case gast.comprehension(target=target, iter=over):
                    if found & read_in(over):
                        found |= stored_in(target)
        if len(found) == before:
            return found


def _helper_depends(
    function: object, args: Sequence[gast.AST], own: Collection[str], depth: int
) -> bool:
    """Does a helper depend on what parameters among its arguments are?"""
    helper = plain(function)
    if helper is None:
        return False
    pairs = zip(parameters_of(helper), args, strict=False)
    given = [n for n, a in pairs if root_of(a) in own]
    node, look = definition_of(helper), partial(stands_for, helper)
    if node is None or not given:
        return False
    return depends_on_call(node, look, given, depth + 1)


def _elements(e: gast.AST) -> list[gast.AST]:
    return list(e.elts) if isinstance(e, (gast.Tuple, gast.List)) else []


#: The fields that helpers may assign to, by parameter.
_Known = dict[object, dict[str, set[str]]]


def stored_fields(node: gast.AST, lookup: Lookup) -> dict[str, set[str]]:
    """The fields of each parameter, or of what is in it, to which something may be
    assigned, also by helpers that get it.
    """
    known: _Known = {}
    while True:
        # Those that call each other say more each time.
        before = dict(known)
        found = _stored(node, lookup, known, set())
        if known == before:
            return found


def _stored(
    node: gast.AST, lookup: Lookup, known: _Known, done: set[object]
) -> dict[str, set[str]]:
    """The same by what is `known` of helpers, of which those that are `done` are not
    looked at again.
    """
    found: dict[str, set[str]] = {}
    if not hasattr(node, "args"):
        return found
    local = local_names(node)
    star = node.args.vararg
    for p in [*parameters(node), *([star] if star is not None else ())]:
        names = _other_names(node, p.id, local, lookup)
        own: set[str] = set()
        for n in nodes_of(node):
            match n:
                case gast.Attribute(value=base, attr=key, ctx=gast.Store()):
                    if root_of(base) in names:
                        own.add(key)
                case gast.Subscript(
                    value=base, slice=gast.Constant(value=str(key)), ctx=gast.Store()
                ):
                    if root_of(base) in names:
                        own.add(key)
                case gast.Call(func=gast.Name(id=called)) if called not in local:
                    if names & read_in(n):
                        helper = lookup(called)
                        own |= _stored_in_helper(n, names, helper, known, done)
        if own:
            found[p.id] = own
    return found


def _other_names(
    node: gast.AST, name: str, local: frozenset[str], lookup: Lookup
) -> set[str]:
    """The names that may stand for what a name stands for, or for a part of it. What is
    made of its numbers is something else.
    """
    found = {name}
    while True:
        before = len(found)
        for n in nodes_of(node):
            match n:
                case gast.Assign(value=gast.BinOp() | gast.UnaryOp() | gast.Dict()):
                    pass
                case gast.Assign(value=gast.Call(func=func)) if (
                    class_called(func, local, lookup) is not None
                ):
                    pass
                case gast.Assign(value=value) if found & read_in(value):
                    found |= stored_in(n)
                case gast.For(target=target, iter=over) if found & read_in(over):
                    found |= stored_in(target)
        if len(found) == before:
            return found


def _stored_in_helper(
    call: gast.Call,
    names: set[str],
    function: object,
    known: _Known,
    done: set[object],
) -> set[str]:
    """The fields of what these names stand for that a helper may assign to."""
    helper = plain(function)
    node = None if helper is None else definition_of(helper)
    if helper is None or node is None:
        return set()
    if helper not in done:
        done.add(helper)
        known[helper] = _stored(node, partial(stands_for, helper), known, done)
    inner = known.get(helper, {})
    given = zip(parameters_of(helper), call.args, strict=False)
    own = {n for n, a in given if names & read_in(a)}
    own |= {str(k.arg) for k in call.keywords if names & read_in(k.value)}
    star = node.args.vararg
    own |= set() if star is None else {star.id}
    return {key for n in own for key in inner.get(n, ())}
