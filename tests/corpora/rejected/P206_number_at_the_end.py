def f(x, n):
    u = x * 2.0
    s = 0.0
    for k in range(n):
        s += u[0]
        for u in range(3):
            s += u
    return s


# P206_number_at_the_end.py:6:13: P206 a name stands for one array or one function
#    6 |         for u in range(3):
#      |             ^ `u` is an array before this loop or branch
#   help: use another name, or assign the elements, as in `u[:] = ...`
#
# P206_number_at_the_end.py:7:13: P206 a name stands for one array or one function
#    7 |             s += u
#      |             ^^^^^^ `s` is a number before this loop or branch
#   help: use another name, or assign the elements, as in `s[:] = ...`
