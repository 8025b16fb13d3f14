import numpy as np

import pyrev


def f(x, out):
    h = pyrev.probe(np.sin(x[1:]), print)
    for i in range(out.shape[0]):
        out[i] = h[i] ** 2


# P201_probe.py:7:9: P201 an array cannot stand here
#    7 |     h = pyrev.probe(np.sin(x[1:]), print)
#      |         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ `pyrev.probe` takes numbers, and an array is given
#   help: probe each element where it is used, or ask for the gradient with respect to a local array by its name: `wrt=`
