def f(x):
    elements = x.flat
    return elements[0]


# P209_flat.py:2:16: P209 this attribute or axis is outside the language
#    2 |     elements = x.flat
#      |                ^^^^^^ `x.flat` cannot be used here
#   help: use `shape`, `size`, `ndim`, or the array's elements
