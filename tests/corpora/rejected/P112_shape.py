def f(x):
    x.shape[0] = 3


# P112_shape.py:2:5: P112 this is not something to assign to
#    2 |     x.shape[0] = 3
#      |     ^^^^^^^^^^ `x.shape[0]` is neither a name nor an array element
#   help: assign to a name or to an element such as `a[i]`
