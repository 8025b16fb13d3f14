"""`raise` as a test: what goes on stands behind it, no longer in a branch.

Python text in, Python text out, before anything is lowered, jumps least of all::

    if n < 1:                            assert not n < 1  # or raises
        raise ValueError("empty")
    elif n == 1:                   ->    if n == 1:
        w = a                                w = a
    else:                                else:
        w = b                                w = b

A path that raises ends there. What it would bind nobody reads, and what it returns is
nothing: no path but the others counts where names or results are compared.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence

import gast

from pyrev.parse.bindings import statements

#: The attribute of an `assert` that holds the `raise` in whose place it stands; what
#: that raises is where other tests have their message, so that names in it are names.
RAISE = "pyrev_raise"

_JUMPS = (gast.Return, gast.Break, gast.Continue)


def with_tests(node: gast.AST) -> gast.AST:
    """The definition `node` with a test for each `raise`; itself if it has none.

    >>> import gast
    >>> text = '''
    ... def f(a, n):
    ...     if n == 0:
    ...         w = a
    ...     elif n == 1:
    ...         w = 2.0 * a
    ...     else:
    ...         raise ValueError("n")
    ...     return w
    ... '''
    >>> print(gast.unparse(with_tests(gast.parse(text).body[0])).strip())
    def f(a, n):
        if n == 0:
            w = a
        else:
            assert n == 1, ValueError('n')
            w = 2.0 * a
        return w
    """
    body = getattr(node, "body", None)
    if not isinstance(body, list) or not any(map(_raises, body)):
        return node
    made = copy.copy(node)
    made.body = _block(body)
    return made


def always_raises(node: gast.AST) -> bool:
    """Is this a test that no run passes?"""
    match node:
        case gast.Assert(test=gast.Constant(value=False)):
            return hasattr(node, RAISE)
    return False


def _raises(node: gast.AST) -> bool:
    """Does a `raise` of this very function stand in `node`?"""
    if isinstance(node, (gast.FunctionDef, gast.Lambda, gast.ClassDef, gast.Try)):
        return False
    return isinstance(node, gast.Raise) or any(map(_raises, statements(node)))


def _block(stmts: Sequence[gast.AST]) -> list[gast.AST]:
    out: list[gast.AST] = []
    for k, s in enumerate(stmts):
        rest = stmts[k + 1 :]
        match s:
            case gast.Raise():
                never = gast.copy_location(gast.Constant(False, None), s)
                raised = _with_texts(out, s)
                return [*out, _test(never, raised)]
            case gast.If():
                then, other = _block(s.body), _block(s.orelse)
                if _ends(then):
                    behind = _block([*s.orelse, *rest])
                    return [*out, *_unless(s, _negated(s.test), then), *behind]
                if _ends(other):
                    behind = _block([*s.body, *rest])
                    return [*out, *_unless(s, s.test, other), *behind]
                if then and isinstance(then[-1], _JUMPS):
                    behind = _block([*s.orelse, *rest])
                    if _ends(behind):
                        return [*out, *_unless(s, s.test, behind), *then]
                out.append(_rebuilt(s, then, other))
            case gast.For() | gast.While() if _raises(s):
                out.append(_rebuilt(s, _block(s.body), _block(s.orelse)))
            case _:
                out.append(s)
    return out


def _with_texts(before: list[gast.AST], raised: gast.Raise) -> gast.Raise:
    """The `raise` with the texts that have names just `before` it: these go."""
    texts: dict[str, gast.AST] = {}
    while before:
        match before[-1]:
            case gast.Assign(targets=[gast.Name(id=name)], value=value) if (
                name not in texts and _is_text(value)
            ):
                texts[name] = value
                before.pop()
            case _:
                break
    if not isinstance(raised.exc, gast.Call):
        return raised
    made = copy.copy(raised)
    made.exc = copy.copy(raised.exc)
    made.exc.args = [_with_text(a, texts) for a in raised.exc.args]
    return made


def _with_text(node: gast.AST, texts: dict[str, gast.AST]) -> gast.AST:
    match node:
        case gast.Name(id=name):
            return texts.get(name, node)
        case gast.BinOp():
            made = copy.copy(node)
            made.left, made.right = (
                _with_text(n, texts) for n in (node.left, node.right)
            )
            return made
    return node


def _is_text(node: gast.AST) -> bool:
    match node:
        case gast.Constant(value=str()) | gast.JoinedStr():
            return True
        case gast.BinOp(left=left, op=gast.Add(), right=right):
            return _is_text(left) or _is_text(right)
    return False


def _ends(block: Sequence[gast.AST]) -> bool:
    """Does a block that is done always raise, if it does not return before?"""
    return bool(block) and always_raises(block[-1])


def _unless(at: gast.AST, test: gast.AST, block: Sequence[gast.AST]) -> list[gast.AST]:
    """The statements for a block that raises unless `test` holds."""
    if len(block) == 1:
        return [_test(test, getattr(block[0], RAISE))]
    branch = gast.If(_negated(test), list(block), [])
    return [gast.copy_location(branch, at)]


def _test(test: gast.AST, raised: gast.Raise) -> gast.AST:
    made = gast.copy_location(gast.Assert(test, raised.exc), raised)
    setattr(made, RAISE, raised)
    return made


def _negated(test: gast.AST) -> gast.AST:
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.copy_location(gast.UnaryOp(gast.Not(), test), test)


def _rebuilt(s: gast.AST, body: list[gast.AST], orelse: list[gast.AST]) -> gast.AST:
    made = copy.copy(s)
    made.body, made.orelse = body, orelse
    return made
