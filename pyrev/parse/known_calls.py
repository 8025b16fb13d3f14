"""What a call of a function of the tables means: NumPy's, `math`'s, Python's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import gast
import numpy as np

from pyrev.ir.dtypes import WEAK_FLOAT, WEAK_INT
from pyrev.ir.nodes import (
    ZERO,
    Call,
    Check,
    Const,
    Expr,
    Load,
    Loc,
    Var,
    substitute,
    walk_expr,
)
from pyrev.parse import fence, views
from pyrev.parse.arrangements import METHODS, read_arrangement
from pyrev.parse.bindings import literal_axes, literal_integer
from pyrev.parse.creation import (
    array_of_list,
    read_converted,
    read_copy,
    read_creation,
)
from pyrev.parse.directives import probe
from pyrev.parse.functions import (
    ARRANGED,
    CREATORS,
    FOLDED,
    PRODUCTS,
    REDUCING,
    REDUCTIONS,
    Meaning,
    dtype_name,
    is_range,
    meaning,
    rounding,
)
from pyrev.parse.grounds import Missing
from pyrev.parse.names import callback_number, find, program_name, referred
from pyrev.parse.operands import read_numbers, read_operands
from pyrev.parse.products import (
    einstein_sum,
    letters_of,
    matrix_product,
    outer_product,
)
from pyrev.parse.reading import read_number, read_operand
from pyrev.parse.reductions import (
    any_or_all,
    arg_extremum,
    reduce_axes,
    variance,
)
from pyrev.parse.rewriting.made_texts import name_of, placed
from pyrev.parse.scopes import (
    NUMPY,
    Capture,
    Helper,
    Scope,
    home,
    module_name,
    record_place,
)
from pyrev.parse.subscripts import measured, read_record_place
from pyrev.parse.values import Array, Operand
from pyrev.parse.walk import Walk
from pyrev.parse.whole_arrays import (
    as_array,
    ask_axes,
    elementwise,
    is_integral,
    known_dtype,
    located,
    make,
)
from pyrev.parse.without_axes import note_without_axes

_ROUNDING = (np.round, np.around)
#: Of powers of ten up to here NumPy has what Python's `**` gives.
_MOST_DECIMALS = 22

#: The reductions that leave a number as it is.
_THEMSELVES = frozenset(["sum", "prod", "mean", "min", "max"])


def is_known(function: object) -> bool:
    """Is this a function of the tables?"""
    if function is len or function is probe or is_range(function):
        return True
    if function is np.select or meaning(function) is not None:
        return True
    try:
        return any(
            function in known
            for known in (FOLDED, CREATORS, REDUCTIONS, PRODUCTS, ARRANGED)
        )
    except TypeError:
        return False


def known_call(
    w: Walk, function: object, text: str, node: gast.Call, scope: Scope
) -> Operand | None:
    """A call of a function of the table, or None."""
    at = scope.source.loc(node)
    if function is len and len(node.args) == 1 and not node.keywords:
        return read_len(w, node, scope)
    if function is probe:
        return read_probe(w, text, node, scope)
    if function is record_place:
        return read_record_place(w, node, scope)
    if function in _ROUNDING and (parts := rounding_parts(node)) is not None:
        return read_rounding(w, *parts, text, at, scope)
    if function is np.fix and len(node.args) == 1 and not node.keywords:
        return read_fix(w, node.args[0], text, at, scope)
    if function is np.select:
        return read_selection(w, node, scope)
    found = meaning(function)
    if found is not None:
        named = module_name(function)
        spreads = named in ("numpy", "scipy") or function in (abs, pow)
        made = apply_meaning(w, found, text, node, scope, spreads)
        if function is np.where and made is not None:
            note_without_axes(w, node, made, scope)
            made = _of_64_bits(made)
        return made
    if is_range(function):
        w.refuse(
            "P111", at, "a range outside a `for`", "write it in the `for` statement"
        )
        return None
    integer = integer_type(function)
    if integer is not None and len(node.args) == 1 and not node.keywords:
        return read_cast(w, integer, node.args[0], at, scope)
    created = read_creation(w, function, node, scope)
    if created is not None:
        return created
    try:
        op = FOLDED.get(function)
        reduces, multiplies = REDUCTIONS.get(function), PRODUCTS.get(function)
        arranges = ARRANGED.get(function)
    except TypeError:
        return None  # no function of a table
    if reduces is not None and node.args:
        first = read_listed(w, node.args[0], at, scope)
        if function is sum and (node.args[1:] or node.keywords or is_deep(first)):
            w.refuse(
                "P108",
                at,
                "Python's `sum` adds rows up, from its second argument on",
                "use `np.sum`, and add the start to it",
            )
            return None
        return read_reduction(w, reduces, first, node.args[1:], node, text, scope)
    if multiplies == "einsum":
        return read_einsum(w, node, scope, at)
    if multiplies is not None and len(node.args) == 2 and not node.keywords:
        return read_product(w, multiplies, node.args, scope, at)
    if arranges is not None:
        keywords = {k.arg: k.value for k in node.keywords}
        made = read_arrangement(w, arranges, node.args, keywords, at, scope)
        if made is None:
            refuse_arguments(w, text, node, scope)
        return made
    if reduces is not None or multiplies is not None:
        refuse_arguments(w, text, node, scope)
        return None
    if op is not None:
        return read_fold(w, op, text, node, scope)
    if w.known.loose and isinstance(node.func, gast.Name):
        args = read_numbers(w, node.args, scope)
        return Call(node.func.id, tuple(args), loc=at)
    return None


def integer_type(function: object) -> str | None:
    """The dtype that a class of NumPy's integers is; None if it is none of ours."""
    if isinstance(function, type) and issubclass(function, np.integer):
        return dtype_name(function)
    return None


def read_cast(
    w: Walk, name: str, node: gast.AST, at: Loc, scope: Scope
) -> Operand | None:
    """``np.int32(x)`` of a number: `OverflowError` if it does not fit."""
    value: Expr = Call("int", (read_number(w, node, scope),), loc=at)
    if name != "int64":
        value = w.emit.temp(value, "whole")
        room = np.iinfo(name)
        ends = [Const(int(n), loc=at) for n in (room.min, room.max)]
        low, high = Call("<=", (ends[0], value)), Call("<=", (value, ends[1]))
        message = f"an integer is out of bounds for {name}"
        test = Call("and", (low, high), loc=at)
        w.emit.add(Check(test, "OverflowError", message, loc=at))
    return Call(name, (value,), loc=at)


def cast_like(
    w: Walk, of: gast.AST, node: gast.AST, at: Loc, scope: Scope
) -> Operand | None:
    """``type(a)(x)`` of a number `a`, ``a.dtype.type(x)`` of an array: floats of
    Python's and of 64 bits, as each call checks.
    """
    value = read_number(w, node, scope)
    match value:
        case Const(int(given)) if abs(given) < 2**53:
            value = Const(float(given), loc=at)
        case _:
            value = Call("float", (value,), loc=at)
    if isinstance(of, gast.Attribute):
        whole = measured(w, of.value, scope)
        named = None if whole is None else whole.name
        dtype, value = "float64", Call("float64", (value,), loc=at)
    else:
        named, dtype = program_name(w, referred(w, of, scope)), WEAK_FLOAT
        element = read_number(w, of, scope) if named is None else None
        if isinstance(element, Load):  # of an array, which a helper was given
            named, dtype = element.array, "float64"
            value = Call("float64", (value,), loc=at)
    if named is None:
        because = f"the class of `{gast.unparse(of).strip()}` is not known here"
        w.refuse("P107", at, because, "write `float(...)`, or ask a parameter")
        return None
    w.found.alike_kinds.append((named, dtype, at))
    return value


def read_fold(
    w: Walk, op: str, text: str, node: gast.Call, scope: Scope
) -> Operand | None:
    """``max(a, b, c)`` of numbers, ``max(v)`` of a vector."""
    at = scope.source.loc(node)
    args = node.args
    match args:
        case [gast.Tuple(elts=elements) | gast.List(elts=elements)]:
            args = elements
    if len(args) == 1 and not node.keywords and args is node.args:
        whole = as_array(w, read_operand(w, node.args[0], scope), at)
        if whole is not None and whole.rank == 1:
            return reduce_axes(w, op, whole, (0,), False, at, op)
    if len(args) < 2 or node.keywords:
        if any(fence.has_told(a) for a in args):
            return None
        w.refuse(
            "P108",
            at,
            f"`{text}` does not take these arguments here",
            f"write `{text}(a, b)` of numbers, `{text}(v)` of a vector, or the loop",
        )
        return None
    result, *rest = read_numbers(w, args, scope)
    for other in rest:
        result = Call(op, (result, other), loc=at)
    return result


def read_listed(w: Walk, node: gast.AST, at: Loc, scope: Scope) -> Operand:
    """An operand; of a list or a tuple that is written out, the array of it."""
    if isinstance(node, (gast.List, gast.Tuple)):
        made = array_of_list(w, node, at, scope)
        return ZERO if made is None else made
    return read_operand(w, node, scope)


def read_reduction(
    w: Walk,
    kind: str,
    value: Operand,
    rest: Sequence[gast.AST],
    node: gast.Call,
    text: str,
    scope: Scope,
) -> Operand | None:
    """A reduction of `value` with the arguments ``axis`` and ``keepdims``."""
    at = scope.source.loc(node)
    keywords = {k.arg: k.value for k in node.keywords}
    if rest:
        keywords["axis"] = rest[0]
    axis_node = keywords.pop("axis", None)
    keep_node = keywords.pop("keepdims", None)
    keep = isinstance(keep_node, gast.Constant) and keep_node.value is True
    if keywords or len(rest) > 1 or not (keep or _is_false(keep_node)):
        refuse_arguments(w, text, node, scope)
        return None
    named = literal_axes(axis_node)
    if named is None:
        w.refuse(
            "P209",
            scope.source.loc(axis_node),
            "which axis is meant is not known in the text",
            "write the axis as a number: `axis=0`",
        )
        return None
    whole = as_array(w, value, at)
    if whole is None:
        assert not isinstance(value, Array)
        # Of a number, which is all the text shows: itself.
        if axis_node is not None or kind not in _THEMSELVES:
            w.found.lenient = True
            if w.known.exact:
                refuse_arguments(w, text, node, scope)
        if axis_node is None and not keep:
            w.found.certain.append(value)
        return value
    rank = whole.rank
    if any(not -rank <= k < rank for k in named):
        shrunk = _without_axes(w, whole, named, keep, at)
        return value if shrunk is None else shrunk
    axes = tuple(sorted({k % rank for k in named})) or tuple(range(rank))
    match kind:
        case "var" | "std":
            return variance(w, kind, whole, axes, keep, at)
        case "any" | "all":
            return any_or_all(w, kind, whole, axes, keep, at)
        case "argmin" | "argmax" if len(axes) == rank and not keep:
            return arg_extremum(w, kind, whole, at)
        case "argmin" | "argmax":
            refuse_arguments(w, text, node, scope)
            return None
    return reduce_axes(w, kind, whole, axes, keep, at)


def _without_axes(
    w: Walk, whole: Array, named: Sequence[int], keep: bool, at: Loc
) -> Array | None:
    """What stands for a reduction over axes that an array does not have yet; None for
    the array itself.
    """
    rank = whole.rank
    if whole.base is not None:
        most = max(k + 1 if k >= 0 else -k for k in named)
        ask_axes(w, whole, most - rank, at)
        # It may be a number then, and no name of it an array.
        left = most if keep else most - len({*named})
        if left < rank:
            return located(w, views.part(whole, [ZERO] * (rank - left)), at)
    elif w.known.exact:
        w.refuse(
            "P209",
            at,
            f"an axis that an array of rank {rank} does not have",
            "count the axes from zero",
        )
    else:
        w.found.lenient = True
    return None


def read_product(
    w: Walk, kind: str, nodes: Sequence[gast.AST], scope: Scope, at: Loc
) -> Operand:
    """``np.dot``, ``np.outer`` and their like of two operands."""
    left, right = read_operands(w, nodes, scope)
    if kind in ("inner", "vdot") and (is_deep(left) or is_deep(right)):
        w.refuse(
            "P201",
            at,
            f"`np.{kind}` of arrays with more than one axis",
            "write the product with `@`",
        )
        return ZERO
    if kind == "outer":
        return outer_product(w, left, right, at)
    return matrix_product(w, left, right, at)


def read_einsum(w: Walk, node: gast.Call, scope: Scope, at: Loc) -> Operand:
    """``np.einsum("ij,jk->ik", a, b)``."""
    others = {k.arg for k in node.keywords} - {"optimize"}
    match node.args:
        case [gast.Constant(value=str() as text), *nodes] if nodes and not others:
            found = letters_of(text)
            if found is not None and len(found[0]) == len(nodes):
                given = read_operands(w, nodes, scope)
                return einstein_sum(w, *found, given, at)
    w.refuse(
        "P108",
        at,
        "`np.einsum` with these arguments",
        "give it a text of letters, such as 'ij,jk->ik', and an array for each part",
    )
    return ZERO


def is_deep(value: Operand) -> bool:
    """Is it known to have more than one axis?"""
    return isinstance(value, Array) and value.rank > 1


def read_method(w: Walk, node: gast.Call, scope: Scope) -> Operand | None:
    """A method of an array."""
    if not isinstance(node.func, gast.Attribute):
        return None
    at = scope.source.loc(node)
    base, name = node.func.value, node.func.attr
    known = name in REDUCING or name in METHODS
    known = known or name in ("dot", "copy", "astype", "clip", "round", "item")
    if not known or (isinstance(base, gast.Name) and referred(w, base, scope) is None):
        return None
    if name == "copy" and not node.args and not node.keywords:
        return read_copy(w, base, scope)
    if name == "item" and node.args and not node.keywords:
        return read_item(w, node, scope)
    if name == "dot" and len(node.args) == 1 and not node.keywords:
        return read_product(w, "dot", [base, node.args[0]], scope, at)
    if name in ("clip", "round"):
        call = gast.Call(node.func, [base, *node.args], node.keywords)
        gast.copy_location(call, node)
        function = {"clip": np.clip, "round": np.round}[name]
        return known_call(w, function, f"np.{name}", call, scope)
    if name in METHODS:
        named = {k.arg: k.value for k in node.keywords}
        return read_arrangement(w, name, [base, *node.args], named, at, scope)
    if name == "astype" and len(node.args) == 1 and not node.keywords:
        return read_astype(w, base, node.args[0], at, scope)
    if name not in REDUCING:
        return None
    value = read_operand(w, base, scope)
    text = gast.unparse(node.func).strip()
    return read_reduction(w, name, value, node.args, node, text, scope)


def rounding_parts(node: gast.Call) -> tuple[gast.AST, int] | None:
    """What ``np.round(a, 2)`` rounds, and to how many decimals: a literal."""
    match node.args, node.keywords:
        case [a], []:
            return a, 0
        case ([a, decimals], []) | (
            [a],
            [gast.keyword(arg="decimals", value=decimals)],
        ):
            count = literal_integer(decimals)
            if count is not None and abs(count) <= _MOST_DECIMALS:
                return a, count
    return None


def read_rounding(
    w: Walk, node: gast.AST, decimals: int, text: str, at: Loc, scope: Scope
) -> Operand | None:
    """``np.round(a, decimals)``; of integers themselves."""
    value = read_operand(w, node, scope)
    element = value.element if isinstance(value, Array) else value
    if not is_integral(w, element):
        return meant(w, rounding(decimals), text, ("a",), [value], at, True)
    if decimals < 0 or known_dtype(w, element) == "bool":
        because = f"`{text}` of integers to tens, or of truth values"
        w.refuse("P108", at, because, "divide, round and multiply by itself")
        return None
    if isinstance(value, Array):
        return make(w, replace(value, view=False), "whole", at)
    return value


def read_astype(
    w: Walk, base: gast.AST, dtype_node: gast.AST, at: Loc, scope: Scope
) -> Operand | None:
    """``a.astype(dtype)``: what is a number so far is an array by the next walk."""
    made = read_converted(w, base, dtype_node, at, scope)
    if made is not None or w.known.exact:
        return made
    value = read_operand(w, base, scope)
    parts = [] if isinstance(value, Array) else [*w.found.open_parts(value)]
    arrays: list[Expr] = [e for e in parts if isinstance(e, Load)]
    if not arrays and len(set(parts)) == 1:
        arrays = parts  # the only one that can be an array
    return as_array(w, arrays[0], at) if arrays else None


def _of_64_bits(value: Operand) -> Operand:
    """Of two of Python's numbers NumPy makes one that does not adapt."""
    if isinstance(value, Array):
        return value
    kinds = {*views.kinds(value)}
    if not kinds or not kinds <= {WEAK_INT, WEAK_FLOAT}:
        return value
    word = "float64" if WEAK_FLOAT in kinds else "int64"
    return Call(word, (value,), loc=value.loc)


def read_fix(
    w: Walk, node: gast.AST, text: str, at: Loc, scope: Scope
) -> Operand | None:
    """``np.fix(x)``; integers are themselves where NumPy leaves them so."""
    value = read_operand(w, node, scope)
    element = value.element if isinstance(value, Array) else value
    kept = isinstance(np.fix(np.int64(1)), np.integer)
    if kept and is_integral(w, element) and known_dtype(w, element) != "bool":
        if isinstance(value, Array):
            return make(w, replace(value, view=False), "whole", at)
        return value
    found = meaning(np.fix)
    assert found is not None
    return meant(w, found, text, ("x",), [value], at, True)


def read_selection(w: Walk, node: gast.Call, scope: Scope) -> Operand | None:
    """``np.select([a, b], [x, y], z)``: one `np.where` in the other."""
    given = dict(zip(("condlist", "choicelist", "default"), node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    match given.get("condlist"), given.get("choicelist"):
        case (
            gast.List(elts=[_, *_] as tests) | gast.Tuple(elts=[_, *_] as tests),
            gast.List(elts=choices) | gast.Tuple(elts=choices),
        ) if len(tests) == len(choices) and len(given) <= 3 and len(node.args) <= 3:
            made = given.get("default", placed(gast.Constant(0, None), node))
            where = placed(gast.Attribute(name_of(NUMPY), "where", gast.Load()), node)
            for test, choice in zip(reversed(tests), reversed(choices), strict=True):
                made = gast.copy_location(
                    gast.Call(where, [test, choice, made], []), node
                )
            return read_operand(w, made, scope)
    w.refuse(
        "P108",
        scope.source.loc(node),
        "`np.select` does not take these arguments here",
        "write out both lists, which are of one length, and the default",
    )
    return None


def read_item(w: Walk, node: gast.Call, scope: Scope) -> Operand | None:
    """``a.item(i, k)``, with a subscript for each axis: a number of Python's."""
    assert isinstance(node.func, gast.Attribute)
    at = scope.source.loc(node)
    index = node.args[0] if len(node.args) == 1 else gast.Tuple(node.args, gast.Load())
    place = gast.Subscript(node.func.value, placed(index, node), gast.Load())
    value = read_number(w, gast.copy_location(place, node), scope)
    if known_dtype(w, value) == "bool":
        return Call("bool", (value,), loc=at)
    return Call("int" if is_integral(w, value) else "float", (value,), loc=at)


def refuse_arguments(w: Walk, text: str, node: gast.Call, scope: Scope) -> None:
    """Arguments that a function of the tables does not take here."""
    w.refuse(
        "P108",
        scope.source.loc(node),
        f"`{text}` does not take these arguments here",
        "give it an array, and `axis=` or `keepdims=` as literals",
    )


def read_len(w: Walk, node: gast.Call, scope: Scope) -> Expr:
    """``len(a)``, and ``len(a.shape)``, which is the rank."""
    at = scope.source.loc(node)
    match node.args[0]:
        case gast.Attribute(value=base, attr="shape"):
            whole = measured(w, base, scope)
            if whole is not None:
                return Const(whole.rank, loc=at)
    whole = measured(w, node.args[0], scope)
    if whole is None:
        w.refuse(
            "P203",
            scope.source.loc(node.args[0]),
            "`len` of a number",
            "give it an array",
        )
        return ZERO
    return replace(whole.shape[0], loc=at)


def apply_meaning(
    w: Walk, found: Meaning, text: str, node: gast.Call, scope: Scope, spreads: bool
) -> Operand | None:
    """A function that the tables give as an expression, element by element."""
    at = scope.source.loc(node)
    # float("inf") is how many write infinity.
    match node.args:
        case [gast.Constant(value=str() as word)] if text == "float":
            try:
                return Const(float(word), loc=at)
            except ValueError:
                pass
    keywords = {k.arg: k.value for k in node.keywords}
    rest = [p for p in found.parameters[len(node.args) :] if p in keywords]
    if (
        len(node.args) + len(rest) != len(found.parameters)
        or len(rest) != len(keywords)
        or not all(p in keywords for p in found.parameters[len(node.args) :])
        or not found.fits(node.args)
    ):
        w.refuse(
            "P108",
            at,
            f"`{text}` takes {found.takes} here",
            "give exactly these arguments",
        )
        return None
    nodes = [*node.args, *(keywords[k.arg] for k in node.keywords)]
    order = [*found.parameters[: len(node.args)], *(k.arg for k in node.keywords)]
    given = read_operands(w, nodes, scope)
    return meant(w, found, text, order, given, at, spreads)


def meant(
    w: Walk,
    found: Meaning,
    text: str,
    order: Sequence[str],
    given: Sequence[Operand],
    at: Loc,
    spreads: bool,
) -> Operand | None:
    """The expression for arguments in some `order`, element by element for arrays if it
    `spreads`.
    """
    numbers = [v for v in given if not isinstance(v, Array)]
    if len(numbers) < len(given):
        if not spreads:
            w.refuse(
                "P201",
                at,
                f"`{text}` takes numbers, and an array is given",
                "use NumPy's function, or loop over the elements",
            )
            return None
        return elementwise(
            w,
            given,
            lambda e: _at(
                substitute(found.body, dict(zip(order, e, strict=True))),
                found.body,
                at,
            ),
            at,
        )
    bound = dict(zip(order, numbers, strict=True))
    used = [e.name for e in walk_expr(found.body) if isinstance(e, Var)]
    for name, value in bound.items():
        if used.count(name) > 1 and not isinstance(value, (Const, Var, Load)):
            bound[name] = w.emit.temp(value, name)
    return _at(substitute(found.body, bound), found.body, at)


def read_probe(w: Walk, text: str, node: gast.Call, scope: Scope) -> Expr | None:
    """``pyrev.probe(x, callback)``: `x`, in a scalar that stands for this use."""
    at = scope.source.loc(node)
    given = dict(zip(("x", "callback"), node.args, strict=False))
    given |= {k.arg: k.value for k in node.keywords}
    if set(given) != {"x", "callback"} or len(node.args) + len(node.keywords) != 2:
        w.refuse(
            "P108",
            at,
            f"`{text}` takes x, callback",
            "give a number and the name of a function",
        )
        return None
    value = read_operand(w, given["x"], scope)
    if isinstance(value, Array):
        w.refuse(
            "P201",
            at,
            f"`{text}` takes numbers, and an array is given",
            "probe each element where it is used, or ask for the gradient with"
            " respect to a local array by its name: `wrt=`",
        )
        return None
    which = called_back(w, given["callback"], scope)
    if which is None:
        return None
    return w.emit.temp(Call("probe", (value, Const(which)), loc=at), "probed")


def called_back(w: Walk, node: gast.AST, scope: Scope) -> int | None:
    """The number of the function that an expression outside of the text names."""
    text = gast.unparse(node).strip()
    path = tuple(text.split("."))
    holder = home(scope)
    if all(map(str.isidentifier, path)) and holder is not None:
        found = find(w, path[0], scope, noted=False)  # a call asks again
        if not isinstance(found, (Scope, Helper, Missing)):
            try:
                function = Capture("", holder, path).read()
            except AttributeError:
                function = None
            if callable(function):
                return callback_number(w, holder, path)
    w.refuse(
        "P108",
        scope.source.loc(node),
        f"`{text}` does not name a function outside of this one",
        "define it in the module, or around this function, and give its name, or"
        " an attribute of what is there: `seen.append`",
    )
    return None


def _is_false(node: gast.AST | None) -> bool:
    """Is the argument left out, or `False`?"""
    return node is None or (isinstance(node, gast.Constant) and node.value is False)


def _at(value: Expr, pattern: Expr, at: Loc) -> Expr:
    """Give the nodes that come from `pattern` the position of the call."""
    if isinstance(pattern, Call) and isinstance(value, Call):
        args = tuple(
            _at(v, p, at) for v, p in zip(value.args, pattern.args, strict=True)
        )
        return replace(value, args=args, loc=at)
    return value
