def f(x, n):
    u = x
    for t in range(n):
        x[0], x[1] = x[1], x[0] * 2.0
        if t == 3:
            u = u * 3.0
    return u[0]


# P206_may_stand_for_what_is_written.py:4:9: P206 a name stands for one array or one function
#    4 |         x[0], x[1] = x[1], x[0] * 2.0
#      |         ^^^^ `u` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `u = u.copy()`
#
# P206_may_stand_for_what_is_written.py:4:15: P206 a name stands for one array or one function
#    4 |         x[0], x[1] = x[1], x[0] * 2.0
#      |               ^^^^ `u` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `u = u.copy()`
