def f(x):
    while True:
        if x > 3.0:
            return x, 1.0
        if x > 2.0:
            return x
        x = 2.0 * x


# P110_different_numbers_in_a_loop.py:4:13: P110 this `return` is outside the language
#    4 |             return x, 1.0
#      |             ^^^^^^^^^^^^^ another path returns another number of values, or none
#   help: return equally many values on every path, at the end too
#
# P110_different_numbers_in_a_loop.py:6:13: P110 this `return` is outside the language
#    6 |             return x
#      |             ^^^^^^^^ another path returns another number of values, or none
#   help: return equally many values on every path, at the end too
