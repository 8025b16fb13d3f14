import numpy as np

memory = "1MB"


def f(x, sizes):
    for t in range(len(sizes)):
        n = sizes[t]
        u = np.zeros(n)
        for i in range(n):
            u[i] = x[0] * x[0]
        for i in range(n):
            x[0] = x[0] * u[i]


# P303_size_of_an_array.py:9:9: P303 a value that the gradient needs cannot be recorded
#    9 |         u = np.zeros(n)
#      |         ^^^^^^^^^^^^^^^ the size of `u`, which the derivative needs, is not known before it is made
#   help: leave out `memory`, or give the loop a bound made of sizes
