"""NumPy's functions that are loops, as plain Python functions of the language.

Who adds one writes it down here, as a user would who has no NumPy: a call of it is
read like a call of a helper (`parse.library_calls`), so that all modes and targets have
it. The texts run in CPython, too, which is how they are tested against NumPy.
"""

from pyrev.parse.library import (
    arranging,
    elements,
    factors,
    integers,
    matrices,
    numerics,
    padding,
    parts,
    places,
    sets,
    signals,
    sorting,
    spectral,
    statistics,
    without_nan,
    writing,
)
from pyrev.parse.library.entries import Entry, entries_of, in_words, of_method

__all__ = [
    "Entry",
    "arranging",
    "elements",
    "entries_of",
    "factors",
    "in_words",
    "integers",
    "matrices",
    "numerics",
    "of_method",
    "padding",
    "parts",
    "places",
    "sets",
    "signals",
    "sorting",
    "spectral",
    "statistics",
    "without_nan",
    "writing",
]
