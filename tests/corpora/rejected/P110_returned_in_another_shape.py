def f(m):
    m[0, 0] = 1.0
    return m.ravel()


# P110_returned_in_another_shape.py:3:5: P110 this `return` is outside the language
#    3 |     return m.ravel()
#      |     ^^^^^^^^^^^^^^^^ `m` is returned in another shape
#   help: return a copy of it: `a.flatten()`, `a.reshape(n, m).copy()`
