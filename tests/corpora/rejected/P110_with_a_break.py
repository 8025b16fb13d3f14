def f(x):
    for i in range(len(x)):
        if x[i] > 3.0:
            return x * x[i]
        if x[i] < 0.0:
            break


# P110_with_a_break.py:4:13: P110 this `return` is outside the language
#    4 |             return x * x[i]
#      |             ^^^^^^^^^^^^^^^ another path returns another number of values, or none
#   help: return equally many values on every path, at the end too
#
# P110_with_a_break.py:6:13: P110 this `return` is outside the language
#    6 |             break
#      |             ^^^^^ a path of this function returns another number of values, or none
#   help: return equally many values on every path, at the end too
