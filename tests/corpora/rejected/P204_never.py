def f(x):
    s += x
    return s


# P204_never.py:2:5: P204 this variable may not have a value yet
#    2 |     s += x
#      |     ^ `s` is not assigned on every path to here
#   help: assign it before the `if` or the loop
#
# P204_never.py:3:12: P204 this variable may not have a value yet
#    3 |     return s
#      |            ^ `s` is not assigned on every path to here
#   help: assign it before the `if` or the loop
