def f(u, v):
    u[1:-1] = v[2:]


# P201_slice.py:2:5: P201 whole-array operations are not supported yet
#    2 |     u[1:-1] = v[2:]
#      |     ^^^^^^^ `u[1:-1]` is a part of the array
#   help: write the loop over its elements; this comes in a later version
#
# P201_slice.py:2:15: P201 whole-array operations are not supported yet
#    2 |     u[1:-1] = v[2:]
#      |               ^^^^^ `v[2:]` is a part of the array
#   help: write the loop over its elements; this comes in a later version
