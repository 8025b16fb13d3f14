"""What a call means: an operation of the table, or the body of a helper in place."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import NoneType

import gast
import numpy as np

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.nodes import Call, Const, Expr, Loc, Var, names, written
from pyrev.parse import fence
from pyrev.parse.array_rules import array_rule_of
from pyrev.parse.bindings import parameters
from pyrev.parse.custom import rule_of
from pyrev.parse.cycles import cycle_of, unnamed, with_end
from pyrev.parse.draws import read_draw, read_seed
from pyrev.parse.for_kinds import around, of_kinds, outside_of
from pyrev.parse.grounds import Missing
from pyrev.parse.helpers import (
    Dtyped,
    bind_arguments,
    enter,
    function_argument,
    helper_of,
    unseen,
)
from pyrev.parse.known_calls import cast_like, is_known, known_call, read_method
from pyrev.parse.library import entries_of, in_words, of_method
from pyrev.parse.library.outside import outside
from pyrev.parse.library.sorting import by_keys
from pyrev.parse.library_calls import chosen_text
from pyrev.parse.names import find, object_of, referred
from pyrev.parse.opaque import opaque_call
from pyrev.parse.operands import read_operands
from pyrev.parse.picks import read_pick
from pyrev.parse.reading import read_operand
from pyrev.parse.rewriting.by_field.definitions import helper_with_fields
from pyrev.parse.rewriting.complex_numbers.kinds import holds_complex, may_be_complex
from pyrev.parse.rewriting.complex_numbers.pairs import given_in_parts, without_complex
from pyrev.parse.rewriting.complex_numbers.values import PARTS, RESULT
from pyrev.parse.rewriting.evaluated_once import evaluated_once
from pyrev.parse.rewriting.found_calls import WITH_FOUND
from pyrev.parse.rewriting.known_values import is_known as is_known_value
from pyrev.parse.rewriting.known_values import known_defaults, with_values
from pyrev.parse.rewriting.lists.literals import without_lists
from pyrev.parse.rewriting.lists.results import KNOWN, places_in
from pyrev.parse.rewriting.lists.room import AHEAD
from pyrev.parse.rewriting.lists.uses import DEFINITION
from pyrev.parse.rewriting.maybe_returned import finding, with_found
from pyrev.parse.rewriting.starred import as_definition, given_to
from pyrev.parse.rewriting.structures.calls import spread_structures
from pyrev.parse.rewriting.structures.counted_tuples import with_lists_beside
from pyrev.parse.rewriting.structures.fields import with_functions, without_structures
from pyrev.parse.rewriting.structures.methods import may_have_methods
from pyrev.parse.rewriting.structures.nested_calls import may_nest
from pyrev.parse.rewriting.structures.nodes import own_returns
from pyrev.parse.rewriting.structures.shapes import TAKEN_APART
from pyrev.parse.rewriting.structures.tuple_turns import HELP, loops_left
from pyrev.parse.rewriting.tuples import spread, tuple_length
from pyrev.parse.ruled_calls import (
    by_rule,
    ruled_arguments,
)
from pyrev.parse.scopes import Helper, Scope, home, kind_of
from pyrev.parse.source import Standing, default_values, library_of
from pyrev.parse.streams import PICKS, Draw, stream_of
from pyrev.parse.subscripts import measured
from pyrev.parse.ufuncs import by_element, mapped, note_loop, of_dtype
from pyrev.parse.values import Array, Nothing, Operand, Refused, Tuple, Value
from pyrev.parse.walk import Passed, Walk
from pyrev.parse.whole_arrays import reusable

# `apply(lambda v: apply(g, v), x)` is no recursion; a call this deep in itself is.
_DEPTH = 4


def read_call(
    w: Walk,
    node: gast.Call,
    scope: Scope,
    *,
    dropped: bool = False,
) -> Value:
    """Lower a call: what it gives; if that is `dropped`, nothing will do."""
    at = scope.source.loc(node)
    alike = _class_of(w, node, scope)
    if alike is not None:
        return cast_like(w, alike, node.args[0], at, scope) or Refused()
    function = object_of(w, node.func, scope)
    text = gast.unparse(node.func).strip()
    for argument in node.keywords:
        if argument.arg is None:
            w.refuse("P108", at, "`**` spreads arguments", "write each argument out")
            return Refused()
    if w.findings.found and any(isinstance(a, gast.Starred) for a in node.args):
        return Refused()  # what the call gives is not known
    if isinstance(function, Helper):
        return inline(w, function, node, scope, dropped)
    drawn = function if isinstance(function, Draw) else stream_of(function)
    if drawn is not None:
        if w.env.ahead or hasattr(node, AHEAD):
            w.refuse("P106", at, *_DRAWN_LENGTH)
            return Refused()
        given = _drawn(w, drawn, node, scope)
        if isinstance(given, Nothing) and not dropped:
            because = f"`{text}` gives nothing, and its value is used here"
            w.refuse("P108", at, because, "write the call as a line of its own")
            return Refused()
        return given
    listed, first = _listed(w, function, node.func, scope)
    match node:
        case gast.Call(
            args=[gast.Tuple(elts=keys) | gast.List(elts=keys)], keywords=[]
        ) if listed is np.lexsort and len(keys) in (2, 3):
            # An array of them all would have one dtype.
            listed = by_keys
            node = gast.copy_location(gast.Call(node.func, keys, []), node)
    if entries_of(listed):
        found = from_library(w, listed, text, node, first, scope)
        if found is not None:
            return found
    single = known_call(w, function, text, node, scope)
    if single is None and isinstance(function, Missing):
        single = read_method(w, node, scope)
    if single is not None:
        if dropped:
            w.refuse(
                "P115", at, "the value is not used", "assign it, or remove the line"
            )
        return single
    if is_known(function):
        return Refused()
    if isinstance(function, Missing) and unnamed(w, text, home(scope)):
        function = home(scope)
    opaque = array_rule_of(function) or outside(function)
    if opaque is not None:
        return opaque_call(w, opaque, node, scope)
    helper = helper_of(w, function, at)
    if isinstance(helper, Refused):
        return helper
    if isinstance(helper, Helper):
        return inline(w, helper, node, scope, dropped)
    if fence.has_told(node.func):
        return Refused()
    for argument in node.args:
        read_operand(w, argument, scope)
    refuse_call(w, function, text, node, scope)
    return Refused()


def _drawn(w: Walk, draw: Draw, node: gast.Call, scope: Scope) -> Value:
    """What a method of a generator of random numbers gives."""
    if draw.method == "seed":
        return read_seed(w, draw, node, scope)
    if draw.method in PICKS:
        return read_pick(w, draw, node, scope)
    return read_draw(w, draw, node, scope)


def _class_of(w: Walk, node: gast.Call, scope: Scope) -> gast.AST | None:
    """What a call asks for the class that it calls: ``a`` of ``type(a)(x)``."""
    match node:
        case gast.Call(
            func=gast.Call(func=gast.Name() as kind, args=[gast.Name() as of]),
            args=[_],
            keywords=[],
        ) if not node.func.keywords and object_of(w, kind, scope) is type:
            return of
        case gast.Call(
            func=gast.Attribute(
                value=gast.Attribute(value=gast.Name(), attr="dtype") as of, attr="type"
            ),
            args=[_],
            keywords=[],
        ):
            return of
    return None


def _listed(
    w: Walk, function: object, named: gast.AST, scope: Scope
) -> tuple[object, tuple[gast.AST, ...]]:
    """NumPy's function that is called, and the array whose method it is."""
    if not isinstance(function, Missing) or not isinstance(named, gast.Attribute):
        return function, ()
    owner = object_of(w, named.value, scope)
    if isinstance(owner, np.ufunc):
        return getattr(owner, named.attr, None), ()
    return of_method(named.attr), (named.value,)


def from_library(
    w: Walk,
    function: object,
    text: str,
    node: gast.Call,
    first: Sequence[gast.AST],
    scope: Scope,
) -> Value | None:
    """The text of the library for a call, in place of it; None where the tables may
    know what is meant.
    """
    mark = w.emit.mark
    chosen = chosen_text(w, function, node, first, scope)
    at = scope.source.loc(node)
    if chosen is not None:
        given = _entered(w, chosen.helper, chosen.values, {}, scope, at)
        return Tuple(given.elements, True) if isinstance(given, Tuple) else given
    if is_known(function):
        w.emit.take(mark)
        return None
    because = f"`{text}` does not take these arguments here"
    w.refuse("P108", at, because, f"give it {in_words(entries_of(function))}")
    return Refused()


_DRAWN_LENGTH = (
    "what is drawn decides how many elements a list gets",
    "fill an array that is long enough, and count: `out[n] = v`, `n += 1`",
)


def inline(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope, dropped: bool
) -> Value:
    """The body of a helper, in place of its call."""
    ahead = w.env.ahead
    w.env.ahead = ahead or hasattr(node, AHEAD)
    found = _inlined(w, helper, node, scope, dropped)
    w.env.ahead = ahead
    return found


def _inlined(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope, dropped: bool
) -> Value:
    at = scope.source.loc(node)
    helper = _with_methods(w, helper, node, scope)
    cycle = cycle_of(w, helper, scope)
    most = _DEPTH if cycle is None else cycle.levels(True)
    if scope.stack.count(helper.key) >= most:
        refuse_recursion(w, helper.name, at)
        return Refused()
    if isinstance(scope.source, Standing):  # what a text of the library calls
        own = helper.source
        helper = replace(helper, source=Standing(own.file, own.lines, own.node, at))
    helper = _with_found(w, helper, node, scope)
    key, spoken_of = helper.key, helper
    helper = _by_field(w, helper, node, scope)
    whole = helper is spoken_of
    helper, node = _without_structures(w, helper, node, scope)
    whole = whole and not hasattr(helper.source.node, TAKEN_APART)
    if key not in w.env.fenced:
        w.env.fenced.append(key)
        fence.check(helper.source, w.findings)
        w.env.refused |= fence.bound_by_refused(helper.source.node)
    helper, node = _with_values(helper, node)
    separated = _without_complex(w, helper, node, scope)
    if separated is None:
        return Refused()
    helper, node = separated
    helper, node = _spread(w, helper, node, scope)
    given = _arguments(w, helper, node, scope)
    if given is None:
        return Refused()
    values, functions = given
    rule = rule_of(helper.python)
    inputs: dict[str, Expr] = {}
    if rule is not None:
        ruled = ruled_arguments(w, helper, values, functions, at)
        if ruled is None:
            return Refused()
        inputs, values = ruled, {**ruled}
    for name, value in values.items():
        if isinstance(value, Array):
            values[name] = reusable(w, value, scope, name)
    if helper.loops:
        return _by_loop(w, helper, values, functions, scope, at)
    helper = of_kinds(w, helper, values, scope)
    mark = w.emit.mark
    if cycle is not None:
        bounded = with_end(w, helper, cycle, values, scope)
        if bounded is None:
            refuse_recursion(w, helper.name, at)
            return Refused()
        helper = bounded
    returned = _entered(w, helper, values, functions, scope, at)
    if isinstance(returned, Nothing):
        if w.findings.found:
            return Refused()
        if not dropped:
            because = f"`{helper.name}` returns nothing"
            w.refuse("P108", at, because, "end it with `return` and the value")
        return returned
    if rule is not None:
        return by_rule(w, helper, rule, inputs, returned, scope, at, mark)
    if isinstance(returned, Tuple):
        whole = whole and _counts(spoken_of.source.node) == {len(returned.elements)}
        return Tuple(returned.elements, whole)
    return returned


def _by_loop(
    w: Walk,
    helper: Helper,
    values: Mapping[str, Operand],
    functions: Mapping[str, object],
    scope: Scope,
    at: Loc,
) -> Value:
    """A call of a ufunc of Numba's."""
    note_loop(w, helper, values, at)
    given = {n: of_dtype(helper, v) for n, v in values.items()}
    ranks = {v.rank for v in values.values() if isinstance(v, Array)}
    if ranks and by_element(helper.source.node):
        of_all, each = mapped(helper, given, at)
        own = {**functions, each: replace(helper, loops=())}
        return _entered(w, of_all, given, own, scope, at)
    return of_dtype(helper, _entered(w, helper, given, functions, scope, at))


def _counts(node: gast.AST) -> set[int | None]:
    """How many values a definition returns, where they are written out."""
    lambda_ = isinstance(node, gast.Lambda)
    values = [node.body] if lambda_ else [r.value for r in own_returns(node)]
    return {len(v.elts) if isinstance(v, gast.Tuple) else None for v in values}


def _with_found(w: Walk, helper: Helper, node: gast.Call, scope: Scope) -> Helper:
    """The helper with a truth value besides what may be None: where it calls such a
    helper, and where it is one, and the call asks for that.
    """
    if rule_of(helper.python) is not None:
        return helper
    definition, once = helper.source.node, w.env.rewritten.once
    look = around(w, helper, scope)
    if hasattr(node, WITH_FOUND):
        made = once(definition, "finding", look, partial(finding, definition))
    else:
        made = definition
    asking = once(made, "with found", look, partial(with_found, made))
    return helper if asking is definition else helper.made(asking)


def _with_methods(w: Walk, helper: Helper, node: gast.Call, scope: Scope) -> Helper:
    """The helper with functions for the methods of what it is given."""
    definition = helper.source.node
    if rule_of(helper.python) is not None:
        return helper
    if not (may_have_methods(definition) or may_nest(definition)):
        return helper
    defaults = {} if helper.python is None else default_values(helper.python)
    spread_ = spread_structures(definition, node, outside_of(w, scope), defaults)
    if spread_ is None:
        return helper
    shapes = spread_[0]
    made = w.env.rewritten.once(
        definition,
        ("with methods", tuple(shapes.items())),
        around(w, helper, scope),
        lambda look: with_functions(definition, look, shapes),
    )
    return helper if made is definition else helper.made(made)


def _by_field(w: Walk, helper: Helper, node: gast.Call, scope: Scope) -> Helper:
    """The helper by the fields of tuples, where these are read so."""
    if not w.known.by_field or rule_of(helper.python) is not None:
        return helper
    definition = helper.source.node
    attached = getattr(node, DEFINITION, None)
    if hasattr(node, WITH_FOUND):
        attached = None
    made = None if attached is None else attached.node
    if made is None:
        look = around(w, helper, scope)
        make = partial(helper_with_fields, definition)
        made = w.env.rewritten.once(definition, "by field", look, make)
    return helper if made is definition else helper.made(made)


def _without_structures(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope
) -> tuple[Helper, gast.Call]:
    """The helper and the call with a parameter for each field of a structure."""
    if rule_of(helper.python) is not None:
        return helper, node
    asked = node
    defaults = {} if helper.python is None else default_values(helper.python)
    look = outside_of(w, scope)
    spread_ = spread_structures(helper.source.node, node, look, defaults)
    shapes, node = ({}, node) if spread_ is None else spread_
    definition, once = helper.source.node, w.env.rewritten.once
    functions = tuple(
        (one.name, found.python)
        for one in given_to(definition, asked, defaults)
        if isinstance(one.value, gast.Name)
        and isinstance(found := find(w, one.value.id, scope), Helper)
        and found.python is not None
    )
    look = around(w, helper, scope)
    if not hasattr(asked, KNOWN) and once(
        definition, "lists", look, partial(places_in, definition)
    ):
        what = f"`{helper.name}` gives a list, which is taken for an array here"
        w.refuse("P106", scope.source.loc(asked), what, _ARRAY)
    made = once(
        definition,
        ("without structures", tuple(shapes.items()), functions, w.known.by_field),
        look,
        lambda look: (
            without_structures(
                without_lists(
                    with_lists_beside(evaluated_once(definition, look), look, shapes),
                    look,
                    True,
                    w.known.by_field,
                ),
                look,
                shapes,
                functions,
            ).node
        ),
    )
    for loop, what in loops_left(made):
        w.refuse("P111", helper.source.loc(loop), what, HELP)
    return (helper if made is definition else helper.made(made)), node


_ARRAY = "return `np.array(...)` of it, or call a function of the module by its name"


def _without_complex(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope
) -> tuple[Helper, gast.Call] | None:
    """The helper and the call with two parameters for each that is given a complex
    number; None if the helper is refused for it.
    """
    given, call = given_in_parts(helper.source.node, node)
    expected = getattr(node, RESULT, False)
    if hasattr(helper.source.node, RESULT):  # it was read with what is around it
        result = getattr(helper.source.node, RESULT)
        known = getattr(helper.source.node, PARTS)
        fits = {*given} <= {*known}
    elif not given and not w.env.rewritten.once(
        helper.source.node,
        "may be complex",
        around(w, helper, scope, noted=False),
        partial(may_be_complex, helper.source.node),
    ):  # what it does not depend on may change behind a reading
        result, fits = False, True
    else:
        look, loc = around(w, helper, scope), helper.source.loc
        try:
            found = without_complex(helper.source.node, look, loc, given, inlined=True)
        except UnsupportedError as error:
            for f in error.findings:
                w.refuse(f.code, f.at, f.because, f.help)
            return None
        result, fits = found.result, "" not in given
        if found.node is not helper.source.node:
            helper = helper.made(found.node)
    # Nothing is known of what is called where the function is an argument.
    if not fits or (holds_complex(result) and result != expected):
        because = f"`{helper.name}` is given or returns complex numbers here"
        helps = "call it by its name, or let it take and return real numbers"
        w.refuse("P106", scope.source.loc(node), because, helps)
        return None
    if given and rule_of(helper.python) is not None:
        because = f"`{helper.name}` has a derivative of its own, for real numbers"
        helps = "give it the parts of the complex number"
        w.refuse("P106", scope.source.loc(node), because, helps)
        return None
    return helper, call


def _with_values(helper: Helper, node: gast.Call) -> tuple[Helper, gast.Call]:
    """The helper and the call without the parameters that are None or texts in it."""
    definition = helper.source.node
    spec = definition.args
    positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
    own = {p.id for p in parameters(definition)}
    given = dict(zip(positional, node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    values = {n: v.value for n, v in given.items() if is_known_value(v)}
    if helper.python is None:
        defaults: Mapping[str, object] = known_defaults(definition)
    else:
        defaults = default_values(helper.python)
    values |= {
        n: v
        for n, v in defaults.items()
        if n not in given and isinstance(v, (str, NoneType)) and n in own
    }
    if values and isinstance(definition, gast.Lambda):
        definition = as_definition(definition)
    new = with_values(definition, values, inlined=True)
    if new is definition:
        return helper, node
    call = copy.copy(node)
    call.args = [
        a
        for k, a in enumerate(node.args)
        if k >= len(positional) or positional[k] not in values
    ]
    call.keywords = [k for k in node.keywords if k.arg not in values]
    return helper.made(new), call


def _spread(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope
) -> tuple[Helper, gast.Call]:
    """The helper and the call with a parameter for each element of an argument that is
    a tuple or a shape.
    """
    if helper.python is None or rule_of(helper.python) is not None:
        return helper, node
    spec = helper.source.node.args
    positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
    plain = positional[: len(positional) - len(spec.defaults)]
    plain += [
        p.id
        for p, d in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
        if d is None
    ]
    lengths: dict[int | str, int] = {}
    given = [*enumerate(node.args), *((k.arg, k.value) for k in node.keywords)]
    for key, argument in given:
        name = positional[key : key + 1] if isinstance(key, int) else [key]
        count = _length(w, argument, scope) if set(name) & set(plain) else 0
        if count:
            lengths[key] = count
    if not lengths:
        return helper, node
    definition, node = spread(helper.source.node, node, lengths)
    return helper.made(definition), node


def _length(w: Walk, node: gast.AST, scope: Scope) -> int:
    """Of how many elements an argument is a tuple; 0 if it is none."""
    match node:
        case gast.Attribute(value=base, attr="shape"):
            whole = measured(w, base, scope)
            return 0 if whole is None else whole.rank
    return tuple_length(node)


def _arguments(
    w: Walk, helper: Helper, node: gast.Call, scope: Scope
) -> tuple[dict[str, Operand], dict[str, object]] | None:
    """What the parameters of a helper get: values, and functions; None if refused."""
    arguments = bind_arguments(w, helper, node, scope)
    if arguments is None:
        return None
    bound: list[str] = []
    nodes: list[gast.AST] = []
    functions: dict[str, object] = {}
    fixed: dict[str, Operand] = {}
    for name, argument in arguments:
        if isinstance(argument, (Const, Call)):
            fixed[name] = argument
            continue
        if isinstance(argument, Dtyped):
            functions[name] = argument.dtype
            continue
        function = function_argument(w, argument, scope)
        if function is not None:
            functions[name] = function
        else:
            bound.append(name)
            nodes.append(argument)
    given = read_operands(w, nodes, scope)
    passed = dict(zip(bound, nodes, strict=True))
    w.found.passed.append(Passed(scope, scope.source.loc(node), passed))
    return dict(zip(bound, given, strict=True)) | fixed, functions


def _entered(
    w: Walk,
    helper: Helper,
    values: Mapping[str, Operand],
    functions: Mapping[str, object],
    scope: Scope,
    at: Loc,
) -> Value:
    """What the body of a helper returns. An argument stands for its parameter where
    the body turns out not to change what it reads.
    """
    own = unseen(w, values.values())
    mark = w.emit.mark
    for cheap in (True, False):
        inner = enter(w, helper, values, functions, scope, cheap, at)
        inner.owned |= own
        lent = [
            e for e in inner.bound.values() if not isinstance(e, (Array, Var, Const))
        ]
        returned = w.readers.body(w, inner)
        changed = written(w.emit.since(mark))
        if not any(changed & names(e) for e in lent):
            break
        w.emit.take(mark)
    return returned


def refuse_call(
    w: Walk, function: object, text: str, node: gast.Call, scope: Scope
) -> None:
    """A call of what is no function of the language."""
    if text.split(".")[0] in w.env.refused:
        return
    because = f"`{text}` is {kind_of(function)} that pyrev does not know"
    helps = "write it as loops and arithmetic in a plain function"
    if isinstance(function, Missing):
        because = f"`{text}` is not a function that is known here"
        helps = "define it before the function is differentiated"
        if isinstance(node.func, gast.Attribute):
            helps = "methods are outside the language: write it as loops"
            if referred(w, node.func.value, scope) is not None:
                because = f"`.{node.func.attr}` is a method that pyrev does not know"
                helps = (
                    "write it as loops; of methods `sum`, `dot`, `copy` and their"
                    " like are known"
                )
    elif function is slice:
        because = "a slice stands here that is no subscript"
        helps = "write it between the brackets, as in `x[a:b]`"
    elif library := library_of(function):
        helps = "write it as loops, or with the functions that pyrev knows"
        if library != "numpy":
            because = f"`{text}` is a function of {library} that pyrev does not know"
    w.refuse("P107", scope.source.loc(node.func), because, helps)


def refuse_recursion(w: Walk, name: str, at: Loc) -> None:
    """A helper that calls itself."""
    w.refuse("P109", at, f"`{name}` calls itself", "write the recursion as a loop")
