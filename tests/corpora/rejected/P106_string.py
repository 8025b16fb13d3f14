def f(x, k):
    for i in range(k):
        mode = "reflect"
    if k > 0:
        mode = "wrap"
    return x[mode]


# P106_string.py:6:14: P106 this kind of value is outside the language
#    6 |     return x[mode]
#      |              ^^^^ `mode` may be `'wrap'` here, and may be something else
#   help: give it this value on every path, or on none
