def f(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            return x[i]
    return 2.0 * x


# P110_array_or_number_from_a_loop.py:4:13: P110 this `return` is outside the language
#    4 |             return x[i]
#      |             ^^^^^^^^^^^ one path returns an array, and another a number
#   help: return one array on every path: the paths may fill it
