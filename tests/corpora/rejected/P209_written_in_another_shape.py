def f(a):
    b = a.T * 2.0
    flat = b.ravel()
    flat[1] = a[0, 0]
    return b[0, 1]


# P209_written_in_another_shape.py:3:12: P209 this attribute or axis is outside the language
#    3 |     flat = b.ravel()
#      |            ^^^^^^^^^ an array is written to in another shape, and whether that is a copy depends on how it lies in memory
#   help: make it with `np.zeros(shape)` or as `.copy()`, with a name of its own
