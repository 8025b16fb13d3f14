def f(x):
    while x < 10.0:
        x = x * 1.5
    return x


# P103_while.py:2:5: P103 this control flow is not supported yet
#    2 |     while x < 10.0:
#      |     ^^^^^^^^^^^^^^^ `while` is not supported yet
#   help: loop over a `range` that is long enough, with `if` inside; this comes in a later version
