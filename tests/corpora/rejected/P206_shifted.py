def f(u, v, w):
    for t in range(10):
        u[0] = 0.5 * v[0] + w[0]
        u, v = v, w


# P206_shifted.py:3:9: P206 a name stands for one array or one function
#    3 |         u[0] = 0.5 * v[0] + w[0]
#      |         ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
