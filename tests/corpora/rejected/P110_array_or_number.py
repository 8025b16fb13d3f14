def f(x):
    if x[0] > 0.0:
        return x
    return x[0]


# P110_array_or_number.py:4:5: P110 this `return` is outside the language
#    4 |     return x[0]
#      |     ^^^^^^^^^^^ one path returns an array, and another a number
#   help: return one array on every path: the paths may fill it
