import numpy as np


def f(shape, scale, rng):
    return rng.gamma(shape, scale)


arguments = (2.0, 1.0, np.random.default_rng(0))


# P306_shape.py:5:12: P306 a drawn number has no derivative by this
#    5 |     return rng.gamma(shape, scale)
#      |            ^^^^^^^^^^^^^^^^^^^^^^^ the derivative of what is drawn here is asked for by a parameter that decides its shape, and a drawn number does not say how it moves
#   help: leave that parameter out of `wrt`, or stop it: `pyrev.stop_gradient(shape)`
