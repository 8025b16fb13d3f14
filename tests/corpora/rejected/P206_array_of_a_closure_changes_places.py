def f(x, n):
    a = x * 1.0
    b = x * 2.0

    def turned(y, z):
        for _ in range(n):
            y, z = z, y
            y[0] += 1.0
        return y[0] + a[0] * z[1]

    return turned(a, b)


# P206_array_of_a_closure_changes_places.py:6:9: P206 a name stands for one array or one function
#    6 |         for _ in range(n):
#      |         ^^^^^^^^^^^^^^^^^^ `y` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `y = y.copy()`
#
# P206_array_of_a_closure_changes_places.py:8:13: P206 a name stands for one array or one function
#    8 |             y[0] += 1.0
#      |             ^^^^ this writes to the caller's array or to a new one
#   help: give the new array a name of its own
#
# P206_array_of_a_closure_changes_places.py:8:13: P206 a name stands for one array or one function
#    8 |             y[0] += 1.0
#      |             ^^^^ `y` may stand for the array that is written here, or for a new one
#   help: give the new array a name of its own, or begin with a copy: `y = y.copy()`
