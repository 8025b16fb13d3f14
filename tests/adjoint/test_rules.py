from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from pyrev.adjoint.rules import PREDICATES, RULES
from pyrev.ir.nodes import Call, Expr, Var
from pyrev.ir.primitives import PRIMITIVES
from pyrev.ir.special import SPECIAL
from pyrev.ir.text import expr_text

NAMESPACE: dict[str, Any] = {"np": np, "math": math, **SPECIAL}
INTEGER = {"&", "|", "^", "<<", ">>", "~"}
#: What says of a value which derivative it has: none that differences would show.
SAYS = {"stop_gradient", "along", "along_steep", "once", "value", "by_rule", "drawn"}
STEPS = {
    "//",
    "floor",
    "ceil",
    "trunc",
    "round",
    "rint",
    "int",
    "int64",
    "sign",
    "bool",
}


def evaluate(expr: Expr, values: dict[str, float]) -> float:
    with np.errstate(all="ignore"):
        return float(eval(expr_text(expr), NAMESPACE, dict(values)))


@pytest.mark.parametrize("op", sorted(set(RULES) - INTEGER - SAYS))
def test_rule_agrees_with_central_differences(op: str) -> None:
    rule = RULES[op]
    whole = Call(op, tuple(map(Var, rule.args)))
    rng = np.random.default_rng(0)
    h = 1e-6 if op != "float32" else 1e-2
    checked = 0
    for point in rng.uniform(*rule.domain, size=(20, len(rule.args))):
        if op == "where":
            point[0] = point[0] > 0
        if PRIMITIVES[op].orders:
            point[0] = rng.choice(PRIMITIVES[op].orders[:3])
        env = dict(zip(rule.args, point, strict=True))
        y = evaluate(whole, env)
        for k, partial in enumerate(rule.partials):
            if (op == "where" or PRIMITIVES[op].orders) and k == 0:
                continue
            up, down = dict(env), dict(env)
            up[rule.args[k]] += h
            down[rule.args[k]] -= h
            low, high = evaluate(whole, down), evaluate(whole, up)
            if op in STEPS | PREDICATES | {"%", "fmod"} and abs(high - low) > 0.5:
                continue  # the step straddles a jump
            expected = (high - low) / (2 * h)
            got = evaluate(partial, env | {"y": y})
            rel, absolute = (1e-6, 1e-8) if op != "float32" else (1e-3, 1e-3)
            assert got == pytest.approx(expected, rel=rel, abs=absolute), rule.args[k]
            checked += 1
    assert checked >= 10


@pytest.mark.parametrize("op", sorted(INTEGER))
def test_integer_operations_pass_no_derivative(op: str) -> None:
    assert not any(RULES[op].flows(k) for k in range(len(RULES[op].args)))


def test_needs_are_the_values_that_the_partials_mention() -> None:
    assert RULES["exp"].needs == {"y"}
    assert RULES["+"].needs == frozenset()
    assert RULES["*"].needs == {"a", "b"}
    assert RULES["sin"].needs == {"x"}
    assert RULES["max"].needs == {"a", "b"}
