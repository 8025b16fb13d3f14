def f(x):
    if x < 0.0:
        raise ValueError
    return x


# P102_raise.py:3:9: P102 this statement is outside the language
#    3 |         raise ValueError
#      |         ^^^^^^^^^^^^^^^^ an exception is raised here
#   help: check the arguments before the call
