def f(x, y):
    for v in [y, 2, y * y]:
        x[0] += v


# P111_list.py:2:14: P111 this iteration is outside the language
#    2 |     for v in [y, 2, y * y]:
#      |              ^^^^^^^^^^^^^ `[y, 2, y * y]` is nothing to loop over
#   help: loop over `range(...)`, an array, `enumerate` or `zip`
