def f(x, n):
    for k in range(n):
        u = x * 2.0
        if k > 1:
            for _ in range(3):
                x, u = u, x
            x[0] += u[0]
    return x[0]


# P206_exchanged_and_made_inside.py:3:9: P206 a name stands for one array or one function
#    3 |         u = x * 2.0
#      |         ^^^^^^^^^^^ `u`, which is made in a loop or a branch, changes places with an array of the caller
#   help: make it before, and write `u[:] = ...` there
