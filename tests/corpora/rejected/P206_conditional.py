def f(a, c):
    u = a[1:] if c > 0 else 0.0
    return u * a[1:]


# P206_conditional.py:2:9: P206 a name stands for one array or one function
#    2 |     u = a[1:] if c > 0 else 0.0
#      |         ^^^^^^^^^^^^^^^^^^^^^^^ this may stand for one array or another
#   help: write an `if` whose branches assign the elements
