def f(u, v):
    for t in range(10):
        for i in range(len(u)):
            v[i] = 0.5 * u[i]
        u, v = v, u


# P206_swap.py:5:9: P206 the name of an array or a function is bound once
#    5 |         u, v = v, u
#      |         ^^^^^^^^^^^ this would be another name of the array `v`
#   help: use one name, or write `.copy()`; this is not supported yet
#
# P206_swap.py:5:9: P206 the name of an array or a function is bound once
#    5 |         u, v = v, u
#      |         ^^^^^^^^^^^ this would be another name of the array `u`
#   help: use one name, or write `.copy()`; this is not supported yet
