def f(x, y):
    for i, v in enumerate(x):
        y[i] = v


# P111_enumerate.py:2:17: P111 a loop must run over `range`
#    2 |     for i, v in enumerate(x):
#      |                 ^^^^^^^^^^^^ `enumerate(x)` is not a range
#   help: write `for i in range(...)` and index the arrays; this form is not supported yet
