def f(x):
    for k in range(3):
        w = x[:] * k
    return w[0]


# P206_used_behind_the_loop.py:4:12: P206 a name stands for one array or one function
#    4 |     return w[0]
#      |            ^ `w` is made in a loop or a branch, and used behind it
#   help: make it before, and assign the elements: `w[:] = ...`
