def f(u, v, w):
    for t in range(10):
        u[0] = 0.5 * v[0] + w[0]
        u, v = v, w


# P206_shifted.py:3:9: P206 a name stands for one array or one function
#    3 |         u[0] = 0.5 * v[0] + w[0]
#      |         ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
