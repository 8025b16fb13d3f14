def f(x):
    if x > 0.0:
        return x


# P110_some_paths.py:3:9: P110 this `return` is not supported yet
#    3 |         return x
#      |         ^^^^^^^^ an early `return` is not supported yet
#   help: assign the value to a variable and return it at the end
