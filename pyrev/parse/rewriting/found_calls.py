"""Notes on calls of helpers that may give None (see `maybe_returned`)."""

from __future__ import annotations

import copy

import gast

from pyrev.parse.bindings import mapped

#: The attribute of a call of a helper that is to give a truth value in front: whether
#: it gives something else than None.
WITH_FOUND = "pyrev_with_found"
#: That of an assignment of such a call to the names of what it gives otherwise.
MAYBE_FOUND = "pyrev_maybe_found"


def found_in(s: gast.AST) -> list[str]:
    """The names that an assignment binds which may give None for all of them."""
    if not hasattr(s, MAYBE_FOUND):
        return []
    (target,) = s.targets
    elts = target.elts if isinstance(target, gast.Tuple) else [target]
    return [t.id for t in elts]


def without_found(node: gast.AST) -> gast.AST:
    """The same with calls that give what the user's text says."""
    made = mapped(node, without_found)
    for name in (WITH_FOUND, MAYBE_FOUND):
        if hasattr(made, name):
            made = copy.copy(made)
            delattr(made, name)
    return made
