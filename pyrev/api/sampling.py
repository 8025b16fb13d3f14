"""Random arguments that fit a function: shapes are searched for, values drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyrev.analysis.bounds import Bounds
from pyrev.api.differentiable import Differentiable
from pyrev.ir.diagnostics import ArgumentError

TRIES = 5000


def sample_arguments(f: Differentiable, seed: int = 0, size: int = 6) -> dict[str, Any]:
    """Arguments for `f`: extents from 1 to `size` that keep every access inside.

    Floats are drawn between 0.5 and 1.5, integers between 0 and `size`. Raises
    `ArgumentError` if no shapes that fit are found.
    """
    rng = np.random.default_rng(seed)
    function = f._units.function
    visible = [p for p in function.program.params if p.name in function.visible]
    captured = {c.name: c.read() for c in function.parsed.captured}
    bounds = Bounds(function.program)
    for attempt in range(TRIES):
        # Later tries allow larger inputs: a window needs room around its output.
        top = size if attempt < TRIES // 2 else 2 * size
        values: dict[str, Any] = dict(captured)
        for p in visible:
            if p.rank:
                shape = tuple(int(n) for n in rng.integers(1, top + 1, p.rank))
                drawn = (
                    rng.uniform(0.5, 1.5, shape)
                    if p.is_float
                    else rng.integers(0, 2, shape)
                )
                values[p.name] = drawn
            else:
                values[p.name] = (
                    float(rng.uniform(0.5, 1.5))
                    if p.is_float
                    else int(rng.integers(1, size + 1))
                )
        try:
            bounds.check(values)
        except IndexError:
            continue
        return {p.name: values[p.name] for p in visible}
    raise ArgumentError(
        f"no shapes up to {2 * size} fit {f.python.__name__}(); call pyrev.check_grad"
        " with arguments of your own"
    )
