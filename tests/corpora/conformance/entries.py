"""All entries of the conformance suite, theme by theme."""

from __future__ import annotations

from tests.corpora.conformance import (
    catalogue,
    imaging,
    language,
    npbench,
    pdes,
    physics,
    polybench,
    published,
    raising,
    recurrences,
    solvers,
    statistics,
    ten_functions,
)
from tests.corpora.entry import Entry

TEN = tuple(ten_functions.case.entries)
THEMES = (
    polybench,
    npbench,
    recurrences,
    pdes,
    solvers,
    physics,
    imaging,
    statistics,
    language,
    raising,
    published,
    catalogue,
)
CONFORMANCE: tuple[Entry, ...] = tuple(e for t in THEMES for e in t.case.entries)
