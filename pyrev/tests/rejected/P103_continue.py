def f(x):
    s = 0.0
    for i in range(x.shape[0]):
        if x[i] < 0.8:
            continue
        s += x[i]
    return s


# P103_continue.py:5:13: P103 this control flow is not supported yet
#    5 |             continue
#      |             ^^^^^^^^ `continue` is not supported yet
#   help: put the rest of the body under `if`; this comes in a later version
