def f(x):
    return sum(x, -1.0)


# P108_sum_with_a_start.py:2:12: P108 the arguments do not fit the function
#    2 |     return sum(x, -1.0)
#      |            ^^^^^^^^^^^^ Python's `sum` adds rows up, from its second argument on
#   help: use `np.sum`, and add the start to it
