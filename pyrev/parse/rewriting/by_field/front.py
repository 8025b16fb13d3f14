"""What may be evaluated in front of a statement, and the functions that are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import NoReturn

import gast
import numpy as np

from pyrev.ir.nodes import fresh
from pyrev.parse.bindings import identifiers, local_names, nodes_of
from pyrev.parse.grounds import lookup as stands_for
from pyrev.parse.rewriting.by_field.kinds import Callee, Kinds, Pair, Rows, has_rows
from pyrev.parse.rewriting.by_field.trees import Tree, named
from pyrev.parse.rewriting.helper_texts import definition_of, looked
from pyrev.parse.rewriting.lists.sharing import effects
from pyrev.parse.rewriting.made_texts import Lookup, assign, name_of, object_named
from pyrev.parse.source import plain


class Unfit(Exception):
    """A tuple is used in a way that can't be told field by field."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.names = frozenset(names)


#: What changes nothing, and gives the same each time.
_PURE = (
    *(len, abs, min, max, sum, int, float, range, round, bool, pow, enumerate, zip),
    *(list, reversed, sorted),
)
#: Methods of arrays that do neither.
_QUIET = frozenset(
    ["copy", "sum", "mean", "dot", "min", "max", "prod", "std", "var", "astype"]
    + ["reshape", "ravel", "any", "all", "argmin", "argmax", "cumsum", "transpose"]
)


def _may_act(call: gast.Call, local: frozenset[str], lookup: Lookup) -> bool:
    """May a call change something, or give another value the next time?"""
    found = object_named(call.func, local, lookup)
    if found is None:
        return not (isinstance(call.func, gast.Attribute) and call.func.attr in _QUIET)
    if plain(found) is not None:
        return not _only_computes(found)
    module = str(getattr(found, "__module__", "") or "")
    computes = module.split(".")[0] in ("numpy", "math") and "random" not in module
    known = computes or isinstance(found, np.ufunc)
    return not known and not any(found is f for f in _PURE)


def _only_computes(function: object) -> bool:
    """Does a plain function write to nothing that it is given, and draw nothing?"""
    own, node, seen = plain(function), definition_of(function), effects(function)
    if own is None or node is None or seen is None or seen[1]:
        return False

    def look() -> bool:
        local, lookup = local_names(node), partial(stands_for, own)
        calls = [n for n in nodes_of(node) if isinstance(n, gast.Call)]
        return not any(
            _may_act(n, local, lookup) and not _changes_list(n) for n in calls
        )

    return looked(own, "acts", look, True)


def _changes_list(call: gast.Call) -> bool:
    """Does it change a list, which is one of the function's own?"""
    match call.func:
        case gast.Attribute(value=gast.Name(), attr="append" | "pop" | "reverse"):
            return True
    return False


class Front:
    """The names of the fields of one definition, and what comes before a statement."""

    def __init__(self, kinds: Kinds) -> None:
        self.kinds = kinds
        self.taken = {*identifiers(kinds.node)}
        self.names: dict[str, Tree] = {
            n: named(n, kind, self.taken) for n, kind in kinds.names.items()
        }
        #: The names of lists that have one list for each field.
        self.lists = {n for n, kind in kinds.names.items() if has_rows(kind)}
        #: Statements that come before the present one; None where none may.
        self.before: list[gast.AST] | None = None
        #: How many calls in the present statement may change something.
        self.effects = 0

    # ------------------------------------------------------------ what is there

    def mentioned(self, e: gast.AST) -> set[str]:
        """The names of tuples in an expression."""
        return {
            n.id
            for n in nodes_of(e)
            if isinstance(n, gast.Name) and n.id in self.kinds.names
        }

    def has_tuples(self, e: gast.AST) -> bool:
        """Are there names of tuples in an expression, or calls that give them?"""
        return bool(self.mentioned(e)) or any(
            self.kinds.of(n) is not None and self.callee_of(n) is not None
            for n in nodes_of(e)
        )

    def callee_of(self, e: gast.AST) -> Callee | None:
        """The function that is called, if this is a call and its text is known."""
        return self.kinds.callee(e) if isinstance(e, gast.Call) else None

    def is_sorted(self, e: gast.AST) -> bool:
        """Is it a list of tuples in order?"""
        kind = self.kinds.of(e)
        made = isinstance(e, gast.Call) and self.object(e.func) is sorted
        return made and isinstance(kind, Rows) and not any(map(has_rows, [kind.of]))

    def unfit(self, e: gast.AST) -> NoReturn:
        raise Unfit(self.mentioned(e))

    def has_effects(self, e: gast.AST) -> int:
        """How many calls in an expression may change something."""
        return sum(isinstance(n, gast.Call) and self.acts(n) for n in nodes_of(e))

    def acts(self, call: gast.Call) -> bool:
        """May a call change something?"""
        return _may_act(call, self.kinds.local, self.kinds.lookup)

    def object(self, func: gast.AST) -> object:
        """What a function that is called is, if it is none of the definition's own."""
        return object_named(func, self.kinds.local, self.kinds.lookup)

    # ------------------------------------------------------------ in front

    def held(self, e: gast.AST, own: int = 0) -> gast.AST:
        """A name for the value of an expression, which was rewritten, and has so many
        calls of `own` that may change something.
        """
        if isinstance(e, (gast.Name, gast.Constant)):
            return e
        self.front(own)
        assert self.before is not None
        name = fresh("value", self.taken)
        self.before.append(assign([name_of(name, ctx=gast.Store())], e))
        return name_of(name)

    def front(self, own: int) -> None:
        """May something be evaluated before all else in the statement?"""
        if self.before is None or self.effects > own:
            raise Unfit(self.kinds.names)


class Kept:
    """What is not copied with the nodes that have it."""

    def __deepcopy__(self, memo: object) -> Kept:
        return self


class Token(Kept):
    """What lists have in common that hold the fields of the same tuples."""


class Reading(Kept):
    """A definition by fields: the names of those of its parameters, and what kind of
    value it returns.
    """

    def __init__(
        self,
        node: gast.AST,
        names: Mapping[str, Tree],
        result: Pair | Rows | None,
    ) -> None:
        self.node, self.names, self.result = node, names, result


class Readings:
    """The functions that are called, read by fields."""

    def definition(
        self, callee: Callee, given: Mapping[str, Pair | Rows]
    ) -> Reading | None:
        """The function for parameters of these kinds; None if it calls itself."""
        raise NotImplementedError
