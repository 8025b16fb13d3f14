"""NumPy's functions that are loops, as plain Python functions of the language.

Who adds one writes it down here, as a user would who has no NumPy: a call of it is
read like a call of a helper (`parse.library_calls`), so that all modes and targets have
it. The texts run in CPython, too, which is how they are tested against NumPy.
"""

from pyrev.parse.library import (
    arranging,
    factors,
    integers,
    numerics,
    padding,
    places,
    sorting,
    spectral,
    statistics,
)
from pyrev.parse.library.entries import Entry, entries_of, in_words, of_method

__all__ = [
    "Entry",
    "arranging",
    "entries_of",
    "factors",
    "in_words",
    "integers",
    "numerics",
    "of_method",
    "padding",
    "places",
    "sorting",
    "spectral",
    "statistics",
]
