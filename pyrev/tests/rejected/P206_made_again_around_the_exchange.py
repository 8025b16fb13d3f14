def f(x, n):
    u = x * 2.0
    for _ in range(n):
        u = x * u
        for _ in range(3):
            x, u = u, x
    return x[0] + u[0]


# P206_made_again_around_the_exchange.py:2:5: P206 a name stands for one array or one function
#    2 |     u = x * 2.0
#      |     ^^^^^^^^^^^ `u`, which is made in a loop or a branch, changes places with an array of the caller
#   help: make it before, and write `u[:] = ...` there
