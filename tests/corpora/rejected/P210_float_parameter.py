def f(x, k: float):
    return x[k]


# P210_float_parameter.py:2:14: P210 the kinds of numbers do not fit
#    2 |     return x[k]
#      |              ^ `k` holds floats
#   help: convert it with `int(...)`, or divide with `//`
