"""What calls with arguments of the same sizes have in common, found out once.

A call is checked, and its code chosen, by the kinds, the shapes and the integers among
its arguments. What was found for these is kept: of a later call like it only the data
are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from pyrev.analysis.bounds import Variant
from pyrev.driver.arguments import Kind
from pyrev.driver.inspection import Look
from pyrev.driver.request import Request
from pyrev.driver.targets.target import Target
from pyrev.driver.units import Units
from pyrev.ir.diagnostics import ArgumentError
from pyrev.runtime.device import is_device

T = TypeVar("T")
_MOST = 256  # sizes of one function


@dataclass(slots=True)
class Plan:
    """What is known of calls with arguments of these sizes.

    `sized` is the program that they ask for, None before they were checked. Where they
    leave a doubt the data of each call get a `look`, unless one has `settled` it: what
    it finds may be the same for all data, `by_sizes`.
    """

    units: Units
    kinds: dict[str, Kind]
    target: Target
    sized: Variant | None = None
    look: Look | None = None
    by_sizes: bool = False
    settled: Variant | None = None
    _made: dict[Hashable, Any] = field(default_factory=dict)

    def check(self, values: Mapping[str, Any]) -> Variant:
        """The program for this call.

        Raises `ArgumentError` if floats would be written to integers or an integer
        passes 64 bits, `IndexError` if an access leaves its array.
        """
        if self.sized is None:
            self._check_kinds()
            inspection = self.units.inspection
            sized, doubts = inspection.sized(self.kinds, values)
            # Another thread takes `sized` for the sign that both are there.
            if doubts:
                self.by_sizes = inspection.by_sizes(self.kinds, sized)
                self.look = inspection.look(self.request(values, sized), doubts)
            self.sized = sized
        if self.look is None:
            return self.sized
        if self.settled is not None:
            return self.settled
        found = self.look(values)
        if self.by_sizes:
            self.settled = found
        return found

    def _check_kinds(self) -> None:
        if not self.target.truncates:
            return
        function = self.units.function
        for name in function.truncated(self.kinds):
            raise ArgumentError(
                f"{function.program.name}() writes floats to `{name}`, which holds"
                f" {self.kinds[name].dtype}; pass {name}.astype(np.float64)"
            )

    def request(
        self, values: Mapping[str, Any], variant: Variant, wrt: tuple[str, ...] = ()
    ) -> Request:
        """What code a call with these values asks for."""
        return Request(self.target, self.kinds, wrt, values, variant)

    def made(
        self,
        make: Callable[..., T],
        values: Mapping[str, Any],
        variant: Variant,
        wrt: tuple[str, ...] = (),
        *more: Hashable,
        alone: bool = False,
    ) -> T:
        """What `make`, a method of `Units`, gives for a call with these values; if
        `alone` code that is for such sizes only.
        """
        key = make, variant, wrt, more, alone
        found: T | None = self._made.get(key)
        if found is None:
            request = replace(self.request(values, variant, wrt), alone=alone)
            found = self._made[key] = make(self.units, request, *more)
        return found

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """What `make` gave for these sizes when it was first asked for."""
        found: T | None = self._made.get(key)
        if found is None:
            found = self._made[key] = make()
        return found


class Plans:
    """The plans of one reading of a function for one target."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._known: dict[Hashable, Plan] = {}

    def forget(self) -> None:
        """Plan every call anew."""
        self._known = {}

    def plan(self, units: Units, values: Mapping[str, Any]) -> Plan:
        """The plan for these arguments; `ArgumentError` if they do not fit."""
        key = sizes_of(values.values())
        found = self._known.get(key)
        if found is None:
            fitting = units.fitting(values)
            found = Plan(fitting, fitting.function.kinds(values), self.target)
            if len(self._known) >= _MOST:
                self._known.clear()
            self._known[key] = found
        return found


def sizes_of(values: Iterable[Any]) -> Hashable:
    """What of these arguments a call is checked by, and its code chosen."""
    return tuple(
        [
            (v.shape, v.dtype) if type(v) is np.ndarray else _size_of_another(v)
            for v in values  # of every call
        ]
    )


def _size_of_another(value: Any) -> Any:
    if isinstance(value, (int, np.integer)):
        return type(value), value
    if is_device(value):
        # Another library's array need not say what it is before CuPy has taken it.
        found = [getattr(value, name, None) for name in ("shape", "dtype")]
        return type(value), *found
    return type(value)
