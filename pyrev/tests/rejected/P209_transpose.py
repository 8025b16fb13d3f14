def f(a):
    b = a.T
    return a[0, 0]


# P209_transpose.py:2:9: P209 this attribute is outside the language
#    2 |     b = a.T
#      |         ^^^ `a.T` cannot be used here
#   help: `.T` is not supported here yet; use `shape`, `size`, `ndim`, or the array's elements
