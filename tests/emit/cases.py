"""Arguments for the functions of `programs`, and how results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Arguments = tuple[Any, ...]


def _random(*shape: int, dtype: Any) -> Any:
    rng = np.random.default_rng(sum(shape))
    return rng.uniform(-2.0, 2.0, shape).astype(dtype)


def _integers(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def _cases(*sizes: int) -> Callable[..., Callable[[Any], Iterator[Arguments]]]:
    def over(
        make: Callable[[int, Callable[..., Any]], Arguments],
    ) -> Callable[[Any], Iterator[Arguments]]:
        def cases(dtype: Any) -> Iterator[Arguments]:
            for n in sizes:
                yield make(n, lambda *shape: _random(*shape, dtype=dtype))

        return cases

    return over


SIGNED = _integers(7, -7, 7, -7, 0, 9, -9)
DIVISORS = _integers(2, 2, -3, -3, 5, -9, 9)

CASES: dict[str, Callable[[Any], Iterator[Arguments]]] = {
    "blur": _cases(0, 1, 2, 3, 40)(
        lambda n, r: (r(n + 2, n + 1), r(3, 2), r(n, n)),
    ),
    "total": _cases(0, 1, 2, 999)(lambda n, r: (r(n), r(n))),
    "prefix": _cases(0, 1, 2, 50)(lambda n, r: (r(n),)),
    "backwards": _cases(0, 1, 2, 3, 4, 5, 31)(lambda n, r: (r(n), r(n))),
    "negative_index": _cases(0, 1, 2, 9)(lambda n, r: (r(n), r(n))),
    "floors": _cases(1)(lambda n, r: (SIGNED, DIVISORS, r(7, 5))),
    "guarded": _cases(0, 1, 3)(
        lambda n, r: (r(n), _integers(-2, -1, 0, 1, 2, 3, 100), r(7))
    ),
    "histogram": _cases(3)(lambda n, r: (_integers(0, 2, -1, 1, 0), r(5), r(n))),
    "triangle": _cases(0, 1, 2, 7)(lambda n, r: (r(n), n)),
    "promoted": _cases(0, 1, 20)(lambda n, r: (r(n), np.arange(n), 1.5)),
    "elementary": _cases(0, 1, 30)(lambda n, r: (r(n), r(n, 7))),
    "in_time": _cases(0, 2, 3, 20)(lambda n, r: (r(n), r(n), 4)),
    "chooses": _cases(1, 5)(lambda n, r: (r(n), n > 1, n)),
    "divides": _cases(9)(lambda n, r: (_integers(3, -2, 5), n)),
}


def same(mine: Any, theirs: Any) -> None:
    """Equal in type, up to Python and NumPy numbers, and in value, up to rounding."""
    if isinstance(theirs, tuple):
        assert isinstance(mine, tuple)
        assert len(mine) == len(theirs)
        for a, b in zip(mine, theirs, strict=True):
            same(a, b)
    elif theirs is None:
        assert mine is None
    else:
        expected = np.asarray(theirs)
        single = expected.dtype == np.float32
        tolerance = 3e-6 if single else 1e-13
        np.testing.assert_allclose(
            np.asarray(mine, expected.dtype), expected, rtol=tolerance, atol=tolerance
        )
