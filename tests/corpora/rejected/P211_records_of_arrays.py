import numpy as np

frames = np.dtype([("m", "f8", 3)])
only_called = True
arguments = (2.0, np.zeros(3, frames))


def f(x, records):
    frame = records[0]
    frame["m"][1] = x
    return x * records["m"][0, 1]


# P211_records_of_arrays.py:9:13: P211 indexing by an array is outside the language
#    9 |     frame = records[0]
#      |             ^^^^^^^^^^ a record gets a name here, and none of its fields is a number
#   help: read its fields in the place: `records[i]['x'][k]`
