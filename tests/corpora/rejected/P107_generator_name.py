import numpy as np


def f(x, n):
    rng = np.random.default_rng(n)
    x = x * rng.random()
    rng = 2.0
    return x * rng


arguments = (1.0, 2)


# P107_generator_name.py:5:11: P107 this function is not known here
#    5 |     rng = np.random.default_rng(n)
#      |           ^^^^^^^^^^^^^^^^^^^^^^^^ `rng` is a generator of random numbers, and something else
#   help: give the generator a name of its own
#
# P107_generator_name.py:6:13: P107 this function is not known here
#    6 |     x = x * rng.random()
#      |             ^^^^^^^^^^ `.random` is a method that pyrev does not know
#   help: write it as loops; of methods `sum`, `dot`, `copy` and their like are known
