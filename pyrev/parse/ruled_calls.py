"""A call of a helper that has a derivative of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyrev.ir.nodes import ZERO, Call, Const, Expr, Loc, Var, substitute, with_value
from pyrev.parse import custom_rules, fence
from pyrev.parse.bindings import parameters
from pyrev.parse.custom import Rule
from pyrev.parse.helpers import enter, helper_of
from pyrev.parse.probes import probing
from pyrev.parse.scopes import Helper, Scope
from pyrev.parse.values import Array, Nothing, Operand, Refused, Tuple, Value
from pyrev.parse.walk import Walk


def refuse_rule(w: Walk, helper: Helper, at: Loc, because: str) -> None:
    """A derivative of one's own is for helpers of numbers."""
    w.refuse(
        "P117",
        at,
        f"`{helper.name}`, which has a derivative of its own, {because}",
        "give its rule for numbers, or say result= for one of arrays",
    )


def ruled_arguments(
    w: Walk,
    helper: Helper,
    values: Mapping[str, Operand],
    functions: Mapping[str, object],
    at: Loc,
) -> dict[str, Expr] | None:
    """The arguments as the rule has them: a call may name them in another order."""
    numbers = {n: v for n, v in values.items() if not isinstance(v, Array)}
    if functions or len(numbers) < len(values):
        refuse_rule(w, helper, at, "is given more than numbers")
        return None
    kept = {n: w.emit.keep(v, n) for n, v in numbers.items()}
    return {p.id: kept[p.id] for p in parameters(helper.source.node)}


def by_rule(
    w: Walk,
    helper: Helper,
    rule: Rule,
    inputs: Mapping[str, Expr],
    returned: Value,
    scope: Scope,
    at: Loc,
    mark: int,
) -> Value:
    """What a helper returned, with the derivatives that its rule gives it.

    Its body is what was emitted from `mark` on.
    """
    results = parts_of_result(returned)
    numbers = all_numbers(results)
    derived: tuple[Expr, ...] | None = None
    if numbers is None:
        refuse_rule(w, helper, at, "returns more than numbers")
    else:
        derived = _derived(w, helper, rule, list(inputs.values()), numbers, scope, at)
    if derived is None:
        derived = (ZERO,) * len(results)
    for s in probing(w.emit.since(mark)):
        w.refuse(
            "P117",
            s.loc,
            f"a probe in `{helper.name}`, whose derivative is not that of its text",
            "probe what it is called with, or what it returns",
        )
    return Tuple(derived) if isinstance(returned, Tuple) else derived[0]


def _derived(
    w: Walk,
    helper: Helper,
    rule: Rule,
    inputs: Sequence[Expr],
    results: Sequence[Expr],
    scope: Scope,
    at: Loc,
) -> tuple[Expr, ...] | None:
    """The results, each along with the slopes that the rule gives; None if refused."""
    made = helper_of(w, rule.vjp, at)
    if not isinstance(made, Helper):
        return None
    if made.key not in w.env.fenced:
        w.env.fenced.append(made.key)
        fence.check(made.source, w.findings)
    named = [p.id for p in made.source.node.args.args]
    own = [w.emit.temp(r, f"{helper.name}_result") for r in results]
    if len(named) != len(inputs) + 2 * len(own):
        refuse_rule(
            w,
            helper,
            at,
            f"takes {len(inputs)} and returns {len(own)}, and its rule"
            f" `{made.name}` has {len(named)} parameters",
        )
        return None
    found: list[Expr] = []
    seeds = [Var(w.emit.fresh("d_result"), loc=at) for _ in own]
    given = dict(zip(named, [*inputs, *own, *seeds], strict=True))
    for value, seed in zip(own, seeds, strict=True):
        with w.emit.aside() as made_here:
            inner = enter(w, made, given, {}, scope, True, at)
            partials = all_numbers(parts_of_result(w.readers.body(w, inner)))
        if partials is None or len(partials) != len(inputs):
            what = f"{len(inputs)} of them" if len(inputs) > 1 else "one number"
            refuse_rule(
                w, helper, at, f"needs of `{made.name}` {what}, for each argument one"
            )
            return None
        others = [s.name for s in seeds if s is not seed]
        body, partials = custom_rules.without(tuple(made_here), partials, others)
        where = custom_rules.not_linear(body, partials, seed.name)
        if where is not None:
            w.refuse(
                "P118",
                where,
                f"`{made.name}` is not linear in the cotangent here",
                "return sums of the cotangent times what does not depend on it",
            )
            return None
        # The factor stays until dtypes are known: it makes floats of integers.
        w.emit.extend(with_value(body, seed.name, Const(1.0)))
        # Of a rule that needs no result the derivatives are known, too.
        free = not custom_rules.reaches(own, body, partials)
        moving: Expr = Call("stop_gradient" if free else "once", (value,), loc=at)
        for into, partial in zip(inputs, partials, strict=True):
            slope = substitute(partial, {seed.name: Const(1.0)})
            if slope == custom_rules.NOTHING or isinstance(into, Const):
                continue
            if not isinstance(slope, (Const, Var)):
                slope = w.emit.temp(slope, f"{helper.name}_by")
            moving = Call("along", (moving, slope, into), loc=at)
        found.append(w.emit.temp(moving, f"{helper.name}_value"))
    if rule not in w.found.rules:
        w.found.rules.append(rule)
    return tuple(found)


def parts_of_result(value: Value) -> tuple[Value, ...]:
    """The values that a body returns, one by one."""
    match value:
        case Tuple(elements):
            return elements
        case Nothing() | Refused():
            return ()
    return (value,)


def all_numbers(values: Sequence[Value]) -> tuple[Expr, ...] | None:
    """Values that are numbers, None if one is more."""
    found = tuple(
        v for v in values if not isinstance(v, (Array, Tuple, Nothing, Refused))
    )
    return found if len(found) == len(values) else None
