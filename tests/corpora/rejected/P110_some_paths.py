def f(x):
    if x[0] > 0.0:
        return x * 2.0


# P110_some_paths.py:3:9: P110 this `return` is outside the language
#    3 |         return x * 2.0
#      |         ^^^^^^^^^^^^^^ another path returns another number of values, or none
#   help: return equally many values on every path, at the end too
