def f(x):
    def g(v):
        return v

    g = 2.0 * x
    return x


# P206_function_and_number.py:2:5: P206 a name stands for one array or one function
#    2 |     def g(v):
#      |     ^^^^^^^^^ `g` is bound more than once
#   help: give each function a name of its own
#
# P206_function_and_number.py:5:5: P206 a name stands for one array or one function
#    5 |     g = 2.0 * x
#      |     ^ `g` is a function here
#   help: give the number another name
