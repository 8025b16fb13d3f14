def f(x, n):
    u = x * 2.0
    for _ in range(n):
        u = x * u
        for _ in range(3):
            x, u = u, x
    return x[0] + u[0]


# P206_made_again_around_the_exchange.py:5:9: P206 a name stands for one array or one function
#    5 |         for _ in range(3):
#      |         ^^^^^^^^^^^^^^^^^^ `u`, which is made again around this loop, changes places with an array of the caller
#   help: write `u[:] = ...`, or copy the elements
