def f(a, b, c):
    u = a if c > 0 else b
    return u[0] + a[0] + b[0]


# P206_conditional.py:2:9: P206 a name stands for one array or one function
#    2 |     u = a if c > 0 else b
#      |         ^^^^^^^^^^^^^^^^^ this may stand for one array or another
#   help: write an `if` whose branches assign the elements
