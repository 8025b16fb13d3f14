def f(u, v):
    for i in range(len(u)):
        v[i] = 2.0 * u


# P201_whole_array.py:3:22: P201 whole-array operations are not supported yet
#    3 |         v[i] = 2.0 * u
#      |                      ^ `u` is a whole array, and a number is needed here
#   help: write the loop over its elements; this comes in a later version
