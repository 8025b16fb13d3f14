import numpy as np


def f(x):
    rng = np.random.default_rng()
    return x * rng.random()


arguments = (1.0,)


# P107_generator_seed.py:5:11: P107 this function is not known here
#    5 |     rng = np.random.default_rng()
#      |           ^^^^^^^^^^^^^^^^^^^^^^^ a generator that is made anew draws other numbers in each run
#   help: give a number as the seed
#
# P107_generator_seed.py:6:16: P107 this function is not known here
#    6 |     return x * rng.random()
#      |                ^^^^^^^^^^ `.random` is a method that pyrev does not know
#   help: write it as loops; of methods `sum`, `dot`, `copy` and their like are known
