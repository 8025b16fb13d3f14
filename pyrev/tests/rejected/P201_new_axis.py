def f(u):
    return u[None, 0]


# P201_new_axis.py:2:12: P201 whole-array operations are not supported yet
#    2 |     return u[None, 0]
#      |            ^^^^^^^^^^ `u[None, 0]` is a part of the array
#   help: write the loop over its elements; this comes in a later version
