def shifted(a, b):
    a[:] = 0.5 * b
    v = a + 0.1 * b
    b, v = v, b
    b, a = a, b
    v += 0.25 * b
    return v, v


def f(x, y, n):
    x = y.copy()
    if n > 1:
        v = y[:]
        for t in range(n):
            x, y = y, x
            u, v = shifted(x, v)
    return x[0] + y[0]


# P206_view_of_an_exchanged_array.py:14:9: P206 a name stands for one array or one function
#   14 |         for t in range(n):
#      |         ^^^^^^^^^^^^^^^^^^ `v` is another name of an array that changes places here
#   help: use one name, or write `.copy()`
