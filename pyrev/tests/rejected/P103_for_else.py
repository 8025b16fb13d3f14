def f(x):
    s = 0.0
    for i in range(x.shape[0]):
        s += x[i]
    else:
        s *= 2.0
    return s


# P103_for_else.py:6:9: P103 this control flow is not supported yet
#    6 |         s *= 2.0
#      |         ^^^^^^^^ `else` of a loop is not supported yet
#   help: without `break` it always runs: put it after the loop; this comes in a later version
