# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
"""Buckets, routing, infiltration, snow, groundwater."""

from __future__ import annotations

import numpy as np

from tests.corpora.published.cases import PublishedCases

case = PublishedCases("hydrology")


def degree_day_snow(precipitation, temperature, threshold, factor):
    n = precipitation.shape[0]
    if temperature.shape[0] != n:
        raise ValueError("precipitation and temperature must have one length")
    melt = np.zeros(n)
    pack = 0.0
    for t in range(n):
        if temperature[t] < threshold:
            pack += precipitation[t]
            continue
        melt[t] = min(pack, factor * (temperature[t] - threshold))
        pack -= melt[t]
    return melt, pack


case(
    degree_day_snow,
    lambda n, m: dict(
        precipitation=m.positive(n),
        temperature=m.away(n),
        threshold=0.05,
        factor=0.31,
    ),
    idiom="a store that fills and empties; checks of the arguments that raise",
    seen="hydrological bucket models, e.g. Ouranosinc/raven, kratzert/RRMPG",
)
