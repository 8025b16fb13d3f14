"""Calls that are other ways to write what the language has, before it is lowered.

Python text in, Python text out: ``np.shape(a)`` is ``a.shape``, ``q, r = divmod(a, b)``
is ``q, r = a // b, a % b``, ``np.where(c)[0]`` is ``np.flatnonzero(c)``, and a loop
over ``np.ndindex(n, m)`` is one over each range.
"""

from __future__ import annotations

import copy
from collections import Counter

import gast
import numpy as np

from pyrev.parse.bindings import (
    COMPARED,
    bindings,
    local_names,
    mapped,
    nodes_of,
)
from pyrev.parse.rewriting.made_texts import (
    Lookup,
    number_of,
    numpy_call,
    object_named,
    placed,
    stored_in,
)

_ATTRIBUTES: dict[object, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim"}


def respelt(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` with attributes for NumPy's functions of the same name, a
    pair for `divmod`, places of a vector for `np.where` of one, and loops for
    `np.ndindex` and `np.ndenumerate`; itself if it calls none of them. A loop
    over the name of a `zip` is one over the call, a search among numbers that are
    written out a comparison with each.

    A size along one axis, and what names of the definition's own stand for, stay.

    >>> import gast
    >>> text = '''
    ... def f(a, b):
    ...     n, m = np.shape(a)
    ...     q, r = divmod(b, n)
    ...     return q * r * m * np.size(a)
    ... '''
    >>> definition = gast.parse(text).body[0]
    >>> outside = {"np": np, "divmod": divmod}
    >>> print(gast.unparse(respelt(definition, outside.get)).strip())
    def f(a, b):
        n, m = a.shape
        q, r = (b // n, b % n)
        return q * r * m * a.size
    """
    local = local_names(node)
    node = _with_masks(_with_zips(node, node, local, lookup), local, lookup)
    node = _with_tests(_with_numbers(node))
    return _respelt(node, local, lookup)


def _with_masks(node: gast.AST, local: frozenset[str], lookup: Lookup) -> gast.AST:
    """The same with ``k = x < 0`` for ``k = np.where(x < 0)``, if a name is an index by
    itself wherever it is read: the places of a mask, and itself, say the same there.
    """
    made: set[str] = set()
    uses: Counter[str] = Counter()
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call() as call):
                if _mask_of(call, local, lookup) is not None:
                    made.add(name)
            case gast.Subscript(slice=gast.Name(id=name)):
                uses[name] += 1
    every = Counter(bindings(node))
    read = Counter(n.id for n in nodes_of(node) if isinstance(n, gast.Name))
    found = {n for n in made if every[n] == 1 and read[n] == uses[n] + 1}
    if not found:
        return node

    def masked(part: gast.AST) -> gast.AST:
        match part:
            case gast.Assign(targets=[gast.Name(id=name)]) if name in found:
                own = copy.copy(part)
                own.value = _mask_of(part.value, local, lookup)
                return own
        return mapped(part, masked)

    return masked(node)


def _with_numbers(node: gast.AST) -> gast.AST:
    """The same without names of tuples and lists of numbers that are written out, if
    they are nothing but searched: the numbers stand where they are searched.
    """
    every = Counter(bindings(node))
    read = Counter(n.id for n in nodes_of(node) if isinstance(n, gast.Name))
    found: dict[str, gast.AST] = {}
    searched: Counter[str] = Counter()
    for n in nodes_of(node):
        match n:
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                if every[name] == 1 and _are_numbers(value):
                    found[name] = value
            case gast.Compare(ops=[gast.In() | gast.NotIn()]):
                searched.update(e.id for e in n.comparators if isinstance(e, gast.Name))
    found = {n: v for n, v in found.items() if 0 < searched[n] == read[n] - 1}
    if not found:
        return node

    def without(part: gast.AST) -> gast.AST:
        match part:
            case gast.Assign(targets=[gast.Name(id=name)]) if name in found:
                return gast.copy_location(gast.Pass(), part)
            case gast.Name(id=name) if name in found:
                return gast.copy_location(copy.deepcopy(found[name]), part)
        return mapped(part, without)

    return without(node)


def _with_tests(node: gast.AST) -> gast.AST:
    """``k == a or k == b`` for ``k in (a, b)``: a nan is unequal to itself, as in all
    tuples here, also where it is the same object.
    """
    simple = (gast.Name, gast.Attribute, gast.Subscript, gast.Constant)

    def tested(part: gast.AST) -> gast.AST:
        made = mapped(part, tested)
        match made:
            case gast.Compare(
                left=gast.Name(),
                ops=[gast.In() | gast.NotIn()],
                comparators=[gast.Tuple(elts=[_, *_] as elts) | gast.List(elts=elts)],
            ):
                others = [e for e in elts if not _is_number(e)]
                if others and all(isinstance(e, simple) for e in others):
                    return _either(made, elts)
        return made

    return tested(node)


def _either(node: gast.Compare, elts: list[gast.AST]) -> gast.AST:
    """A comparison with one of these, or with another, in place of a search."""
    outside = isinstance(node.ops[0], gast.NotIn)
    op, word = (gast.NotEq(), gast.And()) if outside else (gast.Eq(), gast.Or())
    tests: list[gast.AST] = [
        gast.Compare(copy.deepcopy(node.left), [op], [e]) for e in elts
    ]
    made = tests[0] if len(tests) == 1 else gast.BoolOp(word, tests)
    return placed(made, node)


def _are_numbers(value: gast.AST) -> bool:
    match value:
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            return bool(elts) and all(map(_is_number, elts))
    return False


def _mask_of(call: gast.Call, local: frozenset[str], lookup: Lookup) -> gast.AST | None:
    """What is a mask in ``np.where(mask)``; None for others."""
    if len(call.args) != 1 or call.keywords:
        return None
    function = object_named(call.func, local, lookup)
    if function is not np.where and function is not np.nonzero:
        return None

    def is_mask(e: gast.AST) -> bool:
        match e:
            case gast.Compare(
                ops=[gast.In() | gast.NotIn() | gast.Is() | gast.IsNot()]
            ):
                return False
            case gast.Compare():
                return True
            case gast.BinOp(op=gast.BitAnd() | gast.BitOr() | gast.BitXor()):
                return is_mask(e.left) and is_mask(e.right)
            case gast.UnaryOp(op=gast.Invert(), operand=operand):
                return is_mask(operand)
            case gast.Call(func=func):
                return object_named(func, local, lookup) in _OF_TRUTHS
        return False

    return call.args[0] if is_mask(call.args[0]) else None


#: What gives truth values.
_OF_TRUTHS = (
    *(np.logical_and, np.logical_or, np.logical_not, np.logical_xor),
    *(np.isnan, np.isfinite, np.isinf),
)


def _with_zips(
    node: gast.AST, whole: gast.AST, local: frozenset[str], lookup: Lookup
) -> gast.AST:
    """The same with ``zip(...)`` in the loop that takes it from a name, if nothing else
    does: it gives each of its elements once.
    """
    made = mapped(node, lambda part: _with_zips(part, whole, local, lookup))
    for part in ("body", "orelse"):
        block = getattr(made, part, None)
        if not isinstance(block, list):
            continue
        for k, s in enumerate(block):
            match s:
                case gast.Assign(
                    targets=[gast.Name(id=name)],
                    value=gast.Call(func=gast.Name(id="zip")) as call,
                ) if "zip" not in local and lookup("zip") is zip:
                    loop = _loop_over(name, call, block[k + 1 :], whole)
                    if loop is not None:
                        at = next(m for m, t in enumerate(block) if t is loop[0])
                        new = [
                            *block[:k],
                            *block[k + 1 : at],
                            loop[1],
                            *block[at + 1 :],
                        ]
                        made = copy.copy(made)
                        setattr(made, part, new)
                        return _with_zips(made, whole, local, lookup)
    return made


def _loop_over(
    name: str, call: gast.Call, block: list[gast.AST], whole: gast.AST
) -> tuple[gast.For, gast.For] | None:
    """The loop of these statements over what a name stands for, and the same over the
    call; None if the name is used otherwise, or the call may give something else there.
    """
    uses = [n for n in nodes_of(whole) if isinstance(n, gast.Name) and n.id == name]
    if len(uses) != 2:
        return None
    for s in block:
        if any(isinstance(n, gast.Name) and n.id == name for n in nodes_of(s)):
            match s:
                case gast.For(iter=gast.Name(id=own)) if own == name:
                    made = copy.copy(s)
                    made.iter = call
                    return s, made
                case gast.For(
                    iter=gast.Call(
                        func=gast.Name(id="enumerate"), args=[gast.Name(id=own), *more]
                    )
                ) if own == name:
                    made = copy.copy(s)
                    made.iter = copy.copy(s.iter)
                    made.iter.args = [call, *more]
                    return s, made
            return None
        names = {e.id for e in call.args if isinstance(e, gast.Name)}
        if len(names) < len(call.args) or names & stored_in(s) or call.keywords:
            return None
    return None


def _respelt(node: gast.AST, local: frozenset[str], lookup: Lookup) -> gast.AST:
    made = mapped(node, lambda part: _respelt(part, local, lookup))
    match made:
        case gast.Subscript(value=gast.Call() as call, slice=gast.Constant(value=0)):
            return _places(call, local, lookup) or made
        case gast.Subscript(value=gast.Attribute(attr="r_" | "c_"), ctx=gast.Load()):
            return _in_rows(made, local, lookup) or made
        case gast.Subscript(slice=gast.Call() as call):
            mask = _mask_of(call, local, lookup)
            if mask is not None:
                whole = gast.Subscript(made.value, mask, made.ctx)
                return gast.copy_location(whole, made)
        case gast.Call(args=[gast.List(elts=[])]):
            if object_named(made.func, local, lookup) in (np.array, np.asarray):
                return numpy_call("zeros", [number_of(0)], made.keywords, made)
        case gast.Assign(
            targets=[gast.Tuple(elts=[gast.Name() as target])],
            value=gast.Call() as call,
        ):
            places = _places(call, local, lookup)
            if places is None:
                return made
            return gast.copy_location(gast.Assign([target], places), made)
        case gast.For(iter=gast.Call(func=func)) if not made.orelse:
            named = _numpy_name(func, local, lookup)
            if named in ("ndindex", "ndenumerate") and not _breaks(made.body):
                return _nested(made, named, local) or made
        case gast.Subscript(value=gast.Attribute(value=array, attr="flat"), ctx=ctx):
            whole = _flat(array, isinstance(ctx, gast.Load))
            flat = gast.Subscript(whole, made.slice, ctx)
            return gast.copy_location(flat, placed(flat, made))
        case gast.For(iter=gast.Attribute(value=array, attr="flat") as flat):
            loop = copy.copy(made)
            loop.iter = placed(_flat(array, True), flat)
            return loop
        case gast.Compare(ops=[gast.In() | gast.NotIn()]):
            return _compared(made, local, lookup) or made
        case gast.While(test=test) if _always_holds(test):
            loop = copy.copy(made)
            loop.test = gast.copy_location(gast.Constant(True, None), test)
            return loop
        case gast.Subscript(
            value=gast.Tuple(elts=[gast.BinOp(), gast.BinOp()] as pair),
            slice=gast.Constant(value=0 | 1 as place),
        ):
            return pair[place]  # of what `divmod` gives
    if not isinstance(made, gast.Call):
        return made
    meant = _meant(made, local, lookup)
    if meant is divmod:
        a, b = made.args
        pair = [
            gast.copy_location(gast.BinOp(a, gast.FloorDiv(), b), made),
            gast.copy_location(gast.BinOp(a, gast.Mod(), b), made),
        ]
        return gast.copy_location(gast.Tuple(pair, gast.Load()), made)
    if meant is not None:
        whole = gast.Attribute(made.args[0], _ATTRIBUTES[meant], gast.Load())
        return gast.copy_location(whole, made)
    return made


def _in_rows(
    node: gast.Subscript, local: frozenset[str], lookup: Lookup
) -> gast.AST | None:
    """``np.concatenate((a, b))`` for ``np.r_[a, b]``, and ``np.column_stack((a, b))``
    for ``np.c_[a, b]``; None where a number or a slice is among them.
    """
    found = object_named(node.value, local, lookup)
    if found is not np.r_ and found is not np.c_:
        return None
    parts = node.slice.elts if isinstance(node.slice, gast.Tuple) else [node.slice]
    plain = (gast.Slice, gast.Constant, gast.UnaryOp, gast.Starred)
    if any(isinstance(part, plain) for part in parts):
        return None
    function = "concatenate" if found is np.r_ else "column_stack"
    return numpy_call(function, [gast.Tuple(parts, gast.Load())], [], node)


def _compared(
    node: gast.Compare, local: frozenset[str], lookup: Lookup
) -> gast.AST | None:
    """``k == 1 or k == 2`` for ``k in (1, 2)``; None where it is not numbers that are
    written out, or where what is looked for would be evaluated several times.
    """
    (within,) = node.comparators
    match within:
        case gast.Tuple(elts=elts) | gast.List(elts=elts):
            pass
        case gast.Name(id=name) if name not in local:
            found = lookup(name)
            if not isinstance(found, (tuple, frozenset)) or not all(
                type(e) in (int, float) and e == e for e in found
            ):
                return None
            elts = [number_of(e) for e in sorted(found)]
        case _:
            return None
    if not elts or not all(map(_is_number, elts)):
        return None
    if len(elts) > 1 and any(isinstance(n, gast.Call) for n in nodes_of(node.left)):
        return None
    return _either(node, elts)


def _always_holds(test: gast.AST) -> bool:
    """Is a test one of numbers that are written out, ``0 < 1``, and true?"""
    match test:
        case gast.Compare(
            left=gast.Constant(value=int(a)),
            ops=[op],
            comparators=[gast.Constant(value=int(b))],
        ):
            return type(op) in COMPARED and COMPARED[type(op)](a, b)
        case gast.Constant(value=value):
            return type(value) in (int, float) and bool(value)
    return False


def _flat(array: gast.AST, read: bool) -> gast.AST:
    """The elements of an array row by row: what is written to has to be a view."""
    name, args = ("ravel", []) if read else ("reshape", [number_of(-1)])
    return gast.Call(gast.Attribute(array, name, gast.Load()), args, [])


def _is_number(node: gast.AST) -> bool:
    inner = node.operand if isinstance(node, gast.UnaryOp) else node
    return isinstance(inner, gast.Constant) and type(inner.value) in (int, float)


def _meant(call: gast.Call, local: frozenset[str], lookup: Lookup) -> object | None:
    """The function that a call is respelt for; None if it is another."""
    found: object = None
    match call.func:
        case gast.Name(id=name) if name not in local:
            found = lookup(name)
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if name not in local:
            if lookup(name) is np:
                found = getattr(np, attr, None)
    args = call.args
    if call.keywords or any(isinstance(a, gast.Starred) for a in args):
        return None
    if found is divmod:
        simple = (gast.Name, gast.Constant, gast.Attribute, gast.Subscript)
        return found if len(args) == 2 and isinstance(args[1], simple) else None
    for function in _ATTRIBUTES:
        if found is function:
            named = len(args) == 1 and isinstance(args[0], gast.Name)
            return found if named and args[0].id in local else None
    return None


def _numpy_name(func: gast.AST, local: frozenset[str], lookup: Lookup) -> str | None:
    """What NumPy calls a function that is named as an attribute of its module."""
    match func:
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if name not in local:
            return str(attr) if lookup(name) is np else None
    return None


def _places(call: gast.Call, local: frozenset[str], lookup: Lookup) -> gast.AST | None:
    """``np.flatnonzero(c)`` for ``np.where(c)`` and ``np.nonzero(c)``; None for another
    call.
    """
    named = _numpy_name(call.func, local, lookup)
    if named not in ("where", "nonzero") or len(call.args) != 1 or call.keywords:
        return None
    func = gast.Attribute(call.func.value, "flatnonzero", gast.Load())
    made = gast.Call(gast.copy_location(func, call.func), call.args, [])
    return gast.copy_location(made, call)


def _breaks(body: list[gast.AST]) -> bool:
    """Does a loop with this body end early by `break`?"""
    for node in body:
        if isinstance(node, gast.Break):
            return True
        if not isinstance(node, (gast.For, gast.While, gast.FunctionDef)):
            if any(_breaks(getattr(node, part, [])) for part in ("body", "orelse")):
                return True
    return False


def _nested(loop: gast.For, named: str, local: frozenset[str]) -> gast.AST | None:
    """A loop over all indices as one loop in another; None where the text does not say
    how many indices there are.
    """
    if "range" in local or loop.iter.keywords:
        return None
    args, body = list(loop.iter.args), list(loop.body)
    if named == "ndenumerate":
        match loop.target, args:
            case (
                gast.Tuple(elts=[gast.Tuple(elts=indices), gast.Name() as value]),
                [gast.Name() as array],
            ):
                index = gast.Tuple([_read(i) for i in indices], gast.Load())
                element = gast.Subscript(array, index, gast.Load())
                body.insert(0, gast.Assign([value], element))
                args = [gast.Attribute(array, "shape", gast.Load())]
            case _:
                return None
    else:
        match loop.target:
            case gast.Tuple(elts=indices):
                pass
            case _:
                return None
    if not all(isinstance(i, gast.Name) for i in indices):
        return None
    match args:
        case [gast.Tuple(elts=elements)]:
            args = elements
        case [gast.Attribute(value=gast.Name(), attr="shape") as shape]:
            args = [
                gast.Subscript(shape, gast.Constant(k, None), gast.Load())
                for k in range(len(indices))
            ]
    inside = [n for n in nodes_of(loop) if isinstance(n, gast.Name)]
    bound = {n.id for n in inside if isinstance(n.ctx, gast.Store)}
    used = {n.id for a in args for n in nodes_of(a) if isinstance(n, gast.Name)}
    if len(args) != len(indices) or used & bound:
        return None  # sizes are evaluated once
    made = body
    for target, length in reversed([*zip(indices, args, strict=True)]):
        name = gast.Name("range", gast.Load(), None, None)
        made = [gast.For(target, gast.Call(name, [length], []), made, [], None)]
    # What has no place of its own stands where the loop begins.
    return placed(made[0], loop.iter)


def _read(name: gast.Name) -> gast.Name:
    return gast.Name(name.id, gast.Load(), None, None)
