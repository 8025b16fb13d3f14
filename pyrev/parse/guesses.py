"""Which other numbers of axes the parameters of a function may have, what is most
likely first.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

_GUESSES = 60


def increments(seen: Mapping[str, int]) -> list[dict[str, int]]:
    """More axes for some parameters: at first one, two or three more for one, for two
    or for all of them; then the fewest first.

    Where one gets an axis, what the others have is found again the second time: of two
    arrays of which one was to have an axis more, this may have been the wrong one.

    >>> increments({"a": 1, "b": 0})[:5]
    [{'a': 2, 'b': 0}, {'a': 2}, {'a': 1, 'b': 1}, {'b': 1}, {'a': 2, 'b': 1}]
    """
    found = []
    for more in _additions(len(seen)):
        ranks = {n: r + k for (n, r), k in zip(seen.items(), more, strict=True)}
        found.append(ranks)
        if sum(more) == 1:
            found.append({n: r for n, r in ranks.items() if r > seen[n]})
    return found[:_GUESSES]


def _additions(count: int) -> list[tuple[int, ...]]:
    """Axes to add to each of some parameters, in the order in which this is tried.

    >>> _additions(2)[:7]
    [(1, 0), (0, 1), (1, 1), (2, 0), (0, 2), (2, 2), (3, 0)]
    """
    found: dict[tuple[int, ...], None] = {}
    alike = [{k} for k in range(count)]
    alike += map(set, itertools.combinations(range(count), 2))
    alike.append({*range(count)})
    for more in (1, 2, 3):
        for chosen in alike:
            found[tuple(more * (k in chosen) for k in range(count))] = None
    for total in range(1, 2 * count + 1):
        # Which parameter gets one axis more, `total` times; here none gets three.
        for times in itertools.combinations_with_replacement(range(count), total):
            each = tuple(times.count(k) for k in range(count))
            if max(each) <= 2:
                found[each] = None
            if len(found) >= _GUESSES:
                return [*found][:_GUESSES]
    return [*found][:_GUESSES]


def decrements(seen: Mapping[str, int]) -> list[dict[str, int]]:
    """Fewer axes for one parameter, and for another fewer or more: the least first.

    >>> decrements({"a": 1, "b": 0})
    [{'a': 0}, {'a': 0, 'b': 1}, {'a': 0, 'b': 2}]
    """
    fewer = {n: range(rank - 1, -1, -1) for n, rank in seen.items() if rank}
    found = [{n: rank} for n, ranks in fewer.items() for rank in ranks]
    for a, ranks in fewer.items():
        for b, rank in seen.items():
            if b != a:
                others = [*range(rank - 1, -1, -1), rank + 1, rank + 2]
                found += [{a: i, b: j} for i in ranks for j in others]
    found.sort(key=lambda some: sum(abs(seen[n] - r) for n, r in some.items()))
    return found[:_GUESSES]
