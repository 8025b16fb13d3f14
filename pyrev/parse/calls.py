"""What a call means: an operation of the table, or the body of a helper in place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from pyrev.ir.diagnostics import UnsupportedError
from pyrev.ir.nodes import (
    ZERO,
    Assign,
    Call,
    Const,
    Expr,
    Load,
    Loc,
    Promoted,
    Var,
    names,
    substitute,
    walk_expr,
    with_value,
    written,
)
from pyrev.parse import custom_rules, fence, views
from pyrev.parse.bindings import (
    assigned_names,
    is_one_expression,
    local_names,
    nodes_of,
    parameters,
)
from pyrev.parse.control import structured
from pyrev.parse.creation import Creation
from pyrev.parse.custom import Rule, rule_of
from pyrev.parse.directives import probe
from pyrev.parse.functions import (
    ARRANGED,
    CREATORS,
    FOLDED,
    PRODUCTS,
    REDUCING,
    REDUCTIONS,
    Meaning,
    is_range,
    meaning,
)
from pyrev.parse.grounds import MISSING, Missing
from pyrev.parse.names import (
    Capture,
    Helper,
    Scope,
    home,
    kind_of,
    module_name,
)
from pyrev.parse.probes import probing
from pyrev.parse.shapes import RankFact
from pyrev.parse.source import Source, plain, read
from pyrev.parse.values import (
    Array,
    Nothing,
    Operand,
    Refused,
    Tuple,
    Value,
)

# `apply(lambda v: apply(g, v), x)` is no recursion; a call this deep in itself is.
_DEPTH = 4


@dataclass(slots=True)
class Calls(Creation):
    """The part of the walk that reads calls; statements are `Lowering`'s."""

    def _body(self, scope: Scope) -> Value:
        raise NotImplementedError

    def _call(
        self,
        node: gast.Call,
        scope: Scope,
        *,
        dropped: bool = False,
    ) -> Value:
        """Lower a call: what it gives; if that is `dropped`, nothing will do."""
        at = scope.source.loc(node)
        function = self._object(node.func, scope)
        text = gast.unparse(node.func).strip()
        for argument in node.keywords:
            if argument.arg is None:
                self.findings.add(
                    "P108", at, "`**` spreads arguments", "write each argument out"
                )
                return Refused()
        if isinstance(function, Helper):
            return self._inline(function, node, scope, dropped)
        single = self._known(function, text, node, scope)
        if single is None and isinstance(function, Missing):
            single = self._method(node, scope)
        if single is not None:
            if dropped:
                self.findings.add(
                    "P115", at, "the value is not used", "assign it, or remove the line"
                )
            return single
        if self._is_known(function):
            return Refused()
        helper = self._helper(function, at)
        if isinstance(helper, Refused):
            return helper
        if isinstance(helper, Helper):
            return self._inline(helper, node, scope, dropped)
        if type(node.func) in fence.REJECTED:
            return Refused()
        for argument in node.args:
            self._value(argument, scope)
        self._refuse_call(function, text, node, scope)
        return Refused()

    def _is_known(self, function: object) -> bool:
        if function is len or function is probe or is_range(function):
            return True
        if meaning(function) is not None:
            return True
        try:
            return any(
                function in known
                for known in (FOLDED, CREATORS, REDUCTIONS, PRODUCTS, ARRANGED)
            )
        except TypeError:
            return False

    def _known(
        self, function: object, text: str, node: gast.Call, scope: Scope
    ) -> Operand | None:
        """A call of a function of the table, or None."""
        at = scope.source.loc(node)
        if function is len and len(node.args) == 1 and not node.keywords:
            return self._len(node, scope)
        if function is probe:
            return self._probe(text, node, scope)
        found = meaning(function)
        if found is not None:
            spreads = module_name(function) == "numpy" or function in (abs, pow)
            return self._apply(found, text, node, scope, spreads)
        if is_range(function):
            self.findings.add(
                "P111", at, "a range outside a `for`", "write it in the `for` statement"
            )
            return None
        created = self._created(function, node, scope)
        if created is not None:
            return created
        try:
            op = FOLDED.get(function)
            reduces, multiplies = REDUCTIONS.get(function), PRODUCTS.get(function)
        except TypeError:
            return None
        if reduces is not None and node.args:
            first = self._value(node.args[0], scope)
            if function is sum and (
                node.args[1:] or node.keywords or self._is_deep(first)
            ):
                self.findings.add(
                    "P108",
                    at,
                    "Python's `sum` adds rows up, from its second argument on",
                    "use `np.sum`, and add the start to it",
                )
                return None
            return self._reduce(reduces, first, node.args[1:], node, text, scope)
        if multiplies is not None and len(node.args) == 2 and not node.keywords:
            return self._multiplied(multiplies, node.args, scope, at)
        if function in ARRANGED:
            made = self._arranged(ARRANGED[function], node, scope)
            if made is None:
                self._refuse_arguments(text, node, scope)
            return made
        if reduces is not None or multiplies is not None:
            self._refuse_arguments(text, node, scope)
            return None
        if op is not None and len(node.args) == 1 and not node.keywords:
            whole = self._arrayed(self._value(node.args[0], scope), at)
            if whole is not None and whole.rank == 1:
                return self._reduced(op, whole, (0,), False, at, op)
        if op is None:
            if self.loose and isinstance(node.func, gast.Name):
                args = self._numbers(node.args, scope)
                return Call(node.func.id, tuple(args), loc=at)
            return None
        if len(node.args) < 2 or node.keywords:
            if any(type(a) in fence.REJECTED for a in node.args):
                return None
            self.findings.add(
                "P108",
                at,
                f"`{text}` does not take these arguments here",
                f"write `{text}(a, b)` of numbers, `{text}(v)` of a vector,"
                " or the loop",
            )
            return None
        result, *rest = self._numbers(node.args, scope)
        for other in rest:
            result = Call(op, (result, other), loc=at)
        return result

    def _reduce(
        self,
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
        axis_node, keep_node = (
            keywords.pop("axis", None),
            keywords.pop("keepdims", None),
        )
        keep = isinstance(keep_node, gast.Constant) and keep_node.value is True
        if keywords or len(rest) > 1 or not (keep or _is_false(keep_node)):
            self._refuse_arguments(text, node, scope)
            return None
        named = _axes(axis_node)
        if named is None:
            self.findings.add(
                "P209",
                scope.source.loc(axis_node),
                "which axis is meant is not known in the text",
                "write the axis as a number: `axis=0`",
            )
            return None
        whole = self._arrayed(value, at)
        if whole is None:
            assert not isinstance(value, Array)
            # Of a number, which is all the text shows: itself.
            if axis_node is not None or kind not in _THEMSELVES:
                self.lenient = True
                if self.exact:
                    self._refuse_arguments(text, node, scope)
            if axis_node is None and not keep:
                self.certain.append(value)
            return value
        rank = whole.rank
        if any(not -rank <= k < rank for k in named):
            base = whole.base
            if base is not None:
                # The next walk knows of the other axes.
                self.unsettled = True
                most = max(k + 1 if k >= 0 else -k for k in named)
                more = self._rank(base) + most - rank
                self.facts.append(RankFact(base, more, at, least=True))
                # It may be a number then, and no name of it an array.
                left = most if keep else most - len({*named})
                if left < rank:
                    rest_of = views.part(whole, [ZERO] * (rank - left))
                    return self._located(rest_of, at)
            elif self.exact:
                self.findings.add(
                    "P209",
                    at,
                    f"an axis that an array of rank {rank} does not have",
                    "count the axes from zero",
                )
            else:
                self.lenient = True
            return value
        axes = tuple(sorted({k % rank for k in named})) or tuple(range(rank))
        if kind in ("var", "std"):
            return self._spread_of(kind, whole, axes, keep, at)
        if kind in ("any", "all"):
            return self._truths(kind, whole, axes, keep, at)
        if kind in ("argmin", "argmax"):
            if whole.rank == 1 and not keep:
                return self._place_of(kind, whole, at)
            self._refuse_arguments(text, node, scope)
            return None
        return self._reduced(kind, whole, axes, keep, at)

    def _arranged(self, kind: str, node: gast.Call, scope: Scope) -> Operand | None:
        """Differences, running sums and the like, of arrays with one axis."""
        at = scope.source.loc(node)
        if node.keywords or not node.args:
            return None
        if kind == "concatenate":
            parts = node.args[0]
            if len(node.args) > 1 or not isinstance(parts, (gast.Tuple, gast.List)):
                return None
            given = self._values(parts.elts, scope)
            wholes = [self._arrayed(v, at) for v in given]
            return self._joined([w for w in wholes if w is not None], at)
        first, *rest = self._values(node.args, scope)
        whole = self._arrayed(first, at)
        if whole is None or len(rest) != (kind == "roll"):
            return None
        if kind == "transpose":
            return self._measure("T", whole, at)
        if kind == "flip":
            every = [views.sliced(None, None, -1, n) for n in whole.shape]
            return self._located(views.part(whole, every), at)
        if kind == "norm":
            square = Call("*", (whole.element, whole.element), loc=at)
            squares = Array(whole.shape, square, False)
            total = self._reduced("sum", squares, range(whole.rank), False, at)
            assert not isinstance(total, Array)
            return Call("sqrt", (total,), loc=at)
        if kind == "trace":
            return self._trace(whole, at) if whole.rank == 2 else None
        if whole.rank != 1:
            return None
        if kind == "cumsum":
            return self._running(whole, at)
        if kind == "roll":
            (shift,) = rest
            return None if isinstance(shift, Array) else self._rolled(whole, shift, at)
        ends = [
            views.part(whole, [views.sliced(low, high, 1, whole.shape[0])])
            for low, high in ((Const(1), None), (None, Const(-1)))
        ]
        pair = [self._located(e, at) for e in ends]
        return self._elementwise(pair, lambda e: Call("-", tuple(e), loc=at), at)

    def _multiplied(
        self, kind: str, nodes: Sequence[gast.AST], scope: Scope, at: Loc
    ) -> Operand:
        left, right = self._values(nodes, scope)
        if kind in ("inner", "vdot") and (self._is_deep(left) or self._is_deep(right)):
            self.findings.add(
                "P201",
                at,
                f"`np.{kind}` of arrays with more than one axis",
                "write the product with `@`",
            )
            return ZERO
        if kind == "outer":
            return self._outer(left, right, at)
        return self._product(left, right, at)

    def _is_deep(self, value: Operand) -> bool:
        """Is it known to have more than one axis?"""
        return isinstance(value, Array) and value.rank > 1

    def _method(self, node: gast.Call, scope: Scope) -> Operand | None:
        """A method of an array."""
        if not isinstance(node.func, gast.Attribute):
            return None
        at = scope.source.loc(node)
        base, name = node.func.value, node.func.attr
        known = name in REDUCING or name in ("dot", "copy", "transpose", "astype")
        if not known or (
            isinstance(base, gast.Name) and self._referred(base, scope) is None
        ):
            return None
        if name == "copy" and not node.args and not node.keywords:
            return self._copied(base, scope)
        if name == "dot" and len(node.args) == 1 and not node.keywords:
            return self._multiplied("dot", [base, node.args[0]], scope, at)
        if name == "transpose" and not node.args and not node.keywords:
            whole = self._measured(base, scope)
            return None if whole is None else self._measure("T", whole, at)
        if name == "astype" and len(node.args) == 1 and not node.keywords:
            whole = self._measured(base, scope)
            dtype = self._dtype(node.args[0], scope)
            if whole is None or dtype is None:
                return None
            if isinstance(dtype, Promoted):
                if whole.name is None:
                    return None
                shape, element = whole.shape, whole.element
                return Array(shape, element, False, dtype, whole.name, loc=at)
            converted = Call(dtype, (whole.element,), loc=at)
            return Array(whole.shape, converted, False, loc=at)
        if name not in REDUCING:
            return None
        value = self._value(base, scope)
        text = gast.unparse(node.func).strip()
        return self._reduce(name, value, node.args, node, text, scope)

    def _refuse_arguments(self, text: str, node: gast.Call, scope: Scope) -> None:
        self.findings.add(
            "P108",
            scope.source.loc(node),
            f"`{text}` does not take these arguments here",
            "give it an array, and `axis=` or `keepdims=` as literals",
        )

    def _len(self, node: gast.Call, scope: Scope) -> Expr:
        at = scope.source.loc(node)
        match node.args[0]:
            case gast.Attribute(value=base, attr="shape"):
                whole = self._measured(base, scope)
                if whole is not None:
                    return Const(whole.rank, loc=at)
        whole = self._measured(node.args[0], scope)
        if whole is None:
            self.findings.add(
                "P203",
                scope.source.loc(node.args[0]),
                "`len` of a number",
                "give it an array",
            )
            return ZERO
        return replace(whole.shape[0], loc=at)

    def _apply(
        self, found: Meaning, text: str, node: gast.Call, scope: Scope, spreads: bool
    ) -> Operand | None:
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
        ):
            self.findings.add(
                "P108",
                at,
                f"`{text}` takes {', '.join(found.parameters)} here",
                "give exactly these arguments",
            )
            return None
        nodes = [*node.args, *(keywords[k.arg] for k in node.keywords)]
        order = [*found.parameters[: len(node.args)], *(k.arg for k in node.keywords)]
        given = self._values(nodes, scope)
        numbers = [v for v in given if not isinstance(v, Array)]
        if len(numbers) < len(given):
            if not spreads:
                self.findings.add(
                    "P201",
                    at,
                    f"`{text}` takes numbers, and an array is given",
                    "use NumPy's function, or loop over the elements",
                )
                return None
            return self._elementwise(
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
                bound[name] = self._temp(value, name)
        return _at(substitute(found.body, bound), found.body, at)

    def _probe(self, text: str, node: gast.Call, scope: Scope) -> Expr | None:
        """``pyrev.probe(x, callback)``: `x`, in a scalar that stands for this use."""
        at = scope.source.loc(node)
        given = dict(zip(("x", "callback"), node.args, strict=False))
        given |= {k.arg: k.value for k in node.keywords}
        if set(given) != {"x", "callback"} or len(node.args) + len(node.keywords) != 2:
            self.findings.add(
                "P108",
                at,
                f"`{text}` takes x, callback",
                "give a number and the name of a function",
            )
            return None
        value = self._value(given["x"], scope)
        if isinstance(value, Array):
            self.findings.add(
                "P201",
                at,
                f"`{text}` takes numbers, and an array is given",
                "probe each element where it is used, or ask for the gradient with"
                " respect to a local array by its name: `wrt=`",
            )
            return None
        which = self._called_back(given["callback"], scope)
        if which is None:
            return None
        return self._temp(Call("probe", (value, Const(which)), loc=at), "probed")

    def _called_back(self, node: gast.AST, scope: Scope) -> int | None:
        """The number of the function that an expression outside of the text names."""
        text = gast.unparse(node).strip()
        path = tuple(text.split("."))
        holder = home(scope)
        if all(map(str.isidentifier, path)) and holder is not None:
            found = self._find(path[0], scope, noted=False)  # a call asks again
            if not isinstance(found, (Scope, Helper, Missing)):
                try:
                    function = Capture("", holder, path).read()
                except AttributeError:
                    function = None
                if callable(function):
                    return self._callback(holder, path)
        self.findings.add(
            "P108",
            scope.source.loc(node),
            f"`{text}` does not name a function outside of this one",
            "define it in the module, or around this function, and give its name, or"
            " an attribute of what is there: `seen.append`",
        )
        return None

    def _inline(
        self, helper: Helper, node: gast.Call, scope: Scope, dropped: bool
    ) -> Value:
        """The body of a helper, in place of its call."""
        at = scope.source.loc(node)
        if scope.stack.count(helper.key) >= _DEPTH:
            self._refuse_recursion(helper.name, at)
            return Refused()
        if helper.key not in self.fenced:
            self.fenced.append(helper.key)
            fence.check(helper.source, self.findings)
            self.refused |= fence.bound_by_refused(helper.source.node)
        arguments = self._bind(helper, node, scope)
        if arguments is None:
            return Refused()
        bound: list[str] = []
        nodes: list[gast.AST] = []
        functions: dict[str, Helper] = {}
        fixed: dict[str, Operand] = {}
        for name, argument in arguments:
            if isinstance(argument, (Const, Call)):
                fixed[name] = argument
                continue
            function = self._function(argument, scope)
            if function is not None:
                functions[name] = function
            else:
                bound.append(name)
                nodes.append(argument)
        given = self._values(nodes, scope)
        values = dict(zip(bound, given, strict=True)) | fixed
        rule = rule_of(helper.python)
        if rule is not None:
            numbers = {n: v for n, v in values.items() if not isinstance(v, Array)}
            if functions or len(numbers) < len(values):
                self._refuse_rule(helper, at, "is given more than numbers")
                return Refused()
            numbers = {
                n: v if isinstance(v, Const) else self._temp(v, n)
                for n, v in numbers.items()
            }
            # As the rule has them: a call may name them in another order.
            order = [p.id for p in parameters(helper.source.node)]
            numbers = {n: numbers[n] for n in order}
            values = {**numbers}
        for name, value in values.items():
            if isinstance(value, Array):
                values[name] = self._named(value, scope, name)
        own = self._unseen(values.values())
        mark = len(self.out)
        for cheap in (True, False):
            inner = self._enter(helper, values, functions, scope, cheap, at)
            inner.owned |= own
            lent = [
                e
                for e in inner.bound.values()
                if not isinstance(e, (Array, Var, Const))
            ]
            returned = self._body(inner)
            changed = written(tuple(self.out[mark:]))
            if not any(changed & names(e) for e in lent):
                break
            del self.out[mark:]
        if isinstance(returned, Nothing):
            if self.findings.found:
                return Refused()
            if not dropped:
                self.findings.add(
                    "P108",
                    at,
                    f"`{helper.name}` returns nothing",
                    "end it with `return` and the value",
                )
            return returned
        if rule is not None:
            found = self._by_rule(helper, rule, numbers, _parts(returned), scope, at)
            returned = Tuple(found) if isinstance(returned, Tuple) else found[0]
            for s in probing(tuple(self.out[mark:])):
                self.findings.add(
                    "P117",
                    s.loc,
                    f"a probe in `{helper.name}`, whose derivative is not that of its"
                    " text",
                    "probe what it is called with, or what it returns",
                )
        return returned

    def _unseen(self, values: Iterable[Operand]) -> set[str]:
        """The arrays that were made for this call: it may do with them as it likes."""
        arrays = [v.name for v in values if isinstance(v, Array)]
        given = [name for name in arrays if name is not None]
        return {
            name
            for name in given
            if given.count(name) == 1
            and name in self.allocated
            and name not in self.lent
            and not self._reachable(name)
        }

    def _refuse_rule(self, helper: Helper, at: Loc, because: str) -> None:
        self.findings.add(
            "P117",
            at,
            f"`{helper.name}`, which has a derivative of its own, {because}",
            "give its rule for numbers: custom_vjp is for helpers of numbers",
        )

    def _by_rule(
        self,
        helper: Helper,
        rule: Rule,
        values: Mapping[str, Expr],
        results: Sequence[Value],
        scope: Scope,
        at: Loc,
    ) -> tuple[Expr, ...]:
        """The results of a helper, with the derivatives that its rule gives them."""
        nothing = (ZERO,) * len(results)
        numbers = _numbers(results)
        if numbers is None:
            self._refuse_rule(helper, at, "returns more than numbers")
            return nothing
        made = self._helper(rule.vjp, at)
        if not isinstance(made, Helper):
            return nothing
        if made.key not in self.fenced:
            self.fenced.append(made.key)
            fence.check(made.source, self.findings)
        named = [p.id for p in made.source.node.args.args]
        own = [self._temp(r, f"{helper.name}_result") for r in numbers]
        inputs = list(values.values())
        if len(named) != len(inputs) + 2 * len(own):
            self._refuse_rule(
                helper,
                at,
                f"takes {len(inputs)} and returns {len(own)}, and its rule"
                f" `{made.name}` has {len(named)} parameters",
            )
            return nothing
        found: list[Expr] = []
        seeds = [Var(self._fresh("d_result"), loc=at) for _ in own]
        given = dict(zip(named, [*inputs, *own, *seeds], strict=True))
        for value, seed in zip(own, seeds, strict=True):
            outside, self.out = self.out, []
            inner = self._enter(made, given, {}, scope, True, at)
            partials = _numbers(_parts(self._body(inner)))
            made_here, self.out = self.out, outside
            if partials is None or len(partials) != len(inputs):
                what = f"{len(inputs)} of them" if len(inputs) > 1 else "one number"
                self._refuse_rule(
                    helper, at, f"needs of `{made.name}` {what}, for each argument one"
                )
                return nothing
            others = [s.name for s in seeds if s is not seed]
            body, partials = custom_rules.without(tuple(made_here), partials, others)
            where = custom_rules.not_linear(body, partials, seed.name)
            if where is not None:
                self.findings.add(
                    "P118",
                    where,
                    f"`{made.name}` is not linear in the cotangent here",
                    "return sums of the cotangent times what does not depend on it",
                )
                return nothing
            # The factor stays until dtypes are known: it makes floats of integers.
            self.out += with_value(body, seed.name, Const(1.0))
            # Of a rule that needs no result the derivatives are known, too.
            free = not custom_rules.reaches(own, body, partials)
            moving: Expr = Call("stop_gradient" if free else "once", (value,), loc=at)
            for into, partial in zip(inputs, partials, strict=True):
                slope = substitute(partial, {seed.name: Const(1.0)})
                if slope == custom_rules.NOTHING or isinstance(into, Const):
                    continue
                if not isinstance(slope, (Const, Var)):
                    slope = self._temp(slope, f"{helper.name}_by")
                moving = Call("along", (moving, slope, into), loc=at)
            found.append(self._temp(moving, f"{helper.name}_value"))
        if rule not in self.rules:
            self.rules.append(rule)
        return tuple(found)

    def _helper(self, function: object, at: Loc) -> Helper | Refused | None:
        """The helper that a Python function is, None if it is no plain function."""
        python = plain(function, self.grounds)
        if python is None:
            return None
        try:
            source = read(python, self.texts)
        except UnsupportedError as error:
            for f in error.findings:
                self.findings.add(f.code, at, f.because, f.help)
            return Refused()
        return Helper(python.__name__, source, python, None)

    def _function(self, node: gast.AST, scope: Scope) -> Helper | None:
        """The helper that an argument names, so that functions can be passed on."""
        if isinstance(node, gast.Lambda):
            inner = Source(scope.source.file, scope.source.lines, node)
            return Helper("<lambda>", inner, None, scope)
        found = self._object(node, scope)
        if isinstance(found, Helper):
            return found
        helper = self._helper(found, scope.source.loc(node))
        return helper if isinstance(helper, Helper) else None

    def _enter(
        self,
        helper: Helper,
        values: Mapping[str, Operand],
        functions: Mapping[str, Helper],
        caller: Scope,
        cheap: bool,
        at: Loc,
    ) -> Scope:
        """The scope of an inlined helper: each parameter bound to its argument.

        An argument stands for the parameter where that changes nothing: a constant or
        a name that the helper does not assign, and in a helper that is one expression
        an element or a value used once. Others are evaluated first.
        """
        node = structured(helper.source.node, self.taken)
        scope = Scope(
            replace(helper.source, node=node),
            helper.python,
            local_names(node) - functions.keys(),
            helper.scope,
            (*caller.stack, helper.key),
            True,
            (*caller.site, at),
        )
        scope.helpers.update(functions)
        scope.start = tuple(self.open)
        assigned = assigned_names(node)
        simple = is_one_expression(node) and cheap
        uses = [n.id for n in nodes_of(node) if isinstance(n, gast.Name)]
        for name, value in values.items():
            lent = (
                isinstance(value, (Const, Var))
                or (simple and isinstance(value, Load))
                or (simple and uses.count(name) <= 2)
            )
            if isinstance(value, Array):
                # What the helper calls otherwise later is the caller's array now.
                scope.bound[name] = value
                scope.paths[name] = scope.start
            elif lent and name not in assigned:
                scope.bound[name] = value
            else:
                variable = replace(self._number(name, scope), loc=value.loc)
                self._resembles(variable.name, value)
                self.out.append(Assign(variable, value, loc=value.loc))
        return scope

    def _bind(
        self, helper: Helper, node: gast.Call, scope: Scope
    ) -> list[tuple[str, gast.AST | Const | Call]] | None:
        """Each parameter with its argument, in the order of evaluation."""
        at = scope.source.loc(node)
        spec = helper.source.node.args

        def refuse(because: str, helps: str) -> None:
            self.findings.add("P108", at, because, helps)

        positional = [*spec.posonlyargs, *spec.args]
        named = [p.id for p in [*spec.args, *spec.kwonlyargs]]
        every = [p.id for p in [*positional, *spec.kwonlyargs]]
        if len(node.args) > len(positional):
            refuse(
                f"`{helper.name}` takes {len(positional)} by position, and there are"
                f" {len(node.args)}",
                "leave out the others, or give them by name",
            )
            return None
        bound: list[tuple[str, gast.AST | Const | Call]] = [
            (p.id, a) for p, a in zip(positional, node.args, strict=False)
        ]
        for argument in node.keywords:
            if argument.arg not in named or argument.arg in dict(bound):
                refuse(
                    f"`{helper.name}` cannot take `{argument.arg}` here",
                    f"its parameters are {', '.join(every)}",
                )
                return None
            bound.append((argument.arg, argument.value))
        for name in every:
            if name in dict(bound):
                continue
            default = self._default(helper, name)
            if default is None:
                refuse(
                    f"`{helper.name}` needs `{name}`, and a default is a number",
                    f"give `{name}` in the call",
                )
                return None
            bound.append((name, default))
        return bound

    def _default(self, helper: Helper, name: str) -> Const | Call | None:
        spec = helper.source.node.args
        positional = [p.id for p in [*spec.posonlyargs, *spec.args]]
        value: object = MISSING
        given: Sequence[object]
        if helper.python is not None:
            given = helper.python.__defaults__ or ()
            defaults = _last(positional, given)
            value = {**defaults, **(helper.python.__kwdefaults__ or {})}.get(
                name, MISSING
            )
        else:
            given = spec.defaults
            nodes = _last(positional, given)
            only = [p.id for p in spec.kwonlyargs]
            nodes |= {
                n: d
                for n, d in zip(only, spec.kw_defaults, strict=True)
                if d is not None
            }
            value = _literal(nodes.get(name))
        return _number(value)

    def _refuse_call(
        self, function: object, text: str, node: gast.Call, scope: Scope
    ) -> None:
        if text.split(".")[0] in self.refused:
            return
        holder = home(scope)
        if (
            isinstance(function, Missing)
            and holder is not None
            and text == holder.__name__
        ):
            self._refuse_recursion(text, scope.source.loc(node))
            return
        because = f"`{text}` is {kind_of(function)} that pyrev does not know"
        helps = "write it as loops and arithmetic in a plain function"
        if isinstance(function, Missing):
            because = f"`{text}` is not a function that is known here"
            helps = "define it before the function is differentiated"
            if isinstance(node.func, gast.Attribute):
                helps = "methods are outside the language: write it as loops"
                if self._referred(node.func.value, scope) is not None:
                    because = (
                        f"`.{node.func.attr}` is a method that pyrev does not know"
                    )
                    helps = (
                        "write it as loops; of methods `sum`, `dot`, `copy` and their"
                        " like are known"
                    )
        elif module_name(function) == "numpy":
            helps = "write it as loops, or with the functions that pyrev knows"
        self.findings.add("P107", scope.source.loc(node.func), because, helps)

    def _refuse_recursion(self, name: str, at: Loc) -> None:
        self.findings.add(
            "P109", at, f"`{name}` calls itself", "write the recursion as a loop"
        )


#: The reductions that leave a number as it is.
_THEMSELVES = frozenset(["sum", "prod", "mean", "min", "max"])


def _parts(value: Value) -> tuple[Value, ...]:
    """The values that a body returns, one by one."""
    match value:
        case Tuple(elements):
            return elements
        case Nothing() | Refused():
            return ()
    return (value,)


def _numbers(values: Sequence[Value]) -> tuple[Expr, ...] | None:
    """Values that are numbers, None if one is more."""
    found = tuple(
        v for v in values if not isinstance(v, (Array, Tuple, Nothing, Refused))
    )
    return found if len(found) == len(values) else None


def _is_false(node: gast.AST | None) -> bool:
    return node is None or (isinstance(node, gast.Constant) and node.value is False)


def _axes(node: gast.AST | None) -> tuple[int, ...] | None:
    """The axes that ``axis=`` names, () for all; None if the text does not say."""
    match node:
        case None | gast.Constant(value=None):
            return ()
        case gast.Constant(value=int() as k):
            return (k,)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() as k)):
            return (-k,)
        case gast.Tuple(elts=elements):
            found = [_axes(e) for e in elements]
            if all(f is not None and len(f) == 1 for f in found):
                return tuple(k for f in found if f is not None for k in f)
    return None


def _at(value: Expr, pattern: Expr, at: Loc) -> Expr:
    """Give the nodes that come from `pattern` the position of the call."""
    if isinstance(pattern, Call) and isinstance(value, Call):
        args = tuple(
            _at(v, p, at) for v, p in zip(value.args, pattern.args, strict=True)
        )
        return replace(value, args=args, loc=at)
    return value


def _number(value: object) -> Const | Call | None:
    """A number of Python's, or one of NumPy's, which does not adapt to what is beside
    it; None for what only behaves like a number.
    """
    if isinstance(value, (np.float64, np.float32, np.int64)):
        return Call(value.dtype.name, (Const(value.item()),))
    if isinstance(value, (bool, int, float)) and type(value) in (bool, int, float):
        return Const(value)
    return None


def _literal(node: gast.AST | None) -> object:
    """The number that a literal with its signs is."""
    match node:
        case gast.Constant(value=bool() | int() | float() as value):
            return value
        case gast.UnaryOp(op=gast.USub() | gast.UAdd() as op, operand=operand):
            inner = _literal(operand)
            if isinstance(inner, (bool, int, float)):
                return -inner if isinstance(op, gast.USub) else +inner
    return MISSING


def _last(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    """The last names with the values: how Python stores defaults."""
    return dict(zip(names[len(names) - len(values) :], values, strict=True))
