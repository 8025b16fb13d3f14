def f(x):
    x.value = 1.0


# P112_attribute.py:2:5: P112 this is not something to assign to
#    2 |     x.value = 1.0
#      |     ^^^^^^^ `x.value` is neither a name nor an array element
#   help: assign to a name or to an element such as `a[i]`
