def f(u, v, w):
    for t in range(10):
        u[0] = 0.5 * v[0] + w[0]
        u, v = v, w


# P206_shifted.py:4:9: P206 a name stands for one array or one function
#    4 |         u, v = v, w
#      |         ^^^^^^^^^^^ `u` names another array before this loop or branch
#   help: use another name, or assign the elements, as in `u[:] = ...`
#
# P206_shifted.py:4:9: P206 a name stands for one array or one function
#    4 |         u, v = v, w
#      |         ^^^^^^^^^^^ `v` names another array before this loop or branch
#   help: use another name, or assign the elements, as in `v[:] = ...`
