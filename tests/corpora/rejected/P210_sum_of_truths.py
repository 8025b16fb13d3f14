def f(x):
    found = x > 0.5
    for i in range(len(x)):
        found[i] += x[i] > 0.0
    return x * found


# P210_sum_of_truths.py:4:21: P210 the kinds of numbers do not fit
#    4 |         found[i] += x[i] > 0.0
#      |                     ^^^^^^^^^^ NumPy's truth values do not count: `True + True` is True
#   help: join them with `or`, or count with `int(...)`
