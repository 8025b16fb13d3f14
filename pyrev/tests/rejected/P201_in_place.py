def f(u):
    u += 1.0
    return u[0]


# P201_in_place.py:2:5: P201 whole-array operations are not supported yet
#    2 |     u += 1.0
#      |     ^ `u` is a whole array
#   help: write the loop over its elements; this comes in a later version
