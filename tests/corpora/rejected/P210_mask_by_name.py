def f(x):
    s = 0.0
    for i in range(3):
        k = 0
        if x[i] > 0.0:
            k = i == 2
        s += x[k]
    return s


# P210_mask_by_name.py:7:16: P210 the kinds of numbers do not fit
#    7 |         s += x[k]
#      |                ^ NumPy takes a bool for a mask
#   help: convert it with `int(...)`, or divide with `//`
