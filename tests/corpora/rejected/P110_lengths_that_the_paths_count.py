import numpy as np


def chosen(x, c):
    if c > 1.0:
        n = 0
        for i in range(len(x)):
            if x[i] > 1.0:
                n += 1
        return np.zeros(n)
    m = 0
    for i in range(len(x)):
        if x[i] > 0.7:
            m += 1
    return np.ones(m)


def f(x, c):
    total = 0.0
    picked = chosen(x, c)
    for i in range(len(picked)):
        total += picked[i] * x[i]
    return total


# P110_lengths_that_the_paths_count.py:10:9: P110 this `return` is outside the language
#   10 |         return np.zeros(n)
#      |         ^^^^^^^^^^^^^^^^^^ the paths return arrays of unlike shapes
#   help: return one array on every path: the paths may fill it
