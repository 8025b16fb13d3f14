def f(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
        if s > 6.0:
            break
    return s


# P103_break.py:6:13: P103 this control flow is not supported yet
#    6 |             break
#      |             ^^^^^ `break` is not supported yet
#   help: guard the rest of the body with `if`; this comes in a later version
