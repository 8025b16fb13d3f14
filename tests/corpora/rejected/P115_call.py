import math


def f(x):
    math.sin(x)
    return x


# P115_call.py:5:5: P115 this expression has no effect
#    5 |     math.sin(x)
#      |     ^^^^^^^^^^^ the value is not used
#   help: assign it, or remove the line
