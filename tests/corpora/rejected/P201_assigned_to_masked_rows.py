import numpy as np


def f(m, y):
    w = np.ones(3)
    m[w > 0.0] = y[1:]
    m[0, 0] = 1.0


# P201_assigned_to_masked_rows.py:6:5: P201 an array cannot stand here
#    6 |     m[w > 0.0] = y[1:]
#      |     ^^^^^^^^^^^^^^^^^^ an array is assigned to the rows that a mask selects
#   help: write the loop with `if`, or use `np.where`
