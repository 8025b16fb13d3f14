"""What is said in sentences: reports, which notebooks show as text in a region."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pyrev.report.shown.shown import Shown
from pyrev.report.shown.styled import Line, block, hypertext, table
from pyrev.runtime.device import to_host


class Told(Shown):
    """A report whose `str` is the whole of it."""

    #: What the region of the page is called.
    _label = "report"

    def _lines(self, width: int | None) -> list[Line]:
        return [((_kind(line), line),) for line in str(self).split("\n")]

    def _repr_html_(self) -> str:
        return block(self._label, map(hypertext, self._lines(None)))


class Explanation(Told, str):
    """What `explain()` says: a `str`, which is shown line by line where one types.

    It is pickled as a `str`.
    """

    _label = "explanation"

    def __str__(self) -> str:
        return str.__str__(self)

    def _said(self) -> str:
        return str.__repr__(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return str, (str(self),)


def _kind(line: str) -> str:
    """Headings stand at the margin and end with a colon."""
    return "label" if line.endswith(":") and not line.startswith(" ") else ""


class Values:
    """Named values, of which a notebook shows what is in them."""

    __slots__ = ()

    def _values(self) -> Sequence[tuple[str, Any]]:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        rows = [_row(name, value) for name, value in self._values()]
        return table(type(self).__name__, _HEAD, rows)


_HEAD = ("", "shape", "dtype", "min", "max", "norm", "nan")


def _row(name: str, value: Any) -> tuple[str, ...]:
    """A line of the table: of numbers the extremes and the norm of those that are."""
    dtype = getattr(value, "dtype", None)
    shape = getattr(value, "shape", ())
    # What SciPy does not store is zero, and not shown.
    data = value.data if hasattr(value, "tocsr") else value
    known = list(map(str, (tuple(shape), dtype or type(value).__name__)))
    return name, *known, *_numbers(to_host(data))


def _numbers(value: Any) -> tuple[str, ...]:
    array = np.asarray(value)
    if array.dtype.kind not in "fciub":
        return "", "", "", ""
    sizes = np.abs(array) if array.dtype.kind == "c" else array.astype(np.float64)
    bad = np.isnan(sizes)
    good = sizes[~bad] if sizes.ndim else sizes.reshape(-1)[~bad.reshape(-1)]
    lost = str(int(np.count_nonzero(bad)))
    if not good.size:
        return "", "", "", lost
    with np.errstate(over="ignore"):
        norm = np.sqrt(np.sum(np.square(good)))
    return (*(f"{v:.4g}" for v in (good.min(), good.max(), norm)), lost)
