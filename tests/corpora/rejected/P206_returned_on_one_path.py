def scaled(x, c):
    if c > 1.0:
        return x * c
    return x


def f(x, c):
    w = scaled(x, c)
    w[0], w[1] = 2.0 * c, c
    return w[1] * x[0]


# P206_returned_on_one_path.py:9:5: P206 a name stands for one array or one function
#    9 |     w[0], w[1] = 2.0 * c, c
#      |     ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
#
# P206_returned_on_one_path.py:9:11: P206 a name stands for one array or one function
#    9 |     w[0], w[1] = 2.0 * c, c
#      |           ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
