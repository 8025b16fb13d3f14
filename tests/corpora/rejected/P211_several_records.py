import numpy as np

nodes = np.dtype([("m", "f8"), ("k", "i8")])
only_called = True
arguments = (2.0, np.zeros(3, nodes), np.array([0, 1]))


def f(x, records, i):
    node = records[i]
    node["m"] = x
    return x * records["m"][0]


# P211_several_records.py:9:12: P211 indexing by an array is outside the language
#    9 |     node = records[i]
#      |            ^^^^^^^^^^ an array chooses several records, which would be copies
#   help: loop over its elements, and take one record at a time
