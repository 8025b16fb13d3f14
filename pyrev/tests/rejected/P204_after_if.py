def f(x):
    if x > 0.0:
        y = x
    return y


# P204_after_if.py:4:12: P204 this variable may not have a value yet
#    4 |     return y
#      |            ^ `y` is not assigned on every path to here
#   help: assign it before the `if` or the loop
