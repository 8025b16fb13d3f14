import numpy as np


def f(u: "float64[:]", v: "float64[:]"):
    for i in range(len(u)):
        v[i] = np.exp(u)


# P201_stored_in_an_element.py:6:9: P201 an array cannot stand here
#    6 |         v[i] = np.exp(u)
#      |         ^^^^^^^^^^^^^^^^ an array is stored in one element
#   help: assign to a slice, or store a number
#
# P201_stored_in_an_element.py:6:9: P202 the numbers of axes do not fit
#    6 |         v[i] = np.exp(u)
#      |         ^^^^^^^^^^^^^^^^ `v` has 1 axis, and 2 here
#   help: use no more axes than it is made with
