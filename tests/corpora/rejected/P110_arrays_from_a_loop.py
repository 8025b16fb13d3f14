def f(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            return x[1:]
    return 2.0 * x[1:]


# P110_arrays_from_a_loop.py:4:13: P110 this `return` is outside the language
#    4 |             return x[1:]
#      |             ^^^^^^^^^^^^ another path returns another array
#   help: return one array on every path: the paths may fill it
