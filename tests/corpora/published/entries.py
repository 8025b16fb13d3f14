"""All functions of this corpus, field by field."""

from __future__ import annotations

from tests.corpora.published import (
    algorithms,
    algorithms_more,
    earth,
    earth_more,
    finance,
    finance_more,
    hydrology,
    mechanics,
    mechanics_more,
    physics,
    physics_more,
    seismology,
    seismology_more,
    signals,
    signals_more,
    statistics,
    statistics_more,
)
from tests.corpora.published.cases import Published

FIELDS = (
    *(seismology, seismology_more, earth, earth_more, hydrology),
    *(finance, finance_more, statistics, statistics_more),
    *(physics, physics_more, mechanics, mechanics_more),
    *(signals, signals_more, algorithms, algorithms_more),
)
PUBLISHED: tuple[Published, ...] = tuple(p for f in FIELDS for p in f.case.published)
