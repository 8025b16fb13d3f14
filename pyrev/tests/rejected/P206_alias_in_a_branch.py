def f(x, c):
    if c > 0.0:
        v = x
        return v[0]
    return v[1]


# P206_alias_in_a_branch.py:3:9: P206 the name of an array or a function is bound once
#    3 |         v = x
#      |         ^^^^^ this would be another name of the array `x`
#   help: use one name, or write `.copy()`; this is not supported yet
