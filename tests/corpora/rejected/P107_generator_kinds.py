import numpy as np


def f(x, rng):
    return x * rng.random() + rng.normal()


arguments = (1.0, np.random.default_rng(0))


# P107_generator_kinds.py:5:31: P107 this function is not known here
#    5 |     return x * rng.random() + rng.normal()
#      |                               ^^^^^^^^^^^^ `random` and `standard_normal` numbers are drawn from one generator
#   help: draw those of one kind before the call: `u = rng.random(n)`
