def f(x):
    if x < 0.0:
        raise
    return x * x


# P102_raise_nothing.py:3:9: P102 this statement is outside the language
#    3 |         raise
#      |         ^^^^^ an exception is raised again
#   help: name the class: `raise ValueError(...)`
