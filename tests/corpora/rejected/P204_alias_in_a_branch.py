def f(x, c):
    if c > 0.0:
        v = x
        return v[0]
    return v[1]


# P204_alias_in_a_branch.py:5:12: P204 this variable may not have a value yet
#    5 |     return v[1]
#      |            ^^^^ `v` is not assigned on every path to here
#   help: assign it before the `if` or the loop
