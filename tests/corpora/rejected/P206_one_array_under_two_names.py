def f(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[0] = a[1] * 2.0
        b[1] = a[0]
        a = b
    return a[0] + b[0]


# P206_one_array_under_two_names.py:6:9: P206 a name stands for one array or one function
#    6 |         b[1] = a[0]
#      |         ^^^^ this array may be what a helper returned, or what another name stands for: that depends on the run
#   help: take a copy where it gets its second name, with `.copy()`
