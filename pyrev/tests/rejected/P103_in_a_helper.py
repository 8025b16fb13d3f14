def grow(v):
    while v < 10.0:
        v = v * 1.5
    return v


def f(x, y):
    for i in range(len(x)):
        y[i] = grow(x[i])


# P103_in_a_helper.py:2:5: P103 this control flow is not supported yet
#    2 |     while v < 10.0:
#      |     ^^^^^^^^^^^^^^^ `while` is not supported yet
#   help: loop over a `range` that is long enough, with `if` inside; this comes in a later version
