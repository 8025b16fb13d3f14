"""What code is asked for."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyrev.analysis.bounds import Variant
from pyrev.driver.arguments import Kind, key_of
from pyrev.driver.sizes import Sizes
from pyrev.driver.targets.target import Target
from pyrev.schedule.costs import Costs


@dataclass(frozen=True, slots=True)
class Request:
    """For which target and which kinds of arguments code is asked for, along `wrt`.

    `values` are the arguments of a call, whose sizes choose among schedules, and
    `variant` the program that is right for them: None where there was no call yet. What
    is made for them `alone` is for calls of such sizes, and for no others.
    """

    target: Target
    kinds: Mapping[str, Kind]
    wrt: tuple[str, ...] = ()
    values: Mapping[str, Any] | None = None
    variant: Variant | None = None
    alone: bool = False

    def key(self, *what: Hashable) -> Hashable:
        """By what code is found again that was made for this, but for the sizes."""
        kinds = key_of(self.kinds)
        return (*what, self.target, kinds, self.wrt, self.variant, self.alone)

    def sizes(
        self,
        costs: Costs,
        flipped: frozenset[str] = frozenset(),
        varied: frozenset[str] = frozenset(),
    ) -> Sizes:
        """What the sizes of the arguments say, with tests turned over: see `Sizes`."""
        return Sizes(self.values or {}, costs, flipped, varied)

    def running(self, variant: Variant) -> Request:
        """The same for another program."""
        return replace(self, variant=variant)

    def along_nothing(self) -> Request:
        """The same for the function itself."""
        return replace(self, wrt=()) if self.wrt else self
