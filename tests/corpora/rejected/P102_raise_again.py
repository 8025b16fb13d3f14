def f(x, error):
    if x < 0.0:
        raise error
    return x * x


# P102_raise_again.py:3:9: P102 this statement is outside the language
#    3 |         raise error
#      |         ^^^^^^^^^^^ `error` is no class of exceptions
#   help: name the class: `raise ValueError(...)`
