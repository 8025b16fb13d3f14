"""Calls that are other ways to write what the language has, before it is lowered.

Python text in, Python text out: ``np.shape(a)`` is ``a.shape``, ``q, r = divmod(a, b)``
is ``q, r = a // b, a % b``.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from pyrev.parse.bindings import local_names, mapped

#: What a name outside of the definition stands for.
Lookup = Callable[[str], object]

_ATTRIBUTES: dict[object, str] = {np.shape: "shape", np.size: "size", np.ndim: "ndim"}


def respelt(node: gast.AST, lookup: Lookup) -> gast.AST:
    """The definition `node` with attributes for NumPy's functions of the same name, and
    a pair for `divmod`; itself if it calls none of them.

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
    return _respelt(node, local_names(node), lookup)


def _respelt(node: gast.AST, local: frozenset[str], lookup: Lookup) -> gast.AST:
    made = mapped(node, lambda part: _respelt(part, local, lookup))
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
