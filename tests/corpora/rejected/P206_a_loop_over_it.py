def f(a):
    s = 0.0
    for row in a:
        a = a * 2.0
        s += row[0] * a[1, 0]
    return s


# P206_a_loop_over_it.py:3:5: P206 a name stands for one array or one function
#    3 |     for row in a:
#      |     ^^^^^^^^^^^^^ `a` names another array before this loop or branch
#   help: use another name, or assign the elements, as in `a[:] = ...`
