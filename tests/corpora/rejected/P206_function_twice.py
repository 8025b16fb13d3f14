def f(x):
    if x > 0.0:
        g = lambda v: v
    else:
        g = lambda v: -v
    return g(x)


# P206_function_twice.py:3:9: P206 a name stands for one array or one function
#    3 |         g = lambda v: v
#      |         ^^^^^^^^^^^^^^^ `g` is bound more than once
#   help: give each function a name of its own
#
# P206_function_twice.py:5:9: P206 a name stands for one array or one function
#    5 |         g = lambda v: -v
#      |         ^^^^^^^^^^^^^^^^ `g` is bound more than once
#   help: give each function a name of its own
