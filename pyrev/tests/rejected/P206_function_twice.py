def f(x):
    if x > 0.0:
        g = lambda v: v
    else:
        g = lambda v: -v
    return g(x)


# P206_function_twice.py:3:9: P206 an array name is bound once
#    3 |         g = lambda v: v
#      |         ^^^^^^^^^^^^^^^ `g` is bound more than once
#   help: give each function a name of its own
#
# P206_function_twice.py:5:9: P206 an array name is bound once
#    5 |         g = lambda v: -v
#      |         ^^^^^^^^^^^^^^^^ `g` is bound more than once
#   help: give each function a name of its own
#
# P206_function_twice.py:6:12: P107 this function is not known here
#    6 |     return g(x)
#      |            ^ `g` is not a function that is known here
#   help: define it before the function is differentiated
