def f(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            return x[i]
    return x


# P110_array_or_number_from_a_loop.py:5:5: P110 this `return` is outside the language
#    5 |     return x
#      |     ^^^^^^^^ another path returns another array, or a number
#   help: return one array on every path: the paths may fill it
