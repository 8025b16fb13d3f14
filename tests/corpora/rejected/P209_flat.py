def f(x):
    return x.flat[0]


# P209_flat.py:2:12: P209 this attribute or axis is outside the language
#    2 |     return x.flat[0]
#      |            ^^^^^^ `x.flat` cannot be used here
#   help: use `shape`, `size`, `ndim`, or the array's elements
