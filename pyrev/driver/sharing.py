"""Code that was made for the sizes of one call, for calls of others.

To compile takes seconds, and code is right for more sizes than those that it was made
for. So a call takes what is there if that does not take much longer than its own would:
where a test that chose a schedule has another answer, but a near one, or where all is
done at once anyway. Numbers in a text, which loops of a few iterations are unrolled by,
pay where they stay the same: an extent that had two sizes is none any more.

What a call gets is decided by the calls before it. A call like one before it gets the
same again, whatever came between: what is made later serves no sizes that had their
code already, and of what was made earlier only what served them then fits them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from pyrev.driver.sizes import Fit, evaluate, fits, number
from pyrev.driver.targets.target import Target
from pyrev.schedule.costs import Costs


class Fitting(Protocol):
    """What was made for the sizes of one call."""

    @property
    def fit(self) -> Fit:
        """What is known of these sizes."""

    @property
    def target(self) -> Target:
        """What it was made for."""


F = TypeVar("F", bound=Fitting)


class Family(Generic[F]):
    """What was made of one program for arguments of some kinds."""

    def __init__(self) -> None:
        self._made: list[F] = []
        #: Sizes, two at most, of the extents that bound loops.
        self._seen: dict[str, set[int]] = {}

    def made_for(self, values: Mapping[str, Any] | None) -> F | None:
        """What was made for sizes that say the same, if anything was."""
        for made in tuple(self._made):
            if values is None or fits(made.fit.answers, values):
                return made
        return None

    def serving(self, values: Mapping[str, Any], costs: Costs) -> F | None:
        """What a call with these values is to run, of what is there."""
        made = tuple(self._made)
        for one in made:
            self._see(one.fit, values)
        ranked = sorted(made, key=lambda one: -_numbers(one.fit, values))
        for one in ranked:
            if self._serves(one.fit, values, costs):
                return one
        return None

    def add(self, made: F) -> None:
        """Keep what was made for a call."""
        self._made.append(made)
        for extent, size in made.fit.bounding.items():
            self._note(extent, size)

    def varied(self) -> frozenset[str]:
        """The extents that had several sizes."""
        return frozenset(e for e, sizes in self._seen.items() if len(sizes) > 1)

    def _see(self, fit: Fit, values: Mapping[str, Any]) -> None:
        for extent in fit.bounding:
            size = number(extent, values)
            if size is not None:
                self._note(extent, size)

    def _note(self, extent: str, size: int) -> None:
        sizes = self._seen.setdefault(extent, set())
        if len(sizes) < 2:
            sizes.add(size)

    def _serves(self, fit: Fit, values: Mapping[str, Any], costs: Costs) -> bool:
        """Is code that was made so good enough for these values?"""
        if not fits(fit.relied, values):
            return False
        work = fit.work(values)
        if fit.is_large(costs) or (work is not None and work >= costs.own_operations):
            return fits(fit.answers, values)
        if fit.has_many(values) and not self._has_numbers(fit, values, costs):
            return False
        little = work is not None and work < costs.any_operations
        return little or all(
            _is_near(test, answer, values, costs) for test, answer in fit.chosen
        )

    def _has_numbers(self, fit: Fit, values: Mapping[str, Any], costs: Costs) -> bool:
        """Are all extents that had one size only, and a small one, numbers in it?"""
        varied = self.varied()
        for extent in fit.bounding:
            if extent in varied or extent in fit.numbers:
                continue
            size = number(extent, values)
            if size is not None and size <= costs.numbered_extent:
                return False
        return True


def _numbers(fit: Fit, values: Mapping[str, Any]) -> int:
    """How many extents are numbers in what was made, where that pays."""
    return len(fit.numbers) if fit.has_many(values) else 0


def _is_near(test: str, answer: bool, values: Mapping[str, Any], costs: Costs) -> bool:
    """Has a test this answer, or would it have it for sizes not far from these?"""
    found = evaluate(test, values)
    if found is None or found == answer:
        return True
    count, compared, least = test.rpartition(" >= ")
    if not compared or not least.isdecimal():
        return False
    size, least_ = number(count, values), int(least)
    return size is not None and (
        least_ <= costs.near_sizes * max(size, 1) and size <= costs.near_sizes * least_
    )
