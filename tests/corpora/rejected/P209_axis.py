def f(a):
    k = len(a) // 4
    return a.shape[k]


# P209_axis.py:3:12: P209 this attribute or axis is outside the language
#    3 |     return a.shape[k]
#      |            ^^^^^^^^^^ which axis is meant is not known in the text
#   help: write the axis as a number: `a.shape[0]`
