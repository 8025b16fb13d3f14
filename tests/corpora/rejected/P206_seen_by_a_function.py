def f(x, n):
    u = x

    def first():
        return x[0]

    for t in range(n):
        u[0] = 2.0 * u[0]
        if t == 1:
            u = u * 3.0
    return u[0] + first()


# P206_seen_by_a_function.py:8:9: P206 a name stands for one array or one function
#    8 |         u[0] = 2.0 * u[0]
#      |         ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
