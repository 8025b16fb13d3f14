def f(x):
    for i in range(len(x)):
        if x[i] > 0.0:
            return x * x[i]


# P110_no_value_at_the_end.py:4:13: P110 this `return` is outside the language
#    4 |             return x * x[i]
#      |             ^^^^^^^^^^^^^^^ another path returns another number of values, or none
#   help: return equally many values on every path, at the end too
