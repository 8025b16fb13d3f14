import numpy as np


def f(u: "float64[:]", v: "float64[:]"):
    for i in range(len(u)):
        v[i] = np.exp(u)


# P201_stored_in_an_element.py:6:9: P201 an array cannot stand here
#    6 |         v[i] = np.exp(u)
#      |         ^^^^^^^^^^^^^^^^ an array is stored in one element
#   help: assign to a slice, or store a number
