def f(x, i):
    return x[i > 0]


# P210_mask.py:2:14: P210 an index, a bound or a size must be an integer
#    2 |     return x[i > 0]
#      |              ^^^^^ NumPy takes a bool for a mask
#   help: convert it with `int(...)`, or divide with `//`
