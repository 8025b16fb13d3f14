def f(x, i):
    return x[i > 0]


# P210_mask.py:2:14: P210 the kinds of numbers do not fit
#    2 |     return x[i > 0]
#      |              ^^^^^ NumPy takes a bool for a mask
#   help: convert it with `int(...)`, or divide with `//`
