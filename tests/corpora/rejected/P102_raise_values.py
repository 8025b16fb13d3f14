def f(x, limit):
    if x > limit:
        raise ValueError(f"{x} is above {limit}")
    return x * x


# P102_raise_values.py:3:9: P102 this statement is outside the language
#    3 |         raise ValueError(f"{x} is above {limit}")
#      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ the exception is made of values of the run
#   help: write a message without values
