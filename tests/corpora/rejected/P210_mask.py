def f(x):
    s = 0.0
    for i in range(3):
        s += x[i > 0]
    return s


# P210_mask.py:4:16: P210 the kinds of numbers do not fit
#    4 |         s += x[i > 0]
#      |                ^^^^^ NumPy takes a bool for a mask
#   help: convert it with `int(...)`, or divide with `//`
