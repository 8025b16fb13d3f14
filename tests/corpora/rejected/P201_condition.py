def f(x):
    x[0] = 2.0 if x[1:] > 0.0 else 1.0


# P201_condition.py:2:19: P201 an array cannot stand here
#    2 |     x[0] = 2.0 if x[1:] > 0.0 else 1.0
#      |                   ^^^^^^^^^^^ `x[1:] > 0.0` is an array, and a number is needed here
#   help: take an element of it, or reduce it, as `np.sum` does
