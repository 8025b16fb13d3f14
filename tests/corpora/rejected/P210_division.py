def f(x):
    n = len(x) / 2
    for i in range(n):
        x[i] = 0.0


# P210_division.py:2:9: P210 the kinds of numbers do not fit
#    2 |     n = len(x) / 2
#      |         ^^^^^^^^^^ this is a float
#   help: convert it with `int(...)`, or divide with `//`
