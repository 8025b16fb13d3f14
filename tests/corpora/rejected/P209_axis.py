def f(a, k):
    return a.shape[k]


# P209_axis.py:2:12: P209 this attribute or axis is outside the language
#    2 |     return a.shape[k]
#      |            ^^^^^^^^^^ which axis is meant is not known in the text
#   help: write the axis as a number: `a.shape[0]`
