import numpy as np


def settle(u, n):
    new = np.zeros_like(u)
    for _ in range(n):
        for i in range(u.shape[0]):
            new[i] = 0.5 * u[i]
        u, new = new, u
    return u


def f(x, n):
    u = x.copy()
    v = settle(u, n)
    u[0], u[1] = 1.0, 2.0
    return v[0]


# P206_returned_after_an_exchange.py:16:5: P206 a name stands for one array or one function
#   16 |     u[0], u[1] = 1.0, 2.0
#      |     ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
#
# P206_returned_after_an_exchange.py:16:11: P206 a name stands for one array or one function
#   16 |     u[0], u[1] = 1.0, 2.0
#      |           ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
