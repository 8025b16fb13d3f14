"""Code as people publish it: right or refused, never wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.corpora.conformance.table import WRONG, judge
from tests.corpora.published.entries import PUBLISHED
from tests.turns import share_of

#: It raises RecursionError, and says so: it halves its argument until one is left, and
#: its text has room for three levels.
DEEP = ("cepstrum_radix_two",)
BY_NAME = {p.entry.name: p for p in PUBLISHED}
A_TENTH = share_of(list(BY_NAME), 10)
A_THIRTIETH = share_of(list(BY_NAME), 30)


def test_there_are_two_hundred_and_each_says_what_it_is() -> None:
    names = Counter(p.entry.name for p in PUBLISHED)
    assert [n for n, count in names.items() if count > 1] == []
    assert len(PUBLISHED) >= 200
    for p in PUBLISHED:
        assert p.idiom, p.entry.name
        assert p.seen, p.entry.name


@pytest.mark.slow
@pytest.mark.parametrize("name", A_TENTH)
def test_it_is_right_or_refused(name: str) -> None:
    found = judge(BY_NAME[name].entry, "python")
    if name in DEEP:
        assert "calls itself more than" in found.message
        return
    assert found.outcome != WRONG, found.message


@pytest.mark.slow
@pytest.mark.parametrize("name", A_THIRTIETH)
def test_it_is_right_or_refused_compiled(name: str) -> None:
    entry = BY_NAME[name].entry
    if name in DEEP:
        pytest.skip("it raises RecursionError: see DEEP")
    found = judge(entry, "numba", (max(2, entry.least), entry.real), entries=6)
    assert found.outcome != WRONG, found.message
