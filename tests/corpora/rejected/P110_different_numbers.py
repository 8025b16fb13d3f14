def f(x):
    if x > 0.0:
        return x, x
    return x


# P110_different_numbers.py:2:5: P110 this `return` is outside the language
#    2 |     if x > 0.0:
#      |     ^^^^^^^^^^^ the paths through this `if` return different numbers of values
#   help: return equally many values on every path
