def f(x, y):
    if x[0] > 0.0:
        u = x
    else:
        u = y
    return u[0]


# P206_branches.py:6:12: P206 a name stands for one array or one function
#    6 |     return u[0]
#      |            ^ `u` may stand for different arrays here
#   help: give each array a name of its own, or write `.copy()`
