import numpy as np


def f(x):
    found = x > 0.5
    return x * np.dot(found, found)


# P210_product_of_truths.py:6:16: P210 the kinds of numbers do not fit
#    6 |     return x * np.dot(found, found)
#      |                ^^^^^^^^^^^^^^^^^^^^ this is computed of truth values
#   help: give it numbers, `mask.astype(int)`
