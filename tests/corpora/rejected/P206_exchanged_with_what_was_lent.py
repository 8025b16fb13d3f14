def turned(a, b):
    for t in range(3):
        b, a = a, b
        b[:] = 0.5 * a
        a = a + 0.1 * b
    a[0] *= 0.5


def f(x, y, n):
    if n > 0:
        for t in range(n):
            turned(y, x)
            y, x = x, y
    return x[0] + y[0]


# P206_exchanged_with_what_was_lent.py:2:5: P206 a name stands for one array or one function
#    2 |     for t in range(3):
#      |     ^^^^^^^^^^^^^^^^^^ `b` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `b = b.copy()`
#
# P206_exchanged_with_what_was_lent.py:2:5: P206 a name stands for one array or one function
#    2 |     for t in range(3):
#      |     ^^^^^^^^^^^^^^^^^^ `a` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `a = a.copy()`
#
# P206_exchanged_with_what_was_lent.py:11:9: P206 a name stands for one array or one function
#   11 |         for t in range(n):
#      |         ^^^^^^^^^^^^^^^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
