def f(x, k):
    if k > 2:
        raise ValueError(f"{x[k]} is the last one")
    return x[0] * x[0]


# P102_raise_values.py:3:9: P102 this statement is outside the language
#    3 |         raise ValueError(f"{x[k]} is the last one")
#      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the exception is made of values of the run
#   help: write one text, as f-string, of numbers that have names
