import numpy as np


def f(x, rng):
    return x * rng.random(dtype=np.float32)


arguments = (1.0, np.random.default_rng(0))


# P108_generator.py:5:16: P108 the arguments do not fit the function
#    5 |     return x * rng.random(dtype=np.float32)
#      |                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `random` does not take these arguments here
#   help: draw with `random`, `uniform`, `normal`, `exponential`, `integers`, `choice` and others that the page on the language lists, with `size=`
