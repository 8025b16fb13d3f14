import numpy as np


def f(x, n):
    a = np.ones((3, 4)) * x
    b = a * 2.0
    s = 0.0
    for row in a:
        for _ in range(n):
            a, b = b, a
        s += row[0] * a[1, 1]
    return s


# P206_array_of_a_loop_changes_places.py:9:9: P206 a name stands for one array or one function
#    9 |         for _ in range(n):
#      |         ^^^^^^^^^^^^^^^^^^ `row` is another name of an array that changes places here
#   help: use one name, or write `.copy()`
