def f(x):
    s = 0.0
    for v in x:
        s += v
    return s


# P111_array.py:3:14: P111 a loop must run over `range`
#    3 |     for v in x:
#      |              ^ `x` is not a range
#   help: write `for i in range(...)` and index the arrays; this form is not supported yet
