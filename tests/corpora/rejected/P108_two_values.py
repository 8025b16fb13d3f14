def halves(v):
    return v / 2.0, v / 2.0


def f(x):
    return 1.0 + halves(x)


# P108_two_values.py:6:18: P108 the arguments do not fit the function
#    6 |     return 1.0 + halves(x)
#      |                  ^^^^^^^^^ this call gives 2 values, not one
#   help: assign them to names first: `a, b = f(x)`
