import math


def f(x):
    return x * math


# P113_module.py:5:16: P113 this name does not stand for a number or an array
#    5 |     return x * math
#      |                ^^^^ `math` is a module
#   help: use a number, an array, or a call of a function
