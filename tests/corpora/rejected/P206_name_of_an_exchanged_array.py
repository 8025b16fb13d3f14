def f(u, v, n):
    w = u
    for t in range(n):
        w[0] = 0.5 * v[0]
        u, v = v, u


# P206_name_of_an_exchanged_array.py:4:9: P206 a name stands for one array or one function
#    4 |         w[0] = 0.5 * v[0]
#      |         ^^^^ `u` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `u = u.copy()`
