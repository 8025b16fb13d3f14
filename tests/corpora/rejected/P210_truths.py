def f(x, y):
    for i in range(len(x)):
        y[i] = (x[i] > 0.0) - (x[i] > 1.0)


# P210_truths.py:3:16: P210 the kinds of numbers do not fit
#    3 |         y[i] = (x[i] > 0.0) - (x[i] > 1.0)
#      |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^ NumPy's truth values have no difference
#   help: write `!=` for "one of both", or count with `int(...)`
