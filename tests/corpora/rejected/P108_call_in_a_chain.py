def bump(a, i):
    a[i] += 1.0
    return a[i]


def f(x):
    return 1.0 if 0.0 < x[0] < bump(x, 1) else 2.0


# P108_call_in_a_chain.py:7:32: P108 the arguments do not fit the function
#    7 |     return 1.0 if 0.0 < x[0] < bump(x, 1) else 2.0
#      |                                ^^^^^^^^^^ this call needs statements of its own in a chained comparison
#   help: write the comparisons with `and`
