import numpy as np


def f(rng, x):
    out = []
    t = 0.0
    while t < 3.0:
        t += rng.random()
        out.append(t * x)
    return np.array(out)


arguments = (np.random.default_rng(0), 1.5)

# P106_drawn_length.py:8:14: P106 this kind of value is outside the language
#    8 |         t += rng.random()
#      |              ^^^^^^^^^^^^ what is drawn decides how many elements a list gets
#   help: fill an array that is long enough, and count: `out[n] = v`, `n += 1`
