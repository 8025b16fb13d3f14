def f(x):
    n = len(x) / 2
    for i in range(n):
        x[i] = 0.0


# P210_division.py:2:9: P210 an index, a bound or a size must be an integer
#    2 |     n = len(x) / 2
#      |         ^^^^^^^^^^ this is a float
#   help: convert it with `int(...)`, or divide with `//`
