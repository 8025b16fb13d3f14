import math


def f(x):
    return math.sin(x)[0]


# P203_call_subscripted.py:5:12: P203 a name is either a number or an array
#    5 |     return math.sin(x)[0]
#      |            ^^^^^^^^^^^ `math.sin(x)` is not an array
#   help: leave the subscripts out
