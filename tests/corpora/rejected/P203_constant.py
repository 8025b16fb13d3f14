LIMIT = 3.0


def f(x):
    return x * LIMIT[0]


# P203_constant.py:5:16: P203 a name is either a number or an array
#    5 |     return x * LIMIT[0]
#      |                ^^^^^ `LIMIT` is not an array
#   help: leave the subscripts out
