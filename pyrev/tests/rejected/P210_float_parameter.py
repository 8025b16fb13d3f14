def f(x, k: float):
    return x[k]


# P210_float_parameter.py:2:14: P210 an index, a bound or a size must be an integer
#    2 |     return x[k]
#      |              ^ `k` holds floats
#   help: convert it with `int(...)`, or divide with `//`
