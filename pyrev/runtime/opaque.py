"""Functions of the user's that run as they are, called from generated code.

Generated code carries such a function as a number, which is its place in a table:
compiled code takes no objects of Python's. In CPython the number can be called.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any
from weakref import ReferenceType, WeakValueDictionary, ref

import numpy as np

from pyrev.ir.diagnostics import ArgumentError, InternalError
from pyrev.runtime.device import share_memory
from pyrev.runtime.error_boundary import runs_users

_NUMBERS = count(1)
_TABLE: WeakValueDictionary[int, Checked] = WeakValueDictionary()

#: What results are to be like, of these arguments: arrays, numbers, None for anything.
Expected = Callable[[tuple[Any, ...]], Sequence[Any]]


class Checked:
    """A function that gets arrays which it cannot change, and returns what it should.

    `expected` says what that is; `returned` puts it in words.
    """

    def __init__(
        self, function: Callable[..., Any], expected: Expected, returned: str
    ) -> None:
        self.function, self.expected, self.returned = function, expected, returned
        self.name = str(getattr(function, "__name__", function))
        self.number = next(_NUMBERS)
        #: The memory of the last results, as far as somebody still has it.
        self._earlier: deque[ReferenceType[np.ndarray[Any, Any]]] = deque(maxlen=4)
        _TABLE[self.number] = self

    @runs_users
    def __call__(self, *arguments: Any) -> Any:
        """Call the function.

        Raises `ArgumentError` if what it returns has other shapes or dtypes than it
        should have, or is no new array, `ValueError` (NumPy's) if it writes to an
        argument.
        """
        given = tuple(map(_read_only, arguments))
        expected = self.expected(given)
        raw = self.function(*given)
        found = raw if isinstance(raw, tuple) else (raw,)
        if len(found) != len(expected):
            raise ArgumentError(
                f"`{self.name}` returned {_values(len(found))}, and {self.returned}"
                f" says {len(expected)}"
            )
        arrays = [a for a in given if isinstance(a, np.ndarray)]
        self._check_new([v for v in found if isinstance(v, np.ndarray)], arrays)
        made = tuple(
            self._as(value, like, k, arrays)
            for k, (value, like) in enumerate(zip(found, expected, strict=True))
        )
        return made if len(made) > 1 else made[0]

    def _check_new(
        self,
        results: Sequence[np.ndarray[Any, Any]],
        arguments: Sequence[np.ndarray[Any, Any]],
    ) -> None:
        """Raise `ArgumentError` for results in memory that others have, too.

        What is written to such an array, or to an argument, would change both in
        CPython, and generated code takes them for two.
        """
        earlier = [a for a in (of() for of in self._earlier) if a is not None]
        for k, result in enumerate(results):
            what = ""
            if any(share_memory(result, a) for a in arguments):
                what = "its argument, or a view of it"
            elif any(share_memory(result, a) for a in results[:k]):
                what = "two results in one memory"
            elif any(_whole(result) is a for a in earlier):
                what = "an array that it returned before"
            if what:
                raise ArgumentError(
                    f"`{self.name}` returned {what}; what it returns has to be a new"
                    " array: return it with .copy()"
                )
        self._earlier.extend(ref(_whole(r)) for r in results)

    def _as(
        self, value: Any, like: Any, k: int, arrays: Sequence[np.ndarray[Any, Any]]
    ) -> Any:
        """One result, as generated code takes it: a new array without gaps."""
        if like is None:
            return 0.0
        wanted = np.asarray(like)
        array = np.asarray(value)
        if array.shape != wanted.shape:
            raise ArgumentError(
                f"`{self.name}` returned {_shape(array)}{self._which(k)}, and"
                f" {self.returned} says {_shape(wanted)}"
            )
        if not np.can_cast(array.dtype, wanted.dtype, self._casting(wanted)):
            raise ArgumentError(
                f"`{self.name}` returned {array.dtype}{self._which(k)}, and"
                f" {self.returned} says {wanted.dtype}: return"
                f" it with .astype(np.{wanted.dtype})"
            )
        if not wanted.ndim:
            return wanted.dtype.type(array).item()
        made = np.ascontiguousarray(array, wanted.dtype)
        shared = not made.flags.writeable or made.base is not None
        if shared or any(np.may_share_memory(made, a) for a in arrays):
            made = made.copy()
        return made

    @staticmethod
    def _casting(wanted: np.ndarray[Any, Any]) -> Any:
        return "same_kind" if not wanted.ndim else "equiv"

    def _which(self, k: int) -> str:
        return f" as result {k}" if k else ""


class Missing:
    """What a rule gives where it gives None: nobody may want it."""

    def __init__(self, rule: str, place: int) -> None:
        self.rule, self.place = rule, place

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        """Raise `ArgumentError`: it is wanted."""
        raise ArgumentError(
            f"`{self.rule}` returned None as number {self.place}, and that derivative"
            " is asked for: leave it out by wrt="
        )

    def __float__(self) -> float:
        """Raise `ArgumentError`, too."""
        return float(self.__array__())


class Derivative(Checked):
    """A rule: it may return other floats than it should, 0 for zeros, and None where
    there is no derivative.
    """

    @staticmethod
    def _casting(wanted: np.ndarray[Any, Any]) -> Any:
        return "same_kind"

    def _check_new(
        self,
        results: Sequence[np.ndarray[Any, Any]],
        arguments: Sequence[np.ndarray[Any, Any]],
    ) -> None:
        """A cotangent may be an argument: it is added to what is there, or copied."""

    def _as(
        self, value: Any, like: Any, k: int, arrays: Sequence[np.ndarray[Any, Any]]
    ) -> Any:
        if like is not None and value is None:
            return Missing(self.name, k)
        if like is not None and np.ndim(value) == 0 and np.ndim(like):
            if isinstance(value, (int, float)) and value == 0:
                value = np.zeros_like(like)
        return super()._as(value, like, k, arrays)

    def _which(self, k: int) -> str:
        return f" as number {k}"


class Handle(int):
    """The number of a function in the table, which CPython can call."""

    checked: Checked

    def __new__(cls, checked: Checked) -> Handle:
        made = super().__new__(cls, checked.number)
        made.checked = checked
        return made

    @property
    def python(self) -> Callable[..., Any]:
        """The function itself."""
        return self.checked.function

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return self.checked(*arguments)


def run(number: int, *arguments: Any) -> Any:
    """Call the function with this number: what compiled code calls."""
    return _TABLE[number](*arguments)


def with_sizes(array: np.ndarray[Any, Any], *sizes: int) -> np.ndarray[Any, Any]:
    """The array, which is as compiled code was made for: that would not look.

    Raises `InternalError` if it is not: `result=` was read as something else than it
    is in CPython.
    """
    if array.shape != sizes:
        raise InternalError(f"an array of shape {array.shape} was taken for {sizes}")
    return array


def _whole(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array that has the memory of this one."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _read_only(value: Any) -> Any:
    """An array without gaps that cannot be written to, a number as it is."""
    if not isinstance(value, np.ndarray):
        return value
    view = np.ascontiguousarray(value).view()
    view.flags.writeable = False
    return view


def _values(n: int) -> str:
    return "one value" if n == 1 else f"{n} values"


def _shape(array: np.ndarray[Any, Any]) -> str:
    return f"an array of shape {array.shape}" if array.ndim else "a number"
