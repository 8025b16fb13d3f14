import numpy as np


def f(x, rng):
    return x * rng.choice(5, shuffle=False)


arguments = (1.0, np.random.default_rng(0))


# P108_choice.py:5:16: P108 the arguments do not fit the function
#    5 |     return x * rng.choice(5, shuffle=False)
#      |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `choice` does not take these arguments here
#   help: write `choice(a)`, with `size=`, `replace=False` or `p=` where wanted
