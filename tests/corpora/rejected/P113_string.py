MODE = "reflect"


def f(x):
    return x if MODE == 3 else 0.0


# P113_string.py:5:17: P113 this name does not stand for a number or an array
#    5 |     return x if MODE == 3 else 0.0
#      |                 ^^^^ `MODE` is a string
#   help: use a number, an array, or a call of a function
