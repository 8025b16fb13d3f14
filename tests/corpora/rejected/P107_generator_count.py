import numpy as np


def f(x, rng):
    while rng.random() < 0.5:
        x = x * rng.random()
    return x


arguments = (1.0, np.random.default_rng(0))


# P107_generator_count.py:5:11: P107 this function is not known here
#    5 |     while rng.random() < 0.5:
#      |           ^^^^^^^^^^^^ what is drawn decides how many numbers are drawn
#   help: draw a number that is known before: `u = rng.random(most)`
