def f(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[0] = a[1] * 2.0
        a = b
    return a[0] + b[0]


# P206_one_array_under_two_names.py:4:5: P206 a name stands for one array or one function
#    4 |     for _ in range(n):
#      |     ^^^^^^^^^^^^^^^^^^ `a` and another name stand for one array, written in this loop or branch
#   help: use another name, or assign the elements, as in `a[:] = ...`
