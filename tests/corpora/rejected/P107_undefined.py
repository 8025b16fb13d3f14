def f(x):
    return helper(x)


# P107_undefined.py:2:12: P107 this function is not known here
#    2 |     return helper(x)
#      |            ^^^^^^ `helper` is not a function that is known here
#   help: define it before the function is differentiated
