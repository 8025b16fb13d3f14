import numpy as np

ROOTS = np.array([1.0, 1j])


def f(x):
    return abs(x * ROOTS[1])


# P106_complex_from_outside.py:7:20: P106 this kind of value is outside the language
#    7 |     return abs(x * ROOTS[1])
#      |                    ^^^^^ `ROOTS` is complex, and from outside of the function
#   help: give its parts names outside, or write the number out
