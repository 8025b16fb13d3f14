"""`pyrev.vjp` on arrays of a GPU, or of its stand-in, for arguments of NumPy."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

import pyrev
from pyrev.runtime.device import cupy, is_device
from tests.targets.cuda import standin


@contextmanager
def standing_in() -> Iterator[None]:
    """CuPy's stand-in takes its place."""
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = standin.module()
    try:
        yield
    finally:
        if before is None:
            del sys.modules["cupy"]
        else:
            sys.modules["cupy"] = before


def there(value: Any) -> Any:
    """An array on the device; anything else as it is."""
    if isinstance(value, np.ndarray) and value.ndim:
        return cupy().asarray(value.copy())
    return value


def back(value: Any) -> Any:
    """What a call returned, as the plain function would have returned it."""
    if isinstance(value, tuple):
        return tuple(map(back, value))
    if is_device(value):
        plain = np.asarray(cupy().asnumpy(value))
        return plain if value.ndim else plain[()]
    return value


def vjp(f: Any, /, **arguments: Any) -> tuple[Any, Callable[..., Mapping[str, Any]]]:
    """Like `pyrev.vjp`; the arguments are changed like those of the plain function."""
    given = {n: there(v) for n, v in arguments.items()}
    result, pullback = pyrev.vjp(f, **given)
    for n, v in arguments.items():
        if is_device(given[n]) and v.flags.writeable:
            v[...] = back(given[n])

    def pull(cotangent: Any = None, cotangents: Any = None) -> Mapping[str, Any]:
        if isinstance(cotangent, tuple):
            cotangent = tuple(map(there, cotangent))
        named = {n: there(c) for n, c in (cotangents or {}).items()}
        found = pullback(there(cotangent), cotangents=named)
        return {n: back(g) for n, g in found.items()}

    return back(result), pull
