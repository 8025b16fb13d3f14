import numpy as np


def f(x, rng):
    return x * rng.wald(2.0, 1.0)


arguments = (1.0, np.random.default_rng(0))


# P107_generator_method.py:5:16: P107 this function is not known here
#    5 |     return x * rng.wald(2.0, 1.0)
#      |                ^^^^^^^^^^^^^^^^^^ `wald` is no method of a generator that pyrev knows
#   help: draw with `random`, `uniform`, `normal`, `exponential`, `integers`, `choice` and others that the page on the language lists, with `size=`, or before the call, and pass the numbers on
