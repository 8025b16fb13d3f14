import numpy as np


def rotated(x):
    out = np.zeros(3)
    for i in range(3):
        out[i] = x * 1j
    return out


def f(x):
    return rotated(x)


# P106_complex_in_a_real_array.py:7:9: P106 this kind of value is outside the language
#    7 |         out[i] = x * 1j
#      |         ^^^^^^ `out[i]` is real, and what is stored is complex
#   help: make the array with `dtype=np.complex128`, or store `.real`
