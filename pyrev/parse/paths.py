"""What a definition returns, on one path or on several."""

from __future__ import annotations

from collections.abc import Sequence

import gast

from pyrev.ir.nodes import (
    ZERO,
    Assign,
    Call,
    Extent,
    If,
    Loc,
    Var,
)
from pyrev.parse.bindings import tail_form
from pyrev.parse.blocks import begin, new_block, read_statement
from pyrev.parse.calls import read_call
from pyrev.parse.copies import end_function
from pyrev.parse.joins import (
    array_bindings,
    lends_back,
    rebind_arrays,
    refuse_paths,
    replace_elements,
    take_over,
)
from pyrev.parse.listed import end_lists
from pyrev.parse.names import rank_of
from pyrev.parse.operands import read_operands
from pyrev.parse.points_to import identity_of, note_may_be
from pyrev.parse.reading import read_operand, read_truth
from pyrev.parse.restoring import note_exchanged_writes, restore_contents
from pyrev.parse.rooms import allocate_room
from pyrev.parse.scopes import Scope
from pyrev.parse.values import (
    Array,
    Nothing,
    Operand,
    Refused,
    Tuple,
    Value,
    same,
    whole_array,
)
from pyrev.parse.walk import Differing, Walk, Wanted
from pyrev.parse.whole_arrays import count_lengths

#: What a body returns, and where.
Returned = tuple[Value, Loc]


def read_body(w: Walk, scope: Scope) -> Value:
    """Lower a definition's statements; what it returns comes back."""
    around, w.aliases.exchanges = w.aliases.exchanges, []
    outer = w.aliases.outer_exchanges
    w.aliases.outer_exchanges = [*outer, *around]
    first, w.storage.first = w.storage.first, len(w.storage.allocated)
    mark, writes = w.emit.mark, len(w.storage.changed)
    w.env.running.append(scope)
    result, at = read_definition(w, scope)
    end_lists(w)
    w.env.running.pop()
    if w.aliases.exchanges:
        note_exchanged_writes(w, scope)
    end_function(w, scope, writes, False)
    if w.aliases.exchanges:
        result = restore_contents(w, result, scope, mark)
        end_function(w, scope, writes, True)
    w.aliases.exchanges, w.storage.first = around, first
    w.aliases.outer_exchanges = outer
    w.env.returned_at = at
    return result


def read_definition(w: Walk, scope: Scope) -> Returned:
    """The statements of a definition, and what it returns."""
    node = scope.source.node
    if isinstance(node, gast.Lambda):
        at = scope.source.loc(node.body)
        return read_operand(w, node.body, scope), at
    body = tail_form(node.body)
    if body is not None and isinstance(body[-1], gast.If):
        return read_paths(w, body, scope)
    *rest, last = node.body
    for child in rest:
        read_statement(w, child, scope)
    if isinstance(last, gast.Return):
        return read_return(w, last, scope)
    read_statement(w, last, scope)
    return Nothing(), scope.source.loc(last)


def read_paths(w: Walk, body: Sequence[gast.AST], scope: Scope) -> Returned:
    """A body whose `if`s end in `return`s: each path assigns the same variables."""
    results: list[Operand] = []
    returns: list[tuple[int, bool]] = []
    mark = w.emit.mark
    around, w.env.differing = w.env.differing, {}
    *rest, last = body
    for child in rest:
        read_statement(w, child, scope)
    fork = w.emit.mark
    read_path(w, [last], scope, results, returns)
    for differing in w.env.differing.values():
        # What the shape is made of may be known at the beginning, or where paths part.
        for place in (mark, fork):
            before = w.emit.mark
            if allocate_room(w, differing.name, differing.wholes, differing.at, place):
                fork += w.emit.mark - before
                break
        else:
            because = "the paths return arrays of unlike shapes"
            refuse_paths(w, differing.at, because)
        note_choice(w, differing)
    w.env.differing = around
    if len(set(returns)) != 1:
        w.refuse(
            "P110",
            scope.source.loc(body[-1]),
            "the paths through this `if` return different numbers of values",
            "return equally many values on every path",
        )
        return ZERO, scope.source.loc(body[-1])
    if returns[0] == (0, False):
        return Nothing(), scope.source.loc(body[-1])
    at = results[0].loc
    last = w.emit.out[-1]
    if len(results) == 1 and isinstance(last, Assign) and last.target == results[0]:
        # Every path was an expression: so is the call.
        w.emit.take(w.emit.mark - 1)
        return last.value, at
    return results[0] if returns[0][1] else Tuple(tuple(results)), at


def read_path(
    w: Walk,
    body: Sequence[gast.AST],
    scope: Scope,
    results: list[Operand],
    returns: list[tuple[int, bool]],
) -> None:
    """One path through a body: its results go into the common variables."""
    *rest, last = body
    for child in rest:
        read_statement(w, child, scope)
    at = scope.source.loc(last)
    begin(w, last, scope)
    if isinstance(last, gast.If):
        condition = read_truth(w, last.test, scope)
        helpers = dict(scope.helpers)
        w.env.depth += 1
        before = array_bindings(scope)
        with new_block(w) as then:
            read_path(w, last.body, scope, results, returns)
        rebind_arrays(scope, before)
        scope.helpers = dict(helpers)
        with new_block(w) as other:
            read_path(w, last.orelse, scope, results, returns)
        w.env.depth -= 1
        scope.helpers = helpers
        match then, other:
            case [Assign(Var(one), a)], [Assign(Var(two), b)] if one == two:
                chosen = Call("where", (condition, a, b), loc=at)
                w.emit.add(Assign(Var(one, loc=at), chosen, loc=at))
            case _:
                w.emit.add(If(condition, tuple(then), tuple(other), loc=at))
        return
    returned, _ = read_return(w, last, scope)
    values: tuple[Value, ...] = ()
    if isinstance(returned, Tuple):
        values = returned.elements
    elif not isinstance(returned, Nothing):
        values = (returned,)
    single = not isinstance(returned, (Tuple, Nothing))
    returns.append((len(values), single))
    for k, value in enumerate(values):
        assert not isinstance(value, (Tuple, Nothing, Refused))
        first = results[k] if k < len(results) else value
        if isinstance(value, Array) or isinstance(first, Array):
            own = array_result(w, k, value, first, scope, at)
            if k == len(results):
                results.append(own)
            continue
        if k == len(results):
            results.append(Var(w.emit.fresh("result"), loc=at))
        place = results[k]
        assert isinstance(place, Var)
        w.emit.add(Assign(place, value, loc=at))


def array_result(
    w: Walk, k: int, value: Operand, first: Operand, scope: Scope, at: Loc
) -> Var | Array:
    """The k-th result of a path, an array; a path before it returned `first`.

    One array that every path returns is that array. That paths return different
    ones shows at the second; the next walk copies each into a new one.
    """
    differ = Wanted(str(k), scope.source.loc(scope.source.node), "result")
    foreign = (
        isinstance(value, Array)
        and value.view
        and value.base not in w.storage.allocated
    )
    if not isinstance(value, Array) or not isinstance(first, Array):
        refuse_paths(w, at, "one path returns an array, and another a number")
    elif not w.wants(differ):
        if not same(value, first):
            w.ask(differ)
    elif foreign and not scope.inlined and not lends_back(w, k, value, at):
        refuse_paths(w, at, "another path returns another array")
    else:
        found = w.env.differing.get(k)
        if found is None:
            names_ = w.emit.fresh("result"), w.emit.fresh("which")
            found = w.env.differing[k] = Differing(*names_, at)
            w.storage.allocated[found.name] = at
            w.storage.made_in[found.name] = scope.start
            shape = tuple(Extent(found.name, j) for j in range(value.rank))
            w.storage.sizes[found.name] = shape
            count_lengths(w, found.name, rank_of(w, found.name), at)
        target = whole_array(found.name, rank_of(w, found.name), at)
        if not take_over(w, target, value, "", at, found.wholes):
            return target
        found.wholes.append(value)
        replace_elements(w, target, value, at)
        if value.view and value.base is not None:
            note_may_be(w, found.name, {value.base}, scope, at)
        number, choice = identity_of(w, value, len(found.wholes) - 1)
        found.choices.append(choice)
        w.emit.add(Assign(Var(found.selector, loc=at), number, loc=at))
        return target
    if isinstance(value, (Array, Var)):
        return value
    return Var(w.emit.fresh("result"), loc=at)


def note_choice(w: Walk, differing: Differing) -> None:
    """Which array the paths have returned is known when the program runs."""
    copy = w.aliases.copies.get(differing.name)
    given = [a for a in differing.choices if a is not None]
    if copy is not None and all(a.name == a.base for a in given):
        copy.selector = Var(differing.selector, loc=differing.at)
        copy.choices = tuple(differing.choices)


def read_return(w: Walk, node: gast.Return, scope: Scope) -> Returned:
    """What a `return` gives: nothing, one value, or several."""
    at = scope.source.loc(node)
    begin(w, node, scope)
    match node.value:
        case None | gast.Constant(value=None):
            return Nothing(), at
        case gast.Tuple(elts=elements) if elements:
            return Tuple(tuple(read_operands(w, elements, scope))), at
        case gast.Call() as call:
            result = read_call(w, call, scope)
            return ZERO if isinstance(result, Refused) else result, at
        case value:
            return read_operand(w, value, scope), at
