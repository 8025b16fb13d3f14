def f(a, b, c):
    u = a if c > 0 else b
    return u[0] + a[0] + b[0]


# P201_conditional.py:2:9: P201 whole-array operations are not supported yet
#    2 |     u = a if c > 0 else b
#      |         ^ `a` is a whole array, and a number is needed here
#   help: write the loop over its elements; this comes in a later version
#
# P201_conditional.py:2:25: P201 whole-array operations are not supported yet
#    2 |     u = a if c > 0 else b
#      |                         ^ `b` is a whole array, and a number is needed here
#   help: write the loop over its elements; this comes in a later version
