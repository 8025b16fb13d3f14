"""Decides whether a gradient agrees with the function it belongs to.

`outcome` makes one number of a call, `differences` its derivatives, `judge` a verdict
of each, `decisions` finds the line behind a kink or a jump, `checker` puts a check
together, and `report` says what was found.
"""

from __future__ import annotations

from pyrev.testing.checker import check_grad, dot_product_error
from pyrev.testing.differences import Estimate, derivative
from pyrev.testing.judge import Comparison, comparisons
from pyrev.testing.outcome import (
    Cotangents,
    Function,
    Outcome,
    Values,
    changed,
    distance,
    draw_cotangents,
    floats,
    functional,
    outcome,
    run,
)
from pyrev.testing.report import GradientReport

__all__ = [
    "Comparison",
    "Cotangents",
    "Estimate",
    "Function",
    "GradientReport",
    "Outcome",
    "Values",
    "changed",
    "check_grad",
    "comparisons",
    "derivative",
    "distance",
    "dot_product_error",
    "draw_cotangents",
    "floats",
    "functional",
    "outcome",
    "run",
]
