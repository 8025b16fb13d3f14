def f(x):
    return x[1:]


# P110_view.py:2:5: P110 this `return` is outside the language
#    2 |     return x[1:]
#      |     ^^^^^^^^^^^^ a view of the caller's array is returned
#   help: return a copy of it, with `.copy()`
